//! Blocks by their numbers, 16 bytes each.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memlog_format::api::Api;

use super::Block;

/// What nearly all blocks are: below 4 GiB, by one of the first threads, with little
/// to spare. `rest` says the thread's place, the entry point and the spare bytes; all
/// ones: this is another block, which stands apart.
#[derive(Clone, Copy)]
struct Slot {
    size: u32,
    stack: u32,
    tick: u32,
    rest: u32,
}

const APART: u32 = u32::MAX;
const SPARE_BITS: u32 = 12;
const API_BITS: u32 = 8;
const THREADS: u32 = 1 << (u32::BITS - SPARE_BITS - API_BITS);

/// All blocks.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    apart: HashMap<u32, Block, RandomState>,
    /// The first threads, and where each of them is.
    threads: Vec<u32>,
    places: HashMap<u32, u32, RandomState>,
    last: Option<(u32, u32)>,
}

impl Slots {
    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Keeps a block; its number.
    #[inline]
    pub(super) fn put(&mut self, block: Block) -> u32 {
        let slot = self.packed(&block);
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                // So many blocks take 64 GiB here, and are not to be wrong: a region keeps
                // a number plus one.
                let number = u32::try_from(self.slots.len() + 1).expect("fewer live blocks") - 1;
                self.slots.push(slot);
                number
            }
        };
        if slot.rest == APART {
            self.apart.insert(number, block);
        }
        number
    }

    #[inline]
    fn packed(&mut self, block: &Block) -> Slot {
        let thread = match self.last {
            Some((tid, thread)) if tid == block.tid => thread,
            _ => self.thread(block.tid),
        };
        let (size, spare) = (block.size, block.spare_and_api >> 8);
        let is_usual = size < 1 << 32 && spare < 1 << SPARE_BITS && thread < THREADS - 1;
        let rest = match is_usual {
            true => {
                thread << (SPARE_BITS + API_BITS)
                    | spare << API_BITS
                    | block.spare_and_api & ((1 << API_BITS) - 1)
            }
            false => APART,
        };
        Slot {
            size: size as u32,
            stack: block.stack,
            tick: block.tick,
            rest,
        }
    }

    /// A thread's place, or one past those that have one.
    #[cold]
    fn thread(&mut self, tid: u32) -> u32 {
        let next = self.threads.len() as u32;
        let place = match self.places.get(&tid) {
            Some(&place) => place,
            None if next < THREADS - 1 => {
                self.threads.push(tid);
                self.places.insert(tid, next);
                next
            }
            None => THREADS,
        };
        self.last = Some((tid, place));
        place
    }

    /// The block of a number that was given out.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Block {
        let slot = self.slots[number as usize];
        if slot.rest == APART {
            return self.apart[&number];
        }
        let tid = self.threads[(slot.rest >> (SPARE_BITS + API_BITS)) as usize];
        let spare = u64::from(slot.rest >> API_BITS & ((1 << SPARE_BITS) - 1));
        let (size, tick) = (u64::from(slot.size), u64::from(slot.tick));
        let api = Api::from_byte(slot.rest as u8).unwrap_or(Api::Malloc);
        Block::new(size, size + spare, slot.stack, tick, tid, api)
    }

    /// The same, and the number is free.
    #[inline]
    pub(super) fn take(&mut self, number: u32) -> Block {
        let block = self.get(number);
        if self.slots[number as usize].rest == APART {
            self.apart.remove(&number);
        }
        self.free.push(number);
        block
    }
}
