//! What of the file is ready to be written to: pages of a shared mapping that
//! were touched once, so that a full disk is an error then and no signal later.
//! Pages that nobody made ready take no memory, and no room on the disk.
#![allow(unsafe_code)]
//! # Safety
//! A window is unmapped here before anybody knows of it.

use super::chunk::{Chunk, LEAST_READY, Use, ready_next};
use super::grow::failed;
use super::state::{State, is_own};
use crate::platform::sys::{Errno, Fd, Os, Sys};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::refusal::Step;

/// A chunk of which all is ready.
pub(super) fn whole(at: *mut u8, index: u32) -> Chunk {
    let ready = CHUNK_SIZE as u32;
    Chunk { at, index, ready }
}

/// Bytes of whole pages.
fn up_to_page(bytes: usize) -> usize {
    let page = ready_next(0) - 1;
    (bytes + page) & !page
}

/// Maps the beginning of a file, of which so many bytes are written to. What it
/// comes in the place of is there until all has gone well: it has the counters.
pub(super) fn map_first(
    fd: Fd,
    over: *mut u8,
    bytes: usize,
    used: usize,
) -> Result<*mut u8, Errno> {
    let window = Os::map_window(fd, 0, bytes, false)?;
    let is_ready = Os::make_ready(window, up_to_page(used));
    let is_there = is_ready.and_then(|()| match over.is_null() {
        true => Ok(window),
        // SAFETY: mapped just now, and the caller's private memory.
        false => unsafe { Os::move_window(window, bytes, over) }.map(|()| over),
    });
    match is_there {
        Ok(window) => Ok(window),
        Err(error) => {
            // SAFETY: mapped just now.
            unsafe { Os::unmap(window, bytes) };
            Err(error)
        }
    }
}

/// Writes all of some bytes.
pub(super) fn put(fd: Fd, bytes: &[u8], offset: usize) -> Result<(), Errno> {
    match bytes.is_empty() || Os::write_at(fd, bytes, offset as u64)? == bytes.len() {
        true => Ok(()),
        false => Err(Errno(libc::ENOSPC)),
    }
}

/// Bytes without the pages of zeros at their end.
pub(super) fn written(bytes: &[u8]) -> &[u8] {
    let is_zero = |page: &&[u8]| page.iter().all(|&byte| byte == 0);
    let zeros = bytes
        .rchunks(LEAST_READY)
        .take_while(is_zero)
        .map(<[u8]>::len)
        .sum::<usize>();
    bytes.get(..bytes.len() - zeros).unwrap_or(bytes)
}

impl State {
    /// Makes the beginning of a chunk ready; how much of it is.
    pub(super) fn make_ready(&mut self, at: *mut u8, usage: Use) -> Option<usize> {
        if !self.is_sparse {
            return Some(CHUNK_SIZE);
        }
        // The header's page was made ready with the file.
        if self.window_offset == 0 && self.carved == 0 && usage == Use::Little {
            return Some(ready_next(0));
        }
        if self.is_refused() {
            return None;
        }
        let bytes = match usage {
            Use::Little => ready_next(0),
            Use::Much => CHUNK_SIZE,
        };
        if !self.room.total.take(bytes) {
            return self.refuse(failed(Step::LogsTotal, Errno(libc::EFBIG)));
        }
        match is_own(self.ground).and_then(|()| Os::make_ready(at, bytes)) {
            Ok(()) => Some(bytes),
            Err(error) => {
                self.room.total.give_back(bytes);
                self.refuse(failed(Step::Map, error))
            }
        }
    }
}
