//! Who called for memory, as a tree.

use std::rc::Rc;

use clap::ValueEnum;
use memlog_analysis::{Branch, CallTree, Held, Measure};

use crate::names::Name;

/// What is called a place of a stack that has none.
pub const NO_FRAMES: &str = "(no frames)";

/// Branches at most: who reads more of them?
pub const MOST_BRANCHES: usize = 500_000;

/// A tree, what it counts, and what it is a part of.
pub struct Tree {
    /// What it is of.
    pub title: String,
    pub by: By,
    /// Its moment and when that was, if it is known; none where it is of the whole run.
    pub moment: Option<(&'static str, Option<f64>)>,
    /// Of a snapshot which one it is, or of what came between two.
    pub snapshot: Option<Snapshot>,
    pub direction: Direction,
    /// What there was, filtered or not.
    pub unfiltered: Held,
    /// What holds less than so many percent is summed up.
    pub threshold: f64,
    /// What was asked for: less, where a tree of all would be too large.
    pub asked_threshold: f64,
    /// Whether each place has a row with its figures, also where it only passes on.
    pub no_fold: bool,
    pub branches: CallTree,
    /// Branches at most: with more the threshold is raised.
    pub most: usize,
    /// Whether it is known how many blocks there were.
    pub has_counts: bool,
    /// What the branches are called.
    pub names: Rc<[Name]>,
    /// All of its stacks in the form of gprof2dot, if that was asked for.
    pub graph: Option<String>,
    /// By branch when the first and the last of what is counted came, in seconds; nothing if
    /// that was not asked for.
    pub times: Vec<(f64, f64)>,
}

/// What tells the trees of snapshots apart.
pub struct Snapshot {
    /// `snapshot-3`, `snapshot-3-delta` or `cum-snapshot-delta`.
    pub label: String,
    /// Of what came between two which part it is: `grew` or `shrank`.
    pub change: Option<&'static str>,
}

impl Tree {
    /// What tells it from the other trees of a page: `snapshot-3`, `rss-peak`,
    /// `allocated`.
    pub fn label(&self) -> String {
        match (&self.snapshot, self.moment) {
            (Some(snapshot), _) => snapshot.label.clone(),
            (None, Some((moment, _))) if self.by == By::Live => moment.to_owned(),
            (None, Some((moment, _))) => format!("{}-{moment}", self.by.name()),
            (None, None) => self.by.name().to_owned(),
        }
    }

    /// What ends at a branch and is in none below it.
    pub fn own(&self, branch: &Branch) -> Held {
        own(&self.branches, branch)
    }
}

/// See [`Tree::own`].
pub fn own(tree: &CallTree, branch: &Branch) -> Held {
    let below = branch.callers.shown.iter();
    let below = below.filter_map(|&index| tree.get(index));
    let below = below.map(|branch| branch.held);
    let below = below.chain([branch.callers.lesser_held]);
    below.fold(branch.held, Held::minus)
}

/// Where the roots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At the functions that called the allocator; below are their callers.
    BottomUp,
    /// At main; below is what it called.
    TopDown,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum By {
    /// Memory of a moment.
    #[value(help = "bytes that are live at a moment", alias = "held")]
    Live,
    /// Asked for by `--mapped`.
    #[value(skip)]
    Mapped,
    /// Bytes of the whole run.
    #[value(help = "bytes of all allocations")]
    Allocated,
    /// Their number.
    #[value(help = "allocations")]
    Count,
    /// Their number, of those that went at once.
    #[value(help = "allocations whose block was freed before the thread's next one")]
    Temporary,
    /// Bytes of the whole run, by the stacks that let go of them.
    #[value(help = "bytes that were freed, by who freed them; of logs with --free-stacks")]
    Freed,
}

impl By {
    /// Whether it is of a moment and not of the whole run.
    pub fn is_of_moment(self) -> bool {
        matches!(self, By::Live | By::Mapped)
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            By::Live => "live",
            By::Mapped => "mapped",
            By::Allocated => "allocated",
            By::Count => "count",
            By::Temporary => "temporary",
            By::Freed => "freed",
        }
    }

    /// Whether it is of blocks by the stacks that allocated them.
    pub fn is_of_births(self) -> bool {
        !matches!(self, By::Mapped | By::Freed)
    }

    /// What the shares are of.
    pub fn measure(self) -> Measure {
        match self {
            By::Live | By::Mapped | By::Allocated | By::Freed => Measure::Bytes,
            By::Count | By::Temporary => Measure::Blocks,
        }
    }

    /// What there are so many of.
    pub fn thing(self) -> &'static str {
        match self {
            By::Live | By::Freed => "block",
            By::Mapped => "mapping",
            By::Allocated | By::Count | By::Temporary => "allocation",
        }
    }
}
