//! A call that a fork interrupted in the allocator, and that goes on in the
//! child: see [`fork`].

use super::session::{Admission, Session, admit_cold};
use crate::platform::arch::DoorFrame;
use crate::process::fork;
use crate::process::recorder::RECORDER;
use memlog_format::counter::Counter;

/// For a call that found another word than its own in the token's place: a
/// session of the child's, if a fork interrupted it and it goes on in the child.
/// By value, so that the hot path keeps its session in registers.
#[cold]
#[inline(never)]
pub fn go_on_in_child(word: u64, frame: &DoorFrame) -> Option<Session> {
    if !fork::take_interrupted(word) {
        return None;
    }
    // The frame's word is of the parent's stream.
    let Admission::Record(mut session) = admit_cold(frame.sp()) else {
        return None;
    };
    session.enter_recorder(frame);
    Some(session)
}

/// A call whose event is not made anew in the child, but counted there.
#[cold]
#[inline(never)]
pub fn lose_in_child(word: u64, frame: &DoorFrame) {
    if let Some(session) = go_on_in_child(word, frame) {
        RECORDER.ground.counters.add(Counter::LostAbandoned, 1);
        session.end();
    }
}
