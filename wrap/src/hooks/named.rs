//! Functions of other names whose blocks are recorded: an allocator's own calls
//! (`mallocx`, `mi_malloc`), and those that the user named. Their doors are in a
//! small library, or an object, that memlog writes for the run or the link; it
//! tells here what the arguments of each mean.
//!
//! Such a function is called with the token held as by an allocator's own
//! malloc, so that what it asks of malloc and mmap meanwhile is its backing and
//! no event. Blocks that came so are [`slabs`]: given back outside of such a
//! function they are no event either, unless the program has one as its own.
//!
//! It is called by the shim, for it may throw.
#![allow(unsafe_code)]
//! # Safety
//! The entries are those of a library that is never unloaded, or of the program;
//! a call's frame is the shim's, on the thread's own stack.

pub mod slabs;

use crate::hooks::aligned::log2_of;
use crate::hooks::events::{self, How, Request};
use crate::hooks::operators::{wait_for_the_loader, word_if_on};
use crate::hooks::resumed::go_on_in_child;
use crate::hooks::session::{Admission, Session, admit};
use crate::log::stream::Slot;
use crate::platform::arch::DoorFrame;
use crate::platform::early;
use crate::platform::elf::linkmap;
use crate::platform::lock::{Bounded, Patience};
use crate::process::real;
use crate::process::recorder::RECORDER;
use crate::process::start;
use crate::process::token;
use crate::process::token::CLAIMING;
use crate::process::usable;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use memlog_format::api::Api;
use memlog_format::meta::{Key, Record};

/// What a function does, or is told to be ignored.
const TAKES: u8 = 1;
const GIVES_BACK: u8 = 2;
const MOVES: u8 = 3;
/// What it allocates is for the others.
const SERVES: u8 = 4;

/// As a size: the length of the string that the block begins with.
const OF_STRING: u8 = 0xFE;

/// How many arguments the shim keeps: one of a higher number is not there.
const ARGUMENTS: usize = 6;

/// One function, as memlog wrote it down.
#[repr(C)]
pub struct Function {
    /// The next definition; 0 until it was looked for.
    real: AtomicUsize,
    name: *const u8,
    /// The dynamic section of the library that holds this; 0 in an object, where
    /// the linker knows the next definition.
    dynamic: usize,
    /// Bits: see [`IS_TOLD`].
    state: AtomicU32,
    name_bytes: u16,
    does: u8,
    /// Which arguments are its size, how many of that, the block, the alignment,
    /// and the place that the block's address is written to.
    size: u8,
    count: u8,
    block: u8,
    alignment: u8,
    out: u8,
    unused: [u8; 4],
}

/// The log knows that it was called.
const IS_TOLD: u32 = 1;
/// Its blocks are malloc's, which may be asked for their usable size.
const IS_OF_MALLOC: u32 = 2;

/// What the shim keeps of a call.
#[repr(C)]
pub struct Call {
    arguments: [usize; ARGUMENTS],
    function: *const Function,
    session: Option<Session>,
    /// Bytes of a moved block that are there before and after.
    stays: u64,
    frame: DoorFrame,
}

/// As the shims have it; those there are have words of 64 bits.
const _: () = assert!(
    size_of::<usize>() != 8
        || core::mem::offset_of!(Call, function) == 48
            && core::mem::offset_of!(Call, session) == 56
            && core::mem::offset_of!(Call, frame) == 88
);

impl Function {
    fn name(&self) -> &[u8] {
        // SAFETY: written beside the entry, as long as it says.
        unsafe { core::slice::from_raw_parts(self.name, usize::from(self.name_bytes)) }
    }

    fn is(&self, bit: u32) -> bool {
        self.state.load(Ordering::Relaxed) & bit != 0
    }

    fn real(&self) -> usize {
        match self.real.load(Ordering::Relaxed) {
            0 => self.find(),
            real => real,
        }
    }

    /// Looks for the next definition. One that may be unloaded is looked for
    /// each time.
    #[cold]
    fn find(&self) -> usize {
        static LOOKING: Bounded<()> = Bounded::new((), &RECORDER.ground);
        start::find_reals();
        let look = || {
            wait_for_the_loader();
            if linkmap::known_first_map().is_null() {
                return None;
            }
            // SAFETY: the loader's list stands, for we were called through it;
            // that nobody unloads what is looked at was waited for.
            unsafe { real::definition_behind(self.dynamic as u64, self.name()) }
        };
        let found = LOOKING.with(Patience::Bounded, |()| look());
        let Some(found) = found.unwrap_or_else(look) else {
            return 0;
        };
        if !found.may_go {
            if found.is_where_malloc_is {
                self.state.fetch_or(IS_OF_MALLOC, Ordering::Relaxed);
            }
            self.real.store(found.address, Ordering::Relaxed);
        }
        found.address
    }

    /// Tells the log, once, that this is recorded.
    #[inline]
    fn tell(&self, patience: Patience) {
        if !self.is(IS_TOLD) && self.state.fetch_or(IS_TOLD, Ordering::Relaxed) & IS_TOLD == 0 {
            let told = RECORDER.log.meta.with(patience, |meta| {
                meta.append(&RECORDER.log, &Record::Text(Key::Named, self.name()));
            });
            if told.is_none() {
                self.state.fetch_and(!IS_TOLD, Ordering::Relaxed);
            }
        }
    }

    fn request(&self, call: &Call, block: *mut u8) -> Request {
        let aligned = call.argument(self.alignment);
        let count = call.argument(self.count);
        let api = match (self.does, count, aligned) {
            (MOVES, None, _) => Api::Realloc,
            (MOVES, Some(_), _) => Api::Reallocarray,
            (_, _, Some(_)) => Api::AlignedAlloc,
            (_, Some(_), _) => Api::Calloc,
            _ => Api::Malloc,
        };
        let each = match self.size {
            OF_STRING => length_of(block),
            size => call.argument(size).unwrap_or(0),
        };
        Request {
            api,
            size: each.saturating_mul(count.unwrap_or(1)),
            alignment_log2: aligned.filter(|_| self.does == TAKES).map_or(0, log2_of),
        }
    }

    /// What the block really has, if that may be asked for. Where the real
    /// function could be called.
    fn usable(&self, block: *mut u8) -> Option<u64> {
        match self.is(IS_OF_MALLOC) && !block.is_null() {
            true => usable::usable_of_new(block),
            false => None,
        }
    }
}

/// Bytes of a C string, with its end.
fn length_of(text: *mut u8) -> usize {
    let mut length = 0;
    // SAFETY: a block that the program's function gave as a string; read so
    // that the compiler makes no call of it.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length + 1
}

impl Call {
    fn argument(&self, number: u8) -> Option<usize> {
        self.arguments.get(usize::from(number)).copied()
    }

    fn block(&self, function: &Function) -> *mut u8 {
        self.argument(function.block).unwrap_or(0) as *mut u8
    }

    /// The block that the function gave.
    fn given(&self, function: &Function, result: usize) -> *mut u8 {
        let Some(place) = self.argument(function.out) else {
            return result as *mut u8;
        };
        match result as i32 == 0 && place != 0 {
            // SAFETY: it said that it had written its result there.
            true => unsafe { *(place as *const *mut u8) },
            false => core::ptr::null_mut(),
        }
    }
}

/// A call begins: what goes is recorded now. Gives the next definition; 0 if
/// there is none.
///
/// # Safety
/// Called by the shim alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_named_begins(call: *mut Call) -> usize {
    // SAFETY: the shim's, with the arguments and the entry in it.
    let function = unsafe {
        (&raw mut (*call).session).write(None);
        &*(*call).function
    };
    // SAFETY: as above, and now it is whole.
    let call = unsafe { &mut *call };
    let real = function.real();
    let block = call.block(function);
    if real == 0 || early::owns(block) && function.does != TAKES {
        return 0;
    }
    call.frame.real = real;
    call.frame.word = word_if_on();
    let goes = matches!(function.does, GIVES_BACK | MOVES) && !block.is_null();
    if function.does == GIVES_BACK && !goes {
        return real;
    }
    if let Admission::Record(session) = admit(&call.frame) {
        slabs::begin();
        call.session = begin(session, function, call, goes.then_some(block));
    }
    real
}

fn begin(
    mut session: Session,
    function: &Function,
    call: &mut Call,
    goes: Option<*mut u8>,
) -> Option<Session> {
    session.enter_real(&call.frame);
    let usable = goes.and_then(|block| function.usable(block));
    if !session.in_recorder(Some(&call.frame)) {
        // A fork interrupted the question above: nothing has happened yet.
        session = go_on_in_child(session.word(), &call.frame)?;
    }
    function.tell(session.patience());
    session.stream().named = call.frame.sp();
    if let Some(block) = goes {
        slabs::goes(block as usize);
        let how = announce(function, call, usable);
        events::releasing_apart(session.recording(), &call.frame, block, usable, how);
    }
    session.in_real(&call.frame);
    Some(session)
}

/// How a block goes by this call. One that moves may stay after all.
fn announce(function: &Function, call: &mut Call, usable: Option<u64>) -> How {
    if function.does == GIVES_BACK {
        return How::by(Api::Free);
    }
    let request = function.request(call, core::ptr::null_mut());
    call.stays = usable.unwrap_or(0).min(request.size as u64);
    How {
        api: request.api,
        // A size of 0 may free: then nothing comes back.
        may_stay: (request.size != 0).then_some(call.stays),
    }
}

/// The function has returned: what came is recorded.
///
/// # Safety
/// Called by the shim alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_named_done(call: *mut Call, result: usize) {
    // SAFETY: the shim's, which `memlog_named_begins` completed.
    let call = unsafe { &mut *call };
    let Some(mut session) = call.session.take() else {
        return;
    };
    // SAFETY: as above.
    let function = unsafe { &*call.function };
    let block = match function.does {
        GIVES_BACK | SERVES => core::ptr::null_mut(),
        _ => call.given(function, result),
    };
    let usable = function.usable(block);
    if session.in_recorder(Some(&call.frame)) {
        session.stream().named = 0;
        came(&session, function, call, (block, usable));
    } else {
        came_in_child(session.word(), function, call, (block, usable));
    }
    session.end();
}

/// The same of a call that a fork interrupted, which goes on in the child. Its
/// log has not heard of what was announced.
#[cold]
#[inline(never)]
fn came_in_child(word: u64, function: &Function, call: &Call, given: (*mut u8, Option<u64>)) {
    let Some(session) = go_on_in_child(word, &call.frame) else {
        return;
    };
    let goes = call.block(function);
    if !given.0.is_null() {
        if function.does == MOVES && !goes.is_null() {
            let how = How::by(Api::Realloc);
            events::releasing_apart(session.recording(), &call.frame, goes, None, how);
        }
        came(&session, function, call, given);
    }
    session.end();
}

#[inline]
fn came(session: &Session, function: &Function, call: &Call, given: (*mut u8, Option<u64>)) {
    let (block, usable) = given;
    let moves = function.does == MOVES && !call.block(function).is_null();
    if !block.is_null() {
        slabs::came(block as usize);
        let request = function.request(call, block);
        let usable = (usable, if moves { call.stays } else { 0 });
        events::allocated_apart(session.recording(), &call.frame, block, request, usable);
    } else if moves && session.stream().announced {
        slabs::came(call.block(function) as usize);
        events::revoked(session.stream(), Some(call.stays));
    }
}

/// Whether the thread that came to a door has a named function further out on
/// its stack, which holds the token.
pub fn is_below(frame: &DoorFrame) -> bool {
    if !slabs::is_on() || frame.word <= CLAIMING {
        return false;
    }
    // SAFETY: the word is the slot of this thread's stream; only the place is
    // read.
    unsafe {
        let slot = &*(frame.word as *const Slot);
        let busy = slot.busy.load(Ordering::Relaxed);
        busy != 0 && token::sp(busy) == token::sp((*slot.body.get()).named)
    }
}

/// A hooked function gave a block to somebody further in than a recorded call.
#[cold]
pub fn backing_came(frame: &DoorFrame, block: *mut u8) {
    if !block.is_null() && is_below(frame) {
        slabs::add(block as usize);
    }
}

/// Somebody whose calls are not recorded gives a block back.
#[cold]
pub fn backing_goes(block: *mut u8) {
    if slabs::is_on() {
        slabs::remove(block as usize);
    }
}

/// realloc of what the log does not know, by a named function or of its slab. A
/// size of 0 frees it.
#[cold]
#[inline(never)]
pub fn move_slab(
    block: *mut u8,
    size: Option<usize>,
    is_slab: bool,
    call: impl FnOnce() -> *mut u8,
) -> *mut u8 {
    let is_slab = slabs::remove(block as usize).is_some() || is_slab;
    let moved = call();
    match (is_slab, moved.is_null()) {
        (true, false) => slabs::add(moved as usize),
        (true, true) if size != Some(0) => slabs::add(block as usize),
        _ => {}
    }
    moved
}
