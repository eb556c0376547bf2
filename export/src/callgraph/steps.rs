//! Stacks as a tree of steps from the outermost callers inwards. A step is a
//! place below its caller; who stands in a stack is who stands on its way.
//!
//! A place holds what is below its outermost steps: a stack that it stands in
//! has exactly one of those, however often the place comes again further in.
//! So one walk over the tree counts everything, and keeps for each place
//! whether the walk is below it.

use std::collections::HashMap;

use memlog_analysis::Held;

use super::Call;

/// A step by its number; there is none where a stack has no frame.
pub(super) type Step = Option<u32>;

/// A place below a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub caller: Step,
    pub place: u32,
    /// By the stacks that end here, and after [`Steps::gather`] by all below.
    pub held: Held,
}

/// All steps; a caller has a lower number than what it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    pub nodes: Vec<Node>,
}

/// What is found on one walk.
pub(super) struct Counted {
    /// By place.
    pub held: Vec<Held>,
    /// By place: of how many bytes it begins the stacks.
    pub begun: Vec<u64>,
    pub calls: Vec<Call>,
    /// By step: the call that it is.
    pub call_of: Vec<Option<usize>>,
}

impl Steps {
    pub(super) fn push(&mut self, caller: Step, place: u32) -> u32 {
        let step = self.nodes.len() as u32;
        self.nodes.push(Node {
            caller,
            place,
            held: Held::default(),
        });
        step
    }

    /// Adds to each step what is below it: callees come after their callers.
    pub(super) fn gather(&mut self) {
        for step in (0..self.nodes.len()).rev() {
            let Node { caller, held, .. } = self.nodes[step];
            if let Some(caller) = caller {
                let node = &mut self.nodes[caller as usize];
                node.held = node.held.plus(held);
            }
        }
    }

    /// The steps of places that have a number, which they then go by, and of
    /// each how many steps were left out between it and its caller.
    pub(super) fn only(&self, numbers: &HashMap<usize, usize>) -> (Self, Vec<u32>) {
        let mut kept = Self::default();
        let mut left_out = Vec::new();
        // By step: the innermost that is kept down to it, and those since.
        let mut innermost: Vec<(Step, u32)> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let above = node.caller.map(|caller| innermost[caller as usize]);
            let (caller, since) = above.unwrap_or((None, 0));
            let Some(&number) = numbers.get(&(node.place as usize)) else {
                innermost.push((caller, since + 1));
                continue;
            };
            let step = kept.push(caller, number as u32);
            kept.nodes[step as usize].held = node.held;
            left_out.push(since);
            innermost.push((Some(step), 0));
        }
        (kept, left_out)
    }

    /// Who holds what, of so many places, after [`Steps::gather`]. `outermost` is
    /// told each outermost step: its place, how far in it is, and its bytes.
    pub(super) fn count(&self, places: usize, outermost: impl FnMut(usize, usize, u64)) -> Counted {
        let (calls, call_of) = self.calls();
        let mut counted = Counted {
            held: vec![Held::default(); places],
            begun: vec![0; places],
            calls,
            call_of,
        };
        counted.walk(&self.nodes, outermost);
        counted
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

impl Counted {
    /// Goes into each step and out of it again.
    fn walk(&mut self, nodes: &[Node], mut outermost: impl FnMut(usize, usize, u64)) {
        let mut inside = vec![0u32; self.held.len()];
        let mut stepped = vec![0u32; self.calls.len()];
        let (first, next) = callees(nodes);
        let mut depth = 0;
        // A step with `true` is gone into, with `false` left.
        let mut work: Vec<(u32, bool)> = Vec::new();
        let roots = (0..).zip(nodes).filter(|(_, node)| node.caller.is_none());
        work.extend(roots.map(|(step, _): (u32, _)| (step, true)));
        while let Some((step, enters)) = work.pop() {
            let node = &nodes[step as usize];
            let place = node.place as usize;
            let call = self.call_of[step as usize];
            if !enters {
                depth -= 1;
                inside[place] -= 1;
                call.into_iter().for_each(|call| stepped[call] -= 1);
                continue;
            }
            if inside[place] == 0 {
                self.held[place] = self.held[place].plus(node.held);
                outermost(place, depth, node.held.bytes);
            }
            inside[place] += 1;
            match call {
                Some(call) => {
                    if stepped[call] == 0 {
                        self.calls[call].held = self.calls[call].held.plus(node.held);
                    }
                    stepped[call] += 1;
                }
                None => {
                    let begun = &mut self.begun[place];
                    *begun = begun.saturating_add(node.held.bytes);
                }
            }
            depth += 1;
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
