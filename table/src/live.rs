//! Blocks that have come and not gone.

use memlog_analysis::AddressMap;

use crate::column::Flags;

/// A live block, as small as may be.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(4))]
pub(crate) struct Block {
    pub born: u64,
    pub size: u64,
    pub waste: u32,
    pub stack: u32,
    pub thread: u32,
    /// One more than the place of its chain; 0: it is the first of one, or of none.
    pub chain: u32,
    pub flags: u16,
    /// The place of its tag.
    pub scope: u16,
}

/// What a block of a chain has besides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// When its first block came.
    pub first: u64,
    /// The block's place, from 0.
    pub place: u64,
}

/// All live blocks by address.
#[derive(Default)]
pub(crate) struct Live {
    blocks: AddressMap<Block>,
    chains: Slab<Chain>,
}

impl Block {
    pub(crate) fn flags(&self) -> Flags {
        Flags(self.flags.into())
    }

    /// With those that a block has when it comes.
    pub(crate) fn with_flags(self, flags: Flags) -> Self {
        Self {
            flags: flags.0 as u16,
            ..self
        }
    }
}

impl Live {
    /// A block comes or goes there soon.
    #[inline]
    pub(crate) fn soon(&self, address: u64) {
        self.blocks.soon(address);
    }

    /// A block came; the one that was there, which should not be.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        address: u64,
        mut block: Block,
        chain: Option<Chain>,
    ) -> Option<(Block, Option<Chain>)> {
        block.chain = chain.map_or(0, |chain| self.chains.put(chain) + 1);
        let other = self.blocks.insert(address, block)?;
        Some(self.with_chain(other))
    }

    /// A block went.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<(Block, Option<Chain>)> {
        let block = self.blocks.remove(address)?;
        Some(self.with_chain(block))
    }

    /// A block that is gone, and its chain, whose place is free.
    #[inline]
    fn with_chain(&mut self, block: Block) -> (Block, Option<Chain>) {
        let chain = block.chain.checked_sub(1);
        (block, chain.map(|chain| self.chains.take(chain)))
    }

    /// All blocks in the order of their coming.
    pub(crate) fn sorted(&self) -> Vec<(u64, Block, Option<Chain>)> {
        let all = self.blocks.iter().map(|(address, block)| {
            let chain = block.chain.checked_sub(1);
            (address, block, chain.map(|chain| self.chains.get(chain)))
        });
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by_key(|(address, block, _)| (block.born, *address));
        all
    }
}

/// Values by numbers that are used again.
#[derive(Default)]
struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    #[inline]
    fn put(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.values[number as usize] = value;
                number
            }
            None => {
                // So many take 64 GiB: a block keeps a number plus one.
                let number = u32::try_from(self.values.len() + 1).expect("fewer live blocks") - 1;
                self.values.push(value);
                number
            }
        }
    }

    fn get(&self, number: u32) -> T {
        self.values[number as usize]
    }

    #[inline]
    fn take(&mut self, number: u32) -> T {
        self.free.push(number);
        self.get(number)
    }
}
