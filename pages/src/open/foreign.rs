//! Other tools' files, read as the logs that are made of them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memlog_format::chunk::{CHUNK_SIZE, MAGIC};
pub use memlog_import::Made;
use memlog_import::{Error, Form, Segment, Settings, Sink, convert, head_of, recognise};
use object::elf::PF_X;
use object::read::{Object, ObjectSegment, ReadCache, SegmentFlags};

use super::Watch;
use super::map::{FileBytes, map_file, open};
use super::unnamed::unnamed;
use crate::words::{Advice, shown};

/// What is larger goes into a file.
const IN_MEMORY: usize = 256 << 20;

/// What another tool's file is, by its content.
pub fn form_of(path: &Path) -> Option<&'static Form> {
    let head = head_of(&mut BufReader::new(open(path).ok()?));
    match head.starts_with(&MAGIC) {
        true => None,
        false => recognise(&head),
    }
}

/// The log that is made of another tool's file. With `held_only` the blocks of sums that
/// came and went are left out.
pub fn import(path: &Path, held_only: bool, watch: &Watch) -> anyhow::Result<(Made, FileBytes)> {
    let failed = |error: Error| {
        let remedy = error.remedy();
        Advice::error(format!("cannot import {}: {error}", shown(path)), remedy)
    };
    let unread = |error| failed(Error::Read(error));
    let file = open(path).map_err(unread)?;
    let found = file.metadata().map_err(unread)?;
    let settings = Settings {
        held_only,
        segments: Some(segments),
    };
    let mut input = Input {
        file: BufReader::with_capacity(1 << 20, file),
        done: 0,
        whole: found.len(),
        watch,
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).as_bytes();
    let mut log = Temporary {
        chunks: Vec::new(),
        file: None,
        watch,
    };
    let made = convert(&mut input, name, &mut log, settings);
    if watch.is_over() {
        let sentence = "Ctrl-C ended it before the file was read";
        return Err(Advice::error(sentence, "nothing was written"));
    }
    let made = made.map_err(failed)?;
    let bytes = match log.file {
        None => FileBytes::Read(log.chunks),
        Some(file) => map_file(&file).map_err(|error| failed(Error::Write(error)))?,
    };
    Ok((made, bytes))
}

/// The loaded parts of a file of code, as it lies here or in another root.
fn segments(path: &[u8]) -> Vec<Segment> {
    let path = OsStr::from_bytes(path);
    let path = match std::env::var_os("MEMLOG_SYSROOT") {
        Some(root) => {
            let below = Path::new(path);
            Path::new(&root).join(below.strip_prefix("/").unwrap_or(below))
        }
        None => path.into(),
    };
    let Ok(file) = open(&path) else {
        return Vec::new();
    };
    let cache = ReadCache::new(file);
    let Ok(file) = object::File::parse(&cache) else {
        return Vec::new();
    };
    let segments = file.segments().map(|segment| {
        let (offset, length) = segment.file_range();
        let is_code = match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags & PF_X == PF_X,
            _ => false,
        };
        Segment {
            offset,
            address: segment.address(),
            length,
            is_code,
        }
    });
    segments.collect()
}

/// A file as it is read, with a look at how far that is, and at Ctrl-C.
struct Input<'w> {
    file: BufReader<File>,
    done: u64,
    whole: u64,
    watch: &'w Watch,
}

impl Read for Input<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(bytes)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.watch.imported(self.done, self.whole) {
            return Ok(&[]);
        }
        self.file.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.done += count as u64;
        self.file.consume(count);
    }
}

/// Chunks in memory, or in a file without a name where they are many.
struct Temporary<'w> {
    chunks: Vec<u8>,
    file: Option<File>,
    watch: &'w Watch,
}

impl Sink for Temporary<'_> {
    fn is_over(&self) -> bool {
        self.watch.is_over()
    }

    fn write(&mut self, index: u32, chunk: &[u8]) -> io::Result<()> {
        if self.file.is_none() && index as usize >= IN_MEMORY / CHUNK_SIZE {
            let file = unnamed(&std::env::temp_dir())?;
            file.write_all_at(&self.chunks, 0)?;
            (self.file, self.chunks) = (Some(file), Vec::new());
        }
        match &self.file {
            Some(file) => file.write_all_at(chunk, u64::from(index) * CHUNK_SIZE as u64),
            None => self.chunks.write(index, chunk),
        }
    }
}
