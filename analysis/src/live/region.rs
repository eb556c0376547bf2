//! The blocks of 4 MiB of memory, from an address to what is known of a block.
//!
//! A table with open addressing whose buckets are two lines of the processor's cache: a
//! block is found in one place, and which that will be is known ahead. What its bucket
//! has no room for goes to the next that has. A bucket counts what passed it: a search
//! ends where nothing did, and what is taken away leaves nothing.

use crate::arch::prefetch;

/// A region's size, as a power of two.
pub(super) const REGION_BITS: u32 = 22;
/// The part of an address inside of its region.
pub(super) const OFFSET: u64 = (1 << REGION_BITS) - 1;
const ROOM: usize = 6;
/// Each place of a bucket as a bit; what is no place has none.
const BITS: [u32; ROOM + 2] = [1, 2, 4, 8, 16, 32, 0, 0];

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Bucket<V> {
    /// One more than the offset, 0: nothing is here. Then how many were on their way to
    /// here and went on.
    keys: [u32; ROOM + 2],
    values: [V; ROOM],
}

impl<V> Bucket<V> {
    /// Where a key is, without a branch for each place.
    #[inline(always)]
    fn place(&self, key: u32) -> Option<usize> {
        let bits = self.keys.iter().zip(BITS);
        let bits = bits.map(|(known, bit)| if *known == key { bit } else { 0 });
        let found = bits.fold(0, |found, bit| found | bit);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline(always)]
    fn passed(&mut self) -> &mut u32 {
        &mut self.keys[ROOM]
    }

    #[inline(always)]
    fn was_passed(&self) -> bool {
        self.keys[ROOM] != 0
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
    fn home(&self, key: u32) -> usize {
        let wide = u64::from(key ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (wide >> u32::BITS) ^ (wide & u64::from(u32::MAX));
        ((mixed * self.buckets.len() as u64) >> u32::BITS) as usize
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
        let home = self.home(key);
        let bucket = self.buckets.get(home)?;
        match bucket.place(key) {
            Some(place) => Some((home, place)),
            None if !bucket.was_passed() => None,
            None => self.find_behind(home, key),
        }
    }

    #[inline(never)]
    fn find_behind(&self, home: usize, key: u32) -> Option<(usize, usize)> {
        let mut at = self.next(home);
        while at != home {
            let bucket = &self.buckets[at];
            if let Some(place) = bucket.place(key) {
                return Some((at, place));
            }
            if !bucket.was_passed() {
                return None;
            }
            at = self.next(at);
        }
        None
    }

    /// A block comes or goes there soon.
    #[inline(always)]
    pub(super) fn soon(&self, offset: u32) {
        if let Some(bucket) = self.buckets.get(self.home(offset + 1)) {
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
        let mut at = self.home(key);
        loop {
            let bucket = &mut self.buckets[at];
            if let Some(place) = bucket.place(0) {
                bucket.keys[place] = key;
                bucket.values[place] = value;
                return;
            }
            *bucket.passed() += 1;
            at = self.next(at);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.buckets.len();
        let more = vec![Bucket::default(); length + length / 5 + 1];
        for bucket in std::mem::replace(&mut self.buckets, more) {
            let entries = bucket.keys.into_iter().zip(bucket.values);
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
        bucket.keys[place] = 0;
        let value = bucket.values[place];
        let mut passed = self.home(key);
        while passed != at {
            *self.buckets[passed].passed() -= 1;
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
        let all = self.buckets.iter().flat_map(|bucket| {
            let entries = bucket.keys.iter().zip(&bucket.values);
            entries.map(|(key, value)| (*key, *value))
        });
        all.filter_map(|(key, value)| Some((key.checked_sub(1)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            has_passed += usize::from(region.buckets.iter().any(Bucket::was_passed));
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
        let passed = region.buckets.iter().filter(|bucket| bucket.was_passed());
        assert!(passed.count() <= 1, "of the last one");
        region.remove(rest[0]);
        assert!(
            region.buckets.is_empty(),
            "room for {buckets} is given back"
        );
    }

    /// Offsets that go to one bucket lie apart where nobody knows the seed.
    #[test]
    fn offsets_cannot_be_chosen_to_meet() {
        let mut known = Region::<u32>::new(0);
        known.buckets.resize_with(256, Bucket::default);
        let narrow = |offset: &u32| known.home(offset + 1) == 0;
        let offsets: Vec<u32> = (0..1 << REGION_BITS).filter(narrow).take(4000).collect();
        assert_eq!(offsets.len(), 4000);
        let passed = |seed: u32| {
            let mut region = Region::new(seed);
            for &offset in &offsets {
                region.insert(offset, offset);
            }
            let passed = region.buckets.iter().map(|bucket| bucket.keys[ROOM]);
            passed.sum::<u32>()
        };
        assert!(passed(0) > 400_000, "{}", passed(0));
        for seed in [0x1234_5678, 0xCAFE_F00D, 0x0BAD_5EED] {
            assert!(passed(seed) < 8_000, "{seed:#x}: {}", passed(seed));
        }
    }
}
