//! The callers of a moment: a tree whose roots are the functions that called
//! the allocator and whose children are their callers.
//!
//! Deep recursion makes paths that share their callers and not their leaves;
//! all of them as one tree would take the square of their depth. So a branch
//! is grown only if it holds enough to be shown: level by level, each path is
//! a cursor that lies on one branch, and what is too small is summed up.
//!
//! From the other end there is no square: paths that share their callers are
//! one path there, and [`CallTree::hang`] only sums up.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::counts::{Held, Measure};

/// One label under its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The label.
    pub label: u32,
    /// What is held below it.
    pub held: Held,
    /// Its callers.
    pub callers: Callers,
}

/// The branches under one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// Indexes of those that are enough, the most first.
    pub shown: Vec<u32>,
    /// How many hold too little.
    pub lesser: u64,
    /// What those hold together.
    pub lesser_held: Held,
}

/// A tree of labels; what a label is, its maker knows.
#[derive(Debug, Default)]
pub struct CallTree {
    branches: Vec<Branch>,
    roots: Callers,
    total: Held,
}

/// What a branch has to be, or it is only summed up.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// What is looked at; branches are sorted by it, too.
    pub measure: Measure,
    /// How much of it.
    pub amount: u64,
}

/// A path on its way outwards, and what it holds.
type Path<C> = (C, Held);

/// A label, what is held below it, and the way on.
type Group<W> = (u32, Held, W);

impl CallTree {
    /// Grows a tree from paths. `step` gives the label at a cursor and the
    /// cursor of the caller; branches that are less than `least` are only summed up.
    /// Nothing if there would be more than `most` branches.
    pub fn grow<C: Copy>(
        paths: Vec<(C, Held)>,
        least: Least,
        most: usize,
        mut step: impl FnMut(C) -> Option<(u32, C)>,
    ) -> Option<Self> {
        let mut tree = Self {
            total: paths
                .iter()
                .fold(Held::default(), |sum, path| sum.plus(path.1)),
            ..Self::default()
        };
        let mut work = Vec::new();
        tree.roots = tree.level(paths, least, &mut step, &mut work);
        while let Some((branch, paths)) = work.pop() {
            let callers = tree.level(paths, least, &mut step, &mut work);
            tree.set(branch, callers);
            if tree.branches.len() > most {
                return None;
            }
        }
        Some(tree)
    }

    /// Grows a tree from lines that are linked towards its roots: each node is
    /// a label, the node above it, which comes before, or none, and what ends
    /// there. No two nodes have both the same label and the same node above.
    pub fn hang(nodes: &[(u32, Option<u32>, Held)], least: Least) -> Self {
        let mut held: Vec<Held> = nodes.iter().map(|node| node.2).collect();
        let mut tree = Self {
            total: held.iter().copied().fold(Held::default(), Held::plus),
            ..Self::default()
        };
        for (index, &(_, above, _)) in nodes.iter().enumerate().rev() {
            if let Some(above) = above {
                held[above as usize] = held[above as usize].plus(held[index]);
            }
        }
        let mut below: HashMap<Option<u32>, Vec<Group<u32>>, RandomState> = HashMap::default();
        for ((index, &(label, above, _)), &held) in (0..).zip(nodes).zip(&held) {
            if held.blocks > 0 {
                below.entry(above).or_default().push((label, held, index));
            }
        }
        let mut work = Vec::new();
        let mut level = |tree: &mut Self, node, work: &mut _| {
            let groups = below.remove(&node).unwrap_or_default();
            tree.sorted(groups, least, work)
        };
        tree.roots = level(&mut tree, None, &mut work);
        while let Some((branch, node)) = work.pop() {
            let callers = level(&mut tree, Some(node), &mut work);
            tree.set(branch, callers);
        }
        tree
    }

    /// Sorts paths by their next label. Of a recursion nearly all have the same
    /// one, so what goes with the path in the middle stays where it is.
    fn level<C: Copy>(
        &mut self,
        mut paths: Vec<Path<C>>,
        least: Least,
        step: &mut impl FnMut(C) -> Option<(u32, C)>,
        work: &mut Vec<(u32, Vec<Path<C>>)>,
    ) -> Callers {
        let middle = paths.get(paths.len() / 2);
        let middle = middle.and_then(|path| Some(step(path.0)?.0));
        let (mut kept, mut kept_sum) = (0, Held::default());
        let mut others: HashMap<u32, (Held, Vec<Path<C>>), RandomState> = HashMap::default();
        for at in 0..paths.len() {
            let (cursor, held) = paths[at];
            let Some((label, next)) = step(cursor) else {
                continue;
            };
            if Some(label) == middle {
                kept_sum = kept_sum.plus(held);
                paths[kept] = (next, held);
                kept += 1;
            } else {
                let (sum, group) = others.entry(label).or_default();
                *sum = sum.plus(held);
                group.push((next, held));
            }
        }
        paths.truncate(kept);
        if kept < paths.capacity() / 2 {
            paths.shrink_to_fit();
        }
        let middle = middle.map(|label| (label, kept_sum, paths));
        let others = others.into_iter();
        let others = others.map(|(label, (sum, group))| (label, sum, group));
        self.sorted(middle.into_iter().chain(others).collect(), least, work)
    }

    /// Makes branches of what holds enough; `work` is what is below them.
    fn sorted<W>(
        &mut self,
        mut groups: Vec<Group<W>>,
        least: Least,
        work: &mut Vec<(u32, W)>,
    ) -> Callers {
        groups.sort_unstable_by_key(|&(label, held, _)| {
            let most_first = match least.measure {
                Measure::Bytes => (held.bytes, held.blocks),
                Measure::Blocks => (held.blocks, held.bytes),
            };
            (std::cmp::Reverse(most_first), label)
        });
        let mut callers = Callers::default();
        for (label, held, below) in groups {
            if held.by(least.measure) < least.amount {
                callers.lesser += 1;
                callers.lesser_held = callers.lesser_held.plus(held);
                continue;
            }
            let branch = self.branches.len() as u32;
            self.branches.push(Branch {
                label,
                held,
                callers: Callers::default(),
            });
            callers.shown.push(branch);
            work.push((branch, below));
        }
        callers
    }

    fn set(&mut self, branch: u32, callers: Callers) {
        if let Some(place) = self.branches.get_mut(branch as usize) {
            place.callers = callers;
        }
    }

    /// How many branches there are: their indexes are below that.
    pub fn branches(&self) -> u32 {
        self.branches.len() as u32
    }

    /// The branches at the top.
    pub fn roots(&self) -> &Callers {
        &self.roots
    }

    /// A branch by its index.
    pub fn get(&self, branch: u32) -> Option<&Branch> {
        self.branches.get(branch as usize)
    }

    /// Everything that was held.
    pub fn total(&self) -> Held {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(bytes: u64, blocks: u64) -> Held {
        Held { bytes, blocks }
    }

    fn bytes(amount: u64) -> Least {
        Least {
            measure: Measure::Bytes,
            amount,
        }
    }

    fn grow(paths: &[(&'static [u32], Held)], least: u64) -> CallTree {
        CallTree::grow(paths.to_vec(), bytes(least), 100, |path| {
            path.split_first().map(|(&label, rest)| (label, rest))
        })
        .expect("no more than that")
    }

    #[test]
    fn callers_are_summed_and_sorted() {
        let paths: [(&[u32], _); 3] = [
            (&[1, 2, 3], held(10, 1)),
            (&[1, 4, 3], held(30, 2)),
            (&[5], held(20, 1)),
        ];
        let tree = grow(&paths, 0);
        assert_eq!(tree.total(), held(60, 4));
        let branch = |index: u32| tree.get(index).unwrap();
        let roots: Vec<_> = tree
            .roots()
            .shown
            .iter()
            .map(|&root| branch(root))
            .collect();
        assert_eq!((roots[0].label, roots[0].held), (1, held(40, 3)));
        let first = branch(roots[0].callers.shown[0]);
        assert_eq!((first.label, first.held), (4, held(30, 2)));
        assert_eq!(roots[1].label, 5);
        assert_eq!(roots[1].callers, Callers::default());
    }

    #[test]
    fn the_small_are_summed() {
        let paths: [(&[u32], _); 3] = [
            (&[1, 2], held(90, 1)),
            (&[1, 3], held(3, 1)),
            (&[4], held(5, 7)),
        ];
        let tree = grow(&paths, 10);
        let roots = tree.roots();
        assert_eq!((roots.shown.len(), roots.lesser), (1, 1));
        assert_eq!(roots.lesser_held, held(5, 7));
        let first = tree.get(roots.shown[0]).unwrap();
        assert_eq!((first.callers.shown.len(), first.callers.lesser), (1, 1));
    }

    /// By blocks the place with fewer bytes comes first, and the other is small.
    #[test]
    fn blocks_decide_where_they_are_asked_for() {
        let least = Least {
            measure: Measure::Blocks,
            amount: 5,
        };
        let paths = vec![(1, held(9_000, 1)), (2, held(10, 7)), (3, held(20, 6))];
        let step = |label: u32| (label > 0).then_some((label, 0));
        let grown = CallTree::grow(paths, least, 100, step).expect("no more than that");
        let nodes = [
            (1, None, held(9_000, 1)),
            (2, None, held(10, 7)),
            (3, None, held(20, 6)),
        ];
        for tree in [grown, CallTree::hang(&nodes, least)] {
            let roots = tree.roots();
            let labels = roots
                .shown
                .iter()
                .map(|&root| tree.get(root).unwrap().label);
            assert_eq!(labels.collect::<Vec<_>>(), [2, 3]);
            assert_eq!(roots.lesser_held, held(9_000, 1));
        }
    }

    /// Under 1: 2 under 1 with 30, 3 under that with 5; and 3 under 1.
    #[test]
    fn hanging_lines_are_summed_where_small() {
        let nodes = [
            (1, None, held(0, 0)),
            (2, Some(0), held(30, 2)),
            (3, Some(1), held(5, 1)),
            (3, Some(0), held(20, 1)),
            (9, None, held(0, 0)),
        ];
        let tree = CallTree::hang(&nodes, bytes(10));
        assert_eq!(tree.total(), held(55, 4));
        let only = |callers: &Callers| tree.get(callers.shown[0]).unwrap();
        let root = only(tree.roots());
        assert_eq!((root.label, root.held), (1, held(55, 4)));
        assert_eq!((tree.roots().shown.len(), tree.roots().lesser), (1, 0));
        let first = only(&root.callers);
        assert_eq!((first.label, first.held), (2, held(35, 3)));
        assert_eq!(first.callers.lesser_held, held(5, 1));
        let second = tree.get(root.callers.shown[1]).unwrap();
        assert_eq!((second.label, second.held), (3, held(20, 1)));
    }

    #[test]
    fn deep_recursion_takes_no_square() {
        // Paths 0, 1 0, 2 1 0 and so on, each a byte: few branches hold enough.
        let paths = (0..3000u32)
            .map(|depth| (Some(depth), held(1, 1)))
            .collect();
        let grow = |paths, least, most| {
            CallTree::grow(paths, bytes(least), most, |cursor: Option<u32>| {
                cursor.map(|depth| (depth % 7, depth.checked_sub(1)))
            })
        };
        let paths: Vec<_> = paths;
        assert!(grow(paths.clone(), 30, 30_000).is_some());
        assert!(grow(paths, 30, 10_000).is_none());
    }
}
