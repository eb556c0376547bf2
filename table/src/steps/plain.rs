//! Steps that are few: found at once, for 16 bytes each.

use super::Step;
use super::index::Index;

#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub(super) events: Vec<u64>,
    pub(super) ticks: Vec<u64>,
    index: Index,
}

impl Plain {
    pub(super) fn new(steps: impl Iterator<Item = Step>) -> Self {
        let (mut events, mut ticks) = (Vec::new(), Vec::new());
        for Step { event, tick } in steps {
            events.push(event);
            ticks.push(tick);
        }
        let index = Index::new(events.len(), |at| events[at]);
        Self {
            events,
            ticks,
            index,
        }
    }

    #[inline]
    pub(super) fn step_of(&self, event: u64) -> usize {
        let (first, end) = self.index.near(event, self.events.len());
        let near = self.events.get(first + 1..end).unwrap_or(&[]);
        first + near.partition_point(|&next| next <= event)
    }

    #[inline]
    pub(super) fn tick_of(&self, event: u64) -> u64 {
        match self.events.first() {
            Some(&first) if event >= first => self.ticks[self.step_of(event)],
            _ => 0,
        }
    }

    pub(super) fn grain(&self) -> Option<u64> {
        let apart = self.ticks.windows(2).map(|pair| pair[1] - pair[0]);
        apart.filter(|&ticks| ticks > 0).min()
    }

    /// The first event after a tick.
    pub(super) fn after(&self, tick: u64) -> Option<u64> {
        let after = self.ticks.partition_point(|&other| other <= tick);
        self.events.get(after).copied()
    }
}
