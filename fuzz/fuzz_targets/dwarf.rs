//! Attacks what reads debug information outside: the sections of a file are the
//! input, the ELF file around them is made here, so that changes reach DWARF and
//! symbol tables and not headers.
//!
//! ```text
//! section    u8    which of the names below; then u16, its length, and it
//! ```
//!
//! It fails where a look-up panics, takes long, or takes more memory than is
//! stated; where it tells of more functions than the limit; and where a name is
//! longer than names may be, or a look-up answers otherwise the second time.
#![no_main]

use std::cell::RefCell;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited, program};
use memlog_symbols::{Bytes, MAX_DEMANGLED_NAME, ModuleSpec, Options, Store, Symbolizer};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Per byte: units, ranges, lines and symbols are kept in tables of some 100
/// bytes an entry of a few bytes, which grow by doubling; and each of the
/// addresses asked for may have 512 inlined functions with a name and a path.
/// Besides: of abbreviations there is a table for each unit.
const LIMIT: Limit = Limit {
    per_byte: 1024,
    besides: 8 << 20,
};
const NAMES: [&str; 15] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_addr",
    ".debug_str_offsets",
    ".symtab",
    ".strtab",
    ".debug_loclists",
    ".gnu_debuglink",
    ".note.gnu.build-id",
    ".gnu_debugdata",
];
const TEXT: (u64, u64) = (0x1000, 0x1000);
const ADDRESSES: [u64; 10] = [
    0,
    0x1000,
    0x1001,
    0x1010,
    0x1024,
    0x1038,
    0x1050,
    0x1080,
    0x1fff,
    u64::MAX,
];
const MOST_FRAMES: usize = 512;

thread_local! {
    static FILE: RefCell<Vec<u8>> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let mut sections = Vec::new();
    let mut rest = input;
    while let Some((&[which, low, high], after)) = rest.split_first_chunk::<3>()
        && sections.len() < NAMES.len()
    {
        let length = usize::from(u16::from_le_bytes([low, high])).min(after.len());
        let (section, after) = after.split_at(length);
        sections.push((NAMES[usize::from(which) % NAMES.len()], section));
        rest = after;
    }
    FILE.with_borrow_mut(|file| {
        program(file, &sections, TEXT);
        let bytes: Arc<Vec<u8>> = Arc::new(file.clone());
        limited(file.len(), LIMIT, || look_up(&bytes));
    });
});

fn look_up(bytes: &Arc<Vec<u8>>) {
    let store = Store::new();
    let source = |path: &[u8]| match path {
        b"/a" => Ok(bytes.clone() as Bytes),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let mut symbolizer = Symbolizer::new(&store, source, Options::default());
    let module = symbolizer.add_module(&ModuleSpec {
        path: b"/a".to_vec(),
        build_id: Vec::new(),
    });
    for address in ADDRESSES {
        let found = symbolizer.lookup(module, address);
        assert!(found.frames.len() <= MOST_FRAMES);
        for frame in &found.frames {
            let longest = frame.function.iter().map(|name| name.len()).max();
            assert!(longest.unwrap_or(0) <= 4 * MAX_DEMANGLED_NAME);
        }
        assert_eq!(symbolizer.lookup(module, address), found, "at {address:#x}");
    }
    for note in symbolizer.notes(module) {
        assert!(note.len() < 1 << 16);
    }
}
