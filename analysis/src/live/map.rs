//! From the addresses of blocks to what is known of them.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::region::{OFFSET, REGION_BITS, Region};

/// Regions that are found without their table; a power of two.
const RECENT: usize = 256;

/// A value for each address that has one.
pub struct AddressMap<V> {
    regions: Vec<Region<V>>,
    index: HashMap<u64, u32, RandomState>,
    seed: u32,
    /// Those met last, by their number; a number is never all ones.
    recent: Box<[(u64, u32); RECENT]>,
}

impl<V> Default for AddressMap<V> {
    fn default() -> Self {
        Self {
            regions: Vec::new(),
            index: HashMap::default(),
            seed: RandomState::default().hash_one(REGION_BITS) as u32,
            recent: Box::new([(u64::MAX, 0); RECENT]),
        }
    }
}

impl<V: Copy + Default> AddressMap<V> {
    /// An address is given a value, or loses it, soon.
    #[inline(always)]
    pub fn soon(&self, address: u64) {
        let number = address >> REGION_BITS;
        let (known, region) = self.recent[number as usize % RECENT];
        if known == number {
            self.regions[region as usize].soon((address & OFFSET) as u32);
        }
    }

    /// Gives an address a value; the one that it had.
    #[inline]
    pub fn insert(&mut self, address: u64, value: V) -> Option<V> {
        let region = self.region(address >> REGION_BITS);
        self.regions[region].insert((address & OFFSET) as u32, value)
    }

    /// Takes the value of an address away.
    #[inline]
    pub fn remove(&mut self, address: u64) -> Option<V> {
        let region = self.known_region(address >> REGION_BITS)?;
        self.regions[region].remove((address & OFFSET) as u32)
    }

    /// The value of an address.
    pub fn get(&self, address: u64) -> Option<V> {
        let &region = self.index.get(&(address >> REGION_BITS))?;
        self.regions[region as usize].get((address & OFFSET) as u32)
    }

    /// The parts of a stretch of addresses where none ever had a value, in whole regions,
    /// nor in the region before.
    pub fn untouched(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let first = (low >> REGION_BITS).saturating_sub(1);
        let last = high.saturating_sub(1) >> REGION_BITS;
        // Most stretches have fewer regions than there are in all.
        let numbers: Vec<u64> = match last.saturating_sub(first) < self.index.len() as u64 {
            true => (first..=last)
                .filter(|number| self.index.contains_key(number))
                .collect(),
            false => {
                let all = self.index.keys().copied();
                let mut numbers: Vec<u64> = all.filter(|at| (first..=last).contains(at)).collect();
                numbers.sort_unstable();
                numbers
            }
        };
        let (mut at, mut parts) = (low, Vec::new());
        for number in numbers {
            let start = number << REGION_BITS;
            if start > at {
                parts.push((at, start));
            }
            at = at.max(start.saturating_add(2 << REGION_BITS));
        }
        if at < high {
            parts.push((at, high));
        }
        parts
    }

    /// Takes all values away; they come by their addresses.
    pub fn take_all(&mut self) -> Vec<V> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable_by_key(|&(address, _)| address);
        let taken = all.into_iter().filter_map(|(at, _)| self.remove(at));
        taken.collect()
    }

    /// All addresses with their values, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> {
        self.index.iter().flat_map(move |(&number, &region)| {
            let base = number << REGION_BITS;
            let all = self.regions[region as usize].iter();
            all.map(move |(offset, value)| (base | u64::from(offset), value))
        })
    }

    /// How many regions there are.
    #[cfg(test)]
    pub(super) fn regions(&self) -> usize {
        self.regions.len()
    }

    /// The place of a region, if an address of it ever had a value.
    #[inline]
    fn known_region(&mut self, number: u64) -> Option<usize> {
        match self.recent[number as usize % RECENT] {
            (known, region) if known == number => Some(region as usize),
            _ => self.look_up(number),
        }
    }

    #[cold]
    fn look_up(&mut self, number: u64) -> Option<usize> {
        let region = *self.index.get(&number)?;
        self.recent[number as usize % RECENT] = (number, region);
        Some(region as usize)
    }

    /// The place of a region, which is made if need be.
    #[inline]
    fn region(&mut self, number: u64) -> usize {
        match self.known_region(number) {
            Some(region) => region,
            None => self.make(number),
        }
    }

    #[cold]
    fn make(&mut self, number: u64) -> usize {
        let region = self.regions.len();
        self.regions.push(Region::new(self.seed));
        self.index.insert(number, region as u32);
        region
    }
}
