//! How much the program had mapped itself over time, one step a tick: the
//! RSS peak lies in an interval that is known only when the log is through.

use memlog_analysis::Bracket;

#[derive(Clone, Copy)]
struct Step {
    tick: u64,
    /// The most within the tick.
    most_bytes: u64,
    /// At its end.
    last_bytes: u64,
}

/// Bytes mapped by the program itself, by time.
#[derive(Default)]
pub struct MappedHistory {
    steps: Vec<Step>,
}

impl MappedHistory {
    /// From this tick on so many bytes are mapped.
    pub fn at(&mut self, tick: u64, bytes: u64) {
        match self.steps.last_mut() {
            // Between streams a tick may come late; it counts for the newest.
            Some(step) if tick <= step.tick => {
                step.most_bytes = step.most_bytes.max(bytes);
                step.last_bytes = bytes;
            }
            _ => self.steps.push(Step {
                tick,
                most_bytes: bytes,
                last_bytes: bytes,
            }),
        }
    }

    /// The most that was mapped at a time between two readings.
    pub fn most_within(&self, bracket: &Bracket) -> u64 {
        let first = self
            .steps
            .partition_point(|step| step.tick < bracket.from_tick);
        let (before, rest) = self.steps.split_at(first);
        let within = rest.iter();
        let within = within.take_while(|step| step.tick <= bracket.to_tick);
        let most = within.map(|step| step.most_bytes);
        most.chain(before.last().map(|step| step.last_bytes))
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
            history.at(tick, bytes);
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
