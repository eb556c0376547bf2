//! What `memlog check` measures of a log: figures of `stats`, `leaks` and `table --where`,
//! and whose the memory was.

use std::cell::RefCell;
use std::path::Path;

use memlog_analysis::{Held, Name};
use memlog_answers::{Choice, Damaged, Of, Suppression, Test, owned, peak, suppressed};
use memlog_format::meta::Lack;
use memlog_table::Column;
use memlog_verdict::{Amounts, Frame, Gaps, Measure, Measured, Place};

use super::leaks::read as suppressions_of;
use super::table::Which;
use super::{Failure, Question, Told, answered};
use crate::facts::{Imported, ends_off, is_unknown};
use crate::figures::identity;
use crate::names::SymbolFiles;
use crate::screen::Look;
use crate::shown::Asked;
use crate::words::{Advice, shown};
use crate::world::Where;

/// Which blocks a budget is of.
pub struct Chosen {
    /// Those that a filter lets through.
    pub blocks: Where,
    /// Leaks that are known of.
    suppressions: Vec<Suppression>,
}

/// A log that was measured.
pub struct Run {
    /// The figures of each choice.
    pub measured: Measured,
    /// The program, with its folder.
    pub program: String,
    /// Whether the process told its end; else it was killed, or executed another program.
    pub has_end: bool,
    /// How far the heap's peak may be off, as threads ran side by side.
    pub peak_error_bytes: u64,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
}

/// Callers of a place that are told.
const CALLERS: usize = 32;

impl Chosen {
    /// These blocks, less what a file of LeakSanitizer's suppressions covers.
    pub fn new(blocks: Where, suppressions: Option<&Path>) -> anyhow::Result<Self> {
        let suppressions = suppressions.map(suppressions_of).transpose()?;
        Ok(Self {
            blocks,
            suppressions: suppressions.unwrap_or_default(),
        })
    }

    fn needs_names(&self) -> bool {
        self.blocks.needs_names() || !self.suppressions.is_empty()
    }

    /// Those of all blocks of the log.
    fn choice(&self, told: &Told) -> Result<Choice, Failure> {
        let test = self.blocks.test(told.world, told.start_unix_ns)?;
        Ok(Choice::of(test.ok_or(Damaged)?))
    }

    /// Of those what the log's own process allocated: not what a parent had, who may free it.
    fn own(&self, told: &Told) -> Result<Choice, Failure> {
        let own = Test::Between(Column::Born, 1, u64::MAX);
        Ok(self.choice(told)?.and(own))
    }

    /// Those that were never freed and that nobody knows of.
    fn leaked(&self, told: &Told) -> Result<Choice, Failure> {
        let is_forked = told.log().parent_pid().is_some();
        let all = match is_forked {
            true => self.own(told)?,
            false => self.choice(told)?,
        };
        let leaked = Which::Leaked.of(&all);
        if self.suppressions.is_empty() {
            return Ok(leaked);
        }
        let (_, covered) = suppressed(told.world, &leaked, &self.suppressions)?;
        Ok(leaked.and(Test::Not(Box::new(covered))))
    }
}

/// Measures a log: figures of each choice.
pub fn measure(file: &Path, symbol_files: &SymbolFiles, chosen: &[Chosen]) -> anyhow::Result<Run> {
    let needs_names = chosen.iter().any(Chosen::needs_names);
    let asked = asked((file, symbol_files), needs_names, |told| {
        let (log, stats) = (told.log(), &told.kept().stats);
        let figures = chosen.iter().map(|one| figures(told, one));
        let has_end = log.end().is_some();
        let mut notes = Vec::new();
        if !has_end && log.death().is_none() && Imported::of(log).is_none() {
            let why = match ends_off(log) {
                true => "recording went off before its process ended",
                false => "its process was killed, executed another program or runs still",
            };
            notes.push(format!(
                "{} has no end: {why}; the figures are of what is in it",
                shown(file)
            ));
        }
        if stats["inherited_blocks"].as_u64() > Some(0) {
            notes.push(format!(
                "the process of {} was forked: what it inherited is no leak of its own",
                shown(file)
            ));
        }
        let program = identity(log)["executable"].as_str().map(str::to_owned);
        Ok(Run {
            measured: Measured {
                figures: figures.collect::<Result<_, Failure>>()?,
                gaps: gaps(told),
                without_names: Vec::new(),
            },
            program: program.unwrap_or_else(|| shown(file)),
            has_end,
            peak_error_bytes: stats["heap_peak_error_bytes"].as_u64().unwrap_or(0),
            notes,
        })
    });
    let (mut run, remarks) = asked?;
    find_empty(&mut run, chosen, file, remarks.first());
    run.notes.extend(remarks);
    Ok(run)
}

/// A filter that chooses nothing keeps each limit: its blocks may be called otherwise by now,
/// or have no names.
fn find_empty(run: &mut Run, chosen: &[Chosen], file: &Path, remark: Option<&String>) {
    for (one, figures) in chosen.iter().zip(&run.measured.figures) {
        let is_empty = [Measure::Peak, Measure::Allocations]
            .iter()
            .all(|&measure| figures.get(measure) == Some(0));
        let filter = one.blocks.filter().filter(|_| is_empty);
        if let Some(filter) = filter {
            let note = format!("where {filter} chooses no block of {}", shown(file));
            run.notes.push(note);
        }
        let remark = remark.filter(|_| filter.is_some() && one.blocks.needs_names());
        run.measured.without_names.push(remark.cloned());
    }
}

/// The figures of a choice.
fn figures(told: &Told, chosen: &Chosen) -> Result<Amounts, Failure> {
    let stats = &told.kept().stats;
    let number = |key: &str| stats[key].as_u64();
    let flight = &stats["flight_recorder"];
    let mut amounts = Amounts::default();
    let world = told.world;
    match chosen.blocks.filter() {
        None => {
            let folded = flight["folded_heap_peak_bytes"].as_u64();
            amounts.set(Measure::Peak, number("heap_peak_bytes").max(folded));
            amounts.set(Measure::Allocations, number("allocations"));
            amounts.set(Measure::Total, number("total_bytes"));
        }
        Some(_) => {
            let own = sum(told, &chosen.own(told)?)?;
            let peak = peak(world, &chosen.choice(told)?)?;
            // What is not known of all blocks is known of none.
            let known = |key: &str, figure: u64| number(key).map(|_| figure);
            // The peak of some blocks is at a moment of its own.
            let bytes = known("heap_peak_bytes", peak.bytes);
            let has_course = !is_unknown(told.log(), Lack::Course);
            amounts.set(Measure::Peak, bytes.filter(|_| has_course));
            amounts.set(Measure::Allocations, known("allocations", own.blocks));
            amounts.set(Measure::Total, known("total_bytes", own.bytes));
        }
    }
    // What is live at a moment may be freed after it.
    let has_leaks = [Lack::End, Lack::Live].map(|lack| !is_unknown(told.log(), lack));
    if has_leaks == [true, true] {
        let leaked = sum(told, &chosen.leaked(told)?)?;
        amounts.set(Measure::Leaked, Some(leaked.bytes));
    }
    let rss = number("rss_peak_bytes").filter(|&bytes| bytes > 0);
    let own = number("own_rss_bytes").unwrap_or(0);
    amounts.set(Measure::Rss, rss.map(|bytes| bytes.saturating_sub(own)));
    Ok(amounts)
}

fn sum(told: &Told, choice: &Choice) -> Result<Held, Failure> {
    let stacks = memlog_answers::held_of(told.world, choice)?;
    Ok(stacks.into_iter().fold(Held::default(), Held::plus))
}

/// Why the figures may be too low.
fn gaps(told: &Told) -> Gaps {
    let stats = &told.kept().stats;
    let is_folded = stats["flight_recorder"]["folded_chunks"].as_u64() > Some(0);
    let unread = stats["rss_unread_since_seconds"].as_f64();
    Gaps {
        events: told.kept().gap.clone(),
        chosen: is_folded.then(|| {
            "the flight recorder has overwritten the oldest events, and with them which blocks \
             those were"
                .to_owned()
        }),
        rss: unread
            .map(|seconds| format!("resident memory was not read any more after {seconds:.3} s")),
    }
}

/// Whose memory each of these measures of a choice was, those that had most first.
pub fn places(
    file: &Path,
    symbol_files: &SymbolFiles,
    wanted: &[(&Chosen, Measure)],
    top: usize,
) -> anyhow::Result<Vec<Vec<Place>>> {
    let (lists, _) = asked((file, symbol_files), true, |told| {
        let lists = wanted.iter();
        let lists = lists.map(|(chosen, measure)| list(told, chosen, *measure, top));
        lists.collect()
    })?;
    Ok(lists)
}

fn list(told: &Told, chosen: &Chosen, measure: Measure, top: usize) -> Result<Vec<Place>, Failure> {
    let world = told.world;
    let rests: &[Lack] = match measure {
        Measure::Peak | Measure::Rss => &[],
        Measure::Leaked => &[Lack::End],
        Measure::Allocations => &[Lack::Gone, Lack::Counts],
        Measure::Total => &[Lack::Gone],
    };
    // What is not known nobody had.
    if rests.iter().any(|lack| is_unknown(told.log(), *lack)) {
        return Ok(Vec::new());
    }
    let has_counts = !is_unknown(told.log(), Lack::Counts);
    let choice = match measure {
        Measure::Peak => {
            let choice = chosen.choice(told)?;
            let event = match chosen.blocks.filter() {
                None => world.moments.heap_peak,
                Some(_) => peak(world, &choice)?.event,
            };
            choice.and(Test::LiveAt(event))
        }
        Measure::Rss => Choice::of(Test::LiveAt(world.moments.rss_peak)),
        Measure::Leaked => chosen.leaked(told)?,
        Measure::Allocations | Measure::Total => chosen.own(told)?,
    };
    let weight = |held: &Held| match measure {
        Measure::Allocations => held.blocks,
        _ => held.bytes,
    };
    let owned = owned(world, &choice, weight)?;
    let all: u64 = owned.iter().map(|one| weight(&one.held)).sum();
    let first = owned.iter().filter(|one| weight(&one.held) > 0).take(top);
    let places = first.map(|one| Place {
        frame: one.name.map_or_else(without_stack, frame),
        callers: one
            .callers
            .iter()
            .take(CALLERS)
            .map(|&name| frame(name))
            .collect(),
        bytes: one.held.bytes,
        blocks: has_counts.then_some(one.held.blocks),
        share: 100.0 * weight(&one.held) as f64 / all.max(1) as f64,
    });
    Ok(places.collect())
}

fn frame(name: &Name) -> Frame {
    Frame {
        function: name.function.clone(),
        location: name.location.clone(),
        module: name.module.clone(),
    }
}

fn without_stack() -> Frame {
    Frame {
        function: "(no stack)".to_owned(),
        ..Frame::default()
    }
}

/// Asks the table of a log, which is found or made, and what is to be said of the names; an
/// answer of a part is none.
fn asked<T>(
    (file, symbol_files): (&Path, &SymbolFiles),
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<T, Failure>,
) -> anyhow::Result<(T, Vec<String>)> {
    let question = Question {
        blocks: Where::default(),
        at: None,
        json: false,
        asked: Asked {
            file: file.to_owned(),
            symbol_files: symbol_files.clone(),
            look: Look::plain(),
        },
    };
    let made = RefCell::new(None);
    answered(
        (Of::Blocks, &question),
        needs_names,
        answer,
        |answer, around| {
            let on_names = around.on_names;
            let cut = match (around.interrupted.is_null(), on_names.cut_short) {
                (false, _) => "the reading",
                (true, Some(_)) => "the look-up of names",
                (true, None) => {
                    made.replace(Some((answer, on_names.remarks)));
                    return Ok(());
                }
            };
            Err(Advice::error(
                format!("Ctrl-C ended {cut} of {}", shown(file)),
                "a part of a log says nothing of limits: read all of it",
            ))
        },
    )?;
    made.into_inner().ok_or_else(crate::world::damaged)
}
