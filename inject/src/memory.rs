//! The memory of another process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::{Outcome, Refusal};

/// The memory of a process.
pub struct Memory {
    file: File,
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
            Ok(file) => Ok(Self { file }),
            Err(error) => Err(Refusal::new(
                format!("its memory cannot be opened: {error}"),
                "only its own user or root may attach",
            )),
        }
    }

    /// Reads all of these bytes.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, at)
    }

    /// As many bytes.
    pub fn bytes(&self, at: u64, length: u64) -> Outcome<Vec<u8>> {
        /// No table that is looked at is longer.
        const MOST: u64 = 1 << 30;
        if length > MOST {
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
        let mut text = Vec::new();
        while text.len() < MOST {
            let mut byte = [0];
            self.read(at + text.len() as u64, &mut byte)
                .map_err(|_| odd(at))?;
            if byte == [0] {
                break;
            }
            text.push(byte[0]);
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
