//! The names of threads. A thread is told of with the name that it has when it
//! comes; most programs name their threads right after. So a thread that goes on
//! looks again, by itself; one that does nothing more is looked at when the
//! program ends.
//!
//! The C libraries name the calling thread by a system call of their own, which
//! no door sees, and other threads through a file.

use crate::hooks::session;
use crate::log::stream::{TOLD, mark_of};
use crate::platform::arch::DoorFrame;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use core::sync::atomic::Ordering;
use memlog_lockfree::claims::{FREE, UNKNOWN_TID};

/// No more threads are looked at in the end: each costs three system calls.
const MOST: usize = 1024;

/// This thread may have another name now.
#[cold]
pub fn renamed(frame: &DoorFrame) {
    if session::is_on()
        && let Some(mut session) = session::own(frame)
    {
        session.enter_recorder(frame);
        session.stream().look_at_name();
        session.end();
    }
}

/// The last names of the other threads that are still there, where those were
/// not told.
#[cold]
pub fn tell_others() {
    let own = Os::tid();
    let mut aside = None;
    let slots =
        (0..RECORDER.log.streams.count()).filter_map(|number| RECORDER.log.streams.slot(number));
    for slot in slots.take(MOST) {
        let tid = slot.holder.load(Ordering::Relaxed);
        let mut name = [0; 16];
        if tid == FREE || tid >= UNKNOWN_TID || tid == own || !Os::name_of(tid, &mut name) {
            continue;
        }
        let told = slot.named.load(Ordering::Relaxed);
        if told == TOLD || told == mark_of(&name) {
            continue;
        }
        if aside.is_none() {
            aside = session::aside();
        }
        let Some(session) = &mut aside else {
            return;
        };
        session.in_recorder(None);
        session.stream().tell_name(tid, &name);
    }
    if let Some(session) = aside {
        session.end();
    }
}
