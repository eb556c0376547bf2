//! C++'s operator new and delete, for allocators whose own do not end in
//! malloc. Their doors are a second library, `libmemlog_new.so`: where they are
//! exported at all, a C program's plugins bind to them as well.
//!
//! An operator is *plain* if its next definition ends in malloc: its door is
//! one jump. It is *own* if that lies in an object that defines malloc too.
//! The allocation of an own operator is recorded after it returned, with
//! nothing held meanwhile, for it may throw, or call a handler that jumps away.
//! Its release is recorded as that of free.
//!
//! Statically linked they are hooked by `--wrap`, and nothing tells beforehand
//! what they end in; see `linked`.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`; the table is that of the assembly, which is never unloaded.

mod linked;

use crate::hooks::aligned::log2_of;
use crate::hooks::events::{self, Request};
use crate::hooks::failed;
use crate::hooks::family::release_of;
use crate::hooks::resumed;
use crate::hooks::session::{self, Admission, admit};
use crate::platform::arch::{self, DoorFrame};
use crate::platform::elf::linkmap;
use crate::platform::lock::{Patience, give_way};
use crate::process::real::{self, Definition};
use crate::process::recorder::RECORDER;
use crate::process::start;
use crate::process::token::CLAIMING;
use crate::process::usable;
use core::mem::transmute;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use memlog_format::api::Api;
use memlog_format::counter::Counter;

// The list that the assembly expands, `operators.h`.
include!(concat!(env!("OUT_DIR"), "/operators.rs"));

/// An operator's mode: not known, ...
const UNKNOWN: u32 = 0;
/// ...recorded here, ...
const OWN: u32 = 1;
/// ...ending in malloc, ...
const PLAIN: u32 = 2;
/// ...or recorded here, of an allocator that malloc is not of: the usable
/// sizes of its blocks are not to be asked for.
const OWN_APART: u32 = 3;

/// The table of `libmemlog_new.so`.
#[repr(C)]
pub struct Operators {
    modes: [AtomicU32; COUNT],
    reals: [AtomicUsize; COUNT],
}

/// The table, once an operator was looked for.
static TABLE: AtomicPtr<Operators> = AtomicPtr::new(core::ptr::null_mut());
/// Whether an operator is that of an object that may be unloaded.
static MAY_GO: AtomicBool = AtomicBool::new(false);

/// Single objects and arrays take turns in the table.
fn api(index: usize) -> Api {
    match (index < FIRST_DELETE, index.is_multiple_of(2)) {
        (true, true) => Api::New,
        (true, false) => Api::NewArray,
        (false, true) => Api::Delete,
        (false, false) => Api::DeleteArray,
    }
}

fn table() -> Option<&'static Operators> {
    // SAFETY: null, or the table of a library that is never unloaded.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }
}

fn mode_of(index: usize) -> Option<&'static AtomicU32> {
    table()?.modes.get(index)
}

/// The real function of an operator whose mode is not known; 0 if there is
/// none yet. Leaves all modes in the table, for new and delete must be of one
/// allocator whatever is loaded between their first calls; unless somebody else
/// is at it for good: then this one call goes on by itself.
///
/// # Safety
/// Called by the shims alone, with their table and their dynamic section, or
/// what they are linked with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_operator_find(
    index: usize,
    operators: *mut Operators,
    dynamic: u64,
) -> usize {
    start::find_reals();
    TABLE.store(operators, Ordering::Release);
    // SAFETY: a function of the doors, or the stand-in without them.
    if unsafe { arch::memlog_own_dynamic() } == 0 {
        // SAFETY: by the caller; and the table was set just now.
        unsafe { linked::publish(&*operators, &*(dynamic as *const linked::Linked)) };
        return real_of(index);
    }
    let looked = RECORDER.looking.with(Patience::Bounded, |()| {
        wait_for_the_loader();
        look_for_all(dynamic)
    });
    if looked.is_some() {
        return match mode_of(index).map(|mode| mode.load(Ordering::Relaxed)) {
            Some(UNKNOWN) | None => 0,
            Some(_) => real_of(index),
        };
    }
    let name = NAMES.get(index).copied().unwrap_or(b"");
    // SAFETY: see `look_for_all`.
    let Some(found) = (unsafe { real::definition_behind(dynamic, name) }) else {
        return 0;
    };
    if mode(&found) != PLAIN {
        RECORDER.ground.counters.add(Counter::LostNotReady, 1);
    }
    found.address
}

fn look_for_all(dynamic: u64) {
    for (index, name) in NAMES.iter().enumerate() {
        if let Some(word) = mode_of(index)
            && word.load(Ordering::Relaxed) == UNKNOWN
            // SAFETY: the loader's list stands, for we were called through it;
            // that nobody unloads what is looked at was waited for.
            && let Some(found) = unsafe { real::definition_behind(dynamic, name) }
        {
            publish(index, &found);
        }
    }
}

fn real_of(index: usize) -> usize {
    let real = table().and_then(|table| table.reals.get(index));
    real.map_or(0, |real| real.load(Ordering::Relaxed))
}

fn mode(found: &Definition) -> u32 {
    match (found.beside_malloc, found.is_where_malloc_is) {
        (false, _) => PLAIN,
        (true, true) => OWN,
        (true, false) => OWN_APART,
    }
}

fn publish(index: usize, found: &Definition) {
    if found.may_go {
        MAY_GO.store(true, Ordering::Relaxed);
    }
    let Some(table) = table() else {
        return;
    };
    if let (Some(word), Some(real)) = (table.modes.get(index), table.reals.get(index)) {
        real.store(found.address, Ordering::Relaxed);
        word.store(mode(found), Ordering::Release);
    }
}

/// Another thread may be taking an object from the list. This one is not: the
/// loader calls nobody while it does.
pub(crate) fn wait_for_the_loader() {
    const PATIENCE: u32 = 4096;
    for _ in 0..PATIENCE {
        if linkmap::is_list_consistent() {
            return;
        }
        give_way(&RECORDER.ground);
    }
}

/// An object was unloaded: what was its is looked for anew. What is still there
/// stays, for blocks of its may be out.
pub fn forget() {
    if !MAY_GO.load(Ordering::Relaxed) {
        return;
    }
    let wipe = || {
        wait_for_the_loader();
        for (index, name) in NAMES.iter().enumerate() {
            // SAFETY: as in `look_for_all`.
            if !unsafe { real::is_defined_at(name, real_of(index)) }
                && let Some(mode) = mode_of(index)
            {
                mode.store(UNKNOWN, Ordering::Relaxed);
            }
        }
    };
    if RECORDER
        .looking
        .with(Patience::Bounded, |()| wipe())
        .is_none()
    {
        wipe();
    }
}

/// An own operator new is about to be called. Whether it is recorded stands in
/// the frame's first word until it has returned.
///
/// # Safety
/// Called by the shim alone, with its frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_operator_new_begins(frame: *mut DoorFrame) {
    // SAFETY: the shim's frame, which is nobody else's yet.
    let frame = unsafe { &mut *frame };
    frame.word = word_if_on();
    let Admission::Record(mut session) = admit(frame) else {
        frame.word = 0;
        return;
    };
    if session.in_recorder(Some(frame)) {
        frame.mark();
        let stream = session.stream();
        (stream.last_block, stream.operator) = (0, frame.sp());
        stream.has_failed = false;
    }
    session.end();
    // Life may have come On just now; a guest has no stream of his own.
    frame.word = word_if_on().max(CLAIMING);
}

/// An own operator new has returned.
///
/// # Safety
/// Called by the shim alone, with what the operator was asked and gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_operator_new_done(
    block: *mut u8,
    size: usize,
    alignment: usize,
    index: usize,
    frame: *mut DoorFrame,
) {
    // SAFETY: the shim's frame.
    let frame = unsafe { &mut *frame };
    if frame.word == 0 {
        return;
    }
    // A handler that it called may have forked.
    frame.word = word_if_on();
    let Admission::Record(mut session) = admit(frame) else {
        return;
    };
    session.in_real(frame);
    let usable = usable(index, block);
    if session.in_recorder(Some(frame)) {
        let stream = session.stream();
        stream.operator = 0;
        match block as u64 {
            // Not what it ended in, which would have told.
            0 if !stream.has_failed => {
                let request = asked(index, size, alignment);
                failed::allocation(session.recording(), frame, request);
            }
            0 => {}
            // It ended in a hooked function after all, which has recorded it.
            address if stream.last_block == address => be_plain(index),
            address if linked::is_part(index, address, stream.last_block) => be_plain(index),
            _ => {
                linked::be_own(index);
                let request = asked(index, size, alignment);
                events::allocated_apart(session.recording(), frame, block, request, (usable, 0));
            }
        }
    } else {
        resumed::lose_in_child(session.word(), frame);
    }
    session.end();
}

#[cold]
fn be_plain(index: usize) {
    if let Some(mode) = mode_of(index)
        && mode.load(Ordering::Relaxed) != linked::OWN_FOR_SURE
    {
        mode.store(PLAIN, Ordering::Relaxed);
    }
}

fn asked(index: usize, size: usize, alignment: usize) -> Request {
    let is_aligned = index >= FIRST_ALIGNED_NEW;
    Request {
        api: api(index),
        size,
        alignment_log2: if is_aligned { log2_of(alignment) } else { 0 },
    }
}

/// An own operator delete: recorded, then called. The second and third
/// argument are a size, an alignment, or nothing.
///
/// # Safety
/// Called by the shim alone, with the operator's arguments and its frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_operator_delete(
    block: *mut u8,
    second: usize,
    third: usize,
    index: usize,
    frame: *mut DoorFrame,
) {
    // SAFETY: the shim's frame.
    let frame = unsafe { &mut *frame };
    frame.word = word_if_on();
    // SAFETY: an operator delete takes a block and two words at most; who takes
    // fewer does not look at the others.
    let real: extern "C" fn(*mut u8, usize, usize) = unsafe { transmute(frame.real) };
    let usable = || usable(index, block);
    release_of(frame, block, usable, api(index), || {
        real(block, second, third)
    });
}

/// What the block really has, if that may be asked for.
fn usable(index: usize, block: *mut u8) -> Option<u64> {
    match mode_of(index)?.load(Ordering::Relaxed) {
        OWN => usable::usable(block),
        _ => None,
    }
}

/// What the doors leave in a frame's first word.
pub(crate) fn word_if_on() -> u64 {
    match session::is_on() {
        // SAFETY: life is On, so the thread pointer is set up.
        true => unsafe { *arch::memlog_tls_word() },
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Api, FIRST_ALIGNED_NEW, NAMES, api};

    #[test]
    fn each_operator_is_what_its_name_says() {
        for (index, name) in NAMES.iter().enumerate() {
            let what = match &name[..4] {
                b"_Znw" => Api::New,
                b"_Zna" => Api::NewArray,
                b"_Zdl" => Api::Delete,
                b"_Zda" => Api::DeleteArray,
                _ => panic!("{name:?}"),
            };
            assert_eq!(api(index), what);
            let is_aligned = name.windows(5).any(|word| word == b"align");
            let is_new = matches!(what, Api::New | Api::NewArray);
            assert_eq!(is_aligned && is_new, is_new && index >= FIRST_ALIGNED_NEW);
        }
    }
}
