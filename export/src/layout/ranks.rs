//! Which layer each box is in: heavy arrows short, all of them downwards.
//!
//! ```text
//! number the boxes by network simplex
//! for each layer that is too wide, from above:
//!     move the lightest of the boxes that call none into the next layer
//! ```
//!
//! Why the second step: where one function calls forty, a picture of one row
//! is forty boxes wide, and on paper nobody can read it.

use super::cycles::Call;
use super::placed::Sheet;
use super::simplex::{self, Arc};

/// Enough for a few hundred boxes to come to an end by itself.
const MOST_PIVOTS: usize = 20_000;

/// How wide a layer may be: of the side of a square with all boxes, and of the
/// widest box.
const WIDTH_OF_SQUARE: f64 = 1.8;
const WIDTH_OF_BOX: f64 = 3.0;
/// What lines and labels add to a box, roughly.
const AROUND: (f64, f64) = (20.0, 90.0);

/// The layers, from 0 on; every call leads down, those turned lead up.
pub(super) fn ranks(calls: &[Call], turned: &[bool], sheets: &[Sheet]) -> Vec<usize> {
    let mut ranks = short(sheets.len(), calls, turned);
    spread(&mut ranks, calls, turned, sheets);
    ranks
}

fn short(count: usize, calls: &[Call], turned: &[bool]) -> Vec<usize> {
    let arcs: Vec<Arc> = calls
        .iter()
        .zip(turned)
        .map(|(call, &turned)| Arc {
            tail: if turned { call.to } else { call.from },
            head: if turned { call.from } else { call.to },
            length: 1,
            weight: call.weight,
        })
        .collect();
    let numbers = simplex::solve(longest_paths(count, &arcs), &arcs, MOST_PIVOTS);
    let first = numbers.iter().copied().min().unwrap_or(0);
    numbers
        .iter()
        .map(|number| (number - first) as usize)
        .collect()
}

/// As high as can be.
fn longest_paths(count: usize, arcs: &[Arc]) -> Vec<i64> {
    let mut leaving = vec![Vec::new(); count];
    let mut waits_for = vec![0_usize; count];
    for arc in arcs {
        leaving[arc.tail].push(arc);
        waits_for[arc.head] += 1;
    }
    let mut numbers = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|&v| waits_for[v] == 0).collect();
    while let Some(vertex) = ready.pop() {
        for arc in &leaving[vertex] {
            numbers[arc.head] = numbers[arc.head].max(numbers[vertex] + arc.length);
            waits_for[arc.head] -= 1;
            if waits_for[arc.head] == 0 {
                ready.push(arc.head);
            }
        }
    }
    numbers
}

/// Makes layers that are too wide less so.
fn spread(ranks: &mut [usize], calls: &[Call], turned: &[bool], sheets: &[Sheet]) {
    let mut is_leaf = vec![true; ranks.len()];
    let mut weights = vec![0; ranks.len()];
    for (call, &turned) in calls.iter().zip(turned) {
        is_leaf[if turned { call.to } else { call.from }] = false;
        weights[if turned { call.from } else { call.to }] += call.weight;
    }
    let widths: Vec<f64> = sheets
        .iter()
        .map(|sheet| sheet.rect.width() + AROUND.0)
        .collect();
    let areas = sheets
        .iter()
        .zip(&widths)
        .map(|(sheet, width)| width * (sheet.rect.height() + AROUND.1));
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let limit = (areas.sum::<f64>().sqrt() * WIDTH_OF_SQUARE).max(widest * WIDTH_OF_BOX);

    let mut layers: Vec<Vec<usize>> = Vec::new();
    for (box_, &rank) in ranks.iter().enumerate() {
        layers.resize_with(layers.len().max(rank + 1), Vec::new);
        layers[rank].push(box_);
    }
    let mut rank = 0;
    while rank < layers.len() {
        let mut layer = std::mem::take(&mut layers[rank]);
        // Those that may go last, the lightest last of all.
        layer.sort_by_key(|&box_| (is_leaf[box_], -weights[box_], box_));
        let mut width: f64 = layer.iter().map(|&box_| widths[box_]).sum();
        let mut moved = Vec::new();
        // As many as will go into each of the layers that it takes.
        let even = width / (width / limit).ceil().max(1.0);
        let fits = |width: f64, box_: usize| width - widths[box_] / 2.0 <= even;
        while let Some(box_) = layer.pop_if(|&mut box_| is_leaf[box_] && !fits(width, box_)) {
            width -= widths[box_];
            moved.push(box_);
        }
        for box_ in layer {
            ranks[box_] = rank;
        }
        rank += 1;
        if !moved.is_empty() {
            layers.resize_with(layers.len().max(rank + 1), Vec::new);
            layers[rank].extend(moved);
        }
    }
}
