//! Packed logs, by `memlog pack` or by gzip or zstd alone: what is in them lies in files
//! without names while it is read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memlog_format::chunk::MAGIC as MAGIC_OF_LOG;
use memlog_import::{content_of, head_of};
use memlog_pack::archive::{self, MAGIC};

use super::magic::begins_with;
use super::unnamed::unnamed;
use crate::system::free_bytes;
use crate::words::{shown, sized};

/// Whether the file is a packed log.
pub fn is_packed(path: &Path) -> bool {
    is_archive(path) || File::open(path).is_ok_and(|file| is_log_alone(&file))
}

/// Whether a log and nothing else was packed, as by gzip.
fn is_log_alone(file: &File) -> bool {
    // Of thousands of logs few bytes are read.
    let mut start = [0; MAGIC.len()];
    if file.read_at(&mut start, 0).is_err() || !memlog_import::is_packed(&start) {
        return false;
    }
    head_of(&mut from_start(file)).starts_with(&MAGIC_OF_LOG)
}

/// All of an open file. The next who reads it starts at its beginning too.
fn from_start(file: &File) -> BufReader<At<'_>> {
    BufReader::new(At { file, offset: 0 })
}

struct At<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(bytes, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Whether `memlog pack` made the file.
pub fn is_archive(path: &Path) -> bool {
    let first = |file| archive::read(BufReader::new(file), |_| Err(io::ErrorKind::Other.into()));
    // It is one as soon as a log in it is to be read.
    begins_with(path, &MAGIC)
        && File::open(path).is_ok_and(|file| !matches!(first(file), Ok(false)))
}

/// The logs in a packed file, each in a file of its own; none if it is no packed one.
pub fn unpacked(file: &File) -> io::Result<Vec<File>> {
    let mut room = Room::of(&std::env::temp_dir());
    if is_log_alone(file) {
        let mut input = from_start(file);
        let content = content_of(&mut input).map_err(io::Error::other)?;
        return Ok(vec![spooled(&mut Measured(content, room))?]);
    }
    let mut start = [0; MAGIC.len()];
    let _ = file.read_at(&mut start, 0);
    if memlog_import::is_packed(&start) {
        // What has no beginning is no other tool's file either.
        let mut input = from_start(file);
        let content = content_of(&mut input).map_err(io::Error::other);
        let first = content.and_then(|mut content| content.read(&mut [0]));
        first.map_err(unpackable)?;
    }
    if start != MAGIC {
        return Ok(Vec::new());
    }
    let mut logs = Vec::new();
    let whole = archive::read(from_start(file), |log| {
        room.take(log.length)?;
        logs.push(spooled(log.content)?);
        Ok(())
    })?;
    Ok(if whole { logs } else { Vec::new() })
}

/// How much there is room for in a folder, or nobody knows. Of a packed file a few bytes may
/// stand for more than any disk has: it is asked before any of it is written.
pub struct Room {
    folder: PathBuf,
    bytes: Option<u64>,
    wanted: u64,
}

impl Room {
    /// What there is by now.
    pub fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            // Others want to write there too.
            bytes: free_bytes(folder).ok().map(|bytes| bytes - bytes / 16),
            wanted: 0,
        }
    }

    /// So much more is wanted.
    pub fn take(&mut self, length: u64) -> io::Result<()> {
        self.wanted = self.wanted.saturating_add(length);
        match self.bytes {
            Some(bytes) if bytes < self.wanted => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!(
                    "it unpacks to {} or more, and {} has room for {}",
                    sized(self.wanted),
                    shown(&self.folder),
                    sized(bytes)
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Content of which nothing says how long it is.
struct Measured<R>(R, Room);

impl<R: Read> Read for Measured<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Self(content, room) = self;
        let count = content.read(bytes)?;
        room.take(count as u64)?;
        Ok(count)
    }
}

/// A file that has no name, with that content.
fn spooled(content: &mut dyn Read) -> io::Result<File> {
    let folder = std::env::temp_dir();
    let told = |error: io::Error| {
        let sentence = format!(
            "it is packed, and there is no room to unpack it in {}: {error}",
            shown(&folder)
        );
        io::Error::new(error.kind(), sentence)
    };
    let mut buffer = vec![0; 1 << 16];
    let mut first = 0;
    while first < MAGIC_OF_LOG.len() {
        match content.read(&mut buffer[first..]).map_err(unpackable)? {
            0 => break,
            count => first += count,
        }
    }
    if !buffer[..first].starts_with(&MAGIC_OF_LOG) {
        let sentence = "what is packed in it is no log";
        return Err(io::Error::new(io::ErrorKind::InvalidData, sentence));
    }
    let mut file = unnamed(&folder).map_err(told)?;
    file.write_all(&buffer[..first]).map_err(told)?;
    loop {
        match content.read(&mut buffer).map_err(unpackable)? {
            0 => break,
            count => file.write_all(&buffer[..count]).map_err(told)?,
        }
    }
    file.rewind()?;
    Ok(file)
}

/// What an unpacker says of its input, in words that say of what.
fn unpackable(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::StorageFull => error,
        _ => io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is packed, and the packed file is cut short or damaged ({error})"),
        ),
    }
}
