//! Attacks the demanglers, of Rust, C++ and Fortran, through the one function
//! that everything uses. Every other input has a mangled name's beginning put
//! before it; so has nearly every symbol.
//!
//! It fails where a name panics, takes long, or grows beyond the limits; and
//! where a name that was understood is empty.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_symbols::{Hint, MAX_DEMANGLED_NAME, demangle};

#[global_allocator]
static MEMORY: Counting = Counting;

/// What is printed may have 64 bytes for each byte of the name, grows by
/// doubling and is copied once; the parser of C++ keeps parts of some hundred
/// bytes, in tables that grow by doubling, and reads some again at each of the
/// levels that it is allowed: real names take 174 bytes for each of their own,
/// the worst found here 8,415.
const LIMIT: Limit = Limit {
    per_byte: 16 << 10,
    besides: 1 << 20,
};

const STARTS: [&str; 8] = ["", "_Z", "_ZN", "_R", "_ZNK", "__", "_Q", "_ZNSt"];

fuzz_target!(|input: &[u8]| {
    let Some((&which, rest)) = input.split_first() else {
        return;
    };
    let start = STARTS[usize::from(which & 7)];
    let name = format!("{start}{}", String::from_utf8_lossy(rest));
    for hint in [Hint::Unknown, Hint::Fortran] {
        limited(name.len(), LIMIT, || {
            if let Some(shown) = demangle(&name, hint) {
                assert!(shown.len() <= MAX_DEMANGLED_NAME, "{} bytes", shown.len());
                assert!(!shown.is_empty());
            }
        });
    }
});
