//! Doors that only listen: what takes rights from the program. From then on its
//! log may not be opened any more, nor another be made, so both is done before.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use crate::hooks::family::{handler, next};
use crate::hooks::notices::make_deferred_log;
use crate::hooks::session::{self, Admission, admit};
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use crate::process::start;
use core::sync::atomic::Ordering;

/// Whose rights a call takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// Root's only: who is somebody already keeps what files he may open.
    Root,
    /// Anybody's.
    All,
}

/// While it may still be done, a forked child gets its log, and the log's file
/// is made longer by far.
#[cold]
fn prepare(frame: &DoorFrame, from: From) {
    if RECORDER.ground.is_quiet() || from == From::Root && !Os::is_root() || !start::is_up() {
        return;
    }
    // A vfork's child gives up its own rights, and not its parent's.
    if Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed) || !make_deferred_log() {
        return;
    }
    match admit(frame) {
        Admission::Record(mut session) => {
            session.in_recorder(Some(frame));
            // The chunk of a forked child that would have to be written.
            session.stream().leave_private_chunk();
            RECORDER.log.sink.reach_far();
            session.end();
        }
        // Recording is off for now.
        Admission::Pass if session::is_alive() => RECORDER.log.sink.reach_far(),
        Admission::Pass | Admission::Backing => {}
    }
}

fn goes_on(frame: &DoorFrame, door: Door, from: From) -> usize {
    prepare(frame, from);
    next::<usize>(frame, door).unwrap_or(0)
}

macro_rules! doors {
    ($($(#[$doc:meta])* $handler:ident $door:ident $from:ident;)*) => {$(
        handler! {
            $(#[$doc])*
            fn $handler(_a: usize, _b: usize, _c: usize) -> usize = |frame| {
                goes_on(frame, Door::$door, From::$from)
            }
        }
    )*};
}

doors! {
    /// setuid
    memlog_on_setuid Setuid Root;
    /// setgid
    memlog_on_setgid Setgid Root;
    /// seteuid
    memlog_on_seteuid Seteuid Root;
    /// setegid
    memlog_on_setegid Setegid Root;
    /// setreuid
    memlog_on_setreuid Setreuid Root;
    /// setregid
    memlog_on_setregid Setregid Root;
    /// setresuid
    memlog_on_setresuid Setresuid Root;
    /// setresgid
    memlog_on_setresgid Setresgid Root;
    /// capset
    memlog_on_capset Capset Root;
    /// chroot: names mean something else
    memlog_on_chroot Chroot All;
    /// unshare: names, or the user, may mean something else
    memlog_on_unshare Unshare All;
}
