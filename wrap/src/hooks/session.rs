//! One call through a door: admission, the token, the way out.
#![allow(unsafe_code)]
//! # Safety
//! A thread's word holds null, [`CLAIMING`], or the slot of the stream it
//! claimed, which lives for ever. The body of a stream goes to the session
//! that holds its token.

mod stack;

use crate::hooks::switches;
use crate::log::stream::{Slot, Stream};
use crate::platform::arch::DoorFrame;
use crate::platform::bounds::Bounds;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::process::attached;
use crate::process::fork;
use crate::process::recorder::RECORDER;
use crate::process::token::{self, CLAIMING, Phase, TokenState};
use core::sync::atomic::Ordering;
use memlog_format::counter::Counter;
use memlog_lockfree::claims::{GUEST, UNKNOWN_TID};
use memlog_lockfree::life::Life;
use stack::{own_stack, own_stack_unasked};

/// A call that is to be recorded.
pub struct Session {
    slot: &'static Slot,
    hold: Hold,
    /// The token's word as this session left it.
    word: u64,
}

/// How the session came by its stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// It is the thread's own.
    Own,
    /// Lent for one call that came while the thread was in the recorder.
    Nested,
    /// Lent for one call of a guest in this memory.
    Guest,
}

/// What a call records in, and how long it may wait for a lock.
pub struct Recording<'a> {
    /// The stream, for as long as the token is held in the recorder.
    pub stream: &'a mut Stream,
    /// Not at all above another call of this very thread.
    pub patience: Patience,
}

/// Whether a call is recorded, and how.
pub enum Admission {
    /// As an event.
    Record(Session),
    /// Not: the recorder is off, or lost it, and has counted that.
    Pass,
    /// Not: the allocator made it below a recorded call.
    Backing,
}

/// The session of a thread that has its stream and is not inside: nearly all.
#[inline(always)]
pub fn own(frame: &DoorFrame) -> Option<Session> {
    if frame.word <= CLAIMING {
        return None;
    }
    // SAFETY: the word is the slot of this thread's stream.
    let slot = unsafe { &*(frame.word as *const Slot) };
    let is_free = slot.busy.load(Ordering::Relaxed) == 0;
    is_free.then_some(Session {
        slot,
        hold: Hold::Own,
        word: 0,
    })
}

/// Lets any other call in.
pub fn admit(frame: &DoorFrame) -> Admission {
    if let Some(session) = own(frame) {
        return Admission::Record(session);
    }
    if frame.word <= CLAIMING {
        return admit_cold(frame.sp());
    }
    // SAFETY: as in `own`.
    admit_nested(unsafe { &*(frame.word as *const Slot) }, frame.sp())
}

/// The same of a call at this depth of the stack, through a door or not.
#[cold]
#[inline(never)]
pub(crate) fn admit_cold(sp: u64) -> Admission {
    match crate::process::start::wake() || switches::wake(sp) {
        true => admit_awake(sp),
        false => Admission::Pass,
    }
}

/// The same where the recorder was set up, and recording may just be off.
#[cold]
pub(crate) fn admit_awake(sp: u64) -> Admission {
    // SAFETY: as is said above, so the thread pointer is set up.
    let word = unsafe { own_word() };
    match *word {
        0 => {}
        // A handler that interrupted this thread's first call.
        CLAIMING if RECORDER.ground.is_quiet() => {
            RECORDER.ground.counters.add(Counter::LostNotReady, 1);
            return Admission::Pass;
        }
        CLAIMING => return admit_signal(),
        set => {
            // SAFETY: as in `admit`; the life came On after the shim looked.
            let slot = unsafe { &*(set as *const Slot) };
            if slot.busy.load(Ordering::Relaxed) != 0 {
                return admit_nested(slot, sp);
            }
            return Admission::Record(Session {
                slot,
                hold: Hold::Own,
                word: 0,
            });
        }
    }
    if RECORDER.ground.must_be_quiet() {
        *word = CLAIMING;
        return claim(word, UNKNOWN_TID, own_stack_unasked(sp));
    }
    if Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed) {
        // A vfork's child of a thread that has no stream yet: its claim must
        // not outlive it, nor stand in the word that the parent will find.
        return match visit(GUEST, Hold::Guest) {
            Some(session) => Admission::Record(session),
            None => Admission::Pass,
        };
    }
    *word = CLAIMING;
    let tid = Os::tid();
    claim(word, tid, own_stack(sp, tid))
}

/// This thread's word, without what a thread left there whose memory it had before.
///
/// # Safety
/// The thread pointer is set up.
unsafe fn own_word() -> &'static mut u64 {
    // SAFETY: by the caller; the word is this thread's, and only it looks.
    unsafe {
        let word = &mut *crate::platform::arch::memlog_tls_word();
        if *word > CLAIMING && attached::is_anothers(&*(*word as *const Slot)) {
            *word = 0;
        }
        word
    }
}

/// Before a fork, whose child takes what stands in the word for its own.
pub fn tidy_word() {
    if is_alive() && attached::is_attached() {
        // SAFETY: life is On, so the thread pointer is set up.
        unsafe { own_word() };
    }
}

/// A stream for this thread's first call.
fn claim(word: &mut u64, tid: u32, stack: Bounds) -> Admission {
    let Some(slot) = RECORDER.log.streams.claim(&RECORDER.log, tid, true) else {
        *word = 0;
        return Admission::Pass;
    };
    // SAFETY: the claim was won just now.
    let stream = unsafe { &mut *slot.body.get() };
    stream.adopt(slot.holder.load(Ordering::Relaxed));
    stream.stack = stack;
    // SAFETY: life is On, so the thread pointer is set up.
    let told = unsafe { attached::told_number() };
    slot.told.store(told, Ordering::Relaxed);
    fork::go_on_in_scopes(stream);
    *word = slot as *const Slot as u64;
    Admission::Record(Session {
        slot,
        hold: Hold::Own,
        word: 0,
    })
}

#[cold]
#[inline(never)]
fn admit_nested(slot: &'static Slot, sp: u64) -> Admission {
    // SAFETY: the thread's own stream; only its bounds are read, which never
    // change while the token is held.
    let stack = unsafe { (*slot.body.get()).stack };
    let busy = slot.busy.load(Ordering::Relaxed);
    match token::read(busy, sp, &stack) {
        TokenState::Free => {}
        TokenState::Abandoned => abandon(slot),
        // The frame of the call below is overwritten: it was jumped out of, and
        // whoever calls now only happens to be further in.
        TokenState::Nested(Phase::InReal) if !is_marked(token::sp(busy), &stack) => abandon(slot),
        TokenState::Nested(Phase::InReal) => {
            RECORDER.ground.counters.add(Counter::NestedInAllocator, 1);
            return Admission::Backing;
        }
        TokenState::Nested(Phase::InRecorder) => return admit_signal(),
    }
    Admission::Record(Session {
        slot,
        hold: Hold::Own,
        word: 0,
    })
}

/// Takes the token from a holder that will not come back.
fn abandon(slot: &'static Slot) {
    let busy = slot.busy.swap(0, Ordering::Relaxed);
    // SAFETY: as the caller found, the holder is gone.
    let stream = unsafe { &mut *slot.body.get() };
    let named = core::mem::take(&mut stream.named);
    let was_named = busy == token::word(Phase::InReal, named) && named != 0;
    if was_named && !stream.announced {
        // It threw, and gave nothing; nor was anything half done.
        return;
    }
    RECORDER.ground.counters.add(Counter::LostAbandoned, 1);
    // What the holder had half done is not to be built upon: no chunk, and no
    // cache, which belongs to no generation now.
    stream.begin_chunk();
    stream.generation = 0;
}

/// Whether the frame of the door that a call came through at this depth still
/// stands on the stack.
fn is_marked(sp: u64, stack: &Bounds) -> bool {
    let place = sp.wrapping_sub(DoorFrame::MARK_BELOW);
    if !(stack.low..stack.high).contains(&sp) {
        return true;
    }
    // SAFETY: inside the thread's own stack, above the caller's sp.
    let word = unsafe { (place as *const usize).read_volatile() } as u64;
    word == DoorFrame::mark_of(sp)
}

/// A signal handler's call, while this thread is in the recorder: through a
/// stream of its own, for the time of the call.
fn admit_signal() -> Admission {
    RECORDER.ground.counters.add(Counter::NestedInRecorder, 1);
    match aside() {
        Some(session) => Admission::Record(session),
        None => Admission::Pass,
    }
}

/// A session for the recorder's own last words: this thread's stream if it has
/// one and is not inside, else another.
pub fn own_words() -> Option<Session> {
    // SAFETY: life is On, so the thread pointer is set up.
    let word = unsafe { *own_word() };
    if word <= CLAIMING {
        return None;
    }
    // SAFETY: the word is the slot of this thread's stream.
    let slot = unsafe { &*(word as *const Slot) };
    match slot.busy.load(Ordering::Relaxed) {
        0 => Some(Session {
            slot,
            hold: Hold::Own,
            word: 0,
        }),
        _ => aside(),
    }
}

/// This thread's id, as its stream knows it: the kernel may not be asked under
/// a filter.
fn own_tid() -> u32 {
    match own_body() {
        // SAFETY: its tid does not change while the thread holds the stream.
        Some(stream) => unsafe { (*stream).tid },
        None => Os::tid(),
    }
}

/// What this thread's stream holds, which may be in use.
fn own_body() -> Option<*const Stream> {
    // SAFETY: life is On, so the thread pointer is set up.
    let word = unsafe { *own_word() };
    // SAFETY: the word is the slot of this thread's stream.
    (word > CLAIMING).then(|| unsafe { (*(word as *const Slot)).body.get() }.cast_const())
}

/// A session through a stream of its own, while the thread's is in use.
pub fn aside() -> Option<Session> {
    let session = visit(own_tid(), Hold::Nested)?;
    if let Some(own) = own_body() {
        // SAFETY: only read, of the same thread; a name is there before it counts.
        let scopes = unsafe { (*own).scopes() };
        if !scopes.path().is_empty() {
            session.stream().take_scopes(scopes);
        }
    }
    Some(session)
}

fn visit(tid: u32, hold: Hold) -> Option<Session> {
    let slot = RECORDER.log.streams.claim(&RECORDER.log, tid, false)?;
    // SAFETY: the claim was won just now.
    let stream = unsafe { &mut *slot.body.get() };
    stream.adopt(tid);
    stream.stack = Bounds::default();
    Some(Session {
        slot,
        hold,
        word: 0,
    })
}

impl Session {
    /// The real allocator is at work for the door's caller, who was let in just
    /// now: the token is free.
    #[inline(always)]
    pub fn enter_real(&mut self, frame: &DoorFrame) {
        frame.mark();
        self.set(token::word(Phase::InReal, frame.sp()));
    }

    /// The recorder is at work for the door's caller, who was let in just now.
    #[inline(always)]
    pub fn enter_recorder(&mut self, frame: &DoorFrame) {
        self.set(token::word(Phase::InRecorder, frame.sp()));
    }

    /// The recorder is at work for the door's caller. False if the token was
    /// taken meanwhile: somebody switched stacks below the real allocator, and
    /// what was to be recorded is lost.
    #[inline(always)]
    pub fn in_recorder(&mut self, frame: Option<&DoorFrame>) -> bool {
        let sp = frame.map_or(0, DoorFrame::sp);
        self.turn(token::word(Phase::InRecorder, sp))
    }

    /// The real allocator is at work for the door's caller.
    #[inline(always)]
    pub fn in_real(&mut self, frame: &DoorFrame) {
        frame.mark();
        self.turn(token::word(Phase::InReal, frame.sp()));
    }

    #[inline(always)]
    fn turn(&mut self, word: u64) -> bool {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        if self.slot.busy.load(Ordering::Relaxed) != self.word {
            count_abandoned(self.word);
            return false;
        }
        self.set(word);
        true
    }

    /// What a call that lost its token hands to [`go_on_in_child`](crate::hooks::resumed::go_on_in_child).
    #[inline(always)]
    pub fn word(&self) -> u64 {
        self.word
    }

    #[inline(always)]
    fn set(&mut self, word: u64) {
        // A signal handler of this thread must see either the old word and
        // all before it or the new one: the compiler is kept from reordering,
        // the processor does not reorder for its own interrupts.
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.slot.busy.store(word, Ordering::Relaxed);
        self.word = word;
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
    }

    /// The stream, for as long as the token is held in the recorder.
    #[inline]
    #[allow(clippy::mut_from_ref)] // the token is the borrow
    pub fn stream(&self) -> &'static mut Stream {
        // SAFETY: the session holds the stream and its token; a nested call
        // finds the token and takes another stream.
        unsafe { &mut *self.slot.body.get() }
    }

    /// The same, and how long the call may wait.
    #[inline(always)]
    pub fn recording(&self) -> Recording<'static> {
        Recording {
            stream: self.stream(),
            patience: self.patience(),
        }
    }

    /// Whether an operator new further out on this stack is being served, by
    /// which nothing is held: it may have been left by a jump.
    pub fn is_in_operator(&self, sp: u64) -> bool {
        // SAFETY: the thread's own stream; only its bounds and the place are
        // read.
        let (stack, outer) = unsafe {
            let stream = self.slot.body.get();
            ((*stream).stack, (*stream).operator)
        };
        let own = stack.low..stack.high;
        sp < outer && own.contains(&sp) && own.contains(&outer) && is_marked(outer, &stack)
    }

    /// Whether the stream is the thread's own.
    pub fn is_own(&self) -> bool {
        self.hold == Hold::Own
    }

    /// How long this call may wait for a lock: not at all above another call
    /// of this very thread.
    #[inline]
    pub fn patience(&self) -> Patience {
        match self.hold {
            Hold::Nested => Patience::None,
            Hold::Own | Hold::Guest => Patience::Bounded,
        }
    }

    /// The call is over.
    #[inline(always)]
    pub fn end(self) {
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        if self.slot.busy.load(Ordering::Relaxed) == self.word {
            self.slot.busy.store(0, Ordering::Relaxed);
        }
        if self.hold != Hold::Own || RECORDER.log.draining.load(Ordering::Relaxed) {
            end_slowly(self.slot, self.hold);
        }
    }
}

#[cold]
#[inline(never)]
fn end_slowly(slot: &'static Slot, hold: Hold) {
    if RECORDER.log.draining.load(Ordering::Relaxed) {
        // SAFETY: the caller's session still holds the stream.
        unsafe { (*slot.body.get()).flush() };
    }
    if hold != Hold::Own {
        RECORDER.log.streams.release(slot);
    }
}

#[cold]
#[inline(never)]
fn count_abandoned(word: u64) {
    // In a forked child nothing is lost, and before it is on the counters
    // are still its parent's.
    if is_on() && !fork::is_interrupted(word) {
        RECORDER.ground.counters.add(Counter::LostAbandoned, 1);
    }
}

/// Whether the recorder records.
#[inline]
pub fn is_on() -> bool {
    RECORDER.ground.life().get() == Life::On
}

/// Whether it does, or may again: what it must know to do so it is told.
#[inline]
pub fn is_alive() -> bool {
    RECORDER.ground.life().get().is_alive()
}
