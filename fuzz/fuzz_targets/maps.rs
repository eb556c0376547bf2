//! Attacks the reader of /proc/self/maps inside the profiled program, and what
//! decides there which mapping is the beginning of an image.
//!
//! It fails where the recorder panics, stands still, or allocates; where a line
//! is read otherwise than the obvious way reads it; where a text in two pieces
//! has other lines than the whole; and where an image's range turns around.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_wrap::platform::maps::{Start, take_lines};
use memlog_wrap::platform::sys::FileId;

#[global_allocator]
static MEMORY: Counting = Counting;

/// The recorder calls no malloc.
const LIMIT: Limit = Limit {
    per_byte: 0,
    besides: 0,
};

fuzz_target!(|input: &[u8]| {
    let Some((&at, text)) = input.split_first() else {
        return;
    };
    let mut count = 0;
    let used = limited(text.len(), LIMIT, || {
        count = 0;
        let mut start = Start::default();
        take_lines(text, &mut |line| {
            count += 1;
            if let Some(image) = start.with(&line, |_, code| code & 0x1000 != 0) {
                assert_eq!(image.path, line.path);
            }
        })
    });
    assert!(used <= text.len() && text[used..].iter().all(|&byte| byte != b'\n'));
    compare(&text[..used], count);
    // What is left of a first piece is read again before the second.
    let (first, _) = text.split_at(usize::from(at).min(text.len()));
    let mut pieces = 0;
    let behind = take_lines(first, &mut |_| pieces += 1);
    take_lines(&text[behind..], &mut |_| pieces += 1);
    assert_eq!(pieces, count, "lines of pieces");
});

/// The lines of the obvious way: fields between blanks, numbers that fit.
fn compare(text: &[u8], count: usize) {
    let mut all = Vec::new();
    take_lines(text, &mut |line| {
        all.push((line.low, line.high, line.file, line.path.to_vec()));
    });
    assert_eq!(all.len(), count);
    let mut found = all.into_iter();
    for line in text.split(|&byte| byte == b'\n') {
        let Some((low, high, file, path)) = obvious(line) else {
            continue;
        };
        let expected = (low, high, file, path.as_bytes().to_vec());
        assert!(found.any(|line| line == expected), "{expected:?}");
    }
}

/// As the kernel writes it: `low-high rwxp offset major:minor inode    path`.
fn obvious(line: &[u8]) -> Option<(u64, u64, FileId, &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = line.splitn(6, ' ');
    let (low, high) = fields.next()?.split_once('-')?;
    let rights = fields.next().filter(|rights| rights.len() == 4)?;
    if !rights.is_ascii() {
        return None;
    }
    hex(fields.next()?)?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let (major, minor) = (hex(major)?, hex(minor)?);
    let inode = fields.next()?;
    let inode = inode.parse().ok().filter(|_| !inode.starts_with('+'))?;
    let path = fields.next()?.trim_start_matches(' ');
    if major >> 32 != 0 {
        return None;
    }
    let device = major << 32 | minor;
    Some((hex(low)?, hex(high)?, FileId { device, inode }, path))
}

fn hex(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| digits)
}
