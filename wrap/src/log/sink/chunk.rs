//! A chunk in memory: its birth, its commits, its seal.
#![allow(unsafe_code)]
//! # Safety
//! Who holds a [`Chunk`] is its only writer.

use memlog_format::chunk::{self, CHUNK_SIZE, COMMITTED_AT, FLIGHT_AT, HEADER_SIZE, Header, Kind};
use memlog_lockfree::commit::Committed;
use memlog_lockfree::sync::AtomicU32;

/// A chunk in memory, and its place in the file.
#[derive(Clone, Copy)]
pub struct Chunk {
    /// First byte.
    pub at: *mut u8,
    /// Its number in the file.
    pub index: u32,
    /// Bytes of it that may be written to: the file has room for them.
    pub ready: u32,
}

impl Chunk {
    /// No chunk.
    pub const NONE: Self = Self {
        at: core::ptr::null_mut(),
        index: 0,
        ready: 0,
    };
}

/// How much of a chunk is made ready at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// As much as is needed, page by page at first: most processes and threads
    /// write little, and pages that are not touched take no memory and no disk.
    Little,
    /// All of it, with its neighbours: so is each page cheapest.
    Much,
}

/// As little as is ever made ready.
pub const LEAST_READY: usize = 4096;

/// How much is ready next, where so much was. A page at first.
pub fn ready_next(ready: usize) -> usize {
    const GROWTH: usize = 4;
    let page = crate::platform::sys::page_bytes() as usize;
    (ready * GROWTH).max(page).clamp(LEAST_READY, CHUNK_SIZE)
}

/// Marks a chunk as complete: the checksum first, then the flag that makes it
/// count, so that a death in between leaves an unsealed chunk. What a flight
/// recorder writes in the header stays as it is.
pub(super) fn seal_header(bytes: &mut [u8], header: &Header) {
    let end = (header.committed as usize).min(CHUNK_SIZE);
    let summed = Header {
        checksum: chunk::checksum(bytes.get(HEADER_SIZE..end).unwrap_or(&[])),
        ..*header
    };
    let (bytes, _) = bytes
        .split_at_mut_checked(FLIGHT_AT)
        .unwrap_or((&mut [], &mut []));
    copy_into(bytes, &summed.encode());
    core::sync::atomic::fence(core::sync::atomic::Ordering::Release);
    let sealed = Header {
        flags: header.flags | chunk::SEALED,
        ..summed
    };
    copy_into(bytes, &sealed.encode());
}

fn copy_into(out: &mut [u8], bytes: &[u8]) {
    for (place, &byte) in out.iter_mut().zip(bytes) {
        *place = byte;
    }
}

/// Publishes how much of a chunk is valid: the one release store of an event.
///
/// # Safety
/// `at` is the start of a chunk the caller holds.
#[inline]
pub unsafe fn commit(at: *mut u8, committed: u32) {
    // SAFETY: chunks are aligned far beyond a word, and the word is inside.
    let word = unsafe { &*at.add(COMMITTED_AT).cast::<AtomicU32>() };
    Committed(word).publish(committed);
}

/// Writes the header of a fresh chunk.
///
/// # Safety
/// `chunk` is held by the caller and unused so far.
pub unsafe fn begin(chunk: Chunk, header: &Header) {
    // SAFETY: the caller holds the whole chunk.
    let bytes = unsafe { core::slice::from_raw_parts_mut(chunk.at, HEADER_SIZE) };
    let unborn = Header {
        committed: 0,
        ..*header
    };
    copy_into(bytes, &unborn.encode());
    // SAFETY: as above. Without a committed length the chunk counts as unused.
    unsafe { commit(chunk.at, header.committed) };
}

/// Writes the header of a chunk whose bytes are about to be written over, for nothing in it
/// counts. Whoever has read it before that, and finds the same sequence and `culled`
/// behind that, has read what did count: so the header changes behind the zero that said
/// that it does not, and before the first of its other bytes.
///
/// # Safety
/// `chunk` is held by the caller, its committed length is zero, and so is the header's.
pub unsafe fn renew(chunk: Chunk, header: &Header) {
    use core::sync::atomic::{Ordering, fence};
    fence(Ordering::Release);
    // SAFETY: by the caller.
    unsafe { begin(chunk, header) };
    fence(Ordering::Release);
}

/// A chunk of a table: valid record by record, so all of it is committed.
pub fn table_header(kind: Kind, ordinal: u32) -> Header {
    Header {
        committed: CHUNK_SIZE as u32,
        ..Header::new(kind, ordinal, ordinal)
    }
}
