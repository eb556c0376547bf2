//! A tree as text:
//!
//! ```text
//! TITLE: 1,234B in 5 blocks
//! ->45.71% (564B, 2x): innermost [file:line]
//! | <- its only caller [file:line] <- the only caller of that [file:line]
//! | ->40.00% (494B, 1x): one of the callers of that [file:line]
//! ```
//!
//! Callers that are the only one, with the same bytes and blocks, stand below
//! their branch without figures, and are no step to the right; `no_fold` makes
//! a branch of each. What goes deeper than there are columns for has the number
//! of its level in place of the guides, and long recursion is a line, see
//! `runs`: so a page grows with the number of branches and not with that times
//! their depth.

mod line;
mod runs;
#[cfg(test)]
mod tests;

use memlog_analysis::{Branch, CallTree, Held};

use crate::page::tree::{Direction, Tree, own};
use crate::screen::{Role, Screen, wrapped};
use crate::words::{counted, grouped, percentage};
pub use line::named;
use runs::{Run, Runs};

/// A tree on its way to the reader.
struct Printer<'a> {
    out: String,
    screen: &'a Screen,
    tree: &'a Tree,
}

/// A line that is still to be printed.
#[derive(Clone, Copy)]
enum Line {
    Branch(u32),
    /// What a place of a top-down tree allocated itself.
    Own(Held),
    Folded(u64, Held),
}

struct Pending {
    line: Line,
    /// How far it is indented.
    depth: usize,
    /// How deep it is in the tree, from 1 on: more, where a run is above.
    level: usize,
    is_last: bool,
}

/// A branch or a run of them, and what is below.
struct Step<'a> {
    what: What<'a>,
    levels: usize,
    held: Held,
    shown: &'a [u32],
    own: Held,
    folded: (u64, Held),
}

#[derive(Clone, Copy)]
enum What<'a> {
    Branch(&'a Branch),
    Run(&'a Run),
}

/// What is below a place: branches, what it holds itself, and what is too small.
type Below<'a> = (&'a [u32], Held, (u64, Held));

/// Rows that would say 0.00 %, but for those at the top: with them the shares
/// there are of the whole.
#[derive(Default)]
struct LeftOut {
    rows: u64,
    held: Held,
}

/// Less than this is 0.00 %.
const LEAST_PERCENT: f64 = 0.005;

impl LeftOut {
    fn take(&mut self, held: &mut Held) {
        let held = std::mem::take(held);
        self.rows += 1;
        self.held = self.held.plus(held);
    }
}

/// The tree below its title.
pub fn of(tree: &Tree, screen: &Screen) -> String {
    let mut printer = Printer {
        out: String::new(),
        screen,
        tree,
    };
    printer.print();
    printer.out
}

impl Printer<'_> {
    fn say(&mut self, line: &str) {
        self.out += line;
        self.out.push('\n');
    }

    fn print(&mut self) {
        self.title();
        let tree = &self.tree.branches;
        let runs = Runs::find(tree, &self.tree.names);
        let folds = !self.tree.no_fold;
        // Whether the branch at each depth has more beside it below.
        let mut guides: Vec<bool> = Vec::new();
        let (mut work, mut left_out) = (Vec::new(), LeftOut::default());
        let roots = tree.roots();
        let folded = (roots.lesser, roots.lesser_held);
        self.push(&mut work, (&roots.shown, Held::default(), folded), 0, 1);
        while let Some(Pending {
            line,
            depth,
            level,
            is_last,
        }) = work.pop()
        {
            guides.truncate(depth);
            let before = self.before(&guides, level);
            guides.push(!is_last);
            match line {
                Line::Branch(index) => {
                    let Some(mut at) = step(tree, &runs, index) else {
                        continue;
                    };
                    self.first(&before, (index, at.what), level);
                    let mut level = level + at.levels;
                    let mut passing_on = Vec::new();
                    while let Some(next) = only(tree, &runs, &at).filter(|_| folds) {
                        passing_on.push((next.what, level));
                        level += next.levels;
                        at = next;
                    }
                    self.passing_on(&guides, &passing_on);
                    // Where it is all there is at a place it has no row.
                    let has_more = at.folded.0 > 0 || !at.shown.is_empty();
                    let is_row = has_more && self.tree.direction == Direction::TopDown;
                    if is_row && self.is_nothing(at.own) {
                        left_out.take(&mut at.own);
                    }
                    if self.is_nothing(at.folded.1) {
                        left_out.take(&mut at.folded.1);
                        at.folded.0 = 0;
                    }
                    let below = (at.shown, at.own, at.folded);
                    self.push(&mut work, below, depth + 1, level);
                }
                Line::Own(held) => {
                    self.words(&before, held, &["allocated here itself", "here itself"]);
                }
                Line::Folded(places, held) => self.folded(&before, places, held),
            }
        }
        self.left_out(&left_out);
        if self.tree.threshold > self.tree.asked_threshold {
            let sentence = format!(
                "there are more than {} places: those below {:.3} % are summed up",
                grouped(self.tree.most as u64),
                self.tree.threshold
            );
            self.say(&self.screen.note(&sentence));
        }
    }

    fn title(&mut self) {
        let title = self.tree.title.as_str();
        let total = self.tree.branches.total();
        let sum = self.sum(total);
        let is_short = title.chars().count() + 2 + sum.len() <= self.room(0);
        let title = match self.screen.columns() {
            Some(columns) => wrapped(title, 0, columns - 1, 2),
            None => title.to_owned(),
        };
        let title = self.screen.colours.paint(Role::Title, title);
        let between = if is_short { " " } else { "\n  " };
        self.say(&format!("\n{title}:{between}{sum}"));
    }

    /// `1,234B in 5 blocks`
    fn sum(&self, held: Held) -> String {
        let bytes = grouped(held.bytes);
        match self.tree.has_counts {
            true => format!("{bytes}B in {}", counted(held.blocks, self.tree.by.thing())),
            false => format!("{bytes}B"),
        }
    }

    /// Whether it is a row that says 0.00 %. Who asks for less is shown it.
    fn is_nothing(&self, held: Held) -> bool {
        let measure = self.tree.by.measure();
        let total = self.tree.branches.total().by(measure);
        let percent = percentage(held.by(measure), total);
        let least = LEAST_PERCENT.min(self.tree.threshold);
        !self.tree.no_fold && total > 0 && held.blocks > 0 && percent < least
    }

    /// Puts what is below a branch on the pile so that the first comes off first.
    fn push(
        &self,
        work: &mut Vec<Pending>,
        (shown, own, (folded, folded_held)): Below,
        depth: usize,
        level: usize,
    ) {
        let first = work.len();
        let mut put = |line| {
            work.push(Pending {
                line,
                depth,
                level,
                is_last: false,
            });
        };
        if folded > 0 {
            put(Line::Folded(folded, folded_held));
        }
        let has_more = folded > 0 || !shown.is_empty();
        if self.tree.direction == Direction::TopDown && has_more && own.blocks > 0 {
            put(Line::Own(own));
        }
        for &branch in shown.iter().rev() {
            put(Line::Branch(branch));
        }
        if let Some(last) = work.get_mut(first) {
            last.is_last = true;
        }
    }
}

/// What begins with a branch.
fn step<'t>(tree: &'t CallTree, runs: &'t Runs, index: u32) -> Option<Step<'t>> {
    let branch = tree.get(index)?;
    let Some(run) = runs.from(index) else {
        return Some(Step {
            what: What::Branch(branch),
            levels: 1,
            held: branch.held,
            shown: &branch.callers.shown,
            own: own(tree, branch),
            folded: (branch.callers.lesser, branch.callers.lesser_held),
        });
    };
    let last = tree.get(run.last)?;
    Some(Step {
        what: What::Run(run),
        levels: run.levels,
        held: run.held,
        shown: &last.callers.shown,
        own: run.own,
        folded: run.folded,
    })
}

/// The only thing below a step, where it is as much: then nothing ends there
/// and nothing is too small.
fn only<'t>(tree: &'t CallTree, runs: &'t Runs, above: &Step) -> Option<Step<'t>> {
    let [only] = above.shown else {
        return None;
    };
    step(tree, runs, *only).filter(|below| below.held == above.held)
}
