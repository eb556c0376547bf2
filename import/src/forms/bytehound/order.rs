//! Events in the order of their times. So many are waited for that a batch of a thread that
//! comes late is in its place; what comes later still stands where it comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::{Block, BlockId};

/// So many events wait at most.
const WAITING: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct Operation {
    /// Microseconds.
    pub(super) time: u64,
    pub(super) thread: u32,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Came {
        id: BlockId,
        block: Block,
    },
    Resized {
        id: BlockId,
        old: u64,
        block: Block,
    },
    Went {
        id: BlockId,
        pointer: u64,
        backtrace: u64,
    },
}

#[derive(Default)]
pub(super) struct Ordered {
    waiting: BinaryHeap<Reverse<Waiting>>,
    pushed: u64,
}

struct Waiting {
    /// Its time, and of those of one time its number in the file.
    at: (u64, u64),
    operation: Operation,
}

impl Ordered {
    pub(super) fn push(&mut self, operation: Operation) {
        let at = (operation.time, self.pushed);
        self.pushed += 1;
        self.waiting.push(Reverse(Waiting { at, operation }));
    }

    /// The earliest, if enough wait behind it or no more come.
    pub(super) fn pop(&mut self, is_end: bool) -> Option<Operation> {
        if !is_end && self.waiting.len() < WAITING {
            return None;
        }
        let Reverse(first) = self.waiting.pop()?;
        Some(first.operation)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}
