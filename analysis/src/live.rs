//! The live set: each block by its address.
//!
//! Blocks lie close to each other. So an address is looked for in its own 4 MiB of
//! memory (`region`): where few blocks are in a table of those, where there are many
//! by a word for each 16 bytes. Either leads to the block itself (`slots`), 16 bytes.
//! Together that is 20 to 52 bytes a block, some 250 for one that is alone in its
//! region; and what is read for an event lies beside what was read for the one before.

mod region;
mod slots;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memlog_format::api::Api;

use region::{OFFSET, REGION_BITS, Region};
use slots::Slots;

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes asked for.
    pub size: u64,
    /// Its stack, as an index into the stack table.
    pub stack: u32,
    /// When it came, in ticks; at most 2^32 - 1.
    pub tick: u32,
    /// The thread that asked.
    pub tid: u32,
    /// Bytes given beyond those asked for (24 bits), and the entry point.
    spare_and_api: u32,
}

const MAX_SPARE: u64 = (1 << 24) - 1;

impl Block {
    /// A block; slack of 16 MiB and more counts as a byte less than that.
    #[inline]
    pub fn new(size: u64, usable: u64, stack: u32, tick: u64, tid: u32, api: Api) -> Self {
        let spare = usable.saturating_sub(size).min(MAX_SPARE);
        Self {
            size,
            stack,
            tick: tick.min(u64::from(u32::MAX)) as u32,
            tid,
            spare_and_api: (spare as u32) << 8 | api as u32,
        }
    }

    /// Bytes that the allocator gave.
    #[inline]
    pub fn usable(&self) -> u64 {
        self.size.saturating_add(u64::from(self.spare_and_api >> 8))
    }

    /// The function that was called.
    pub fn api(&self) -> Api {
        Api::from_byte(self.spare_and_api as u8).unwrap_or(Api::Malloc)
    }
}

/// Regions that are found without their table; a power of two.
const RECENT: usize = 256;

/// All live blocks.
pub struct Blocks {
    slots: Slots,
    regions: Vec<Region>,
    index: HashMap<u64, u32, RandomState>,
    /// Those met last, by their number; a number is never all ones.
    recent: Box<[(u64, u32); RECENT]>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            regions: Vec::new(),
            index: HashMap::default(),
            recent: Box::new([(u64::MAX, 0); RECENT]),
        }
    }
}

impl Blocks {
    /// A block came; gives the one that was there, which should not be.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64, block: Block) -> Option<Block> {
        let slot = self.slots.put(block);
        let region = self.region(address >> REGION_BITS);
        let other = self.regions[region].insert((address & OFFSET) as u32, slot)?;
        Some(self.slots.take(other))
    }

    /// A block went.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        let region = self.known_region(address >> REGION_BITS)?;
        let slot = self.regions[region].remove((address & OFFSET) as u32)?;
        Some(self.slots.take(slot))
    }

    /// The place of a region, if a block ever was in it.
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

    /// The block that starts at this address.
    pub fn get(&self, address: u64) -> Option<Block> {
        let &region = self.index.get(&(address >> REGION_BITS))?;
        let slot = self.regions[region as usize].get((address & OFFSET) as u32)?;
        Some(self.slots.get(slot))
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All blocks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Block)> {
        self.index.iter().flat_map(move |(&number, &region)| {
            let base = number << REGION_BITS;
            let all = self.regions[region as usize].iter();
            all.map(move |(offset, slot)| (base | u64::from(offset), self.slots.get(slot)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a table of all: blocks beside each other and far apart, at odd
    /// addresses, of all sizes, by many threads, some where one is already.
    #[test]
    fn the_live_set_is_that_of_a_table_of_all() {
        let (mut blocks, mut twin) = (Blocks::default(), std::collections::HashMap::new());
        let mut seed = 11u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for step in 0..400_000u64 {
            let address = match draw(10) {
                0 => draw(1 << 30) << 22 | draw(1 << 22),
                1 => u64::MAX - draw(1 << 23),
                2 => 0x5000_0000 + draw(1 << 22),
                _ => 0x7000_0000 + 16 * draw(400_000),
            };
            if draw(3) == 0 {
                assert_eq!(blocks.remove(address), twin.remove(&address));
                continue;
            }
            let size = match draw(50) {
                0 => draw(1 << 33),
                1 => u64::MAX,
                _ => draw(200),
            };
            let usable = size.saturating_add([draw(24), draw(1 << 26)][usize::from(draw(99) == 0)]);
            let tid = [1, 2, draw(1 << 32) as u32][draw(3) as usize];
            let api = [Api::Malloc, Api::Calloc, Api::Realloc][draw(3) as usize];
            let block = Block::new(size, usable, draw(1000) as u32, step, tid, api);
            assert_eq!(blocks.insert(address, block), twin.insert(address, block));
            assert_eq!(blocks.get(address), Some(block));
        }
        assert_eq!((blocks.len(), blocks.is_empty()), (twin.len(), false));
        assert!(twin.len() > 150_000, "regions of both forms");
        let all: std::collections::HashMap<_, _> = blocks.iter().collect();
        assert_eq!(all, twin);
        for address in twin.into_keys() {
            assert!(blocks.remove(address).is_some());
        }
        assert_eq!((blocks.len(), blocks.iter().count()), (0, 0));
        // What was never there takes no room.
        let regions = blocks.regions.len();
        assert!((1..10_000).all(|far| blocks.remove(far << 40 | 0x10).is_none()));
        assert_eq!(blocks.regions.len(), regions);
    }
}
