//! What a table is kept with, and what names it.

use std::collections::HashMap;
use std::path::Path;

use memlog_analysis::{StackTable, is_of_library};
use memlog_answers::{Moments, Path as StackPath, World};
use memlog_table::{Table, Thread};
use serde_json::{Value, json};

use crate::figures::figures;
use crate::heading::{heading, notes};
use crate::names::{Labels, Names};
use crate::open::{Analysis, Family, LogTables};
use crate::page::OnNames;
use crate::page::heading::{Heading, Says};
use crate::shown::Asked;
use crate::subject::Subject;
use crate::words::{Sizes, clean};

/// Lines of a heading that stand above answers too.
const LINES: [&str; 6] = [
    "PART ONLY",
    "program",
    "flight recorder",
    "RSS peak",
    "heap peak",
    "since",
];

/// What the log told as a whole when its table was made.
#[derive(Default)]
pub struct Kept {
    /// The figures of `memlog stats`.
    pub stats: Value,
    /// What a reader has to know besides the figures.
    pub notes: Vec<String>,
    moments: Moments,
    lines: Vec<(&'static str, bool, Vec<String>)>,
}

/// What is kept with a table.
pub fn kept(family: &Family, file: &Path, analysis: &Analysis, asked: &Asked) -> Vec<u8> {
    let subject = Subject {
        file,
        symbol_files: &asked.symbol_files,
        family,
        analysis,
        sizes: Sizes::Rounded,
        is_running: crate::facts::is_running(family.own()),
        failed: Vec::new(),
    };
    let lines = heading(&subject).lines.into_iter().filter_map(|line| {
        let is_told = line.is_alarm || LINES.contains(&line.name);
        match line.says {
            Says::Parts(parts) if is_told => Some(json!([line.name, line.is_alarm, parts])),
            _ => None,
        }
    });
    let summary = &analysis.summary;
    let heap_peak = summary.heap_peak.event;
    // A peak that cannot be told any more is the highest moment that can.
    let is_before = summary
        .window
        .is_some_and(|window| window.is_rss_peak_before);
    let rss_peak = if is_before {
        heap_peak
    } else {
        summary.rss_peak.event
    };
    let kept = json!({
        "stats": figures(family, analysis),
        "notes": notes(family, analysis),
        "lines": lines.collect::<Vec<_>>(),
        "rss_peak_event": rss_peak,
        "heap_peak_event": heap_peak,
    });
    kept.to_string().into_bytes()
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
            let name = ALL_NAMES.into_iter().find(|known| *known == name)?;
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

    /// What stands above an answer.
    pub fn heading(&self) -> Heading {
        let mut heading = Heading {
            indent: 11,
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

/// Names that a line may have.
const ALL_NAMES: [&str; 9] = [
    "PART ONLY",
    "program",
    "flight recorder",
    "RSS peak",
    "heap peak",
    "since",
    "coverage",
    "events",
    "failed",
];

/// A thread as it is told: what it called itself, and its number.
fn thread(thread: &Thread) -> String {
    match thread.name.is_empty() {
        true => thread.tid.to_string(),
        false => format!("{} ({})", clean(&thread.name), thread.tid),
    }
}

/// A table with its stacks, named if there are names, and what is to be said of those.
pub fn named<'t, 'b>(
    table: &'t Table<'b>,
    kept: &Kept,
    family: &Family,
    names: Option<Names>,
) -> (World<'t, 'b>, OnNames) {
    let mut known = StackTable::default();
    let (mut numbers, mut stacks, mut distinct) = (HashMap::new(), Vec::new(), Vec::new());
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
        let number = *numbers.entry(stack).or_insert(next);
        if number == next {
            distinct.push(stack);
        }
        stacks.push(number);
    }
    let mut world = World {
        table,
        stacks,
        paths: Vec::new(),
        names: Vec::new(),
        threads: table.threads().iter().map(thread).collect(),
        moments: kept.moments,
        tick_ns: family.own().tick_ns(),
    };
    let Some(names) = names else {
        return (world, OnNames::default());
    };
    let mut labels = Labels::new(names, &known);
    let paths = distinct.iter().map(|&stack| {
        let (path, asker) = labels.path(stack);
        let is_users = |&label: &u32| {
            let name = labels.names().get(label as usize);
            name.is_some_and(|name| {
                let (location, module) = (name.location.as_deref(), name.module.as_deref());
                !is_of_library(&name.function, location, module)
            })
        };
        let owner = path.iter().skip(asker).position(is_users);
        StackPath {
            owner: owner.map_or(asker, |owner| asker + owner),
            labels: path,
            asker,
        }
    });
    world.paths = paths.collect();
    world.names = labels.names().to_vec();
    let on_names = OnNames {
        remarks: labels.remarks().map(str::to_owned).collect(),
        cut_short: labels.cut_short().map(str::to_owned),
        ..OnNames::default()
    };
    (world, on_names)
}
