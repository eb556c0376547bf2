//! What a file of operations says of the program that it was made of.

use std::fs::File;
use std::path::Path;

use memlog_format::operations::{Head, MAGIC, Opened, Text};

use crate::open::{begins_with, map_file};
use crate::words::{Advice, clean};

/// It, as people may be shown it.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The program's file.
    pub executable: String,
    /// The library that was its allocator, by its name; nothing if that was glibc.
    pub allocator: Option<String>,
    /// Figures.
    pub head: Head,
    /// What the operations lack, in sentences.
    pub notes: Vec<String>,
}

/// Whether a file has operations and no log.
pub fn is_operations(path: &Path) -> bool {
    begins_with(path, &MAGIC)
}

impl Recorded {
    /// Of an open file of operations.
    pub fn of(file: &File) -> anyhow::Result<Self> {
        let bytes = map_file(file)?;
        let opened = Opened::of(&bytes).map_err(|wrong| {
            Advice::error(
                format!(
                    "the file of operations is spoilt: at byte {} there should be {}",
                    wrong.offset, wrong.expected
                ),
                "make it again: memlog export replay FILE",
            )
        })?;
        let text = |wanted| opened.texts(wanted).map(clean);
        Ok(Self {
            executable: text(Text::Executable).next().unwrap_or_default(),
            allocator: text(Text::Allocator).next(),
            head: opened.head,
            notes: text(Text::Note).collect(),
        })
    }
}
