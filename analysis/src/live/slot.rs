//! What is known of a block, in 16 bytes.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::Block;

/// What nearly all blocks are: below 4 GiB, by one of the first owners, with little
/// to spare. `rest` says the owner's place, the entry point and the spare bytes; all
/// ones: this is another block, which stands apart. Two words and not four numbers: see
/// the keys of `region`.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// The size, then the stack.
    what: u64,
    /// The tick, then the rest.
    when: u64,
}

#[inline]
fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << u32::BITS
}

#[inline]
fn high(word: u64) -> u32 {
    (word >> u32::BITS) as u32
}

const RARE: u32 = u32::MAX;
const SPARE_BITS: u32 = 12;
const API_BITS: u32 = 8;
const OWNERS: u32 = 1 << (u32::BITS - SPARE_BITS - API_BITS);

impl Slot {
    /// Whether the block stands apart.
    #[inline]
    pub(super) fn is_rare(self) -> bool {
        high(self.when) == RARE
    }
}

/// What slots lead to.
#[derive(Default)]
pub(super) struct Rare {
    /// Blocks that no slot can tell, by address.
    blocks: HashMap<u64, Block, RandomState>,
}

impl Rare {
    /// The slot of a block.
    #[inline]
    pub(super) fn packed(&self, block: &Block) -> Slot {
        let (size, spare, owner) = (block.size, block.spare_and_api >> 8, block.owner);
        let is_usual = size < 1 << 32 && spare < 1 << SPARE_BITS && owner < OWNERS - 1;
        let rest = match is_usual {
            true => {
                owner << (SPARE_BITS + API_BITS)
                    | spare << API_BITS
                    | block.spare_and_api & ((1 << API_BITS) - 1)
            }
            false => RARE,
        };
        Slot {
            what: joined(size as u32, block.stack),
            when: joined(block.tick, rest),
        }
    }

    /// Keeps the block of a slot that cannot tell it.
    #[cold]
    pub(super) fn put(&mut self, address: u64, block: Block) {
        self.blocks.insert(address, block);
    }

    /// The block at an address that has this slot.
    #[inline]
    pub(super) fn block(&self, address: u64, slot: Slot) -> Block {
        if slot.is_rare() {
            return self.blocks[&address];
        }
        let (size, tick, rest) = (slot.what as u32, slot.when as u32, high(slot.when));
        Block {
            size: size.into(),
            stack: high(slot.what),
            tick,
            owner: rest >> (SPARE_BITS + API_BITS),
            spare_and_api: (rest >> API_BITS & ((1 << SPARE_BITS) - 1)) << 8
                | rest & ((1 << API_BITS) - 1),
        }
    }

    /// The same, and it goes.
    #[inline]
    pub(super) fn take(&mut self, address: u64, slot: Slot) -> Block {
        let block = self.block(address, slot);
        if slot.is_rare() {
            self.blocks.remove(&address);
        }
        block
    }
}
