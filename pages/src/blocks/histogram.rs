//! `memlog histogram`: how many blocks there are of each size or lifetime, or of both.

mod grid;

use memlog_analysis::Held;
use memlog_answers::{
    Class, Damaged, by_lifetime, by_lifetime_events, by_size, by_size_and_lifetime,
};
use memlog_format::meta::Lack;
use serde_json::{Map, Value};

use super::{Answer, Ask, Failure, Question, Told, lifetimes};
use crate::page::Page;
use crate::page::rows::{Last, Rows, titles};
use crate::rests::Rests;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-histogram-1";

/// Count blocks by their sizes or lifetimes.
#[derive(clap::Args)]
pub struct Args {
    /// What is looked at
    #[arg(value_enum)]
    of: Of,
    #[command(flatten)]
    question: Question,
}

/// What blocks are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Of {
    /// Bytes asked for
    Size,
    /// Time from allocation to release
    Lifetime,
    /// Allocations and releases of all threads from its own to its release
    LifetimeEvents,
    /// Both, as a grid: do large blocks live long?
    SizeLifetime,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(false).on(match self.of {
            Of::Size => &[Lack::Sizes],
            Of::Lifetime => &[Lack::Times, Lack::Order, Lack::Lifetimes],
            Of::LifetimeEvents => &[Lack::Order, Lack::Lifetimes],
            Of::SizeLifetime => &[Lack::Sizes, Lack::Times, Lack::Order, Lack::Lifetimes],
        })
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told, self.of)?)
    }
}

fn answer(told: &Told, of: Of) -> Result<Answer, Damaged> {
    let grain = || lifetimes::step_ticks(told.world);
    Ok(match of {
        Of::Size => one(told, "size", &by_size(told.world, told.choice)?, size),
        Of::Lifetime => {
            let classes = by_lifetime(told.world, told.choice, grain())?;
            noted(told, one(told, "lifetime", &classes, lifetime))
        }
        Of::LifetimeEvents => {
            let classes = by_lifetime_events(told.world, told.choice)?;
            one(told, "lifetime-events", &classes, lifetime_events)
        }
        Of::SizeLifetime => {
            let grid = by_size_and_lifetime(told.world, told.choice, grain())?;
            noted(told, grid::both(told, &grid))
        }
    })
}

/// Where the clock hardly knows lifetimes, that is said.
fn noted(told: &Told, answer: Answer) -> Answer {
    let note = lifetimes::note(told.world);
    Answer { note, ..answer }
}

/// A class by its name and its bounds.
type Said = (String, Map<String, Value>);

fn size(_: &Told, class: &Class) -> Said {
    let name = match class.to {
        Some(to) if to > class.from => format!("{}..{}", grouped(class.from), grouped(to)),
        _ => grouped(class.from),
    };
    let bounds = [
        ("from_bytes", class.from.into()),
        ("to_bytes", class.to.into()),
    ];
    (name, Page::keyed(bounds))
}

/// The clock says no more than that a block lived for less than one more of its steps.
fn lifetime(told: &Told, class: &Class) -> Said {
    let seconds = |tick: u64| told.world.seconds(tick);
    let end = class.to.map(|to| seconds(to.saturating_add(1)));
    let name = match end {
        None => "never freed".into(),
        Some(end) if class.from == 0 => format!("under {}", span(end)),
        Some(end) => format!("{}..{}", span(seconds(class.from)), span(end)),
    };
    let bounds = [
        ("from_seconds", end.map(|_| seconds(class.from)).into()),
        ("to_seconds", end.into()),
    ];
    (name, Page::keyed(bounds))
}

fn lifetime_events(_: &Told, class: &Class) -> Said {
    let name = match class.to {
        None => "never freed".into(),
        Some(to) if to > class.from => format!("{}..{}", grouped(class.from), grouped(to)),
        Some(to) => grouped(to),
    };
    let bounds = [
        ("from_events", class.to.map(|_| class.from).into()),
        ("to_events", class.to.into()),
    ];
    (name, Page::keyed(bounds))
}

fn sum(classes: &[Class]) -> Held {
    let held = classes.iter().map(Class::held);
    held.fold(Held::default(), Held::plus)
}

fn figures(word: &str, all: Held, rows: Vec<Value>) -> Map<String, Value> {
    Page::keyed([
        ("by", word.into()),
        ("bytes", all.bytes.into()),
        ("blocks", all.blocks.into()),
        ("rows", rows.into()),
    ])
}

fn row(name: String, held: Held, bounds: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut row = Page::keyed([
        ("name", name.into()),
        ("bytes", held.bytes.into()),
        ("blocks", held.blocks.into()),
    ]);
    row.extend(bounds);
    row.into()
}

fn title(told: &Told, all: Held, word: &str) -> String {
    let (bytes, blocks) = (told.sizes.of(all.bytes), counted(all.blocks, "block"));
    format!("{bytes} in {blocks}{}, by {word}:", told.about)
}

fn one(told: &Told, word: &str, classes: &[Class], say: fn(&Told, &Class) -> Said) -> Answer {
    let all = sum(classes);
    let objects = classes.iter().map(|class| {
        let (name, bounds) = say(told, class);
        row(name, class.held(), bounds)
    });
    let rows = classes.iter().map(|class| {
        vec![
            grouped(class.blocks),
            told.sizes.of(class.bytes),
            say(told, class).0,
            bar(class.blocks, all.blocks),
        ]
    });
    Answer {
        figures: figures(word, all, objects.collect()),
        rows: Rows {
            title: title(told, all, word),
            last: Last::Bar,
            columns: titles(&["blocks", "bytes", word, ""]),
            rows: rows.collect(),
            ..Rows::default()
        },
        ..Answer::default()
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => lifetimes::short(s),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    }
}

fn bar(part: u64, whole: u64) -> String {
    const WIDEST: f64 = 40.0;
    let share = part as f64 / whole.max(1) as f64;
    "#".repeat((share * WIDEST).ceil() as usize)
}
