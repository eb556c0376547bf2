//! The tally against a naive twin that keeps everything, and small histories
//! whose figures are known.

use std::collections::BTreeMap;

use memlog_analysis::{At, Facts, Figures, Held, Instant, Moment, Options, Summary, Tables, Tally};
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release, predicted_usable};
use memlog_format::ext::{Rss, RssSource};
use memlog_format::meta::Module;
use memlog_format::table::{Code, CodeId, Node, StackId};
use proptest::prelude::*;

/// Nodes 8 to 15 in a chain, and 16 to 23 the same chain again.
struct Chain;

impl Tables for Chain {
    fn node(&self, id: StackId) -> Option<Node> {
        let parent = match id.0 {
            8 | 16 => StackId::COMPLETE,
            24 => StackId::CUT_TOO_DEEP,
            9..=15 | 17..=23 => StackId(id.0 - 1),
            _ => return None,
        };
        let code = CodeId(4 + id.0 % 8);
        Some(Node { parent, code })
    }

    fn code(&self, id: CodeId) -> Option<Code> {
        Some(Code {
            address: 0x1000 + u64::from(id.0),
            module: 1,
            exact: false,
        })
    }

    fn module(&self, id: u32) -> Option<Module<'_>> {
        (id == 1).then_some(Module {
            id: 1,
            bias: 0,
            low: 0x1000,
            high: 0x2000,
            build_id: b"id",
            path: b"/bin/true",
        })
    }
}

fn at(tick: u64) -> At {
    At {
        stream: 0,
        tid: 100,
        tick,
    }
}

fn alloc(address: u64, size: u64, stack: u32) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address,
        size,
        usable: predicted_usable(size),
        alignment_log2: 0,
        stack: StackId(stack),
        order: None,
    }
}

fn release(address: u64) -> Release {
    Release {
        api: Api::Free,
        address,
        announced: false,
        stack: None,
        order: None,
    }
}

fn finish(tally: &mut Tally) -> Summary {
    tally.finish(&Facts::default())
}

#[test]
fn equal_paths_are_one_stack() {
    let mut tally = Tally::new(Options::default());
    tally.alloc(at(0), &alloc(0x10, 5, 9), &Chain);
    tally.alloc(at(0), &alloc(0x20, 6, 17), &Chain);
    tally.alloc(at(0), &alloc(0x30, 7, 24), &Chain);
    tally.alloc(at(0), &alloc(0x40, 7, 999), &Chain);
    tally.alloc(at(0), &alloc(0x50, 7, 0), &Chain);
    let summary = finish(&mut tally);
    assert_eq!(summary.distinct_stacks, 4);
    assert_eq!(summary.cut_stacks.cut(), 2);
    assert_eq!(summary.cut_stacks.none(), 1);
    let reasons: Vec<_> = summary.cut_stacks.reasons().collect();
    assert_eq!(reasons, [("too deep", 1), ("stack not in the log", 1)]);
    let (stack, held) = tally
        .held(Moment::End)
        .find(|(_, held)| held.blocks == 2)
        .unwrap();
    assert_eq!(held.bytes, 11);
    let frames: Vec<_> = tally
        .stacks()
        .frames(stack)
        .map(|frame| frame.site.address)
        .collect();
    assert_eq!(frames, [0x1005, 0x1004]);
}

#[test]
fn releases_of_the_unknown_are_told_apart() {
    let mut tally = Tally::new(Options::default());
    tally.alloc(at(0), &alloc(0x10, 5, 9), &Chain);
    tally.release(at(0), &release(0x10));
    tally.release(at(0), &release(0x10));
    tally.release(at(0), &release(0x20));
    tally.alloc(at(0), &alloc(0x30, 5, 9), &Chain);
    tally.alloc(at(0), &alloc(0x30, 6, 9), &Chain);
    // Read again.
    let mut unknown = tally.take_unknown();
    assert!(!unknown.is_empty());
    unknown.came(0x10);
    [0x10, 0x10, 0x20]
        .into_iter()
        .for_each(|address| unknown.went(address));
    [0x30, 0x30]
        .into_iter()
        .for_each(|address| unknown.came(address));
    tally.tell_apart(unknown);
    let summary = finish(&mut tally);
    assert_eq!(summary.anomalies.released_twice, 1);
    assert_eq!(summary.anomalies.released_from_before, 1);
    assert_eq!(summary.anomalies.alive_twice, 1);
    assert_eq!(summary.totals.releases, 3);
    assert_eq!(
        summary.end_live,
        Held {
            bytes: 6,
            blocks: 1
        }
    );
}

/// Temporary: released before the next allocation of its thread, and counted
/// where it was made. A second release of it is none.
#[test]
fn temporary_blocks_are_known_by_stack() {
    let mut tally = Tally::new(Options::default());
    tally.alloc(at(0), &alloc(0x10, 5, 9), &Chain);
    tally.alloc(at(0), &alloc(0x20, 6, 9), &Chain);
    tally.release(at(0), &release(0x20));
    tally.release(at(0), &release(0x20));
    tally.alloc(at(0), &alloc(0x20, 7, 10), &Chain);
    tally.release(at(0), &release(0x10));
    tally.release(at(0), &release(0x20));
    tally.alloc(at(0), &alloc(0x30, 8, 9), &Chain);
    let temporary: Vec<_> = tally.temporaries().map(|(_, held)| held).collect();
    let held = |bytes| Held { bytes, blocks: 1 };
    assert_eq!(temporary, [held(6), held(7)]);
    let all: Vec<_> = tally.allocated().map(|(_, held)| held.blocks).collect();
    assert_eq!(all, [3, 1]);
    assert_eq!(finish(&mut tally).totals.temporary, 2);
}

#[test]
fn a_child_starts_with_what_it_inherits() {
    let mut tally = Tally::new(Options {
        forked: true,
        ..Options::default()
    });
    tally.inherit_alloc(at(0), &alloc(0x10, 100, 9), &Chain);
    tally.inherit_alloc(at(0), &alloc(0x20, 50, 9), &Chain);
    tally.inherit_release(&release(0x20));
    tally.start();
    tally.release(at(1), &release(0x10));
    tally.release(at(1), &release(0x99));
    tally.alloc(at(2), &alloc(0x30, 7, 9), &Chain);
    let summary = finish(&mut tally);
    assert_eq!(summary.heap_peak.bytes, 100);
    assert_eq!(summary.totals.inherited_blocks, 1);
    assert_eq!(summary.totals.inherited_released, 1);
    assert_eq!(summary.anomalies.released_of_parent, 1);
    assert_eq!((summary.totals.allocations, summary.totals.bytes), (1, 7));
    assert_eq!(
        summary.end_live,
        Held {
            bytes: 7,
            blocks: 1
        }
    );
}

#[derive(Clone, Debug)]
enum Step {
    Alloc(u64, u64, u32),
    Release(u64),
    /// The program's part, and the recorder's.
    Rss(u64, u64),
    Tick(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..30u64, prop_oneof![3 => 0..100_000u64, 1 => 0..2u64], 8..15u32)
            .prop_map(|(address, size, stack)| Step::Alloc(address, size, stack)),
        5 => (0..30u64).prop_map(Step::Release),
        1 => (1..2000u64, 0..100_000u64).prop_map(|(level, own_kb)| Step::Rss(level, own_kb)),
        1 => (1..5u64).prop_map(Step::Tick),
    ]
}

type Live = BTreeMap<u64, (u64, u32)>;

fn bytes_of(live: &Live) -> u64 {
    live.values().map(|(size, _)| size).sum()
}

/// What makes one heap larger than another: its bytes, and where they are the
/// same what the allocator gave for them.
fn size_of(live: &Live) -> (u64, u64) {
    let usable = live.values().map(|(size, _)| predicted_usable(*size)).sum();
    (bytes_of(live), usable)
}

/// What a live set holds by stack depth.
fn by_depth(live: &Live) -> BTreeMap<usize, Held> {
    let mut held: BTreeMap<usize, Held> = BTreeMap::new();
    for (size, stack) in live.values() {
        let place = held.entry(*stack as usize - 7).or_default();
        place.bytes += size;
        place.blocks += 1;
    }
    held
}

fn found(tally: &Tally, moment: Moment) -> BTreeMap<usize, Held> {
    let held = tally.held(moment);
    held.map(|(stack, held)| (tally.stacks().frames(stack).count(), held))
        .collect()
}

/// Keeps every state: the heap peak is the first largest, the chosen moment
/// the last of its tick, the RSS peak the first largest heap of the brackets
/// whose readings show the highest figure.
struct Naive {
    states: Vec<(u64, Live)>,
    /// First state of each bracket, and the reading that ends it.
    brackets: Vec<(usize, u64)>,
    open: usize,
}

impl Naive {
    fn largest(states: &[(u64, Live)]) -> &Live {
        let mut largest = &states[0].1;
        for (_, state) in states {
            if size_of(state) > size_of(largest) {
                largest = state;
            }
        }
        largest
    }

    fn rss_peak(&self) -> &Live {
        let highest = self.brackets.iter().map(|bracket| bracket.1).max().unwrap();
        let mut largest: Option<&Live> = None;
        for (at, &(from, figure)) in self.brackets.iter().enumerate() {
            let to = self.brackets.get(at + 1).map_or(self.open, |next| next.0);
            let here = Self::largest(&self.states[from..=to]);
            if figure == highest && largest.is_none_or(|live| size_of(here) > size_of(live)) {
                largest = Some(here);
            }
        }
        largest.unwrap()
    }
}

proptest! {
    #[test]
    fn one_pass_equals_keeping_everything(
        steps in prop::collection::vec(step(), 0..150),
        chosen in 0..60u64,
    ) {
        let options = Options { chosen: Some(Instant::Tick(chosen)), ..Options::default() };
        let mut tally = Tally::new(options);
        let mut naive = Naive { states: vec![(0, Live::new())], brackets: Vec::new(), open: 0 };
        let (mut live, mut tick) = (Live::new(), 0);
        // In steps of more than the grain, and above all heaps: clear, or the same.
        let (mut readings, mut top_kb, mut highest_kb) = (0, (0, 0), 0);
        for step in steps {
            match step {
                Step::Alloc(address, size, stack) if !live.contains_key(&address) => {
                    tally.alloc(at(tick), &alloc(address, size, stack), &Chain);
                    live.insert(address, (size, stack));
                }
                Step::Release(address) if live.remove(&address).is_some() => {
                    tally.release(at(tick), &release(address));
                }
                // The recorder's own part, whatever it is, moves nothing.
                Step::Rss(level, own_kb) => {
                    readings += 1;
                    let program_kb = level / 100 * 1000 + 4000;
                    let now_kb = program_kb + own_kb;
                    let rss = Rss {
                        source: RssSource::Statm, peak_kb: 0, now_kb, own_kb, stamp: readings,
                    };
                    tally.rss(at(tick), &rss);
                    if program_kb > top_kb.0 {
                        top_kb = (program_kb, now_kb);
                    }
                    highest_kb = highest_kb.max(now_kb);
                    naive.brackets.push((naive.open, program_kb));
                    naive.open = naive.states.len() - 1;
                }
                Step::Tick(ticks) => tick += ticks,
                _ => {}
            }
            naive.states.push((tick, live.clone()));
        }
        if naive.brackets.is_empty() {
            naive.brackets.push((0, 0));
            naive.open = naive.states.len() - 1;
        }
        let summary = tally.finish(&Facts {
            rss: Figures { vm_hwm_kb: highest_kb, ..Figures::default() },
            ..Facts::default()
        });
        let own_kb = summary.own_rss_bytes / 1024;
        let found_kb = (summary.rss_peak_bytes / 1024).saturating_sub(own_kb);
        prop_assert!(found_kb.abs_diff(top_kb.0) <= 512, "{found_kb} kB for {top_kb:?}");
        let heap_peak = Naive::largest(&naive.states);
        prop_assert_eq!(summary.heap_peak.bytes, bytes_of(heap_peak));
        prop_assert_eq!(found(&tally, Moment::HeapPeak), by_depth(heap_peak));
        prop_assert_eq!(found(&tally, Moment::End), by_depth(&live));
        let then = naive.states.iter().rfind(|(tick, _)| *tick <= chosen).unwrap();
        prop_assert_eq!(found(&tally, Moment::Chosen), by_depth(&then.1));
        prop_assert_eq!(summary.rss_peak.live_bytes, bytes_of(naive.rss_peak()));
        prop_assert_eq!(found(&tally, Moment::RssPeak), by_depth(naive.rss_peak()));
        prop_assert_eq!(summary.end_live.bytes, bytes_of(&live));
    }
}

/// A process killed inside a realloc: the old block's address was given out
/// again by another thread, so it had gone.
#[test]
fn a_realloc_cut_off_by_the_end_released_what_was_given_out_again() {
    let mut tally = Tally::new(Options::default());
    tally.alloc(at(1), &alloc(0x1000, 10, 8), &Chain);
    tally.alloc(at(1), &alloc(0x2000, 20, 8), &Chain);
    for address in [0x1000, 0x2000] {
        tally.unfinished(&Release {
            api: Api::Realloc,
            address,
            announced: true,
            stack: None,
            order: None,
        });
    }
    tally.alloc(at(2), &alloc(0x1000, 30, 9), &Chain);
    let summary = tally.finish(&Facts::default());
    assert_eq!(summary.anomalies.alive_twice, 0);
    assert_eq!(summary.totals.releases, 1);
    assert_eq!(
        summary.end_live.bytes, 50,
        "the other realloc counts as not begun"
    );
}
