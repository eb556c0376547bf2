//! A tree for programs. It is a list and not nested: a stack may be deeper
//! than what readers of JSON put up with.

use memlog_analysis::{CallTree, Callers};
use memlog_export::When;
use serde_json::{Map, Value, json};

use super::grow::{Direction, Grown, Shape};
use super::paths::NO_FRAMES;
use super::text::own;
use crate::names::Name;
use crate::subject::Subject;

/// A tree of a moment; `doc/STATS.md` says what the keys mean.
pub fn tree(subject: &Subject, when: When, shape: &Shape, grown: &Grown) -> Map<String, Value> {
    let log = subject.family.own();
    let tick = subject.analysis.tick_of(when, log.tick_ns());
    let total = grown.tree.total();
    let by = shape.form.by();
    let is_moment = by.is_of_moment();
    let all: [(&str, Value); 11] = [
        ("by", by.name().into()),
        ("moment", is_moment.then(|| moment(when)).into()),
        ("seconds", is_moment.then(|| log.seconds(tick)).into()),
        ("direction", direction(shape.direction).into()),
        ("threshold_percent", grown.threshold.into()),
        ("bytes", total.bytes.into()),
        ("blocks", total.blocks.into()),
        ("unfiltered_bytes", grown.whole.bytes.into()),
        ("unfiltered_blocks", grown.whole.blocks.into()),
        ("folded", folded(grown.tree.roots())),
        ("nodes", nodes(&grown.tree, &grown.names).into()),
    ];
    all.map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

fn moment(when: When) -> &'static str {
    use memlog_analysis::Moment::{Chosen, End, HeapPeak, RssPeak};
    match when.moment() {
        RssPeak => "rss-peak",
        HeapPeak => "heap-peak",
        End => "end",
        Chosen => "chosen",
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::BottomUp => "bottom-up",
        Direction::TopDown => "top-down",
    }
}

fn folded(callers: &Callers) -> Value {
    match callers.folded {
        0 => Value::Null,
        places => json!({
            "places": places,
            "bytes": callers.folded_held.bytes,
            "blocks": callers.folded_held.blocks,
        }),
    }
}

/// In the order of the text: each comes after its parent.
fn nodes(tree: &CallTree, names: &[Name]) -> Vec<Value> {
    let mut nodes = Vec::new();
    let roots = tree.roots().shown.iter().rev();
    let mut work: Vec<(u32, Option<usize>)> = roots.map(|&root| (root, None)).collect();
    while let Some((index, parent)) = work.pop() {
        let Some(branch) = tree.get(index) else {
            continue;
        };
        let number = nodes.len();
        let own = own(tree, branch);
        let name = names.get(branch.label as usize);
        nodes.push(json!({
            "parent": parent,
            "function": name.map_or(NO_FRAMES, |name| &name.function),
            "location": name.and_then(|name| name.location.as_ref()),
            "module": name.and_then(|name| name.module.as_ref()),
            "bytes": branch.held.bytes,
            "blocks": branch.held.blocks,
            "own_bytes": own.bytes,
            "own_blocks": own.blocks,
            "folded": folded(&branch.callers),
        }));
        let below = branch.callers.shown.iter().rev();
        work.extend(below.map(|&branch| (branch, Some(number))));
    }
    nodes
}
