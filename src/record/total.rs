//! `--max-logs-total`: the page by which the recorders of a run count together
//! what their logs take, made before it and read and removed behind it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use memlog_format::total::{PAGE_BYTES, Word, page};
use memlog_pages::{Advice, grouped, shown, sized};

/// The variables, for the recorders.
const LIMIT: &str = "MEMLOG_MAX_LOGS_TOTAL";
const PAGE: &str = "MEMLOG_TOTAL_PAGE";

/// The page of a run.
pub struct Total {
    path: PathBuf,
    file: File,
    limit_bytes: u64,
}

impl Total {
    /// Of an option or a variable, if there is one. Of a run within another the
    /// other's counts, unless it has a bound of its own.
    pub fn of_run(option: Option<u64>, folder: &Path, run: &str) -> anyhow::Result<Option<Self>> {
        let inherited = std::env::var_os(PAGE).filter(|path| !path.is_empty());
        let variable = std::env::var(LIMIT).ok();
        let variable = variable.and_then(|text| super::bytes_of(&text).ok());
        let limit_bytes = option.or(variable.filter(|_| inherited.is_none()));
        limit_bytes
            .map(|bytes| Self::make(folder, run, bytes))
            .transpose()
    }

    /// Where the logs are made, for who may make those may open it.
    fn make(folder: &Path, run: &str, limit_bytes: u64) -> anyhow::Result<Self> {
        let path = folder.join(format!(".memlog-total.{run}"));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let made = options.open(&path).and_then(|mut file| {
            file.write_all(&page(limit_bytes))?;
            Ok(file)
        });
        let file = made.map_err(|error| {
            Advice::error(
                format!(
                    "what --max-logs-total needs cannot be made, {}: {error}",
                    shown(&path)
                ),
                "choose another place for the logs with -o, or go without a bound on all of them",
            )
        })?;
        Ok(Self {
            path,
            file,
            limit_bytes,
        })
    }

    /// Tells the recorders.
    pub fn set(&self, command: &mut Command) {
        command.env(LIMIT, self.limit_bytes.to_string());
        command.env(PAGE, &self.path);
    }

    /// What it came to, where that was more than the bound.
    pub fn told(&self) -> Option<String> {
        let mut page = [0; PAGE_BYTES];
        self.file.read_exact_at(&mut page, 0).ok()?;
        let (cut, without) = (Word::Cut.read(&page), Word::WithoutLog.read(&page));
        if (cut, without) == (0, 0) {
            return None;
        }
        Some(format!(
            "all logs together reached --max-logs-total, {} of {}: processes without a log: {}, \
             with a cut one: {}",
            sized(Word::Taken.read(&page)),
            sized(self.limit_bytes),
            grouped(without),
            grouped(cut)
        ))
    }
}

impl Drop for Total {
    fn drop(&mut self) {
        // Who has mapped it goes on with it.
        let _ = fs::remove_file(&self.path);
    }
}
