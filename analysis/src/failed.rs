//! Calls that asked for memory and got none.

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_format::failure::Failure;

use crate::totals::At;

/// A failure, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The function called.
    pub api: Api,
    /// Bytes asked for.
    pub size: u64,
    /// The program's errno, 0 where it is not known.
    pub errno: u32,
    /// Who asked, as an index into the stack table.
    pub stack: u32,
    /// When.
    pub tick: u64,
    /// The thread.
    pub tid: u32,
    /// Resident memory as last read before, in kilobytes, 0 where nothing was.
    pub resident_kb: u64,
}

/// Failures of one function from one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The first of them.
    pub first: Failed,
    /// The one that asked for most.
    pub largest: Failed,
    /// How many are told of.
    pub calls: u64,
}

/// All that failed.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    askers: Vec<Asker>,
    by_place: HashMap<(Api, u32), usize>,
    /// Resident memory as last read, in kilobytes.
    pub(crate) resident_kb: u64,
}

impl Failures {
    /// Takes one in; `stack` is the index of its stack.
    pub(crate) fn take(&mut self, at: At, failure: &Failure, stack: u32) {
        let failed = Failed {
            api: failure.api,
            size: failure.size,
            errno: failure.errno,
            stack,
            tick: at.tick,
            tid: at.tid,
            resident_kb: self.resident_kb,
        };
        let next = self.askers.len();
        let index = *self.by_place.entry((failure.api, stack)).or_insert(next);
        let Some(asker) = self.askers.get_mut(index) else {
            self.askers.push(Asker {
                first: failed,
                largest: failed,
                calls: failure.calls,
            });
            return;
        };
        asker.calls = asker.calls.saturating_add(failure.calls);
        if failed.size > asker.largest.size {
            asker.largest = failed;
        }
    }

    /// Who asked, those who asked for most first.
    pub fn askers(&self) -> Vec<Asker> {
        let mut askers = self.askers.clone();
        askers.sort_by_key(|asker| std::cmp::Reverse(asker.largest.size));
        askers
    }

    /// The first that is told of.
    pub fn first(&self) -> Option<Failed> {
        let firsts = self.askers.iter().map(|asker| asker.first);
        firsts.min_by_key(|failed| failed.tick)
    }

    /// The one that asked for most.
    pub fn largest(&self) -> Option<Failed> {
        self.askers().first().map(|asker| asker.largest)
    }

    /// How many are told of; of a loop the last ones may be missing.
    pub fn calls(&self) -> u64 {
        let calls = self.askers.iter().map(|asker| asker.calls);
        calls.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_format::table::StackId;

    #[test]
    fn the_first_and_the_largest_are_told_apart() {
        let mut failures = Failures::default();
        let mut take = |tick, stack, size, calls| {
            let at = At {
                stream: 0,
                tid: 7,
                tick,
            };
            let failure = Failure {
                api: Api::Malloc,
                alignment_log2: 0,
                size,
                calls,
                errno: 12,
                stack: StackId(stack),
            };
            failures.take(at, &failure, stack);
        };
        take(5, 1, 100, 1);
        take(6, 2, 300, 1);
        take(7, 1, 200, 4);
        let places = failures.askers();
        let places: Vec<_> = places.iter().map(|asker| asker.first.stack).collect();
        assert_eq!(places, [2, 1]);
        assert_eq!(failures.calls(), 6);
        assert_eq!(failures.first().map(|first| first.tick), Some(5));
        assert_eq!(failures.largest().map(|largest| largest.size), Some(300));
    }
}
