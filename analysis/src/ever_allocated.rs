//! Whether an address was ever allocated: a Bloom filter of fixed size.
//!
//! A release of an address that is not live is a double free if the address
//! was allocated before, and else a block of before the start. To know for
//! certain takes all addresses ever used; this takes 4 MiB and is wrong about
//! one block of before the start in some hundreds once a million addresses
//! were used. Both bits of an address lie in one cache line.

/// Words of the filter.
const WORDS: usize = 1 << 19;

pub(crate) struct EverAllocated {
    words: Vec<u64>,
}

impl EverAllocated {
    pub(crate) fn new() -> Self {
        Self {
            words: vec![0; WORDS],
        }
    }

    #[inline]
    fn place(address: u64) -> (usize, u64) {
        let hash = (address ^ address >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let word = (hash >> 45) as usize & (WORDS - 1);
        (word, 1 << (hash >> 39 & 63) | 1 << (hash >> 33 & 63))
    }

    /// The address was allocated.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64) {
        let (word, bits) = Self::place(address);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bits;
        }
    }

    /// Whether it was, or seems so.
    pub(crate) fn contains(&self, address: u64) -> bool {
        let (word, bits) = Self::place(address);
        self.words.get(word).is_some_and(|word| word & bits == bits)
    }
}
