//! Attacks the readers of what run-time compilers write of their code: perf's map
//! of a process and jitdump, in both orders of bytes as its header says.
//!
//! It fails where one panics, takes long, or more memory than a multiple of its
//! file; where an address has no name, a longer one than is allowed, or is lost;
//! and where a line of the map is read otherwise than the obvious way reads it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_symbols::MadeNames;

#[global_allocator]
static MEMORY: Counting = Counting;

/// A line of a function is 16 bytes in the file at least, and 32 in a list that
/// grows by doubling; what is told of an address is copied once.
const LIMIT: Limit = Limit {
    per_byte: 64,
    besides: 1 << 18,
};

const ASKED: [u64; 10] = [
    0,
    1,
    0x15,
    0xfff,
    0x1000,
    0x100f,
    0x1010,
    0x2000,
    0x7f00_0000_1000,
    u64::MAX,
];
const MOST_BYTES: usize = 1024;
/// Three names, and what stands between and behind them.
const MOST_SHOWN: usize = 3 * MOST_BYTES + 24;

fuzz_target!(|input: &[u8]| {
    let Some((&which, file)) = input.split_first() else {
        return;
    };
    limited(file.len(), LIMIT, || {
        let mut names = MadeNames::of(ASKED);
        match which & 1 {
            0 => names.take_perf_map(file),
            _ => {
                let _ = names.take_jitdump(file);
            }
        }
        check(&names);
    });
    if which & 1 == 0 {
        compare(file);
    }
});

fn check(names: &MadeNames) {
    let mut count = names.nameless().count();
    for (address, made) in names.all() {
        count += 1;
        assert!(ASKED.contains(&address), "{address:#x} was not asked for");
        assert!((1..=MOST_SHOWN).contains(&made.name.len()));
        assert!(made.file.len() <= MOST_BYTES);
    }
    assert_eq!(count, ASKED.len(), "an address is lost");
}

/// A map of one line names just the addresses that the line has.
fn compare(text: &[u8]) {
    for line in text.split(|&byte| byte == b'\n').take(64) {
        let mut names = MadeNames::of(ASKED);
        names.take_perf_map(line);
        let wanted = obvious(line);
        for (address, made) in names.all() {
            let (low, size, name) = wanted.expect("no line");
            assert!(address >= low && address - low < size);
            assert_eq!(made.name, &name[..name.len().min(MOST_BYTES)]);
        }
        for address in names.nameless() {
            let has_it = wanted.is_some_and(|(low, size, name)| {
                let is_whole = low.checked_add(size).is_some() && !name.is_empty();
                is_whole && address >= low && address - low < size
            });
            assert!(!has_it, "{address:#x} has no name");
        }
    }
}

/// Two numbers in hexadecimal and a name.
fn obvious(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let mut at = 0;
    let mut number = || -> Option<u64> {
        let rest = &line[at..];
        let length = rest.iter().position(|&byte| byte == b' ')?;
        at += length + 1;
        let text = std::str::from_utf8(&rest[..length]).ok()?;
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_signed = digits.starts_with('+');
        u64::from_str_radix(digits, 16).ok().filter(|_| !is_signed)
    };
    let (low, size) = (number()?, number()?);
    Some((low, size, line[at..].trim_ascii()))
}
