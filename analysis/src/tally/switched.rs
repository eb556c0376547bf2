//! When recording went on or off.

use memlog_format::switch::{By, Switch};

use super::Tally;
use crate::counts::Held;
use crate::totals::At;

/// It went on, or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    /// When.
    pub tick: u64,
    /// Whether events were recorded from then on.
    pub on: bool,
    /// Who did it.
    pub by: By,
    /// What was live when it last went off, and is not followed any further.
    pub forgotten: Held,
}

impl Tally {
    /// Recording went on or off.
    #[cold]
    pub fn switched(&mut self, at: At, switch: &Switch) {
        self.come_to(at);
        let forgotten = match switch.on {
            true => self.forget(at),
            false => Held::default(),
        };
        self.switches.push(Switched {
            tick: self.heap.tick,
            on: switch.on,
            by: switch.by,
            forgotten,
        });
    }

    /// What became of the blocks of before nobody saw. They are no more of the heap, and
    /// no releases.
    fn forget(&mut self, at: At) -> Held {
        // Of its own, or what is live after the last event would be nothing.
        self.heap.event += 1;
        let mut forgotten = Held::default();
        let mut all: Vec<_> = self.blocks.iter().collect();
        all.sort_unstable_by_key(|(address, _)| *address);
        for (address, block) in &all {
            self.blocks.remove(*address);
            self.leave(at.stream, block);
            forgotten.bytes = forgotten.bytes.saturating_add(block.size);
            forgotten.blocks += 1;
        }
        self.regions.forget();
        self.inherited.clear();
        self.unfinished.clear();
        // What was live then is no part of what is read from here on.
        self.rss.open(&self.heap);
        self.holders.mark_candidate();
        self.regions.read(false);
        forgotten
    }

    /// Whether recording is off now.
    pub(super) fn is_off(&self) -> bool {
        self.switches.last().is_some_and(|last| !last.on)
    }

    /// When recording went on or off.
    pub fn switches(&self) -> &[Switched] {
        &self.switches
    }

    /// What is not followed any further, of all pauses.
    pub fn forgotten(&self) -> Held {
        let each = self.switches.iter().map(|switch| switch.forgotten);
        each.fold(Held::default(), Held::plus)
    }

    /// The same of what is inherited.
    pub fn inherit_forget(&mut self) {
        let all: Vec<_> = self.blocks.iter().map(|(address, _)| address).collect();
        for address in all {
            self.blocks.remove(address);
        }
    }
}
