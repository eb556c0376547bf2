//! Two metrics on one picture: of which there is more, in two colours.

use std::collections::HashMap;

use memlog_analysis::Held;

use super::layout::Frame;
use super::{Flame, Label};
use crate::draw::Colour;

/// There is more of the first: it grew.
pub(super) const MORE: Colour = Colour([226, 84, 70]);
/// There is more of the second.
pub(super) const LESS: Colour = Colour([74, 134, 220]);
/// There is as much of both.
pub(super) const STILL: Colour = Colour([240, 240, 236]);

/// By frame what it holds by the first metric and by the second; nothing where one alone
/// is shown, and of frames that are no place of the tree.
pub(super) fn both(flame: &Flame, frames: &[Frame]) -> Vec<Option<[Held; 2]>> {
    let (Some((_, first)), Some((_, second))) = (flame.first(), flame.second()) else {
        return vec![None; frames.len()];
    };
    let totals = [first, second].map(|series| series.totals(&flame.nodes));
    let places = (0u32..).zip(&flame.nodes);
    let places = places.map(|(at, node)| ((node.caller, node.label), at));
    let places: HashMap<(Option<u32>, Label), u32> = places.collect();
    let mut nodes: Vec<Option<u32>> = vec![None];
    let mut found = vec![Some([first.total(), second.total()])];
    for frame in frames.iter().skip(1) {
        let caller = nodes.get(frame.caller).copied().flatten();
        let is_known = frame.caller == 0 || caller.is_some();
        let node = frame.label.filter(|_| is_known);
        let node = node.and_then(|label| places.get(&(caller, label)).copied());
        nodes.push(node);
        found.push(node.map(|node| totals.each_ref().map(|held| held[node as usize])));
    }
    found
}

/// Grey where there is as much of both; the more they differ the stronger.
pub(super) fn colour([first, second]: [Held; 2]) -> Colour {
    let [first, second] = [first, second].map(|held| held.bytes as f64);
    let change = (first - second) / (first + second).max(1.0);
    let full = if change > 0.0 { MORE } else { LESS };
    let mut mixed = STILL.0;
    for (part, full) in mixed.iter_mut().zip(full.0) {
        let (from, to) = (f64::from(*part), f64::from(full));
        *part = (from + (to - from) * change.abs()).round() as u8;
    }
    Colour(mixed)
}
