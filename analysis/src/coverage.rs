//! How much of the growth of resident memory the recorded calls explain.
//!
//! It is looked at from the start of recording to the peak (where a log does not
//! say what was resident at its start, as a forked child's: from its first
//! reading), the recorder's own part taken out of both. Live blocks count with what the allocator gave for them,
//! mappings of the program's own with what they can be touched in. Neither need
//! have been touched: what is explained is so at most.

use crate::summary::Summary;

/// What the growth of resident memory came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By how much resident memory grew.
    pub growth_bytes: u64,
    /// By how much the heap did.
    pub heap_bytes: u64,
    /// By how much the program's own mappings did.
    pub mapped_bytes: u64,
}

impl Coverage {
    /// Less growth is code and data of files as likely as not.
    const LEAST_GROWTH: u64 = 4 << 20;

    /// Nothing where it cannot be told: no readings, or none at the peak, lost
    /// events, overwritten ones. `mapped_before` is what the program had mapped
    /// itself and could touch at the first reading.
    pub fn of(summary: &Summary, mapped_before: u64) -> Option<Self> {
        let first = summary.first_reading?;
        if summary.is_peak_unread()
            || summary.is_lossy()
            || summary.window.is_some()
            || summary.rss_peak_bytes == 0
        {
            return None;
        }
        let before = first.kb.saturating_sub(first.own_kb).saturating_mul(1024);
        let at_peak = summary.rss_peak_bytes.saturating_sub(summary.own_rss_bytes);
        let peak = &summary.rss_peak;
        let given = |bytes: u64, usable: u64, blocks: u64| {
            let headers = summary.totals.header_bytes(blocks);
            bytes.max(usable).saturating_add(headers)
        };
        let heap_before = given(first.live_bytes, first.live_usable_bytes, first.live_blocks);
        let heap = given(peak.live_bytes, peak.live_usable_bytes, peak.live_blocks);
        let mapped = summary.rss_peak_mapped_bytes;
        Some(Self {
            growth_bytes: at_peak.saturating_sub(before),
            heap_bytes: heap.saturating_sub(heap_before),
            mapped_bytes: mapped.saturating_sub(mapped_before),
        })
    }

    /// How much of the growth is explained at most.
    pub fn explained_bytes(&self) -> u64 {
        let seen = self.heap_bytes.saturating_add(self.mapped_bytes);
        seen.min(self.growth_bytes)
    }

    /// What is left.
    pub fn rest_bytes(&self) -> u64 {
        self.growth_bytes - self.explained_bytes()
    }

    /// The share that is explained at most, 100 where nothing grew.
    pub fn percent(&self) -> f64 {
        match self.growth_bytes {
            0 => 100.0,
            growth => self.explained_bytes() as f64 * 100.0 / growth as f64,
        }
    }

    /// The same in whole percents, never rounded up.
    pub fn whole_percent(&self) -> u64 {
        let explained = u128::from(self.explained_bytes()) * 100;
        match self.growth_bytes {
            0 => 100,
            growth => (explained / u128::from(growth)) as u64,
        }
    }

    /// Whether it grew by so much that this is worth a word.
    pub fn is_told(&self) -> bool {
        self.growth_bytes >= Self::LEAST_GROWTH
    }

    /// Whether most of it is not explained.
    pub fn is_low(&self) -> bool {
        self.is_told() && self.explained_bytes() < self.growth_bytes / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rss::{FirstReading, Unread, Why};

    const MIB: u64 = 1 << 20;

    fn grown_to(mib: u64, heap_mib: u64) -> Summary {
        let mut summary = Summary {
            rss_peak_bytes: mib * MIB,
            own_rss_bytes: 3 * MIB,
            first_reading: Some(FirstReading {
                kb: 4 * 1024,
                own_kb: 1024,
                live_usable_bytes: MIB,
                ..FirstReading::default()
            }),
            ..Summary::default()
        };
        summary.rss_peak.live_usable_bytes = heap_mib * MIB;
        summary
    }

    #[test]
    fn growth_is_without_the_recorders_own() {
        let mut summary = grown_to(106, 91);
        summary.rss_peak_mapped_bytes = 6 * MIB;
        let coverage = Coverage::of(&summary, MIB).expect("one");
        assert_eq!(coverage.growth_bytes, 100 * MIB);
        assert_eq!(
            (coverage.heap_bytes, coverage.mapped_bytes),
            (90 * MIB, 5 * MIB)
        );
        assert_eq!(coverage.explained_bytes(), 95 * MIB);
        assert_eq!((coverage.percent(), coverage.rest_bytes()), (95.0, 5 * MIB));
        assert!(coverage.is_told() && !coverage.is_low());
    }

    /// What was never touched explains no more than there is.
    #[test]
    fn no_more_than_all_is_explained() {
        let coverage = Coverage::of(&grown_to(106, 900), 0).expect("one");
        assert_eq!((coverage.percent(), coverage.rest_bytes()), (100.0, 0));
    }

    #[test]
    fn below_half_is_low_and_small_growth_is_not_told() {
        let of = |mib, heap| Coverage::of(&grown_to(mib, heap), 0).expect("one");
        assert!(of(106, 50).is_low());
        assert!(!of(106, 51).is_low());
        assert!(!of(9, 1).is_told() && !of(9, 1).is_low());
        assert_eq!(of(5, 1).percent(), 100.0);
    }

    #[test]
    fn lost_events_leave_it_open() {
        let mut summary = grown_to(106, 50);
        summary.lost_events = 1;
        assert_eq!(Coverage::of(&summary, 0), None);
    }

    /// How much it grew by is not known where nobody looked.
    #[test]
    fn an_unread_peak_leaves_it_open() {
        let mut summary = grown_to(106, 150);
        let mut unread = Unread {
            why: Why::NoEnd,
            since_tick: 3,
            events: 1,
            is_higher: false,
        };
        summary.unread = Some(unread);
        assert!(Coverage::of(&summary, 0).is_some());
        unread.is_higher = true;
        summary.unread = Some(unread);
        assert_eq!(Coverage::of(&summary, 0), None);
    }

    /// 98.05 % is not 99 %.
    #[test]
    fn whole_percents_are_not_rounded_up() {
        let of = |growth_bytes, heap_bytes| {
            let coverage = Coverage {
                growth_bytes,
                heap_bytes,
                mapped_bytes: 0,
            };
            coverage.whole_percent()
        };
        assert_eq!([of(1000, 910), of(1000, 911), of(1000, 919)], [91, 91, 91]);
        assert_eq!([of(1000, 0), of(1000, 9), of(0, 0)], [0, 0, 100]);
        assert_eq!([of(u64::MAX, u64::MAX), of(7, 9)], [100, 100]);
    }
}
