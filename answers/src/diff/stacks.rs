//! The stacks of both sides in one tree, and which of them are one although a side lacks
//! frames.
//!
//! ```text
//! before (-O0)                        after (-O2, nothing known of what is inlined)
//! take < load < main    5 MB          load < main    9 MB
//! keep < load < main    4 MB
//!        is one:  load < main         9 MB -> 9 MB
//! ```
//!
//! A stack that only one side holds (L) is one with a shorter one of the other (S) if
//! * S is L without some of its frames,
//! * the other log has never, in all of its run, seen such a frame's function between the
//!   two that it is between,
//! * and if L's side holds S as well, S lost on it at least half of what L holds: so much
//!   had moved there.
//!
//! Of several the longest is taken. Of what is left then, two that each lack what the
//! other has are one if they hold the same, which no other does: see `equals`.
//! A function that calls itself counts once: how often
//! it does is a matter of data and of inlining.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::RandomState;
use memlog_analysis::Held;

use super::names::Names;
use super::side::Side;

/// The end of every stack.
pub(super) const ROOT: u32 = 0;
/// What has no name is as good as any.
const NAMELESS: u32 = u32::MAX;
/// Shorter stacks that are kept in mind. More come about by recursions alone.
const MOST: usize = 16;

/// A function and its callers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) key: u32,
    pub(super) caller: u32,
    depth: u32,
    /// What ends here, by side.
    pub(super) held: [Held; 2],
    is_seen: [bool; 2],
    /// Whether any block of the run was asked for here.
    is_end: [bool; 2],
}

/// Both sides.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    callees: HashMap<(u32, u32), u32, RandomState>,
    /// By side and line.
    of_line: [Vec<u32>; 2],
}

impl Tree {
    pub(super) fn of(sides: [&Side; 2], names: &Names) -> Self {
        let root = Node {
            key: NAMELESS,
            caller: ROOT,
            depth: 0,
            held: [Held::default(); 2],
            is_seen: [true; 2],
            is_end: [false; 2],
        };
        let mut tree = Self {
            nodes: vec![root],
            callees: HashMap::default(),
            of_line: [Vec::new(), Vec::new()],
        };
        for (number, side) in sides.into_iter().enumerate() {
            tree.enter(number, side, names);
        }
        tree
    }

    fn enter(&mut self, number: usize, side: &Side, names: &Names) {
        let mut nodes: Vec<u32> = vec![ROOT];
        for line in side.lines.iter().skip(1) {
            let caller = nodes.get(line.callers as usize).copied().unwrap_or(ROOT);
            let key = names.key(number, line.label).unwrap_or(NAMELESS);
            let node = match self.nodes[caller as usize].key == key && caller != ROOT {
                true => caller,
                false => self.callee(caller, key),
            };
            self.nodes[node as usize].is_seen[number] = true;
            nodes.push(node);
        }
        self.of_line[number] = nodes;
        for &line in &side.ends {
            let node = self.end(number, line) as usize;
            self.nodes[node].is_end[number] = true;
        }
        for part in &side.parts {
            let node = self.end(number, part.line) as usize;
            let held = &mut self.nodes[node].held[number];
            *held = held.plus(part.held);
        }
    }

    fn callee(&mut self, caller: u32, key: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.callees.entry((caller, key)).or_insert(next);
        if node == next {
            self.nodes.push(Node {
                key,
                caller,
                depth: self.nodes[caller as usize].depth + 1,
                held: [Held::default(); 2],
                is_seen: [false; 2],
                is_end: [false; 2],
            });
        }
        node
    }

    /// Where a line of a side ends.
    pub(super) fn end(&self, side: usize, line: u32) -> u32 {
        self.of_line[side]
            .get(line as usize)
            .copied()
            .unwrap_or(ROOT)
    }

    /// The function of a node, its caller and the caller of that.
    fn keys_from(&self, node: u32) -> [u32; 3] {
        let own = &self.nodes[node as usize];
        let caller = &self.nodes[own.caller as usize];
        [own.key, caller.key, self.nodes[caller.caller as usize].key]
    }

    /// How far out the outermost node of this function is, on the way from a node.
    pub(super) fn depth_of(&self, node: u32, key: u32) -> u32 {
        let fit = self.path(node).filter(|node| node.key == key);
        fit.map(|node| node.depth).min().unwrap_or(u32::MAX)
    }

    /// A node and its callers.
    fn path(&self, node: u32) -> impl Iterator<Item = &Node> {
        let next = |node: &u32| Some(self.nodes[*node as usize].caller);
        let path = std::iter::successors(Some(node), next);
        path.take_while(|node| *node != ROOT)
            .map(|node| &self.nodes[node as usize])
    }

    /// Which of two holds more. It is the same in both directions of a comparison.
    pub(super) fn order(&self, one: u32, other: u32, names: &Names) -> Ordering {
        let amounts = |node: u32| {
            let own = &self.nodes[node as usize];
            let held = own.held[0].plus(own.held[1]);
            (held.bytes, held.blocks, own.depth)
        };
        let path = |node: u32| self.path(node).map(|node| names.text(node.key));
        let by_amounts = amounts(one).cmp(&amounts(other));
        by_amounts.then_with(|| path(other).cmp(path(one)))
    }

    /// By node the one that it is one with: itself, or a shorter one.
    pub(super) fn joined(&self, names: &Names) -> Vec<u32> {
        let mut joined: Vec<u32> = (0..self.nodes.len() as u32).collect();
        for side in [0, 1] {
            let shorter = self.shorter(side);
            for (node, own) in (0u32..).zip(&self.nodes) {
                let is_alone = own.held[side].blocks > 0 && own.held[1 - side].blocks == 0;
                if !is_alone {
                    continue;
                }
                let fit = shorter[node as usize].iter().copied();
                let fit = fit.filter(|&other| self.takes(other, node, side));
                let depth = |node: u32| self.nodes[node as usize].depth;
                let best = fit.max_by(|&one, &other| {
                    let by_depth = depth(one).cmp(&depth(other));
                    by_depth.then_with(|| self.order(one, other, names))
                });
                joined[node as usize] = best.unwrap_or(node);
            }
        }
        // Each is shorter than the one before.
        for node in 0..joined.len() {
            let mut last = joined[node];
            while joined[last as usize] != last {
                last = joined[last as usize];
            }
            joined[node] = last;
        }
        for [one, other] in self.equals(&joined) {
            joined[one as usize] = other;
        }
        joined
    }

    /// Pairs of stacks that each lack what the other has: of those that are left the one
    /// of each side that hold as much, if nothing else does, and if neither log has seen
    /// the function where the other's stack goes another way called by that caller.
    fn equals(&self, joined: &[u32]) -> Vec<[u32; 2]> {
        let mut is_left: Vec<bool> = (0..).zip(joined).map(|(node, to)| node == *to).collect();
        for (node, &to) in (0..).zip(joined) {
            is_left[to as usize] &= node == to;
        }
        let calls = [0, 1].map(|side| {
            let seen = (1..self.nodes.len() as u32).zip(self.nodes.iter().skip(1));
            let seen = seen.filter(|(_, node)| node.is_seen[side]);
            let pair = |(number, _)| {
                let [own, caller, _] = self.keys_from(number);
                (own, caller)
            };
            seen.map(pair).collect::<HashSet<(u32, u32), RandomState>>()
        });
        let mut by_amount: BTreeMap<(u64, u64), [Vec<u32>; 2]> = BTreeMap::new();
        for (number, node) in (0u32..).zip(&self.nodes).skip(1) {
            let sides = node.held.map(|held| held.blocks > 0);
            if is_left[number as usize] && sides[0] != sides[1] {
                let side = usize::from(sides[1]);
                let held = node.held[side];
                let known = by_amount.entry((held.bytes, held.blocks)).or_default();
                known[side].push(number);
            }
        }
        let pairs = by_amount.into_values().filter_map(|found| match found {
            [before, after] if before.len() == 1 && after.len() == 1 => {
                self.part_unseen([before[0], after[0]], &calls)
            }
            _ => None,
        });
        pairs.collect()
    }

    /// A node of each side, the deeper first, if the ways to them part as told above.
    fn part_unseen(
        &self,
        [before, after]: [u32; 2],
        calls: &[HashSet<(u32, u32), RandomState>; 2],
    ) -> Option<[u32; 2]> {
        let depth = |node: u32| self.nodes[node as usize].depth;
        let (mut one, mut other) = (before, after);
        let mut last = [None, None];
        while one != other {
            let is_deeper = depth(one) >= depth(other);
            let is_other = depth(other) >= depth(one);
            if is_deeper {
                last[0] = Some(one);
                one = self.nodes[one as usize].caller;
            }
            if is_other {
                last[1] = Some(other);
                other = self.nodes[other as usize].caller;
            }
        }
        let is_unseen = |node: Option<u32>, side: usize| {
            node.is_none_or(|node| {
                let [own, caller, _] = self.keys_from(node);
                !calls[side].contains(&(own, caller))
            })
        };
        let is_one = one != ROOT && is_unseen(last[0], 1) && is_unseen(last[1], 0);
        is_one.then(|| match depth(before) > depth(after) {
            true => [before, after],
            false => [after, before],
        })
    }

    /// Whether what is told of amounts allows that a node is a part of a shorter one.
    fn takes(&self, shorter: u32, node: u32, side: usize) -> bool {
        let (shorter, own) = (&self.nodes[shorter as usize], &self.nodes[node as usize]);
        let is_shorter = (1..own.depth).contains(&shorter.depth);
        if !is_shorter || shorter.held[1 - side].blocks == 0 {
            return false;
        }
        if shorter.held[side].blocks == 0 {
            return true;
        }
        let amount = |held: Held| match own.held[side].bytes {
            0 => held.blocks,
            _ => held.bytes,
        };
        let more = amount(shorter.held[1 - side]).saturating_sub(amount(shorter.held[side]));
        more > 0 && more >= amount(own.held[side]).div_ceil(2)
    }

    /// By node of a side those of the other that are it without frames which that one
    /// may have inlined.
    fn shorter(&self, side: usize) -> Vec<Vec<u32>> {
        let calls = Calls::of(self, 1 - side);
        let none = || (Vec::new(), Vec::new());
        // By node where the other side's stack is if it has the node's function, and if
        // it lacks that: whether it may depends on what is further in.
        let mut reached: Vec<(Vec<u32>, Vec<u32>)> = vec![(vec![ROOT], Vec::new())];
        let mut shorter: Vec<Vec<u32>> = vec![Vec::new()];
        for (number, node) in (0u32..).zip(&self.nodes).skip(1) {
            if !node.is_seen[side] {
                reached.push(none());
                shorter.push(Vec::new());
                continue;
            }
            let (had, lacked) = &reached[node.caller as usize];
            let mut from = had.clone();
            if calls.may_lack_caller_of(self, number) {
                from.extend(lacked);
            }
            let mut has = Vec::new();
            for &at in &from {
                let callee = self.callees.get(&(at, node.key)).copied();
                let is_again = at != ROOT && self.nodes[at as usize].key == node.key;
                has.extend(callee.filter(|&at| self.nodes[at as usize].is_seen[1 - side]));
                has.extend(is_again.then_some(at));
            }
            for found in [&mut from, &mut has] {
                found.sort_unstable();
                found.dedup();
                if found.len() > MOST {
                    found.clear();
                }
            }
            let mut ends = has.clone();
            if calls.may_lack_end(self, number) {
                ends.extend(&from);
            }
            shorter.push(ends);
            reached.push((has, from));
        }
        shorter
    }
}

/// What a side has seen call what, in all of its run.
struct Calls {
    /// A function between the one that it called and its caller.
    between: HashSet<[u32; 3], RandomState>,
    /// One that asked for memory, with its caller.
    ends: HashSet<[u32; 2], RandomState>,
}

impl Calls {
    fn of(tree: &Tree, side: usize) -> Self {
        let mut calls = Self {
            between: HashSet::default(),
            ends: HashSet::default(),
        };
        for (number, node) in (0u32..).zip(&tree.nodes).skip(1) {
            if node.is_seen[side] {
                calls.between.insert(tree.keys_from(number));
            }
            if node.is_end[side] {
                let [own, caller, _] = tree.keys_from(number);
                calls.ends.insert([own, caller]);
            }
        }
        calls
    }

    /// Whether this side may have inlined what calls a node.
    fn may_lack_caller_of(&self, tree: &Tree, node: u32) -> bool {
        !self.between.contains(&tree.keys_from(node))
    }

    /// Whether it may have inlined what asked for memory there.
    fn may_lack_end(&self, tree: &Tree, node: u32) -> bool {
        let [own, caller, _] = tree.keys_from(node);
        !self.ends.contains(&[own, caller])
    }
}
