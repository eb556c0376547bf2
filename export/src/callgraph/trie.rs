//! Stacks to steps: a tree that grows from the outermost callers inwards.

use std::collections::HashMap;

use memlog_analysis::{Frame, Held, StackTable};

use super::steps::{Step, Steps};
use super::{Call, CallGraph, Entry, Named, Place, Places, end_of, is_part_of_allocator, mapping};

/// The steps so far, and the stacks that they are of.
pub(super) struct Trie<N> {
    places: Places<N>,
    steps: Steps,
    /// By stack: its innermost step.
    innermost: HashMap<u32, Step>,
}

impl<N: FnMut(&Frame) -> Named> Trie<N> {
    pub(super) fn new(places: Places<N>) -> Self {
        Self {
            places,
            steps: Steps::default(),
            innermost: HashMap::new(),
        }
    }

    /// Enters a stack and all that it is grown from.
    pub(super) fn enter(&mut self, stacks: &StackTable, stack: u32) {
        let mut path = Vec::new();
        let mut next = stack;
        while !self.knows(next)
            && let Some((frame, caller)) = stacks.split(next)
        {
            path.push((next, frame));
            next = caller;
        }
        if !self.knows(next) {
            self.root(next, end_of(stacks, next));
        }
        for (stack, frame) in path.into_iter().rev() {
            self.grow(stack, next, &frame);
            next = stack;
        }
    }

    /// Whether this stack is in the tree already.
    fn knows(&self, stack: u32) -> bool {
        self.innermost.contains_key(&stack)
    }

    /// Enters a stack without frames; `end` stands for those that are missing.
    fn root(&mut self, stack: u32, end: Option<Place>) {
        let step = end.map(|place| {
            let place = self.places.intern(place);
            self.steps.push(None, place)
        });
        self.innermost.insert(stack, step);
    }

    /// Enters a stack that is known up to its innermost frame.
    fn grow(&mut self, stack: u32, caller: u32, frame: &Frame) {
        let mut step = self.innermost.get(&caller).copied().flatten();
        for index in 0..self.places.of(frame).len() {
            let place = self.places.of(frame)[index];
            step = Some(self.steps.push(step, place));
        }
        self.innermost.insert(stack, step);
    }

    /// Enters a line, whose callers were entered before.
    pub(super) fn line(&mut self, line: u32, callers: u32, place: Place) {
        let caller = self.innermost.get(&callers).copied().flatten();
        let place = self.places.intern(place);
        let step = self.steps.push(caller, place);
        self.innermost.insert(line, Some(step));
    }

    /// A stack of the tree holds so much.
    pub(super) fn hold(&mut self, stack: u32, held: Held) {
        let Some(innermost) = self.innermost.get(&stack).copied().flatten() else {
            return;
        };
        // A stack of nothing but operator new is shown as it is.
        let asking = self.asking(innermost).unwrap_or(innermost);
        let node = &mut self.steps.nodes[asking as usize];
        node.held = node.held.plus(held);
        let own = &mut self.places.entries[node.place as usize].own;
        *own = own.plus(held);
    }

    /// A stack of the tree mapped so much, which its place did not allocate.
    pub(super) fn map(&mut self, stack: u32, held: Held) {
        let caller = self.innermost.get(&stack).copied().flatten();
        let place = self.places.intern(mapping());
        let step = self.steps.push(caller, place);
        self.steps.nodes[step as usize].held = held;
        let entry = &mut self.places.entries[place as usize];
        entry.own = entry.own.plus(held);
        entry.is_mapped = true;
    }

    /// The innermost step that is no part of the allocator.
    fn asking(&self, innermost: u32) -> Step {
        let mut step = Some(innermost);
        while let Some(node) = step.and_then(|step| self.steps.nodes.get(step as usize)) {
            if !is_part_of_allocator(&self.places.entries[node.place as usize].place.function) {
                return step;
            }
            step = node.caller;
        }
        None
    }

    /// Everything that was entered, as a graph.
    pub(super) fn count(mut self, total: Held) -> CallGraph {
        self.steps.gather();
        let mut entries = self.places.finish();
        let counted = self.steps.count(entries.len(), |_, _, _| {});
        for (entry, held) in entries.iter_mut().zip(counted.held) {
            entry.held = held;
        }
        sorted(total, entries, counted.calls, &self.steps)
    }
}

/// In an order that depends on nothing but what is held and how it is called.
pub(super) fn sorted(
    total: Held,
    entries: Vec<Entry>,
    mut calls: Vec<Call>,
    steps: &Steps,
) -> CallGraph {
    let mut order: Vec<_> = entries.into_iter().enumerate().collect();
    // `operator new` at the end of stacks holds nothing that is not its caller's.
    order.retain(|(_, entry)| entry.held.blocks > 0);
    order.sort_unstable_by(|(_, one), (_, other)| {
        let held = |entry: &Entry| (entry.held.bytes, entry.held.blocks);
        held(other)
            .cmp(&held(one))
            .then_with(|| one.place.cmp(&other.place))
    });
    let numbers: HashMap<usize, usize> = (0..)
        .zip(&order)
        .map(|(new, (old, _))| (*old, new))
        .collect();
    calls.retain_mut(|call| {
        let ends = numbers.get(&call.caller).zip(numbers.get(&call.callee));
        let Some((&caller, &callee)) = ends else {
            return false;
        };
        (call.caller, call.callee) = (caller, callee);
        call.held.blocks > 0
    });
    calls.sort_unstable_by_key(|call| (call.caller, call.callee));
    CallGraph {
        total,
        mapped: Held::default(),
        entries: order.into_iter().map(|(_, entry)| entry).collect(),
        calls,
        steps: steps.only(&numbers).0,
    }
}
