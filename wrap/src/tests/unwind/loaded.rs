//! A file in memory as a loader puts it there, and the module that the
//! recorder makes of it.
#![allow(unsafe_code)]
//! # Safety
//! Files are mapped at an address of the kernel's choice between two pages
//! that nobody may touch, and are never unmapped.

use crate::platform::ground::Ground;
use crate::tests::memory::{Zeroed, maps_at_rest};
use crate::unwind::modules::{Module, Modules};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;

const PAGE: u64 = 4096;

/// A mapped file.
pub struct Loaded {
    /// The module, read from the maps.
    pub module: Module,
    /// Where .eh_frame lies, by the section table.
    pub frames: u64,
    /// Bytes of it.
    pub frames_bytes: u64,
}

/// A part of the file that is loaded.
struct Segment {
    offset: u64,
    address: u64,
    file_bytes: u64,
    bytes: u64,
    code: bool,
}

/// A little-endian field of an ELF file.
fn field(file: &[u8], at: u64, bytes: usize) -> u64 {
    let at = at as usize;
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&file[at..at + bytes]);
    u64::from_le_bytes(word)
}

fn segments(file: &[u8]) -> Vec<Segment> {
    let (table, count) = (field(file, 32, 8), field(file, 56, 2));
    let parts = (0..count).map(|index| table + 56 * index);
    let loaded = parts.filter(|&part| field(file, part, 4) == 1);
    let read = |part| Segment {
        offset: field(file, part + 8, 8),
        address: field(file, part + 16, 8),
        file_bytes: field(file, part + 32, 8),
        bytes: field(file, part + 40, 8),
        code: field(file, part + 4, 4) & 1 != 0,
    };
    loaded.map(read).collect()
}

/// Address and size of a section.
pub fn section(file: &[u8], wanted: &str) -> Option<(u64, u64)> {
    let (table, count) = (field(file, 40, 8), field(file, 60, 2));
    let header = |index| table + 64 * index;
    let names = field(file, header(field(file, 62, 2)) + 24, 8);
    let found = (0..count).map(header).find(|&header| {
        let name = &file[(names + field(file, header, 4)) as usize..];
        name.split(|&byte| byte == 0).next() == Some(wanted.as_bytes())
    })?;
    Some((field(file, found + 16, 8), field(file, found + 32, 8)))
}

/// Bytes of a file that is mapped.
pub fn bytes_at(address: u64, count: usize) -> Vec<u8> {
    // SAFETY: the caller found the range in a mapped file's tables.
    unsafe { std::slice::from_raw_parts(address as *const u8, count) }.to_vec()
}

/// Memory that may not be touched, with a page of it on either side.
fn reserve(bytes: u64) -> u64 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let bytes = (bytes + 2 * PAGE) as usize;
    // SAFETY: a fresh mapping.
    let at = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at as u64 + PAGE
}

/// Maps over reserved memory; without a file, zeros.
fn map_over(at: u64, bytes: u64, rights: i32, file: Option<(&File, u64)>) {
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED;
    // SAFETY: inside what `reserve` gave.
    let done = unsafe {
        match file {
            Some((file, offset)) => {
                let fd = file.as_raw_fd();
                libc::mmap(
                    at as *mut _,
                    bytes as usize,
                    rights,
                    flags,
                    fd,
                    offset as i64,
                )
            }
            None => libc::mmap(
                at as *mut _,
                bytes as usize,
                rights,
                flags | libc::MAP_ANONYMOUS,
                -1,
                0,
            ),
        }
    };
    assert_eq!(done as u64, at);
}

impl Loaded {
    /// Maps a file; `None` if it does not exist or has no unwind tables.
    pub fn map(path: &Path) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let file = File::open(path).ok()?;
        let frames = section(&bytes, ".eh_frame")?;
        let segments = segments(&bytes);
        let low = segments.first()?.address & !(PAGE - 1);
        let end = segments
            .iter()
            .map(|part| part.address + part.bytes)
            .max()?;
        let _rest = maps_at_rest();
        let start = reserve((end - low).next_multiple_of(PAGE));
        let bias = start.wrapping_sub(low);
        for part in &segments {
            let inside = part.address % PAGE;
            let at = bias.wrapping_add(part.address - inside);
            let rights = libc::PROT_READ | if part.code { libc::PROT_EXEC } else { 0 };
            if part.file_bytes > 0 {
                map_over(
                    at,
                    part.file_bytes + inside,
                    rights,
                    Some((&file, part.offset - inside)),
                );
            }
            let covered = (part.file_bytes + inside).next_multiple_of(PAGE);
            let wanted = (part.bytes + inside).next_multiple_of(PAGE);
            if wanted > covered {
                map_over(at + covered, wanted - covered, libc::PROT_READ, None);
            }
        }
        let mut modules = Modules::zeroed();
        modules.refresh(&Ground::new(), |_| ());
        let module = modules.find(start);
        let module = *module.unwrap_or_else(|| panic!("the recorder does not see {path:?}"));
        assert_eq!((module.low, module.image.bias), (start, bias));
        Some(Self {
            module,
            frames: bias.wrapping_add(frames.0),
            frames_bytes: frames.1,
        })
    }

    /// The unwind table, as it lies in memory.
    pub fn frames(&self) -> &'static [u8] {
        // SAFETY: the section lies in a mapped segment, for ever.
        unsafe { std::slice::from_raw_parts(self.frames as *const u8, self.frames_bytes as usize) }
    }

    /// A copy in ordinary memory, between two pages that nobody may touch.
    pub fn copy(&self) -> Copy {
        let module = &self.module;
        assert_ne!(
            module.image.header, 0,
            "copies are made of files with a search table"
        );
        let first = self.frames.min(module.image.header);
        let last =
            (self.frames + self.frames_bytes).max(module.image.header + module.image.header_bytes);
        let low = first & !(PAGE - 1);
        let bytes = (last - low).next_multiple_of(PAGE);
        let at = reserve(bytes);
        map_over(at, bytes, libc::PROT_READ | libc::PROT_WRITE, None);
        // SAFETY: tables are in one segment here, which the caller's checks
        // of the real file have read whole.
        unsafe { ptr::copy_nonoverlapping(low as *const u8, at as *mut u8, (last - low) as usize) };
        let moved = |address: u64| address.wrapping_sub(low).wrapping_add(at);
        let mut copied = *module;
        (copied.low, copied.image.high) = (at, at + bytes);
        (copied.image.tables_start, copied.image.tables_end) = (at, at + bytes);
        copied.image.header = moved(module.image.header);
        Copy {
            module: copied,
            tables: moved(first)..moved(last),
            frames: moved(self.frames)..moved(self.frames + self.frames_bytes),
            code: moved(self.module.low)..moved(first),
        }
    }
}

/// The tables of an file in memory that can be written.
pub struct Copy {
    /// The module, moved: its range is the tables' pages and no more.
    pub module: Module,
    /// The tables.
    pub tables: Range<u64>,
    /// .eh_frame alone.
    pub frames: Range<u64>,
    /// The addresses that the moved tables describe; there is nothing there.
    pub code: Range<u64>,
}

impl Copy {
    /// The bytes of the tables, while nobody reads them.
    pub fn bytes(&mut self) -> &mut [u8] {
        let length = (self.tables.end - self.tables.start) as usize;
        // SAFETY: writable memory of the copy; tests read it through cursors
        // only when this borrow is over.
        unsafe { std::slice::from_raw_parts_mut(self.tables.start as *mut u8, length) }
    }
}
