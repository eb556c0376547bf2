//! What is known of the events so far.

use super::Tally;
use crate::counts::{Held, Moment};
use crate::failed::Failures;
use crate::history::History;
use crate::ledger::{Mapped, MappedMoments};
use crate::live::Blocks;
use crate::stacks::StackTable;
use crate::threads::Threads;
use crate::totals::{Anomalies, PeakFigures, Totals};

impl Tally {
    /// Allocations and releases of the log so far.
    pub fn events(&self) -> u64 {
        self.heap.event
    }

    /// What is live so far.
    #[inline]
    pub fn live(&self) -> Held {
        Held {
            bytes: self.heap.bytes,
            blocks: self.heap.blocks,
        }
    }

    /// The second ledger so far.
    pub fn mapped(&self) -> &Mapped {
        &self.regions.mapped
    }

    /// The heap and resident memory over time, once the log is through.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The threads so far.
    pub fn threads(&self) -> &Threads {
        &self.named
    }

    /// Calls that got no memory so far.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The live set so far.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// All stacks so far.
    pub fn stacks(&self) -> &StackTable {
        &self.stacks
    }

    /// These are more of them: those that are known have the same places.
    pub fn know_stacks(&mut self, stacks: StackTable) {
        self.stacks = stacks;
    }

    /// Takes all stacks out, for a later reading of the same log.
    pub fn take_stacks(&mut self) -> StackTable {
        std::mem::take(&mut self.stacks)
    }

    /// Sums so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// What should not be, so far: without what is known only in the end.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// The largest heap so far.
    pub fn heap_peak(&self) -> &PeakFigures {
        &self.heap_peak
    }

    /// When the last event was.
    pub fn tick(&self) -> u64 {
        self.heap.tick
    }

    /// What each stack held at a moment, as an index into the stack table;
    /// only [`Moment::End`] means something before the log is through.
    pub fn held(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        self.holders.stacks.held(self.known(moment))
    }

    /// The same by the thread that asked for it.
    pub fn held_by_thread(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        let held = self.holders.by_owner(self.known(moment));
        self.owners.by_thread(held).into_iter()
    }

    /// The same by the scopes that the thread was in, with what stands for none.
    pub fn held_by_scope(&self, moment: Moment) -> impl Iterator<Item = (&[u8], Held)> {
        let held = self.holders.by_owner(self.known(moment));
        let list = self.owners.scopes.list();
        let sums = self.owners.by_scope(held).into_iter();
        sums.map(|(scope, held)| (list[usize::from(scope)].as_slice(), held))
    }

    /// How many scopes the program told of so far.
    pub fn scopes(&self) -> usize {
        self.owners.scopes.count()
    }

    /// By stack what the program had mapped itself and could touch, which is
    /// in no heap; about the peak of resident memory the most of it.
    pub fn held_mapped(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        self.regions.held.held(self.known(moment))
    }

    /// After how many entries of the second ledger its moments are.
    pub fn mapped_moments(&self) -> MappedMoments {
        let moments = self.regions.moments();
        match self.known(Moment::RssPeak) {
            Moment::RssPeak => moments,
            _ => MappedMoments {
                rss_peak: moments.heap_peak,
                ..moments
            },
        }
    }

    /// A peak that cannot be told any more is the highest moment that can.
    fn known(&self, moment: Moment) -> Moment {
        let is_before = self.window.is_some_and(|window| window.is_rss_peak_before);
        match moment {
            Moment::RssPeak if is_before => Moment::HeapPeak,
            moment => moment,
        }
    }

    /// All that each stack ever allocated.
    pub fn allocated(&self) -> impl Iterator<Item = (u32, Held)> {
        self.holders.stacks.totals()
    }

    /// What of that went before its thread asked for another.
    pub fn temporaries(&self) -> impl Iterator<Item = (u32, Held)> {
        self.holders.stacks.temporaries()
    }
}
