//! The blocks of 4 MiB of memory, from an address to a number.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// A region's size, as a power of two.
pub(super) const REGION_BITS: u32 = 22;
/// The part of an address inside of its region.
pub(super) const OFFSET: u64 = (1 << REGION_BITS) - 1;
/// Allocators align to so many bytes, as a power of two.
const GRAIN_BITS: u32 = 4;
const GRAINS: usize = 1 << (REGION_BITS - GRAIN_BITS);
/// A table of more than these would take more than half of what words take.
const FEW: usize = (GRAINS / 8) * 7 / 8;

/// From the offset of a block to its number.
#[derive(Default)]
pub(super) struct Region {
    /// By grain the number of the block that begins there plus one, 0 where none
    /// does; nothing while there are few blocks.
    by_grain: Vec<u32>,
    /// Of few blocks all, of many those that are not aligned.
    others: HashMap<u32, u32, RandomState>,
    count: u32,
}

/// An empty region keeps room for so many: what it had may never come again.
const KEPT: usize = 64;

impl Region {
    /// The word of an offset, where it has one.
    #[inline]
    fn word(&mut self, offset: u32) -> Option<&mut u32> {
        let is_aligned = offset.is_multiple_of(1 << GRAIN_BITS);
        self.by_grain
            .get_mut((offset >> GRAIN_BITS) as usize)
            .filter(|_| is_aligned)
    }

    /// A block begins there; the one that did before.
    #[inline]
    pub(super) fn insert(&mut self, offset: u32, number: u32) -> Option<u32> {
        let other = match self.word(offset) {
            Some(word) => std::mem::replace(word, number + 1).checked_sub(1),
            None => self.others.insert(offset, number),
        };
        self.count += u32::from(other.is_none());
        if self.others.len() > FEW && self.by_grain.is_empty() {
            self.give_words();
        }
        other
    }

    #[cold]
    fn give_words(&mut self) {
        self.by_grain = vec![0; GRAINS];
        self.count = 0;
        for (offset, number) in std::mem::take(&mut self.others) {
            self.insert(offset, number);
        }
    }

    /// The block there goes.
    #[inline]
    pub(super) fn remove(&mut self, offset: u32) -> Option<u32> {
        let number = match self.word(offset) {
            Some(word) => std::mem::take(word).checked_sub(1),
            None => self.others.remove(&offset),
        };
        self.count -= u32::from(number.is_some());
        if self.count == 0 && self.by_grain.len() + self.others.capacity() > KEPT {
            *self = Self::default();
        }
        number
    }

    /// The block that begins there.
    pub(super) fn get(&self, offset: u32) -> Option<u32> {
        let word = self.by_grain.get((offset >> GRAIN_BITS) as usize);
        match word.filter(|_| offset.is_multiple_of(1 << GRAIN_BITS)) {
            Some(word) => word.checked_sub(1),
            None => self.others.get(&offset).copied(),
        }
    }

    /// All blocks' offsets and numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let words = (0..).step_by(1 << GRAIN_BITS).zip(&self.by_grain);
        let aligned = words.filter_map(|(offset, word)| Some((offset, word.checked_sub(1)?)));
        let others = self.others.iter();
        aligned.chain(others.map(|(&offset, &number)| (offset, number)))
    }
}
