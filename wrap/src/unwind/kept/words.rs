//! The words of the stack that kept frames were stepped by, outermost first.
#![allow(unsafe_code)]
//! # Safety
//! As in `kept`.

use super::MAX_WORDS;
use crate::platform::arch;

/// Where words were read, and what they were: from a multiple of 16 on, as
/// `arch::are_same` wants it.
#[repr(C, align(16))]
pub(super) struct Words {
    at: [u64; MAX_WORDS],
    was: [u64; MAX_WORDS],
}

/// A word of the stack that was read a moment ago.
#[inline(always)]
pub(super) fn read(at: u64) -> u64 {
    // SAFETY: see the head of `kept`.
    unsafe { (at as *const usize).read() as u64 }
}

impl Words {
    /// Notes two words, of which the second may be overwritten by the next;
    /// false if there is no room.
    #[inline(always)]
    pub(super) fn note(&mut self, index: usize, at: [u64; 2], was: [u64; 2]) -> bool {
        let both = index..index + 2;
        match (self.at.get_mut(both.clone()), self.was.get_mut(both)) {
            (Some(places), Some(values)) => {
                places.copy_from_slice(&at);
                values.copy_from_slice(&was);
                true
            }
            _ => false,
        }
    }

    /// Whether the outermost `count` words are what they were.
    #[inline(always)]
    pub(super) fn are_same(&self, count: usize) -> bool {
        match (self.at.get(..count), self.was.get(..count)) {
            // SAFETY: see the head of `kept`.
            (Some(at), Some(was)) => unsafe { arch::are_same(at, was) },
            _ => false,
        }
    }

    /// Copies the outermost `count` words; false if there is no room for them.
    pub(super) fn copy(&self, count: usize, at: &mut [u64], was: &mut [u64]) -> bool {
        let (Some(places), Some(values)) = (at.get_mut(..count), was.get_mut(..count)) else {
            return false;
        };
        let (Some(at), Some(was)) = (self.at.get(..count), self.was.get(..count)) else {
            return false;
        };
        places.copy_from_slice(at);
        values.copy_from_slice(was);
        true
    }

    /// Whether one word is what it was.
    #[inline]
    pub(super) fn is_same(&self, index: usize) -> bool {
        match (self.at.get(index), self.was.get(index)) {
            // SAFETY: see the head of `kept`.
            (Some(&at), Some(&was)) => unsafe { (at as *const usize).read() as u64 == was },
            _ => false,
        }
    }
}
