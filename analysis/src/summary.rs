//! All figures of a log, one value for every output.

use crate::counts::{Held, Moment};
use crate::flight_window::FlightWindow;
use crate::ledger::Mapped;
use crate::rss::{FirstReading, Level, RssPeak, Unread};
use crate::tally::{Facts, Tally};
use crate::totals::{Anomalies, PeakFigures, Totals};

/// Allocations whose stack lacks frames, by the root it ends in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutStacks {
    by_root: [u64; 9],
}

impl CutStacks {
    /// Allocations with a cut stack.
    pub fn cut(&self) -> u64 {
        self.by_root[2..].iter().sum()
    }

    /// Allocations without a stack.
    pub fn none(&self) -> u64 {
        self.by_root[0]
    }

    /// Cut stacks by reason, those that did not occur left out.
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = (0u32..).zip(self.by_root).skip(2);
        all.filter(|&(_, count)| count != 0)
            .map(|(root, count)| match root {
                crate::stacks::DAMAGED => ("stack not in the log", count),
                _ => (memlog_format::table::StackId(root).root_name(), count),
            })
    }
}

/// All figures of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What came and went.
    pub totals: Totals,
    /// What should not be.
    pub anomalies: Anomalies,
    /// The largest heap.
    pub heap_peak: PeakFigures,
    /// The peak of resident memory and the heap then.
    pub rss_peak: RssPeak,
    /// The figure of the program's peak, the recorder's part in it: VmHWM where
    /// that is of the program's peak, else the reading that showed it.
    pub rss_peak_bytes: u64,
    /// The recorder's part of it.
    pub own_rss_bytes: u64,
    /// The most that the program had mapped itself about the peak and could
    /// touch.
    pub rss_peak_mapped_bytes: u64,
    /// Readings of resident memory that said something.
    pub rss_readings: u64,
    /// What the growth of resident memory is counted from.
    pub first_reading: Option<FirstReading>,
    /// Readings that stopped too early for the peak to be known.
    pub unread: Option<Unread>,
    /// Live at the end.
    pub end_live: Held,
    /// What the allocator gave for it.
    pub end_usable_bytes: u64,
    /// The second ledger.
    pub mapped: Mapped,
    /// Events that are missing.
    pub lost_events: u64,
    /// Whether a part of the log is missing or spoilt, which whoever reads it
    /// knows.
    pub is_damaged: bool,
    /// Allocations with incomplete stacks.
    pub cut_stacks: CutStacks,
    /// Threads that allocated or released.
    pub threads: u64,
    /// Different stacks that allocated.
    pub distinct_stacks: u64,
    /// Tick of the end.
    pub end_tick: u64,
    /// Processor time of the process in microseconds as last read, the
    /// recorder's in it, if it was read.
    pub cpu_us: Option<u64>,
    /// Where the log holds only the last part event by event: which.
    pub window: Option<FlightWindow>,
}

impl Summary {
    /// Whether what was live at the peak of resident memory can be told.
    pub fn shows_rss_peak(&self) -> bool {
        let is_before = self.window.is_some_and(|window| window.is_rss_peak_before);
        self.rss_peak_bytes > 0 && !is_before && !self.is_peak_unread()
    }

    /// Whether resident memory was not read any more when the heap grew beyond
    /// what it was at the peak that was read.
    pub fn is_peak_unread(&self) -> bool {
        self.unread.is_some_and(|unread| unread.is_higher)
    }

    /// Whether what is not in the log may have been live, or released.
    pub fn is_lossy(&self) -> bool {
        self.lost_events > 0 || self.is_damaged
    }
}

impl Tally {
    /// What was resident when recording began, with nothing recorded yet; else
    /// the first reading that the log has.
    fn first_reading(&self, facts: &Facts) -> Option<FirstReading> {
        match facts.start_rss_kb {
            0 => self.rss.first,
            kb => Some(FirstReading {
                kb,
                is_start: true,
                ..FirstReading::default()
            }),
        }
    }

    /// The log is through: all its figures. Asked once, after the last event.
    pub fn finish(&mut self, facts: &Facts) -> Summary {
        self.end(facts);
        let mut cut_stacks = CutStacks::default();
        let mut distinct_stacks = 0;
        for (stack, total) in self.holders.stacks.totals() {
            distinct_stacks += 1;
            if let Some(count) = cut_stacks.by_root.get_mut(self.stacks.root(stack) as usize) {
                *count += total.blocks;
            }
        }
        let mut rss_peak = self.rss.peak();
        if self.rss.is_before() {
            let highest = &self.heap_peak;
            rss_peak = RssPeak {
                level: rss_peak.level,
                tick: highest.tick,
                live_bytes: highest.bytes,
                live_blocks: highest.blocks,
                live_usable_bytes: highest.usable_bytes,
                ..RssPeak::default()
            };
        }
        let Level { kb, own_kb } = self.rss.level(facts.rss.vm_hwm_kb);
        let own_rss_bytes = match own_kb {
            0 => facts.own_bytes,
            kb => kb.saturating_mul(1024),
        };
        let mapped = self.held_mapped(Moment::RssPeak);
        let mapped_bytes = mapped.map(|(_, held)| held.bytes);
        let rss_peak_mapped_bytes = mapped_bytes.fold(0, u64::saturating_add);
        let live = self.held(Moment::End);
        let end_live = live.fold(Held::default(), |sum, (_, held)| sum.plus(held));
        Summary {
            totals: self.totals,
            anomalies: self.anomalies,
            heap_peak: self.heap_peak,
            rss_peak,
            rss_peak_bytes: kb.saturating_mul(1024),
            own_rss_bytes,
            rss_peak_mapped_bytes,
            rss_readings: self.rss.readings,
            first_reading: self.first_reading(facts),
            unread: self.rss.unread(),
            end_live,
            end_usable_bytes: self.heap.usable,
            mapped: *self.mapped(),
            lost_events: facts.lost_events.max(self.lost_in_place),
            is_damaged: false,
            cut_stacks,
            threads: self.threads,
            distinct_stacks,
            end_tick: self.heap.tick,
            cpu_us: Some(facts.cpu_us).filter(|&us| us != 0),
            window: self.window,
        }
    }
}
