//! Whole stacks that come again and again: what a loop that allocates at several
//! places finds, and most of a program is loops.
//!
//! A stack is remembered by where it ends, the innermost frame's pc and sp, and by
//! the stack before it: a loop's stacks follow each other. Found twice there, its
//! words are noted; from then on it is known again by comparing them, with no frame
//! looked up, walked or named. That is as exact as the last stack is, and for the
//! same reason: the state and every word that was stepped by are the same. Where
//! it turns out to be another, that one has to come twice.
#![allow(unsafe_code)]
//! # Safety
//! As in `kept`.

use super::frame::KeptFrame;
use super::words::Words;
use crate::platform::arch;
use crate::platform::sys::{Os, Sys};
use crate::unwind::walk::WalkState;

/// Stacks whose words are remembered; none where memory is dear.
const STACKS: usize = Os::SIZES.repeated_stacks;
/// Places for them, of which each stack may have two: a power of two.
const PLACES: usize = 4 * STACKS;
/// Ids remembered of stacks that may come again: a power of two.
const SEEN: usize = 16 * STACKS;
/// Words of one, at most: some fifty frames, and a KiB in all.
const MOST_WORDS: usize = 62;

/// A thread of whose captures in a round fewer than so many were known again is
/// walked by chance, and remembers nothing for so many rounds.
const ROUND: u32 = 1024;
const LEAST_KNOWN: u32 = ROUND / 16;
const REST: u32 = 7;

/// The stacks. Zeros are none.
#[repr(C)]
pub(super) struct Repeated {
    /// The id of the stack before.
    before: u32,
    /// Captures in this round, those that were known, and rounds to rest.
    captures: u32,
    known: u32,
    rest: u32,
    /// Whose words are forgotten next.
    next: u32,
    /// What was remembered before all was forgotten is of an earlier one.
    epoch: u8,
    /// The ids that were found last in each place.
    seen: [u32; SEEN],
    stacks: [Remembered; PLACES],
    words: [StackWords; STACKS],
}

#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Remembered {
    /// Of the innermost frame; nowhere, where no stack is remembered.
    state: WalkState,
    id: u32,
    /// Where its words are, and how many.
    at: u8,
    count: u8,
    /// Whether fp matters.
    is_live: bool,
    epoch: u8,
}

#[repr(C, align(64))]
struct StackWords {
    at: [u64; MOST_WORDS],
    was: [u64; MOST_WORDS],
    /// Of which place they are; some one's, once they were used.
    place: u16,
    was_used: bool,
}

const _: () = assert!(STACKS.next_power_of_two() <= 1 << 8 && MOST_WORDS < 1 << 8);
// The values begin at a multiple of 16, as `are_same` wants it.
const _: () = assert!(size_of::<StackWords>() == 1024 && MOST_WORDS.is_multiple_of(2));

impl Repeated {
    /// Forgets all.
    pub(super) fn forget(&mut self) {
        let epoch = self.epoch.wrapping_add(1);
        // An epoch that comes again must find nothing of its first time.
        if epoch == 0 {
            self.stacks.iter_mut().for_each(Remembered::forget);
        }
        self.epoch = epoch;
    }

    /// Whether nothing is looked for this time.
    #[inline(always)]
    pub(super) fn rests(&mut self) -> bool {
        self.captures += 1;
        if self.captures == ROUND {
            self.end_round();
        }
        self.rest != 0
    }

    #[cold]
    fn end_round(&mut self) {
        self.rest = match self.rest.checked_sub(1) {
            Some(rest) => rest,
            None if self.known < LEAST_KNOWN => REST,
            None => 0,
        };
        (self.captures, self.known) = (0, 0);
    }

    /// What tells a stack that ends like this and comes now from others.
    #[inline(always)]
    pub(super) fn hash(&self, state: &WalkState) -> usize {
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let before = u64::from(self.before) << 32;
        let hash = (state.pc.key() ^ state.sp << 20 ^ before).wrapping_mul(SPREAD);
        (hash >> 40) as usize
    }

    /// The id of the thread's whole stack, if it is one that is remembered: in one of
    /// two places.
    #[inline(always)]
    pub(super) fn known(&mut self, state: &WalkState, hash: usize) -> Option<u32> {
        let place = hash & PLACES.wrapping_sub(1);
        let is_at = |place: usize| {
            let stack = self.stacks.get(place);
            stack.is_some_and(|stack| stack.is_at(state, self.epoch))
        };
        if is_at(place) {
            self.as_it_was(place)
        } else if is_at(place ^ 1) {
            self.as_it_was(place ^ 1)
        } else {
            None
        }
    }

    /// Compares the words of the one that is remembered there.
    #[inline(never)]
    fn as_it_was(&mut self, place: usize) -> Option<u32> {
        let stack = self.stacks.get_mut(place)?;
        // Twice in a row: it is to become the last stack, which is known sooner.
        if stack.id == self.before {
            return None;
        }
        let words = self.words.get(usize::from(stack.at))?;
        let count = usize::from(stack.count);
        let (at, was) = (words.at.get(..count)?, words.was.get(..count)?);
        // SAFETY: see the head of `kept`.
        if unsafe { arch::are_same(at, was) } {
            self.before = stack.id;
            self.known += 1;
            return Some(stack.id);
        }
        stack.forget();
        None
    }

    /// The thread's whole stack was found to be this one. Bytes of memory that are
    /// used from now on.
    #[inline(always)]
    pub(super) fn note(&mut self, hash: usize, innermost: &KeptFrame, words: &Words) -> usize {
        if self.before == innermost.name.id {
            return 0;
        }
        self.before = innermost.name.id;
        match self.seen.get_mut(hash & SEEN.wrapping_sub(1)) {
            Some(seen) if *seen == self.before => self.remember(hash, innermost, words),
            Some(seen) => {
                *seen = self.before;
                0
            }
            None => 0,
        }
    }

    #[cold]
    #[inline(never)]
    fn remember(&mut self, hash: usize, innermost: &KeptFrame, from: &Words) -> usize {
        // Before anything makes room for it.
        if innermost.words() > MOST_WORDS {
            return 0;
        }
        let place = hash & PLACES.wrapping_sub(1);
        let is_free = |&place: &usize| {
            let stack = self.stacks.get(place);
            stack.is_some_and(|stack| stack.state.sp == 0 || stack.epoch != self.epoch)
        };
        let place = [place, place ^ 1].into_iter().find(is_free);
        let place = place.unwrap_or((hash ^ hash >> 12 & 1) & PLACES.wrapping_sub(1));
        self.next = (self.next + 1).checked_rem(STACKS as u32).unwrap_or(0);
        let Some(words) = self.words.get_mut(self.next as usize) else {
            return 0;
        };
        // Their present owner loses them, and with them all that is known of him.
        if let Some(owner) = self.stacks.get_mut(usize::from(words.place))
            && u32::from(owner.at) == self.next
        {
            owner.forget();
        }
        let count = innermost.words();
        if !from.copy(count, &mut words.at, &mut words.was) {
            return 0;
        }
        words.place = place as u16;
        if let Some(stack) = self.stacks.get_mut(place) {
            *stack = Remembered {
                state: innermost.state,
                id: innermost.name.id,
                at: self.next as u8,
                count: count as u8,
                is_live: innermost.is_live(),
                epoch: self.epoch,
            };
        }
        let is_first = !core::mem::replace(&mut words.was_used, true);
        // And their share of the places.
        usize::from(is_first) * (size_of::<StackWords>() + size_of::<[Remembered; 4]>())
    }
}

impl Remembered {
    #[inline(always)]
    fn is_at(&self, state: &WalkState, epoch: u8) -> bool {
        self.state.sp == state.sp
            && self.state.pc == state.pc
            && (self.state.fp == state.fp || !self.is_live)
            && self.epoch == epoch
    }

    fn forget(&mut self) {
        self.state.sp = 0;
    }
}
