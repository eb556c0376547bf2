//! The forms that can be read, a module each.

mod heaptrack;
mod heaptrack_raw;
mod text;

use std::io::BufRead;

use crate::error::Error;
use crate::writer::LogWriter;

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
];

/// The form of a file that begins like this: [`HEAD`](crate::HEAD) bytes, unpacked.
pub fn recognise(head: &[u8]) -> Option<&'static Form> {
    FORMS.iter().find(|form| (form.is)(head))
}
