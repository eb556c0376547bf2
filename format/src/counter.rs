//! What the recorder counts about itself. The counters lie as 64-bit words in
//! chunk 0, from [`AREA_AT`] on, and are current at every moment.

use crate::chunk::{HEADER_SIZE, le64};

/// Where the counters start in chunk 0.
pub const AREA_AT: usize = HEADER_SIZE;
/// Room for this many.
pub const AREA_COUNT: usize = 64;
/// Where the records of chunk 0 start.
pub const AREA_END: usize = AREA_AT + 8 * AREA_COUNT;

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal;)*) => {
        /// A counter. Numbers are for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Counter { $($(#[$doc])* $variant = $number,)* }

        /// Every counter with its name in `stats --json` and `info`.
        pub const ALL: &[(Counter, &str)] = &[$((Counter::$variant, $name),)*];
    };
}

counters! {
    /// Events for which there was no room in the log.
    LostNoRoom = 0, "lost_no_room";
    /// Events that came while the recorder could not take them.
    LostNotReady = 1, "lost_not_ready";
    /// Events of threads for which no stream could be made.
    LostNoStream = 2, "lost_no_stream";
    /// Events abandoned by a jump out of the recorder.
    LostAbandoned = 3, "lost_abandoned";
    /// Calls made by the allocator itself while it served another.
    NestedInAllocator = 4, "nested_in_allocator";
    /// Events of signal handlers that interrupted the recorder.
    NestedInRecorder = 5, "nested_in_recorder";
    /// Blocks served by the start-up arena before the allocator was known.
    EarlyBlocks = 6, "early_blocks";
    /// Stacks whose rules came from the full unwinder.
    FullUnwinds = 7, "full_unwinds";
    /// Unwind rules compiled.
    RulesCompiled = 8, "rules_compiled";
    /// Times the list of modules was read.
    ModuleReads = 9, "module_reads";
    /// Times memory or log could not be had when wanted.
    Refused = 10, "refused";
    /// Bytes of private memory that the recorder took.
    OwnBytes = 11, "own_private_bytes";
    /// Bytes of the log mapped into the process at the moment.
    MappedLogBytes = 12, "own_log_bytes";
    /// Stamps given out, to order threads by.
    Stamps = 13, "stamps";
    /// Calls recorded before the recorder was started, counted not logged.
    BeforeStart = 14, "before_start";
    /// Streams in use at the same time, at most.
    Streams = 15, "streams";
    /// Kilobytes of VmHWM as last read.
    VmHwmKb = 16, "vm_hwm_kb";
    /// Kilobytes of ru_maxrss at start, inherited through exec.
    MaxRssFloorKb = 17, "maxrss_floor_kb";
    /// Set once recording stopped for good: see the reason in the notes.
    Stopped = 18, "stopped";
    /// Captures compared by verify mode.
    Verified = 19, "verified";
    /// Captures that differed in verify mode.
    VerifyDiffers = 20, "verify_differs";
    /// Duplicate records in the tables, made when two threads raced.
    TableRaces = 21, "table_races";
    /// Stacks that cross code without unwind tables by its frame pointers.
    FramePointerStacks = 22, "frame_pointer_stacks";
    /// Places of the file that were given out: it is at least as many chunks long.
    Chunks = 23, "chunks";
    // 24 and 25 are timed_events and timed_ns in logs of an earlier memlog: not to
    // be used again.
    /// Microseconds of processor time of the process, as last read.
    CpuUs = 26, "cpu_us";
    /// What was last in the way of the log's growth, see `refusal`; no count.
    LogRefused = 27, "log_refused";
    /// Forked children that could make no log of their own.
    ChildrenUnlogged = 28, "children_without_log";
    /// What was in the way of the last of those, see `refusal`; no count.
    ChildRefused = 29, "child_log_refused";
    /// Tick, plus one, since which a seccomp filter keeps the recorder from system
    /// calls, and resident memory is not read; 0 where none came.
    QuietSince = 30, "quiet_since";
    /// Kilobytes that were resident when recording began, without the
    /// recorder's own; 0 in a forked child.
    StartRssKb = 31, "start_rss_kb";
    /// Calls that asked for memory and got none.
    AllocationsFailed = 32, "failed_allocations";
    /// Bytes of blocks that the recorder left out and that may have been live at one
    /// moment, so that the heap was larger then than events tell.
    CulledBytes = 33, "culled_live_bytes";
    /// Times a chunk of events was written anew without blocks that lived shortly.
    CulledChunks = 34, "culled_chunks";
}

impl Counter {
    /// Whether the counter says that an event is missing from the log.
    pub const fn is_loss(self) -> bool {
        matches!(
            self,
            Counter::LostNoRoom
                | Counter::LostNotReady
                | Counter::LostNoStream
                | Counter::LostAbandoned
        )
    }

    /// Its value in the bytes of chunk 0.
    pub fn read(self, chunk0: &[u8]) -> u64 {
        le64(chunk0, AREA_AT + 8 * self as usize)
    }

    /// Puts its value into the bytes of chunk 0, if they reach so far.
    pub fn write(self, chunk0: &mut [u8], value: u64) {
        let own = chunk0.get_mut(AREA_AT + 8 * self as usize..);
        let word = own.and_then(|rest| rest.first_chunk_mut());
        if let Some(word) = word {
            *word = value.to_le_bytes();
        }
    }
}
