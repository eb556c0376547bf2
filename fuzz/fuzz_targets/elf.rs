//! Attacks what reads programs outside: whole ELF files as they are, of either
//! width and byte order, with packed sections, a program in a program, debug
//! links, descriptors of PowerPC.
//!
//! It fails where opening or a look-up panics, takes long, or takes more memory
//! than is stated; and where a look-up answers otherwise the second time.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_symbols::{Bytes, ModuleSpec, ModuleStatus, Options, Store, Symbolizer};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Per byte: a packed byte makes at most 1100, which are kept, and were two
/// copies while they grew. Besides: the dictionary of a program in a program,
/// 96 MiB at most, which is all that a few bytes can ask for.
const LIMIT: Limit = Limit {
    per_byte: 3 * 1100,
    besides: 104 << 20,
};
/// What is asked for besides what lies in the input.
const ADDRESSES: [u64; 6] = [0, 0x1000, 0x1010, 0x401000, 0x10000, u64::MAX];

fuzz_target!(|input: &[u8]| {
    let bytes: Arc<Vec<u8>> = Arc::new(input.to_vec());
    limited(input.len(), LIMIT, || look_up(&bytes));
});

fn look_up(bytes: &Arc<Vec<u8>>) {
    let store = Store::new();
    // Its own debug file and its own supplement as well.
    let source = |path: &[u8]| match path.ends_with(b"/b") {
        true => Err(std::io::ErrorKind::NotFound.into()),
        false => Ok(bytes.clone() as Bytes),
    };
    let options = Options {
        debug_dirs: vec!["/debug".into()],
        ..Options::default()
    };
    let mut symbolizer = Symbolizer::new(&store, source, options);
    for (path, build_id) in [(&b"/a"[..], &b""[..]), (b"/b", b"0123")] {
        let module = symbolizer.add_module(&ModuleSpec {
            path: path.to_vec(),
            build_id: build_id.to_vec(),
        });
        if !matches!(symbolizer.status(module), ModuleStatus::Ok(_)) {
            continue;
        }
        // The entry point, where there is one.
        let entry = bytes.get(24..32).and_then(|word| word.first_chunk::<8>());
        let entry = entry.map_or(0, |word| u64::from_le_bytes(*word));
        for address in ADDRESSES.into_iter().chain([entry]) {
            let found = symbolizer.lookup(module, address);
            assert_eq!(symbolizer.lookup(module, address), found, "at {address:#x}");
        }
        symbolizer.notes(module);
    }
}
