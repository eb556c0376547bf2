//! `memlog chains`: what reallocs grew.

use std::process::ExitCode;

use memlog_answers::{ChainRow, Damaged, chains};
use serde_json::json;

use super::table::ByName;
use super::{Answer, Question, Told, ask};
use crate::page::Page;
use crate::page::rows::Rows;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-chains-1";

/// Show blocks that were grown by realloc, each as one object.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// What chains are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_enum)]
    by: ByName,
    /// How many rows are shown; 0: all
    #[arg(short = 'n', long, value_name = "N", default_value = "20")]
    top: usize,
}

/// Shows the chains.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.by.check_stacks("chains are")?;
    ask(&args.question, SCHEMA, args.by.by().needs_names(), |told| {
        answer(told, args)
    })
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Damaged> {
    let rows = chains(told.world, told.choice, args.by.by())?;
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
        ("by", args.by.word().into()),
        ("rows", objects.collect::<Vec<_>>().into()),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, &rows, args),
    })
}

fn rows_of(told: &Told, rows: &[ChainRow], args: &Args) -> Rows {
    let count: u64 = rows.iter().map(|row| row.chains).sum();
    let most = if args.top == 0 {
        rows.len()
    } else {
        args.top.min(rows.len())
    };
    let cells = rows[..most].iter().map(|row| {
        vec![
            told.sizes.of(row.outgrown),
            grouped(row.chains),
            grouped(row.longest),
            told.sizes.of(row.last_bytes),
            format!("{} bytes", grouped(row.reserve)),
            row.name.clone(),
        ]
    });
    let rest = (most < rows.len()).then(|| {
        let more = (rows.len() - most) as u64;
        format!("{} more; --top 0 shows all", grouped(more))
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
                args.by.word()
            ),
        },
        is_of_names: args.by != ByName::Stack,
        columns: vec![
            "outgrown",
            "chains",
            "longest",
            "at last",
            "largest",
            args.by.word(),
        ],
        rows: cells.collect(),
        rest: rest.into_iter().collect(),
    }
}
