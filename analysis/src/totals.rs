//! Sums over all events, and where one of them stands.

use crate::counts::Held;

/// Where an event stands.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Its stream.
    pub stream: u32,
    /// Its thread.
    pub tid: u32,
    /// Its tick.
    pub tick: u64,
}

/// What came and went in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Successful calls that gave memory, a successful realloc among them.
    pub allocations: u64,
    /// Calls that took memory back, a successful realloc among them.
    pub releases: u64,
    /// Blocks that were released before their thread asked for another.
    pub temporary: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes given.
    pub usable_bytes: u64,
    /// Allocations of which what was given is what glibc gives where words have 64
    /// bits: multiples of 16 less the word before a block.
    pub with_header: u64,
    /// Blocks that a forked process found live.
    pub inherited_blocks: u64,
    /// Their bytes.
    pub inherited_bytes: u64,
    /// How many of them it released.
    pub inherited_released: u64,
    /// What of all this the log tells of without its events.
    pub passed: Held,
}

impl Totals {
    /// What an allocator with a word before each block takes for so many besides
    /// what it gives; nothing where it is not seen to be one.
    pub fn header_bytes(&self, blocks: u64) -> u64 {
        // Blocks that are mapped by themselves have two words, and give others.
        let is_seen = self.with_header >= self.allocations - self.allocations / 10;
        match is_seen && self.allocations > 0 {
            true => blocks.saturating_mul(8),
            false => 0,
        }
    }
}

/// What should not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anomalies {
    /// Allocations at an address that was live.
    pub alive_twice: u64,
    /// Releases of an address that had been released, or whose allocation
    /// after that was lost.
    pub released_twice: u64,
    /// Releases of blocks of before the start of recording.
    pub released_from_before: u64,
    /// Releases in a forked process of blocks that its parent's log does not
    /// tell of.
    pub released_of_parent: u64,
}

/// A peak of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeakFigures {
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes given.
    pub usable_bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// When: after so many allocations and releases of the log.
    pub event: u64,
    /// The tick of that.
    pub tick: u64,
    /// By how much the bytes may be off, threads not being ordered between
    /// their stamps.
    pub error_bytes: u64,
}
