//! How much the program had mapped itself over time, one step a tick: the
//! RSS peak lies in an interval that is known only when the log is through.

use memlog_analysis::{Bracket, Mapped};

#[derive(Clone, Copy)]
struct Step {
    tick: u64,
    /// The most within the tick.
    most_bytes: u64,
    /// At its end.
    last_bytes: u64,
    /// The same of what could be touched.
    open: [u64; 2],
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
        let bytes = mapped.live_bytes;
        let open = bytes.saturating_sub(mapped.reserved_bytes);
        match self.steps.last_mut() {
            // Between streams a tick may come late; it counts for the newest.
            Some(step) if tick <= step.tick => {
                step.most_bytes = step.most_bytes.max(bytes);
                step.last_bytes = bytes;
                step.open = [step.open[0].max(open), open];
                step.reserved_bytes = mapped.reserved_bytes;
            }
            _ => self.steps.push(Step {
                tick,
                most_bytes: bytes,
                last_bytes: bytes,
                open: [open; 2],
                reserved_bytes: mapped.reserved_bytes,
            }),
        }
    }

    /// What could be touched at the end of a tick.
    pub fn open_at(&self, tick: u64) -> u64 {
        self.last_at(tick).map_or(0, |step| step.open[1])
    }

    /// What was mapped without any access at the end of a tick.
    pub fn reserved_at(&self, tick: u64) -> u64 {
        self.last_at(tick).map_or(0, |step| step.reserved_bytes)
    }

    fn last_at(&self, tick: u64) -> Option<&Step> {
        let after = self.steps.partition_point(|step| step.tick <= tick);
        self.steps[..after].last()
    }

    /// The most that was mapped at a time between two readings.
    pub fn most_within(&self, bracket: &Bracket) -> u64 {
        self.most_of(bracket, |step| [step.most_bytes, step.last_bytes])
    }

    /// The same of what could be touched.
    pub fn most_open_within(&self, bracket: &Bracket) -> u64 {
        self.most_of(bracket, |step| step.open)
    }

    /// Of two figures of a step, the most within it and at its end.
    fn most_of(&self, bracket: &Bracket, figures: impl Fn(&Step) -> [u64; 2]) -> u64 {
        let first = self
            .steps
            .partition_point(|step| step.tick < bracket.from_tick);
        let (before, rest) = self.steps.split_at(first);
        let within = rest.iter();
        let within = within.take_while(|step| step.tick <= bracket.to_tick);
        let most = within.map(|step| figures(step)[0]);
        most.chain(before.last().map(|step| figures(step)[1]))
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_what_was_mapped_before_and_within() {
        let mut history = MappedHistory::default();
        for (tick, bytes) in [(1, 10), (3, 50), (3, 20), (2, 30), (9, 90)] {
            let mapped = Mapped {
                live_bytes: bytes,
                ..Mapped::default()
            };
            history.at(tick, &mapped);
        }
        let most = |from_tick, to_tick| {
            history.most_within(&Bracket {
                from_tick,
                to_tick,
                ..Bracket::default()
            })
        };
        assert_eq!(most(0, 0), 0);
        assert_eq!(most(0, 2), 10);
        assert_eq!(most(2, 2), 10);
        assert_eq!(most(3, 3), 50);
        assert_eq!(most(4, 8), 30);
        assert_eq!(most(4, 9), 90);
    }
}
