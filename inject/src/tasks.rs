//! What the kernel says of the threads of a process, and whether one can be stopped
//! without its noticing: nothing is stopped for that.

use std::fs;

use crate::arch::{is_cut_short, is_restarted};
use crate::checks::Status;
use crate::{Outcome, Refusal};

/// The threads that there are now.
pub fn tids(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    let tids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    tids.collect()
}

/// What it says of one; nothing if that is gone.
pub fn status(pid: u32, tid: u32) -> Option<Status> {
    let status = Status::of(&format!("/proc/{pid}/task/{tid}/status"))?;
    let is_gone = matches!(status.state(), 'Z' | 'X');
    (!is_gone).then_some(status)
}

/// Refuses if one of them has a filter of system calls.
pub fn refuse_filtered(pid: u32) -> Outcome<()> {
    let mut all = tids(pid).into_iter().filter_map(|tid| status(pid, tid));
    match all.all(|status| status.number("Seccomp") == Some(0)) {
        true => Ok(()),
        false => Err(Refusal::new(
            "it is under a seccomp filter, which may end it for a system call that \
             recording takes",
            "start it with `memlog record`, which knows the filter when it comes; in a \
             container, allow it with `--security-opt seccomp=unconfined`",
        )),
    }
}

/// Refuses for now if the program would notice that the thread is stopped.
pub fn may_stop(pid: u32, tid: u32) -> Outcome<()> {
    let Some(status) = status(pid, tid) else {
        return Ok(());
    };
    let for_now = |why: String, advice: &str| Err(Refusal::for_now(why, advice));
    if status.state() == 'D' {
        return for_now(
            format!("its thread {tid} does not stop"),
            "it waits for a disk, or for a child of vfork: try again later",
        );
    }
    let Some(call) = call(pid, tid) else {
        return Ok(());
    };
    // What goes on behind a stop is another system call, that a filter may not know.
    if is_restarted(call.0) && status.number("Seccomp") != Some(0) {
        return for_now(
            format!(
                "its thread {tid} sleeps under a seccomp filter, and could end by being stopped"
            ),
            "try again later",
        );
    }
    if is_cut_short(call.0, &call.1) {
        return for_now(
            format!("its thread {tid} waits amid a system call that being stopped would cut short"),
            "give it longer by --wait, or try again later",
        );
    }
    Ok(())
}

/// The system call that a thread waits in, and what it was given.
fn call(pid: u32, tid: u32) -> Option<(u64, [u64; 6])> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let mut words = text.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut given = [0; 6];
    for (place, word) in given.iter_mut().zip(words) {
        *place = u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
    }
    Some((number, given))
}
