//! Where network simplex starts: a spanning tree of arcs that are no longer
//! than they must be.
//!
//! ```text
//! tree := one vertex
//! while a vertex is outside:
//!     arc := of the arcs that cross the border, the one with the least slack
//!     move the tree by that slack, so that the arc is tight; it joins the tree
//! ```
//!
//! Liberty: the tree is not moved. What it has moved in all is kept in
//! `moved`, and every number and every slack is written as of `moved` = 0.
//! Arcs that leave the tree lose slack as it moves up and those that come in
//! gain it, so two heaps, one for each kind, stay in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::simplex::Arc;

type Heap = BinaryHeap<Reverse<(i64, usize)>>;

/// The arcs of the tree; the numbers become such that they are tight.
pub(super) fn tree(numbers: &mut [i64], arcs: &[Arc], at: &[Vec<usize>]) -> Vec<usize> {
    let mut tree = Vec::new();
    let mut inside = vec![false; numbers.len()];
    let (mut leaving, mut coming) = (Heap::new(), Heap::new());
    let mut moved = 0;
    let mut joins = Some(0);
    while let Some(vertex) = joins.take() {
        inside[vertex] = true;
        numbers[vertex] -= moved;
        for &index in &at[vertex] {
            let arc = arcs[index];
            if arc.tail == vertex && !inside[arc.head] {
                let slack = numbers[arc.head] - numbers[vertex] - arc.length;
                leaving.push(Reverse((slack, index)));
            } else if arc.head == vertex && !inside[arc.tail] {
                let slack = numbers[vertex] - numbers[arc.tail] - arc.length;
                coming.push(Reverse((slack, index)));
            }
        }
        let out = least(&mut leaving, |index| inside[arcs[index].head]);
        let back = least(&mut coming, |index| inside[arcs[index].tail]);
        let out_slack = out.map(|(slack, _)| slack - moved);
        let back_slack = back.map(|(slack, _)| slack + moved);
        let goes_out = match (out_slack, back_slack) {
            (Some(out), Some(back)) => out <= back,
            (out, _) => out.is_some(),
        };
        let Some((_, index)) = (if goes_out { out } else { back }) else {
            break;
        };
        tree.push(index);
        if goes_out {
            moved += out_slack.unwrap_or(0);
            joins = Some(arcs[index].head);
        } else {
            moved -= back_slack.unwrap_or(0);
            joins = Some(arcs[index].tail);
        }
    }
    for number in numbers.iter_mut() {
        *number += moved;
    }
    tree
}

/// The first arc of a heap that still crosses the border.
fn least(heap: &mut Heap, is_inside: impl Fn(usize) -> bool) -> Option<(i64, usize)> {
    while let Some(&Reverse((slack, index))) = heap.peek() {
        if !is_inside(index) {
            return Some((slack, index));
        }
        heap.pop();
    }
    None
}
