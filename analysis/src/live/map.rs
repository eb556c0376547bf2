//! From the addresses of blocks to their numbers.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::region::{OFFSET, REGION_BITS, Region};

/// Regions that are found without their table; a power of two.
const RECENT: usize = 256;

/// A number for each address that has one. The numbers are the owner's, below
/// 2^32 - 1.
pub struct AddressMap {
    regions: Vec<Region>,
    index: HashMap<u64, u32, RandomState>,
    /// Those met last, by their number; a number is never all ones.
    recent: Box<[(u64, u32); RECENT]>,
}

impl Default for AddressMap {
    fn default() -> Self {
        Self {
            regions: Vec::new(),
            index: HashMap::default(),
            recent: Box::new([(u64::MAX, 0); RECENT]),
        }
    }
}

impl AddressMap {
    /// Gives an address a number; the one that it had.
    #[inline]
    pub fn insert(&mut self, address: u64, number: u32) -> Option<u32> {
        let region = self.region(address >> REGION_BITS);
        self.regions[region].insert((address & OFFSET) as u32, number)
    }

    /// Takes the number of an address away.
    #[inline]
    pub fn remove(&mut self, address: u64) -> Option<u32> {
        let region = self.known_region(address >> REGION_BITS)?;
        self.regions[region].remove((address & OFFSET) as u32)
    }

    /// The number of an address.
    pub fn get(&self, address: u64) -> Option<u32> {
        let &region = self.index.get(&(address >> REGION_BITS))?;
        self.regions[region as usize].get((address & OFFSET) as u32)
    }

    /// All addresses with their numbers, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.index.iter().flat_map(move |(&number, &region)| {
            let base = number << REGION_BITS;
            let all = self.regions[region as usize].iter();
            all.map(move |(offset, number)| (base | u64::from(offset), number))
        })
    }

    /// How many regions there are.
    #[cfg(test)]
    pub(super) fn regions(&self) -> usize {
        self.regions.len()
    }

    /// The place of a region, if an address of it ever had a number.
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
        self.regions.push(Region::default());
        self.index.insert(number, region as u32);
        region
    }
}
