//! What an answer rests on, and whether the source of a log knew it: the one gate between
//! imports and questions. Here stands what filters, moments and groupings rest on;
//! a command adds what it rests on itself.

use memlog_answers::By;
use memlog_format::meta::{Key, Lack};
use memlog_query::{CountField, Expr, Flag, LengthField, MomentField, SizeField, Test, TextField};
use memlog_read::Log;

use crate::facts::{Imported, is_unknown, lacks};
use crate::page::tree::By as Count;
use crate::words::Advice;

/// What an answer rests on.
#[derive(Clone, Debug, Default)]
pub struct Rests {
    /// Whether names are looked up for it.
    pub names: bool,
    /// Whether it is of what the program mapped itself.
    pub mappings: bool,
    /// Whether each allocation and release is in it.
    events: bool,
    on: Vec<Lack>,
}

impl From<bool> for Rests {
    fn from(names: bool) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }
}

impl Rests {
    /// And on these.
    pub fn on(mut self, lacks: &[Lack]) -> Self {
        self.on.extend_from_slice(lacks);
        self
    }

    /// And on what the program mapped itself.
    pub fn on_mappings(mut self) -> Self {
        self.mappings = true;
        self
    }

    /// And on each allocation and release.
    pub fn on_events(mut self) -> Self {
        self.events = true;
        self
    }

    /// And on what a filter asks.
    pub fn filtered(mut self, filter: Option<&Expr>) -> Self {
        if let Some(filter) = filter {
            of_filter(filter, &mut self.on);
        }
        self
    }

    /// And on what is counted.
    pub fn counting(mut self, by: Count) -> Self {
        self.mappings |= by == Count::Mapped;
        self.on(match by {
            Count::Live => &[Lack::Live],
            Count::Allocated => &[Lack::Gone],
            Count::Count => &[Lack::Gone, Lack::Counts],
            Count::Temporary => &[Lack::Order, Lack::Gone],
            Count::Mapped | Count::Freed => &[],
        })
    }

    /// And on what blocks are put together by.
    pub fn by(self, by: By) -> Self {
        self.on(match by {
            By::Size => &[Lack::Sizes],
            By::Thread | By::FreedBy => &[Lack::Threads],
            By::Kind | By::Alignment => &[Lack::Functions],
            _ => &[],
        })
    }

    /// A sentence where the source of the log does not know it.
    pub fn check(&self, log: &Log) -> anyhow::Result<()> {
        if let Some(left_out) = log.left_out() {
            let is_known = !self.events && !self.on.iter().any(|lack| is_unknown(log, *lack));
            return match is_known {
                true => Ok(()),
                false if left_out.by_recorder => Err(Advice::error(
                    "not known: the log was culled while it was recorded, and has no events of \
                     the blocks that it left out",
                    "record once more, without --cull",
                )),
                false => Err(Advice::error(
                    "not known: the log is stripped, and has no events of the blocks that it left \
                     out",
                    "ask the log that it was made of",
                )),
            };
        }
        let Some(imported) = Imported::of(log) else {
            return Ok(());
        };
        let mut unknown: Vec<_> = self
            .on
            .iter()
            .filter(|lack| is_unknown(log, **lack))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut words: Vec<_> = unknown.into_iter().map(|lack| lacks(*lack)).collect();
        if self.mappings {
            words.push("what the program mapped itself");
        }
        if words.is_empty() {
            return Ok(());
        }
        Err(Advice::error(
            format!(
                "not known: {} is a {} file, which does not know {}",
                imported.file,
                imported.tool,
                words.join(", ")
            ),
            match log
                .texts(Key::Lacks)
                .any(|text| Lack::of(text) == Some(Lack::Live))
            {
                true => "`memlog table` shows what was allocated",
                false => {
                    "`memlog report --at end` and `memlog table --at end` show what it has last"
                }
            },
        ))
    }
}

fn of_filter(expr: &Expr, on: &mut Vec<Lack>) {
    match expr {
        Expr::Or(list) | Expr::And(list) => list.iter().for_each(|one| of_filter(one, on)),
        Expr::Not(one) => of_filter(one, on),
        Expr::Test(test) => on.extend_from_slice(of_test(test)),
    }
}

fn of_test(test: &Test) -> &'static [Lack] {
    use Lack::{
        Addresses, Counts, Course, Functions, Gone, Lifetimes, Live, Order, Reallocs, Sizes,
        Threads, Times,
    };
    match test {
        Test::Size { field, .. } => match field {
            SizeField::Size => &[Sizes],
            SizeField::FirstSize | SizeField::LastSize => &[Sizes, Reallocs],
            SizeField::GroupBytes => &[Gone],
            SizeField::Alignment => &[Functions],
            SizeField::Usable | SizeField::Waste => &[Sizes],
        },
        Test::Count { field, .. } => match field {
            CountField::LifetimeEvents => &[Order, Lifetimes],
            CountField::Tid | CountField::FreedByTid => &[Threads],
            CountField::Map => &[Addresses],
            CountField::ChainLength | CountField::ChainPosition => &[Reallocs],
            CountField::GroupAllocations => &[Gone, Counts],
            CountField::Line | CountField::Depth | CountField::Stack | CountField::FreedStack => {
                &[]
            }
        },
        Test::Length { field, .. } => match field {
            LengthField::Lifetime => &[Times, Order, Lifetimes],
            LengthField::ChainLifetime => &[Times, Order, Lifetimes, Reallocs],
            LengthField::GroupInterval => &[Times, Order, Gone, Course],
        },
        Test::Moment { field, .. } => match field {
            MomentField::Born => &[Times, Order, Course],
            MomentField::Died => &[Times, Order, Lifetimes],
            MomentField::GroupFirst | MomentField::GroupLast => &[Times, Order, Gone, Course],
            MomentField::GroupPeak => &[Times, Course],
        },
        Test::Text { field, .. } => match field {
            TextField::Kind => &[Functions],
            TextField::Thread | TextField::FreedBy => &[Threads],
            TextField::LastMark => &[Order, Course],
            _ => &[],
        },
        Test::Flag(flag) => match flag {
            Flag::Leaked => &[Live],
            Flag::Temporary => &[Order, Gone],
            Flag::Moved | Flag::ChainLeaked => &[Reallocs],
            Flag::Mmapped | Flag::MainArena => &[Addresses],
            Flag::GroupAllLeaked => &[Gone, Live],
            _ => &[],
        },
        Test::Address(_) | Test::Contains(_) => &[Addresses],
        Test::Alive { .. } => &[Course, Live],
        Test::GroupLeaked(_) => &[Gone, Live],
        Test::All | Test::FirstMatch(_) => &[],
    }
}
