//! `memlog function`: who called a function, and what it called.

use memlog_answers::{Around, Damaged, Sums, around};
use regex::Regex;
use serde_json::{Value, json};

use super::{Answer, Ask, Failure, Question, Told};
use crate::page::Page;
use crate::page::rows::{Last, Rows, titles};
use crate::rests::Rests;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-function-1";

/// Say who called a function, and what it called.
#[derive(clap::Args)]
pub struct Args {
    /// A regular expression that the whole name of the function matches, with or
    /// without its parameters
    #[arg(value_name = "NAME", value_parser = whole)]
    name: Regex,
    #[command(flatten)]
    question: Question,
}

fn whole(text: &str) -> Result<Regex, String> {
    // As it is, so that an error is about what was typed.
    Regex::new(text).map_err(|error| error.to_string())?;
    Regex::new(&format!("^(?:{text})$")).map_err(|error| error.to_string())
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        self.question.sums_rest()
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told, &self.name)?)
    }
}

fn answer(told: &Told, name: &Regex) -> Result<Answer, Damaged> {
    let fits = |function: &str| {
        let plain = function.split('(').next().filter(|plain| !plain.is_empty());
        name.is_match(function) || plain.is_some_and(|plain| name.is_match(plain))
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
        rows: rows_of(told, &found, asked(name)),
        ..Answer::default()
    })
}

/// As it was typed.
fn asked(name: &Regex) -> &str {
    let text = name.as_str();
    let text = text
        .strip_prefix("^(?:")
        .and_then(|text| text.strip_suffix(")$"));
    text.unwrap_or_default()
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
        last: Last::Name,
        columns: titles(&["", "share", "bytes", "blocks", "function"]),
        gives_way: vec!["share"],
        rows,
        rest: Vec::new(),
    }
}
