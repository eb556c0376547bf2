//! What a block really has: by the word before it where malloc is glibc's, else
//! by what the allocator says.
#![allow(unsafe_code)]
//! # Safety
//! The function that is asked is malloc_usable_size of the allocator in use, and
//! what it is asked of is a block of that allocator.

use super::recorder::RECORDER;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Who says it.
pub struct Usable {
    /// Whether malloc is glibc's, whose blocks have their size in the word before
    /// them.
    has_headers: AtomicBool,
    /// Whether the first block is to show that.
    learns: AtomicBool,
    /// malloc_usable_size of the allocator in use; 0 where it has none.
    function: AtomicUsize,
    /// Whom releases ask: the same, or [`ask_of_releases`].
    of_old: AtomicUsize,
}

impl Usable {
    /// Nobody.
    pub const fn new() -> Self {
        Self {
            has_headers: AtomicBool::new(false),
            learns: AtomicBool::new(false),
            function: AtomicUsize::new(0),
            of_old: AtomicUsize::new(0),
        }
    }
}

impl Default for Usable {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether malloc is glibc's.
pub(super) fn set_headers(has_headers: bool) {
    RECORDER
        .usable
        .has_headers
        .store(has_headers, Ordering::Relaxed);
}

/// A static program does not say whose its malloc is; its first block does.
pub fn learn_headers() {
    RECORDER.usable.learns.store(true, Ordering::Relaxed);
}

#[cold]
fn learn(block: *mut u8, told: Option<u64>) {
    const PAGE: usize = 4096;
    // Another allocator may have nothing before a page.
    let (Some(told), false) = (told, (block as usize).is_multiple_of(PAGE)) else {
        return;
    };
    if !RECORDER.usable.learns.swap(false, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the word before lies in the block's own page.
    let header = unsafe { usable_of_header(block) };
    RECORDER
        .usable
        .has_headers
        .store(header == told, Ordering::Relaxed);
}

/// Bytes that a block of glibc really has, without a call; nothing of another
/// allocator's.
///
/// # Safety
/// The block is null or one of the allocator in use.
#[inline(always)]
pub unsafe fn usable_by_header(block: *mut u8) -> Option<u64> {
    if block.is_null() || !RECORDER.usable.has_headers.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: by the caller, and glibc's since ever.
    Some(unsafe { usable_of_header(block) })
}

/// # Safety
/// The word before the block can be read.
#[inline(always)]
unsafe fn usable_of_header(block: *mut u8) -> u64 {
    const FLAGS: usize = 7;
    const IS_MAPPED: usize = 2;
    const WORD: usize = size_of::<usize>();
    // SAFETY: by the caller.
    let header = unsafe { block.cast::<usize>().sub(1).read() };
    // The word after a block is its own too, but for blocks mapped by themselves.
    let beside = if header & IS_MAPPED == 0 {
        WORD
    } else {
        2 * WORD
    };
    (header & !FLAGS).wrapping_sub(beside) as u64
}

/// What malloc_usable_size says of a block whose header said `usable`: from
/// the first block on of which it says another thing headers are not read.
pub fn checked(block: *mut u8, usable: Option<u64>) -> Option<u64> {
    if !RECORDER.usable.has_headers.load(Ordering::Relaxed) {
        return usable;
    }
    let told = told(block);
    if told.is_some() && told != usable {
        RECORDER.usable.has_headers.store(false, Ordering::Relaxed);
        return told;
    }
    usable
}

/// Sets who tells usable sizes.
pub fn set_usable(function: usize) {
    RECORDER.usable.function.store(function, Ordering::Relaxed);
    RECORDER.usable.of_old.store(function, Ordering::Relaxed);
}

/// Has every release ask this function for the usable size, and no header.
pub fn ask_of_releases(function: extern "C" fn(*mut u8) -> usize) {
    RECORDER
        .usable
        .of_old
        .store(function as *const () as usize, Ordering::Release);
    RECORDER.usable.learns.store(false, Ordering::Relaxed);
    RECORDER.usable.has_headers.store(false, Ordering::Release);
}

#[cfg(test)]
pub(crate) fn ask_of_releases_as_ever() {
    set_usable(RECORDER.usable.function.load(Ordering::Relaxed));
}

/// Whether the allocator tells usable sizes.
pub fn has_usable() -> bool {
    RECORDER.usable.function.load(Ordering::Relaxed) != 0
}

/// Bytes that a block really has which the allocator has just given.
#[inline]
pub(crate) fn usable_of_new(block: *mut u8) -> Option<u64> {
    let told = told(block);
    if RECORDER.usable.learns.load(Ordering::Relaxed) {
        learn(block, told);
    }
    told
}

/// Bytes that a block really has. The header is asked first: of a block that is
/// freed twice the function reads what lies behind it too, which may be nothing.
#[inline]
pub(crate) fn usable(block: *mut u8) -> Option<u64> {
    // SAFETY: the program passed the block to its free, or just got it.
    unsafe { usable_by_header(block) }.or_else(|| told_by(&RECORDER.usable.of_old, block))
}

fn told(block: *mut u8) -> Option<u64> {
    told_by(&RECORDER.usable.function, block)
}

#[inline]
fn told_by(function: &AtomicUsize, block: *mut u8) -> Option<u64> {
    let function = function.load(Ordering::Relaxed);
    if function == 0 || block.is_null() {
        return None;
    }
    // SAFETY: malloc_usable_size of the allocator that the blocks come from;
    // the program passed the block to its free, or just got it.
    let size_of: extern "C" fn(*mut u8) -> usize = unsafe { core::mem::transmute(function) };
    Some(size_of(block) as u64)
}

#[cfg(test)]
mod tests {
    use super::{RECORDER, checked, learn_headers, set_usable, usable_by_header, usable_of_new};
    use core::sync::atomic::Ordering;

    /// With the allocator of the tests, which is glibc's.
    #[test]
    fn headers_say_what_the_allocator_says() {
        set_usable(libc::malloc_usable_size as *const () as usize);
        RECORDER.usable.has_headers.store(true, Ordering::Relaxed);
        // The last is mapped by itself.
        for size in (0..5000).chain([100_000, 1 << 20, 64 << 20]) {
            // SAFETY: a block of malloc, used until it is freed.
            let (by_header, told, after) = unsafe {
                let block = libc::malloc(size);
                let told = libc::malloc_usable_size(block) as u64;
                let by_header = usable_by_header(block.cast());
                let after = checked(block.cast(), by_header);
                libc::free(block);
                (by_header, told, after)
            };
            assert_eq!((by_header, after), (Some(told), Some(told)), "{size} bytes");
        }
        // SAFETY: null is no block.
        assert_eq!(unsafe { usable_by_header(core::ptr::null_mut()) }, None);
        // A header that lies is believed no more.
        // SAFETY: as above.
        unsafe {
            let block = libc::malloc(100);
            let told = libc::malloc_usable_size(block) as u64;
            assert_eq!(checked(block.cast(), Some(told + 8)), Some(told));
            assert_eq!(usable_by_header(block.cast()), None);
            // Till a block shows that they are there.
            learn_headers();
            assert_eq!(usable_of_new(block.cast()), Some(told));
            assert_eq!(usable_by_header(block.cast()), Some(told));
            libc::free(block);
        }
    }
}
