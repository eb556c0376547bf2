//! A page for programs. `doc/STATS.md` says what the keys mean.

use memlog_analysis::{Callers, Held};
use serde_json::{Map, Value, json};

use crate::names::Name;
use crate::page::others::FailedCalls;
use crate::page::places::{PlaceList, What};
use crate::page::tree::{Direction, NO_FRAMES, Snapshot, Tree};
use crate::page::{Page, Part};

/// As it is printed.
pub fn of(page: &Page) -> String {
    format!("{:#}\n", value_of(page))
}

/// The same, before it is text.
pub fn value_of(page: &Page) -> Value {
    let mut object = page.figures.clone();
    let mut trees = Vec::new();
    for part in &page.parts {
        match part {
            Part::Tree(one) => object.extend(tree(one)),
            Part::OneTree(one) => trees.push(tree(one)),
            Part::Places(list) => {
                let (key, blocks) = keys(list.what);
                object.insert(key.into(), places(list, blocks));
            }
            Part::Failed(list) => {
                object.insert("failed".into(), list.iter().map(failed).collect());
            }
            Part::Next(_) | Part::Records(_) | Part::Table(_) | Part::Rows(_) | Part::Figures => {}
        }
    }
    if !trees.is_empty() {
        object.insert("trees".into(), trees.into_iter().map(Value::from).collect());
    }
    object.into()
}

/// Of a list and of what there are so many of.
fn keys(what: What) -> (&'static str, &'static str) {
    match what {
        What::Held => ("held", "blocks"),
        What::Grown => ("grown", "blocks"),
        What::Mapped => ("mapped", "mappings"),
        What::Calls => ("allocated", "allocations"),
    }
}

fn places(list: &PlaceList, blocks: &str) -> Value {
    let rows = list.rows.iter().map(|row| {
        json!({
            "function": row.name.function,
            "location": row.name.location,
            "module": row.name.module,
            "caller": row.caller.as_ref().map(|name| &name.function),
            "bytes": row.held.bytes,
            blocks: list.has_counts.then_some(row.held.blocks),
            "share_percent": row.share,
            "sum_percent": row.sum,
        })
    });
    rows.collect()
}

fn failed(calls: &FailedCalls) -> Value {
    json!({
        "function": calls.function,
        "calls": calls.calls,
        "largest_bytes": calls.largest_bytes,
        "errno": calls.errno,
        "first_seconds": calls.first_seconds,
        "thread": calls.tid,
        "stack": calls.stack,
    })
}

/// It is a list and not nested: a stack may be deeper than what readers of JSON
/// put up with.
fn tree(tree: &Tree) -> Map<String, Value> {
    let total = tree.branches.total();
    let count = |held: Held| tree.has_counts.then_some(held.blocks);
    let mut object = Page::keyed([
        ("by", tree.by.name().into()),
        ("moment", tree.moment.map(|(name, _)| name).into()),
        (
            "seconds",
            tree.moment.and_then(|(_, seconds)| seconds).into(),
        ),
        ("direction", direction(tree).into()),
        ("threshold_percent", tree.threshold.into()),
        ("bytes", total.bytes.into()),
        ("blocks", count(total).into()),
        ("unfiltered_bytes", tree.unfiltered.bytes.into()),
        ("unfiltered_blocks", count(tree.unfiltered).into()),
        ("folded", folded(tree, tree.branches.roots())),
        ("nodes", nodes(tree).into()),
    ]);
    if let Some(Snapshot { label, change }) = &tree.snapshot {
        object.insert("label".into(), label.as_str().into());
        object.insert("change".into(), (*change).into());
    }
    object
}

fn direction(tree: &Tree) -> &'static str {
    match tree.direction {
        Direction::BottomUp => "bottom-up",
        Direction::TopDown => "top-down",
    }
}

fn folded(tree: &Tree, callers: &Callers) -> Value {
    match callers.lesser {
        0 => Value::Null,
        places => json!({
            "places": places,
            "bytes": callers.lesser_held.bytes,
            "blocks": tree.has_counts.then_some(callers.lesser_held.blocks),
        }),
    }
}

/// In the order of the text: each comes after its parent.
fn nodes(tree: &Tree) -> Vec<Value> {
    let mut nodes = Vec::new();
    let roots = tree.branches.roots().shown.iter().rev();
    let mut work: Vec<(u32, Option<usize>)> = roots.map(|&root| (root, None)).collect();
    while let Some((index, parent)) = work.pop() {
        let Some(branch) = tree.branches.get(index) else {
            continue;
        };
        let number = nodes.len();
        let own = tree.own(branch);
        let name: Option<&Name> = tree.names.get(branch.label as usize);
        let mut node = json!({
            "parent": parent,
            "function": name.map_or(NO_FRAMES, |name| &name.function),
            "location": name.and_then(|name| name.location.as_ref()),
            "module": name.and_then(|name| name.module.as_ref()),
            "bytes": branch.held.bytes,
            "blocks": tree.has_counts.then_some(branch.held.blocks),
            "own_bytes": own.bytes,
            "own_blocks": tree.has_counts.then_some(own.blocks),
            "folded": folded(tree, &branch.callers),
        });
        if let Some((first, last)) = tree.times.get(index as usize) {
            node["first_seconds"] = (*first).into();
            node["last_seconds"] = (*last).into();
        }
        nodes.push(node);
        let below = branch.callers.shown.iter().rev();
        work.extend(below.map(|&branch| (branch, Some(number))));
    }
    nodes
}
