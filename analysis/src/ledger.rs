//! What the program mapped: the second ledger, apart from the heap.

use std::collections::BTreeMap;

use memlog_format::ext::{Ledger, Mapping};

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

#[derive(Clone, Copy)]
struct Region {
    end: u64,
    backing: bool,
    /// Mapped without any access.
    reserved: bool,
    /// Who mapped it; of the allocator's nobody asks.
    stack: u32,
}

impl Region {
    /// The program's own, to be touched.
    fn is_open(&self) -> bool {
        !self.backing && !self.reserved
    }
}

/// The mapped regions by their first byte.
#[derive(Default)]
pub(crate) struct Regions {
    regions: BTreeMap<u64, Region>,
    first_break: Option<u64>,
    pub mapped: Mapped,
    /// By stack: what the program mapped itself and could touch.
    pub held: Sparse,
    /// The most of that since resident memory was read.
    most_open_bytes: u64,
}

impl Regions {
    /// `stack` is who did it.
    pub(crate) fn take(&mut self, entry: &Ledger, stack: u32) {
        let backing = entry.backing;
        let new = Region {
            end: 0,
            backing,
            reserved: false,
            stack,
        };
        // The first half of a call whose other half is counted.
        let calls = u64::from(!matches!(entry.mapping, Mapping::Leave { .. }));
        if backing {
            self.mapped.backing_calls += calls;
        } else {
            self.mapped.calls += calls;
        }
        match entry.mapping {
            Mapping::Map {
                address,
                length,
                prot,
                ..
            } => {
                let reserved = prot == 0;
                self.map(address, length, Region { reserved, ..new });
            }
            Mapping::Unmap { address, length } | Mapping::Leave { address, length } => {
                self.unmap(address, length);
            }
            Mapping::Remap {
                old_address,
                old_length,
                address,
                length,
            } => {
                // Nothing of an old length of 0 goes.
                let moved = self.regions.range(..=old_address).next_back();
                let reserved = moved.is_some_and(|(_, region)| {
                    old_length > 0 && region.end > old_address && region.reserved
                });
                self.unmap(old_address, old_length);
                self.map(address, length, Region { reserved, ..new });
            }
            Mapping::Break { old_end, end } => self.set_break(old_end, end, new),
        }
        self.mapped.peak_bytes = self.mapped.peak_bytes.max(self.mapped.live_bytes);
        let open_bytes = self.open_bytes();
        if open_bytes > self.most_open_bytes {
            self.most_open_bytes = open_bytes;
            self.held.counts.mark_candidate();
        }
    }

    fn open_bytes(&self) -> u64 {
        let mapped = &self.mapped;
        mapped.live_bytes.saturating_sub(mapped.reserved_bytes)
    }

    /// Resident memory was read: whether what was mapped before is to be kept.
    pub(crate) fn read(&mut self, keeps: bool) {
        match keeps {
            true => self.held.counts.keep_candidate(),
            false => self.held.counts.mark_candidate(),
        }
        self.most_open_bytes = self.open_bytes();
    }

    fn set_break(&mut self, old_end: u64, end: u64, new: Region) {
        let first = *self.first_break.get_or_insert(old_end);
        self.mapped.arena_bytes = end.saturating_sub(first);
        if end > old_end {
            self.map(old_end, end - old_end, new);
        } else {
            self.unmap(end, old_end - end);
        }
    }

    fn map(&mut self, start: u64, length: u64, new: Region) {
        self.unmap(start, length);
        let end = start.saturating_add(length);
        if end > start {
            let region = Region { end, ..new };
            self.regions.insert(start, region);
            self.count(end - start, region, true);
        }
    }

    fn unmap(&mut self, start: u64, length: u64) {
        if length == 0 {
            return;
        }
        let end = start.saturating_add(length);
        while let Some((&low, &region)) = self.regions.range(..end).next_back() {
            if region.end <= start {
                return;
            }
            self.regions.remove(&low);
            self.count(region.end - low, region, false);
            for (low, high) in [(low, start), (end, region.end)] {
                if low < high {
                    let region = Region {
                        end: high,
                        ..region
                    };
                    self.regions.insert(low, region);
                    self.count(high - low, region, true);
                    let again = if region.backing { 0 } else { high - low };
                    self.mapped.total_bytes = self.mapped.total_bytes.saturating_sub(again);
                }
            }
            if low < start {
                return;
            }
        }
    }

    fn count(&mut self, bytes: u64, region: Region, comes: bool) {
        let backing = region.backing;
        if region.is_open() {
            match comes {
                true => self.held.add(region.stack, bytes),
                false => self.held.subtract(region.stack, bytes),
            }
        }
        if region.reserved && !backing {
            let reserved = &mut self.mapped.reserved_bytes;
            *reserved = match comes {
                true => reserved.saturating_add(bytes),
                false => reserved.saturating_sub(bytes),
            };
        }
        let live = match backing {
            true => &mut self.mapped.backing_bytes,
            false => &mut self.mapped.live_bytes,
        };
        if comes {
            *live = live.saturating_add(bytes);
            if !backing {
                self.mapped.total_bytes = self.mapped.total_bytes.saturating_add(bytes);
            }
        } else {
            *live = live.saturating_sub(bytes);
        }
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
        regions.take(&entry, STACK);
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
        regions.take(&backed, 4);
        regions.take(&entry(map(0x10000, 0x4000), false), 5);
        regions.take(&entry(map(0x20000, 0x2000), false), 6);
        let unmap = |address, length| entry(Mapping::Unmap { address, length }, false);
        regions.take(&unmap(0x11000, 0x1000), 7);
        regions.read(true);
        let reserve = Mapping::Map {
            address: 0x30000,
            length: 0x10000,
            prot: 0,
            flags: 2,
        };
        regions.take(&entry(reserve, false), 8);
        regions.take(&unmap(0x20000, 0x2000), 7);
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
            regions.take(&entry(mapping, backing), 9 + random(6) as u32);
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
