//! What a log says of itself to `record`, without its events being read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memlog_format::counter::{self, Counter};
use memlog_format::meta::Key;

use crate::losses::Bounds;
use crate::open::{Glance, clean, note, started_as};

/// What a log says of itself.
pub struct Log {
    /// Where it is.
    pub path: PathBuf,
    /// The process that wrote it.
    pub pid: u32,
    /// The program of that process.
    pub executable: OsString,
    /// The name that it was started by, where that is another.
    pub started_as: Option<String>,
    /// Whether it says how its image ended.
    pub has_end: bool,
    /// The process that forked its own.
    pub parent: Option<u32>,
    /// Where it was started.
    pub folder: OsString,
    /// Its rank in a parallel job; that of its parent where it is a rank's child.
    pub rank: Option<String>,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// The peak of resident memory, 0 if it tells of none.
    pub rss_peak_kb: u64,
    /// Counters of what was lost that are not zero.
    pub losses: Vec<(Counter, u64)>,
    /// Forked children without a log, and why the last has none, as counted.
    pub unlogged: (u64, u64),
    /// What bounds it.
    pub bounds: Bounds,
    /// Remarks of the recorder.
    pub notes: Vec<String>,
    /// Functions of other names that its program called and that were recorded.
    pub named: Vec<String>,
    /// The run that it is of, as `record` named it to the recorder.
    pub run: OsString,
    /// When it began.
    pub wall_ns: u64,
}

impl Log {
    /// `None` if the file is no log. Of one without an end the peak stands only
    /// among its events: that is worth a look where there are others.
    pub fn read(path: &Path, has_others: bool) -> std::io::Result<Option<Self>> {
        // Looked at first: to open a pipe that the program made would be to wait.
        let found = fs::symlink_metadata(path)?;
        if !found.is_file() {
            return Ok(None);
        }
        let Ok(glance) = Glance::take(path) else {
            return Ok(None);
        };
        let Ok(log) = glance.log() else {
            return Ok(None);
        };
        let bytes = found.len().min(found.blocks() * 512);
        let losses = counter::ALL.iter().filter(|(counter, _)| counter.is_loss());
        let losses = losses
            .map(|(counter, _)| (*counter, log.counter(*counter)))
            .filter(|(_, count)| *count != 0)
            .collect();
        let peak_bytes = match has_others || log.end().is_some() {
            true => glance.rss_peak_bytes().unwrap_or(0),
            false => 0,
        };
        let executable = log.text(Key::Executable).unwrap_or_default();
        let settings = || log.texts(Key::Setting);
        let mut bounds = Bounds::default();
        settings().for_each(|text| bounds.take(text));
        let bounds = bounds.refused(log.counter(Counter::LogRefused));
        let run = settings().filter_map(|text| text.strip_prefix(b"MEMLOG_RUN="));
        let run = run.last().unwrap_or_default();
        let start = log.start();
        Ok(Some(Self {
            pid: start.map_or(0, |start| start.pid),
            executable: OsStr::from_bytes(executable).into(),
            started_as: started_as(&log),
            has_end: log.end().is_some(),
            parent: log.parent_pid(),
            folder: OsStr::from_bytes(log.text(Key::WorkingDirectory).unwrap_or_default()).into(),
            rank: log.text(Key::Rank).map(clean),
            bytes,
            rss_peak_kb: peak_bytes / 1024,
            losses,
            unlogged: (
                log.counter(Counter::ChildrenUnlogged),
                log.counter(Counter::ChildRefused),
            ),
            bounds,
            notes: log.texts(Key::Note).map(note).collect(),
            named: log.texts(Key::Named).map(clean).collect(),
            run: OsStr::from_bytes(run).into(),
            wall_ns: start.map_or(0, |start| start.wall_ns),
            path: path.to_owned(),
        }))
    }
}
