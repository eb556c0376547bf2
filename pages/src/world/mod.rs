//! The table of a log's blocks: found or made, kept with what the log tells as a whole,
//! and named.

mod chosen;
mod find;

use std::collections::HashMap;
use std::path::Path;

use memlog_analysis::{END, StackTable, first_outwards};
use memlog_answers::{Damaged, Moments, Of, Stack, World, name_owners};
use memlog_format::meta::Key;
use memlog_read::Log;
use memlog_table::{Table, Thread};
use serde_json::{Value, json};

use crate::calls::Paths;
use crate::facts::program;
use crate::figures::figures;
use crate::heading::{INDENT, gap, heading, holders, made_of, notes_on_blocks};
use crate::names::{Labels, Names, SymbolFiles};
use crate::open::{Analysis, Family, LogTables};
use crate::page::OnNames;
use crate::page::heading::{Heading, Says};
use crate::subject::Subject;
use crate::words::{Sizes, clean};
pub use chosen::{Counted, Reading, Where, analyse, event_of, unanswered};
pub use find::{Found, damaged, find};

/// Lines of a heading that may stand above answers too, and whether they do where
/// nothing is wrong.
const LINES: [(&str, bool); 10] = [
    ("PART ONLY", true),
    ("imported", true),
    ("program", true),
    ("flight recorder", true),
    ("RSS peak", true),
    ("heap peak", true),
    ("since", true),
    ("coverage", false),
    ("events", false),
    ("failed", false),
];

/// What the log told as a whole when its table was made.
#[derive(Default)]
pub struct Kept {
    /// The figures of `memlog stats`.
    pub stats: Value,
    /// What the peak of resident memory was made of.
    pub made_of: Vec<String>,
    /// What a reader has to know besides the figures.
    pub notes: Vec<String>,
    /// Who may hold what no recorded call explains.
    pub holders: Vec<String>,
    /// Why what was recorded may be less than there was, in a sentence.
    pub gap: Option<String>,
    moments: Moments,
    /// The same in calls that map.
    mapped_moments: Moments,
    lines: Vec<(&'static str, bool, Vec<String>)>,
}

/// What is kept with a table.
fn kept(family: &Family, file: &Path, analysis: &Analysis, symbol_files: &SymbolFiles) -> Vec<u8> {
    let subject = Subject {
        file,
        symbol_files,
        family,
        analysis,
        sizes: Sizes::Rounded,
        is_running: crate::facts::is_running(family.own()),
        failed: Vec::new(),
    };
    let lines = heading(&subject).lines.into_iter().filter_map(|line| {
        let is_told = line.is_alarm || LINES.contains(&(line.name, true));
        match line.says {
            Says::Parts(parts) if is_told => Some(json!([line.name, line.is_alarm, parts])),
            _ => None,
        }
    });
    let peaks = peaks(analysis);
    let mapped = analysis.tally.mapped_moments();
    let kept = json!({
        "stats": figures(family, analysis),
        "made_of": made_of(family.own(), analysis, subject.sizes),
        "notes": notes_on_blocks(family, analysis),
        "holders": holders(family.own(), analysis),
        "gap": gap(family, analysis),
        "lines": lines.collect::<Vec<_>>(),
        "rss_peak_event": peaks.rss_peak,
        "heap_peak_event": peaks.heap_peak,
        "mapped_rss_peak_event": mapped.rss_peak,
        "mapped_heap_peak_event": mapped.heap_peak,
    });
    kept.to_string().into_bytes()
}

/// After which events the peaks are.
fn peaks(analysis: &Analysis) -> Moments {
    let summary = &analysis.summary;
    let heap_peak = summary.heap_peak.event;
    // A peak that cannot be told any more is the highest moment that can.
    let is_before = summary
        .window
        .is_some_and(|window| window.is_rss_peak_before);
    Moments {
        rss_peak: if is_before {
            heap_peak
        } else {
            summary.rss_peak.event
        },
        heap_peak,
        rss_peak_bytes: summary.rss_peak_bytes,
    }
}

impl Kept {
    /// As it was kept.
    pub fn read(bytes: &[u8]) -> Self {
        let mut kept: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let texts = |list: &Value| {
            let texts = list.as_array().into_iter().flatten();
            texts
                .filter_map(|text| Some(clean(text.as_str()?.as_bytes())))
                .collect()
        };
        let lines = kept["lines"].as_array().into_iter().flatten();
        let lines = lines.filter_map(|line| {
            let name = line[0].as_str()?;
            let is_alarm = line[1].as_bool()?;
            let (name, _) = LINES.into_iter().find(|(known, _)| *known == name)?;
            Some((name, is_alarm, texts(&line[2])))
        });
        let number = |name: &str| kept[name].as_u64().unwrap_or(0);
        Self {
            moments: Moments {
                rss_peak: number("rss_peak_event"),
                heap_peak: number("heap_peak_event"),
                rss_peak_bytes: kept["stats"]["rss_peak_bytes"].as_u64().unwrap_or(0),
            },
            mapped_moments: Moments {
                rss_peak: number("mapped_rss_peak_event"),
                heap_peak: number("mapped_heap_peak_event"),
                rss_peak_bytes: 0,
            },
            lines: lines.collect(),
            made_of: texts(&kept["made_of"]),
            notes: texts(&kept["notes"]),
            holders: texts(&kept["holders"]),
            gap: kept["gap"].as_str().map(|gap| clean(gap.as_bytes())),
            stats: kept["stats"].take(),
        }
    }

    /// Where the peaks are in the events of such a table.
    pub fn moments(&self, of: Of) -> Moments {
        match of {
            Of::Blocks => self.moments,
            Of::Mappings => self.mapped_moments,
        }
    }

    /// Since when there are events, of a flight recorder.
    pub fn events_from(&self) -> Option<f64> {
        self.stats["flight_recorder"]["window_from_seconds"].as_f64()
    }

    /// What stands above an answer.
    pub fn heading(&self) -> Heading {
        let mut heading = Heading {
            indent: INDENT,
            ..Heading::default()
        };
        for (name, is_alarm, parts) in &self.lines {
            match is_alarm {
                true => heading.alarm(name, parts.clone()),
                false => heading.line(name, parts.clone()),
            }
        }
        heading
    }
}

/// A thread as it is told: what it called itself, and its number.
fn thread(thread: &Thread) -> String {
    match thread.name.is_empty() {
        true => thread.tid.to_string(),
        false => format!("{} ({})", clean(&thread.name), thread.tid),
    }
}

/// A table that is named.
pub struct Named<'t, 'b> {
    /// The table with its stacks.
    pub world: World<'t, 'b>,
    /// By a stack's number there what it is in the table of stacks that was given.
    pub stacks: Vec<u32>,
    /// That table, with those that it lacked.
    pub known: StackTable,
    /// What is to be said of the names.
    pub on_names: OnNames,
}

/// A table with its stacks, named if there are names. `known` has stacks, or none yet.
pub fn named<'t, 'b>(
    table: &'t Table<'b>,
    (of, moments): (Of, Moments),
    family: &Family,
    names: Option<Names>,
    mut known: StackTable,
) -> Result<Named<'t, 'b>, Damaged> {
    // A forged table may tell of moments that it does not have.
    let within = |event: u64| event.min(table.events());
    let moments = Moments {
        rss_peak: within(moments.rss_peak),
        heap_peak: within(moments.heap_peak),
        ..moments
    };
    let (mut known_numbers, mut numbers, mut distinct) = (HashMap::new(), Vec::new(), Vec::new());
    let mut tables: Option<(u32, LogTables)> = None;
    for key in table.stacks() {
        if tables.as_ref().is_none_or(|(log, _)| *log != key.log) {
            known.change_log();
            let log = family.logs.get(key.log as usize);
            tables = log.map(|log| (key.log, LogTables::new(log)));
        }
        let stack = tables
            .as_ref()
            .map_or(0, |(_, tables)| known.stack(key.id, tables));
        let next = distinct.len() as u32;
        let number = *known_numbers.entry(stack).or_insert(next);
        if number == next {
            distinct.push(stack);
        }
        numbers.push(number);
    }
    let modules = family.logs.iter().flat_map(|log| log.modules());
    let mut world = World {
        program: program(family.own()),
        numbers,
        modules: modules.map(|module| clean(module.path)).collect(),
        threads: table.threads().iter().map(thread).collect(),
        scopes: table.scopes().iter().map(|scope| clean(scope)).collect(),
        is_fine: has_fine_time(family.own()),
        ..World::nameless(table, of, moments, family.own().tick_ns())
    };
    let Some(names) = names else {
        return Ok(Named {
            world,
            stacks: distinct,
            known,
            on_names: OnNames::default(),
        });
    };
    let mut labels = Labels::new(names, &known);
    labels.expect(distinct.iter().copied());
    let mut paths = Paths::default();
    let whole: Vec<u32> = distinct
        .iter()
        .map(|&stack| paths.whole(stack, &mut labels))
        .collect();
    world.lines = paths.lines().to_vec();
    world.names = labels.names().to_vec();
    let askers = first_outwards(&world.lines, |label| !labels.is_allocator(label));
    let stacks = whole.into_iter().map(|whole| Stack {
        whole,
        // A stack of nothing but the allocator is shown as it is.
        asker: match askers.get(whole as usize) {
            Some(&asker) if asker != END => asker,
            _ => whole,
        },
        owner: None,
    });
    world.stacks = stacks.collect();
    name_owners(&mut world)?;
    let on_names = OnNames::of(&labels);
    Ok(Named {
        world,
        stacks: distinct,
        known,
        on_names,
    })
}

/// Whether each event has a time of its own. A program may forbid itself the clock of
/// these, and the recorder then says so.
fn has_fine_time(log: &Log) -> bool {
    const ENDED: &[u8] = b"fine time ended";
    log.tick_ns() < 1000 && !log.texts(Key::Note).any(|note| note.starts_with(ENDED))
}
