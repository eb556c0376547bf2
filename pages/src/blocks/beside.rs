//! Of a group of chosen blocks, what there is of it in all.

use std::cmp::Reverse;

use memlog_answers::{By, Group, Unanswered, Whole, whole};
use serde_json::Value;

use super::Told;
use super::grown::Shows;
use super::table::{Args, Listing, Which};

/// What programs are told beside a group.
pub struct Beside {
    /// All its blocks, where not all are chosen.
    whole: Option<Whole>,
    /// See [`memlog_answers::World::peaks`]; of stacks that asked.
    peaks: Vec<(u64, u64)>,
}

impl Beside {
    /// Of what was asked.
    pub fn of(told: &Told, args: &Args, list: &Listing) -> Result<Self, Unanswered> {
        let question = &args.question;
        let chooses = question.at.is_some() || question.blocks.filter().is_some();
        let is_grown = list.grown.is_some_and(|grown| grown.shows != Shows::Curve);
        let is_part = list.which != Which::All || is_grown || chooses;
        let whole = || whole(told.world, args.by);
        Ok(Self {
            whole: (question.json && is_part).then(whole).transpose()?,
            peaks: match args.by {
                By::Stack if question.json => told.world.peaks(),
                _ => Vec::new(),
            },
        })
    }

    /// Puts it into a row.
    pub fn add(&self, told: &Told, group: &Group, row: &mut Value) {
        let whole = self.whole.as_ref().map(|whole| whole.of(told.world, group));
        let all = whole.unwrap_or(group.own);
        row["all_bytes"] = all.bytes.into();
        row["all_blocks"] = all.blocks.into();
        row["all_leaked_bytes"] = all.leaked_bytes.into();
        row["all_leaked_blocks"] = all.leaked_blocks.into();
        let peaks = group.stacks.iter();
        let peaks = peaks.filter_map(|&stack| self.peaks.get(stack as usize));
        let peak = peaks.max_by_key(|(most, event)| (*most, Reverse(*event)));
        row["peak_bytes"] = peak.map(|(most, _)| *most).into();
        row["peak_seconds"] = peak.map(|(_, event)| told.world.seconds_of(*event)).into();
    }
}
