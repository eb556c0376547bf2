//! `memlog table`: blocks put together by what they have in common.

use std::cmp::Reverse;
use std::process::ExitCode;

use memlog_answers::{By, Damaged, Group, Sums, grouped};
use serde_json::{Value, json};

use super::{Answer, Question, Told, ask};
use crate::page::Page;
use crate::page::rows::Rows;
use crate::words::{Advice, counted, grouped as with_commas};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-table-1";

/// Put blocks together by function, line, size, thread ...
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    form: Form,
}

/// By what blocks are put together, and which of those groups are shown.
#[derive(clap::Args)]
pub struct Form {
    /// What blocks are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_enum)]
    pub by: ByName,
    /// What groups are sorted by, the most first
    #[arg(long, value_name = "COLUMN", default_value = "bytes", value_enum)]
    pub sort: Sort,
    /// How many groups are shown; 0: all. JSON has all without it
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,
}

/// See [`By`].
#[allow(missing_docs)] // they are words of the command line
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ByName {
    Function,
    File,
    Line,
    Module,
    Stack,
    Size,
    Thread,
    Type,
    Kind,
}

impl ByName {
    /// For the table.
    pub fn by(self) -> By {
        match self {
            ByName::Function => By::Function,
            ByName::File => By::File,
            ByName::Line => By::Line,
            ByName::Module => By::Module,
            ByName::Stack => By::Stack,
            ByName::Size => By::Size,
            ByName::Thread => By::Thread,
            ByName::Type => By::Type,
            ByName::Kind => By::Kind,
        }
    }

    /// Refuses what is no matter of stacks.
    pub fn check_stacks(self, what: &str) -> anyhow::Result<()> {
        match self.by().needs_names() {
            true => Ok(()),
            false => Err(Advice::error(
                format!("{what} not put together by {}", self.word()),
                "give --by function, file, line, module, stack or type",
            )),
        }
    }

    /// As it is told.
    pub fn word(self) -> &'static str {
        match self {
            ByName::Function => "function",
            ByName::File => "file",
            ByName::Line => "line",
            ByName::Module => "module",
            ByName::Stack => "stack",
            ByName::Size => "size",
            ByName::Thread => "thread",
            ByName::Type => "type",
            ByName::Kind => "kind",
        }
    }
}

/// What groups are sorted by.
#[allow(missing_docs)] // they are words of the command line
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    Bytes,
    Blocks,
    /// Bytes with those of what it called
    Below,
    Waste,
    Largest,
    Leaked,
    Temporary,
    Name,
}

/// Rows that are shown where nobody says how many.
const USUAL: usize = 20;

/// Shows the groups.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let by = args.form.by;
    ask(&args.question, SCHEMA, by.by().needs_names(), |told| {
        answer(told, &args.form, "")
    })
}

/// Groups of the chosen blocks; `what` says in one or two words which those are.
pub fn answer(told: &Told, form: &Form, what: &str) -> Result<Answer, Damaged> {
    let by = form.by;
    let mut groups = grouped(told.world, told.choice, by.by())?;
    sort(&mut groups, form.sort);
    let total = groups
        .iter()
        .map(|group| group.own)
        .fold(Sums::default(), Sums::plus);
    let own = |group: &&Group| group.own.blocks > 0;
    // A function that only called others has a row where those are asked for.
    let is_shown = |group: &&Group| form.sort == Sort::Below || own(group);
    let shown: Vec<&Group> = groups.iter().filter(is_shown).collect();
    let most = match form.top {
        Some(0) => usize::MAX,
        Some(most) => most,
        None => USUAL,
    };
    let for_programs = form.top.map_or(usize::MAX, |_| most);
    let figures = Page::keyed([
        ("by", by.word().into()),
        ("bytes", total.bytes.into()),
        ("blocks", total.blocks.into()),
        (
            "rows",
            shown
                .iter()
                .take(for_programs)
                .map(|group| json_of(told, group))
                .collect::<Vec<_>>()
                .into(),
        ),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, form, what, &shown, most, total),
    })
}

fn sort(groups: &mut [Group], by: Sort) {
    if by == Sort::Name {
        return groups.sort_by(|one, other| one.name.cmp(&other.name));
    }
    let key = |group: &Group| match by {
        Sort::Bytes | Sort::Name => group.own.bytes,
        Sort::Blocks => group.own.blocks,
        Sort::Below => group.below.bytes,
        Sort::Waste => group.own.waste,
        Sort::Largest => group.own.sizes.1,
        Sort::Leaked => group.own.leaked_bytes,
        Sort::Temporary => group.own.temporary_blocks,
    };
    groups.sort_by_cached_key(|group| {
        (
            Reverse(key(group)),
            Reverse((group.own.bytes, group.own.blocks)),
            group.name.clone(),
        )
    });
}

fn json_of(told: &Told, group: &Group) -> Value {
    let (own, below) = (&group.own, &group.below);
    let stack = group
        .stack
        .and_then(|stack| told.world.paths.get(stack as usize));
    let frames = stack.map(|path| {
        let names = path
            .outwards()
            .iter()
            .filter_map(|&label| told.world.names.get(label as usize));
        let frames = names.map(|name| {
            json!({
                "function": name.function,
                "location": name.location,
                "module": name.module,
            })
        });
        frames.collect::<Vec<_>>()
    });
    json!({
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
    })
}

fn rows_of(
    told: &Told,
    form: &Form,
    what: &str,
    groups: &[&Group],
    most: usize,
    total: Sums,
) -> Rows {
    let bytes = |bytes: u64| told.sizes.of(bytes);
    let share = |part: u64| match total.bytes {
        0 => String::new(),
        all => format!("{:.1}%", 100.0 * part as f64 / all as f64),
    };
    let has_below = form.by.by().needs_names() && !matches!(form.by, ByName::Stack | ByName::Type);
    let cells = |name: String, own: &Sums, below: &Sums| {
        let some = |count: u64| match count {
            0 => String::new(),
            count => with_commas(count),
        };
        let mut cells = vec![share(own.bytes), bytes(own.bytes), with_commas(own.blocks)];
        if has_below {
            cells.push(bytes(below.bytes));
        }
        cells.extend([
            bytes(own.sizes.1),
            bytes(own.waste),
            // In these all are, and the column would repeat another.
            if what.starts_with("never") {
                String::new()
            } else {
                some(own.leaked_blocks)
            },
            if what.starts_with("temporary") {
                String::new()
            } else {
                some(own.temporary_blocks)
            },
            name,
        ]);
        cells
    };
    let shown = groups.len().min(most);
    let rows = groups[..shown]
        .iter()
        .map(|group| cells(group.name.clone(), &group.own, &group.below));
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
    if has_below {
        columns.push("with callees");
    }
    columns.extend(["largest", "waste", "not freed", "temporary", form.by.word()]);
    Rows {
        title: match total.blocks {
            0 => format!("no {what}block{}", told.about),
            count => format!(
                "{} in {}{}, by {}:",
                bytes(total.bytes),
                counted(count, &format!("{what}block")),
                told.about,
                form.by.word()
            ),
        },
        is_of_names: form.by != ByName::Stack,
        columns,
        rows: rows.collect(),
        rest: rest.into_iter().collect(),
    }
}
