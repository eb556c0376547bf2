//! The live set: each block by its address.
//!
//! An address is looked for in the table of its own 4 MiB of memory (`map`, `region`),
//! which grows with what is there. What is known of nearly all blocks takes 16 bytes
//! (`slot`), and 26 to 31 with its share of a table; one that is alone in its region some
//! 200.

mod map;
mod region;
mod slot;

use memlog_format::api::Api;

use crate::reached::Reached;
pub use map::AddressMap;
use region::REGION_BITS;
use slot::{Rare, Slot};

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes asked for.
    pub size: u64,
    /// Its stack, as an index into the stack table.
    pub stack: u32,
    /// When it came, in ticks; at most 2^32 - 1.
    pub tick: u32,
    /// Who asked: the place of a thread in its scopes.
    pub(crate) owner: u32,
    /// Bytes given beyond those asked for (24 bits), and the entry point.
    spare_and_api: u32,
}

const MAX_SPARE: u64 = (1 << 24) - 1;

impl Block {
    /// A block; slack of 16 MiB and more counts as a byte less than that.
    #[inline]
    pub fn new(size: u64, usable: u64, stack: u32, tick: u64, owner: u32, api: Api) -> Self {
        let spare = usable.saturating_sub(size).min(MAX_SPARE);
        Self {
            size,
            stack,
            tick: tick.min(u64::from(u32::MAX)) as u32,
            owner,
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
        Api::from_number(self.spare_and_api as u8).unwrap_or(Api::Malloc)
    }
}

/// All live blocks.
#[derive(Default)]
pub struct Blocks {
    slots: AddressMap<Slot>,
    rare: Rare,
    count: usize,
    /// Where blocks ever were that are longer than a region.
    long: Reached,
}

impl Blocks {
    /// A block comes or goes there soon.
    #[inline(always)]
    pub(crate) fn soon(&self, address: u64) {
        self.slots.soon(address);
    }

    /// A block came; gives the one that was there, which should not be.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64, block: Block) -> Option<Block> {
        if block.size >> REGION_BITS > 0 {
            self.note_long(address, &block);
        }
        let slot = self.rare.packed(&block);
        let other = self.slots.insert(address, slot);
        let other = other.map(|slot| self.rare.take(address, slot));
        if slot.is_rare() {
            self.rare.put(address, block);
        }
        self.count += usize::from(other.is_none());
        other
    }

    #[cold]
    fn note_long(&mut self, address: u64, block: &Block) {
        self.long
            .add(address, address.saturating_add(block.usable()));
    }

    /// A block went.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        let slot = self.slots.remove(address)?;
        self.count -= 1;
        Some(self.rare.take(address, slot))
    }

    /// The block that starts at this address.
    pub fn get(&self, address: u64) -> Option<Block> {
        Some(self.rare.block(address, self.slots.get(address)?))
    }

    /// The parts of a stretch of addresses in whose neighbourhood no block ever was.
    pub(crate) fn untouched(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let parts = self.slots.untouched(low, high).into_iter();
        let parts = parts.flat_map(|(low, high)| self.long.gaps(low, high));
        parts.collect()
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All blocks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Block)> {
        let all = self.slots.iter();
        all.map(move |(address, slot)| (address, self.rare.block(address, slot)))
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
            let owner = [1, 2, draw(1 << 32) as u32][draw(3) as usize];
            let api = [Api::Malloc, Api::Calloc, Api::Realloc][draw(3) as usize];
            let block = Block::new(size, usable, draw(1000) as u32, step, owner, api);
            assert_eq!(blocks.insert(address, block), twin.insert(address, block));
            assert_eq!(blocks.get(address), Some(block));
        }
        assert_eq!((blocks.len(), blocks.is_empty()), (twin.len(), false));
        assert!(twin.len() > 150_000, "many of a region, and one");
        let all: std::collections::HashMap<_, _> = blocks.iter().collect();
        assert_eq!(all, twin);
        for address in twin.into_keys() {
            assert!(blocks.remove(address).is_some());
        }
        assert_eq!((blocks.len(), blocks.iter().count()), (0, 0));
        // What was never there takes no room.
        let regions = blocks.slots.regions();
        assert!((1..10_000).all(|far| blocks.remove(far << 40 | 0x10).is_none()));
        assert_eq!(blocks.slots.regions(), regions);
    }

    /// Far from blocks, whether they are there still or not, and from what of long ones
    /// lies in other regions; near them nothing is called untouched.
    #[test]
    fn untouched_is_what_no_block_was_near() {
        const REGION: u64 = 1 << REGION_BITS;
        let mut blocks = Blocks::default();
        let (mut begun, mut spans) = (std::collections::HashSet::new(), Vec::new());
        let mut seed = 3u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for tick in 0..60 {
            let address = draw(400) * REGION + draw(REGION);
            let size = [draw(5_000), draw(20) * REGION][usize::from(tick % 5 == 0)];
            let block = Block::new(size, size, 1, tick, 1, Api::Malloc);
            blocks.insert(address, block);
            // One that is shorter than a region may reach into the next.
            begun.extend([address / REGION, address / REGION + 1]);
            spans.push(address..address + size);
            if draw(2) == 0 {
                blocks.remove(address);
            }
        }
        let is_far = |at: u64| {
            let is_in = spans.iter().any(|span| span.contains(&at));
            !begun.contains(&(at / REGION)) && !is_in
        };
        for _ in 0..2_000 {
            let low = draw(430 * REGION / 4_096) * 4_096;
            // Of a few regions and of more than there are.
            let high = low + [draw(4 * REGION), draw(600 * REGION)][draw(2) as usize];
            let parts = blocks.untouched(low, high);
            assert!(
                parts
                    .iter()
                    .all(|(from, to)| low <= *from && from < to && *to <= high)
            );
            assert!(parts.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let at = low + draw((high - low).max(1));
            let is_told = parts.iter().any(|(from, to)| (*from..*to).contains(&at));
            assert_eq!(
                is_told,
                high > low && is_far(at),
                "{at:#x} of {low:#x} to {high:#x}"
            );
        }
    }
}
