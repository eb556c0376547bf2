//! `memlog histogram`: how many blocks there are of each size or lifetime.

use std::process::ExitCode;

use memlog_answers::{Class, Damaged, by_lifetime, by_size};
use serde_json::{Value, json};

use super::{Answer, Question, Told, ask};
use crate::page::Page;
use crate::page::rows::Rows;
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
}

/// Shows the classes.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    ask(&args.question, SCHEMA, false, |told| answer(told, args.of))
}

fn answer(told: &Told, of: Of) -> Result<Answer, Damaged> {
    let grain = told.world.table.steps().grain();
    let classes = match of {
        Of::Size => by_size(told.world, told.choice)?,
        Of::Lifetime => by_lifetime(told.world, told.choice, grain)?,
    };
    let name = |class: &Class| match of {
        Of::Size => size_name(class),
        Of::Lifetime => lifetime_name(told, class, grain),
    };
    let bounds = |class: &Class| match of {
        Of::Size => json!({"from_bytes": class.from, "to_bytes": class.to}),
        Of::Lifetime => {
            let seconds = |tick: u64| told.world.seconds(tick);
            json!({
                "from_seconds": class.to.map(|_| seconds(class.from)),
                "to_seconds": class.to.map(|to| seconds(to.saturating_add(1))),
            })
        }
    };
    let rows = classes.iter().map(|class| {
        let mut row = json!({
            "name": name(class),
            "bytes": class.bytes,
            "blocks": class.blocks,
        });
        if let (Value::Object(row), Value::Object(bounds)) = (&mut row, bounds(class)) {
            row.extend(bounds);
        }
        row
    });
    let word = match of {
        Of::Size => "size",
        Of::Lifetime => "lifetime",
    };
    let sum = |of: fn(&Class) -> u64| classes.iter().map(of).fold(0, u64::saturating_add);
    let (bytes, blocks) = (sum(|class| class.bytes), sum(|class| class.blocks));
    let figures = Page::keyed([
        ("by", word.into()),
        ("bytes", bytes.into()),
        ("blocks", blocks.into()),
        ("rows", rows.collect::<Vec<_>>().into()),
    ]);
    Ok(Answer {
        figures,
        rows: Rows {
            title: format!(
                "{} in {}{}, by {word}:",
                told.sizes.of(bytes),
                counted(blocks, "block"),
                told.about
            ),
            is_of_names: false,
            columns: vec!["blocks", "bytes", word, ""],
            rows: classes
                .iter()
                .map(|class| {
                    vec![
                        grouped(class.blocks),
                        told.sizes.of(class.bytes),
                        name(class),
                        bar(class.blocks, blocks),
                    ]
                })
                .collect(),
            rest: Vec::new(),
        },
    })
}

fn size_name(class: &Class) -> String {
    match class.to {
        Some(to) if to > class.from => format!("{}..{}", grouped(class.from), grouped(to)),
        _ => grouped(class.from),
    }
}

/// The clock says no more than that a block lived for less than one more of its steps.
fn lifetime_name(told: &Told, class: &Class, grain: u64) -> String {
    let told = |tick: u64| span(told.world.seconds(tick));
    match class.to {
        None => "never freed".into(),
        Some(_) if class.from == 0 => format!("under {}", told(grain)),
        Some(to) => format!("{}..{}", told(class.from), told(to.saturating_add(1))),
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
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
