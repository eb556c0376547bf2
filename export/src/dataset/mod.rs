//! A log as tables for data engines, of many processes side by side: columns, ids and
//! names of files are such that each process is written by itself, and all of them are
//! one data set.
//!
//! ```text
//! processes/job=77/host=n12/3.9141.START.parquet    one row
//! sites/job=77/host=n12/3.9141.START.parquet        a row for each stack that allocated
//! timeline/job=77/host=n12/3.9141.START.parquet     the heap and RSS over time
//! stacks/job=77/8d1f03a2c47e9b60.parquet      functions of the stacks, by their ids
//! ```
//!
//! * [`Batch`]: the processes of a call, by node; `tables`: what they have; `ids`: of stacks;
//!   `parquet`: their bytes; `sql`: the statements that make them in a database
//!
//! A stack's id is of what its functions are called, and of their lines: equal stacks have
//! it in each process and each run. The file of stacks is named by its content, so that
//! ranks that do the same write the same file.

mod batch;
mod ids;
mod parquet;
mod sql;
mod tables;

use memlog_format::chunk::checksum;
use serde_json::{Map, Value};

use crate::flame::Flame;
use crate::shown::clean;
pub use batch::Batch;
pub use ids::stack_ids;

/// The version of the columns; `doc/DATASET.md` says what they mean.
pub const SCHEMA: i64 = 1;

const NO_JOB: &str = "none";

/// A process.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a> {
    /// Its figures by the names that `memlog stats` has for them.
    pub figures: &'a Map<String, Value>,
    /// All that stacks held and allocated.
    pub flame: &'a Flame,
    /// Seconds, and the most that the heap and resident memory were from then on.
    pub timeline: &'a [(f64, Option<u64>, Option<u64>)],
    /// The log's file.
    pub log: &'a str,
}

/// A file of the data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Below the data set's folder.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Of a process: itself, its sites, its timeline; where its stacks end, and their ids.
fn tables_of(process: &Process) -> ([tables::Table; 3], Vec<u32>, Vec<i64>) {
    let flame = process.flame;
    let counted = tables::SITES
        .iter()
        .filter_map(|(_, metric, _)| flame.own(metric));
    let ends = flame.ends(counted);
    let ids = stack_ids(&flame.nodes, &flame.names);
    let own = [
        tables::processes(process),
        tables::sites(process, &ends, &ids),
        tables::timeline(process),
    ];
    (own, ends, ids)
}

/// The statements that put a process into a database.
pub fn sql(process: &Process) -> String {
    let ([own, sites, timeline], ends, ids) = tables_of(process);
    let stacks = tables::stacks(process.flame, &ends, &ids);
    sql::text(&tables::key(process), &[own, sites, timeline, stacks])
}

/// As Hive and its readers write names of folders.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(byte.into()),
            // Not at the beginning, where it would hide the folder.
            b'.' if !escaped.is_empty() => escaped.push('.'),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

impl Process<'_> {
    fn text(&self, key: &str) -> Option<String> {
        let text = self.figures.get(key).and_then(Value::as_str);
        text.map(|text| clean(text.as_bytes()))
    }

    fn number(&self, key: &str) -> Option<i64> {
        let number = self.figures.get(key).and_then(Value::as_u64);
        number.and_then(|number| i64::try_from(number).ok())
    }

    /// By its content, a log that was made of another tool's file: that may have neither a
    /// number nor a time.
    fn imported(&self) -> Option<String> {
        let content = self.figures.get("imported")?.get("content")?.as_str()?;
        // Where the sum was hidden the log's own name has to do.
        let content = if content.is_empty() {
            self.log
        } else {
            content
        };
        Some(format!("imported.{}", escaped(content)))
    }

    /// What tells it from all others of its host: its number, its beginning, and, for several
    /// programs that it executed within one step of the clock, the log's own path.
    fn image(&self) -> String {
        let number = |key| self.number(key).unwrap_or(0);
        let made_as = self.text("made_as").unwrap_or_default();
        let log = checksum(made_as.as_bytes()) as u32;
        format!("{}.{}.{log:08x}", number("pid"), number("start_unix_ns"))
    }

    /// Whether that file did not know something.
    fn is_unknown(&self, word: &str) -> bool {
        let imported = self.figures.get("imported");
        let unknown = imported.and_then(|imported| imported["unknown"].as_array());
        unknown.is_some_and(|words| words.iter().any(|one| one == word))
    }

    fn rank(&self) -> Option<i64> {
        self.text("rank")?.parse().ok()
    }
}
