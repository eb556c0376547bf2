//! Live memory by who asked for it: by stack, and by thread.

use crate::counts::{Counts, Held, Moment};
use crate::sparse::Sparse;

/// Both, for the same moments.
#[derive(Default)]
pub(crate) struct Holders {
    /// By the stack's index.
    pub(crate) stacks: Counts,
    /// By the thread's id.
    threads: Sparse,
}

impl Holders {
    /// A block came.
    #[inline]
    pub(crate) fn add(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.add(stack, bytes);
        self.threads.add(tid, bytes);
    }

    /// A block went, for which this thread had asked.
    #[inline]
    pub(crate) fn subtract(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.subtract(stack, bytes);
        self.threads.subtract(tid, bytes);
    }

    /// A block that was there before the log began.
    pub(crate) fn inherit(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.inherit(stack, bytes);
        self.threads.inherit(tid, bytes);
    }

    /// Now is the heap peak.
    #[inline]
    pub(crate) fn mark_heap_peak(&mut self) {
        self.stacks.mark_heap_peak();
        self.threads.counts.mark_heap_peak();
    }

    /// Now is the candidate for the peak of resident memory.
    #[inline]
    pub(crate) fn mark_candidate(&mut self) {
        self.stacks.mark_candidate();
        self.threads.counts.mark_candidate();
    }

    /// The candidate is kept, and now is the next one.
    pub(crate) fn keep_candidate(&mut self) {
        self.stacks.keep_candidate();
        self.threads.counts.keep_candidate();
    }

    /// Now is the chosen time.
    pub(crate) fn mark_chosen(&mut self) {
        self.stacks.mark_chosen();
        self.threads.counts.mark_chosen();
    }

    /// What each thread had asked for of what was live at a moment.
    pub(crate) fn by_thread(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        self.threads.held(moment)
    }
}
