//! One side of a comparison: what it holds, and what is to be known of its log.

use std::sync::Arc;

use memlog_analysis::Held;
use memlog_answers::{By, Module, Side, side};
use memlog_symbols::without_marks;
use serde_json::{Map, Value, json};

use super::super::{Around, Failure, Question, Told, unknown};
use crate::facts::unknown_words;
use crate::open::Interrupt;
use crate::page::OnNames;
use crate::page::heading::{Heading, Says};
use crate::page::rows::Rows;
use crate::words::{Sizes, change, clean, counted, shown};
use crate::world::Kept;

/// A log that was read for it.
pub struct Taken {
    pub(super) side: Side,
    pub(super) on_names: OnNames,
    /// As it was asked for.
    file: String,
    at: String,
    /// When that is.
    seconds: f64,
    kept: Arc<Kept>,
    interrupted: Value,
    /// What is to be known of the filter.
    note: Option<String>,
    /// Ctrl-C ends the process by now, unless this is told otherwise.
    pub(super) interrupt: Option<Interrupt>,
}

/// What blocks of a log hold at the moment that is asked for.
pub fn take(told: &Told, question: &Question, by: By) -> Result<(Side, f64), Failure> {
    let modules = told.family().logs.iter().flat_map(|log| log.modules());
    let modules = modules.map(|module| Module {
        path: clean(module.path),
        build_id: module.build_id.to_vec(),
    });
    let side = side(
        told.world,
        told.choice,
        by,
        modules.collect(),
        without_marks,
    )?;
    let event = question.at.as_ref().map(|at| told.event(at)).transpose()?;
    let event = event.unwrap_or_else(|| told.world.end());
    Ok((side, told.world.seconds_of(event)))
}

impl Taken {
    /// Takes away what this side's source did not know.
    pub fn hide_unknown(&self, figures: &mut Map<String, Value>, rows: &mut Rows) {
        unknown::hide(&self.kept.stats, figures, rows);
    }

    /// Whether its source knew that, in a word of [`unknown_words`].
    pub fn knows(&self, word: &str) -> bool {
        !unknown_words(&self.kept.stats).contains(&word)
    }

    /// With what stands around an answer.
    pub(super) fn new((side, seconds): (Side, f64), question: &Question, around: Around) -> Self {
        Self {
            side,
            seconds,
            file: shown(&question.asked.file).to_string(),
            at: question
                .at
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            kept: around.kept,
            on_names: around.on_names,
            interrupted: around.interrupted,
            note: around.note,
            interrupt: around.interrupt,
        }
    }

    /// Whether it is of all that was asked for.
    pub fn is_part(&self) -> bool {
        !self.interrupted.is_null() || self.on_names.cut_short.is_some()
    }

    /// When it is of which log: `rss-peak of old.memlog`.
    pub fn moment(&self) -> String {
        format!("{} of {}", self.at, self.file)
    }

    /// For programs.
    pub fn json(&self, held: Held) -> Value {
        json!({
            "file": self.file,
            "at": self.at,
            "at_seconds": self.seconds,
            "bytes": held.bytes,
            "blocks": held.blocks,
            "interrupted": self.interrupted,
            "stats": self.kept.stats,
        })
    }

    /// What a reader has to know besides, of which log it is.
    pub fn told_notes(&self, name: &str) -> Vec<String> {
        let notes = self.kept.notes.iter().chain(&self.note);
        notes.map(|note| format!("{name}: {note}")).collect()
    }

    /// What is live of it.
    fn live(&self, sizes: Sizes) -> String {
        let total = self.side.total();
        let blocks = match self.knows("counts") {
            true => format!(" in {}", counted(total.blocks, "block")),
            false => String::new(),
        };
        let when = match self.knows("times") {
            true => format!(", {:.3} s", self.seconds),
            false => String::new(),
        };
        format!(
            "live at {}{when}: {}{blocks}",
            self.at,
            sizes.of(total.bytes)
        )
    }

    /// The program, the moment, the peaks and what is missing.
    fn tell(&self, heading: &mut Heading, name: &'static str, sizes: Sizes) {
        let told = self.kept.heading();
        let line = |wanted: &str| {
            let line = told.lines.iter().find(|line| line.name == wanted);
            match line.map(|line| &line.says) {
                Some(Says::Parts(parts)) => parts.clone(),
                _ => Vec::new(),
            }
        };
        let program = line("program").into_iter();
        let whole = std::iter::once(self.file.clone()).chain(program);
        heading.line(name, whole.collect());
        heading.line("", vec![self.live(sizes)]);
        for peak in ["RSS peak", "heap peak"] {
            let mut parts = line(peak).into_iter();
            if let Some(first) = parts.next() {
                let all = std::iter::once(format!("{peak}: {first}")).chain(parts);
                heading.line("", all.collect());
            }
        }
        for alarm in told.lines.iter().filter(|line| line.is_alarm) {
            if let Says::Parts(parts) = &alarm.says {
                let first = parts.first().map_or("", String::as_str);
                let first = format!("{name}: {first}");
                let rest = parts.iter().skip(1).cloned();
                heading.alarm(alarm.name, std::iter::once(first).chain(rest).collect());
            }
        }
    }

    fn figure(&self, name: &str) -> Option<u64> {
        self.kept.stats[name].as_u64()
    }
}

/// Both logs, their moments and their peaks, and what is missing in either. Of one log
/// twice it stands once.
pub fn heading(sides: &[Taken; 2], sizes: Sizes) -> Heading {
    let mut heading = Heading {
        indent: crate::heading::INDENT,
        ..Heading::default()
    };
    let is_one = sides[0].file == sides[1].file;
    sides[0].tell(&mut heading, "before", sizes);
    match is_one {
        true => heading.line("after", vec![sides[1].live(sizes)]),
        false => sides[1].tell(&mut heading, "after", sizes),
    }
    let peaks = [
        ("RSS peak", "rss_peak_bytes"),
        ("heap peak", "heap_peak_bytes"),
    ];
    let peaks = peaks.into_iter().filter(|_| !is_one);
    let peaks = peaks.filter_map(|(name, key)| {
        let [before, after] = sides.each_ref().map(|side| side.figure(key));
        Some(format!("{name} {}", change(sizes, before?, after?)))
    });
    let [before, after] = sides.each_ref().map(|side| side.side.total().bytes);
    let live = format!("live {}", change(sizes, before, after));
    heading.line("change", std::iter::once(live).chain(peaks).collect());
    heading
}
