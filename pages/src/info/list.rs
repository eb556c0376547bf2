//! All logs of files, folders and patterns, a line each: which rank each is of, which
//! process started which, and how large each was. Many that did little are summed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_format::counter::ALL;
use memlog_format::meta::Key;
use memlog_read::Log;
use serde_json::{Map, Value, json};

use super::little::{self, LISTED, Little};
use crate::choose::each_once;
use crate::facts::{command_words, started_as};
use crate::open::{FEW_EVENTS, Glance, each, says_more};
use crate::page::others::{Column, Table};
use crate::page::{Page, Part};
use crate::shown::print;
use crate::words::{Advice, clean, counted, grouped, sized, typed};

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

/// What is said of a log.
struct Row {
    path: PathBuf,
    job: Option<String>,
    rank: Option<String>,
    /// The rank's process, if this is a child of it.
    rank_parent: Option<u32>,
    pid: Option<u32>,
    started_by: Option<u32>,
    wall_ns: Option<u64>,
    rss_peak_bytes: Option<u64>,
    lost: u64,
    host: Option<String>,
    command_line: Vec<String>,
    executable: Option<String>,
    started_as: Option<String>,
    log_bytes: u64,
    /// Where its process did little, and there is nothing else to say of it.
    little: Option<Little>,
}

/// One log, for programs, and what comes before or after it in a list.
pub fn row(path: &Path) -> anyhow::Result<Value> {
    Ok(Row::of(path)?.figures())
}

/// Shows them; `every` one has a line, whatever it did.
pub fn show(names: &[PathBuf], every: bool, is_json: bool) -> anyhow::Result<ExitCode> {
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    let paths = each_once(names)?;
    let found = each(&paths, |path| Row::of(path));
    for (row, path) in found.into_iter().zip(&paths) {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => refused.push((path, error)),
        }
    }
    if rows.is_empty()
        && let Some((_, error)) = refused.pop()
    {
        return Err(error);
    }
    rows.sort_by(|one, other| one.turn().cmp(&other.turn()));
    let page = match is_json {
        true => Page {
            figures: figures(&rows, &refused),
            ..Page::default()
        },
        false => Page {
            parts: vec![Part::Table(table(rows, every))],
            ..Page::default()
        },
    };
    print(&page, is_json)?;
    if let Some((_, first)) = refused.first() {
        let count = counted(refused.len() as u64, "file");
        // Where stderr is gone nobody can be told.
        let _ = writeln!(
            std::io::stderr().lock(),
            "memlog: {count} left out; the first: {first:#}"
        );
        if let Some(advice) = first.downcast_ref::<Advice>() {
            let _ = writeln!(std::io::stderr().lock(), "memlog: hint: {}", advice.hint);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn figures(rows: &[Row], refused: &[(&PathBuf, anyhow::Error)]) -> Map<String, Value> {
    let refused = refused.iter().map(|(path, error)| {
        json!({
            "file": path.to_str(),
            "file_typed": typed(path),
            "why": format!("{error:#}"),
        })
    });
    Page::keyed([
        ("schema", SCHEMA.into()),
        ("logs", rows.iter().map(Row::figures).collect()),
        ("left_out", refused.collect()),
    ])
}

fn table(mut rows: Vec<Row>, every: bool) -> Table {
    let summed = match every {
        true => Vec::new(),
        false => take_little(&mut rows),
    };
    let columns = COLUMNS.map(|(title, is_of_words)| Column { title, is_of_words });
    Table {
        columns: columns.into(),
        rows: rows.iter().map(|row| row.cells().into()).collect(),
        rest: match summed.is_empty() {
            true => Vec::new(),
            false => little::lines(&summed),
        },
    }
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

impl Row {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let glance = Glance::take(path)?;
        let log = glance.log()?;
        let text = |key: Key| log.text(key).map(clean);
        let start = log.start();
        let peak_bytes = glance.rss_peak_bound()?;
        let few = match says_more(&log) {
            true => None,
            false => glance.few(FEW_EVENTS)?,
        };
        let few = few.filter(|few| few.is_little(peak_bytes));
        let mut row = Self {
            path: path.to_owned(),
            job: text(Key::Job),
            rank: text(Key::Rank),
            rank_parent: log.rank_parent(),
            pid: start.map(|start| start.pid),
            // Blue Gene's kernel tells no parent.
            started_by: start.map(|start| start.parent_pid).filter(|&pid| pid != 0),
            wall_ns: start.map(|start| start.wall_ns),
            rss_peak_bytes: Some(peak_bytes).filter(|&bytes| bytes != 0),
            lost: lost(&log),
            host: text(Key::Host),
            command_line: command_words(&log),
            executable: text(Key::Executable),
            started_as: started_as(&log),
            log_bytes: glance.taken_bytes()?,
            little: None,
        };
        row.little = few.map(|few| Little {
            program: row.program(),
            events: few.events,
            bytes: row.log_bytes,
            rss_peak_bytes: peak_bytes,
        });
        Ok(row)
    }

    /// Numbers by their worth, what is none behind them; then in the order of time.
    fn turn(&self) -> (&str, u64, &str, u64, Option<u32>) {
        let rank = self.rank.as_deref().unwrap_or_default();
        let job = self.job.as_deref().unwrap_or_default();
        let number = rank.parse().unwrap_or(u64::MAX);
        // Some begin in the same step of the clock.
        (job, number, rank, self.wall_ns.unwrap_or(0), self.pid)
    }

    fn program(&self) -> String {
        let program = self.executable.as_deref().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        match &self.started_as {
            Some(name) => format!("{program} as {name}"),
            None => program.to_owned(),
        }
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let number =
            |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
        let rank = self.rank.clone().unwrap_or_default();
        let child = match self.rank_parent {
            Some(_) => " (child)",
            None => "",
        };
        [
            self.job.clone().unwrap_or_default(),
            rank + child,
            number(self.pid),
            number(self.started_by),
            self.rss_peak_bytes.map_or("unknown".to_owned(), sized),
            grouped(self.lost),
            self.program(),
            typed(&self.path),
        ]
    }

    fn figures(&self) -> Value {
        json!({
            "file": self.path.to_str(),
            "file_typed": typed(&self.path),
            "job": self.job,
            "rank": self.rank,
            "rank_parent_pid": self.rank_parent,
            "pid": self.pid,
            "started_by_pid": self.started_by,
            "start_unix_ns": self.wall_ns,
            "rss_peak_bytes": self.rss_peak_bytes,
            "lost_events": self.lost,
            "host": self.host,
            "command_line": self.command_line,
            "executable": self.executable,
            "started_as": self.started_as,
            "log_bytes": self.log_bytes,
        })
    }
}

/// Events that the recorder counted as lost.
fn lost(log: &Log) -> u64 {
    let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    losses.fold(0, |sum: u64, (counter, _)| {
        sum.saturating_add(log.counter(*counter))
    })
}
