//! `memlog diff`: what grew from one log to another, or between two moments of one.

mod flame;
mod side;
mod trees;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memlog_analysis::Held;
use memlog_answers::{By, Change, Difference, Of, diff};
use memlog_export::flame::Flame;
use serde_json::{Value, json};

use super::listed::{by_both, shown};
use super::{Desk, Failure, Question, Told, answered};
use crate::figures::place;
use crate::moment::At;
use crate::names::SymbolFiles;
use crate::page::rows::{GREW, Last, Rest, Rows, titles};
use crate::page::{OnNames, Page, Part};
use crate::rests::Rests;
use crate::screen::{Look, Screen};
use crate::shown::{Asked, printed};
use crate::words::{Advice, Sizes, change, counted, grouped, shown as typed};
use crate::world::Where;
pub use side::Taken;
use side::{heading, take};
use trees::{TreeArgs, trees};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-diff-1";

/// Say what grew from one log to another.
#[derive(clap::Args)]
pub struct Args {
    /// The log before; or a folder or a quoted pattern: of its logs, the one with the highest
    /// RSS peak
    before: PathBuf,
    /// The log after; without it two moments of the one are compared
    after: Option<PathBuf>,
    #[command(flatten)]
    blocks: Where,
    /// What is live at this moment of both logs; twice: of the log before, then of the one
    /// after. It is rss-peak, heap-peak, start, end, a time since the start as 12.5s, 300ms
    /// or 2m, a part of the run as 50%, or 'mark NAME' [default: rss-peak]
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Vec<At>,
    /// What blocks are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_parser = by_both())]
    by: By,
    /// What rows are sorted by: what grew most first, what shrank most, what changed most,
    /// blocks that came, bytes before or after, or names
    #[arg(long, value_name = "COLUMN", default_value = "grew", value_enum)]
    sort: Sort,
    /// How many rows are shown [default: 20]; 0: all. Without it JSON has all
    #[arg(short = 'n', long, value_name = "N")]
    top: Option<usize>,
    /// Print it as JSON, schema memlog-diff-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tree: TreeArgs,
    /// Draw both as one flame graph, in red what grew and in blue what shrank: .html or .svg
    #[arg(short, long, value_name = "OUT")]
    #[arg(conflicts_with_all = ["by", "sort", "top", "json", "tree"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    #[command(flatten)]
    look: Look,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Grew,
    Shrank,
    Change,
    Blocks,
    Before,
    After,
    Name,
}

const USUAL: usize = 20;

impl Args {
    /// Of which log and moment each side is.
    fn sides(&self) -> anyhow::Result<[(&Path, At); 2]> {
        let logs = [
            self.before.as_path(),
            self.after.as_deref().unwrap_or(&self.before),
        ];
        let moments = match &self.at[..] {
            [before, after] => [before.clone(), after.clone()],
            [_, _, more, ..] => {
                return Err(Advice::error(
                    format!("diff compares two moments, and --at {more} is one more"),
                    "give --at twice at most",
                ));
            }
            _ if self.after.is_none() => {
                return Err(Advice::error(
                    format!("diff compares two, and {} is one log", typed(&self.before)),
                    "give a second log, or two moments of this one: --at 20% --at end",
                ));
            }
            [both] => [both.clone(), both.clone()],
            [] => [At::RSS_PEAK, At::RSS_PEAK],
        };
        let [before, after] = moments;
        Ok([(logs[0], before), (logs[1], after)])
    }

    fn question(&self, log: &Path, at: At) -> Question {
        Question {
            blocks: self.blocks.clone(),
            at: Some(at),
            json: self.json,
            asked: Asked {
                file: log.to_owned(),
                symbol_files: self.symbol_files.clone(),
                look: self.look,
            },
        }
    }

    /// The log before, or the folder or pattern that it is chosen from.
    pub fn before(&self) -> &Path {
        &self.before
    }

    /// What blocks are put together by.
    fn by(&self) -> By {
        match self.tree.tree || self.output.is_some() {
            true => By::Stack,
            false => self.by,
        }
    }

    fn rests(&self) -> Rests {
        Rests::from(self.by().is_of_stacks()).by(self.by())
    }

    /// Both sides, read.
    fn read(&self) -> anyhow::Result<[Taken; 2]> {
        let [before, after] = self.sides()?;
        let before = self.taken(before.0, before.1)?;
        // The next log is read as this one was.
        if let Some(interrupt) = &before.interrupt {
            interrupt.ignore();
        }
        Ok([before, self.taken(after.0, after.1)?])
    }

    /// One side, read.
    fn taken(&self, log: &Path, at: At) -> anyhow::Result<Taken> {
        let question = self.question(log, at);
        let rests = self.rests();
        let slot = RefCell::new(None);
        let read = answered(
            (Of::Blocks, &question),
            rests,
            |told| take(told, &question, self.by()),
            |taken, around| {
                slot.replace(Some(Taken::new(taken, &question, around)));
                Ok(())
            },
        );
        // It is the log that has no such moment, or no answer to the filter.
        read.map_err(|error| error.context(format!("in {}", typed(log))))?;
        let taken = slot.into_inner();
        taken.ok_or_else(crate::world::damaged)
    }
}

/// One side, at the desk of its log: the first is before, the second after.
pub fn taken_at(desk: &Desk, args: &Args, side: usize) -> Result<Taken, Failure> {
    let (log, at) = args.sides()?[side].clone();
    let question = args.question(log, at);
    let rests = args.rests();
    let take = |told: &Told| take(told, &question, args.by());
    let (taken, around) = desk.checked((Of::Blocks, &question), &rests, take)?;
    Ok(Taken::new(taken, &question, around))
}

/// What changed between both.
pub fn page_of(args: &Args, sides: &[Taken; 2]) -> Page {
    let found = diff([&sides[0].side, &sides[1].side]);
    page(args, sides, found, Sizes::Rounded)
}

/// Reads both and shows what changed.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut sides = args.read()?;
    let screen = Screen::new(&args.look);
    let found = diff([&sides[0].side, &sides[1].side]);
    let page = page(args, &sides, found, screen.sizes);
    let interrupt = sides[1].interrupt.take();
    screen.show(&printed(&page, args.json, &screen), interrupt)?;
    Ok(exit(&sides))
}

/// Reads both and hands on what is drawn of them.
pub fn draw(
    args: &Args,
    write: impl FnOnce(&Flame) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let sides = args.read()?;
    let found = diff([&sides[0].side, &sides[1].side]);
    write(&flame::flame(
        &sides,
        found,
        args.blocks.filter().map(ToString::to_string),
    ))?;
    Ok(exit(&sides))
}

fn exit(sides: &[Taken; 2]) -> ExitCode {
    match sides.iter().any(Taken::is_part) {
        true => ExitCode::from(crate::open::INTERRUPTED),
        false => ExitCode::SUCCESS,
    }
}

fn page(args: &Args, sides: &[Taken; 2], mut found: Difference, sizes: Sizes) -> Page {
    sort(&mut found.rows, args.sort);
    let [before, after] = found.totals;
    let filter = args.blocks.filter().map(ToString::to_string);
    let for_programs = shown(args.top.unwrap_or(0), found.rows.len());
    let rows = found.rows[..for_programs]
        .iter()
        .map(|row| json_of(row, args.by()));
    let mut figures = json_of_held(found.totals);
    figures.extend(Page::keyed([
        ("schema", SCHEMA.into()),
        ("by", args.by().word().into()),
        ("where", filter.clone().into()),
        ("before", sides[0].json(before)),
        ("after", sides[1].json(after)),
        ("rows", rows.collect()),
    ]));
    let notes = notes(sides);
    let on_names = OnNames {
        remarks: remarks(sides),
        cut_short: sides
            .iter()
            .find_map(|side| side.on_names.cut_short.clone()),
        ..OnNames::default()
    };
    let all = notes
        .iter()
        .chain(&on_names.remarks)
        .chain(&on_names.cut_short);
    figures.insert("notes".into(), json!(all.collect::<Vec<_>>()));
    let mut rows = rows_of(args, &found, filter, sizes);
    for side in sides {
        side.hide_unknown(&mut figures, &mut rows);
    }
    let parts = match args.tree.tree && !found.rows.is_empty() {
        true => trees(&found, &args.tree, args.json),
        false => vec![Part::Rows(rows)],
    };
    let mut page = Page {
        figures,
        heading: heading(sides, sizes),
        notes,
        on_names,
        parts,
        ..Page::default()
    };
    if sides.iter().any(|side| !side.knows("counts")) {
        page.hide_counts();
    }
    page
}

fn notes(sides: &[Taken; 2]) -> Vec<String> {
    let notes = sides.iter().zip(["before", "after"]);
    let notes = notes.flat_map(|(side, name)| side.told_notes(name));
    notes.collect()
}

/// Each once, whichever log it is of.
fn remarks(sides: &[Taken; 2]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for remark in sides.iter().flat_map(|side| &side.on_names.remarks) {
        if !all.contains(remark) {
            all.push(remark.clone());
        }
    }
    all
}

/// More of it or less; far more than there is of memory.
fn signed(from: u64, to: u64) -> i64 {
    let change = i128::from(to) - i128::from(from);
    change.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn grown(row: &Change) -> (i64, i64) {
    let [before, after] = row.held;
    (
        signed(before.bytes, after.bytes),
        signed(before.blocks, after.blocks),
    )
}

fn sort(rows: &mut [Change], by: Sort) {
    if by == Sort::Name {
        return rows.sort_by(|one, other| one.name.cmp(&other.name));
    }
    // Of what went the other way the most comes first, too.
    let either = |amount: i64| (amount.signum(), amount.unsigned_abs());
    let key = |row: &Change| {
        let (bytes, blocks) = grown(row);
        match by {
            Sort::Shrank => (
                either(bytes.saturating_neg()),
                either(blocks.saturating_neg()),
            ),
            Sort::Change => ((0, bytes.unsigned_abs()), (0, blocks.unsigned_abs())),
            Sort::Blocks => (either(blocks), either(bytes)),
            Sort::Before => ((0, row.held[0].bytes), (0, row.held[0].blocks)),
            Sort::After => ((0, row.held[1].bytes), (0, row.held[1].blocks)),
            Sort::Grew | Sort::Name => (either(bytes), either(blocks)),
        }
    };
    rows.sort_by_cached_key(|row| (Reverse(key(row)), row.name.clone()));
}

fn json_of_held([before, after]: [Held; 2]) -> serde_json::Map<String, Value> {
    Page::keyed([
        ("bytes", signed(before.bytes, after.bytes).into()),
        ("blocks", signed(before.blocks, after.blocks).into()),
        ("before_bytes", before.bytes.into()),
        ("before_blocks", before.blocks.into()),
        ("after_bytes", after.bytes.into()),
        ("after_blocks", after.blocks.into()),
    ])
}

fn json_of(row: &Change, by: By) -> Value {
    let mut keys = json_of_held(row.held);
    let stack = |side: usize| {
        let frames = &row.frames[side];
        let is_there = by == By::Stack && row.held[side].blocks > 0;
        is_there.then(|| frames.iter().map(place).collect::<Vec<_>>())
    };
    keys.extend(Page::keyed([
        ("name", row.name.as_str().into()),
        ("before_name", row.before_name.clone().into()),
        ("before_stack", stack(0).into()),
        ("after_stack", stack(1).into()),
    ]));
    keys.into()
}

/// Blocks more or less, as `+1,234`.
fn blocks_more(from: u64, to: u64) -> String {
    match to.cmp(&from) {
        std::cmp::Ordering::Less => format!("-{}", grouped(from - to)),
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Greater => format!("+{}", grouped(to - from)),
    }
}

fn rows_of(args: &Args, found: &Difference, filter: Option<String>, sizes: Sizes) -> Rows {
    let cells = |row: &Change| {
        let [before, after] = row.held;
        let some = |held: Held| match held.blocks {
            0 => String::new(),
            _ => sizes.of(held.bytes),
        };
        vec![
            match before.bytes == after.bytes {
                true => String::new(),
                false => change(sizes, before.bytes, after.bytes),
            },
            some(before),
            some(after),
            blocks_more(before.blocks, after.blocks),
            row.name.clone(),
        ]
    };
    let most = shown(args.top.unwrap_or(USUAL), found.rows.len());
    let (rows, others) = found.rows.split_at(most);
    let filter = filter.map(|filter| format!(" where {filter}"));
    Rows {
        title: title(found, &filter.unwrap_or_default(), args.by, sizes),
        last: Last::of(args.by),
        columns: titles(&[GREW, "before", "after", "blocks", args.by.word()]),
        gives_way: vec!["before", "blocks", "after"],
        rows: rows.iter().map(cells).collect(),
        rest: rest(others, sizes).into_iter().collect(),
    }
}

fn title(found: &Difference, filter: &str, by: By, sizes: Sizes) -> String {
    let [before, after] = found.totals;
    let of = |held: Held| {
        format!(
            "{} in {}",
            sizes.of(held.bytes),
            counted(held.blocks, "block")
        )
    };
    match (found.rows.is_empty(), before == after) {
        (true, true) if before.blocks == 0 => {
            format!("no difference: no block{filter} on either side")
        }
        (true, _) => format!("no difference{filter}: {} before and after", of(before)),
        (false, _) => format!(
            "{}{filter}, from {} to {}, by {}:",
            change(sizes, before.bytes, after.bytes),
            of(before),
            of(after),
            by.word()
        ),
    }
}

/// What is said of the rows that are not shown.
fn rest(others: &[Change], sizes: Sizes) -> Option<Rest> {
    if others.is_empty() {
        return None;
    }
    let amounts = others.iter().map(|row| grown(row).0);
    let (mut more, mut less) = (0u64, 0u64);
    for amount in amounts {
        let sum = if amount < 0 { &mut less } else { &mut more };
        *sum = sum.saturating_add(amount.unsigned_abs());
    }
    let count = grouped(others.len() as u64);
    let (more, less) = (change(sizes, 0, more), change(sizes, less, 0));
    Some(format!("{count} more of {more} and {less}; --top 0 shows all").into())
}
