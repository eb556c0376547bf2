//! All logs of files, folders and patterns, a line each: which rank each is of, which
//! process started which, and how large each was. Many that did little are summed.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_format::counter::ALL;
use memlog_format::meta::Key;
use memlog_read::Log;
use serde_json::{Value, json};

use super::little::{self, LISTED, Little};
use crate::choose::all;
use crate::facts::started_as;
use crate::json;
use crate::open::{FEW_EVENTS, Glance, each, says_more};
use crate::page::others::{Column, Table};
use crate::page::{Page, Part};
use crate::screen::Screen;
use crate::text;
use crate::words::{clean, counted, grouped, sized, typed};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-list-1";

/// The columns, and which are of words.
const COLUMNS: [(&str, bool); 8] = [
    ("job", true),
    ("rank", true),
    ("process", false),
    ("started by", false),
    ("RSS peak", false),
    ("lost", false),
    ("program", true),
    ("log", true),
];

/// A log's line, and what it is sorted by.
struct Row {
    job: String,
    /// Numbers by their worth, what is none behind them.
    rank: (u64, String),
    wall_ns: u64,
    cells: [String; COLUMNS.len()],
    /// For programs.
    figures: Value,
    /// Where its process did little, and there is nothing else to say of it.
    little: Option<Little>,
}

/// Shows them; `every` one has a line, whatever it did.
pub fn show(names: &[PathBuf], every: bool, is_json: bool) -> anyhow::Result<ExitCode> {
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for row in each(&each_once(names)?, |path| row(path)) {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => refused.push(error),
        }
    }
    if rows.is_empty()
        && let Some(error) = refused.pop()
    {
        return Err(error);
    }
    rows.sort_by(|one, other| {
        (&one.job, &one.rank, one.wall_ns).cmp(&(&other.job, &other.rank, other.wall_ns))
    });
    let screen = Screen::plain();
    if is_json {
        let logs: Vec<Value> = rows.into_iter().map(|row| row.figures).collect();
        let refused = refused.iter().map(|error| format!("{error:#}"));
        let all = [
            ("schema", SCHEMA.into()),
            ("logs", logs.into()),
            ("left_out", refused.collect()),
        ];
        let page = Page {
            figures: Page::figures(all),
            ..Page::default()
        };
        screen.show(&json::of(&page), None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let summed = match every {
        true => Vec::new(),
        false => take_little(&mut rows),
    };
    let columns = COLUMNS.map(|(title, is_of_words)| Column { title, is_of_words });
    let table = Table {
        columns: columns.into(),
        rows: rows.into_iter().map(|row| row.cells.into()).collect(),
        rest: match summed.is_empty() {
            true => Vec::new(),
            false => little::lines(&summed),
        },
    };
    let page = Page {
        parts: vec![Part::Table(table)],
        ..Page::default()
    };
    screen.show(&text::of(&page, &screen), None)?;
    if !refused.is_empty() {
        let count = counted(refused.len() as u64, "file");
        // Where stderr is gone nobody can be told.
        let _ = writeln!(
            std::io::stderr().lock(),
            "memlog: {count} left out; the first: {:#}",
            refused[0]
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes those that did little out of the rows, where there are many of them. The
/// largest keeps its line, so that there is one.
fn take_little(rows: &mut Vec<Row>) -> Vec<Little> {
    let peak = |row: &&mut Row| {
        row.little
            .as_ref()
            .map_or(0, |little| little.rss_peak_bytes)
    };
    if rows.iter().all(|row| row.little.is_some())
        && let Some(largest) = rows.iter_mut().max_by_key(peak)
    {
        largest.little = None;
    }
    if rows.iter().filter(|row| row.little.is_some()).count() <= LISTED {
        return Vec::new();
    }
    let (summed, kept): (Vec<Row>, _) = std::mem::take(rows)
        .into_iter()
        .partition(|row| row.little.is_some());
    *rows = kept;
    summed.into_iter().filter_map(|row| row.little).collect()
}

/// A log may be named, and lie in a folder that is named as well.
fn each_once(names: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let (mut known, mut paths) = (HashSet::new(), Vec::new());
    if let [name] = names {
        return all(name);
    }
    for name in names {
        let new = all(name)?.into_iter();
        paths.extend(
            new.filter(|path| {
                known.insert(path.canonicalize().ok().unwrap_or_else(|| path.clone()))
            }),
        );
    }
    Ok(paths)
}

fn row(path: &Path) -> anyhow::Result<Row> {
    let glance = Glance::take(path)?;
    let log = glance.log()?;
    let text = |key: Key| log.text(key).map(clean).unwrap_or_default();
    let start = log.start();
    let rank = text(Key::Rank);
    let child = match log.rank_parent() {
        Some(_) => " (child)",
        None => "",
    };
    let program = text(Key::Executable);
    let program = program.rsplit('/').next().unwrap_or_default();
    let program = match started_as(&log) {
        Some(name) => format!("{program} as {name}"),
        None => program.to_owned(),
    };
    let peak_bytes = glance.rss_peak_bound()?;
    let peak = match peak_bytes {
        0 => "unknown".to_owned(),
        bytes => sized(bytes),
    };
    let lost = lost(&log);
    let few = match says_more(&log) {
        true => None,
        false => glance.few(FEW_EVENTS)?,
    };
    let bytes = glance.taken_bytes()?;
    let few = few.filter(|few| few.is_little(peak_bytes));
    let little = few.map(|few| Little {
        program: program.clone(),
        events: few.events,
        bytes,
        rss_peak_bytes: peak_bytes,
    });
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let figures = json!({
        "file": path.to_string_lossy(),
        "job": log.text(Key::Job).map(clean),
        "rank": log.text(Key::Rank).map(clean),
        "rank_parent_pid": log.rank_parent(),
        "pid": start.map(|start| start.pid),
        "started_by_pid": start.map(|start| start.parent_pid).filter(|&pid| pid != 0),
        "start_unix_ns": start.map(|start| start.wall_ns),
        "rss_peak_bytes": Some(peak_bytes).filter(|&bytes| bytes != 0),
        "lost_events": lost,
        "executable": log.text(Key::Executable).map(clean),
        "started_as": started_as(&log),
        "log_bytes": bytes,
    });
    let cells = [
        text(Key::Job),
        format!("{rank}{child}"),
        number(start.map(|start| start.pid)),
        // Blue Gene's kernel tells no parent.
        number(start.map(|start| start.parent_pid).filter(|&pid| pid != 0)),
        peak,
        grouped(lost),
        program,
        typed(path),
    ];
    Ok(Row {
        job: text(Key::Job),
        rank: (rank.parse().unwrap_or(u64::MAX), rank),
        wall_ns: start.map_or(0, |start| start.wall_ns),
        cells,
        figures,
        little,
    })
}

/// Events that the recorder counted as lost.
fn lost(log: &Log) -> u64 {
    let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    losses.fold(0, |sum: u64, (counter, _)| {
        sum.saturating_add(log.counter(*counter))
    })
}
