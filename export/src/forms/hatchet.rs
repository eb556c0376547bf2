//! The tree as it is, in hatchet's literal form: each place with what is held there, what
//! is held in and below it, and the places that it calls.

use memlog_analysis::Held;
use serde_json::{Value, json};

use super::{Stacks, file_and_line};
use crate::flame::{Flame, Node, module_of};
use crate::shown::clean;

/// A list of its outermost places. Places that hold nothing are left out.
pub fn hatchet(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let Some((_, series)) = flame.first() else {
        return "[]\n".to_owned();
    };
    let totals = series.totals(&flame.nodes);
    let held = |list: &[Held], at: usize| list.get(at).copied().unwrap_or_default();
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); flame.nodes.len()];
    let mut outermost = Vec::new();
    for (at, node) in flame.nodes.iter().enumerate() {
        if held(&totals, at) != Held::default() {
            match node.caller {
                Some(caller) => callees[caller as usize].push(at),
                None => outermost.push(at),
            }
        }
    }
    // A stack may be deeper than ours is: what is open is kept in a list.
    let mut text = String::from("[");
    let mut open: Vec<std::vec::IntoIter<usize>> = vec![outermost.into_iter()];
    while let Some(list) = open.last_mut() {
        let Some(at) = list.next() else {
            open.pop();
            text.push_str(if open.is_empty() { "]" } else { "]}" });
            continue;
        };
        if text.ends_with('}') {
            text.push(',');
        }
        let (own, all) = (held(&series.own, at), held(&totals, at));
        let mut metrics = json!({"bytes": own.bytes, "bytes (inc)": all.bytes});
        if !flame.lacks_counts {
            metrics["blocks"] = own.blocks.into();
            metrics["blocks (inc)"] = all.blocks.into();
        }
        let head = json!({
            "frame": frame(&stacks, &flame.nodes[at]),
            "metrics": metrics,
        });
        let head = head.to_string();
        text.push_str(head.strip_suffix('}').unwrap_or(&head));
        text.push_str(",\"children\":[");
        open.push(std::mem::take(&mut callees[at]).into_iter());
    }
    text.push('\n');
    text
}

fn frame(stacks: &Stacks, node: &Node) -> Value {
    let mut frame = json!({"type": "function", "name": stacks.function(node)});
    let Some(name) = stacks.name(node) else {
        return frame;
    };
    if let Some(location) = &name.location {
        let (file, line) = file_and_line(location);
        frame["file"] = clean(file.as_bytes()).into();
        // Frames are compared, and none with a number cannot be.
        if let Some(line) = line {
            frame["line"] = line.into();
        }
    }
    if let Some(module) = module_of(name) {
        frame["module"] = clean(module.as_bytes()).into();
    }
    frame
}
