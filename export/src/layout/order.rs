//! The order within each layer, with few crossings.
//!
//! ```text
//! for a first order from above, and for one from below:
//!     for round in 0.. until nothing has got better for a while:
//!         for each layer, downwards and upwards in turn:
//!             order it by where its neighbours in the layer before stand
//!         swap neighbours wherever that removes crossings, until it does not
//!         keep the order if it is the best so far
//! ```
//!
//! Liberties:
//! * A first order takes the lines of a box by turns to near and to far layers,
//!   so that those to far ones find a way between those to near ones.
//! * Where the neighbours stand is their median in two rounds and their mean
//!   in the next two: each gets out of dead ends of the other.
//! * What has no neighbours in the layer before keeps its place.
//! * Every other pair of rounds equal ones are turned round, for variety.

use std::collections::BTreeMap;

use super::crossings;
use super::layered::Layered;

const MOST_ROUNDS: usize = 28;
/// Rounds without progress before it gives up.
const PATIENCE: usize = 8;
/// Passes of swaps in a round.
const MOST_PASSES: usize = 6;

/// The vertices of each layer from left to right.
pub(super) type Layers = Vec<Vec<usize>>;

/// A good order.
pub(super) fn order(layered: &Layered) -> Layers {
    let mut best: Option<(usize, Layers)> = None;
    for is_from_above in [true, false] {
        let mut order = Order::first(layered, is_from_above);
        let mut idle_rounds = 0;
        for round in 0..MOST_ROUNDS {
            let crossings = order.crossings();
            if best.as_ref().is_none_or(|(least, _)| crossings < *least) {
                best = Some((crossings, order.layers.clone()));
                idle_rounds = 0;
            }
            idle_rounds += 1;
            if crossings == 0 || idle_rounds > PATIENCE {
                break;
            }
            order.sweep(round);
            order.swap_neighbours();
        }
    }
    best.map(|(_, layers)| layers).unwrap_or_default()
}

struct Order<'a> {
    layered: &'a Layered,
    layers: Layers,
    /// Of each vertex its place in its layer.
    places: Vec<usize>,
}

impl<'a> Order<'a> {
    /// As a walk along the lines comes upon them: a tree has no crossings so.
    fn first(layered: &'a Layered, is_from_above: bool) -> Self {
        let count = layered.vertices.len();
        let mut layers = vec![Vec::new(); layered.layer_count];
        let (ahead, back) = match is_from_above {
            true => (&layered.below, &layered.above),
            false => (&layered.above, &layered.below),
        };
        let ahead = by_turns(layered, ahead, is_from_above);
        let mut seen = vec![false; count];
        let ends = (0..count).filter(|&vertex| back[vertex].is_empty());
        for start in ends {
            let mut waiting = vec![start];
            while let Some(vertex) = waiting.pop() {
                if std::mem::replace(&mut seen[vertex], true) {
                    continue;
                }
                layers[layered.vertices[vertex].layer].push(vertex);
                waiting.extend(ahead[vertex].iter().rev());
            }
        }
        let mut order = Self {
            layered,
            layers,
            places: vec![0; count],
        };
        (0..layered.layer_count).for_each(|layer| order.number(layer));
        order
    }

    fn number(&mut self, layer: usize) {
        for (place, &vertex) in self.layers[layer].iter().enumerate() {
            self.places[vertex] = place;
        }
    }

    fn sorted_places(&self, vertices: &[usize]) -> Vec<usize> {
        let mut places: Vec<usize> = vertices.iter().map(|&v| self.places[v]).collect();
        places.sort_unstable();
        places
    }

    fn crossings(&self) -> usize {
        let of_layer = |pair: &[Vec<usize>]| {
            let lines = pair[0]
                .iter()
                .map(|&v| self.sorted_places(&self.layered.below[v]));
            crossings::count(&lines.collect::<Vec<_>>(), pair[1].len())
        };
        self.layers.windows(2).map(of_layer).sum()
    }

    fn sweep(&mut self, round: usize) {
        let count = self.layers.len();
        let is_down = round.is_multiple_of(2);
        let by_mean = round % 4 >= 2;
        let turns_equals = round % 8 >= 4;
        for step in 1..count {
            let layer = if is_down { step } else { count - 1 - step };
            let old = std::mem::take(&mut self.layers[layer]);
            let mut wanted: Vec<(f64, usize)> = Vec::new();
            for &vertex in &old {
                let near = match is_down {
                    true => &self.layered.above[vertex],
                    false => &self.layered.below[vertex],
                };
                if !near.is_empty() {
                    let near = self.sorted_places(near);
                    wanted.push((if by_mean { mean(&near) } else { median(&near) }, vertex));
                }
            }
            if turns_equals {
                wanted.reverse();
            }
            wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut sorted = wanted.into_iter().map(|(_, vertex)| vertex);
            let is_fixed = |v: usize| match is_down {
                true => self.layered.above[v].is_empty(),
                false => self.layered.below[v].is_empty(),
            };
            let filled = old.iter().map(|&v| {
                if is_fixed(v) {
                    v
                } else {
                    sorted.next().unwrap_or(v)
                }
            });
            self.layers[layer] = filled.collect();
            self.number(layer);
        }
    }

    fn swap_neighbours(&mut self) {
        for _ in 0..MOST_PASSES {
            let mut has_swapped = false;
            for layer in 0..self.layers.len() {
                has_swapped |= self.swap_in(layer);
            }
            if !has_swapped {
                break;
            }
        }
    }

    fn swap_in(&mut self, layer: usize) -> bool {
        let mut row = std::mem::take(&mut self.layers[layer]);
        let near = |v: &usize| {
            let above = self.sorted_places(&self.layered.above[*v]);
            (above, self.sorted_places(&self.layered.below[*v]))
        };
        let mut near: Vec<_> = row.iter().map(near).collect();
        let mut has_swapped = false;
        for _ in 0..MOST_PASSES {
            let mut has_now = false;
            for at in 1..row.len() {
                let ((above, below), (next_above, next_below)) = (&near[at - 1], &near[at]);
                let now =
                    crossings::of_pair(above, next_above) + crossings::of_pair(below, next_below);
                if now == 0 {
                    continue;
                }
                let then =
                    crossings::of_pair(next_above, above) + crossings::of_pair(next_below, below);
                if then < now {
                    row.swap(at - 1, at);
                    near.swap(at - 1, at);
                    has_now = true;
                }
            }
            has_swapped |= has_now;
            if !has_now {
                break;
            }
        }
        self.layers[layer] = row;
        self.number(layer);
        has_swapped
    }
}

/// The lines of each vertex, those of each length spread evenly among all.
fn by_turns(layered: &Layered, ahead: &[Vec<usize>], is_from_above: bool) -> Vec<Vec<usize>> {
    let mut lengths = vec![0; layered.vertices.len()];
    for chain in &layered.chains {
        let next = if is_from_above {
            1
        } else {
            chain.vertices.len() - 2
        };
        lengths[chain.vertices[next]] = chain.vertices.len();
    }
    let spread = |near: &Vec<usize>| {
        let mut totals = BTreeMap::<usize, usize>::new();
        near.iter()
            .for_each(|&v| *totals.entry(lengths[v]).or_default() += 1);
        let mut seen = BTreeMap::<usize, usize>::new();
        let place = |&vertex: &usize| {
            let seen = seen.entry(lengths[vertex]).or_default();
            *seen += 1;
            (
                (*seen as f64 - 0.5) / totals[&lengths[vertex]] as f64,
                vertex,
            )
        };
        let mut places: Vec<(f64, usize)> = near.iter().map(place).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        places.into_iter().map(|(_, vertex)| vertex).collect()
    };
    ahead.iter().map(spread).collect()
}

fn mean(places: &[usize]) -> f64 {
    places.iter().sum::<usize>() as f64 / places.len() as f64
}

/// Of an even number the one between the middle two, nearer to the denser side.
fn median(places: &[usize]) -> f64 {
    let half = places.len() / 2;
    let place = |at: usize| places[at] as f64;
    if places.len() % 2 == 1 {
        return place(half);
    }
    let (low, high) = (place(half - 1), place(half));
    let left = low - place(0);
    let right = place(places.len() - 1) - high;
    if left + right == 0.0 {
        return f64::midpoint(low, high);
    }
    (low * right + high * left) / (left + right)
}

#[cfg(test)]
mod tests;
