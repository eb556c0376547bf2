//! What the peak of resident memory consists of, and how well its moment is
//! known. Told here once, whoever prints it.
//!
//! What was mapped or live need not have been touched, so these parts are known
//! only from above. What was resident before the first recorded call and what is
//! the recorder's are known, and are taken off first:
//!
//! ```text
//! room   := peak - own - before
//! heap, rounded, mapped <= room, each for itself
//! unseen >= room - heap - rounded - mapped
//! ```

use crate::rss::Why;
use crate::summary::Summary;

/// Two figures of one peak are closer than this: the kernel counts late.
const COUNT_ERROR_BYTES: u64 = 512 << 10;

/// The parts of the peak, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Live, as far as there is room for it.
    pub heap: u64,
    /// Live and not resident, at least.
    pub absent: u64,
    /// The smallest heap that it may have been, where that is much less.
    pub low_heap: Option<u64>,
    /// What malloc took beyond what was asked for, rounding up and with a word
    /// before each block, where that is much.
    pub rounded: u64,
    /// At most so much was mapped by the program itself.
    pub mapped: u64,
    /// Resident before the first recorded call.
    pub before: u64,
    /// The recorder's.
    pub own: u64,
    /// The rest, at least.
    pub unseen: u64,
    /// At most so much of the rest was freed since the heap was largest.
    pub freed: u64,
    /// There is no room for all that was live, rounded up and mapped: each of
    /// them is so much at most.
    pub is_crowded: bool,
    /// Events were lost: what was live in them is in the rest.
    pub is_lossy: bool,
}

impl Parts {
    /// Whether the rest may be more than is told.
    pub fn is_least(&self) -> bool {
        self.mapped > 0 || self.low_heap.is_some()
    }
}

/// How well its moment is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Nothing happened between two readings.
    Exact,
    /// Resident memory was higher by so much at another moment, whose heap was
    /// smaller: within the grain the largest heap is the moment.
    Near {
        /// By so many bytes.
        below_bytes: u64,
    },
    /// Somewhere between two readings.
    Within {
        /// Allocations and releases between them.
        events: u64,
        /// Their distance.
        ticks: u64,
    },
}

/// Why the peak may lie later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// A seccomp filter came.
    Filter,
    /// Among events that are lost.
    Lost,
    /// What came after the last reading is not known.
    NoEnd,
}

/// The peak of resident memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// What it consists of.
    pub parts: Parts,
    /// How well its moment is known.
    pub precision: Precision,
    /// Whether there may be a later one.
    pub later: Option<Later>,
}

impl Summary {
    /// The peak; nothing where what was live then cannot be told.
    pub fn resident(&self) -> Option<Resident> {
        self.shows_rss_peak().then(|| Resident {
            parts: self.parts(),
            precision: self.precision(),
            later: self.later(),
        })
    }

    fn parts(&self) -> Parts {
        let (peak, whole) = (&self.rss_peak, self.rss_peak_bytes);
        let own = self.own_rss_bytes.min(whole);
        let live = peak.live_bytes;
        if self.is_lossy() {
            let heap = live.min(whole - own);
            return Parts {
                heap,
                absent: live - heap,
                own,
                unseen: whole - own - heap,
                is_lossy: true,
                ..Parts::default()
            };
        }
        let is_much = |bytes: u64| bytes >= whole.div_ceil(100);
        let before = self.before_recording().min(whole - own);
        let room = whole - own - before;
        let rounded = peak.live_usable_bytes.saturating_sub(live);
        let rounded = rounded.saturating_add(self.totals.header_bytes(peak.live_blocks));
        let rounded = if is_much(rounded) { rounded } else { 0 };
        let mapped = self.rss_peak_mapped_bytes;
        let all = live.saturating_add(rounded).saturating_add(mapped);
        let unseen = room.saturating_sub(all);
        let low = peak.bracket.low_heap_bytes;
        let is_range = peak.bracket.events > 0 && is_much(live.saturating_sub(low));
        let freed = self.freed_since_heap_peak().min(unseen);
        Parts {
            heap: live.min(room),
            absent: live.saturating_sub(room),
            low_heap: is_range.then_some(low),
            rounded: rounded.min(room),
            mapped: mapped.min(room),
            before,
            own,
            unseen,
            freed: if is_much(freed) { freed } else { 0 },
            is_crowded: all > room,
            is_lossy: false,
        }
    }

    /// What was resident when recording began: nothing had been recorded then.
    fn before_recording(&self) -> u64 {
        let first = self.first_reading.filter(|first| first.tick == 0);
        first.map_or(0, |first| {
            let kb = first.kb.saturating_sub(first.own_kb);
            kb.saturating_mul(1024)
                .saturating_sub(first.live_usable_bytes.max(first.live_bytes))
        })
    }

    /// What the heap had given back since it was largest, which malloc may keep.
    fn freed_since_heap_peak(&self) -> u64 {
        let (highest, then) = (&self.heap_peak, &self.rss_peak);
        match highest.tick < then.tick {
            true => {
                let given = highest.usable_bytes.max(highest.bytes);
                given.saturating_sub(then.live_usable_bytes.max(then.live_bytes))
            }
            false => 0,
        }
    }

    fn precision(&self) -> Precision {
        let (bracket, level) = (&self.rss_peak.bracket, &self.rss_peak.level);
        let highest = self.rss_peak_bytes.saturating_sub(self.own_rss_bytes);
        let here = level.program_kb().saturating_mul(1024);
        let below_bytes = highest.saturating_sub(here);
        match bracket.events {
            _ if below_bytes > COUNT_ERROR_BYTES => Precision::Near { below_bytes },
            0 => Precision::Exact,
            events => Precision::Within {
                events,
                ticks: bracket.to_tick.saturating_sub(bracket.from_tick),
            },
        }
    }

    fn later(&self) -> Option<Later> {
        match self.unread.map(|unread| unread.why) {
            Some(Why::Filter) => Some(Later::Filter),
            _ if self.is_lossy() => Some(Later::Lost),
            Some(Why::NoEnd) => Some(Later::NoEnd),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests;
