//! The memory of another process.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::{Outcome, Refusal};

/// No look takes more than that, whatever is said of lengths there.
pub const LOOK: u64 = 1 << 30;

/// The memory of a process.
pub struct Memory {
    file: File,
    /// Bytes that may still be read: what says how long a table is may lie.
    left: Cell<u64>,
}

impl Memory {
    /// Opens it; the kernel says whether that may be.
    pub fn of(pid: u32) -> Outcome<Self> {
        let mut options = File::options();
        let opened = options
            .read(true)
            .write(true)
            .open(format!("/proc/{pid}/mem"));
        match opened {
            Ok(file) => Ok(Self {
                file,
                left: Cell::new(LOOK),
            }),
            Err(error) => Err(Refusal::new(
                format!("its memory cannot be opened: {error}"),
                "only its own user or root may attach",
            )),
        }
    }

    /// Another look begins, at so many bytes at most.
    pub fn begin(&self, most: u64) {
        self.left.set(most);
    }

    /// Whether a look came to its end before all was read.
    pub fn is_spent(&self) -> bool {
        /// Shorter tables than that are no matter of length.
        const LEAST: u64 = 1 << 20;
        self.left.get() < LEAST
    }

    /// Reads all of these bytes.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        /// What a system call is worth.
        const EACH: u64 = 64;
        let bytes = into.len() as u64 + EACH;
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        if left.is_none() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.read_exact_at(into, at)
    }

    /// As many bytes.
    pub fn bytes(&self, at: u64, length: u64) -> Outcome<Vec<u8>> {
        if length > self.left.get() {
            self.left.set(0);
            return Err(odd(at));
        }
        let mut bytes = vec![0; length as usize];
        self.read(at, &mut bytes).map_err(|_| odd(at))?;
        Ok(bytes)
    }

    /// A word.
    pub fn word(&self, at: u64) -> Outcome<u64> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes).map_err(|_| odd(at))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A C string, cut where it is too long.
    pub fn text(&self, at: u64) -> Outcome<String> {
        const MOST: usize = 4096;
        /// No page ends amid so many, from a multiple of it.
        const PIECE: u64 = 64;
        let mut text = Vec::new();
        while text.len() < MOST {
            let next = at.wrapping_add(text.len() as u64);
            let piece = self.bytes(next, PIECE - next % PIECE)?;
            let end = piece.iter().position(|&byte| byte == 0);
            text.extend(piece.iter().take(end.unwrap_or(usize::MAX)));
            if end.is_some() {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes where the process itself might.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Outcome<()> {
        self.file.write_all_at(bytes, at).map_err(|error| {
            Refusal::new(
                format!("its memory cannot be written to: {error}"),
                "the kernel may be set to forbid that, see dmesg",
            )
        })
    }
}

fn odd(at: u64) -> Refusal {
    Refusal::new(
        format!("what its loader says of address {at:#x} cannot be read"),
        "try again; if it stays so, start the program with `memlog record`",
    )
}

/// A word among bytes.
pub fn word_in(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Half of one.
pub fn half_in(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// A quarter of one.
pub fn quarter_in(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// A C string among bytes.
pub fn text_in(bytes: &[u8], at: usize) -> Option<&str> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(rest.get(..length)?).ok()
}
