//! What is handed in and told: the kernel's words, the heap, and where the peak lies.

/// What the log's frame says about resident memory, in kilobytes, 0: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// VmHWM as last read.
    pub vm_hwm_kb: u64,
    /// ru_maxrss at the end.
    pub maxrss_kb: u64,
    /// What the kernel counted of a killed process, or of a child of it.
    pub counted_kb: u64,
    /// The log has an end: its last reading is of then, also where the kernel's marks
    /// are of a time that was not recorded.
    pub is_ended: bool,
    /// Since which tick nothing was read, though events went on.
    pub unread_since: Option<u64>,
}

/// A figure of resident memory, in kilobytes, and what of it is the recorder's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// All of it.
    pub kb: u64,
    /// The recorder's.
    pub own_kb: u64,
}

impl Level {
    /// What is not the recorder's.
    pub fn program_kb(&self) -> u64 {
        self.kb.saturating_sub(self.own_kb)
    }
}

/// Why resident memory was not read to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A seccomp filter came.
    Filter,
    /// The log has no end.
    NoEnd,
}

/// Readings of resident memory that stopped before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Why.
    pub why: Why,
    /// Since which tick.
    pub since_tick: u64,
    /// Allocations and releases since.
    pub events: u64,
    /// The heap grew beyond what it was at the peak that was read, by more than
    /// the grain.
    pub is_higher: bool,
}

/// The two readings that a moment lies between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bracket {
    /// Tick of the reading before, or of the start.
    pub from_tick: u64,
    /// Tick of the reading after, or of the end.
    pub to_tick: u64,
    /// Allocations and releases between them.
    pub events: u64,
    /// The smallest heap between them.
    pub low_heap_bytes: u64,
    /// The largest.
    pub high_heap_bytes: u64,
}

/// The peak of resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RssPeak {
    /// The reading that lies behind it, of those that say something, from 1; the log's end is
    /// one more. 0: none does.
    pub reading: u64,
    /// The figure that showed it; 0 where nothing was read.
    pub level: Level,
    /// The moment: after so many allocations and releases of the log.
    pub event: u64,
    /// Its tick.
    pub tick: u64,
    /// Bytes live at the moment.
    pub live_bytes: u64,
    /// Blocks live at the moment.
    pub live_blocks: u64,
    /// What allocator gave for them.
    pub live_usable_bytes: u64,
    /// Where it lies.
    pub bracket: Bracket,
}

/// The first reading that said something, and the heap then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstReading {
    /// The figure, in kilobytes.
    pub kb: u64,
    /// The recorder's own part of it.
    pub own_kb: u64,
    /// When: after so many allocations and releases of the log.
    pub event: u64,
    /// Its tick.
    pub tick: u64,
    /// Of before the first call that was recorded.
    pub is_start: bool,
    /// Bytes that were live.
    pub live_bytes: u64,
    /// What the allocator gave for them.
    pub live_usable_bytes: u64,
    /// How many they were.
    pub live_blocks: u64,
}

/// The heap at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    /// After so many allocations and releases of the log.
    pub event: u64,
    pub bytes: u64,
    pub usable: u64,
    pub blocks: u64,
    pub tick: u64,
}

impl Heap {
    /// Whether it is larger than another; blocks of no bytes take room as well.
    #[inline]
    pub fn is_larger(&self, bytes: u64, usable: u64) -> bool {
        self.bytes > bytes || self.bytes == bytes && self.usable > usable
    }
}
