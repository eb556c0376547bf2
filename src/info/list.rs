//! All logs of files, folders and patterns, a line each: which rank each is of, which
//! process started which, and how large each was.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_format::counter::ALL;
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::dot::all;
use crate::open::{Glance, clean, counted, each, grouped, started_as};
use crate::screen::out;
use crate::words::{sized, typed};

const TITLES: [&str; COLUMNS] = [
    "job",
    "rank",
    "process",
    "started by",
    "RSS peak",
    "lost",
    "program",
    "log",
];
const COLUMNS: usize = 8;
/// Columns of words; those of numbers stand on the right.
const WORDS: [&str; 4] = ["job", "rank", "program", "log"];

/// A log's line, and what it is sorted by.
struct Row {
    job: String,
    /// Numbers by their worth, what is none behind them.
    rank: (u64, String),
    wall_ns: u64,
    cells: [String; COLUMNS],
}

/// Prints them.
pub fn print(names: &[PathBuf]) -> anyhow::Result<ExitCode> {
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
    let mut out = out();
    let mut cells = vec![TITLES.map(str::to_owned)];
    cells.extend(rows.into_iter().map(|row| row.cells));
    // What no log has is no column.
    let shown: Vec<usize> = (0..COLUMNS)
        .filter(|&column| cells[1..].iter().any(|row| !row[column].is_empty()))
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS).map(|at| width(at).unwrap_or(0)).collect();
    for row in &cells {
        let words = shown.iter().map(|&at| match WORDS.contains(&TITLES[at]) {
            true => format!("{:1$}", row[at], widths[at]),
            false => format!("{:>1$}", row[at], widths[at]),
        });
        let line = words.collect::<Vec<_>>().join("  ");
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()?;
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
    let peak = match glance.rss_peak_bytes()? {
        0 => "unknown".to_owned(),
        bytes => sized(bytes),
    };
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let cells = [
        text(Key::Job),
        format!("{rank}{child}"),
        number(start.map(|start| start.pid)),
        // Blue Gene's kernel tells no parent.
        number(start.map(|start| start.parent_pid).filter(|&pid| pid != 0)),
        peak,
        grouped(lost(&log)),
        program,
        typed(path),
    ];
    Ok(Row {
        job: text(Key::Job),
        rank: (rank.parse().unwrap_or(u64::MAX), rank),
        wall_ns: start.map_or(0, |start| start.wall_ns),
        cells,
    })
}

/// Events that the recorder counted as lost.
fn lost(log: &Log) -> u64 {
    let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    losses.fold(0, |sum: u64, (counter, _)| {
        sum.saturating_add(log.counter(*counter))
    })
}
