//! One memlog at a time changes a process: two would each load a recorder for the same
//! words of its threads.

#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::{Outcome, Refusal};

/// Holds the process for this memlog until it is dropped, or memlog ends.
///
/// The kernel keeps one file for a process's folder in /proc as long as anybody has it
/// open.
pub fn of(pid: u32) -> Outcome<File> {
    let folder = File::open(format!("/proc/{pid}"))
        .map_err(|_| Refusal::new("there is no such process", "see `ps` for its number"))?;
    // SAFETY: a file that is open here.
    match unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(folder),
        _ => Err(Refusal::for_now(
            "another memlog attaches to it or leaves it just now",
            "wait for that one",
        )),
    }
}
