//! What the program mapped: the second ledger, apart from the heap.

use memlog_format::ext::{Ledger, Mapping};

use crate::areas::{Area, Areas, Change};
use crate::reached::Reached;
use crate::sparse::Sparse;

/// Figures of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Calls that the program made itself.
    pub calls: u64,
    /// Bytes that it mapped in all.
    pub total_bytes: u64,
    /// Bytes mapped now.
    pub live_bytes: u64,
    /// The most that were mapped at one time.
    pub peak_bytes: u64,
    /// Calls that the allocator made to serve others.
    pub backing_calls: u64,
    /// Bytes that the allocator has mapped now.
    pub backing_bytes: u64,
    /// How far the data segment has grown.
    pub arena_bytes: u64,
    /// Of the bytes that the program has mapped now those without any access:
    /// reserved, until somebody opens them unseen.
    pub reserved_bytes: u64,
}

/// The mapped regions, and who mapped them: of the allocator's nobody asks.
#[derive(Default)]
pub(crate) struct Regions {
    areas: Areas<u32>,
    first_break: Option<u64>,
    pub mapped: Mapped,
    /// By stack: what the program mapped itself and could touch.
    pub held: Sparse,
    /// The most of that since resident memory was read.
    most_open_bytes: u64,
    /// Entries so far, and how many there were at the moments.
    entries: u64,
    candidate: u64,
    moments: MappedMoments,
    /// Where anything was ever mapped.
    pub(crate) reached: Reached,
}

/// After how many entries of the ledger its moments are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedMoments {
    /// The most mapped about the peak of resident memory.
    pub rss_peak: u64,
    /// The peak of the heap.
    pub heap_peak: u64,
}

impl Regions {
    /// `stack` is who did it, by a thread that has this stream.
    pub(crate) fn take(&mut self, stream: u32, entry: &Ledger, stack: u32) {
        self.entries += 1;
        // The first half of a call whose other half is counted.
        let calls = u64::from(!matches!(entry.mapping, Mapping::Leave { .. }));
        if entry.backing {
            self.mapped.backing_calls += calls;
        } else {
            self.mapped.calls += calls;
        }
        if let Mapping::Break { old_end, end } = entry.mapping {
            let first = *self.first_break.get_or_insert(old_end);
            self.mapped.arena_bytes = end.saturating_sub(first);
        }
        let Self {
            areas,
            mapped,
            held,
            reached,
            ..
        } = self;
        areas.take(stream, entry, stack, &mut |change| {
            if let Change::Came { start, area } = &change {
                reached.add(*start, area.end);
            }
            count(mapped, held, change);
        });
        self.mapped.peak_bytes = self.mapped.peak_bytes.max(self.mapped.live_bytes);
        let open_bytes = self.open_bytes();
        if open_bytes > self.most_open_bytes {
            self.most_open_bytes = open_bytes;
            self.mark_candidate();
        }
    }

    /// What of it is still mapped nobody knows.
    pub(crate) fn forget(&mut self) {
        self.entries += 1;
        let Self {
            areas,
            mapped,
            held,
            ..
        } = self;
        areas.clear(&mut |change| count(mapped, held, change));
    }

    fn open_bytes(&self) -> u64 {
        let mapped = &self.mapped;
        mapped.live_bytes.saturating_sub(mapped.reserved_bytes)
    }

    /// Resident memory was read: whether what was mapped before is to be kept.
    pub(crate) fn read(&mut self, keeps: bool) {
        if keeps {
            self.held.counts.keep_candidate();
            self.moments.rss_peak = std::mem::replace(&mut self.candidate, self.entries);
        } else {
            self.mark_candidate();
        }
        self.most_open_bytes = self.open_bytes();
    }

    fn mark_candidate(&mut self) {
        self.held.counts.mark_candidate();
        self.candidate = self.entries;
    }

    /// Now is the peak of the heap.
    pub(crate) fn mark_heap_peak(&mut self) {
        self.held.counts.mark_heap_peak();
        self.moments.heap_peak = self.entries;
    }

    pub(crate) fn moments(&self) -> MappedMoments {
        self.moments
    }
}

fn count(mapped: &mut Mapped, held: &mut Sparse, change: Change<u32>) {
    match change {
        Change::Came { start, area } => one(mapped, held, area.end - start, &area, true),
        Change::Went {
            start,
            area,
            from,
            to,
        } => {
            one(mapped, held, area.end - start, &area, false);
            for rest in [from - start, area.end - to] {
                if rest > 0 {
                    one(mapped, held, rest, &area, true);
                    let again = if area.backing { 0 } else { rest };
                    mapped.total_bytes = mapped.total_bytes.saturating_sub(again);
                }
            }
        }
    }
}

fn one(mapped: &mut Mapped, held: &mut Sparse, bytes: u64, area: &Area<u32>, comes: bool) {
    let change = |sum: &mut u64| {
        *sum = match comes {
            true => sum.saturating_add(bytes),
            false => sum.saturating_sub(bytes),
        };
    };
    if area.backing {
        return change(&mut mapped.backing_bytes);
    }
    match (area.is_reserved(), comes) {
        (true, _) => change(&mut mapped.reserved_bytes),
        (false, true) => held.add(area.of, bytes),
        (false, false) => held.subtract(area.of, bytes),
    }
    change(&mut mapped.live_bytes);
    if comes {
        mapped.total_bytes = mapped.total_bytes.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Moment;
    use memlog_format::table::StackId;

    fn entry(mapping: Mapping, backing: bool) -> Ledger {
        Ledger {
            mapping,
            backing,
            order: 0,
            stack: StackId::NONE,
        }
    }

    const STACK: u32 = 9;

    fn take(regions: &mut Regions, entry: Ledger) {
        regions.take(0, &entry, STACK);
    }

    fn map(address: u64, length: u64) -> Mapping {
        Mapping::Map {
            address,
            length,
            prot: 3,
            flags: 2,
        }
    }

    #[test]
    fn parts_of_mappings_go() {
        let mut regions = Regions::default();
        take(&mut regions, entry(map(0x10000, 0x10000), false));
        let hole = Mapping::Unmap {
            address: 0x14000,
            length: 0x1000,
        };
        take(&mut regions, entry(hole, false));
        assert_eq!(regions.mapped.live_bytes, 0xf000);
        take(&mut regions, entry(map(0x1f000, 0x2000), false)); // over the end
        assert_eq!(regions.mapped.live_bytes, 0x10000);
        let all = Mapping::Unmap {
            address: 0,
            length: u64::MAX,
        };
        take(&mut regions, entry(all, false));
        let mapped = regions.mapped;
        assert_eq!((mapped.live_bytes, mapped.peak_bytes), (0, 0x10000));
        assert_eq!((mapped.total_bytes, mapped.calls), (0x12000, 4));
    }

    #[test]
    fn a_range_left_may_be_anothers_before_the_move_is_told() {
        let mut regions = Regions::default();
        take(&mut regions, entry(map(0x10000, 0x1000), false));
        let [leave, nothing] = [0x1000, 0].map(|length| Mapping::Leave {
            address: 0x10000,
            length,
        });
        let arrive = Mapping::Remap {
            old_address: 0x10000,
            old_length: 0,
            address: 0x50000,
            length: 0x3000,
        };
        for mapping in [leave, map(0x10000, 0x2000), arrive, nothing] {
            take(&mut regions, entry(mapping, false));
        }
        let mapped = regions.mapped;
        assert_eq!((mapped.live_bytes, mapped.calls), (0x5000, 3));
        assert_eq!((mapped.peak_bytes, mapped.total_bytes), (0x5000, 0x6000));
    }

    #[test]
    fn what_cannot_be_touched_is_reserved_until_it_is_mapped_again() {
        let mut regions = Regions::default();
        let reserve = Mapping::Map {
            address: 0x10000,
            length: 0x10000,
            prot: 0,
            flags: 2,
        };
        take(&mut regions, entry(reserve, false));
        assert_eq!(regions.mapped.reserved_bytes, 0x10000);
        take(&mut regions, entry(map(0x12000, 0x1000), false));
        let mapped = regions.mapped;
        assert_eq!(
            (mapped.reserved_bytes, mapped.live_bytes),
            (0xf000, 0x10000)
        );
        let moved = Mapping::Remap {
            old_address: 0x10000,
            old_length: 0x2000,
            address: 0x50000,
            length: 0x4000,
        };
        take(&mut regions, entry(moved, false));
        assert_eq!(regions.mapped.reserved_bytes, 0x11000);
    }

    fn held(regions: &Regions, moment: Moment) -> Vec<(u32, u64)> {
        let held = regions.held.held(moment);
        held.map(|(stack, held)| (stack, held.bytes)).collect()
    }

    /// Between two readings the most counts, and a part that goes leaves the
    /// rest with who mapped it.
    #[test]
    fn who_mapped_what_is_known_at_each_moment() {
        let mut regions = Regions::default();
        let backed = entry(map(0x90000, 0x5000), true);
        regions.take(0, &backed, 4);
        regions.take(0, &entry(map(0x10000, 0x4000), false), 5);
        regions.take(0, &entry(map(0x20000, 0x2000), false), 6);
        let unmap = |address, length| entry(Mapping::Unmap { address, length }, false);
        regions.take(0, &unmap(0x11000, 0x1000), 7);
        regions.read(true);
        let reserve = Mapping::Map {
            address: 0x30000,
            length: 0x10000,
            prot: 0,
            flags: 2,
        };
        regions.take(0, &entry(reserve, false), 8);
        regions.take(0, &unmap(0x20000, 0x2000), 7);
        regions.read(false);
        assert_eq!(held(&regions, Moment::RssPeak), [(5, 0x4000), (6, 0x2000)]);
        assert_eq!(held(&regions, Moment::End), [(5, 0x3000)]);
    }

    /// Parts of mappings go, are covered, moved and opened in any order.
    #[test]
    fn what_stacks_have_mapped_is_what_can_be_touched() {
        let mut regions = Regions::default();
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for step in 0..3000 {
            let (address, length) = (random(64) << 12, (1 + random(9)) << 12);
            let mapping = match random(4) {
                0 => Mapping::Unmap { address, length },
                1 => Mapping::Remap {
                    old_address: random(64) << 12,
                    old_length: length,
                    address,
                    length,
                },
                _ => Mapping::Map {
                    address,
                    length,
                    prot: random(3) as u32,
                    flags: 2,
                },
            };
            let backing = random(5) == 0;
            regions.take(0, &entry(mapping, backing), 9 + random(6) as u32);
            let held = held(&regions, Moment::End).into_iter();
            let sum: u64 = held.map(|(_, bytes)| bytes).sum();
            let mapped = regions.mapped;
            assert_eq!(sum, mapped.live_bytes - mapped.reserved_bytes, "{step}");
        }
    }

    #[test]
    fn the_allocators_own_calls_stand_apart() {
        let mut regions = Regions::default();
        let grow = Mapping::Break {
            old_end: 0x5000,
            end: 0x9000,
        };
        take(&mut regions, entry(grow, true));
        assert_eq!(regions.mapped.arena_bytes, 0x4000);
        assert_eq!(regions.mapped.backing_bytes, 0x4000);
        assert_eq!(regions.mapped.live_bytes, 0);
    }
}
