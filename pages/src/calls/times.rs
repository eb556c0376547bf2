//! When the first and the last block of each place of a top-down tree came.

use std::collections::HashMap;

use memlog_analysis::CallTree;

use super::held::Lines;
use super::paths::END;
use crate::open::Times;

/// By branch; nothing if nothing is known. Lines that share their callers are one there,
/// and so are branches, so that each branch is a line.
pub fn times(tree: &CallTree, lines: &Lines, known: &[(u32, Times)]) -> Vec<Times> {
    if known.is_empty() {
        return Vec::new();
    }
    let mut by_line: Vec<Option<Times>> = vec![None; lines.lines.len()];
    for &(stack, times) in known {
        if let Some(line) = lines.end_of(stack) {
            by_line[line as usize] = both(by_line[line as usize], Some(times));
        }
    }
    let mut of_place = HashMap::new();
    for (index, line) in lines.lines.iter().enumerate().skip(1).rev() {
        of_place.insert((line.label, line.callers), index as u32);
        if line.callers != END {
            let callers = line.callers as usize;
            by_line[callers] = both(by_line[callers], by_line[index]);
        }
    }
    let mut times = vec![Times::default(); tree.branches() as usize];
    let roots = tree.roots().shown.iter();
    let mut work: Vec<(u32, u32)> = roots.map(|&root| (root, END)).collect();
    while let Some((index, callers)) = work.pop() {
        let Some(branch) = tree.get(index) else {
            continue;
        };
        let Some(&line) = of_place.get(&(branch.label, callers)) else {
            continue;
        };
        times[index as usize] = by_line[line as usize].unwrap_or_default();
        work.extend(branch.callers.shown.iter().map(|&below| (below, line)));
    }
    times
}

fn both(one: Option<Times>, other: Option<Times>) -> Option<Times> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}
