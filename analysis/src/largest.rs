//! The largest branches of a tree, however large all of it is: what is grown next is
//! always the largest that is known, so that after so many no other is larger than one
//! of them. What stays ungrown is told as a sum.
//!
//! A branch holds two amounts, such as those of two moments; it is as large as the larger.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::counts::{Held, Measure};

/// What a branch holds, at each of two moments.
pub type Pair = [Held; 2];

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// What it is called.
    pub label: u32,
    /// The place of the branch that it grows from, which comes before it.
    pub parent: Option<u32>,
    /// What it holds with all that grows from it.
    pub held: Pair,
    /// The part of it that ends here.
    pub own: Pair,
}

/// Branches, and what did not become any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    /// The largest first, each behind the one that it grows from.
    pub branches: Vec<Grown>,
    /// What all hold together.
    pub total: Pair,
    /// How many would have grown from those next, and what they hold.
    pub left_out: (u64, Pair),
}

/// A branch that may grow: its label, what it holds, and whatever says what grows from it.
pub type Bud<W> = (u32, Pair, W);

/// The largest `most` branches. `grow` tells what grows from one.
pub fn largest<W>(
    roots: Vec<Bud<W>>,
    measure: Measure,
    most: usize,
    mut grow: impl FnMut(W) -> Vec<Bud<W>>,
) -> Largest {
    let mut found = Largest {
        total: sum(&roots),
        ..Largest::default()
    };
    let size = |held: &Pair| held[0].by(measure).max(held[1].by(measure));
    // By size; of equals the one that was known first.
    let mut order: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
    let mut buds: Vec<Option<(Option<u32>, Bud<W>)>> = Vec::new();
    let add = |order: &mut BinaryHeap<_>, buds: &mut Vec<_>, parent, mut new: Vec<Bud<W>>| {
        new.sort_by_key(|(label, held, _)| (Reverse(size(held)), *label));
        for bud in new {
            order.push((size(&bud.1), Reverse(buds.len())));
            buds.push(Some((parent, bud)));
        }
    };
    add(&mut order, &mut buds, None, roots);
    while let Some((_, Reverse(place))) = order.pop() {
        let Some((parent, (label, held, way))) = buds[place].take() else {
            continue;
        };
        if found.branches.len() >= most {
            let (count, sum) = &mut found.left_out;
            *count += 1;
            *sum = plus(*sum, held);
            continue;
        }
        let above = grow(way);
        let own = minus(held, sum(&above));
        let branch = found.branches.len() as u32;
        found.branches.push(Grown {
            label,
            parent,
            held,
            own,
        });
        add(&mut order, &mut buds, Some(branch), above);
    }
    found
}

fn sum<W>(buds: &[Bud<W>]) -> Pair {
    buds.iter()
        .fold(Pair::default(), |sum, (_, held, _)| plus(sum, *held))
}

fn plus(one: Pair, other: Pair) -> Pair {
    [one[0].plus(other[0]), one[1].plus(other[1])]
}

fn minus(one: Pair, other: Pair) -> Pair {
    [one[0].minus(other[0]), one[1].minus(other[1])]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn bytes(bytes: u64) -> Pair {
        let held = Held { bytes, blocks: 1 };
        [held, Held::default()]
    }

    /// Paths of labels, with what ends at each.
    type Paths = Vec<(Vec<u32>, u64)>;

    fn buds(paths: Paths) -> Vec<Bud<Paths>> {
        let mut groups: BTreeMap<u32, (u64, Paths)> = BTreeMap::new();
        for (path, held) in paths {
            if let Some((first, rest)) = path.split_first() {
                let group = groups.entry(*first).or_default();
                group.0 += held;
                group.1.push((rest.to_vec(), held));
            }
        }
        let groups = groups.into_iter();
        groups
            .map(|(label, (held, rest))| (label, bytes(held), rest))
            .collect()
    }

    /// Every branch with its way from the root, and what it holds.
    fn told(found: &Largest) -> Vec<(Vec<u32>, u64, u64)> {
        let way = |mut place: usize| {
            let mut way = Vec::new();
            loop {
                way.insert(0, found.branches[place].label);
                match found.branches[place].parent {
                    Some(parent) => place = parent as usize,
                    None => return way,
                }
            }
        };
        let told = |(place, branch): (usize, &Grown)| {
            (way(place), branch.held[0].bytes, branch.own[0].bytes)
        };
        found.branches.iter().enumerate().map(told).collect()
    }

    /// The naive twin: all prefixes of all paths, sorted.
    #[test]
    fn they_are_those_of_all_that_are_largest() {
        let paths: Paths = (0..400u32)
            .map(|n| {
                let path = (0..1 + n % 7).map(|depth| n * (depth + 3) % (depth + 2));
                (path.collect(), u64::from(n * n % 1009 + 1))
            })
            .collect();
        let mut all: BTreeMap<Vec<u32>, (u64, u64)> = BTreeMap::new();
        for (path, held) in &paths {
            for depth in 1..=path.len() {
                let sums = all.entry(path[..depth].to_vec()).or_default();
                sums.0 += held;
                sums.1 += if depth == path.len() { *held } else { 0 };
            }
        }
        let mut sizes: Vec<u64> = all.values().map(|(held, _)| *held).collect();
        sizes.sort_unstable_by_key(|size| Reverse(*size));
        for most in [0, 1, 2, 5, 20, all.len(), 10 * all.len()] {
            let found = largest(buds(paths.clone()), Measure::Bytes, most, buds);
            let told = told(&found);
            assert_eq!(told.len(), most.min(all.len()));
            for (way, held, own) in &told {
                assert_eq!(all[way], (*held, *own), "{way:?}");
            }
            let held = told.iter().map(|(_, held, _)| *held);
            assert!(held.eq(sizes.iter().copied().take(most)));
            let own: u64 = told.iter().map(|(_, _, own)| own).sum();
            assert_eq!(own + found.left_out.1[0].bytes, found.total[0].bytes);
        }
    }

    #[test]
    fn what_went_counts_as_much_as_what_came() {
        let went = [Held::default(), bytes(9)[0]];
        let roots = vec![(1, bytes(5), ()), (2, went, ()), (3, bytes(7), ())];
        let found = largest(roots, Measure::Bytes, 2, |()| Vec::new());
        let labels: Vec<_> = found.branches.iter().map(|branch| branch.label).collect();
        assert_eq!(labels, [2, 3]);
        assert_eq!(found.left_out, (1, bytes(5)));
        assert_eq!(
            found.total,
            [
                Held {
                    bytes: 12,
                    blocks: 2
                },
                went[1]
            ]
        );
    }
}
