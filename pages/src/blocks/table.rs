//! `memlog table`, `leaks` and `temporary`: blocks put together by what they have in
//! common.

use clap::ValueEnum;
use memlog_answers::{By, Choice, Group, Order, Sums, Test, Unanswered, grouped};
use memlog_format::meta::Lack;
use serde_json::{Value, json};

use super::beside::Beside;
use super::grown::{self, Grown, Shows};
use super::list::blocks;
use super::listed::by_any;
use super::sort::{Sort, sort};
use super::{Answer, Ask, Failure, Question, Told, frames};
use crate::page::Page;
use crate::page::rows::{GREW, Last, Rest, Rows, titles};
use crate::places::groups_without_names;
use crate::rests::Rests;
use crate::words::{Advice, bars, change, counted, grouped as with_commas};

/// Which blocks a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Those that were never freed.
    Leaked,
    /// Those that were freed at once.
    Temporary,
}

impl Which {
    /// The version of the keys; `doc/STATS.md` says what they mean.
    pub fn schema(self) -> &'static str {
        match self {
            Which::All => "memlog-table-1",
            Which::Leaked => "memlog-leaks-1",
            Which::Temporary => "memlog-temporary-1",
        }
    }

    /// Those of some rows that it is about.
    pub fn of(self, rows: &Choice) -> Choice {
        match self {
            Which::All => rows.clone(),
            Which::Leaked => rows.clone().and(Test::Leaked),
            Which::Temporary => rows.clone().and(Test::Temporary),
        }
    }

    /// Before the word block.
    pub fn word(self) -> &'static str {
        match self {
            Which::All => "",
            Which::Leaked => "never freed ",
            Which::Temporary => "temporary ",
        }
    }
}

/// Put blocks together by function, line, size, thread ...
#[derive(clap::Args)]
pub struct Args {
    /// Which blocks.
    #[command(flatten)]
    pub question: Question,
    /// What blocks are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_parser = by_any())]
    pub by: By,
    /// List single blocks, not groups of them
    #[arg(long, conflicts_with = "by")]
    pub list: bool,
    /// Draw what each group held over the run, each up to its own largest
    #[arg(long, conflicts_with = "list")]
    pub(super) curve: bool,
    /// What groups or blocks are sorted by: what there is most of first, names, addresses
    /// and times from the first on
    #[arg(long, value_name = "COLUMN", default_value = "bytes", value_enum)]
    pub(super) sort: Sort,
    /// How many rows are shown [default: 20]; 0: all. Without it JSON has all groups, and 20
    /// blocks
    #[arg(short = 'n', long, value_name = "N")]
    top: Option<usize>,
}

impl Args {
    /// Whether it is a matter of stacks, and so of names.
    pub fn is_of_stacks(&self) -> bool {
        self.list || self.by.is_of_stacks()
    }

    /// What it rests on.
    pub fn rests(&self, which: Which, names: bool) -> Rests {
        let is_at = self.question.at.is_some();
        let of_rows: &[Lack] = match which {
            Which::All if is_at => &[],
            Which::All => &[Lack::Gone],
            Which::Leaked => &[Lack::Live],
            Which::Temporary => &[Lack::Order, Lack::Gone],
        };
        let of_order: &[Lack] = match self.sort {
            Sort::Temporary => &[Lack::Order, Lack::Gone],
            Sort::Largest | Sort::Usable | Sort::Waste => &[Lack::Sizes],
            Sort::Leaked => &[Lack::Live],
            Sort::Lifetime => &[Lack::Times, Lack::Order, Lack::Lifetimes],
            Sort::Born | Sort::Died => &[Lack::Times, Lack::Order],
            Sort::Address => &[Lack::Addresses],
            Sort::Thread => &[Lack::Threads],
            Sort::Kind => &[Lack::Functions],
            Sort::Chain => &[Lack::Reallocs],
            Sort::Blocks => &[Lack::Counts],
            Sort::Bytes | Sort::Below | Sort::Name | Sort::Stack => &[],
        };
        let of_curve = if self.curve { grown::COURSE } else { &[] };
        let rests = Rests::from(names).by(self.by).on(of_rows).on(of_order);
        let rests = rests.on(of_curve);
        match self.list {
            true => rests.on(&[Lack::Sizes, Lack::Counts]),
            false => rests,
        }
    }

    /// Refuses a column that those rows do not have.
    pub fn check(&self) -> anyhow::Result<()> {
        let (is_right, what, other) = match self.list {
            true => (self.sort.order().is_some(), "single blocks", "groups"),
            false => (self.sort.is_of_groups(), "groups", "single blocks"),
        };
        if is_right {
            return Ok(());
        }
        let sort = self.sort.to_possible_value();
        let sort = sort.as_ref().map_or("", |value| value.get_name());
        let hint = match self.list {
            true => "leave out --list, or sort by another column",
            false => "give --list, or sort by another column",
        };
        Err(Advice::error(
            format!("--sort {sort} is a column of {other}, and these are {what}"),
            hint,
        ))
    }

    /// What groups held over the run, if that is asked.
    pub fn curves(&self, told: &Told, over_time: &Choice) -> Result<Option<Grown>, Failure> {
        if !self.curve {
            return Ok(None);
        }
        let moments = grown::moments(told, &[], CURVE_PARTS)?;
        let shown = (moments, Shows::Curve);
        Grown::of(told, over_time, self.by, shown).map(Some)
    }

    /// How many rows are shown.
    pub fn most(&self) -> usize {
        match self.top {
            Some(0) => usize::MAX,
            Some(most) => most,
            None => USUAL,
        }
    }

    /// The order of single blocks.
    pub fn order(&self) -> Order {
        self.sort.order().unwrap_or(Order::Size)
    }
}

/// Parts of the run between what is drawn of it.
const CURVE_PARTS: u64 = 20;

/// What there is to show of groups.
pub struct Listing<'l> {
    /// What the blocks are.
    pub which: Which,
    /// How they grew, where that is asked.
    pub grown: Option<&'l Grown>,
}

/// Rows that are shown where nobody says how many.
const USUAL: usize = 20;

/// What is asked of all blocks, or of those.
pub struct Groups {
    args: Args,
    which: Which,
}

impl Groups {
    /// Those of a command.
    pub fn of(args: Args, which: Which) -> Self {
        Self { args, which }
    }
}

impl Ask for Groups {
    fn schema(&self) -> &'static str {
        self.which.schema()
    }

    fn question(&self) -> &Question {
        &self.args.question
    }

    fn rests(&self) -> Rests {
        self.args.rests(self.which, self.args.by.is_of_stacks())
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        let choice = self.which.of(told.choice);
        let told = Told {
            choice: &choice,
            ..*told
        };
        let over_time = self.which.of(told.filtered);
        let grown = self.args.curves(&told, &over_time)?;
        let list = Listing {
            which: self.which,
            grown: grown.as_ref(),
        };
        Ok(answer(&told, &self.args, &list)?)
    }

    fn check(&self) -> anyhow::Result<()> {
        self.args.check()
    }
}

/// The groups.
pub fn answer(told: &Told, args: &Args, list: &Listing) -> Result<Answer, Unanswered> {
    if args.list {
        return Ok(blocks(told, args, list.which)?);
    }
    let mut groups = grouped(told.world, told.choice, args.by)?;
    if let Some(grown) = list.grown {
        groups.retain(|group| grown.has(told, group));
    }
    sort(&mut groups, args.sort);
    let total = groups
        .iter()
        .map(|group| group.own)
        .fold(Sums::default(), Sums::plus);
    let own = |group: &&Group| group.own.blocks > 0;
    // A function that only called others has a row where those are asked for.
    let is_shown = |group: &&Group| args.sort == Sort::Below || own(group);
    let shown: Vec<&Group> = groups.iter().filter(is_shown).collect();
    let most = args.most();
    let for_programs = args.top.map_or(usize::MAX, |_| most);
    let known = match args.by.is_whole_stack() {
        true => told.world.log_numbers(),
        false => Vec::new(),
    };
    let beside = Beside::of(told, args, list)?;
    let mut figures = Page::keyed([
        ("by", args.by.word().into()),
        ("bytes", total.bytes.into()),
        ("blocks", total.blocks.into()),
        ("groups", shown.len().into()),
        (
            "rows",
            shown
                .iter()
                .take(for_programs)
                .map(|group| {
                    let mut row = json_of(told, group, numbers(&known, group), list);
                    beside.add(told, group, &mut row);
                    row
                })
                .collect::<Vec<_>>()
                .into(),
        ),
    ]);
    if let Some(grown) = list.grown {
        figures.insert("moments_seconds".into(), grown.seconds().into());
    }
    let named = shown.iter().map(|group| (&*group.name, group.own.bytes));
    Ok(Answer {
        figures,
        names_hint: matches!(args.by, By::Function | By::Line)
            .then(|| groups_without_names(named, total.bytes, told.sizes))
            .flatten(),
        rows: rows_of(told, args, list, &shown, (most, total), &known),
        ..Answer::default()
    })
}

/// What filters call the stacks of a group.
fn numbers(known: &[Vec<u32>], group: &Group) -> Vec<u32> {
    let stacks = group.stacks.iter();
    let numbers = stacks.filter_map(|&stack| known.get(stack as usize));
    numbers.flatten().copied().collect()
}

/// A group as it is called on a page: stacks by their numbers, too.
fn called(known: &[Vec<u32>], group: &Group) -> String {
    match numbers(known, group)[..] {
        [] => group.name.clone(),
        [number] => format!("#{number} {}", group.name),
        [first, ref others @ ..] => format!("#{first} +{} {}", others.len(), group.name),
    }
}

fn json_of(told: &Told, group: &Group, numbers: Vec<u32>, list: &Listing) -> Value {
    let (own, below) = (&group.own, &group.below);
    let stack = group.stacks.first();
    let stack = stack.and_then(|&stack| told.world.stacks.get(stack as usize));
    let frames = stack.map(|stack| frames(told, stack.asker));
    let mut row = json!({
        "name": group.name,
        "bytes": own.bytes,
        "blocks": own.blocks,
        "below_bytes": below.bytes,
        "below_blocks": below.blocks,
        "waste_bytes": own.waste,
        "smallest_bytes": own.sizes.0,
        "largest_bytes": own.sizes.1,
        "leaked_bytes": own.leaked_bytes,
        "leaked_blocks": own.leaked_blocks,
        "temporary_blocks": own.temporary_blocks,
        "first_seconds": told.world.seconds_of(own.born.0),
        "last_seconds": told.world.seconds_of(own.born.1),
        "stack": frames,
        "stack_numbers": stack.map(|_| numbers),
    });
    if let Some(grown) = list.grown {
        let (bytes, blocks) = grown.held(told, group);
        row["live_bytes"] = bytes.into();
        row["live_blocks"] = blocks.into();
    }
    row
}

/// What is not shown where there is no room for all, unless rows are sorted by it.
fn gives_way(sort: Sort) -> Vec<&'static str> {
    let columns = [
        ("waste", Sort::Waste),
        ("largest", Sort::Largest),
        ("temporary", Sort::Temporary),
        ("not freed", Sort::Leaked),
        ("with callees", Sort::Below),
        ("share", Sort::Bytes),
    ];
    let others = columns.into_iter();
    let others = others.filter(|(title, by)| *by != sort || *title == "share");
    others.map(|(title, _)| title).collect()
}

fn rows_of(
    told: &Told,
    args: &Args,
    list: &Listing,
    groups: &[&Group],
    (most, total): (usize, Sums),
    known: &[Vec<u32>],
) -> Rows {
    let which = list.which;
    let bytes = |bytes: u64| told.sizes.of(bytes);
    let share = |part: u64| match total.bytes {
        0 => String::new(),
        all => format!("{:.1}%", 100.0 * part as f64 / all as f64),
    };
    let has_below = args.by.has_callers();
    // Where all blocks are, the column would repeat another.
    let some = |count: u64, all: Which| match count {
        0 => String::new(),
        _ if which == all => String::new(),
        count => with_commas(count),
    };
    let (curve, ends) = match list.grown {
        Some(grown) if grown.shows == Shows::Curve => (Some(grown), None),
        grown => (None, grown),
    };
    let cells = |group: &Group| {
        let own = &group.own;
        let mut cells = vec![share(own.bytes), bytes(own.bytes), with_commas(own.blocks)];
        if let Some(grown) = ends {
            let (live, _) = grown.held(told, group);
            let (first, last) = (live.first(), live.last());
            let (first, last) = (*first.unwrap_or(&0), *last.unwrap_or(&0));
            cells.extend([bytes(first), bytes(last), change(told.sizes, first, last)]);
            cells.push(called(known, group));
            return cells;
        }
        cells.extend(curve.map(|grown| {
            let (live, _) = grown.held(told, group);
            bars(&live, live.iter().copied().max().unwrap_or(0))
        }));
        cells.extend(has_below.then(|| bytes(group.below.bytes)));
        cells.extend([
            bytes(own.sizes.1),
            bytes(own.waste),
            some(own.leaked_blocks, Which::Leaked),
            some(own.temporary_blocks, Which::Temporary),
            called(known, group),
        ]);
        cells
    };
    let shown = groups.len().min(most);
    let rows = groups[..shown].iter().map(|group| cells(group));
    let others = groups[shown..]
        .iter()
        .map(|group| group.own)
        .fold(Sums::default(), Sums::plus);
    let rest = (shown < groups.len()).then(|| {
        format!(
            "{} more of {} in {}; --top 0 shows all",
            with_commas((groups.len() - shown) as u64),
            bytes(others.bytes),
            counted(others.blocks, "block")
        )
    });
    let mut columns = vec!["share", "bytes", "blocks"];
    if ends.is_some() {
        columns.extend(["before", "after", GREW, args.by.word()]);
    } else {
        columns.extend(curve.map(|_| "live over time"));
        columns.extend(has_below.then_some("with callees"));
        columns.extend(["largest", "waste", "not freed", "temporary", args.by.word()]);
    }
    Rows {
        title: match total.blocks {
            0 => format!("no {}block{}", which.word(), told.about),
            count => format!(
                "{} in {}{}, by {}:",
                bytes(total.bytes),
                counted(count, &format!("{}block", which.word())),
                told.about,
                args.by.word()
            ),
        },
        last: Last::of(args.by),
        columns: titles(&columns),
        gives_way: gives_way(args.sort),
        rows: rows.collect(),
        rest: rest.into_iter().map(Rest::from).collect(),
    }
}
