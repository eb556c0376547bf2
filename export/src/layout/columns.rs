//! Where in its layer everything stands, so that lines are straight, heavy
//! and long ones before others.
//!
//! ```text
//! for neighbours in a layer: an arc of weight 0, as long as they must be apart
//! for each piece of a line:  a vertex of its own, with an arc to either end;
//!                            the two arcs are together as long as the piece
//!                            goes sideways
//! number it all by network simplex, which begins with a guess:
//!     layer by layer, down and up, each vertex at the mean of its neighbours
//!     in the layer before, as far as the order allows  (spacing.rs)
//! ```
//!
//! Liberties:
//! * Whole points: half of one is not seen.
//! * The guess is only to save time: means are drawn away by far neighbours and
//!   leave lines crooked, but they are near to what the simplex finds.

use super::layered::{Kind, Layered, Vertex};
use super::order::Layers;
use super::simplex::{self, Arc};
use super::spacing;

const BOX_GAP: f64 = 20.0;
const LINE_GAP: f64 = 6.0;
/// By how many of a piece's ends are no boxes: bends in the midst of a line
/// are worse than bends at its ends.
const STRAIGHTNESS: [i64; 3] = [1, 2, 8];
/// For 300 boxes and 600 arrows some thousand are needed.
const MOST_PIVOTS: usize = 20_000;
/// Of the guess.
const SWEEPS: usize = 8;

/// The x of each vertex.
pub(super) fn columns(layered: &Layered, layers: &Layers) -> Vec<f64> {
    let mut numbers = guess(layered, layers);
    let mut arcs = Vec::new();
    for pair in layers.iter().flat_map(|layer| layer.windows(2)) {
        arcs.push(Arc {
            tail: pair[0],
            head: pair[1],
            length: distance(layered, pair[0], pair[1]),
            weight: 0,
        });
    }
    for (pair, weight) in pieces(layered) {
        arcs.extend(pair.map(|head| Arc {
            tail: numbers.len(),
            head,
            length: 0,
            weight,
        }));
        numbers.push(numbers[pair[0]].min(numbers[pair[1]]));
    }
    let numbers = simplex::solve(numbers, &arcs, MOST_PIVOTS);
    let lefts = layered
        .vertices
        .iter()
        .zip(&numbers)
        .map(|(vertex, &x)| x as f64 - vertex.left);
    let first = lefts.fold(f64::INFINITY, f64::min);
    let columns = numbers.iter().take(layered.vertices.len());
    columns.map(|&x| x as f64 - first).collect()
}

/// From layer to layer, with the weight of being straight.
fn pieces(layered: &Layered) -> impl Iterator<Item = ([usize; 2], i64)> {
    layered.chains.iter().flat_map(|chain| {
        chain.vertices.windows(2).map(|pair| {
            let inner = pair
                .iter()
                .filter(|&&v| layered.vertices[v].kind != Kind::Box);
            (
                [pair[0], pair[1]],
                chain.weight * STRAIGHTNESS[inner.count()],
            )
        })
    })
}

/// Not best, but feasible, and far nearer to the best than nothing.
fn guess(layered: &Layered, layers: &Layers) -> Vec<i64> {
    // Of each vertex the lines up and down, with their weights.
    let mut near = [
        vec![Vec::new(); layered.vertices.len()],
        vec![Vec::new(); layered.vertices.len()],
    ];
    for ([upper, lower], weight) in pieces(layered) {
        near[0][lower].push((upper, weight as f64));
        near[1][upper].push((lower, weight as f64));
    }
    let mut xs = vec![0.0; layered.vertices.len()];
    for sweep in 0..SWEEPS {
        for step in 0..layers.len() {
            let layer = &layers[if sweep % 2 == 0 {
                step
            } else {
                layers.len() - 1 - step
            }];
            let wanted = layer.iter().map(|&vertex| {
                let near = &near[sweep % 2][vertex];
                let weight: f64 = near.iter().map(|(_, weight)| weight).sum();
                match near.is_empty() {
                    true => (xs[vertex], 1.0),
                    false => (
                        near.iter().map(|&(v, weight)| xs[v] * weight).sum::<f64>() / weight,
                        weight,
                    ),
                }
            });
            let gaps = layer
                .windows(2)
                .map(|pair| distance(layered, pair[0], pair[1]) as f64);
            let places = spacing::apart(
                &wanted.collect::<Vec<_>>(),
                &gaps.collect::<Vec<_>>(),
                f64::NEG_INFINITY,
                f64::INFINITY,
            );
            layer
                .iter()
                .zip(places)
                .for_each(|(&vertex, x)| xs[vertex] = x);
        }
    }
    let mut numbers: Vec<i64> = xs.iter().map(|x| x.round() as i64).collect();
    for pair in layers.iter().flat_map(|layer| layer.windows(2)) {
        let least = numbers[pair[0]] + distance(layered, pair[0], pair[1]);
        numbers[pair[1]] = numbers[pair[1]].max(least);
    }
    numbers
}

fn distance(layered: &Layered, left: usize, right: usize) -> i64 {
    let (a, b) = (&layered.vertices[left], &layered.vertices[right]);
    (a.right + least_gap(a, b) + b.left).ceil() as i64
}

/// How far two neighbours must be apart.
pub(super) fn least_gap(left: &Vertex, right: &Vertex) -> f64 {
    match (left.kind, right.kind) {
        (Kind::Box, Kind::Box) => BOX_GAP,
        _ => LINE_GAP,
    }
}
