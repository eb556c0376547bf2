//! Blocks of malloc that named functions asked for, to cut their own from. The
//! log does not know them, so it must not hear of their going either.
//!
//! The first block cut may begin where its slab does, and a function that only
//! hands on what malloc gave returns the slab itself. So an entry says whether
//! the program has a block of this address: then giving back the slab, by
//! whichever function, is the end of that block.
//!
//! A window of slots for each address, in memory that is there from the first
//! call of a named function on. Where a window is full the slab is forgotten:
//! right for what is handed on, else one release of something unknown.
#![allow(unsafe_code)]
//! # Safety
//! The slots are mapped once, whole, and never given back.

use crate::platform::quick;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use crate::process::usable;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

const SLOTS: usize = 1 << 18;
/// Slots that may hold an address: two cache lines.
const WINDOW: usize = 16;
const BYTES: usize = (SLOTS + WINDOW) * size_of::<AtomicUsize>();
/// Beside an address, whose lowest bits are zero: the program has it.
const LIVES: usize = 1;

/// The usable size of a block that is nobody's but a named function's.
pub const SLAB: u64 = usize::MAX as u64;

static TABLE: AtomicPtr<AtomicUsize> = AtomicPtr::new(core::ptr::null_mut());

const PAGE: usize = 4096;
/// One bit for each page of the table, which is in memory once an address is put there.
static TOUCHED: [AtomicU64; BYTES.div_ceil(PAGE).div_ceil(64)] =
    [const { AtomicU64::new(0) }; BYTES.div_ceil(PAGE).div_ceil(64)];

/// Whether a named function was called.
#[inline]
pub fn is_on() -> bool {
    !TABLE.load(Ordering::Relaxed).is_null()
}

/// A named function is called.
#[inline]
pub fn begin() {
    if !is_on() {
        map();
    }
}

#[cold]
fn map() {
    if RECORDER.ground.is_quiet() {
        return;
    }
    let fresh = Os::memory(BYTES).cast::<AtomicUsize>();
    if fresh.is_null() {
        return;
    }
    let order = Ordering::AcqRel;
    let empty = core::ptr::null_mut();
    match TABLE.compare_exchange(empty, fresh, order, Ordering::Acquire) {
        // Every release asks from now on.
        Ok(_) => {
            fence(Ordering::SeqCst);
            quick::clear();
            usable::ask_of_releases(usable_unless_slab);
        }
        // SAFETY: mapped just now, and nobody else knows it.
        Err(_) => unsafe { Os::unmap(fresh.cast(), BYTES) },
    }
}

fn window(address: usize) -> &'static [AtomicUsize] {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return &[];
    }
    let hash = (address >> 4) as u64;
    let at = (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % SLOTS;
    // SAFETY: a window begins at every slot.
    unsafe { core::slice::from_raw_parts(table.add(at), WINDOW) }
}

fn slot(address: usize) -> Option<&'static AtomicUsize> {
    let mut slots = window(address).iter();
    slots.find(|slot| slot.load(Ordering::Relaxed) & !LIVES == address)
}

/// A named function got a block from malloc.
pub fn add(address: usize) {
    for slot in window(address) {
        let order = Ordering::Relaxed;
        if slot.compare_exchange(0, address, order, order).is_ok() {
            note_touched(slot);
            return;
        }
    }
}

/// A page of the table is in memory.
fn note_touched(slot: &AtomicUsize) {
    let base = TABLE.load(Ordering::Relaxed) as usize;
    let page = (core::ptr::from_ref(slot) as usize).wrapping_sub(base) / PAGE;
    let Some(word) = TOUCHED.get(page / 64) else {
        return;
    };
    let bit = 1 << (page % 64);
    if word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        RECORDER.ground.note_own(PAGE as u64);
    }
}

/// A slab goes; whether the program has the block of its address, if it is one.
pub fn remove(address: usize) -> Option<bool> {
    let was = slot(address)?.swap(0, Ordering::Relaxed);
    Some(was & LIVES != 0)
}

/// A named function gave the program a block.
pub fn came(address: usize) {
    if let Some(slot) = slot(address) {
        slot.store(address | LIVES, Ordering::Relaxed);
    }
}

/// A named function gets a block back.
pub fn goes(address: usize) {
    if let Some(slot) = slot(address) {
        slot.store(address, Ordering::Relaxed);
    }
}

/// What malloc_usable_size says to who gives a block back.
extern "C" fn usable_unless_slab(block: *mut u8) -> usize {
    match remove(block as usize) {
        Some(false) => SLAB as usize,
        _ => usable::usable_of_new(block).unwrap_or(0) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_is_the_program_s_while_it_has_the_first_block() {
        let slab = 0x7f00_1234_5670;
        assert_eq!(remove(slab), None);
        begin();
        add(slab);
        assert_eq!(remove(slab), Some(false));
        assert_eq!(remove(slab), None);
        add(slab);
        came(slab);
        assert_eq!(remove(slab), Some(true));
        add(slab);
        came(slab);
        goes(slab);
        assert_eq!(remove(slab), Some(false));
        // Who is no slab does not become one.
        came(slab + 16);
        assert_eq!(remove(slab + 16), None);
        usable::ask_of_releases_as_ever();
    }

    #[test]
    fn a_full_window_forgets() {
        begin();
        let slab = 0x5500_0000_1000;
        for _ in 0..2 * WINDOW {
            add(slab);
        }
        let removed = (0..2 * WINDOW).filter(|_| remove(slab).is_some()).count();
        assert_eq!(removed, WINDOW);
        usable::ask_of_releases_as_ever();
    }
}
