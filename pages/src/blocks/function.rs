//! `memlog function`: who called a function, and what it called.

use std::process::ExitCode;

use memlog_answers::{Around, Damaged, Sums, around};
use regex::Regex;
use serde_json::{Value, json};

use super::{Answer, Question, Told, ask};
use crate::page::Page;
use crate::page::rows::Rows;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-function-1";

/// Say who called a function, and what it called.
#[derive(clap::Args)]
pub struct Args {
    /// A regular expression that the whole name of the function matches
    #[arg(value_name = "NAME")]
    name: Regex,
    #[command(flatten)]
    question: Question,
}

/// Shows both.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    ask(&args.question, SCHEMA, true, |told| {
        answer(told, &args.name)
    })
}

fn answer(told: &Told, name: &Regex) -> Result<Answer, Damaged> {
    let fits = |function: &str| {
        // Its name, with or without what it is called with.
        let plain = function.split('(').next().unwrap_or(function);
        [function, plain].iter().any(|text| {
            let found = name.find(text);
            found.is_some_and(|found| found.start() == 0 && found.end() == text.len())
        })
    };
    let found = around(told.world, told.choice, fits)?;
    let list = |list: &[(String, Sums)]| -> Vec<Value> {
        let rows = list.iter().map(|(name, sums)| {
            json!({
                "name": name,
                "bytes": sums.bytes,
                "blocks": sums.blocks,
            })
        });
        rows.collect()
    };
    let figures = Page::keyed([
        ("functions", found.names.clone().into()),
        ("bytes", found.own.bytes.into()),
        ("blocks", found.own.blocks.into()),
        ("below_bytes", found.below.bytes.into()),
        ("below_blocks", found.below.blocks.into()),
        ("callers", list(&found.callers).into()),
        ("callees", list(&found.callees).into()),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, &found, name.as_str()),
    })
}

fn rows_of(told: &Told, found: &Around, asked: &str) -> Rows {
    let of = |sums: &Sums| {
        format!(
            "{} in {}",
            told.sizes.of(sums.bytes),
            counted(sums.blocks, "block")
        )
    };
    if found.names.is_empty() {
        return Rows {
            title: format!("no function that is called {asked} is in a stack of these blocks"),
            ..Rows::default()
        };
    }
    let share = |sums: &Sums| match found.below.bytes {
        0 => String::new(),
        all => format!("{:.1}%", 100.0 * sums.bytes as f64 / all as f64),
    };
    let line = |role: &str, (name, sums): &(String, Sums)| {
        vec![
            role.to_owned(),
            share(sums),
            told.sizes.of(sums.bytes),
            grouped(sums.blocks),
            name.clone(),
        ]
    };
    let mut rows: Vec<Vec<String>> = found
        .callers
        .iter()
        .map(|one| line("called by", one))
        .collect();
    let own = ("(itself, of the allocator)".to_owned(), found.own);
    if found.own.blocks > 0 {
        rows.push(line("asked", &own));
    }
    rows.extend(found.callees.iter().map(|one| line("calls", one)));
    Rows {
        title: format!(
            "{}: {}{}",
            found.names.join(", "),
            of(&found.below),
            told.about
        ),
        is_of_names: true,
        columns: vec!["", "share", "bytes", "blocks", "function"],
        rows,
        rest: Vec::new(),
    }
}
