//! A forked child before it begins its own log. A signal's handler may have
//! forked amid a call, which then goes on in both: the child's part in the
//! parent's log ends here, without a look at any lock.
#![allow(unsafe_code)]
//! # Safety
//! The process has one thread, and what it maps of the log stays mapped: what
//! the recorder still writes, and what it reads, is there and of no account.

use crate::maps;
use crate::sys::{FileId, Os, Sys};
use core::sync::atomic::{AtomicBool, Ordering};

/// Bytes for the lines of the maps.
const BUFFER: usize = 8192;

/// Set from a fork on until the child begins its own log.
static IS_PARTED: AtomicBool = AtomicBool::new(false);

/// Whether the log is the parent's.
pub(super) fn is_parted() -> bool {
    IS_PARTED.load(Ordering::Relaxed)
}

/// The log is the parent's from now on: its file is not opened again, and no
/// chunk of it is given out.
pub fn part() {
    IS_PARTED.store(true, Ordering::Relaxed);
}

/// The child begins its own log.
pub(super) fn forget() {
    IS_PARTED.store(false, Ordering::Relaxed);
}

/// Puts memory of the child's own in the place of all that is mapped of the
/// parent's log, of which `chunk0` is the beginning: the recorder was at work in
/// it. The content is not copied: a timer that forks in its handler waits for
/// the child, and must not come again before that is done.
#[cold]
pub fn replace_windows(chunk0: *mut u8) {
    let room = Os::memory(BUFFER);
    if room.is_null() {
        return;
    }
    // SAFETY: fresh memory of that size.
    let buffer = unsafe { core::slice::from_raw_parts_mut(room, BUFFER) };
    let mut log = FileId::default();
    maps::each_line(buffer, |line| {
        if line.shared && (line.low..line.high).contains(&(chunk0 as u64)) {
            log = line.file;
        }
    });
    if log.inode != 0 {
        maps::each_line(buffer, |line| {
            if line.shared && line.file == log {
                let bytes = (line.high - line.low) as usize;
                // SAFETY: whole pages of the log, whose indexes the fork wiped:
                // what was named is named anew, whatever stood there.
                unsafe { Os::memory_over(line.low as *mut u8, bytes) };
            }
        });
    }
    // SAFETY: nothing refers to it any more.
    unsafe { Os::unmap(room, BUFFER) };
}
