//! Stacks as a tree that grows from the outermost callers inwards. A step is a
//! place below its caller; who stands in a stack is who stands on its way.
//!
//! A place holds what is below its outermost steps: a stack that it stands in
//! has exactly one of those, however often the place comes again further in.
//! So one walk over the tree counts everything, and keeps for each place
//! whether the walk is below it.

use std::collections::HashMap;

use memlog_analysis::{Frame, Held};

use super::{Call, CallGraph, Entry, Named, Place, Places, is_part_of_allocator, sum};

/// A step by its number; there is none where a stack has no frame.
type Step = Option<u32>;

/// A place below a caller.
struct Node {
    caller: Step,
    place: u32,
    /// By the stacks that end here, and after [`Trie::gather`] by all below.
    held: Held,
}

/// All steps; a caller has a lower number than what it calls.
pub(super) struct Trie<N> {
    places: Places<N>,
    nodes: Vec<Node>,
    /// By stack: its innermost step.
    steps: HashMap<u32, Step>,
}

impl<N: FnMut(&Frame) -> Named> Trie<N> {
    pub(super) fn new(places: Places<N>) -> Self {
        Self {
            places,
            nodes: Vec::new(),
            steps: HashMap::new(),
        }
    }

    /// Whether this stack is in the tree already.
    pub(super) fn knows(&self, stack: u32) -> bool {
        self.steps.contains_key(&stack)
    }

    /// Enters a stack without frames; `end` stands for those that are missing.
    pub(super) fn root(&mut self, stack: u32, end: Option<Place>) {
        let step = end.map(|place| {
            let place = self.places.intern(place);
            self.push(None, place)
        });
        self.steps.insert(stack, step);
    }

    /// Enters a stack that is known up to its innermost frame.
    pub(super) fn grow(&mut self, stack: u32, caller: u32, frame: &Frame) {
        let mut step = self.steps.get(&caller).copied().flatten();
        for index in 0..self.places.of(frame).len() {
            let place = self.places.of(frame)[index];
            step = Some(self.push(step, place));
        }
        self.steps.insert(stack, step);
    }

    fn push(&mut self, caller: Step, place: u32) -> u32 {
        let step = self.nodes.len() as u32;
        self.nodes.push(Node {
            caller,
            place,
            held: Held::default(),
        });
        step
    }

    /// A stack of the tree holds so much.
    pub(super) fn hold(&mut self, stack: u32, held: Held) {
        let Some(innermost) = self.steps.get(&stack).copied().flatten() else {
            return;
        };
        // A stack of nothing but operator new is shown as it is.
        let asking = self.asking(innermost).unwrap_or(innermost);
        let node = &mut self.nodes[asking as usize];
        node.held = sum(node.held, held);
        let own = &mut self.places.entries[node.place as usize].own;
        *own = sum(*own, held);
    }

    /// The innermost step that is no part of the allocator.
    fn asking(&self, innermost: u32) -> Step {
        let mut step = Some(innermost);
        while let Some(node) = step.and_then(|step| self.nodes.get(step as usize)) {
            if !is_part_of_allocator(&self.places.entries[node.place as usize].place.function) {
                return step;
            }
            step = node.caller;
        }
        None
    }

    /// Everything that was entered, as a graph.
    pub(super) fn count(mut self, total: Held) -> CallGraph {
        self.gather();
        let (calls, call_of) = self.calls();
        let mut walk = Walk {
            entries: self.places.finish(),
            calls,
        };
        walk.over(&self.nodes, &call_of);
        sorted(total, walk.entries, walk.calls)
    }

    /// Adds to each step what is below it: callees come after their callers.
    fn gather(&mut self) {
        for step in (0..self.nodes.len()).rev() {
            let Node { caller, held, .. } = self.nodes[step];
            if let Some(caller) = caller {
                let node = &mut self.nodes[caller as usize];
                node.held = sum(node.held, held);
            }
        }
    }

    /// The calls, which hold nothing yet, and by step the call that it is.
    fn calls(&self) -> (Vec<Call>, Vec<Option<usize>>) {
        let mut index = HashMap::new();
        let mut calls = Vec::new();
        let call_of = self.nodes.iter().map(|node| {
            let caller = self.nodes[node.caller? as usize].place;
            Some(*index.entry((caller, node.place)).or_insert_with(|| {
                calls.push(Call {
                    caller: caller as usize,
                    callee: node.place as usize,
                    held: Held::default(),
                });
                calls.len() - 1
            }))
        });
        let call_of = call_of.collect();
        (calls, call_of)
    }
}

/// What is found on one walk.
struct Walk {
    entries: Vec<Entry>,
    calls: Vec<Call>,
}

impl Walk {
    /// Goes into each step and out of it again.
    fn over(&mut self, nodes: &[Node], call_of: &[Option<usize>]) {
        let mut inside = vec![0u32; self.entries.len()];
        let mut stepped = vec![0u32; self.calls.len()];
        let (first, next) = callees(nodes);
        // A step with `true` is gone into, with `false` left.
        let mut work: Vec<(u32, bool)> = Vec::new();
        let roots = (0..).zip(nodes).filter(|(_, node)| node.caller.is_none());
        work.extend(roots.map(|(step, _): (u32, _)| (step, true)));
        while let Some((step, enters)) = work.pop() {
            let node = &nodes[step as usize];
            let place = node.place as usize;
            let call = call_of[step as usize];
            if !enters {
                inside[place] -= 1;
                call.into_iter().for_each(|call| stepped[call] -= 1);
                continue;
            }
            if inside[place] == 0 {
                let entry = &mut self.entries[place];
                entry.held = sum(entry.held, node.held);
            }
            inside[place] += 1;
            if let Some(call) = call {
                if stepped[call] == 0 {
                    self.calls[call].held = sum(self.calls[call].held, node.held);
                }
                stepped[call] += 1;
            }
            work.push((step, false));
            let mut callee = first[step as usize];
            while let Some(step) = callee {
                work.push((step, true));
                callee = next[step as usize];
            }
        }
    }
}

/// By step: the first that it called, and the next one of the same caller.
fn callees(nodes: &[Node]) -> (Vec<Step>, Vec<Step>) {
    let (mut first, mut next) = (vec![None; nodes.len()], vec![None; nodes.len()]);
    for (step, node) in nodes.iter().enumerate().rev() {
        if let Some(caller) = node.caller {
            next[step] = first[caller as usize].replace(step as u32);
        }
    }
    (first, next)
}

/// In an order that depends on nothing but what is held and how it is called.
fn sorted(total: Held, entries: Vec<Entry>, mut calls: Vec<Call>) -> CallGraph {
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
        entries: order.into_iter().map(|(_, entry)| entry).collect(),
        calls,
    }
}
