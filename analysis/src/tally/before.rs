//! What there was before the first event of a log: what a parent left to a forked child, and
//! what overwritten events left live.

use memlog_format::event::{Alloc, Release};
use memlog_format::live::{LiveEntry, Sums};

use super::Tally;
use crate::flight_window::FlightWindow;
use crate::live::Block;
use crate::stacks::Tables;
use crate::totals::At;

impl Tally {
    /// Before the own log of a forked process: an allocation of its parent.
    pub fn inherit_alloc(&mut self, at: At, alloc: &Alloc, tables: &impl Tables) {
        let stack = self.stacks.stack(alloc.stack, tables);
        let owner = self.owners.at(at);
        let block = Block::new(alloc.size, alloc.usable, stack, 0, owner, alloc.api);
        self.blocks.insert(alloc.address, block);
    }

    /// The same of a block that the parent's overwritten events left live.
    pub fn inherit_entry(&mut self, entry: &LiveEntry, tables: &impl Tables) {
        let block = self.block_of(entry, tables);
        self.blocks.insert(entry.address, block);
    }

    fn block_of(&mut self, entry: &LiveEntry, tables: &impl Tables) -> Block {
        let stack = self.stacks.stack(entry.stack, tables);
        let tick = u64::from(entry.tick);
        let owner = self.owners.before(entry.tid);
        Block::new(entry.size, entry.usable, stack, tick, owner, entry.api)
    }

    /// Before the own log of a forked process: a release of its parent.
    pub fn inherit_release(&mut self, release: &Release) {
        self.blocks.remove(release.address);
    }

    /// The next log begins: stack ids are of its tables from now on.
    pub fn change_log(&mut self) {
        self.stacks.change_log();
        self.owners.scopes.leave_all();
    }

    /// The own log begins; what is live now is inherited.
    pub fn start(&mut self) {
        self.change_log();
        for (address, block) in self.blocks.iter() {
            self.holders.inherit(block.stack, block.owner, block.size);
            self.heap.bytes = self.heap.bytes.saturating_add(block.size);
            self.heap.usable = self.heap.usable.saturating_add(block.usable());
            self.heap.blocks += 1;
            self.inherited.insert(address);
        }
        self.totals.inherited_blocks = self.heap.blocks;
        self.totals.inherited_bytes = self.heap.bytes;
        self.history.heap(0, self.heap.bytes);
        self.rss.open(&self.heap);
        self.holders.mark_candidate();
        self.mark_heap_peak();
    }

    /// The log overwrote its oldest events: these are their sums. What they
    /// left live is told by [`Tally::seed`], before the first event.
    pub fn resume(&mut self, sums: &Sums, bound_bytes: u64) {
        self.window = Some(FlightWindow::new(sums, bound_bytes));
        // Whatever a damaged log says, there is room to count on.
        let counted = |sum: u64| sum.min(u64::MAX / 4);
        let totals = &mut self.totals;
        totals.allocations = counted(sums.allocations);
        totals.bytes = counted(sums.bytes);
        totals.usable_bytes = counted(sums.usable_bytes);
        totals.releases = counted(sums.releases);
        totals.temporary = counted(sums.temporary);
    }

    /// A block that overwritten events left live.
    pub fn seed(&mut self, entry: &LiveEntry, tables: &impl Tables) {
        let block = self.block_of(entry, tables);
        self.blocks.insert(entry.address, block);
        self.holders.inherit(block.stack, block.owner, block.size);
        self.heap.bytes = self.heap.bytes.saturating_add(entry.size);
        self.heap.usable = self.heap.usable.saturating_add(block.usable());
        self.heap.blocks += 1;
    }

    /// What was overwritten is through, and its events begin.
    pub fn seeded(&mut self) {
        let Some(window) = &self.window else {
            return;
        };
        self.heap.tick = self.heap.tick.max(window.horizon_tick);
        self.rss.resume(window.folded_rss, window.folded_peak_bytes);
        self.history.begin(self.heap.tick);
        self.history.heap(self.heap.tick, self.heap.bytes);
        self.rss.open(&self.heap);
        self.holders.mark_candidate();
        self.mark_heap_peak();
    }
}
