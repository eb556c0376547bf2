//! Files in memory.
//!
//! # Safety
//!
//! This file may hold `unsafe` because a mapped file is shared with whoever
//! else may write it: a log can still be growing while it is read. The one
//! block below says why that is sound here.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// The whole file at `path`, mapped to be read.
pub fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        let kind = io::ErrorKind::InvalidInput;
        return Err(io::Error::new(kind, "it is not a regular file"));
    }
    // SAFETY: the recorder only ever adds to its file: what it has committed,
    // which is all that is read, it does not change, nor does it cut the file
    // while it runs. Names are read from the user's own programs. Who
    // overwrites a file while it is read gets wrong figures; who cuts it ends
    // this process by a signal, and neither can make it write anywhere.
    unsafe { Mmap::map(&file) }
}
