//! The bytes of one log, as they come.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use memlog_format::chunk::CHUNK_SIZE;
use rustix::fs::fstatvfs;

use super::folder::{Folder, Refusal, begins};
use crate::look::{About, place, sum};
use crate::wire::{Patches, SUM, Why};

/// A log's file, locked.
pub struct Written {
    file: File,
    name: String,
    folder: Folder,
    /// Bytes of the disk that are left alone.
    free_bytes: u64,
    /// How long it is: nobody else writes to it.
    length: u64,
    /// What may be written before the disk is looked at again.
    room: u64,
    /// No byte of a log lies behind it: it has no more holes than the disk could fill.
    furthest: u64,
}

/// The disk is looked at again after so many bytes.
const STEP: u64 = 16 << 20;

impl Written {
    /// Of an open file.
    pub fn of(file: File, name: String, folder: Folder, free_bytes: u64) -> io::Result<Self> {
        let mut written = Self {
            file,
            name,
            folder,
            free_bytes,
            length: 0,
            room: 0,
            furthest: 0,
        };
        written.length = written.bytes()?;
        written.look()?;
        Ok(written)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is of, as it says now.
    pub fn about(&self) -> Option<About> {
        begins(&self.file)
    }

    /// How long it is.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Which file it is, and what it takes on the disk.
    pub fn taken(&self) -> io::Result<((u64, u64), u64)> {
        let found = self.file.metadata()?;
        Ok(((found.dev(), found.ino()), found.blocks() * 512))
    }

    /// Sees how much the disk has left.
    fn look(&mut self) -> io::Result<()> {
        let disk = fstatvfs(self.folder.fd())?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let length = self.bytes()?;
        self.furthest = length.saturating_add(free);
        self.room = free.saturating_sub(self.free_bytes).min(STEP);
        Ok(())
    }

    /// Whether so many bytes have room at a place.
    fn check(&mut self, at: u64, count: usize) -> Result<(), Refusal> {
        let count = count as u64;
        let end = at.saturating_add(count);
        if count > self.room || end > self.furthest {
            self.look().map_err(|error| refusal(&error))?;
        }
        if end > self.furthest {
            let text = "the log would be longer than the disk is free";
            return Err((Why::Full, text.into()));
        }
        self.room = self.room.checked_sub(count).ok_or_else(|| {
            let free = self.free_bytes;
            let text = format!("the disk has less than {free} bytes free (--keep-free)");
            (Why::Full, text)
        })?;
        Ok(())
    }

    /// Writes bytes. A log's file ends with a whole chunk, as the recorder's does: no bytes at
    /// a place say that it is so long.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.check(at, bytes.len())?;
        let end = at.saturating_add(bytes.len() as u64);
        if end > self.length {
            let end = end
                .div_ceil(CHUNK_SIZE as u64)
                .saturating_mul(CHUNK_SIZE as u64);
            let set = self.file.set_len(end);
            set.map_err(|error| refusal(&error))?;
            self.length = end;
        }
        let written = self.file.write_all_at(bytes, at);
        written.map_err(|error| refusal(&error))
    }

    /// Writes pieces, all that can be read.
    pub fn commit(&mut self, patches: &[u8]) -> io::Result<Result<(), Refusal>> {
        // None is written of what is not whole.
        let pieces: Vec<_> = Patches(patches).collect::<io::Result<_>>()?;
        for (at, bytes) in pieces {
            if let Err(refusal) = self.write(at, bytes) {
                return Ok(Err(refusal));
            }
        }
        Ok(Ok(()))
    }

    /// It is this long.
    pub fn finish(&mut self, bytes: u64) -> Result<(), Refusal> {
        let length = self.bytes().map_err(|error| refusal(&error))?;
        if bytes > length {
            self.check(length, 0)?;
            self.check(bytes, 0)?;
        }
        let set = self.file.set_len(bytes);
        self.length = bytes;
        set.map_err(|error| refusal(&error))
    }

    /// Checksums of chunks. What is not there counts as zeros.
    pub fn sums(&self, first: u32, count: u32) -> io::Result<Vec<u8>> {
        let mut chunk = vec![0; CHUNK_SIZE];
        let zeros = sum(&chunk);
        let length = self.bytes()?;
        let mut sums = Vec::with_capacity(count as usize * SUM);
        for index in first..first.saturating_add(count) {
            let mut done = 0;
            while place(index) < length && done < CHUNK_SIZE {
                match self
                    .file
                    .read_at(&mut chunk[done..], place(index) + done as u64)?
                {
                    0 => break,
                    count => done += count,
                }
            }
            chunk[done..].fill(0);
            let is_zero = chunk.iter().all(|&byte| byte == 0);
            sums.extend(match is_zero {
                true => zeros,
                false => sum(&chunk),
            });
        }
        Ok(sums)
    }
}

fn refusal(error: &io::Error) -> Refusal {
    let why = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Why::Full
        }
        _ => Why::Never,
    };
    (why, error.to_string())
}
