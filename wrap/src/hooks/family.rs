//! What the doors do. One generic body for blocks that come, one for blocks
//! that go; the rest only says what the program's arguments mean.
//!
//! Allocation: real call, then record. Release: record, then real call.
//! realloc: the release is announced before the real call and completed or
//! revoked after it. So the log never shows an address live twice.
//!
//! A block's usable size is asked for where a call of the real function would
//! be: an allocator may allocate for the answer (tcmalloc does, the first time).
#![allow(unsafe_code)]
//! # Safety
//! The handlers are called by the doors alone, with the program's arguments
//! and a frame on the stack; what the program may not pass to malloc and
//! friends it may not pass here. Real functions have the hooked signature.

use crate::hooks::events::{self, How, Request};
use crate::hooks::failed;
use crate::hooks::named::{self, slabs, slabs::SLAB};
use crate::hooks::resumed::go_on_in_child;
use crate::hooks::session::{Admission, Session, admit, own};
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::early;
use crate::process::real;
use crate::process::usable;
use core::mem::transmute_copy;
use core::ptr::null_mut;
use memlog_format::api::Api;

pub(crate) type Block = *mut u8;

/// The real function of a door, if there is one by now.
#[inline]
pub(crate) fn next<F: Copy>(frame: &DoorFrame, door: Door) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let mut address = frame.real;
    if address == 0 {
        crate::process::start::find_reals();
        address = real::real(door as usize);
    }
    // SAFETY: the address is that of the function of this door's name, and
    // the caller names its type.
    (address != 0).then(|| unsafe { transmute_copy::<usize, F>(&address) })
}

/// A block comes: the real call, then the record.
#[inline(always)]
pub(crate) fn allocate(frame: &DoorFrame, request: Request, call: impl FnOnce() -> Block) -> Block {
    match own(frame) {
        Some(session) => allocate_in(session, frame, request, call),
        None => allocate_otherwise(frame, request, call),
    }
}

/// The same of a call that is not the usual.
#[cold]
#[inline(never)]
pub(super) fn allocate_otherwise(
    frame: &DoorFrame,
    request: Request,
    call: impl FnOnce() -> Block,
) -> Block {
    match admit(frame) {
        Admission::Record(session) => allocate_in(session, frame, request, call),
        Admission::Pass => call(),
        Admission::Backing => {
            let block = call();
            named::backing_came(frame, block);
            block
        }
    }
}

#[inline(always)]
fn allocate_in(
    mut session: Session,
    frame: &DoorFrame,
    request: Request,
    call: impl FnOnce() -> Block,
) -> Block {
    session.enter_real(frame);
    let block = call();
    came(session, frame, block, request);
    block
}

/// The record of a block that came.
#[inline(never)]
fn came(mut session: Session, frame: &DoorFrame, block: Block, request: Request) {
    let usable = (usable::usable_of_new(block), 0);
    if session.in_recorder(Some(frame)) {
        events::allocated_apart(session.recording(), frame, block, request, usable);
    } else {
        came_in_child(session.word(), frame, block, request);
    }
    session.end();
}

/// A block came by a call that lost its token because a fork interrupted it,
/// and that goes on in the child.
#[cold]
#[inline(never)]
pub(super) fn came_in_child(word: u64, frame: &DoorFrame, block: Block, request: Request) {
    if let Some(session) = go_on_in_child(word, frame) {
        let usable = (usable::usable_of_new(block), 0);
        events::allocated_apart(session.recording(), frame, block, request, usable);
        session.end();
    }
}

/// A block goes: the record, then the real call.
#[inline(always)]
fn release(frame: &DoorFrame, block: Block, api: Api, call: impl FnOnce()) {
    release_of(frame, block, || usable::usable(block), api, call);
}

/// The same where somebody else says what the block really has.
#[inline(always)]
pub(crate) fn release_of(
    frame: &DoorFrame,
    block: Block,
    usable: impl FnOnce() -> Option<u64>,
    api: Api,
    call: impl FnOnce(),
) {
    if block.is_null() {
        return call();
    }
    if early::owns(block) {
        return;
    }
    match own(frame) {
        Some(session) => release_in(session, frame, block, usable, api, call),
        None => release_otherwise(frame, block, usable, api, call),
    }
}

/// The same of a call that is not the usual.
#[cold]
#[inline(never)]
pub(super) fn release_otherwise(
    frame: &DoorFrame,
    block: Block,
    usable: impl FnOnce() -> Option<u64>,
    api: Api,
    call: impl FnOnce(),
) {
    match admit(frame) {
        Admission::Record(session) => release_in(session, frame, block, usable, api, call),
        Admission::Pass | Admission::Backing => {
            named::backing_goes(block);
            call();
        }
    }
}

#[inline(always)]
pub(super) fn release_in(
    mut session: Session,
    frame: &DoorFrame,
    block: Block,
    usable: impl FnOnce() -> Option<u64>,
    api: Api,
    call: impl FnOnce(),
) {
    session.enter_real(frame);
    let (usable, how) = (usable(), How::by(api));
    if session.in_recorder(Some(frame)) {
        events::releasing_apart(session.recording(), frame, block, usable, how);
        session.in_real(frame);
    } else if let Some(session) = go_on_in_child(session.word(), frame) {
        events::releasing_apart(session.recording(), frame, block, usable, how);
        session.end();
    }
    call();
    session.end();
}

/// A block moves or changes its size.
#[inline(always)]
fn reallocate(
    frame: &DoorFrame,
    block: Block,
    size: Option<usize>,
    api: Api,
    call: impl FnOnce() -> Block,
) -> Block {
    let request = Request {
        api,
        size: size.unwrap_or(usize::MAX),
        alignment_log2: 0,
    };
    if block.is_null() {
        return allocate(frame, request, call);
    }
    let mut session = match admit(frame) {
        Admission::Record(session) => session,
        Admission::Pass if slabs::is_on() => return named::move_slab(block, size, false, call),
        Admission::Pass => return call(),
        Admission::Backing => return named::move_slab(block, size, named::is_below(frame), call),
    };
    session.enter_real(frame);
    let usable = usable::usable(block);
    if usable == Some(SLAB) {
        session.end();
        return named::move_slab(block, size, true, call);
    }
    if !session.in_recorder(Some(frame)) {
        match go_on_in_child(session.word(), frame) {
            Some(child) => session = child,
            None => {
                session.end();
                return call();
            }
        }
    }
    // A size of 0 frees, whatever comes back; everything else may fail.
    let announced = size != Some(0);
    let stays = usable.unwrap_or(0).min(size.unwrap_or(usize::MAX) as u64);
    let how = How {
        api,
        may_stay: announced.then_some(stays),
    };
    events::releasing_apart(session.recording(), frame, block, usable, how);
    session.in_real(frame);
    let moved = call();
    let moved_usable = usable::usable_of_new(moved);
    if session.in_recorder(Some(frame)) {
        if !moved.is_null() {
            let usable = (moved_usable, stays);
            events::allocated_apart(session.recording(), frame, moved, request, usable);
        } else if announced {
            events::revoked(session.stream(), usable);
            failed::allocation(session.recording(), frame, request);
        }
    } else if let Some(session) = go_on_in_child(session.word(), frame) {
        if announced && !moved.is_null() {
            events::releasing_apart(session.recording(), frame, block, usable, How::by(api));
        }
        if !moved.is_null() {
            let usable = (moved_usable, stays);
            events::allocated_apart(session.recording(), frame, moved, request, usable);
        }
        session.end();
    }
    session.end();
    moved
}

pub(crate) const fn plain(api: Api, size: usize) -> Request {
    Request {
        api,
        size,
        alignment_log2: 0,
    }
}

macro_rules! handler {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty
     = |$frame:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the door of that name alone.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind,)* $frame: *const DoorFrame) -> $result {
            // SAFETY: the door's frame is on the stack until it returns.
            let $frame = unsafe { &*$frame };
            $body
        }
    };
}
pub(crate) use handler;

handler! {
    /// calloc
    fn memlog_on_calloc(count: usize, each: usize) -> Block = |frame| {
        let size = count.saturating_mul(each);
        match next::<extern "C" fn(usize, usize) -> Block>(frame, Door::Calloc) {
            Some(real) => allocate(frame, plain(Api::Calloc, size), || real(count, each)),
            None => early::allocate(size, 16),
        }
    }
}

handler! {
    /// realloc
    fn memlog_on_realloc(block: Block, size: usize) -> Block = |frame| {
        let Some(real) = next::<extern "C" fn(Block, usize) -> Block>(frame, Door::Realloc) else {
            return move_early(block, size, early::allocate(size, 16));
        };
        if early::owns(block) {
            let fresh = allocate(frame, plain(Api::Realloc, size), || real(null_mut(), size));
            return move_early(block, size, fresh);
        }
        reallocate(frame, block, Some(size), Api::Realloc, || real(block, size))
    }
}

handler! {
    /// reallocarray
    fn memlog_on_reallocarray(block: Block, count: usize, each: usize) -> Block = |frame| {
        let Some(real) =
            next::<extern "C" fn(Block, usize, usize) -> Block>(frame, Door::Reallocarray)
        else {
            return null_mut();
        };
        let size = count.checked_mul(each);
        if early::owns(block) {
            let asked = plain(Api::Reallocarray, size.unwrap_or(usize::MAX));
            let fresh = allocate(frame, asked, || real(null_mut(), count, each));
            return move_early(block, asked.size, fresh);
        }
        reallocate(frame, block, size, Api::Reallocarray, || real(block, count, each))
    }
}

/// Copies a block of the start-up arena to its new home.
fn move_early(block: Block, size: usize, fresh: Block) -> Block {
    if !fresh.is_null() && early::owns(block) {
        // SAFETY: the new block has `size` bytes.
        unsafe { early::copy_out(block, fresh, size) };
    }
    fresh
}

/// `free` under another name; where the next library has it not, its free.
#[inline(always)]
fn freed_as(frame: &DoorFrame, door: Door, api: Api, block: Block) {
    let real = next::<extern "C" fn(Block)>(frame, door);
    let real = real.or_else(|| {
        let free = real::real(Door::Free as usize);
        // SAFETY: free's own type.
        (free != 0).then(|| unsafe { transmute_copy::<usize, extern "C" fn(Block)>(&free) })
    });
    if let Some(real) = real {
        release(frame, block, api, || real(block));
    }
}

handler! {
    /// cfree
    fn memlog_on_cfree(block: Block) -> () = |frame| {
        freed_as(frame, Door::Cfree, Api::Cfree, block)
    }
}

handler! {
    /// free_sized
    fn memlog_on_free_sized(block: Block, size: usize) -> () = |frame| {
        match next::<extern "C" fn(Block, usize)>(frame, Door::FreeSized) {
            Some(real) => release(frame, block, Api::FreeSized, || real(block, size)),
            None => freed_as(frame, Door::Free, Api::FreeSized, block),
        }
    }
}

handler! {
    /// free_aligned_sized
    fn memlog_on_free_aligned_sized(block: Block, alignment: usize, size: usize) -> () = |frame| {
        type Real = extern "C" fn(Block, usize, usize);
        match next::<Real>(frame, Door::FreeAlignedSized) {
            Some(real) => release(frame, block, Api::FreeAlignedSized, || {
                real(block, alignment, size);
            }),
            None => freed_as(frame, Door::Free, Api::FreeAlignedSized, block),
        }
    }
}

handler! {
    /// malloc_usable_size: no event, only known for the start-up arena
    fn memlog_on_malloc_usable_size(block: Block) -> usize = |frame| {
        if early::owns(block) {
            return early::size_of(block);
        }
        let Some(real) = next::<extern "C" fn(Block) -> usize>(frame, Door::MallocUsableSize) else {
            return 0;
        };
        // It may map what it needs for a thread that has not called it before.
        match admit(frame) {
            Admission::Record(mut session) => {
                session.enter_real(frame);
                let usable = real(block);
                session.end();
                usable
            }
            Admission::Pass | Admission::Backing => real(block),
        }
    }
}
