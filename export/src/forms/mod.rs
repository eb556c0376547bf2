//! What was counted of stacks, in the forms of other tools. Most hold what is counted
//! first; `pprof` has both what was live and what the whole run allocated, `massif` what was
//! live over time, `perfetto` what came and went until some moments, and `dhat` lives of blocks.
//!
//! ```text
//! folded      a line for each stack           flamegraph.pl, speedscope, and scripts
//! speedscope  bytes and blocks                speedscope.app
//! gprof2dot   a chain and its cost            gprof2dot -f json
//! callgrind   functions, lines and calls      KCachegrind, callgrind_annotate
//! hatchet     the tree as it is               hatchet, Thicket
//! pprof       a profile of four types         go tool pprof, Pyroscope, Perfetto
//! massif      the heap over time, and who     ms_print, massif-visualizer
//! dhat        places and their blocks' lives  dh_view.html
//! firefox     each allocation and release     profiler.firefox.com
//! perfetto    sums of stacks at moments       ui.perfetto.dev
//! csv, json   a row for each stack            spreadsheets, pandas, jq
//! ```

mod callgrind;
mod csv;
mod dhat;
mod firefox;
mod folded;
pub mod gprof2dot;
mod hatchet;
mod json;
mod massif;
mod perfetto;
mod pprof;
mod speedscope;
#[cfg(test)]
mod tests;

use memlog_analysis::{Held, Name};

use crate::flame::{Flame, Label, Node};
use crate::shown::clean;

pub use callgrind::callgrind;
pub use csv::csv;
pub use dhat::{Dhat, Point as DhatPoint, dhat, told as dhat_name};
pub use firefox::{Change, Counter, Process, firefox};
pub use folded::folded;
pub use hatchet::hatchet;
pub use json::json;
pub use massif::{Snapshot, Told as MassifTold, massif};
pub use perfetto::{Dump, perfetto};
pub use pprof::pprof;
pub use speedscope::speedscope;

/// The stacks of a tree that something was counted of.
pub(crate) struct Stacks<'f> {
    pub(crate) flame: &'f Flame,
    pub(crate) own: &'f [Held],
}

impl<'f> Stacks<'f> {
    /// Those of what is counted first.
    fn first(flame: &'f Flame) -> Self {
        let own = flame.first().map_or(&[][..], |(_, series)| &series.own);
        Self { flame, own }
    }

    /// The place where each ends, and what does.
    fn ends(&self) -> impl Iterator<Item = (u32, Held)> + use<'f> {
        let ends = (0..).zip(self.own.iter().copied());
        ends.filter(|(_, held)| *held != Held::default())
    }

    /// The places of a stack, from its innermost one out.
    pub(crate) fn chain(&self, end: u32) -> impl Iterator<Item = (u32, &'f Node)> + use<'f> {
        let (nodes, mut next) = (&self.flame.nodes, Some(end));
        std::iter::from_fn(move || {
            let place = next?;
            let node = nodes.get(place as usize)?;
            next = node.caller;
            Some((place, node))
        })
    }

    pub(crate) fn name(&self, node: &Node) -> Option<&'f Name> {
        match node.label {
            Label::Named(name) => self.flame.names.get(name as usize),
            Label::Lesser(_) => None,
        }
    }

    /// What a place is called, on one line.
    pub(crate) fn function(&self, node: &Node) -> String {
        match self.name(node) {
            Some(name) => clean(name.function.as_bytes()),
            None => "(no stack)".to_owned(),
        }
    }
}

/// File and line of `file:line`.
pub fn file_and_line(location: &str) -> (&str, Option<u32>) {
    match location.rsplit_once(':') {
        Some((file, line)) if !file.is_empty() => match line.parse() {
            Ok(line) => (file, Some(line)),
            Err(_) => (location, None),
        },
        _ => (location, None),
    }
}
