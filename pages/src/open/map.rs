//! Files in memory.
//!
//! # Safety
//!
//! This file may hold `unsafe` because a mapped file is shared with whoever
//! else may write it. The one block below says why that is sound here.
#![allow(unsafe_code)]

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_read::Marks;
use memmap2::{Advice, Mmap, MmapMut};

use super::cut::Mapped;
use super::extent;
use super::packed::unpacked;
use super::steady;

/// Logs up to this size are read, not mapped: the recorder cuts its file at
/// the program's end, and a hole on a full disk cannot even be read through a
/// mapping; both would end a command by a signal.
const READ_UP_TO: u64 = 256 << 20;

/// A file's bytes.
pub enum FileBytes {
    /// A copy.
    Read(Vec<u8>),
    /// The file itself.
    Mapped(Mmap),
    /// The same of a log or a table, which may be read all day.
    Watched(Mapped),
    /// A copy of parts, and zeros.
    Parts(MmapMut),
    /// A copy of a log whose chunks move, and how far it was just before.
    Moment(Vec<u8>, Marks),
}

impl FileBytes {
    /// Whether the file got shorter since, so that some of it may have been read as zeros.
    pub fn is_cut(&self) -> bool {
        matches!(self, FileBytes::Watched(map) if map.is_cut())
    }

    /// Whether somebody has written to the file since.
    pub fn is_changed(&self) -> bool {
        matches!(self, FileBytes::Watched(map) if map.is_changed())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            FileBytes::Read(bytes) => bytes,
            FileBytes::Mapped(map) => map,
            FileBytes::Watched(map) => map,
            FileBytes::Parts(parts) => parts,
            FileBytes::Moment(bytes, _) => bytes,
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// A file that can be read at any place.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // To open a pipe would otherwise be to wait for someone who writes to it.
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        let kind = io::ErrorKind::InvalidInput;
        return Err(io::Error::new(kind, "it is not a regular file"));
    }
    Ok(file)
}

/// The log at `path`, to be read at any place, and how long it is; of a packed one the
/// file that it was unpacked into.
pub fn open_log(path: &Path) -> io::Result<(File, u64)> {
    let file = open(path)?;
    let file = unpacked(&file)?.into_iter().next().unwrap_or(file);
    let length = extent::of(&file)?.bytes;
    Ok((file, length))
}

/// The log in a packed file and those of its parents; nothing of any other file.
pub fn log_files(path: &Path) -> io::Result<Vec<File>> {
    unpacked(&open(path)?)
}

/// The log at `path`.
pub fn log_bytes(path: &Path) -> io::Result<FileBytes> {
    let (file, length) = open_log(path)?;
    bytes_of(file, length)
}

/// A copy of the log at `path`, however long it is.
pub fn log_copy(path: &Path) -> io::Result<FileBytes> {
    let (file, length) = open_log(path)?;
    copied(&file, length)
}

/// The log in an open file.
pub fn bytes_of(file: File, length: u64) -> io::Result<FileBytes> {
    if length > READ_UP_TO {
        let bytes = watch_file(&file, Some(length))?;
        if !steady::moves(&bytes, &file)? {
            return Ok(bytes);
        }
        return steady::copy_of(&file);
    }
    copied(&file, length)
}

fn copied(file: &File, length: u64) -> io::Result<FileBytes> {
    let mut bytes = steady::room_for(length)?;
    file.take(length).read_to_end(&mut bytes)?;
    if !steady::moves(&bytes, file)? {
        return Ok(FileBytes::Read(bytes));
    }
    drop(bytes);
    steady::copy_of(file)
}

/// The log at `path` without its events: their chunks have a header, and zeros. What is
/// mapped anyway is looked at as little.
pub fn log_outline(path: &Path) -> io::Result<FileBytes> {
    let (file, length) = open_log(path)?;
    if length > READ_UP_TO {
        return watch_file(&file, Some(length));
    }
    let mut parts = MmapMut::map_anon(length as usize)?;
    // A large page for each header would be all of it.
    let _ = parts.advise(Advice::NoHugePage);
    for (place, at) in parts.chunks_mut(CHUNK_SIZE).zip((0..).step_by(CHUNK_SIZE)) {
        let (header, rest) = place.split_at_mut(HEADER_SIZE.min(place.len()));
        file.read_exact_at(header, at)?;
        let decoded = Header::decode(header);
        if !matches!(decoded, Ok(Some(header)) if header.kind == Kind::Events) {
            file.read_exact_at(rest, at + HEADER_SIZE as u64)?;
        }
    }
    Ok(FileBytes::Parts(parts))
}

/// A program or library at `path`, of which little is looked at.
pub fn map(path: &Path) -> io::Result<FileBytes> {
    map_known(path).map(|(bytes, _)| bytes)
}

/// The same, with what tells it from any other file.
pub fn map_known(path: &Path) -> io::Result<(FileBytes, Metadata)> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    Ok((map_file(&file)?, metadata))
}

/// An open file.
pub fn map_file(file: &File) -> io::Result<FileBytes> {
    // SAFETY: who overwrites a file while it is read gets wrong figures; who cuts it ends this
    // process by a signal; neither can make it write anywhere.
    unsafe { Mmap::map(file) }.map(FileBytes::Mapped)
}

/// A log or a table, so many bytes of it or all.
pub fn watch_file(file: &File, length: Option<u64>) -> io::Result<FileBytes> {
    Mapped::of(file, length).map(FileBytes::Watched)
}
