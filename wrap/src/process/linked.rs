//! The recorder behind `--wrap`, and what else the program is made of: whether
//! there are calls that do not come to it, and another recorder.
#![allow(unsafe_code)]
//! # Safety
//! As in `linkmap`; the words of the assembly are read only.

use crate::platform::arch;
use crate::platform::elf::auxiliary::program_headers;
use crate::platform::elf::linkmap::{first_map, look_up, tables_of};
use crate::platform::lock::Patience;
use crate::process::recorder::RECORDER;
use memlog_format::meta::{Key, Record};

unsafe extern "C" {
    /// operator new and its hook, then what tcmalloc, mimalloc and jemalloc
    /// have: their addresses, or 0.
    static memlog_linked: [usize; 5];
}

/// What the log says of a program with shared libraries.
const LIBRARIES: &[u8] = b"the recorder in this program is the one for static programs, but the \
    program uses shared libraries: what they allocate is not recorded. Run it by \
    `memlog record`, or link it with `memlog ldflags --dynamic`";

macro_rules! own_operators {
    ($name:literal) => {
        concat!(
            "operator new is that of ",
            $name,
            ", and does not end in malloc: what C++ allocates by it is not recorded. Link with \
             `memlog ldflags --static --cxx-operators`"
        )
        .as_bytes()
    };
}

/// What it says of operators, in the order of `memlog_linked`.
const OPERATORS: [&[u8]; 3] = [
    own_operators!("tcmalloc"),
    own_operators!("mimalloc"),
    own_operators!("jemalloc"),
];

/// Notes in the log which calls do not come to the recorder that is linked into
/// this program.
pub fn note() {
    let note = |text: &[u8]| {
        RECORDER.log.meta.with(Patience::Bounded, |meta| {
            meta.append(&RECORDER.log, &Record::Text(Key::Note, text));
        });
    };
    if is_defined(b"malloc") {
        // Operators may be the libraries' as well.
        return note(LIBRARIES);
    }
    // SAFETY: a constant table.
    if let Some(text) = own_operators(unsafe { &memlog_linked }) {
        note(text);
    }
}

/// What is to be said of operator new, if it does not end in malloc and is not
/// hooked.
fn own_operators(words: &[usize; 5]) -> Option<&'static [u8]> {
    let [new, hook, marks @ ..] = words;
    if *new == 0 || *hook != 0 {
        return None;
    }
    let mut texts = OPERATORS.into_iter().zip(marks);
    texts.find(|(_, mark)| **mark != 0).map(|(text, _)| text)
}

/// Whether we are linked in, and libmemlog.so is there as well, preloaded or
/// linked: it sees all that we do, and what the libraries allocate. Two would
/// tell of one block twice.
pub fn is_beside_another() -> bool {
    // SAFETY: a function of the doors, or the stand-in without them.
    let is_static = unsafe { arch::memlog_own_dynamic() } == 0;
    is_static && is_defined(b"memlog_operator_find")
}

/// Whether an object of the process gives this function to others. A static
/// program has no list of objects, or one of itself alone, without symbols.
fn is_defined(name: &[u8]) -> bool {
    let (headers, count) = program_headers();
    // SAFETY: the program runs, so the loader's list stands.
    let mut map = unsafe { first_map(headers, count) }.unwrap_or(core::ptr::null());
    while !map.is_null() {
        // SAFETY: a live node of the loader's list, and the object's own tables.
        let (object, found) = unsafe {
            let object = &*map;
            let tables = tables_of(object);
            (object, tables.and_then(|tables| look_up(&tables, name)))
        };
        if found.is_some() {
            return true;
        }
        map = object.next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{OPERATORS, is_beside_another, is_defined, own_operators};

    #[test]
    fn operators_are_told_of_where_nobody_hooks_them() {
        let of = |words: [usize; 5]| own_operators(&words);
        for (at, text) in OPERATORS.into_iter().enumerate() {
            let mut words = [1, 0, 0, 0, 0];
            words[2 + at] = 2;
            assert_eq!(of(words), Some(text));
        }
        // Hooked; of a C program; of the C++ library.
        assert_eq!(of([1, 1, 2, 0, 0]), None);
        assert_eq!(of([0, 0, 0, 0, 2]), None);
        assert_eq!(of([1, 0, 0, 0, 0]), None);
    }

    /// This very process has shared libraries and no other recorder.
    #[test]
    fn libraries_are_found() {
        assert!(is_defined(b"malloc"));
        assert!(!is_beside_another());
    }
}
