//! The naive twin of a call graph: for each place and each step, the stacks are
//! looked through one by one.

use std::collections::{BTreeMap, BTreeSet};

use memlog_analysis::Held;
use memlog_export::CallGraph;

use super::given::{Given, names};

#[derive(Debug, Default, PartialEq)]
pub struct Twin {
    held: BTreeMap<String, Held>,
    own: BTreeMap<String, Held>,
    calls: BTreeMap<(String, String), Held>,
}

pub fn add<K: Ord>(sums: &mut BTreeMap<K, Held>, key: K, held: Held) {
    let sum = sums.entry(key).or_default();
    sum.bytes += held.bytes;
    sum.blocks += held.blocks;
}

/// The functions of a stack, outermost first, operator new at its end left out.
pub fn functions(is_cut: bool, addresses: &[u8]) -> Vec<String> {
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

pub fn twin(given: &[Given]) -> Twin {
    let mut twin = Twin::default();
    for (is_cut, addresses, sizes) in given {
        let held = Held {
            bytes: sizes.iter().sum(),
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

pub fn as_twin(graph: &CallGraph) -> Twin {
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
