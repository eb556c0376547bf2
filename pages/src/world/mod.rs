//! The table of a log's blocks: found or made, kept with what the log tells as a whole,
//! and named.

mod chosen;
mod find;

use std::collections::HashMap;
use std::path::Path;

use memlog_analysis::{END, StackTable, first_outwards, is_of_library};
use memlog_answers::{Moments, Stack, World};
use memlog_table::{Table, Thread};
use serde_json::{Value, json};

use crate::calls::Paths;
use crate::figures::figures;
use crate::heading::{INDENT, heading, notes};
use crate::names::{Labels, Names, SymbolFiles};
use crate::open::{Analysis, Family, LogTables};
use crate::page::OnNames;
use crate::page::heading::{Heading, Says};
use crate::subject::Subject;
use crate::words::{Sizes, clean};
pub use chosen::{Reading, Where, analyse, event_of};
pub use find::{Found, damaged, find};

/// Lines of a heading that may stand above answers too, and whether they do where
/// nothing is wrong.
const LINES: [(&str, bool); 9] = [
    ("PART ONLY", true),
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
    /// What a reader has to know besides the figures.
    pub notes: Vec<String>,
    pub moments: Moments,
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
    let kept = json!({
        "stats": figures(family, analysis),
        "notes": notes(family, analysis),
        "lines": lines.collect::<Vec<_>>(),
        "rss_peak_event": peaks.rss_peak,
        "heap_peak_event": peaks.heap_peak,
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
            lines: lines.collect(),
            notes: texts(&kept["notes"]),
            stats: kept["stats"].take(),
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
    /// What is to be said of the names.
    pub on_names: OnNames,
}

/// A table with its stacks, named if there are names. `known` has stacks, or none yet.
pub fn named<'t, 'b>(
    table: &'t Table<'b>,
    moments: Moments,
    family: &Family,
    names: Option<Names>,
    mut known: StackTable,
) -> Named<'t, 'b> {
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
        table,
        numbers,
        stacks: Vec::new(),
        lines: Vec::new(),
        names: Vec::new(),
        modules: modules.map(|module| clean(module.path)).collect(),
        threads: table.threads().iter().map(thread).collect(),
        moments,
        tick_ns: family.own().tick_ns(),
    };
    let Some(names) = names else {
        return Named {
            world,
            stacks: distinct,
            on_names: OnNames::default(),
        };
    };
    let mut labels = Labels::new(names, &known);
    let mut paths = Paths::default();
    let whole: Vec<u32> = distinct
        .iter()
        .map(|&stack| paths.whole(stack, &mut labels))
        .collect();
    world.lines = paths.lines().to_vec();
    world.names = labels.names().to_vec();
    let is_users = |label: u32| {
        let name = world.names.get(label as usize);
        name.is_some_and(|name| {
            let (location, module) = (name.location.as_deref(), name.module.as_deref());
            !is_of_library(&name.function, location, module)
        })
    };
    // A stack of nothing but such functions is shown as it is.
    let first_or = |first: &[u32], line: u32| match first.get(line as usize) {
        Some(&first) if first != END => first,
        _ => line,
    };
    let askers = first_outwards(&world.lines, |label| !labels.is_allocator(label));
    let owners = first_outwards(&world.lines, is_users);
    let stacks = whole.into_iter().map(|whole| {
        let asker = first_or(&askers, whole);
        Stack {
            whole,
            asker,
            owner: first_or(&owners, asker),
        }
    });
    world.stacks = stacks.collect();
    let on_names = OnNames::of(&labels);
    Named {
        world,
        stacks: distinct,
        on_names,
    }
}
