//! A tree's stacks in the form of gprof2dot, which memtrail wrote.

use memlog_analysis::{Held, Measure, Name, step};
use memlog_export::forms::gprof2dot::of_chains;

use super::paths::Line;

/// What ends at each line.
pub fn graph(lines: &[Line], names: &[Name], held: &[Held], measure: Measure) -> String {
    let chains = (0u32..).zip(held).map(|(line, held)| {
        let mut next = line;
        let chain = std::iter::from_fn(move || {
            let (label, callers) = step(lines, next)?;
            next = callers;
            Some(names.get(label as usize))
        });
        (chain, held.by(measure))
    });
    of_chains(chains, measure)
}
