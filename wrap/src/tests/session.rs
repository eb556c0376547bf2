//! The session, as it ships: a call interrupted at each of its steps, by each
//! kind of other call, once more interrupted, or left by a jump.
//!
//! ```text
//! admitted -> real allocator -> recorder -> real allocator -> ended
//! ```
//! A signal's handler is a call that comes and goes between two steps; a jump
//! is a call that never ends. What must hold, whatever comes when:
//!
//! * no two calls ever have one stream in the recorder at a time,
//! * the allocator's own calls are not recorded, a handler's are,
//! * a token is never stuck: the next call is an ordinary one,
//! * who was thought gone and comes back after all leaves the token alone.
#![allow(unsafe_code)]
//! # Safety
//! Frames are words of this test's own, as the doors lay them out.

use crate::hooks::session::{Admission, Session, admit};
use crate::platform::arch::{DoorFrame, memlog_tls_word};
use crate::process::recorder::RECORDER;
use memlog_lockfree::life::Life;
use std::cell::UnsafeCell;

/// Words of a stack: frames at depths of which each is further in.
const DEPTHS: usize = 8;
const FRAME: usize = 10;
const APART: usize = 32;

/// Frames on this thread's own stack, and on one that is none of its.
struct Stacks<'a> {
    own: &'a UnsafeCell<[u64; DEPTHS * APART]>,
    other: Box<UnsafeCell<[u64; DEPTHS * APART]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Own,
    Other,
}

impl Stacks<'_> {
    /// The frame of a call at this depth, as a door leaves it now.
    fn frame(&self, on: On, depth: usize) -> &DoorFrame {
        let words = match on {
            On::Own => self.own.get(),
            On::Other => self.other.get(),
        };
        let at = (DEPTHS - 1 - depth) * APART;
        // SAFETY: inside the words; nobody has a reference to a frame at this
        // depth while another call begins there.
        unsafe {
            let frame = words.cast::<u64>().add(at);
            let mut made = DoorFrame::made_up(caller as *const () as u64, 0);
            made[0] = *memlog_tls_word();
            frame.cast::<[u64; FRAME]>().write(made);
            &*frame.cast::<DoorFrame>()
        }
    }
}

/// Whom the calls are made by.
fn caller() {}

/// The steps of a call, before each of which it can be interrupted.
const STEPS: usize = 5;

/// One call under way.
struct Call<'a> {
    frame: &'a DoorFrame,
    session: Option<Session>,
    step: usize,
    /// The stream, while it is in the recorder.
    inside: Option<u32>,
}

impl<'a> Call<'a> {
    /// Through the door; what it was told.
    fn begin(frame: &'a DoorFrame) -> (Self, &'static str) {
        let (session, told) = match admit(frame) {
            Admission::Record(session) => (Some(session), "record"),
            Admission::Pass => (None, "pass"),
            Admission::Backing => (None, "backing"),
        };
        let call = Self {
            frame,
            session,
            step: 0,
            inside: None,
        };
        (call, told)
    }

    /// The next step; false once it is over.
    fn go_on(&mut self, writers: &mut Vec<u32>) -> bool {
        let Some(session) = &mut self.session else {
            return false;
        };
        if let Some(stream) = self.inside.take() {
            writers.retain(|&other| other != stream);
        }
        match self.step {
            0 => session.enter_real(self.frame),
            1 | 3 => {
                if session.in_recorder(Some(self.frame)) {
                    let stream = session.stream().number;
                    assert!(
                        !writers.contains(&stream),
                        "two calls write stream {stream}"
                    );
                    writers.push(stream);
                    self.inside = Some(stream);
                }
            }
            2 => session.in_real(self.frame),
            _ => {
                self.session.take().unwrap().end();
                return false;
            }
        }
        self.step += 1;
        true
    }

    fn take(&mut self, steps: usize, writers: &mut Vec<u32>) {
        for _ in 0..steps {
            self.go_on(writers);
        }
    }

    fn finish(mut self, writers: &mut Vec<u32>) {
        while self.go_on(writers) {}
    }

    /// A jump out of it; it may be wanted again.
    fn leave(&mut self, writers: &mut Vec<u32>) {
        if let Some(stream) = self.inside.take() {
            writers.retain(|&other| other != stream);
        }
    }
}

/// Where a call is after so many steps.
fn is_in_recorder(step: usize) -> bool {
    step == 2 || step == 4
}

/// What a call further in is told while another is after `step`.
fn expected(step: usize, on: On) -> &'static str {
    match (step, on) {
        // The token is not taken yet.
        (0, _) => "record",
        _ if is_in_recorder(step) => "record",
        // Below the real allocator: its own, but for a handler's on a stack of
        // its own.
        (_, On::Own) => "backing",
        (_, On::Other) => "record",
    }
}

fn streams_held() -> usize {
    use memlog_lockfree::claims::{Claim, FREE};
    let slots =
        (0..RECORDER.log.streams.count()).filter_map(|number| RECORDER.log.streams.slot(number));
    slots
        .filter(|slot| Claim(&slot.holder).holder() != FREE)
        .count()
}

/// An ordinary call, and nobody holds more than the thread's own stream.
fn all_is_well(stacks: &Stacks, what: &str) {
    let mut writers = Vec::new();
    let (call, told) = Call::begin(stacks.frame(On::Own, 0));
    assert_eq!(told, "record", "{what}: the next call");
    call.finish(&mut writers);
    let word = RECORDER
        .log
        .streams
        .slot(0)
        .unwrap()
        .busy
        .load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(word, 0, "{what}: the token is free");
    assert_eq!(streams_held(), 1, "{what}: one stream is held");
}

fn interrupted_twice(stacks: &Stacks) -> usize {
    let mut tried = 0;
    for (first, second) in
        (0..STEPS).flat_map(|first| (0..STEPS).map(move |second| (first, second)))
    {
        for (on, then) in [
            (On::Own, On::Own),
            (On::Own, On::Other),
            (On::Other, On::Other),
            (On::Other, On::Own),
        ] {
            let what = format!("{on:?} after {first}, then {then:?} after {second}");
            let mut writers = Vec::new();
            let (mut outer, told) = Call::begin(stacks.frame(On::Own, 1));
            assert_eq!(told, "record", "{what}");
            outer.take(first, &mut writers);
            let (mut middle, told) = Call::begin(stacks.frame(on, 3));
            assert_eq!(told, expected(first, on), "{what}");
            middle.take(second, &mut writers);
            let (inner, _) = Call::begin(stacks.frame(then, 5));
            inner.finish(&mut writers);
            middle.finish(&mut writers);
            outer.finish(&mut writers);
            assert!(writers.is_empty(), "{what}");
            all_is_well(stacks, &what);
            tried += 1;
        }
    }
    tried
}

/// A handler leaves by a jump, over the call that it interrupted; the call, or
/// what it was in, may be come back to all the same: by a switch of stacks.
fn left_by_a_jump(stacks: &Stacks) -> usize {
    let mut tried = 0;
    for (step, returns) in (0..STEPS).flat_map(|step| [(step, false), (step, true)]) {
        let what = format!("left after {step}, comes back: {returns}");
        let mut writers = Vec::new();
        let (mut left, told) = Call::begin(stacks.frame(On::Own, 2));
        assert_eq!(told, "record", "{what}");
        left.take(step, &mut writers);
        left.leave(&mut writers);
        // From further out: whoever holds the token is gone.
        let (mut next, told) = Call::begin(stacks.frame(On::Own, 0));
        assert_eq!(told, "record", "{what}");
        next.take(2, &mut writers);
        if returns && step > 0 {
            let before = writers.clone();
            left.go_on(&mut writers);
            assert!(writers.len() <= before.len() + 1, "{what}");
            left.finish(&mut Vec::new());
        }
        next.finish(&mut writers);
        all_is_well(stacks, &what);
        tried += 1;
    }
    tried
}

#[test]
fn a_call_is_interrupted_everywhere() {
    // A thread of its own: its word, stream and stack are nobody else's.
    let tried = std::thread::spawn(|| {
        RECORDER
            .ground
            .pid
            .store(std::process::id(), std::sync::atomic::Ordering::Relaxed);
        RECORDER.ground.life().turn(Life::On);
        let own = UnsafeCell::new([0; DEPTHS * APART]);
        let stacks = Stacks {
            own: &own,
            other: Box::new(UnsafeCell::new([0; DEPTHS * APART])),
        };
        all_is_well(&stacks, "at first");
        let tried = interrupted_twice(&stacks) + left_by_a_jump(&stacks);
        RECORDER.ground.life().turn(Life::Off);
        tried
    });
    println!("{} ways", tried.join().unwrap());
}
