//! What was live at snapshots, and what came between them.

mod amounts;
mod list;

use std::rc::Rc;

use memlog_analysis::{Cause, Every, Held, Name, Snapshot, Snapshots};
use serde_json::Value;

use super::grow::{Shape, grow_from};
use super::held::Lines;
use super::title::{of_chosen, seconds_of};
use crate::moment::snapshots::{Pace, every};
use crate::names::Labels;
use crate::page::Part;
use crate::page::tree::{By, MOST_BRANCHES, Snapshot as Told, Tree};
use crate::subject::Subject;
use crate::words::{clean, percentage};
use amounts::{Amounts, sum};

/// What a command is asked about snapshots.
#[derive(clap::Args)]
pub struct SnapshotArgs {
    /// List snapshots: one each time that so much time has passed, as 10s, or that so
    /// many bytes came and went, as 1GiB; the program's marks are snapshots too
    #[arg(long, value_name = "TIME|BYTES", value_parser = every)]
    pub every: Option<Every>,
    /// Memory live at each snapshot
    #[arg(long)]
    show_snapshots: bool,
    /// What grew and what shrank from each snapshot to the next
    #[arg(long)]
    show_snapshot_deltas: bool,
    /// What grew and what shrank from the first snapshot to the last
    #[arg(long)]
    show_cumulative_snapshot_delta: bool,
}

impl SnapshotArgs {
    /// When they are to be taken, if any are.
    pub fn pace(&self) -> Option<Pace> {
        match self.every {
            Some(every) => Some(Pace::Every(every)),
            None => self.option().map(|_| Pace::Marks),
        }
    }

    /// An option that asks for them.
    pub fn option(&self) -> Option<&'static str> {
        let options = [
            (self.every.is_some(), "--every"),
            (self.show_snapshots, "--show-snapshots"),
            (self.show_snapshot_deltas, "--show-snapshot-deltas"),
            (
                self.show_cumulative_snapshot_delta,
                "--show-cumulative-snapshot-delta",
            ),
        ];
        let given = options.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, option)| option)
    }

    /// How many trees there are of so many snapshots.
    fn trees(&self, snapshots: usize) -> usize {
        let live = usize::from(self.show_snapshots) * snapshots;
        let deltas = usize::from(self.show_snapshot_deltas) * 2 * snapshots;
        live + deltas + usize::from(self.show_cumulative_snapshot_delta) * 2
    }
}

/// The snapshots of a log on their way to a page.
pub struct Taken<'s, 'a> {
    subject: &'s Subject<'a>,
    snapshots: &'s Snapshots,
    args: &'s SnapshotArgs,
    shape: &'s Shape<'s>,
    lines: Lines,
    names: Rc<[Name]>,
    /// Branches that a tree may have.
    most: usize,
}

/// A page's parts, and what programs are told of each snapshot.
pub struct Shown {
    pub parts: Vec<Part>,
    pub figures: Vec<Value>,
}

impl<'s, 'a> Taken<'s, 'a> {
    /// Those that the log was read for, if it was for any.
    pub fn of(
        subject: &'s Subject<'a>,
        args: &'s SnapshotArgs,
        shape: &'s Shape<'s>,
        labels: &mut Labels,
    ) -> Option<Self> {
        let snapshots = subject.analysis.snapshots.as_ref()?;
        let base = snapshots.base().iter().map(|&(stack, _)| stack);
        let changed = snapshots.all().flat_map(|(_, changes)| changes);
        let stacks = base.chain(changed.map(|change| change.stack));
        let lines = Lines::of(stacks, shape.filter, shape.form.show_below_main, labels);
        let trees = args.trees(snapshots.count()).max(1);
        Some(Self {
            names: lines.names.as_slice().into(),
            subject,
            snapshots,
            args,
            shape,
            lines,
            most: (MOST_BRANCHES / trees).max(100),
        })
    }

    /// The list of them, and the trees that were asked for.
    pub fn shown(&self) -> Shown {
        let (snapshots, args, by) = (self.snapshots, self.args, self.shape.form.by());
        let mut live = self.kept(snapshots.base().iter().copied());
        let mut unfiltered = sum(snapshots.recorded_base().iter().copied());
        let mut shown = Amounts::begin(snapshots, by);
        let has_trees = args.trees(1) > 0;
        let (mut first, mut last) = (None, None);
        let (mut trees, mut rows, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        let mut all_forgotten = Held::default();
        let all = snapshots.all().zip(snapshots.recorded());
        let all = all.zip(snapshots.forgotten());
        let all = all.filter(|(((one, _), _), _)| one.cause != Cause::End);
        for (index, (((one, changes), (_, recorded)), forgotten)) in all.enumerate() {
            let came = self.kept(changes.iter().map(|change| (change.stack, change.came)));
            let went = self.kept(changes.iter().map(|change| (change.stack, change.went)));
            let forgotten = self.kept(forgotten.iter().copied());
            all_forgotten = all_forgotten.plus(forgotten);
            live = live.plus(came).minus(went);
            unfiltered = recorded.iter().fold(unfiltered, |sum, change| {
                sum.plus(change.came).minus(change.went)
            });
            let amounts = [live, came, went, forgotten];
            rows.push(self.row(index, one, amounts));
            figures.push(self.figures(index, one, amounts, unfiltered));
            if has_trees {
                shown.change(changes, recorded, by);
            }
            if args.show_snapshots {
                let title = format!("snapshot-{index}{}, {}", of_mark(one), self.what(one));
                let label = format!("snapshot-{index}");
                trees.push(self.tree(one, title, (label, None), &shown));
            }
            if let Some(last) = last.filter(|_| args.show_snapshot_deltas) {
                let label = format!("snapshot-{index}-delta");
                let parts = shown.grown(changes, recorded, by);
                trees.extend(self.delta((last, one), &label, parts));
            }
            if first.is_none() && args.show_cumulative_snapshot_delta {
                first = Some((one, shown.clone()));
            }
            last = Some(one);
        }
        if let Some(((first, then), last)) = first.zip(last) {
            let parts = [shown.beyond(&then), then.beyond(&shown)];
            trees.extend(self.delta((first, last), "cum-snapshot-delta", parts));
        }
        let list = Part::Rows(self.list(rows, all_forgotten));
        Shown {
            parts: std::iter::once(list).chain(trees).collect(),
            figures,
        }
    }

    /// What a snapshot is of.
    fn what(&self, one: &Snapshot) -> String {
        match self.shape.form.by() {
            By::Allocated => format!("allocated up to {}", self.seconds(one)),
            By::Count => format!("allocations up to {}", self.seconds(one)),
            _ => format!("live heap {}", self.at(one)),
        }
    }

    /// What grew and what shrank, by stack: bytes and blocks each for themselves, so that
    /// one less the other is the difference. A tree of nothing stands only where the
    /// other is of nothing too.
    fn delta(
        &self,
        (from, to): (&Snapshot, &Snapshot),
        label: &str,
        [grew, shrank]: [Amounts; 2],
    ) -> Vec<Part> {
        let between = format!(
            "{} to {}",
            self.at(from).replacen("at", "from", 1),
            self.seconds(to)
        );
        let is_live = self.shape.form.by() == By::Live;
        let parts = [("grew", grew), ("shrank", shrank)];
        let is_still = parts.iter().all(|(_, amounts)| amounts.of.is_empty());
        let parts = parts.into_iter();
        let parts =
            parts.filter(|(what, amounts)| !amounts.of.is_empty() || is_still && *what == "grew");
        let parts = parts.map(|(what, amounts)| {
            let said = match is_live {
                true => what,
                false => "was allocated",
            };
            let title = format!("{label}{}, what {said} {between}", of_mark(to));
            self.tree(to, title, (label.to_owned(), Some(what)), &amounts)
        });
        parts.collect()
    }

    fn tree(
        &self,
        at: &Snapshot,
        title: String,
        (label, change): (String, Option<&'static str>),
        amounts: &Amounts,
    ) -> Part {
        let (shape, unfiltered) = (self.shape, amounts.unfiltered());
        let held = amounts.of.iter().map(|(&stack, &held)| (stack, held));
        let held = self.lines.held(held);
        let (branches, threshold) = grow_from(&self.lines.lines, &held, shape, self.most);
        let recorded = match self.subject.analysis.summary.is_lossy() {
            false => "",
            true => " of what was recorded",
        };
        let by = shape.form.by();
        let chooses = self.snapshots.is_of_chosen();
        let filtered = match (shape.filter.is_none(), chooses) {
            (true, false) => String::new(),
            // Chosen blocks of a stack may grow by more than all of its blocks.
            (_, true) if change.is_some() => String::new(),
            _ => {
                let measure = by.measure();
                let part = branches.total().by(measure);
                let percent = percentage(part, unfiltered.by(measure));
                format!("{percent:.2}% that the filter let through, ")
            }
        };
        let chosen = of_chosen(self.subject);
        let shares = match by {
            By::Count => "their number",
            _ => "it",
        };
        // gprof2dot knows no negative costs, and memtrail left them out.
        let graph = match change {
            Some("shrank") => None,
            _ => shape.graph(&self.lines.lines, &self.names, &held),
        };
        Part::OneTree(Tree {
            title: format!(
                "{title}{chosen}{recorded} ({filtered}percentages are shares of {shares})"
            ),
            by,
            moment: Some(("snapshot", seconds_of(self.subject, at.tick))),
            snapshot: Some(Told { label, change }),
            direction: shape.direction,
            unfiltered,
            threshold,
            asked_threshold: shape.threshold,
            no_fold: shape.form.no_fold,
            branches,
            most: self.most,
            has_counts: true,
            times: Vec::new(),
            graph,
            names: Rc::clone(&self.names),
        })
    }

    /// What the filter lets through.
    fn kept(&self, amounts: impl Iterator<Item = (u32, Held)>) -> Held {
        sum(amounts.filter(|(stack, _)| self.lines.end_of(*stack).is_some()))
    }

    fn seconds(&self, one: &Snapshot) -> String {
        format!("{:.3} s", self.subject.family.own().seconds(one.tick))
    }

    fn at(&self, one: &Snapshot) -> String {
        format!("at {}", self.seconds(one))
    }
}

/// What the program called the moment, if it marked it.
fn mark(one: &Snapshot) -> Option<String> {
    match &one.cause {
        Cause::Mark(name) => Some(clean(name)),
        Cause::Due | Cause::End => None,
    }
}

fn of_mark(one: &Snapshot) -> String {
    mark(one).map_or(String::new(), |name| format!(", mark \"{name}\""))
}
