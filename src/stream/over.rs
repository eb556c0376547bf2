//! Whether more comes in a log: from its program, its children, or the `memlog record` that
//! started it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memlog_pages::{Glance, effective_user, is_running};

use crate::os;
use crate::verbs::PURPOSES;

/// It is not asked more often.
const AGAIN: Duration = Duration::from_millis(300);

/// What was found out, and when.
#[derive(Default)]
pub struct Over(HashMap<PathBuf, (Instant, bool)>);

impl Over {
    /// Whether nobody will write to it.
    pub fn is(&mut self, path: &Path, file: &File) -> bool {
        if let Some((at, is_over)) = self.0.get(path)
            && at.elapsed() < AGAIN
        {
            return *is_over;
        }
        let is_over = is_over(path, file);
        self.0.insert(path.to_owned(), (Instant::now(), is_over));
        is_over
    }
}

fn is_over(path: &Path, file: &File) -> bool {
    // Where its process has a number of another machine or container, only this tells.
    let may_be_written = is_told(file) && os::may_be_written(file);
    let read = || {
        let glance = Glance::take(path).ok()?;
        let log = glance.log().ok()?;
        let starter = log.start().map_or(0, |start| start.parent_pid);
        let has_end = log.end().is_some() || log.death().is_some();
        Some((is_running(&log), has_end, starter))
    };
    match read() {
        Some((is_running, has_end, starter)) => {
            // Children may have an ended program's log in memory still, and do not use it.
            !is_running && !is_recorder(starter) && (has_end || !may_be_written)
        }
        // It was removed, or is no log yet.
        None => !may_be_written,
    }
}

/// Whether the kernel tells this user who may write to a file.
fn is_told(file: &File) -> bool {
    let own = effective_user();
    let is_own = file.metadata().is_ok_and(|found| found.uid() == own);
    (is_own || own == 0) && os::knows_its_writers(file).unwrap_or(false)
}

/// Whether a process is a `memlog` that records: it adds to the log when the program has
/// ended.
fn is_recorder(process: u32) -> bool {
    let folder = format!("/proc/{process}");
    let name = fs::read(format!("{folder}/comm")).unwrap_or_default();
    if process == 0 || name != b"memlog\n" {
        return false;
    }
    let line = fs::read(format!("{folder}/cmdline")).unwrap_or_default();
    // It has ended, and who started it has not asked how.
    if line.is_empty() {
        return false;
    }
    let verb = line.split(|&byte| byte == 0).nth(1).unwrap_or_default();
    let names = PURPOSES.iter().flat_map(|(_, names)| *names);
    let mut others = names.filter(|name| **name != "record" && **name != "check");
    !others.any(|name| name.as_bytes() == verb)
}
