//! `memlog threads`: who allocated and who freed.

use memlog_answers::{Damaged, threads};
use memlog_format::meta::Lack;
use serde_json::json;

use super::{Answer, Ask, Failure, Question, Told};
use crate::page::Page;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::rests::Rests;
use crate::words::{clean, counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-threads-1";

/// Say which thread allocated, and which freed.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(false).on(&[Lack::Threads])
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told)?)
    }
}

fn answer(told: &Told) -> Result<Answer, Damaged> {
    let (rows, matrix) = threads(told.world, told.choice)?;
    let world = told.world;
    let list = world.table.threads();
    let tid = |place: usize| list.get(place).map(|thread| thread.tid);
    let objects = rows.iter().map(|row| {
        json!({
            "name": world.thread(row.thread),
            "tid": tid(row.thread),
            "thread": list.get(row.thread).map(|thread| clean(&thread.name)),
            "bytes": row.asked.bytes,
            "blocks": row.asked.blocks,
            "leaked_bytes": row.asked.leaked_bytes,
            "leaked_blocks": row.asked.leaked_blocks,
            "temporary_blocks": row.asked.temporary_blocks,
            "freed_bytes": row.released.bytes,
            "freed_blocks": row.released.blocks,
        })
    });
    let between = matrix.iter().map(|one| {
        json!({
            "allocated_by": tid(one.from),
            "freed_by": tid(one.to),
            "bytes": one.held.bytes,
            "blocks": one.held.blocks,
        })
    });
    let figures = Page::keyed([
        ("rows", objects.collect::<Vec<_>>().into()),
        ("freed", between.collect::<Vec<_>>().into()),
    ]);
    let cells = rows.iter().map(|row| {
        vec![
            told.sizes.of(row.asked.bytes),
            grouped(row.asked.blocks),
            told.sizes.of(row.released.bytes),
            grouped(row.released.blocks),
            grouped(row.asked.leaked_blocks),
            world.thread(row.thread),
        ]
    });
    const MOST: usize = 20;
    let others = matrix.iter().filter(|one| one.from != one.to).take(MOST);
    let rest = others.map(|one| {
        format!(
            "{} in {} allocated by {} and freed by {}",
            told.sizes.of(one.held.bytes),
            counted(one.held.blocks, "block"),
            world.thread(one.from),
            world.thread(one.to)
        )
    });
    let rest: Vec<Rest> = rest.map(Rest::from).collect();
    Ok(Answer {
        figures,
        rows: Rows {
            title: match told.about {
                "" => "what each thread allocated and freed:".into(),
                about => format!("what each thread allocated and freed, of blocks{about}:"),
            },
            last: Last::Text,
            columns: titles(&[
                "allocated",
                "blocks",
                "freed",
                "blocks",
                "not freed",
                "thread",
            ]),
            gives_way: vec!["not freed"],
            rows: cells.collect(),
            rest: match rest.is_empty() {
                true => rest,
                false => std::iter::once(String::new().into()).chain(rest).collect(),
            },
        },
        ..Answer::default()
    })
}
