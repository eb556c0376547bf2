//! Doors behind which a seccomp filter may come, or the processor's counter may be
//! forbidden: what takes a system call is done before.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use crate::hooks::capture;
use crate::hooks::family::{handler, next};
use crate::hooks::notices::as_recorder;
use crate::hooks::session::{self, Admission, admit};
use crate::hooks::threads;
use crate::log::sink::Stock;
use crate::log::stream::Of;
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::process::fine_time;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use crate::process::start;
use core::sync::atomic::{AtomicUsize, Ordering};

handler! {
    /// prctl: a filter may be coming that kills for our system calls
    fn memlog_on_prctl(what: i32, a: usize, b: usize, c: usize, d: usize) -> i32 = |frame| {
        type Real = extern "C" fn(i32, usize, usize, usize, usize) -> i32;
        let Some(real) = next::<Real>(frame, Door::Prctl) else {
            return -1;
        };
        if what == libc::PR_SET_NAME {
            let result = real(what, a, b, c, d);
            threads::renamed(frame);
            return result;
        }
        if forbids_counter(libc::SYS_prctl, what, a) {
            fine_time::end();
        }
        if !may_set_filter(frame, what) || !expect_filter(frame) {
            return real(what, a, b, c, d);
        }
        let result = real(what, a, b, c, d);
        RECORDER.end_expecting(result == 0);
        result
    }
}

/// Whether who makes this call may not read the processor's counter from then on:
/// who forbids itself that, and who is left with four system calls.
fn forbids_counter(number: libc::c_long, what: i32, how: usize) -> bool {
    let of_prctl = match what {
        libc::PR_SET_TSC => how != libc::PR_TSC_ENABLE as usize,
        libc::PR_SET_SECCOMP => how == libc::SECCOMP_MODE_STRICT as usize,
        _ => false,
    };
    let is_strict = what == libc::SECCOMP_SET_MODE_STRICT as i32;
    number == libc::SYS_prctl && of_prctl || number == libc::SYS_seccomp && is_strict
}

/// Whether a filter may come by this prctl. One that gives up privileges is no
/// filter, but lets anybody set one, by whatever instructions.
fn may_set_filter(frame: &DoorFrame, what: i32) -> bool {
    if what == libc::PR_SET_NO_NEW_PRIVS {
        heed_herald(frame);
    }
    what == libc::PR_SET_SECCOMP
}

/// A filter may come that no door sees, and then nothing can be had any more:
/// streams and a window are stocked. A forked child that may only want to execute
/// another program has them when it gets its log.
#[cold]
fn heed_herald(frame: &DoorFrame) {
    // A vfork's child has our memory, and it is not we who give up anything.
    let is_guest = || Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed);
    if session::is_alive() && !RECORDER.ground.is_quiet() && is_guest() {
        return;
    }
    RECORDER.ground.note_herald();
    if !session::is_alive() || RECORDER.log.is_deferred() || RECORDER.ground.must_be_quiet() {
        return;
    }
    as_recorder(frame, || {
        RECORDER.log.stock_up(Stock::Little);
    });
}

handler! {
    /// syscall, if it is one of those that the door looks for: a filter may be
    /// coming. Where it goes on.
    fn memlog_on_syscall(number: libc::c_long, what: i32, a: usize) -> usize = |frame| {
        const STRICT_OR_FILTER: core::ops::RangeInclusive<i32> = 0..=1;
        let real = next::<usize>(frame, Door::Syscall).unwrap_or(0);
        if forbids_counter(number, what, a) {
            fine_time::end();
        }
        let is_coming = match number {
            libc::SYS_prctl => may_set_filter(frame, what),
            libc::SYS_seccomp => STRICT_OR_FILTER.contains(&what),
            _ => false,
        };
        if real == 0 || !is_coming || !expect_filter(frame) {
            return real;
        }
        REAL_SYSCALL.store(real, Ordering::Relaxed);
        set_filter as *const () as usize
    }
}

/// Where `set_filter` goes on.
static REAL_SYSCALL: AtomicUsize = AtomicUsize::new(0);

/// In the place of libc's syscall, for a call that may set a filter and returns
/// once: what came of it is wanted.
extern "C" fn set_filter(
    number: libc::c_long,
    what: usize,
    flags: usize,
    c: usize,
    d: usize,
    e: usize,
) -> libc::c_long {
    type Real = unsafe extern "C" fn(libc::c_long, ...) -> libc::c_long;
    let real = REAL_SYSCALL.load(Ordering::Relaxed);
    // SAFETY: libc's syscall, or another's of that name; the door came here
    // with the program's arguments.
    let result = unsafe { core::mem::transmute::<usize, Real>(real)(number, what, flags, c, d, e) };
    // More than 0 is a descriptor that was asked for, or the thread that refuses.
    let asks = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as usize;
    let gets = number == libc::SYS_seccomp && flags & asks != 0;
    RECORDER.end_expecting(result == 0 || result > 0 && gets);
    result
}

/// A filter may be coming that kills for any system call of ours: none is made
/// till the program's call is through. Whether that is to be told of it; where
/// a filter is there already nothing changes, and a guest's is not ours.
#[cold]
fn expect_filter(frame: &DoorFrame) -> bool {
    if RECORDER.ground.is_filtered() || !start::is_up() {
        return false;
    }
    // One may have come that no door saw.
    let is_ready = || !RECORDER.ground.must_be_quiet() && prepare_for_filter(frame);
    if !RECORDER.ground.is_quiet() && !is_ready() {
        return false;
    }
    RECORDER.expect_filter();
    true
}

/// While system calls are still allowed this thread gets its stream, threads
/// that come later get theirs, a forked child its file, and the log room for
/// some two million events.
fn prepare_for_filter(frame: &DoorFrame) -> bool {
    if Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed)
        || RECORDER.log.is_deferred() && !RECORDER.log.materialize()
    {
        return false;
    }
    if let Admission::Record(mut session) = admit(frame) {
        session.in_recorder(Some(frame));
        rss::poll(session.stream());
        RECORDER.log.stock_up(Stock::Much);
        // Leaves what could only be left by a system call: the private chunk of
        // a forked child, rules of an earlier generation, an unknown stack.
        capture::capture_apart(session.recording(), frame, Of::Allocation);
        session.stream().leave_private_chunk();
        session.stream().reserve();
        session.end();
    }
    RECORDER.code.with(Patience::Bounded, |map| map.settle());
    if RECORDER.log.writes_out() {
        RECORDER
            .log
            .meta
            .with(Patience::Bounded, |meta| meta.flush(&RECORDER.log));
        RECORDER.log.write_held();
    }
    true
}
