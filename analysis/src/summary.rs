//! All figures of a log, one value for every output.

use crate::counts::{Held, Moment};
use crate::flight_window::FlightWindow;
use crate::ledger::Mapped;
use crate::rss::{FirstReading, Level, RssPeak, Unread};
use crate::tally::{Facts, Tally, Timing};
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
    /// What recording took of processor time, where that was measured.
    pub cost: Option<Cost>,
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

/// What recording took of processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// By estimate, from the events that were timed.
    pub own_ns: u64,
    /// Of the whole process, this included.
    pub cpu_ns: u64,
}

impl Cost {
    /// Of so many events.
    fn of(events: u64, timing: &Timing) -> Option<Self> {
        if timing.cpu_us == 0 || (timing.events == 0 && events > Self::FEW) {
            return None;
        }
        let cpu_ns = timing.cpu_us.saturating_mul(1000);
        let own = u128::from(timing.ns) * u128::from(events) / u128::from(timing.events.max(1));
        // A timed event in which the processor was taken away stands for a
        // thousand: of a short run the estimate can be more than all of it.
        let own_ns = own.min(u128::from(cpu_ns)) as u64;
        Some(Self { own_ns, cpu_ns })
    }

    /// So few events that none may have been timed take no time to speak of.
    const FEW: u64 = 10_000;
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
            cost: Cost::of(
                self.totals.allocations + self.totals.releases,
                &facts.timing,
            ),
            window: self.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_timed_stands_for_all() {
        let timing = Timing {
            events: 4,
            ns: 400,
            cpu_us: 7000,
        };
        let cost = Cost {
            own_ns: 1_000_000,
            cpu_ns: 7_000_000,
        };
        assert_eq!(Cost::of(10_000, &timing), Some(cost));
        let all = Cost {
            own_ns: 7_000_000,
            ..cost
        };
        assert_eq!(Cost::of(90_000, &timing), Some(all));
        let untimed = Timing {
            events: 0,
            ns: 0,
            cpu_us: 7,
        };
        assert_eq!(Cost::of(100, &untimed).map(|cost| cost.own_ns), Some(0));
        assert_eq!(Cost::of(100_000, &untimed), None);
        // A recorder that did not measure.
        assert_eq!(Cost::of(100, &Timing::default()), None);
    }
}
