//! How much the program had mapped itself over time, one step a tick.

use memlog_analysis::Mapped;

#[derive(Clone, Copy)]
struct Step {
    tick: u64,
    /// At its end, what could be touched.
    open_bytes: u64,
    /// At its end, what was mapped without any access.
    reserved_bytes: u64,
    /// At its end.
    areas: Areas,
}

/// Where memory was mapped, by whomever; nothing where nobody was seen to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// How far the data segment had grown.
    pub arena_bytes: Option<u64>,
    /// Mapped elsewhere.
    pub mmap_bytes: Option<u64>,
}

/// Bytes mapped by the program itself, by time.
#[derive(Default)]
pub struct MappedHistory {
    steps: Vec<Step>,
}

impl MappedHistory {
    /// From this tick on so much is mapped.
    pub fn at(&mut self, tick: u64, mapped: &Mapped) {
        let reserved_bytes = mapped.reserved_bytes;
        let step = Step {
            tick,
            open_bytes: mapped.live_bytes.saturating_sub(reserved_bytes),
            reserved_bytes,
            areas: self.areas(mapped),
        };
        match self.steps.last_mut() {
            // Between streams a tick may come late; it counts for the newest.
            Some(last) if tick <= last.tick => {
                *last = Step {
                    tick: last.tick,
                    ..step
                };
            }
            _ => self.steps.push(step),
        }
    }

    /// A kind that was seen once is known from then on, if only to be nothing.
    fn areas(&self, mapped: &Mapped) -> Areas {
        let before = self
            .steps
            .last()
            .map_or(Areas::default(), |step| step.areas);
        let all = mapped.live_bytes.saturating_add(mapped.backing_bytes);
        let elsewhere = all.saturating_sub(mapped.arena_bytes);
        let seen =
            |bytes: u64, before: Option<u64>| (bytes > 0 || before.is_some()).then_some(bytes);
        Areas {
            arena_bytes: seen(mapped.arena_bytes, before.arena_bytes),
            mmap_bytes: seen(elsewhere, before.mmap_bytes),
        }
    }

    /// What was mapped at the end of a tick.
    pub fn areas_at(&self, tick: u64) -> Areas {
        self.last_at(tick)
            .map_or(Areas::default(), |step| step.areas)
    }

    /// What could be touched at the end of a tick.
    pub fn open_at(&self, tick: u64) -> u64 {
        self.last_at(tick).map_or(0, |step| step.open_bytes)
    }

    /// What was mapped without any access at the end of a tick.
    pub fn reserved_at(&self, tick: u64) -> u64 {
        self.last_at(tick).map_or(0, |step| step.reserved_bytes)
    }

    fn last_at(&self, tick: u64) -> Option<&Step> {
        let after = self.steps.partition_point(|step| step.tick <= tick);
        self.steps[..after].last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_mapped_is_known_at_each_tick() {
        let mut history = MappedHistory::default();
        for (tick, bytes) in [(1, 10), (3, 50), (3, 20), (2, 30), (9, 90)] {
            let mapped = Mapped {
                live_bytes: bytes,
                backing_bytes: 4,
                arena_bytes: if tick < 9 { 0 } else { 60 },
                ..Mapped::default()
            };
            history.at(tick, &mapped);
        }
        let open = [0, 2, 3, 8, 9].map(|tick| history.open_at(tick));
        assert_eq!(open, [0, 10, 30, 30, 90]);
        assert_eq!(history.areas_at(0), Areas::default());
        assert_eq!(history.areas_at(4).mmap_bytes, Some(34));
        assert_eq!(history.areas_at(4).arena_bytes, None);
        assert_eq!(history.areas_at(9).arena_bytes, Some(60));
        assert_eq!(history.areas_at(9).mmap_bytes, Some(34));
    }
}
