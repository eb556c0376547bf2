//! The order against a naive count of crossings.

use super::super::cycles::Call;
use super::super::layered::{self, Drawn, Extent};
use super::*;
use proptest::prelude::*;

fn drawn(edge: usize, from: usize, to: usize) -> Drawn {
    Drawn {
        call: Call {
            edge,
            from,
            to,
            weight: 1,
            leads_back: false,
        },
        is_turned: false,
        label: Some(Extent::default()),
        line_width: 1.0,
    }
}

/// Each piece with each other.
fn crossings(layered: &Layered, layers: &Layers) -> usize {
    let layer = |v: usize| layered.vertices[v].layer;
    let place = |v: usize| layers[layer(v)].iter().position(|&at| at == v);
    let pieces = layered
        .chains
        .iter()
        .flat_map(|chain| chain.vertices.windows(2));
    let pieces = pieces.map(|pair| (layer(pair[0]), place(pair[0]), place(pair[1])));
    let pieces: Vec<_> = pieces.collect();
    let is_crossed = |a: &(_, _, _), b: &(_, _, _)| a.0 == b.0 && a.1 < b.1 && a.2 > b.2;
    let of_one = |a| pieces.iter().filter(|b| is_crossed(a, b)).count();
    pieces.iter().map(of_one).sum()
}

proptest! {
    #[test]
    fn trees_have_no_crossings_and_others_not_more_than_at_first(
        parents in proptest::collection::vec(any::<u8>(), 1..30),
        more in proptest::collection::vec(any::<(u8, u8)>(), 0..12),
    ) {
        let mut ranks = vec![0];
        let mut calls = Vec::new();
        for (at, &parent) in parents.iter().enumerate() {
            let parent = usize::from(parent) % (at + 1);
            ranks.push(ranks[parent] + 1);
            calls.push(drawn(at, parent, at + 1));
        }
        let boxes = vec![Extent::default(); ranks.len()];
        let tree = layered::build(&boxes, &ranks, &calls);
        prop_assert_eq!(crossings(&tree, &order(&tree)), 0);
        for (a, b) in more {
            let (a, b) = (usize::from(a) % ranks.len(), usize::from(b) % ranks.len());
            if ranks[a] < ranks[b] {
                calls.push(drawn(calls.len(), a, b));
            }
        }
        let graph = layered::build(&boxes, &ranks, &calls);
        let first = Order::first(&graph, true);
        prop_assert_eq!(crossings(&graph, &first.layers), first.crossings());
        prop_assert!(crossings(&graph, &order(&graph)) <= first.crossings());
    }
}
