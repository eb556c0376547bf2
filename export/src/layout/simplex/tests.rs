//! The simplex against a naive twin that tries all numbers.

use super::*;
use proptest::prelude::*;

const COUNT: usize = 5;
/// Longest ways are shorter than this.
const END: i64 = 9;

/// Nothing if the numbers are not feasible.
fn cost(numbers: &[i64], arcs: &[Arc]) -> Option<i64> {
    let lengths = arcs
        .iter()
        .map(|arc| (arc, numbers[arc.head] - numbers[arc.tail]));
    let costs = lengths.map(|(arc, length)| (length >= arc.length).then_some(length * arc.weight));
    costs.sum()
}

fn least_cost(arcs: &[Arc]) -> Option<i64> {
    let all = (0..END.pow(COUNT as u32)).map(|code| {
        let numbers = (0..COUNT as u32).map(|at| code / END.pow(at) % END);
        cost(&numbers.collect::<Vec<_>>(), arcs)
    });
    all.flatten().min()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn finds_the_least_cost(
        tree in proptest::collection::vec((0_usize..4, 0_i64..3, 0_i64..5), COUNT - 1),
        more in proptest::collection::vec((0_usize..4, 1_usize..5, 0_i64..3, 0_i64..5), 0..6),
    ) {
        let joins = tree.iter().enumerate();
        let joins = joins.map(|(at, &(tail, length, weight))| (tail % (at + 1), at + 1, length, weight));
        let downwards = joins.chain(more).filter(|(tail, head, ..)| tail < head);
        let arcs = downwards.map(|(tail, head, length, weight)| Arc { tail, head, length, weight });
        let arcs: Vec<Arc> = arcs.collect();
        // Farther apart than any way is long.
        let start = (0..COUNT as i64).map(|at| at * END).collect();
        let numbers = solve(start, &arcs, 1000);
        prop_assert_eq!(cost(&numbers, &arcs), least_cost(&arcs));
    }
}
