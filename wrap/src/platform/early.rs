//! Memory for calls that come before the real allocator can be found: from
//! ifunc resolvers and from ld.so. Its blocks are recognised for ever.
#![allow(unsafe_code)]
//! # Safety
//! The arena is a static that is only handed out in disjoint pieces.

use crate::platform::sys::{Os, Sys};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering, fence};

const BYTES: usize = Os::SIZES.early_bytes;
/// In front of each block: its size, so that realloc knows what to copy.
const HEAD: usize = 16;

#[repr(align(4096))]
struct Arena(UnsafeCell<[u8; BYTES]>);

// SAFETY: pieces are disjoint; what happens in one is its owner's business.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; BYTES]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// A zeroed block, or null.
pub fn allocate(size: usize, alignment: usize) -> *mut u8 {
    let alignment = alignment.max(16);
    if !alignment.is_power_of_two() || size > BYTES || alignment > BYTES {
        return core::ptr::null_mut();
    }
    let need = size + HEAD + alignment;
    let order = Ordering::Relaxed;
    let fits = |used: usize| used.checked_add(need).filter(|&end| end <= BYTES);
    let Ok(start) = USED.fetch_update(order, order, fits) else {
        return core::ptr::null_mut();
    };
    // Each release looks for them from now on. Who has aimed the doors since looks again.
    fence(Ordering::SeqCst);
    super::quick::clear();
    let base = ARENA.0.get() as usize;
    let at = (base + start + HEAD + alignment - 1) & !(alignment - 1);
    let block = at as *mut u8;
    // SAFETY: HEAD bytes below the block are ours too.
    unsafe { block.sub(HEAD).cast::<usize>().write(size) };
    block
}

/// Whether there was ever one.
pub fn is_used() -> bool {
    USED.load(Ordering::Relaxed) > 0
}

/// Whether the block is one of these.
#[inline]
pub fn owns(block: *const u8) -> bool {
    (block as usize).wrapping_sub(ARENA.0.get() as usize) < BYTES
}

/// The size asked for.
pub fn size_of(block: *const u8) -> usize {
    let at = (block as usize).wrapping_sub(ARENA.0.get() as usize);
    if !(HEAD..BYTES).contains(&at) {
        return 0;
    }
    // SAFETY: each block has its size in front of it, inside the arena.
    unsafe { ARENA.0.get().byte_add(at - HEAD).cast::<usize>().read() }
}

/// Copies a block of the arena to a new home.
///
/// # Safety
/// `to` has room for `size` bytes.
pub unsafe fn copy_out(from: *const u8, to: *mut u8, size: usize) {
    let count = size.min(size_of(from));
    // SAFETY: both have `count` bytes and the arena never overlaps others.
    unsafe { core::ptr::copy_nonoverlapping(from, to, count) };
}
