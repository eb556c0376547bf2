//! The life of one malloc and of one free, from the door to the commit: the hot
//! path, top to bottom. Nothing here locks, allocates, or calls the kernel, libc
//! or ld.so; what does is out of line, in the rooms that are named:
//!
//! ```text
//! the door has kept the registers (platform/arch) and calls memlog_on_malloc
//! who calls: the thread's stream, and its token   session; else family
//! the real malloc, the token says so
//! what the block has: a word before it            else real asks the allocator
//! is anything due besides?                        events
//! the stack, where it is that of last time        capture
//! a few bytes into the page, and one store        log::stream; else events
//! what came and went since something was due      events
//! ```
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use super::capture::{capture_anew, capture_apart};
use super::events::{self, How, LARGE, Request, TIMED, allocated_apart, releasing_apart};
use super::family::{self, Block, handler, next, plain};
use super::session::{Recording, Session, own};
use crate::log::stream::{Of, Stream};
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::early;
use crate::process::recorder::RECORDER;
use crate::process::usable;
use crate::unwind::walk::WalkState;
use core::sync::atomic::Ordering;
use memlog_format::api::Api;
use memlog_format::table::StackId;

handler! {
    /// malloc
    fn memlog_on_malloc(size: usize) -> Block = |frame| {
        match next::<extern "C" fn(usize) -> Block>(frame, Door::Malloc) {
            Some(real) => allocate(frame, size, || real(size)),
            None => early::allocate(size, 16),
        }
    }
}

/// A block comes: the real call, then the record.
#[inline(always)]
fn allocate(frame: &DoorFrame, size: usize, call: impl FnOnce() -> Block) -> Block {
    let Some(mut session) = own(frame) else {
        return family::allocate_otherwise(frame, plain(Api::Malloc, size), call);
    };
    session.enter_real(frame);
    let block = call();
    // SAFETY: the allocator in use has just given it.
    match unsafe { usable::usable_by_header(block) } {
        Some(usable) => came(session, frame, block, size, Some(usable)),
        None => came_untold(session, frame, block, size),
    }
    block
}

/// What a block has in truth does not stand before it: the allocator is asked.
/// With a copy of its own of what follows, for the one of glibc's blocks takes
/// ten instructions less where the figure is there for certain.
#[inline(never)]
fn came_untold(session: Session, frame: &DoorFrame, block: Block, size: usize) {
    came(session, frame, block, size, usable::usable_of_new(block));
}

#[inline(always)]
fn came(mut session: Session, frame: &DoorFrame, block: Block, size: usize, usable: Option<u64>) {
    if session.in_recorder(Some(frame)) {
        allocated(session.recording(), frame, block, size, usable);
    } else {
        family::came_in_child(session.word(), frame, block, plain(Api::Malloc, size));
    }
    session.end();
}

/// The record of a block: here if it is what nearly all are, else apart. Of no
/// block there is no such figure.
#[inline(always)]
fn allocated(
    recording: Recording,
    frame: &DoorFrame,
    block: Block,
    size: usize,
    usable: Option<u64>,
) {
    let Recording { stream, patience } = recording;
    let address = block as u64;
    let usual = usable.filter(|&usable| is_timely(stream, usable) && is_own(stream, address));
    let Some(usable) = usual else {
        let usable = usable::checked(block, usable);
        let recording = Recording { stream, patience };
        return allocated_apart(
            recording,
            frame,
            block,
            plain(Api::Malloc, size),
            (usable, 0),
        );
    };
    stream.until_clock -= 1;
    let stack = capture(Recording { stream, patience }, frame, Of::Allocation);
    if !stream.write_malloc(address, (size as u64, usable), stack) {
        write_apart(stream, address, plain(Api::Malloc, size), usable, stack);
    }
    stream.last_block = address;
    moved(stream, usable, usable as i64);
}

/// An allocation that is unusual only in its bytes, or fills the chunk.
#[inline(never)]
fn write_apart(stream: &mut Stream, address: u64, request: Request, usable: u64, stack: StackId) {
    stream.write_alloc(&request.got(address, usable, stack, None));
}

/// The id of the caller's stack.
#[inline(always)]
pub(super) fn capture(recording: Recording, frame: &DoorFrame, of: Of) -> StackId {
    if recording.stream.generation != RECORDER.generation.load(Ordering::Acquire) {
        return capture_apart(recording, frame, of);
    }
    let Recording { stream, patience } = recording;
    match stream.kept(of).unchanged(&WalkState::at(frame)) {
        Some(stack) => stack,
        None => capture_anew(stream, frame, patience, of),
    }
}

handler! {
    /// free
    fn memlog_on_free(block: Block) -> () = |frame| {
        if let Some(real) = next::<extern "C" fn(Block)>(frame, Door::Free) {
            release(frame, block, || real(block));
        }
    }
}

/// A block goes: the record, then the real call.
#[inline(always)]
fn release(frame: &DoorFrame, block: Block, call: impl FnOnce()) {
    if block.is_null() {
        return call();
    }
    if early::owns(block) {
        return;
    }
    let asked = || usable::usable(block);
    let Some(mut session) = own(frame) else {
        return family::release_otherwise(frame, block, asked, Api::Free, call);
    };
    // SAFETY: the program gives back a block of the allocator in use.
    let Some(usable) = (unsafe { usable::usable_by_header(block) }) else {
        return family::release_in(session, frame, block, asked, Api::Free, call);
    };
    session.enter_recorder(frame);
    releasing(session.recording(), frame, block, usable);
    session.in_real(frame);
    call();
    session.end();
}

/// The record of a block that is about to go: here if it does as nearly all do,
/// else apart.
#[inline(always)]
fn releasing(recording: Recording, frame: &DoorFrame, block: Block, usable: u64) {
    let Recording { stream, patience } = recording;
    let address = block as u64;
    let is_usual = !RECORDER.log.free_stacks.load(Ordering::Relaxed)
        && is_timely(stream, usable)
        && is_own(stream, address);
    if !is_usual || !stream.write_free(address) {
        let (recording, how) = (Recording { stream, patience }, How::by(Api::Free));
        return releasing_apart(recording, frame, block, Some(usable), how);
    }
    stream.until_clock -= 1;
    goes(stream, address, usable, usable);
}

/// What is left to do when a block has gone.
#[inline(always)]
pub(super) fn goes(stream: &mut Stream, address: u64, usable: u64, bytes: u64) {
    if stream.last_block == address {
        stream.last_block = 0;
    }
    moved(stream, bytes, -(usable as i64));
}

/// Whether all on an address's page was this stream's.
#[inline(always)]
pub(super) fn is_own(stream: &Stream, address: u64) -> bool {
    RECORDER.log.cells().is_own(address, stream.number)
}

/// Whether no tick has passed, or no look at the clock is due; nor what a block
/// this large is worth besides.
#[inline(always)]
fn is_timely(stream: &mut Stream, bytes: u64) -> bool {
    let is_due = stream.until_clock == 0 || bytes >= TIMED || is_behind(stream);
    !is_due || bytes < LARGE && events::is_same_tick(stream)
}

/// Whether resident memory was read since this thread last stamped: what it
/// does now is to stand after that. So a thread that pauses while others go on
/// comes to know the time as well, however seldom it looks at the clock.
#[inline(always)]
pub(super) fn is_behind(stream: &Stream) -> bool {
    stream.readings_seen != RECORDER.log.readings.count()
}

/// Notes bytes that came or went. Nothing is due while the allowance lasts.
#[inline]
pub(super) fn moved(stream: &mut Stream, bytes: u64, net: i64) {
    stream.unstamped = stream.unstamped.wrapping_add(net);
    stream.allowance = stream.allowance.wrapping_sub(bytes as i64);
    if stream.allowance < 0 {
        events::settle(stream);
    }
}
