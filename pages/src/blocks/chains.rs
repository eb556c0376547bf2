//! `memlog chains`: what reallocs grew.

use memlog_answers::{ChainRow, Damaged, chains};
use memlog_format::meta::Lack;
use serde_json::json;

use super::listed::Listed;
use super::{Answer, Ask, Failure, Question, Told};
use crate::page::Page;
use crate::page::rows::{Last, Rows, titles};
use crate::rests::Rests;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-chains-1";

/// Show blocks that were grown by realloc, each as one object.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    listed: Listed,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(true).on(&[Lack::Reallocs])
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told, self)?)
    }
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Damaged> {
    let rows = chains(told.world, told.choice, args.listed.by)?;
    let objects = rows.iter().map(|row| {
        json!({
            "name": row.name,
            "bytes": row.last_bytes,
            "blocks": row.blocks,
            "length": row.longest,
            "chains": row.chains,
            "reserve_bytes": row.reserve,
            "outgrown_bytes": row.outgrown,
            "leaked_chains": row.leaked,
        })
    });
    let figures = Page::keyed([
        ("by", args.listed.by.word().into()),
        ("rows", objects.collect::<Vec<_>>().into()),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, &rows, args),
        ..Answer::default()
    })
}

fn rows_of(told: &Told, rows: &[ChainRow], args: &Args) -> Rows {
    let count: u64 = rows.iter().map(|row| row.chains).sum();
    let cells = rows[..args.listed.shown(rows.len())].iter().map(|row| {
        vec![
            told.sizes.of(row.outgrown),
            grouped(row.chains),
            grouped(row.longest),
            told.sizes.of(row.last_bytes),
            format!("{} bytes", grouped(row.reserve)),
            row.name.clone(),
        ]
    });
    Rows {
        title: match rows.is_empty() {
            true => format!(
                "no block{} was grown by realloc; std::vector and std::string grow by new",
                told.about
            ),
            false => format!(
                "{} of blocks grown by realloc{}, by {}; outgrown: bytes that a realloc may have copied:",
                counted(count, "chain"),
                told.about,
                args.listed.by.word()
            ),
        },
        last: Last::of(args.listed.by),
        columns: titles(&[
            "outgrown",
            "chains",
            "longest",
            "at last",
            "largest",
            args.listed.by.word(),
        ]),
        gives_way: vec!["at last", "longest", "largest"],
        rows: cells.collect(),
        rest: args.listed.rest(rows.len()).into_iter().collect(),
    }
}
