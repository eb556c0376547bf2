//! The forms that can be read, a module each.

mod bytehound;
mod bytes;
mod dhat;
mod heap_text;
mod heaptrack;
mod heaptrack_raw;
mod maps;
mod massif;
mod memtrail;
mod pprof;
mod text;
mod valgrind;

use std::io::BufRead;

use memlog_format::meta::{Key, Lack};

use crate::error::Error;
use crate::writer::LogWriter;

/// What the profile of one moment does not know, whoever made it.
fn lacks_of_one_moment(log: &mut LogWriter) {
    for lack in [
        Lack::Times,
        Lack::Addresses,
        Lack::Lifetimes,
        Lack::Order,
        Lack::Peak,
        Lack::End,
        Lack::Course,
        Lack::Threads,
        Lack::Functions,
        Lack::Reallocs,
    ] {
        log.lacks(lack);
    }
}

/// A form of files.
#[derive(Debug)]
pub struct Form {
    /// The tool whose form it is, as the pages call it: "imported from a ... file".
    pub tool: &'static str,
    /// Whether a file that begins like this, unpacked, is of it.
    pub is: fn(&[u8]) -> bool,
    /// Reads it.
    pub read: fn(&mut dyn BufRead, &mut LogWriter) -> Result<(), Error>,
}

/// All of them; where two may be meant, the first is.
pub const FORMS: &[Form] = &[
    Form {
        tool: "heaptrack",
        is: heaptrack::is,
        read: heaptrack::read,
    },
    Form {
        tool: "memlog text",
        is: text::is,
        read: text::read,
    },
    Form {
        tool: "massif",
        is: massif::is,
        read: massif::read,
    },
    Form {
        tool: "DHAT",
        is: dhat::is,
        read: dhat::read,
    },
    Form {
        tool: "jemalloc",
        is: heap_text::is_jemalloc,
        read: heap_text::read,
    },
    Form {
        tool: "gperftools",
        is: heap_text::is_gperftools,
        read: heap_text::read,
    },
    Form {
        tool: "memtrail",
        is: memtrail::is,
        read: memtrail::read,
    },
    Form {
        tool: "bytehound",
        is: bytehound::is,
        read: bytehound::read,
    },
    Form {
        tool: "pprof",
        is: pprof::is,
        read: pprof::read,
    },
];

/// The form of a file that begins like this: [`HEAD`](crate::HEAD) bytes, unpacked.
pub fn recognise(head: &[u8]) -> Option<&'static Form> {
    FORMS.iter().find(|form| (form.is)(head))
}

/// What stands before and behind the first such byte.
fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let found = text.iter().position(|&byte| byte == at)?;
    Some((&text[..found], &text[found + 1..]))
}

/// A number in decimal, and nothing else.
fn digits(text: &[u8]) -> Option<u64> {
    let are_digits = text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text)
        .ok()
        .filter(|_| are_digits)?
        .parse()
        .ok()
}

/// A command line whose arguments blanks part: those within one do too, for they are not
/// told apart.
fn command(log: &mut LogWriter, line: &[u8]) {
    let words = line
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    let words: Vec<&[u8]> = words.collect();
    if let Some(program) = words.first() {
        log.text(Key::Executable, program);
        log.text(Key::CommandLine, &[&words.join(&0)[..], b"\0"].concat());
    }
}
