//! Network simplex: whole numbers for vertices, so that every arc is at least
//! as long as it must be and the arcs, by their weights, are short together.
//! It finds the layers and then, with other arcs, the columns.
//!
//! ```text
//! tree := a spanning tree of tight arcs           (tight.rs)
//! cut(arc of the tree) := weight from its tail's side to its head's side,
//!                         less the weight that comes back
//! while the tree has an arc with a negative cut:
//!     leaving  := the worst of the next few of them
//!     entering := of the arcs that cross back, the one with the least slack
//!     move one side by that slack; exchange the two; mend cuts and ranges
//! centre what could as well stand elsewhere
//! ```
//!
//! Liberties:
//! * The first cuts are sums over subtrees of what each vertex sends less what
//!   it gets: arcs inside of a subtree cancel out, so one pass is enough.
//! * Pivots are limited, and so is how many vertices they go through together:
//!   what is left then is feasible and merely longer, and a picture today is
//!   worth more than the best one tomorrow.
//! * Whichever side is smaller is searched and moved, for only differences count.

use std::ops::Range;

use super::tight;

/// From `tail` to `head`, whose number is larger by at least `length`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub tail: usize,
    pub head: usize,
    pub length: i64,
    pub weight: i64,
}

/// So many bad arcs are looked at before the worst of them leaves.
const CANDIDATES: usize = 30;
const NONE: usize = usize::MAX;
/// Vertices that are gone through: about a second. A page of three hundred boxes
/// as programs have them takes a tenth of it.
const MOST_WORK: usize = 15_000_000;

/// The best numbers, from feasible ones. The arcs must join all vertices.
pub(super) fn solve(numbers: Vec<i64>, arcs: &[Arc], most_pivots: usize) -> Vec<i64> {
    if numbers.is_empty() {
        return numbers;
    }
    let mut simplex = Simplex::new(numbers, arcs);
    let mut next = 0;
    for _ in 0..most_pivots {
        if simplex.work > MOST_WORK {
            return simplex.numbers;
        }
        let Some(slot) = simplex.leaving(&mut next) else {
            break;
        };
        if !simplex.pivot(slot) {
            break;
        }
    }
    simplex.centre();
    simplex.numbers
}

struct Simplex<'a> {
    arcs: &'a [Arc],
    /// Arcs at each vertex.
    at: Vec<Vec<usize>>,
    numbers: Vec<i64>,
    /// The arcs of the tree, and of each of them its cut.
    tree: Vec<usize>,
    cuts: Vec<i64>,
    /// Of an arc: its place in `tree`, or `NONE`.
    slots: Vec<usize>,
    /// Arcs of the tree at each vertex.
    tree_at: Vec<Vec<usize>>,
    /// The arc towards the root.
    up: Vec<usize>,
    /// A subtree is `order[low..=high]`, its top the last of them.
    low: Vec<usize>,
    high: Vec<usize>,
    order: Vec<usize>,
    /// How many vertices were gone through.
    work: usize,
}

impl<'a> Simplex<'a> {
    fn new(mut numbers: Vec<i64>, arcs: &'a [Arc]) -> Self {
        let count = numbers.len();
        let mut at = vec![Vec::new(); count];
        for (index, arc) in arcs.iter().enumerate() {
            at[arc.tail].push(index);
            at[arc.head].push(index);
        }
        let tree = tight::tree(&mut numbers, arcs, &at);
        let mut slots = vec![NONE; arcs.len()];
        let mut tree_at = vec![Vec::new(); count];
        for (slot, &arc) in tree.iter().enumerate() {
            slots[arc] = slot;
            tree_at[arcs[arc].tail].push(arc);
            tree_at[arcs[arc].head].push(arc);
        }
        let mut simplex = Self {
            arcs,
            at,
            numbers,
            cuts: vec![0; tree.len()],
            tree,
            slots,
            tree_at,
            up: vec![NONE; count],
            low: vec![0; count],
            high: vec![0; count],
            order: vec![0; count],
            work: 0,
        };
        simplex.range(0, NONE, 0);
        simplex.first_cuts();
        simplex
    }

    fn other(&self, arc: usize, vertex: usize) -> usize {
        let Arc { tail, head, .. } = self.arcs[arc];
        if tail == vertex { head } else { tail }
    }

    fn slack(&self, arc: usize) -> i64 {
        let arc = self.arcs[arc];
        self.numbers[arc.head] - self.numbers[arc.tail] - arc.length
    }

    /// Walks the subtree below `top` anew; its ranges begin at `low`.
    fn range(&mut self, top: usize, up: usize, low: usize) {
        self.up[top] = up;
        self.low[top] = low;
        let mut next = low;
        let mut path = vec![(top, 0)];
        while let Some(&mut (vertex, ref mut child)) = path.last_mut() {
            let Some(&arc) = self.tree_at[vertex].get(*child) else {
                self.high[vertex] = next;
                self.order[next] = vertex;
                next += 1;
                path.pop();
                continue;
            };
            *child += 1;
            if arc != self.up[vertex] {
                let below = self.other(arc, vertex);
                self.up[below] = arc;
                self.low[below] = next;
                path.push((below, 0));
            }
        }
        self.work += next - low;
    }

    fn first_cuts(&mut self) {
        let mut sends = vec![0; self.order.len()];
        for arc in self.arcs {
            sends[arc.tail] += arc.weight;
            sends[arc.head] -= arc.weight;
        }
        for &vertex in &self.order {
            let up = self.up[vertex];
            if up == NONE {
                continue;
            }
            let sent = sends[vertex];
            let is_tail = self.arcs[up].tail == vertex;
            self.cuts[self.slots[up]] = if is_tail { sent } else { -sent };
            let above = self.other(up, vertex);
            sends[above] += sent;
        }
    }

    /// The next arc to leave the tree, from `next` on.
    fn leaving(&self, next: &mut usize) -> Option<usize> {
        let mut worst = None;
        let mut found = 0;
        for step in 0..self.tree.len() {
            let slot = (*next + step) % self.tree.len();
            if self.cuts[slot] >= 0 {
                continue;
            }
            if worst.is_none_or(|worst: usize| self.cuts[slot] < self.cuts[worst]) {
                worst = Some(slot);
            }
            found += 1;
            if found == CANDIDATES {
                *next = (slot + 1) % self.tree.len();
                break;
            }
        }
        worst
    }

    /// The end of a tree's arc that is farther from the root.
    fn below(&self, arc: usize) -> usize {
        let Arc { tail, head, .. } = self.arcs[arc];
        if self.up[tail] == arc { tail } else { head }
    }

    fn holds(&self, top: usize, vertex: usize) -> bool {
        (self.low[top]..=self.high[top]).contains(&self.high[vertex])
    }

    /// The smaller of the two sides of a tree's arc, and whether it is the lower.
    fn smaller_side(&self, top: usize) -> (bool, [Range<usize>; 2]) {
        let (low, end) = (self.low[top], self.high[top] + 1);
        let count = self.order.len();
        if 2 * (end - low) <= count {
            (true, [low..end, end..end])
        } else {
            (false, [0..low, end..count])
        }
    }

    /// The arc that may take this one's place, and its slack.
    fn entering(&mut self, leaving: usize) -> Option<(usize, i64)> {
        let top = self.below(leaving);
        let (is_lower, ranges) = self.smaller_side(top);
        self.work += ranges.iter().map(Range::len).sum::<usize>();
        // It must run against the leaving one: out of the side of that one's head.
        let from_here = (self.arcs[leaving].head == top) == is_lower;
        let mut best: Option<(usize, i64)> = None;
        for &vertex in ranges.into_iter().flat_map(|range| &self.order[range]) {
            for &arc in &self.at[vertex] {
                let starts_here = self.arcs[arc].tail == vertex;
                if starts_here != from_here || self.slots[arc] != NONE {
                    continue;
                }
                let crosses = self.holds(top, self.other(arc, vertex)) != is_lower;
                let slack = self.slack(arc);
                if crosses && best.is_none_or(|(at, least)| (slack, arc) < (least, at)) {
                    best = Some((arc, slack));
                }
            }
        }
        best
    }

    /// Lengthens a tree's arc by so much: moves one of its sides.
    fn lengthen(&mut self, arc: usize, by: i64) {
        let top = self.below(arc);
        let (is_lower, ranges) = self.smaller_side(top);
        let moves_head = (self.arcs[arc].head == top) == is_lower;
        let by = if moves_head { by } else { -by };
        for range in ranges {
            for at in range {
                self.numbers[self.order[at]] += by;
            }
        }
    }

    fn pivot(&mut self, slot: usize) -> bool {
        let leaving = self.tree[slot];
        let Some((entering, slack)) = self.entering(leaving) else {
            return false;
        };
        if slack > 0 {
            self.lengthen(leaving, slack);
        }
        let cut = self.cuts[slot];
        let Arc { tail, head, .. } = self.arcs[entering];
        let meet = self.mend(tail, head, cut);
        self.mend(head, tail, -cut);
        self.cuts[slot] = -cut;
        self.tree[slot] = entering;
        self.slots[entering] = slot;
        self.slots[leaving] = NONE;
        let Arc {
            tail: a, head: b, ..
        } = self.arcs[leaving];
        self.tree_at[a].retain(|&arc| arc != leaving);
        self.tree_at[b].retain(|&arc| arc != leaving);
        self.tree_at[tail].push(entering);
        self.tree_at[head].push(entering);
        let (up, low) = (self.up[meet], self.low[meet]);
        self.range(meet, up, low);
        true
    }

    /// Adds to the cuts from `vertex` up to where `other` is below too.
    fn mend(&mut self, mut vertex: usize, other: usize, cut: i64) -> usize {
        while !self.holds(vertex, other) {
            let up = self.up[vertex];
            let is_tail = self.arcs[up].tail == vertex;
            self.cuts[self.slots[up]] += if is_tail { cut } else { -cut };
            vertex = self.other(up, vertex);
        }
        vertex
    }

    /// An arc with a cut of 0 may be longer at no cost: half of what it may.
    fn centre(&mut self) {
        for slot in 0..self.tree.len() {
            let arc = self.tree[slot];
            if self.cuts[slot] != 0 || self.work > MOST_WORK {
                continue;
            }
            if let Some((_, slack)) = self.entering(arc) {
                self.lengthen(arc, slack / 2);
            }
        }
    }
}

#[cfg(test)]
mod tests;
