//! Attacks the values that a user gives, and names that anybody makes: moments and
//! percents of the command line, names for the screen and for a shell, shortened
//! names of functions and paths, names as two builds have them, what is found of a
//! library's, and files of operations.
//!
//! It fails where one panics or takes long; where a moment or percent that was
//! taken is none; where a name for the screen still holds what a terminal obeys,
//! or is changed when it is cleaned again; and where a shell's name has no end.
#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use memlog_analysis::{
    alike, allocator, bare, brief, brief_path, is_c_library, is_of_library, module_stem,
    nameless_in,
};
use memlog_export::{clean, is_part_of_allocator, percent, quoted};
use memlog_format::operations::{MAGIC, Opened, Operation, Text, VERSION};
use memlog_fuzz::{Counting, Limit, limited};
use memlog_pages::At;

#[global_allocator]
static MEMORY: Counting = Counting;

/// A byte is written out as ten at most, `\u{10ffff}`, in strings that grow by
/// doubling; a name is taken apart into words of some 50 bytes, five for such a
/// byte, in tables that grow by doubling as well, and put together.
const LIMIT: Limit = Limit {
    per_byte: 1024,
    besides: 16 << 10,
};

fuzz_target!(|input: &[u8]| {
    let Some((&which, bytes)) = input.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    limited(text.len(), LIMIT, || match which & 7 {
        0 => asked(&text),
        1 | 5 => shown(bytes),
        2 | 6 => paths(bytes),
        4 => operations(bytes),
        _ => functions(&text),
    });
});

fn asked(text: &str) {
    if let Ok(at) = text.parse::<At>() {
        let shown = at.to_string();
        assert_eq!(shown.parse::<At>().map(|at| at.to_string()), Ok(shown));
    }
    if let Ok(number) = percent(text) {
        assert!((0.0..=100.0).contains(&number));
    }
}

fn shown(bytes: &[u8]) {
    let once = clean(bytes);
    assert!(!once.contains(char::is_control));
    assert_eq!(clean(once.as_bytes()), once);
}

fn paths(bytes: &[u8]) {
    let path = Path::new(OsStr::from_bytes(bytes));
    let word = quoted(path);
    assert!(!word.contains(char::is_control) && !word.is_empty());
    if word.starts_with(['\'', '$']) {
        assert!(word.ends_with('\''));
    } else {
        assert!(!word.contains([' ', '*', ';', '&', '|', '\'', '"', '`', '(', '<', '>']));
    }
    let text = String::from_utf8_lossy(bytes);
    assert!(text.ends_with(brief_path(&text)));
}

fn functions(text: &str) {
    let name = clean(text.as_bytes());
    for columns in [0, 7, 40, 200] {
        assert!(!brief(&name, columns).contains(char::is_control));
    }
    let _ = (is_part_of_allocator(&name), nameless_in(&name));
    let _ = (
        allocator(&name),
        is_of_library(&name, None, None),
        is_c_library(&name, None),
    );
    let _ = (alike(text), bare(text), module_stem(text));
}

/// A file of operations, whose beginning is right.
fn operations(bytes: &[u8]) {
    let file = [&MAGIC, &VERSION.to_le_bytes(), bytes].concat();
    let Ok(opened) = Opened::of(&file) else {
        return;
    };
    for text in [Text::Executable, Text::Allocator, Text::Note] {
        opened.texts(text).for_each(|text| drop(clean(text)));
    }
    let mut rest = opened.operations.clone();
    while !rest.is_empty() && Operation::next(&mut rest).is_ok() {}
}
