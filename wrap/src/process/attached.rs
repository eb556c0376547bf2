//! Recording begins in a program that runs already: `memlog attach` has mapped this
//! library into it, outside of the loader's list, and led the program's calls to the
//! doors. What is found out at program start otherwise it has found out, for the list
//! may change under our eyes here.
//!
//! The loader gave no thread-local storage either. Doors find a word there that is 0
//! for ever, so that each call asks for the thread's own word, which lies beside it in
//! what the C library keeps of each thread and does not use. A thread that was given the
//! stack of another one that ended finds that one's word: the number of the thread says so.
#![allow(unsafe_code)]
//! # Safety
//! Who attaches writes the block before the first call comes; what it says of addresses
//! was read in this process.

use crate::log::stream::Slot;
use crate::platform::arch;
use crate::platform::doors::{COUNT, NAMES};
use crate::process::real;
use crate::process::recorder::RECORDER;
use crate::process::usable;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use memlog_format::attach::{HAS_HEADERS, HAS_USABLE, MARK, TEXT_BYTES, WORDS, Word};

/// The block, by [`Word`].
#[repr(C)]
pub struct Block {
    mark: AtomicU64,
    names: &'static [&'static [u8]; COUNT],
    count: usize,
    reals: &'static [AtomicUsize; 64],
    life: &'static AtomicU32,
    shift: &'static AtomicUsize,
    last: unsafe extern "C" fn(),
    number: AtomicUsize,
    flags: AtomicUsize,
    errno: AtomicUsize,
    after_last: AtomicUsize,
    text_bytes: AtomicUsize,
    text: UnsafeCell<[u8; TEXT_BYTES]>,
}

const _: () =
    assert!(size_of::<usize>() != 8 || core::mem::offset_of!(Block, text_bytes) == 8 * (WORDS - 1));
const _: () = assert!(Word::TextBytes as usize == WORDS - 1);

// SAFETY: nothing in it changes once calls come, but for words that are atomic.
unsafe impl Sync for Block {}

unsafe extern "C" {
    static memlog_reals: [AtomicUsize; 64];
    static memlog_tls_shift: AtomicUsize;
    /// Of the notices.
    fn memlog_attached_last();
}

/// What who attaches looks for.
#[unsafe(no_mangle)]
pub static memlog_attach: Block = Block {
    mark: AtomicU64::new(MARK),
    names: &NAMES,
    count: COUNT,
    // SAFETY: statics of the assembly.
    reals: unsafe { &memlog_reals },
    // SAFETY: as above.
    life: unsafe { &arch::memlog_life },
    // SAFETY: as above.
    shift: unsafe { &memlog_tls_shift },
    last: memlog_attached_last,
    number: AtomicUsize::new(0),
    flags: AtomicUsize::new(0),
    errno: AtomicUsize::new(0),
    after_last: AtomicUsize::new(0),
    text_bytes: AtomicUsize::new(0),
    text: UnsafeCell::new([0; TEXT_BYTES]),
};

/// Whether recording began in a program that ran already.
#[inline]
pub fn is_attached() -> bool {
    memlog_attach.number.load(Ordering::Relaxed) != 0
}

/// The number that the C library has the calling thread under, in a program that was
/// attached to; else 0.
///
/// # Safety
/// The thread pointer is set up.
#[inline]
pub unsafe fn told_number() -> u32 {
    match memlog_attach.number.load(Ordering::Relaxed) {
        0 => 0,
        // SAFETY: by the caller; the C library keeps the number there for as long as the
        // thread lives.
        at => unsafe {
            *(arch::memlog_tls_word() as *const u8)
                .wrapping_add(at)
                .cast::<u32>()
        },
    }
}

/// Whether this stream, by the word of the calling thread, is that of a thread which had
/// this one's memory before.
///
/// # Safety
/// The thread pointer is set up.
#[inline]
pub unsafe fn is_anothers(slot: &Slot) -> bool {
    // SAFETY: by the caller.
    slot.told.load(Ordering::Relaxed) != unsafe { told_number() }
}

/// Takes up what is known of the functions behind the doors: errno's, and whether malloc
/// is glibc's. False if its sizes may not be asked for.
pub(super) fn take_facts() -> bool {
    if !is_attached() {
        return true;
    }
    let flags = memlog_attach.flags.load(Ordering::Relaxed) as u64;
    real::set_errno(memlog_attach.errno.load(Ordering::Relaxed));
    usable::set_headers(flags & HAS_HEADERS != 0);
    flags & HAS_USABLE != 0
}

/// Runs over the settings that came with who attached.
pub(super) fn each_setting(mut see: impl FnMut(&[u8])) {
    let length = memlog_attach.text_bytes.load(Ordering::Relaxed);
    // SAFETY: nobody writes to it any more.
    let text = unsafe { &*memlog_attach.text.get() };
    let text = text.get(..length).unwrap_or(&[]);
    text.split(|&byte| byte == 0).for_each(|entry| {
        if !entry.is_empty() {
            see(entry);
        }
    });
}

/// Whether a call that comes now is one of before recording began, which nobody misses.
pub fn is_beginning() -> bool {
    is_attached() && !RECORDER.control.was_on()
}

/// What the program's own list has in that place.
pub fn after_last() {
    let next = memlog_attach.after_last.load(Ordering::Relaxed);
    // SAFETY: null, or the function that stood in the list.
    if let Some(next) = unsafe { core::mem::transmute::<usize, Option<extern "C" fn()>>(next) } {
        next();
    }
}
