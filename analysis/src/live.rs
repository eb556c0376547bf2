//! The live set: each block by its address, in 33 bytes a place.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memlog_format::api::Api;

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

/// All live blocks.
#[derive(Default)]
pub struct Blocks {
    map: HashMap<u64, Block, RandomState>,
}

impl Blocks {
    /// A block came; gives the one that was there, which should not be.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64, block: Block) -> Option<Block> {
        self.map.insert(address, block)
    }

    /// A block went.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        self.map.remove(&address)
    }

    /// The block that starts at this address.
    pub fn get(&self, address: u64) -> Option<&Block> {
        self.map.get(&address)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// All blocks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Block)> {
        self.map.iter().map(|(&address, block)| (address, block))
    }
}
