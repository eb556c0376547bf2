//! The call graph against its naive twin: for each place and each step, the
//! stacks are looked through one by one.

use std::collections::{BTreeMap, BTreeSet};

use memlog_analysis::{At, Fold, Frame, Held, Moment, Options, Tables};
use memlog_export::{CallGraph, Named, Picture, Place, picture};
use memlog_format::api::Api;
use memlog_format::event::Alloc;
use memlog_format::meta::Module;
use memlog_format::table::{Code, CodeId, FIRST_CODE, FIRST_NODE, Node, StackId};
use proptest::prelude::*;

/// Stacks of addresses, outermost first, as tables.
#[derive(Default)]
struct Stacks {
    nodes: Vec<Node>,
}

impl Stacks {
    fn add(&mut self, root: StackId, addresses: &[u8]) -> StackId {
        addresses.iter().fold(root, |parent, &address| {
            let code = CodeId(FIRST_CODE + u32::from(address));
            self.nodes.push(Node { parent, code });
            StackId(FIRST_NODE + self.nodes.len() as u32 - 1)
        })
    }
}

impl Tables for Stacks {
    fn node(&self, id: StackId) -> Option<Node> {
        let index = id.0.checked_sub(FIRST_NODE)?;
        self.nodes.get(index as usize).copied()
    }

    fn code(&self, id: CodeId) -> Option<Code> {
        Some(Code {
            address: u64::from(id.0 - FIRST_CODE),
            module: 0,
            exact: true,
        })
    }

    fn module(&self, _: u32) -> Option<Module<'_>> {
        None
    }
}

/// What is at an address: above 9 a function with another inlined into it,
/// 9 is operator new, and 7 and 8 are one place.
fn names(address: u64) -> Vec<String> {
    match address {
        8 => vec!["f7".into()],
        9 => vec!["operator new(unsigned long)".into()],
        10.. => vec![format!("f{}", address - 10), format!("f{address}")],
        _ => vec![format!("f{address}")],
    }
}

fn named(frame: &Frame) -> Named {
    let place = |function| Place {
        function,
        ..Place::default()
    };
    Named {
        places: names(frame.site.address).into_iter().map(place).collect(),
        address: format!("{:#x}", frame.site.address),
        symbol: None,
    }
}

/// A stack and the blocks of it.
type Given = (bool, Vec<u8>, Vec<u16>);

fn graph(given: &[Given]) -> CallGraph {
    let mut stacks = Stacks::default();
    let mut fold = Fold::new(Options::default());
    let at = At {
        stream: 0,
        tid: 1,
        tick: 0,
    };
    let mut address = 0x1000;
    for (is_cut, addresses, sizes) in given {
        let root = if *is_cut {
            StackId::CUT_TOO_DEEP
        } else {
            StackId::COMPLETE
        };
        let stack = stacks.add(root, addresses);
        for &size in sizes {
            address += 0x10_0000;
            let size = u64::from(size);
            let alloc = Alloc {
                api: Api::Malloc,
                address,
                size,
                usable: size,
                alignment_log2: 0,
                stack,
                order: None,
            };
            fold.alloc(at, &alloc, &stacks);
        }
    }
    CallGraph::build(fold.stacks(), fold.held(Moment::End), named)
}

#[derive(Debug, Default, PartialEq)]
struct Twin {
    held: BTreeMap<String, Held>,
    own: BTreeMap<String, Held>,
    calls: BTreeMap<(String, String), Held>,
}

fn add<K: Ord>(sums: &mut BTreeMap<K, Held>, key: K, held: Held) {
    let sum = sums.entry(key).or_default();
    sum.bytes += held.bytes;
    sum.blocks += held.blocks;
}

/// The functions of a stack, outermost first, operator new at its end left out.
fn functions(is_cut: bool, addresses: &[u8]) -> Vec<String> {
    let cut = is_cut.then(|| "(stack cut: too deep)".to_owned());
    let frames = addresses.iter();
    let frames = frames.flat_map(|&address| names(address.into()).into_iter().rev());
    let all: Vec<_> = cut.into_iter().chain(frames).collect();
    let is_new = |name: &&String| name.starts_with("operator new");
    let count = all.len() - all.iter().rev().take_while(is_new).count();
    match count {
        0 => all,
        count => all[..count].to_vec(),
    }
}

fn twin(given: &[Given]) -> Twin {
    let mut twin = Twin::default();
    for (is_cut, addresses, sizes) in given {
        let held = Held {
            bytes: sizes.iter().copied().map(u64::from).sum(),
            blocks: sizes.len() as u64,
        };
        let functions = functions(*is_cut, addresses);
        let (Some(last), 1..) = (functions.last(), held.blocks) else {
            continue;
        };
        add(&mut twin.own, last.clone(), held);
        for function in functions.iter().collect::<BTreeSet<_>>() {
            add(&mut twin.held, function.clone(), held);
        }
        let steps = functions.windows(2).map(|pair| (&pair[0], &pair[1]));
        for (caller, callee) in steps.collect::<BTreeSet<_>>() {
            add(&mut twin.calls, (caller.clone(), callee.clone()), held);
        }
    }
    twin
}

fn as_twin(graph: &CallGraph) -> Twin {
    let name = |index: usize| graph.entries[index].place.function.clone();
    let mut twin = Twin::default();
    for entry in &graph.entries {
        add(&mut twin.held, entry.place.function.clone(), entry.held);
        if entry.own.blocks > 0 {
            add(&mut twin.own, entry.place.function.clone(), entry.own);
        }
    }
    for call in &graph.calls {
        add(
            &mut twin.calls,
            (name(call.caller), name(call.callee)),
            call.held,
        );
    }
    twin
}

proptest! {
    #[test]
    fn is_its_naive_twin(
        given in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(0..14u8, 1..9), prop::collection::vec(0..2000u16, 0..3)),
            0..12,
        )
    ) {
        let graph = graph(&given);
        prop_assert_eq!(as_twin(&graph), twin(&given));
        let held: Vec<_> = graph.entries.iter().map(|entry| entry.held.bytes).collect();
        prop_assert!(held.is_sorted_by(|one, other| one >= other));
        prop_assert!(held.iter().all(|&bytes| bytes <= graph.total.bytes));
    }

    /// A picture's arrows join boxes that are there, and nobody's box is lost.
    #[test]
    fn pictures_hold_together(
        given in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(0..14u8, 1..9), prop::collection::vec(0..2000u16, 0..3)),
            0..12,
        ),
        least_percent in 0.0..60.0f64,
    ) {
        let graph = graph(&given);
        let page = picture(&graph, Picture { least_percent, ..Picture::default() });
        prop_assert!(page.nodes.len() <= graph.entries.len());
        prop_assert!(page.edges.iter().all(|edge| edge.from < page.nodes.len() && edge.to < page.nodes.len()));
        prop_assert!(page.nodes.iter().all(|node| node.share <= 1.0 && node.own_share <= node.share));
        let all = picture(&graph, Picture::default());
        prop_assert_eq!((all.nodes.len(), all.edges.len()), (graph.entries.len(), graph.calls.len()));
        prop_assert_eq!(page.legend.is_empty(), page.nodes.len() == all.nodes.len() && page.edges.len() == all.edges.len());
    }
}

/// 200,000 steps deep, and every level holds something.
#[test]
fn deep_recursion_takes_no_square() {
    let mut stacks = Stacks::default();
    let mut fold = Fold::new(Options::default());
    let at = At {
        stream: 0,
        tid: 1,
        tick: 0,
    };
    let mut stack = StackId::COMPLETE;
    for depth in 0..200_000u64 {
        stack = stacks.add(stack, &[(depth % 3) as u8]);
        let alloc = Alloc {
            api: Api::Malloc,
            address: 16 * depth,
            size: 1,
            usable: 1,
            alignment_log2: 0,
            stack,
            order: None,
        };
        fold.alloc(at, &alloc, &stacks);
    }
    let graph = CallGraph::build(fold.stacks(), fold.held(Moment::End), named);
    let held: Vec<_> = graph.entries.iter().map(|entry| entry.held.bytes).collect();
    assert_eq!(held, [200_000, 199_999, 199_998]);
    assert_eq!(graph.calls.len(), 3);
}
