//! A call that a fork interrupts: a signal's handler may fork while the thread
//! is in the allocator or in the recorder, and the call then goes on in both.
//!
//! * In the allocator: the token is broken, and the child records what came of
//!   the call anew, in its own log.
//! * In the recorder: what it still writes goes into memory of the child's own.
//!   The parent has the event, behind the cut; the child counts it as lost.
#![allow(unsafe_code)]
//! # Safety
//! A child that has just forked has one thread. A thread's word holds null,
//! [`CLAIMING`], or the slot of its stream, which lives for ever.

use crate::log::sink;
use crate::log::stream::{Scopes, Slot, Stream};
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::text::MAX_PATH;
use crate::process::child;
use crate::process::recorder::RECORDER;
use crate::process::token::CLAIMING;
use crate::process::token::{self, Phase};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use memlog_lockfree::life::Life;

/// What a child of a fork knows of it.
pub struct Fork {
    /// In a forked child the word of the call that the fork interrupted while the
    /// real allocator was at work, until that call goes on.
    interrupted: AtomicU64,
    /// In a forked child where its parent's stream of this thread stood, once in
    /// two words: the chunk's number and one, and its committed bytes.
    forked_at: AtomicU64,
    /// Where the counters of the nearest ancestor's log are that has a file.
    pub(super) ancestor: AtomicPtr<u8>,
    /// The parent's log, while the child's own is begun.
    pub(super) parent_log: Bounded<ParentLog>,
    /// The scopes that a child's first thread is in since before the fork.
    scopes: Bounded<Scopes>,
    /// Where that thread's own data lies; 0 for none.
    scopes_of: AtomicUsize,
}

/// The name of the parent's log.
pub(super) struct ParentLog {
    pub(super) path: [u8; MAX_PATH],
    pub(super) length: usize,
}

impl Fork {
    /// There was none.
    pub const fn new(ground: &'static Ground) -> Self {
        let parent_log = ParentLog {
            path: [0; MAX_PATH],
            length: 0,
        };
        Self {
            interrupted: AtomicU64::new(0),
            forked_at: AtomicU64::new(0),
            ancestor: AtomicPtr::new(core::ptr::null_mut()),
            parent_log: Bounded::new(parent_log, ground),
            scopes: Bounded::new(Scopes::NONE, ground),
            scopes_of: AtomicUsize::new(0),
        }
    }
}

/// In a child that has just forked, before its streams are emptied: its thread is in the
/// scopes that it was in.
///
/// # Safety
/// The caller is the only thread of the process, with a stream or none.
pub(super) unsafe fn keep_scopes(own: Option<&Slot>) {
    // SAFETY: by the caller.
    unsafe { RECORDER.fork.scopes.force_open() };
    RECORDER.fork.scopes_of.store(0, Ordering::Relaxed);
    // SAFETY: by the caller.
    let Some(scopes) = own.map(|own| unsafe { (*own.body.get()).scopes() }) else {
        return;
    };
    if !scopes.path().is_empty() {
        let kept = RECORDER
            .fork
            .scopes
            .with(Patience::None, |kept| *kept = *scopes);
        let home = if kept.is_some() { home() } else { 0 };
        RECORDER.fork.scopes_of.store(home, Ordering::Relaxed);
    }
}

/// This thread has its stream in a child. If it is the one that forked, it is still in the
/// scopes of then.
pub fn go_on_in_scopes(stream: &mut Stream) {
    let (fork, order) = (&RECORDER.fork, Ordering::Relaxed);
    if fork.scopes_of.load(order) == 0
        || fork
            .scopes_of
            .compare_exchange(home(), 0, order, order)
            .is_err()
    {
        return;
    }
    fork.scopes.with(Patience::Bounded, |scopes| {
        // What was told of them was told in the parent's log.
        stream.take_scopes(scopes);
    });
}

/// Where this thread's own data lies.
fn home() -> usize {
    // SAFETY: this image was started, so the thread pointer is set up.
    unsafe { crate::platform::arch::memlog_tls_word() as usize }
}

/// Whether a token was lost because a fork interrupted this call.
pub fn is_interrupted(word: u64) -> bool {
    RECORDER.fork.interrupted.load(Ordering::Relaxed) == word
}

/// Takes the word of the interrupted call: once, by the call that goes on.
pub fn take_interrupted(word: u64) -> bool {
    let order = Ordering::Relaxed;
    let seen = RECORDER
        .fork
        .interrupted
        .compare_exchange(word, 0, order, order);
    seen.is_ok()
}

/// In a child that has just forked: the log is the parent's from now on.
#[cold]
pub fn part_from_parent() {
    child::remember_ancestor();
    let chunk0 = RECORDER.ground.counters.mirrored_into();
    RECORDER.ground.part();
    // SAFETY: null is no mirror; the thread pointer is set up, for fork was called.
    let word = unsafe {
        RECORDER.ground.counters.mirror_into(core::ptr::null_mut());
        *crate::platform::arch::memlog_tls_word()
    };
    RECORDER.fork.interrupted.store(0, Ordering::Relaxed);
    let is_amid = match word {
        0 => false,
        CLAIMING => true,
        // SAFETY: the word is the slot of this thread's stream.
        slot => leave_call(unsafe { &*(slot as *const Slot) }),
    };
    if (is_amid || RECORDER.has_held_lock()) && !RECORDER.ground.is_quiet() {
        sink::replace_windows(&RECORDER.ground, chunk0);
    }
}

/// In a child of a kernel that has not wiped the life word: the log stays the
/// parent's, and the child goes unseen.
#[cold]
pub fn stop_in_child() {
    // SAFETY: null is no mirror.
    unsafe { RECORDER.ground.counters.mirror_into(core::ptr::null_mut()) };
    RECORDER.ground.part();
    RECORDER.ground.life().turn(Life::Stopped);
}

/// Leaves a thread's call to the parent; whether the recorder was at work in it,
/// or in one of a handler above it.
fn leave_call(own: &'static Slot) -> bool {
    let busy = own.busy.load(Ordering::Relaxed);
    let is_amid = token::phase(busy) == Some(Phase::InRecorder);
    // SAFETY: the only thread of the process; where the recorder is at work in
    // the stream it is only read.
    let (place, tid) = unsafe {
        let place = match is_amid {
            true => (*own.body.get()).position(),
            // The call may also just be about to take the token.
            false => (*own.body.get()).part(),
        };
        (place, (*own.body.get()).tid)
    };
    let (sequence, committed) = place;
    let place = u64::from(sequence.wrapping_add(1)) << 32 | u64::from(committed);
    RECORDER.fork.forked_at.store(place, Ordering::Relaxed);
    if is_amid {
        return true;
    }
    if busy != 0 {
        RECORDER.fork.interrupted.store(busy, Ordering::Relaxed);
        own.busy.store(0, Ordering::Relaxed);
    }
    RECORDER.log.streams.is_lent_to(tid, own)
}

/// Where the parent's stream of this thread stood at the fork, if that is known.
pub fn take_forked_at() -> Option<(u32, u32)> {
    let place = RECORDER.fork.forked_at.swap(0, Ordering::Relaxed);
    let (sequence, committed) = ((place >> 32) as u32, place as u32);
    Some((sequence.checked_sub(1)?, committed))
}
