//! A table with the names of its stacks, and its moments in time.

use memlog_analysis::Name;
use memlog_table::Table;

/// The table's file has changed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Where the peaks are: after so many events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Of resident memory.
    pub rss_peak: u64,
    /// Of the heap.
    pub heap_peak: u64,
    /// What was resident at the first of them, in bytes; 0 where nobody knows.
    pub rss_peak_bytes: u64,
}

/// The functions of a stack.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Places in [`World::names`], from the innermost out, inlined ones too.
    pub labels: Vec<u32>,
    /// Which of them called the allocator: those before it are parts of that.
    pub asker: usize,
    /// Which of them it was for: those before it are of the language's library too.
    pub owner: usize,
}

impl Path {
    /// The function that called the allocator.
    pub fn leaf(&self) -> Option<u32> {
        self.labels.get(self.asker).or(self.labels.last()).copied()
    }

    /// The function that the memory was for.
    pub fn asked(&self) -> Option<u32> {
        self.labels.get(self.owner).copied().or(self.leaf())
    }

    /// It and its callers.
    pub fn outwards(&self) -> &[u32] {
        self.labels.get(self.asker..).unwrap_or(&[])
    }
}

/// What questions are asked of.
pub struct World<'t, 'b> {
    /// The blocks.
    pub table: &'t Table<'b>,
    /// By the place of a stack in the table its number here: the recorder may have
    /// written one twice.
    pub stacks: Vec<u32>,
    /// By that number its functions; empty if no names were asked for.
    pub paths: Vec<Path>,
    /// The functions.
    pub names: Vec<Name>,
    /// The threads as they are told, by their places.
    pub threads: Vec<String>,
    /// The peaks.
    pub moments: Moments,
    /// Nanoseconds of a tick.
    pub tick_ns: u64,
}

impl World<'_, '_> {
    /// How many different stacks there are.
    pub fn stack_count(&self) -> usize {
        self.stacks
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1)
    }

    /// The number of a stack by its place in the table.
    #[inline]
    pub fn stack(&self, place: u64) -> u32 {
        let stack = self.stacks.get(place as usize);
        stack.copied().unwrap_or(0)
    }

    /// The last event of the log.
    pub fn end(&self) -> u64 {
        self.table.events()
    }

    /// Seconds since the start.
    pub fn seconds(&self, tick: u64) -> f64 {
        tick as f64 * self.tick_ns as f64 / 1e9
    }

    /// When an event was, in seconds since the start.
    pub fn seconds_of(&self, event: u64) -> f64 {
        self.seconds(self.table.steps().tick_of(event))
    }

    /// The last tick that is not after so many nanoseconds.
    pub fn tick_at(&self, ns: u64) -> u64 {
        ns / self.tick_ns.max(1)
    }

    /// How long a block lived, in ticks; one that never went lived to the end.
    pub fn lifetime(&self, born: u64, died: u64) -> u64 {
        let steps = self.table.steps();
        let end = match died {
            memlog_table::NEVER => self.table.end_tick(),
            died => steps.tick_of(died),
        };
        end.saturating_sub(steps.tick_of(born))
    }

    /// A thread's name with its number.
    pub fn thread(&self, place: usize) -> String {
        let thread = self.threads.get(place);
        thread.map_or("?", String::as_str).to_owned()
    }
}
