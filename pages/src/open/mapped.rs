//! How much the program had mapped itself over time, one step a tick.

use memlog_analysis::Mapped;

#[derive(Clone, Copy)]
struct Step {
    tick: u64,
    /// At its end, what could be touched.
    open_bytes: u64,
    /// At its end, what was mapped without any access.
    reserved_bytes: u64,
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
                ..Mapped::default()
            };
            history.at(tick, &mapped);
        }
        let open = [0, 2, 3, 8, 9].map(|tick| history.open_at(tick));
        assert_eq!(open, [0, 10, 30, 30, 90]);
    }
}
