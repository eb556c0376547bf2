//! The file of valgrind's massif: snapshots of the heap over time, some with a tree of who
//! held it, from who called the allocator out.
//!
//! ```text
//! #-----------
//! snapshot=3
//! #-----------
//! time=120
//! mem_heap_B=5120
//! mem_heap_extra_B=0
//! mem_stacks_B=0
//! heap_tree=peak
//! n2: 5120 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
//!  n0: 4096 read_all (server.c:12)
//!  n0: 1024 in 3 places, all below massif's threshold (1.00%)
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use super::Stacks;
use crate::flame::{Flame, Node, module_of};
use crate::shown::clean;

/// As massif has by default: places below it are summed up, and callers beyond it left out.
const THRESHOLD: f64 = 0.01;
const DEPTH: usize = 30;

/// The heap at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Since the start.
    pub time: u64,
    /// Live bytes.
    pub bytes: u64,
    /// Which series of the tree is of that moment, if one is.
    pub series: Option<usize>,
    /// Whether it is the highest.
    pub is_peak: bool,
}

/// What the file says of itself.
pub struct Told<'a> {
    /// What it is of.
    pub about: &'a str,
    /// The command line.
    pub command: &'a str,
    /// Whether times are milliseconds, and no instructions.
    pub has_times: bool,
}

/// Snapshots in the order of time.
pub fn massif(flame: &Flame, snapshots: &[Snapshot], told: &Told) -> String {
    let mut out = String::new();
    let unit = if told.has_times { "ms" } else { "i" };
    out.push_str(&format!("desc: {}\n", one_line(told.about)));
    out.push_str(&format!("cmd: {}\n", one_line(told.command)));
    out.push_str(&format!("time_unit: {unit}\n"));
    for (number, snapshot) in snapshots.iter().enumerate() {
        let tree = snapshot.series.and_then(|series| flame.series.get(series));
        let kind = match (&tree, snapshot.is_peak) {
            (None, _) => "empty",
            (Some(_), false) => "detailed",
            (Some(_), true) => "peak",
        };
        // A String takes everything.
        let _ = write!(
            out,
            "#-----------\nsnapshot={number}\n#-----------\ntime={}\nmem_heap_B={}\n\
             mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree={kind}\n",
            snapshot.time, snapshot.bytes
        );
        if let Some(series) = tree {
            let stacks = Stacks {
                flame,
                own: &series.own,
            };
            Tree::of(&stacks).write(&mut out, snapshot.bytes);
        }
    }
    out
}

/// Nothing behind a # is read.
fn one_line(text: &str) -> String {
    clean(text.as_bytes()).replace('#', "-")
}

/// Who held it, and who called them.
#[derive(Default)]
struct Tree {
    places: Vec<Place>,
    index: HashMap<(usize, String), usize>,
}

#[derive(Default)]
struct Place {
    what: String,
    bytes: u64,
    callers: Vec<usize>,
}

impl Tree {
    fn of(stacks: &Stacks) -> Self {
        let mut tree = Self::default();
        tree.places.push(Place::default());
        for (end, held) in stacks.ends() {
            let mut at = 0;
            tree.places[0].bytes = tree.places[0].bytes.saturating_add(held.bytes);
            for (_, node) in stacks.chain(end).take(DEPTH) {
                at = tree.below(at, what(stacks, node));
                tree.places[at].bytes = tree.places[at].bytes.saturating_add(held.bytes);
            }
        }
        tree
    }

    fn below(&mut self, at: usize, what: String) -> usize {
        let next = self.places.len();
        let place = *self.index.entry((at, what.clone())).or_insert(next);
        if place == next {
            self.places.push(Place {
                what,
                ..Place::default()
            });
            self.places[at].callers.push(next);
        }
        place
    }

    fn write(&self, out: &mut String, all: u64) {
        let heading = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.";
        self.write_place(out, (0, heading), 0, (all as f64 * THRESHOLD) as u64);
    }

    /// No deeper than [`DEPTH`].
    fn write_place(&self, out: &mut String, (at, what): (usize, &str), deep: usize, least: u64) {
        let place = &self.places[at];
        let mut shown: Vec<usize> = place.callers.clone();
        shown.sort_by_key(|&caller| std::cmp::Reverse(self.places[caller].bytes));
        let first_small =
            shown.partition_point(|&caller| self.places[caller].bytes >= least.max(1));
        let small = shown.split_off(first_small);
        let children = shown.len() + usize::from(!small.is_empty());
        let indent = " ".repeat(deep);
        out.push_str(&format!("{indent}n{children}: {} {what}\n", place.bytes));
        for caller in shown {
            self.write_place(out, (caller, &self.places[caller].what), deep + 1, least);
        }
        if small.is_empty() {
            return;
        }
        let bytes: u64 = small.iter().map(|&caller| self.places[caller].bytes).sum();
        let places = match small.len() {
            1 => "1 place, below".to_owned(),
            count => format!("{count} places, all below"),
        };
        out.push_str(&format!(
            "{indent} n0: {bytes} in {places} massif's threshold (1.00%)\n"
        ));
    }
}

/// A function as massif tells it; its readers take what stands in the last brackets for
/// its place.
fn what(stacks: &Stacks, node: &Node) -> String {
    let name = stacks.name(node);
    let place = match name {
        Some(name) => match (&name.location, module_of(name)) {
            (Some(location), _) => location.clone(),
            (None, Some(module)) => format!("in {module}"),
            (None, None) => "in ???".to_owned(),
        },
        None => "in ???".to_owned(),
    };
    format!(
        "{} ({})",
        one_line(&stacks.function(node)),
        one_line(&place)
    )
}
