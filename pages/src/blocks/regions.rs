//! Where blocks lie in the address space at a moment, for a front end that draws it.

use memlog_answers::{Choice, Region, Test, regions};
use memlog_format::meta::Lack;
use serde_json::{Value, json};

use super::{Answer, Ask, Failure, Question, Told};
use crate::page::Page;
use crate::rests::Rests;

/// The version of the keys; `doc/API.md` says what they mean.
const SCHEMA: &str = "memlog-regions-1";

/// Where blocks lie in the address space; at the RSS peak if --at does not say when.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// Into how many parts a region is cut at most
    #[arg(long, value_name = "N", default_value = "256")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=4096))]
    parts: u16,
    /// How many regions at most
    #[arg(long, value_name = "N", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=4096))]
    areas: u16,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(false).on(&[Lack::Addresses, Lack::Live])
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        let peak = Test::LiveAt(told.world.moments.rss_peak);
        let choice: Choice = match self.question.at() {
            Some(_) => told.choice.clone(),
            None => told.choice.clone().and(peak),
        };
        let most = (self.areas.into(), self.parts.into());
        let found = regions(told.world, &choice, told.page_bytes, most)?;
        let areas: Vec<Value> = found.iter().map(json_of).collect();
        Ok(Answer {
            figures: Page::keyed([
                ("page_bytes", told.page_bytes.into()),
                ("areas", areas.into()),
            ]),
            ..Answer::default()
        })
    }
}

fn json_of(region: &Region) -> Value {
    json!({
        "start": format!("{:#x}", region.start),
        "end": format!("{:#x}", region.end),
        "live_bytes": region.bytes,
        "blocks": region.blocks,
        "fill": region.fill,
    })
}
