//! Live memory by who asked for it: by stack, and by thread.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::counts::{Counts, Held, Moment};

/// Both, for the same moments.
#[derive(Default)]
pub(crate) struct Holders {
    /// By the stack's index.
    pub(crate) stacks: Counts,
    threads: Counts,
    tids: Tids,
}

impl Holders {
    /// A block came.
    #[inline]
    pub(crate) fn add(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.add(stack, bytes);
        self.threads.add(self.tids.index(tid), bytes);
    }

    /// A block went, for which this thread had asked.
    #[inline]
    pub(crate) fn subtract(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.subtract(stack, bytes);
        self.threads.subtract(self.tids.index(tid), bytes);
    }

    /// A block that was there before the log began.
    pub(crate) fn inherit(&mut self, stack: u32, tid: u32, bytes: u64) {
        self.stacks.inherit(stack, bytes);
        self.threads.inherit(self.tids.index(tid), bytes);
    }

    /// Now is the heap peak.
    #[inline]
    pub(crate) fn mark_heap_peak(&mut self) {
        self.stacks.mark_heap_peak();
        self.threads.mark_heap_peak();
    }

    /// Now is the candidate for the peak of resident memory.
    #[inline]
    pub(crate) fn mark_candidate(&mut self) {
        self.stacks.mark_candidate();
        self.threads.mark_candidate();
    }

    /// The candidate is kept, and now is the next one.
    pub(crate) fn keep_candidate(&mut self) {
        self.stacks.keep_candidate();
        self.threads.keep_candidate();
    }

    /// Now is the chosen time.
    pub(crate) fn mark_chosen(&mut self) {
        self.stacks.mark_chosen();
        self.threads.mark_chosen();
    }

    /// What each thread had asked for of what was live at a moment.
    pub(crate) fn by_thread(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        let held = self.threads.held(moment);
        held.map(|(index, held)| (self.tids.list[index as usize], held))
    }
}

/// Numbers for threads, in the order of their coming.
#[derive(Default)]
struct Tids {
    list: Vec<u32>,
    numbers: HashMap<u32, u32, RandomState>,
    /// Most events are of the thread that the one before was of.
    last: Option<(u32, u32)>,
}

impl Tids {
    #[inline]
    fn index(&mut self, tid: u32) -> u32 {
        match self.last {
            Some((last, index)) if last == tid => index,
            _ => self.look_up(tid),
        }
    }

    fn look_up(&mut self, tid: u32) -> u32 {
        let next = self.list.len() as u32;
        let index = *self.numbers.entry(tid).or_insert(next);
        if index == next {
            self.list.push(tid);
        }
        self.last = Some((tid, index));
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_stays_the_threads_that_asked_for_it() {
        let mut holders = Holders::default();
        let told = |holders: &Holders, moment| {
            let all = holders.by_thread(moment);
            all.map(|(tid, held)| (tid, held.bytes)).collect::<Vec<_>>()
        };
        holders.add(0, 70, 1000);
        holders.add(0, 71, 200);
        holders.add(1, 70, 30);
        holders.mark_heap_peak();
        // Whoever releases it.
        holders.subtract(0, 70, 1000);
        holders.subtract(0, 71, 200);
        holders.inherit(0, 9, 5);
        assert_eq!(told(&holders, Moment::HeapPeak), [(70, 1030), (71, 200)]);
        assert_eq!(told(&holders, Moment::End), [(70, 30), (9, 5)]);
    }
}
