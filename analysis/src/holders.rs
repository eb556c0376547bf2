//! Live memory by who asked for it: by stack, and by thread and scope.

use crate::counts::{Counts, Held, Moment};

/// Both, for the same moments.
#[derive(Default)]
pub(crate) struct Holders {
    /// By the stack's index.
    pub(crate) stacks: Counts,
    /// By the place of the thread in its scope.
    owners: Counts,
}

impl Holders {
    /// A block came.
    #[inline]
    pub(crate) fn add(&mut self, stack: u32, owner: u32, bytes: u64) {
        self.stacks.add(stack, bytes);
        self.owners.add(owner, bytes);
    }

    /// A block went, for which this owner had asked.
    #[inline]
    pub(crate) fn subtract(&mut self, stack: u32, owner: u32, bytes: u64) {
        self.stacks.subtract(stack, bytes);
        self.owners.subtract(owner, bytes);
    }

    /// A block that was there before the log began.
    pub(crate) fn inherit(&mut self, stack: u32, owner: u32, bytes: u64) {
        self.stacks.inherit(stack, bytes);
        self.owners.inherit(owner, bytes);
    }

    /// Now is the heap peak.
    #[inline]
    pub(crate) fn mark_heap_peak(&mut self) {
        self.stacks.mark_heap_peak();
        self.owners.mark_heap_peak();
    }

    /// Now is the candidate for the peak of resident memory.
    #[inline]
    pub(crate) fn mark_candidate(&mut self) {
        self.stacks.mark_candidate();
        self.owners.mark_candidate();
    }

    /// The candidate is kept, and now is the next one.
    pub(crate) fn keep_candidate(&mut self) {
        self.stacks.keep_candidate();
        self.owners.keep_candidate();
    }

    /// Now is the chosen time.
    pub(crate) fn mark_chosen(&mut self) {
        self.stacks.mark_chosen();
        self.owners.mark_chosen();
    }

    /// What each owner had asked for of what was live at a moment.
    pub(crate) fn by_owner(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        self.owners.held(moment)
    }
}
