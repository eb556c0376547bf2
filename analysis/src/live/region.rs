//! The blocks of 4 MiB of memory, from an address to what is known of a block.
//!
//! A table with open addressing whose buckets are two lines of the processor's cache: a
//! block is found in one place, and which that will be is known ahead. What its bucket
//! has no room for goes to the next that has. A bucket counts what passed it, by a mark of
//! four bits that each key has: a search ends where nothing of its mark did, and what is
//! taken away leaves nothing, unless 15 of one mark went on: those are counted no more until
//! the table grows. So one of sixteen looks behind in vain, and waits for memory
//! that nobody had asked for.

use crate::arch::prefetch;

/// A region's size, as a power of two.
pub(super) const REGION_BITS: u32 = 22;
/// The part of an address inside of its region.
pub(super) const OFFSET: u64 = (1 << REGION_BITS) - 1;
const ROOM: usize = 6;
const PAIRS: usize = ROOM / 2;
/// The most that is counted of a mark: so many may be more, and are never counted down.
const MANY: u64 = 15;

/// Keys are one more than the offset, 0: nothing is here. They are read and written two
/// by two: a processor has at hand what was just written, if it is read as it was written.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Bucket<V> {
    pairs: [u64; PAIRS],
    /// How many were on their way to here and went on, in four bits for each mark.
    passed: u64,
    values: [V; ROOM],
}

impl<V> Bucket<V> {
    /// Where a key is, without a branch for each place.
    #[inline(always)]
    fn place(&self, key: u32) -> Option<usize> {
        let both = u64::from(key) << u32::BITS | u64::from(key);
        let mut found = 0;
        for (place, pair) in (0..).step_by(2).zip(self.pairs) {
            let unlike = pair ^ both;
            found |= u32::from(unlike as u32 == 0) << place;
            found |= u32::from(unlike >> u32::BITS == 0) << (place + 1);
        }
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    /// Puts a key where none is, or takes it from where it is.
    #[inline(always)]
    fn toggle(&mut self, place: usize, key: u32) {
        self.pairs[place / 2] ^= u64::from(key) << (u32::BITS * (place as u32 % 2));
    }

    fn keys(&self) -> [u32; ROOM] {
        std::array::from_fn(|place| (self.pairs[place / 2] >> (32 * (place % 2))) as u32)
    }

    /// How many of a mark went on, up to [`MANY`].
    #[inline(always)]
    fn passed(&self, mark: Mark) -> u64 {
        self.passed >> mark.shift() & MANY
    }

    fn pass(&mut self, mark: Mark) {
        if self.passed(mark) < MANY {
            self.passed += 1 << mark.shift();
        }
    }

    fn unpass(&mut self, mark: Mark) {
        if self.passed(mark) < MANY {
            self.passed -= 1 << mark.shift();
        }
    }
}

/// A key, mixed: its bucket comes of the high bits, what it is counted by of the low ones.
#[derive(Clone, Copy)]
struct Mark(u32);

impl Mark {
    #[inline(always)]
    fn shift(self) -> u32 {
        4 * (self.0 & 15)
    }
}

/// From the offset of a block to what is known of it.
#[derive(Default)]
pub(super) struct Region<V> {
    buckets: Vec<Bucket<V>>,
    count: usize,
    /// Nobody can choose addresses that go to one bucket without this.
    seed: u32,
}

/// An empty region keeps room for so many buckets: what it had may never come again.
const KEPT: usize = 4;

impl<V: Copy + Default> Region<V> {
    pub(super) fn new(seed: u32) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    #[inline(always)]
    fn mark(&self, key: u32) -> Mark {
        let wide = u64::from(key ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Mark((wide >> u32::BITS) as u32 ^ wide as u32)
    }

    #[inline(always)]
    fn home(&self, mark: Mark) -> usize {
        ((u64::from(mark.0) * self.buckets.len() as u64) >> u32::BITS) as usize
    }

    #[inline(always)]
    fn next(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() {
            0
        } else {
            at + 1
        }
    }

    /// The bucket of a key and the place in it.
    #[inline(always)]
    fn find(&self, key: u32) -> Option<(usize, usize)> {
        let mark = self.mark(key);
        let home = self.home(mark);
        let bucket = self.buckets.get(home)?;
        match bucket.place(key) {
            Some(place) => Some((home, place)),
            None if bucket.passed(mark) == 0 => None,
            None => self.find_behind(home, key),
        }
    }

    #[inline(never)]
    fn find_behind(&self, home: usize, key: u32) -> Option<(usize, usize)> {
        let mark = self.mark(key);
        let mut at = self.next(home);
        while at != home {
            let bucket = &self.buckets[at];
            if let Some(place) = bucket.place(key) {
                return Some((at, place));
            }
            if bucket.passed(mark) == 0 {
                return None;
            }
            at = self.next(at);
        }
        None
    }

    /// A block comes or goes there soon.
    #[inline(always)]
    pub(super) fn soon(&self, offset: u32) {
        if let Some(bucket) = self.buckets.get(self.home(self.mark(offset + 1))) {
            prefetch(bucket);
        }
    }

    /// A block begins there; the one that did before.
    #[inline]
    pub(super) fn insert(&mut self, offset: u32, value: V) -> Option<V> {
        let key = offset + 1;
        if let Some((at, place)) = self.find(key) {
            let known = &mut self.buckets[at].values[place];
            return Some(std::mem::replace(known, value));
        }
        // Five places of six.
        if self.count >= 5 * self.buckets.len() {
            self.grow();
        }
        self.put(key, value);
        self.count += 1;
        None
    }

    #[inline]
    fn put(&mut self, key: u32, value: V) {
        let mark = self.mark(key);
        let mut at = self.home(mark);
        loop {
            let bucket = &mut self.buckets[at];
            if let Some(place) = bucket.place(0) {
                bucket.toggle(place, key);
                bucket.values[place] = value;
                return;
            }
            bucket.pass(mark);
            at = self.next(at);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.buckets.len();
        let more = vec![Bucket::default(); length + length / 5 + 1];
        for bucket in std::mem::replace(&mut self.buckets, more) {
            let entries = bucket.keys().into_iter().zip(bucket.values);
            for (key, value) in entries.filter(|(key, _)| *key != 0) {
                self.put(key, value);
            }
        }
    }

    /// The block there goes.
    #[inline]
    pub(super) fn remove(&mut self, offset: u32) -> Option<V> {
        let key = offset + 1;
        let (at, place) = self.find(key)?;
        let bucket = &mut self.buckets[at];
        bucket.toggle(place, key);
        let value = bucket.values[place];
        let mark = self.mark(key);
        let mut passed = self.home(mark);
        while passed != at {
            self.buckets[passed].unpass(mark);
            passed = self.next(passed);
        }
        self.count -= 1;
        if self.count == 0 && self.buckets.len() > KEPT {
            *self = Self::new(self.seed);
        }
        Some(value)
    }

    /// The block that begins there.
    pub(super) fn get(&self, offset: u32) -> Option<V> {
        let (at, place) = self.find(offset + 1)?;
        Some(self.buckets[at].values[place])
    }

    /// All blocks' offsets, and what is known of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, V)> {
        let all = self
            .buckets
            .iter()
            .flat_map(|bucket| bucket.keys().into_iter().zip(bucket.values));
        all.filter_map(|(key, value)| Some((key.checked_sub(1)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn was_passed<V>(bucket: &Bucket<V>) -> bool {
        bucket.passed != 0
    }

    /// Against a table of all, where most blocks are in another's bucket.
    #[test]
    fn what_has_no_room_is_found_behind() {
        let (mut region, mut twin) = (Region::default(), std::collections::HashMap::new());
        let mut seed = 5u64;
        let mut has_passed = 0;
        for step in 0..100_000u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The table grows with 300 blocks, and then has as many as before.
            let offset = (seed >> 33) as u32 % if step < 10_000 { 300 } else { 40 };
            match (seed >> 60) < 7 {
                true => assert_eq!(region.insert(offset, step), twin.insert(offset, step)),
                false => assert_eq!(region.remove(offset), twin.remove(&offset)),
            }
            assert_eq!(region.get(offset), twin.get(&offset).copied());
            has_passed += usize::from(region.buckets.iter().any(was_passed));
        }
        assert!(has_passed > 1000, "{has_passed}");
        let all: std::collections::HashMap<_, _> = region.iter().collect();
        assert_eq!(all, twin);
        let rest: Vec<u32> = twin.into_keys().collect();
        let buckets = region.buckets.len();
        for offset in &rest[1..] {
            assert!(region.remove(*offset).is_some());
        }
        assert!(region.buckets.len() == buckets && region.count == 1);
        let passed = region.buckets.iter().filter(|bucket| was_passed(bucket));
        assert!(passed.count() <= 1, "of the last one");
        region.remove(rest[0]);
        assert!(
            region.buckets.is_empty(),
            "room for {buckets} is given back"
        );
    }

    /// More of one mark than can be counted: they are found, and what is not there is not.
    #[test]
    fn more_than_can_be_counted_are_found() {
        let mut region = Region::<u32>::new(0);
        region.buckets.resize_with(8, Bucket::default);
        let first = |offset: u32| {
            let mark = region.mark(offset + 1);
            region.home(mark) == 0 && mark.0 & 15 == 0
        };
        let offsets: Vec<u32> = (0..1 << REGION_BITS)
            .filter(|&at| first(at))
            .take(60)
            .collect();
        let (here, others) = offsets.split_at(35);
        // The last of all would take the table with it.
        region.insert(others[0], 0);
        for turn in 0..3 {
            for &offset in here {
                assert_eq!(region.insert(offset, offset + turn), None);
            }
            assert_eq!(region.buckets.len(), 8, "they lie behind each other");
            for &offset in here {
                assert_eq!(region.get(offset), Some(offset + turn));
            }
            assert!(others[1..].iter().all(|&at| region.get(at).is_none()));
            for &offset in here {
                assert_eq!(region.remove(offset), Some(offset + turn));
                assert_eq!(region.remove(offset), None);
            }
            assert_eq!((region.count, region.get(others[0])), (1, Some(0)));
        }
        assert_eq!(region.buckets[0].passed(region.mark(here[0] + 1)), MANY);
    }

    /// Offsets that go to one bucket lie apart where nobody knows the seed.
    #[test]
    fn offsets_cannot_be_chosen_to_meet() {
        let mut known = Region::<u32>::new(0);
        known.buckets.resize_with(256, Bucket::default);
        let narrow = |offset: &u32| known.home(known.mark(offset + 1)) == 0;
        let offsets: Vec<u32> = (0..1 << REGION_BITS).filter(narrow).take(4000).collect();
        assert_eq!(offsets.len(), 4000);
        let passed = |seed: u32| {
            let mut region = Region::new(seed);
            for &offset in &offsets {
                region.insert(offset, offset);
            }
            let length = region.buckets.len();
            let passed = offsets.iter().map(|offset| {
                let (at, _) = region.find(offset + 1).expect("it was put there");
                (at + length - region.home(region.mark(offset + 1))) % length
            });
            passed.sum::<usize>()
        };
        assert!(passed(0) > 400_000, "{}", passed(0));
        for seed in [0x1234_5678, 0xCAFE_F00D, 0x0BAD_5EED] {
            assert!(passed(seed) < 8_000, "{seed:#x}: {}", passed(seed));
        }
    }
}
