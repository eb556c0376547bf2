//! Blocks that went before their thread asked for another: often they need not
//! have come at all. A realloc that follows its block's allocation is one too.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The last allocation of each stream.
#[derive(Debug, Default)]
pub struct Temporary {
    /// Its address, 0 where it was released.
    addresses: Vec<u64>,
    index: HashMap<u32, usize, RandomState>,
    last: (u32, usize),
}

impl Temporary {
    #[inline(always)]
    fn of(&mut self, stream: u32) -> &mut u64 {
        if self.addresses.is_empty() || self.last.0 != stream {
            self.look_up(stream);
        }
        &mut self.addresses[self.last.1]
    }

    #[inline(never)]
    fn look_up(&mut self, stream: u32) {
        let next = self.addresses.len();
        let index = *self.index.entry(stream).or_insert(next);
        if index == next {
            self.addresses.push(0);
        }
        self.last = (stream, index);
    }

    /// A block came.
    #[inline]
    pub fn came(&mut self, stream: u32, address: u64) {
        *self.of(stream) = address;
    }

    /// A block went: whether it was temporary.
    #[inline]
    pub fn went(&mut self, stream: u32, address: u64) -> bool {
        let last = self.of(stream);
        let is_last = *last == address && address != 0;
        if is_last {
            *last = 0;
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_last() {
        let mut temporary = Temporary::default();
        temporary.came(1, 0x10);
        temporary.came(2, 0x20);
        assert!(!temporary.went(2, 0x10));
        assert!(temporary.went(1, 0x10));
        assert!(!temporary.went(1, 0x10));
        temporary.came(2, 0x30);
        assert!(!temporary.went(2, 0x20));
        assert!(temporary.went(2, 0x30));
        assert!(!temporary.went(7, 0));
    }
}
