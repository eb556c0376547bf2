//! Blocks that the program tells of: an allocator of its own says in memlog.h's words what
//! it hands out and takes back, and which blocks of malloc it cuts its own from.
//!
//! Such a block is one of malloc in the log, with a word before it that it is not. A pool is a
//! slab, as the named functions have it (`named`): in the log it goes when the program says
//! what it is, and giving it back is no event then, unless the program has a block of its
//! address.
#![allow(unsafe_code)]
//! # Safety
//! Called by the doors of memlog.h alone, with a frame on the thread's own stack, of
//! which the caller's registers are filled in.

use crate::hooks::events::{self, How, Request};
use crate::hooks::named::slabs;
use crate::hooks::operators::word_if_on;
use crate::hooks::session::{Admission, Session, admit};
use crate::platform::arch::DoorFrame;
use memlog_format::api::Api;

/// Work that is recorded for whoever called the door.
///
/// # Safety
/// As is said above.
unsafe fn told(frame: *mut DoorFrame, work: impl FnOnce(&Session, &DoorFrame)) {
    // SAFETY: by the caller; the first two words are the handler's to fill in.
    let frame = unsafe {
        (&raw mut (*frame).word).write(word_if_on());
        (&raw mut (*frame).real).write(0);
        &*frame
    };
    // What is asked of an allocator that is recorded itself, that has recorded.
    if let Admission::Record(mut session) = admit(frame) {
        session.enter_recorder(frame);
        work(&session, frame);
        session.end();
    }
}

fn came(session: &Session, frame: &DoorFrame, block: *mut u8, (api, size): (Api, usize)) {
    slabs::came(block as usize);
    let request = Request {
        api,
        size,
        alignment_log2: 0,
    };
    events::allocated_apart(session.recording(), frame, block, request, (None, 0));
}

fn goes(session: &Session, frame: &DoorFrame, block: *mut u8, how: How) {
    slabs::goes(block as usize);
    events::releasing_apart(session.recording(), frame, block, None, how);
}

/// The program's allocator has handed a block out.
///
/// # Safety
/// See above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memlog_on_memlog_custom_alloc(
    block: *mut u8,
    size: usize,
    frame: *mut DoorFrame,
) {
    let work = |session: &Session, frame: &DoorFrame| {
        came(session, frame, block, (Api::Custom, size));
    };
    if !block.is_null() {
        // SAFETY: by the caller.
        unsafe { told(frame, work) }
    }
}

/// The program's allocator is about to take a block back.
///
/// # Safety
/// See above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memlog_on_memlog_custom_free(block: *mut u8, frame: *mut DoorFrame) {
    let work = |session: &Session, frame: &DoorFrame| {
        goes(session, frame, block, How::by(Api::Free));
    };
    if !block.is_null() {
        // SAFETY: by the caller.
        unsafe { told(frame, work) }
    }
}

/// A block has another size, and may have moved. Without a new one nothing has
/// happened, or it went if the size is 0.
///
/// # Safety
/// See above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memlog_on_memlog_custom_realloc(
    old: *mut u8,
    new: *mut u8,
    size: usize,
    frame: *mut DoorFrame,
) {
    let work = |session: &Session, frame: &DoorFrame| {
        if !old.is_null() {
            let may_stay = (!new.is_null()).then_some(0);
            let api = Api::Realloc;
            goes(session, frame, old, How { api, may_stay });
        }
        if !new.is_null() {
            came(session, frame, new, (Api::CustomRealloc, size));
        }
    };
    if !new.is_null() || size == 0 && !old.is_null() {
        // SAFETY: by the caller.
        unsafe { told(frame, work) }
    }
}

/// A block that malloc gave is one from which the program cuts others.
///
/// # Safety
/// See above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memlog_on_memlog_pool(block: *mut u8, frame: *mut DoorFrame) {
    let work = |session: &Session, frame: &DoorFrame| {
        slabs::begin();
        let how = How::by(Api::Pool);
        events::releasing_apart(session.recording(), frame, block, None, how);
        slabs::add(block as usize);
    };
    if !block.is_null() {
        // SAFETY: by the caller.
        unsafe { told(frame, work) }
    }
}
