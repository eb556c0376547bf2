//! Whether a process may make its log in a folder: asked by a child of ours that has its
//! rights and its view of files. A folder may be on a disk that does not answer, and no
//! thread of the program is to wait for that.
#![allow(unsafe_code)]
//! # Safety
//! The child makes system calls alone, with what was made ready before.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::checks::Status;
use crate::{Outcome, Refusal};

/// Refuses if it may not.
pub fn ask(pid: u32, folder: &Path, patience: Duration) -> Outcome<()> {
    let gone = || Refusal::new("it has ended", "there is nothing to record");
    let status = Status::of(&format!("/proc/{pid}/status")).ok_or_else(gone)?;
    // Its own, the one that counts, ...
    let effective = |key| status.numbers(key).get(1).copied().unwrap_or(u32::MAX);
    let text =
        |bytes: &[u8]| CString::new(bytes).map_err(|_| cannot(folder, "no such name", ANOTHER));
    let question = Question {
        user: effective("Uid"),
        group: effective("Gid"),
        groups: status.numbers("Groups"),
        root: text(format!("/proc/{pid}/root").as_bytes())?,
        folder: text(folder.as_os_str().as_bytes())?,
    };
    // SAFETY: see the head.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe { libc::_exit(question.answer()) };
    }
    if child < 0 {
        return Err(Refusal::new(
            format!("no process can be made: {}", io::Error::last_os_error()),
            "there may be a limit (ulimit -u)",
        ));
    }
    let end = Instant::now() + patience;
    let mut pause = Duration::from_micros(100);
    loop {
        let mut status = 0;
        // SAFETY: the status is one word.
        let got = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
        if got == child && libc::WIFEXITED(status) {
            return match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                error => {
                    let advice = match error {
                        libc::ENOENT => "make that folder where it runs, or choose another with -o",
                        _ => ANOTHER,
                    };
                    let why = io::Error::from_raw_os_error(error).to_string();
                    Err(cannot(folder, &why, advice))
                }
            };
        }
        if got != 0 || Instant::now() >= end {
            // SAFETY: a child of ours.
            unsafe { libc::kill(child, libc::SIGKILL) };
            return Err(cannot(folder, "the disk does not answer", ANOTHER));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

const ANOTHER: &str = "choose a folder that its user may write to, as it sees that, with -o";

fn cannot(folder: &Path, why: &str, advice: &str) -> Refusal {
    let sentence = format!("it cannot make its log in {}: {why}", folder.display());
    Refusal::new(sentence, advice)
}

/// What the child is to find out.
struct Question {
    user: u32,
    group: u32,
    groups: Vec<u32>,
    root: CString,
    folder: CString,
}

impl Question {
    /// 0, or the number of an error.
    ///
    /// # Safety
    /// In a child that has just forked.
    unsafe fn answer(&self) -> i32 {
        const MAY_MAKE: i32 = libc::W_OK | libc::X_OK;
        // SAFETY: system calls with what lives in this process.
        unsafe {
            // Of another process's files, whatever its links say: its root is ours then.
            let can_be_there = libc::chroot(self.root.as_ptr()) == 0;
            if !can_be_there && self.is_elsewhere() {
                return 0;
            }
            if libc::geteuid() != self.user {
                let groups = self.groups.as_ptr();
                libc::setgroups(self.groups.len() as _, groups.cast());
                if libc::setgid(self.group) != 0 || libc::setuid(self.user) != 0 {
                    // Nobody can say. The recorder will.
                    return 0;
                }
            }
            match libc::faccessat(
                libc::AT_FDCWD,
                self.folder.as_ptr(),
                MAY_MAKE,
                libc::AT_EACCESS,
            ) {
                0 => 0,
                _ => io::Error::last_os_error()
                    .raw_os_error()
                    .unwrap_or(libc::EIO),
            }
        }
    }

    /// Whether its root is another folder than ours.
    unsafe fn is_elsewhere(&self) -> bool {
        // SAFETY: places of the right size, and names that end.
        unsafe {
            let (mut theirs, mut ours) = (std::mem::zeroed::<libc::stat>(), std::mem::zeroed());
            let is_read = libc::stat(self.root.as_ptr(), &raw mut theirs) == 0
                && libc::stat(c"/".as_ptr(), &raw mut ours) == 0;
            !is_read || (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino)
        }
    }
}
