//! Where the blocks are, and how large.

use crate::outside;

/// A slot with nothing in it. The table begins as zeros.
const EMPTY: u64 = 0;
/// Its pages were touched.
const TOUCHED: u64 = 1 << 63;

/// A block.
#[derive(Clone, Copy)]
pub struct Block {
    /// Null if there was no memory for it.
    pub address: *mut u8,
    /// As asked for.
    pub size: u64,
    /// Whether its pages were.
    pub is_touched: bool,
}

/// One more than the size, and the mark.
#[derive(Clone, Copy)]
struct Slot {
    address: *mut u8,
    word: u64,
}

/// All slots.
pub struct Slots(&'static mut [Slot]);

impl Slots {
    /// So many, empty.
    pub fn new(count: u64) -> Option<Self> {
        outside::table(usize::try_from(count).ok()?).map(Self)
    }

    /// Puts a block into an empty slot; whether that is one.
    #[inline]
    pub fn put(&mut self, slot: u64, block: Block) -> bool {
        let Some(place) = self.0.get_mut(slot as usize) else {
            return false;
        };
        let is_empty = place.word == EMPTY;
        let mark = if block.is_touched { TOUCHED } else { 0 };
        let word = (block.size + 1) | mark;
        *place = Slot {
            address: block.address,
            word,
        };
        is_empty
    }

    /// Takes a block out, if there is one.
    #[inline]
    pub fn take(&mut self, slot: u64) -> Option<Block> {
        let place = self.0.get_mut(slot as usize)?;
        let Slot { address, word } = *place;
        place.word = EMPTY;
        Some(Block {
            address,
            size: (word & !TOUCHED).checked_sub(1)?,
            is_touched: word & TOUCHED != 0,
        })
    }
}
