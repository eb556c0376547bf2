//! A forked child in which the recorder goes on with what it was doing, because
//! a signal's handler forked amid it. The parent goes on with it as well.
#![allow(unsafe_code)]
//! # Safety
//! The process has one thread. What it maps of the log is replaced where it
//! lies: what the recorder still writes and reads is there, and of no account.

use crate::platform::ground::Ground;
use crate::platform::maps;
use crate::platform::sys::{FileId, Os, Sys};

/// Bytes for the lines of the maps.
const BUFFER: usize = 8192;

/// Puts memory of the child's own in the place of all that is mapped of the
/// parent's log, of which `chunk0` is the beginning. The content is not copied:
/// a timer that forks in its handler waits for the child, and must not come
/// again before that is done.
#[cold]
pub fn replace_windows(ground: &Ground, chunk0: *mut u8) {
    let room = Os::memory(BUFFER);
    if room.is_null() {
        return;
    }
    // SAFETY: fresh memory of that size.
    let buffer = unsafe { core::slice::from_raw_parts_mut(room, BUFFER) };
    let mut log = FileId::default();
    maps::each_line(ground, buffer, |line| {
        if line.shared && (line.low..line.high).contains(&(chunk0 as u64)) {
            log = line.file;
        }
    });
    if log.inode != 0 {
        maps::each_line(ground, buffer, |line| {
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
