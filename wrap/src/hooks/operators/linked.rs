//! The operators behind `--wrap`. A static program does not say what they end
//! in. Where malloc is glibc's they end in it. Elsewhere each operator new is
//! taken for the allocator's own until a call shows that its block came by a
//! hooked function; once one is known to be own, it stays so: an allocator may
//! go on in malloc where it has no memory.
//!
//! An operator delete is plain as long as no operator new is known to be own:
//! till then there is no block that free has not to do with.
#![allow(unsafe_code)]
//! # Safety
//! The list of what is linked is that of the assembly, read only.

use super::{COUNT, FIRST_DELETE, Operators, PLAIN, UNKNOWN, mode_of};
use crate::process::usable;
use core::sync::atomic::Ordering;

/// A mode: what the operator ends in is not known yet, ...
const LEARNING: u32 = 4;
/// ...or it has given a block that no hooked function gave. Where from is not
/// known, so that its usable size is not to be asked for.
pub const OWN_FOR_SURE: u32 = 5;

/// What the shims are linked with.
#[repr(C)]
pub struct Linked {
    reals: [usize; COUNT],
    malloc: usize,
    /// A function beside malloc where that is glibc's; else 0.
    beside_malloc: usize,
}

impl Linked {
    fn is_malloc_glibc_s(&self) -> bool {
        const ONE_OBJECT: usize = 64 << 10;
        self.beside_malloc != 0 && self.malloc.abs_diff(self.beside_malloc) < ONE_OBJECT
    }
}

/// Enters the real functions and what is known of them.
///
/// Another thread may do the same, or go on as soon as the first mode stands:
/// the functions come first, and a mode is not set twice.
pub fn publish(table: &Operators, linked: &Linked) {
    for (place, real) in table.reals.iter().zip(linked.reals) {
        place.store(real, Ordering::Relaxed);
    }
    let is_known = linked.is_malloc_glibc_s();
    for (index, mode) in table.modes.iter().enumerate() {
        let first = match is_known || index >= FIRST_DELETE {
            true => PLAIN,
            false => LEARNING,
        };
        // Who fails here finds what another thread has entered.
        let _ = mode.compare_exchange(UNKNOWN, first, Ordering::Release, Ordering::Relaxed);
    }
}

/// Whether a block is a part of what a hooked function gave within the call: an
/// operator that puts something in front of it, or cuts it out of more.
pub fn is_part(index: usize, block: u64, given: u64) -> bool {
    if given == 0 || mode_of(index).is_none_or(|mode| mode.load(Ordering::Relaxed) != LEARNING) {
        return false;
    }
    let usable = usable::usable(given as *mut u8).unwrap_or(0);
    (given..given.saturating_add(usable)).contains(&block)
}

/// The operator has given a block of its own: so may all operators delete take
/// such.
pub fn be_own(index: usize) {
    let Some(mode) = mode_of(index) else {
        return;
    };
    if mode.load(Ordering::Relaxed) != LEARNING {
        return;
    }
    mode.store(OWN_FOR_SURE, Ordering::Relaxed);
    for mode in (FIRST_DELETE..COUNT).filter_map(mode_of) {
        mode.store(OWN_FOR_SURE, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::{Linked, OWN_FOR_SURE, be_own, publish};
    use crate::hooks::operators::{COUNT, FIRST_DELETE, Operators, PLAIN, TABLE, UNKNOWN};
    use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    fn table() -> &'static Operators {
        Box::leak(Box::new(Operators {
            modes: [const { AtomicU32::new(UNKNOWN) }; COUNT],
            reals: [const { AtomicUsize::new(0) }; COUNT],
        }))
    }

    fn linked(beside_malloc: usize) -> Linked {
        Linked {
            reals: core::array::from_fn(|index| index + 1),
            malloc: 0x400000,
            beside_malloc,
        }
    }

    fn modes(table: &Operators) -> Vec<u32> {
        let modes = table.modes.iter();
        modes.map(|mode| mode.load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn operators_over_glibc_are_plain() {
        let table = table();
        publish(table, &linked(0x401000));
        assert_eq!(modes(table), [PLAIN; COUNT]);
        assert_eq!(table.reals[COUNT - 1].load(Ordering::Relaxed), COUNT);
    }

    /// Deletes are as soon as one operator new is, and nobody takes that back.
    #[test]
    fn one_own_operator_makes_the_deletes_own() {
        let table = table();
        // Far away: linked for something else.
        publish(table, &linked(0x4000000));
        assert!(
            modes(table)[FIRST_DELETE..]
                .iter()
                .all(|mode| *mode == PLAIN)
        );
        TABLE.store(core::ptr::from_ref(table).cast_mut(), Ordering::Release);
        be_own(2);
        super::super::be_plain(2);
        super::super::be_plain(3);
        publish(table, &linked(0));
        let found = modes(table);
        assert_eq!((found[2], found[3]), (OWN_FOR_SURE, PLAIN));
        assert!(
            found[FIRST_DELETE..]
                .iter()
                .all(|mode| *mode == OWN_FOR_SURE)
        );
    }
}
