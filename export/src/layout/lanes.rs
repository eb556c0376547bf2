//! Where an arrow may run: gates at the borders of the layers that it passes.
//!
//! At first each line stands straight in its layer. One after the other they
//! are drawn anew, and each may go as far as its neighbours are then. So
//! lines meet only between layers, where there are neither boxes nor labels.

use super::columns::least_gap;
use super::layered::{Kind, Layered};
use super::order::Layers;
use super::rows::Rows;

/// Gates nearer to each other than this are one.
const LEAST_STEP: f64 = 0.5;

/// At `y`, a line is to pass from `low` to `high`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

impl Gate {
    pub(super) fn point(x: f64, y: f64) -> Self {
        Self { y, low: x, high: x }
    }
}

/// Where lines are, and so how far others may be moved.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    layered: &'a Layered,
    /// The neighbours in the layer.
    beside: Vec<[Option<usize>; 2]>,
    /// From where to where each line is in its layer: at first it goes straight.
    taken: Vec<[f64; 2]>,
    /// How far from the middle of its box a line may begin.
    reach: Vec<f64>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(
        layered: &'a Layered,
        layers: &Layers,
        columns: &[f64],
        reach: Vec<f64>,
    ) -> Self {
        let mut beside = vec![[None; 2]; columns.len()];
        for pair in layers.iter().flat_map(|layer| layer.windows(2)) {
            beside[pair[0]][1] = Some(pair[1]);
            beside[pair[1]][0] = Some(pair[0]);
        }
        Self {
            layered,
            beside,
            taken: columns.iter().map(|&x| [x, x]).collect(),
            reach,
        }
    }

    /// From where to where a line may be in the layer of this vertex.
    fn lane(&self, vertex: usize) -> [f64; 2] {
        let it = &self.layered.vertices[vertex];
        let [low, high] = self.taken[vertex];
        if it.kind == Kind::Box {
            return [low - self.reach[vertex], high + self.reach[vertex]];
        }
        let left = self.beside[vertex][0].map_or(f64::NEG_INFINITY, |left| {
            let other = &self.layered.vertices[left];
            self.taken[left][1] + other.right + least_gap(other, it) + it.left
        });
        let right = self.beside[vertex][1].map_or(f64::INFINITY, |right| {
            let other = &self.layered.vertices[right];
            self.taken[right][0] - other.left - least_gap(it, other) - it.right
        });
        [left.min(low), right.max(high)]
    }

    /// A line is now here in the layer of this vertex.
    pub(super) fn take(&mut self, vertex: usize, from: f64, to: f64) {
        self.taken[vertex] = [from.min(to), from.max(to)];
    }

    /// The gates of an arrow between its ends, of which the first is the upper one.
    pub(super) fn gates(&self, rows: &Rows, chain: &[usize], ends: [Gate; 2]) -> Vec<Gate> {
        let mut gates = vec![ends[0]];
        let mut add = |y: f64, vertex: usize| {
            let is_before = gates.last().is_some_and(|last| y >= last.y + LEAST_STEP);
            if is_before && y + LEAST_STEP <= ends[1].y {
                let [low, high] = self.lane(vertex);
                gates.push(Gate { y, low, high });
            }
        };
        let layer = |vertex: usize| self.layered.vertices[vertex].layer;
        if let [upper, ref inner @ .., lower] = *chain {
            add(rows.bottoms[layer(upper)], upper);
            for &vertex in inner {
                add(rows.tops[layer(vertex)], vertex);
                add(rows.bottoms[layer(vertex)], vertex);
            }
            add(rows.tops[layer(lower)], lower);
        }
        gates.push(ends[1]);
        gates
    }
}
