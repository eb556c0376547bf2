//! What stacks hold at a snapshot.

use std::collections::HashMap;

use memlog_analysis::{Held, Snapshots, StackChange};

use crate::page::tree::By;

type ByStack = HashMap<u32, Held>;

/// What stacks hold, or have allocated, whatever the filter says of them; of chosen blocks
/// if some are chosen.
#[derive(Clone, Default)]
pub(super) struct Amounts {
    pub of: ByStack,
    /// Of all blocks, where that is not the same.
    all: Option<ByStack>,
}

pub(super) fn sum(amounts: impl Iterator<Item = (u32, Held)>) -> Held {
    amounts.fold(Held::default(), |sum, (_, held)| sum.plus(held))
}

impl Amounts {
    /// Before the first snapshot.
    pub fn begin(snapshots: &Snapshots, by: By) -> Self {
        // What was there before the log was not allocated in it.
        let base = |base: &[(u32, Held)]| match by {
            By::Live => base.iter().copied().collect(),
            _ => ByStack::new(),
        };
        let all = snapshots.is_of_chosen();
        Self {
            of: base(snapshots.base()),
            all: all.then(|| base(snapshots.recorded_base())),
        }
    }

    /// Up to the next one.
    pub fn change(&mut self, changes: &[StackChange], recorded: &[StackChange], by: By) {
        let change = |amounts: &mut ByStack, changes: &[StackChange]| {
            for change in changes {
                let held = amounts.get(&change.stack).copied().unwrap_or_default();
                let held = match by {
                    By::Live => held.plus(change.came).minus(change.went),
                    _ => held.plus(change.came),
                };
                match held == Held::default() {
                    true => amounts.remove(&change.stack),
                    false => amounts.insert(change.stack, held),
                };
            }
        };
        change(&mut self.of, changes);
        if let Some(all) = &mut self.all {
            change(all, recorded);
        }
    }

    /// What grew from one snapshot to the next, and what shrank.
    pub fn grown(&self, changes: &[StackChange], recorded: &[StackChange], by: By) -> [Self; 2] {
        let some = |changes: &[StackChange], amount: &dyn Fn(&StackChange) -> Held| {
            let amounts = changes.iter().map(|change| (change.stack, amount(change)));
            let amounts = amounts.filter(|(_, held)| *held != Held::default());
            amounts.collect::<ByStack>()
        };
        let both = |amount: &dyn Fn(&StackChange) -> Held| Self {
            of: some(changes, amount),
            all: self.all.as_ref().map(|_| some(recorded, amount)),
        };
        match by {
            By::Live => [
                both(&|change| change.came.minus(change.went)),
                both(&|change| change.went.minus(change.came)),
            ],
            _ => [both(&|change| change.came), Self::default()],
        }
    }

    /// What stacks hold here beyond what they hold there.
    pub fn beyond(&self, other: &Self) -> Self {
        let beyond = |of: &ByStack, other: &ByStack| {
            let more = of.iter().map(|(&stack, &held)| {
                let before = other.get(&stack).copied().unwrap_or_default();
                (stack, held.minus(before))
            });
            let more = more.filter(|(_, held)| *held != Held::default());
            more.collect::<ByStack>()
        };
        let all = self.all.as_ref().zip(other.all.as_ref());
        Self {
            of: beyond(&self.of, &other.of),
            all: all.map(|(all, other)| beyond(all, other)),
        }
    }

    /// What all blocks come to.
    pub fn unfiltered(&self) -> Held {
        let all = self.all.as_ref().unwrap_or(&self.of);
        sum(all.iter().map(|(&stack, &held)| (stack, held)))
    }
}
