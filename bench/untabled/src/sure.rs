//! Which rows a way to a return confirms, as the proof inside a program asks for.

use crate::known::Class;
use crate::ways::{Callee, Flow, Function, Node, Returns, Ways};
use std::collections::{HashMap, HashSet};

/// What a way comes to.
enum Next {
    To(u64),
    /// Out of the function, and whether everything is given back.
    Out(bool),
}

/// Functions that are seen to return: a way leads from their beginning to a return,
/// past calls of such functions, and of those that nobody sees.
#[derive(Default)]
pub struct Sure {
    returning: HashSet<u64>,
}

impl Sure {
    pub fn new(ways: &Ways) -> Self {
        let mut sure = Self::default();
        loop {
            let functions = ways.functions.iter();
            let open = functions
                .filter(|one| one.returns == Returns::Seen && !sure.returning.contains(&one.start));
            let found: Vec<u64> = open
                .filter(|one| sure.is_left(one))
                .map(|one| one.start)
                .collect();
            if found.is_empty() {
                return sure;
            }
            sure.returning.extend(found);
        }
    }

    /// Whether a way from the beginning leads out.
    fn is_left(&self, function: &Function) -> bool {
        let (mut seen, mut to_do) = (HashSet::new(), vec![function.start]);
        while let Some(at) = to_do.pop() {
            let Some(node) = function.nodes.get(&at).filter(|_| seen.insert(at)) else {
                continue;
            };
            for next in self.next(function, at, node) {
                match next {
                    Next::To(at) => to_do.push(at),
                    Next::Out(is_whole) if is_whole || node.state.sp == Some(-8) => return true,
                    Next::Out(_) => {}
                }
            }
        }
        false
    }

    /// Instructions from which a way leads to an end that gives all back, and none to
    /// another.
    pub fn rows(&self, function: &Function) -> HashSet<u64> {
        let mut before: HashMap<u64, Vec<u64>> = HashMap::new();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (&at, node) in &function.nodes {
            for next in self.next(function, at, node) {
                match next {
                    Next::To(to) => before.entry(to).or_default().push(at),
                    Next::Out(true) => good.push(at),
                    Next::Out(false) => bad.push(at),
                }
            }
        }
        let (good, bad) = (reaching(&before, good), reaching(&before, bad));
        good.difference(&bad).copied().collect()
    }

    fn next(&self, function: &Function, at: u64, node: &Node) -> Vec<Next> {
        let behind = at + u64::from(node.bytes);
        let to = |target: u64| match function.nodes.contains_key(&target) {
            true => Some(Next::To(target)),
            false if self.returning.contains(&target) => {
                Some(Next::Out(node.state.is_given_back()))
            }
            false => None,
        };
        let next = match node.flow {
            Flow::On => vec![
                function
                    .nodes
                    .contains_key(&behind)
                    .then_some(Next::To(behind)),
            ],
            Flow::Jump(target) => vec![to(target)],
            Flow::Branch(target) => vec![to(target), to(behind)],
            Flow::Call(callee) if self.comes_back(callee) => vec![to(behind)],
            Flow::Leave(callee) if self.comes_back(callee) => {
                vec![Some(Next::Out(node.state.is_given_back()))]
            }
            // One that may be a case itself may jump to the next case.
            Flow::Away if function.class == Class::Pointed => Vec::new(),
            Flow::Return | Flow::Away => vec![Some(Next::Out(node.state.is_given_back()))],
            Flow::Cases => {
                let cases = function
                    .cases
                    .get(&at)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                cases.iter().map(|target| to(*target)).collect()
            }
            _ => Vec::new(),
        };
        next.into_iter().flatten().collect()
    }

    fn comes_back(&self, callee: Callee) -> bool {
        match callee {
            Callee::Function(start) => self.returning.contains(&start),
            Callee::Unknown => true,
            Callee::Never => false,
        }
    }
}

/// All from which a way leads to one of these.
fn reaching(before: &HashMap<u64, Vec<u64>>, ends: Vec<u64>) -> HashSet<u64> {
    let (mut found, mut to_do) = (HashSet::new(), ends);
    while let Some(at) = to_do.pop() {
        if found.insert(at) {
            to_do.extend(before.get(&at).into_iter().flatten());
        }
    }
    found
}
