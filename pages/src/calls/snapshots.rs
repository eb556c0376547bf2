//! What was live at snapshots, and what came between them.

use std::collections::HashMap;
use std::rc::Rc;

use memlog_analysis::{Cause, Every, Held, Name, Snapshot, Snapshots};
use serde_json::{Value, json};

use super::grow::{Shape, grow_from};
use super::held::Lines;
use crate::moment::snapshots::{Pace, every, typed};
use crate::names::Labels;
use crate::page::Part;
use crate::page::rows::{Last, Rows, titles};
use crate::page::tree::{MOST_BRANCHES, Snapshot as Told, Tree};
use crate::subject::Subject;
use crate::words::{clean, counted, grouped, percentage};

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

/// What stacks hold, whatever the filter says of them.
type Amounts = HashMap<u32, Held>;

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
        let args = self.args;
        let mut live: Amounts = self.snapshots.base().iter().copied().collect();
        let (mut first, mut last) = (None, None);
        let (mut trees, mut rows, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        let all = self.snapshots.all();
        let all = all.filter(|(one, _)| one.cause != Cause::End);
        for (index, (one, changes)) in all.enumerate() {
            for change in changes {
                let held = live.entry(change.stack).or_default();
                *held = held.plus(change.came).minus(change.went);
            }
            live.retain(|_, held| *held != Held::default());
            let sums = [
                self.kept(live.iter().map(|(&stack, &held)| (stack, held))),
                self.kept(changes.iter().map(|change| (change.stack, change.came))),
                self.kept(changes.iter().map(|change| (change.stack, change.went))),
            ];
            rows.push(self.row(index, one, sums));
            figures.push(self.figures(index, one, sums, sum(&live)));
            if args.show_snapshots {
                let title = format!(
                    "snapshot-{index}{}, live heap {}",
                    of_mark(one),
                    self.at(one)
                );
                let label = format!("snapshot-{index}");
                trees.push(self.tree(one, title, (label, None), &live));
            }
            if let Some(last) = last.filter(|_| args.show_snapshot_deltas) {
                let delta = changes.iter();
                let delta = delta.map(|change| (change.stack, change.came, change.went));
                let label = format!("snapshot-{index}-delta");
                trees.extend(self.delta((last, one), &label, delta));
            }
            if first.is_none() && args.show_cumulative_snapshot_delta {
                first = Some((one, live.clone()));
            }
            last = Some(one);
        }
        if let Some(((first, then), last)) = first.zip(last) {
            let held = |of: &Amounts, stack| of.get(&stack).copied().unwrap_or_default();
            let new = live.keys().filter(|stack| !then.contains_key(*stack));
            let stacks = then.keys().chain(new);
            let delta = stacks.map(|&stack| (stack, held(&live, stack), held(&then, stack)));
            trees.extend(self.delta((first, last), "cum-snapshot-delta", delta));
        }
        let list = Part::Rows(self.list(rows));
        Shown {
            parts: std::iter::once(list).chain(trees).collect(),
            figures,
        }
    }

    /// What grew and what shrank, by stack: bytes and blocks each for themselves, so that
    /// one less the other is the difference. A tree of nothing stands only where the
    /// other is of nothing too.
    fn delta(
        &self,
        (from, to): (&Snapshot, &Snapshot),
        label: &str,
        changes: impl Iterator<Item = (u32, Held, Held)>,
    ) -> Vec<Part> {
        let (mut grew, mut shrank) = (Amounts::new(), Amounts::new());
        for (stack, more, less) in changes {
            for (amounts, held) in [
                (&mut grew, more.minus(less)),
                (&mut shrank, less.minus(more)),
            ] {
                if held != Held::default() {
                    amounts.insert(stack, held);
                }
            }
        }
        let between = format!(
            "{} to {}",
            self.at(from).replacen("at", "from", 1),
            self.seconds(to)
        );
        let parts = [("grew", grew), ("shrank", shrank)];
        let has_some = |amounts: &Amounts| !amounts.is_empty();
        let is_still = !parts.iter().any(|(_, amounts)| has_some(amounts));
        let parts = parts.into_iter();
        let parts =
            parts.filter(|(what, amounts)| has_some(amounts) || is_still && *what == "grew");
        let parts = parts.map(|(what, amounts)| {
            let title = format!("{label}{}, what {what} {between}", of_mark(to));
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
        let (shape, unfiltered) = (self.shape, sum(amounts));
        let held = amounts.iter().map(|(&stack, &held)| (stack, held));
        let held = self.lines.held(held);
        let (branches, threshold) = grow_from(&self.lines.lines, &held, shape, self.most);
        let recorded = match self.subject.analysis.summary.is_lossy() {
            false => "",
            true => " of what was recorded",
        };
        let filtered = match shape.filter.is_none() {
            true => String::new(),
            false => {
                let percent = percentage(branches.total().bytes, unfiltered.bytes);
                format!("{percent:.2}% that the filter let through, ")
            }
        };
        Part::OneTree(Tree {
            title: format!("{title}{recorded} ({filtered}percentages are shares of it)"),
            by: shape.form.by(),
            moment: Some(("snapshot", self.subject.family.own().seconds(at.tick))),
            snapshot: Some(Told { label, change }),
            direction: shape.direction,
            unfiltered,
            threshold,
            asked_threshold: shape.threshold,
            no_fold: shape.form.no_fold,
            branches,
            most: self.most,
            names: Rc::clone(&self.names),
        })
    }

    /// What the filter lets through.
    fn kept(&self, amounts: impl Iterator<Item = (u32, Held)>) -> Held {
        let kept = amounts.filter(|(stack, _)| self.lines.end_of(*stack).is_some());
        kept.fold(Held::default(), |sum, (_, held)| sum.plus(held))
    }

    fn seconds(&self, one: &Snapshot) -> String {
        format!("{:.3} s", self.subject.family.own().seconds(one.tick))
    }

    fn at(&self, one: &Snapshot) -> String {
        format!("at {}", self.seconds(one))
    }

    fn row(&self, index: usize, one: &Snapshot, [live, came, went]: [Held; 3]) -> Vec<String> {
        let sizes = self.subject.sizes;
        let change = match came.bytes >= went.bytes {
            true => format!("+{}", sizes.of(came.bytes - went.bytes)),
            false => format!("-{}", sizes.of(went.bytes - came.bytes)),
        };
        vec![
            index.to_string(),
            format!("{:.3}", self.subject.family.own().seconds(one.tick)),
            sizes.of(live.bytes),
            grouped(live.blocks),
            sizes.of(came.bytes),
            sizes.of(went.bytes),
            change,
            mark(one).unwrap_or_default(),
        ]
    }

    fn figures(
        &self,
        index: usize,
        one: &Snapshot,
        [live, came, went]: [Held; 3],
        unfiltered: Held,
    ) -> Value {
        json!({
            "label": format!("snapshot-{index}"),
            "mark": mark(one),
            "seconds": self.subject.family.own().seconds(one.tick),
            "events": one.event,
            "churn_bytes": one.churn(),
            "bytes": live.bytes,
            "blocks": live.blocks,
            "unfiltered_bytes": unfiltered.bytes,
            "unfiltered_blocks": unfiltered.blocks,
            "allocated_bytes": came.bytes,
            "allocations": came.blocks,
            "freed_bytes": went.bytes,
            "releases": went.blocks,
        })
    }

    fn list(&self, rows: Vec<Vec<String>>) -> Rows {
        let every = self.args.every;
        let last = match rows.iter().any(|row| !row[MARK].is_empty()) {
            true => "mark",
            false => "",
        };
        let title = match (rows.len(), every) {
            (0, None) => "no snapshot: the program set no marks".to_owned(),
            (0, Some(Every::Ns(ns))) => {
                format!("no snapshot: the log ends before {}", typed(Every::Ns(ns)))
            }
            (0, Some(every)) => format!("no snapshot: less than {} came and went", typed(every)),
            (count, every) => {
                let count = counted(count as u64, "snapshot");
                let every = match every {
                    None => "at the program's marks".to_owned(),
                    Some(Every::Ns(ns)) => format!("one every {}", typed(Every::Ns(ns))),
                    Some(every) => {
                        format!("one each time that {} came and went", typed(every))
                    }
                };
                let filter = match self.shape.filter.is_none() {
                    true => "",
                    false => " of the stacks that the filter let through",
                };
                format!(
                    "{count}, {every}; the live heap{filter}, and what was allocated and freed \
                     since the one before:"
                )
            }
        };
        Rows {
            title,
            last: Last::Text,
            columns: titles(&[
                "snapshot",
                "seconds",
                "heap",
                "blocks",
                "allocated",
                "freed",
                "change",
                last,
            ]),
            gives_way: vec!["freed", "allocated", "blocks"],
            rows,
            rest: Vec::new(),
        }
    }
}

/// The column of a row that has the mark's name.
const MARK: usize = 7;

fn sum(amounts: &Amounts) -> Held {
    amounts.values().copied().fold(Held::default(), Held::plus)
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
