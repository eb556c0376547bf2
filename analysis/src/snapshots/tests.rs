//! Against a naive twin, which copies what each stack holds at each snapshot.

use std::collections::BTreeMap;

use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::meta::Module;
use memlog_format::table::{Code, CodeId, Node, StackId};
use proptest::prelude::*;

use super::*;
use crate::stacks::Tables;
use crate::tally::Options;
use crate::totals::At;

/// Roots are stacks, and need no tables.
struct NoTables;

impl Tables for NoTables {
    fn node(&self, _: StackId) -> Option<Node> {
        None
    }

    fn code(&self, _: CodeId) -> Option<Code> {
        None
    }

    fn module(&self, _: u32) -> Option<Module<'_>> {
        None
    }
}

type Live = BTreeMap<u32, Held>;

/// What happens: to which address, of which size and stack, in how many ticks.
type Step = (u64, u64, u32, u64);

/// A snapshot as the twin has it.
#[derive(Debug, PartialEq)]
struct Copy {
    event: u64,
    tick: u64,
    churn: u64,
    live: Live,
}

/// The plainest way.
#[derive(Default)]
struct Twin {
    blocks: BTreeMap<u64, (u64, u32)>,
    copies: Vec<Copy>,
    event: u64,
    tick: u64,
    churn: u64,
}

impl Twin {
    fn live(&self) -> Live {
        let mut live = Live::new();
        for &(size, stack) in self.blocks.values() {
            let held = live.entry(stack).or_default();
            held.bytes += size;
            held.blocks += 1;
        }
        live
    }

    fn copy(&mut self, tick: u64) {
        self.copies.push(Copy {
            event: self.event,
            tick,
            churn: self.churn,
            live: self.live(),
        });
        self.churn = 0;
    }
}

fn alloc(address: u64, size: u64, stack: u32) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address,
        size,
        usable: size,
        alignment_log2: 0,
        stack: StackId(stack),
        order: None,
    }
}

struct Both {
    twin: Twin,
    tally: Tally,
    snapshots: Snapshots,
}

const TICK_NS: u64 = 10;

fn at_tick(tick: u64) -> At {
    At {
        stream: 0,
        tid: 1,
        tick,
    }
}

impl Both {
    fn new(every: Option<Every>) -> Self {
        Self {
            twin: Twin::default(),
            tally: Tally::new(Options::default()),
            snapshots: Snapshots::new(every, TICK_NS),
        }
    }

    fn put(&mut self, address: u64, size: u64, stack: u32) {
        let Self {
            twin,
            tally,
            snapshots,
        } = self;
        let at = at_tick(twin.tick);
        twin.event += 1;
        snapshots.before(at.tick, tally);
        let before = tally.live();
        let came = match twin.blocks.remove(&address) {
            Some((size, _)) => {
                twin.churn += size;
                let release = Release {
                    api: Api::Free,
                    address,
                    announced: false,
                    stack: None,
                    order: None,
                };
                tally.release(at, &release);
                Held::default()
            }
            None => {
                twin.churn += size;
                twin.blocks.insert(address, (size, stack));
                tally.alloc(at, &alloc(address, size, stack), &NoTables);
                Held {
                    bytes: size,
                    blocks: 1,
                }
            }
        };
        snapshots.after(before, came, tally);
    }

    /// All of the snapshots, as the twin would have them.
    fn copies(&self) -> Vec<Copy> {
        let mut live: Live = self.snapshots.base().iter().copied().collect();
        let all = self.snapshots.all().map(|(one, changes)| {
            let (mut came, mut went) = (Held::default(), Held::default());
            for change in changes {
                let held = live.entry(change.stack).or_default();
                *held = held.plus(change.came).minus(change.went);
                came = came.plus(change.came);
                went = went.plus(change.went);
            }
            assert_eq!((came, went), (one.came, one.went), "the changes' sum");
            live.retain(|_, held| held.blocks > 0);
            Copy {
                event: one.event,
                tick: one.tick,
                churn: one.churn(),
                live: live.clone(),
            }
        });
        all.collect()
    }
}

/// The first steps are of before the log.
fn compare(every: Every, inherited: usize, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut both = Both::new(Some(every));
    for &(address, size, stack, _) in &steps[..inherited] {
        let alloc = alloc(address + 1000, size, stack);
        both.tally.inherit_alloc(at_tick(0), &alloc, &NoTables);
        both.twin.blocks.insert(alloc.address, (size, stack));
    }
    both.tally.start();
    both.snapshots.begin(&both.tally);
    let mut due = 1;
    for &(address, size, stack, ticks) in &steps[inherited..] {
        let twin = &mut both.twin;
        twin.tick += ticks;
        if let Every::Ns(ns) = every {
            while due * ns / TICK_NS < twin.tick {
                twin.copy(due * ns / TICK_NS);
                due += 1;
            }
        }
        // Half of what was inherited goes.
        let inherited = address + 1000;
        let is_inherited = size % 2 == 0 && both.twin.blocks.contains_key(&inherited);
        let address = if is_inherited { inherited } else { address };
        both.put(address, size, stack);
        let twin = &mut both.twin;
        if let Every::Churn(most) = every
            && twin.churn >= most
        {
            twin.copy(twin.tick);
        }
    }
    let end = both.twin.tick + 3;
    if let Every::Ns(ns) = every {
        while due * ns / TICK_NS <= end {
            both.twin.copy(due * ns / TICK_NS);
            due += 1;
        }
    }
    both.twin.copy(end);
    both.snapshots.end(end, true, &both.tally);
    prop_assert_eq!(both.copies(), both.twin.copies);
    prop_assert_eq!(both.snapshots.excess(end), None);
    Ok(())
}

proptest! {
    #[test]
    fn changes_give_what_was_live(
        steps in prop::collection::vec((0..12u64, 0..500u64, 0..5u32, 0..3u64), 1..200),
        inherited in 0..10usize,
        distance in 1..3000u64,
    ) {
        let inherited = inherited.min(steps.len());
        compare(Every::Churn(distance), inherited, &steps)?;
        compare(Every::Ns(distance), inherited, &steps)?;
    }
}

#[test]
fn marks_come_between_events() {
    let mut both = Both::new(None);
    both.tally.start();
    both.snapshots.begin(&both.tally);
    both.put(1, 100, 1);
    both.snapshots.mark(b"first", 5, &both.tally);
    both.put(2, 30, 2);
    both.put(1, 0, 0);
    both.snapshots.mark(b"second", 5, &both.tally);
    both.snapshots.end(9, true, &both.tally);
    let all = both.snapshots.all();
    let told = all.map(|(one, _)| (one.cause.clone(), one.event, one.tick, one.churn()));
    let name = |name: &[u8]| Cause::Mark(name.to_vec());
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (name(b"first"), 1, 5, 100),
            (name(b"second"), 3, 5, 130),
            (Cause::End, 3, 9, 0)
        ]
    );
    assert_eq!(both.snapshots.count(), 2);
}

#[test]
fn more_than_the_most_are_refused_with_a_distance() {
    let mut both = Both::new(Some(Every::Churn(1)));
    both.tally.start();
    both.snapshots.begin(&both.tally);
    let events = 5 * MOST as u64;
    for _ in 0..events {
        both.put(1, 10, 1);
    }
    both.snapshots.end(0, true, &both.tally);
    assert_eq!(both.snapshots.count(), MOST);
    let fewer = Every::Churn(500);
    assert_eq!(
        both.snapshots.excess(0),
        Some(Excess {
            is_of_snapshots: true,
            fewer: Some(fewer)
        })
    );
    // An idle program has no end of them.
    let mut both = Both::new(Some(Every::Ns(1)));
    both.tally.start();
    both.snapshots.begin(&both.tally);
    both.snapshots.end(1 << 40, true, &both.tally);
    let excess = both.snapshots.excess(1 << 40).expect("too many");
    assert_eq!(excess.fewer, Some(Every::Ns((TICK_NS << 40) / 1000)));
}
