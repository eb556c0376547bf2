//! `memlog fragmentation`: pages that few bytes hold.

use memlog_answers::{Choice, Damaged, Fragments, Test, fragments};
use memlog_format::meta::Lack;
use serde_json::json;

use super::listed::Listed;
use super::{Answer, Ask, Failure, Question, Told};
use crate::moment::At;
use crate::page::Page;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::rests::Rests;
use crate::words::{counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-fragmentation-1";

/// Say which blocks hold pages that are nearly empty.
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
        Rests::from(true).on(&[Lack::Addresses, Lack::Live])
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        let peak = || Test::LiveAt(told.world.moments.rss_peak);
        let of = |choice: &Choice| match self.question.at {
            Some(_) => choice.clone(),
            None => choice.clone().and(peak()),
        };
        let told = Told {
            choice: &of(told.choice),
            moment: &of(told.moment),
            ..*told
        };
        let when = self.question.at.as_ref().unwrap_or(&At::RSS_PEAK);
        Ok(answer(&told, self, when)?)
    }
}

fn answer(told: &Told, args: &Args, when: &At) -> Result<Answer, Damaged> {
    let page_bytes = told.page_bytes;
    let found = fragments(
        told.world,
        told.moment,
        told.choice,
        args.listed.by,
        page_bytes,
    )?;
    let rows = found.rows.iter().map(|row| {
        json!({
            "name": row.name,
            "bytes": row.bytes,
            "blocks": row.blocks,
            "pages": row.pages,
            "sole_pages": row.sole_pages,
            "held_bytes": row.held,
        })
    });
    let figures = Page::keyed([
        ("by", args.listed.by.word().into()),
        ("moment", when.to_string().into()),
        ("page_bytes", page_bytes.into()),
        ("pages", found.pages.into()),
        ("bytes", found.bytes.into()),
        ("pages_by_tenths", found.tenths.to_vec().into()),
        ("rows", rows.collect::<Vec<_>>().into()),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, args, &found, page_bytes, when.to_string()),
        ..Answer::default()
    })
}

fn rows_of(told: &Told, args: &Args, found: &Fragments, page_bytes: u64, moment: String) -> Rows {
    let all = found.rows.len();
    let cells = found.rows[..args.listed.shown(all)].iter().map(|row| {
        vec![
            told.sizes.of(row.held),
            grouped(row.sole_pages),
            grouped(row.pages),
            told.sizes.of(row.bytes),
            grouped(row.blocks),
            row.name.clone(),
        ]
    });
    let whole = found.pages.saturating_mul(page_bytes);
    let few: u64 = found.tenths[..3].iter().sum();
    let mut rest = Vec::from_iter(args.listed.rest(all));
    rest.push(Rest::from(String::new()));
    rest.push(
        "held free: bytes without a block in pages that only these blocks keep from the kernel"
            .to_owned()
            .into(),
    );
    Rows {
        title: format!(
            "at {moment}: {} live in {} pages of {}, which have {}; {} at most 30 % full:",
            told.sizes.of(found.bytes),
            grouped(found.pages),
            told.sizes.of(page_bytes),
            told.sizes.of(whole),
            counted(few, "page")
        ),
        last: Last::of(args.listed.by),
        columns: titles(&[
            "held free",
            "own pages",
            "pages",
            "live",
            "blocks",
            args.listed.by.word(),
        ]),
        gives_way: vec!["pages", "blocks", "live"],
        rows: cells.collect(),
        rest,
    }
}
