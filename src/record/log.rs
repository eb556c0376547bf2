//! What a log says of itself to `record`, without its events being read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memlog_format::counter::{self, Counter};
use memlog_format::meta::Key;

use crate::info::{FEW_EVENTS, SMALL_BYTES};
use crate::losses::Bounds;
use crate::open::{Few, Glance, clean, note, started_as};

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
    /// Whether it is the rank itself.
    pub is_rank: bool,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// The peak of resident memory, 0 if it tells of none.
    pub rss_peak_kb: u64,
    /// What its process did, where that was little and there are other logs.
    pub few: Option<Few>,
    /// Counters of what was lost that are not zero.
    pub losses: Vec<(Counter, u64)>,
    /// Forked children without a log, and why the last has none, as counted.
    pub unlogged: (u64, u64),
    /// What bounds it.
    pub bounds: Bounds,
    /// Remarks of the recorder.
    pub notes: Vec<String>,
    /// The run that it is of, as `record` named it to the recorder.
    pub run: OsString,
    /// When it began.
    pub wall_ns: u64,
}

impl Log {
    /// `None` if the file is no log. What stands among its events is worth a look
    /// where there are `others`: how few they are, if fewer than so many, and the
    /// peak of one without an end.
    pub fn read(path: &Path, others: Option<u64>) -> std::io::Result<Option<Self>> {
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
        let peak_bytes = match others.is_some() || log.end().is_some() {
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
            is_rank: log.text(Key::Rank).is_some() && log.rank_parent().is_none(),
            bytes,
            rss_peak_kb: peak_bytes / 1024,
            few: others.and_then(|limit| glance.few(limit).ok().flatten()),
            losses,
            unlogged: (
                log.counter(Counter::ChildrenUnlogged),
                log.counter(Counter::ChildRefused),
            ),
            bounds,
            notes: log.texts(Key::Note).map(note).collect(),
            run: OsStr::from_bytes(run).into(),
            wall_ns: start.map_or(0, |start| start.wall_ns),
            path: path.to_owned(),
        }))
    }

    /// Whether there is nothing to say of it but that it was there.
    pub fn is_little(&self) -> bool {
        let has_few = |few: &Few| few.events < FEW_EVENTS;
        self.few.as_ref().is_some_and(has_few)
            && self.losses.is_empty()
            && !self.is_rank
            && self.rss_peak_kb < SMALL_BYTES / 1024
    }
}

#[cfg(test)]
impl Log {
    /// One that ended and says nothing else.
    pub fn of(pid: u32, parent: Option<u32>) -> Self {
        Self {
            path: format!("/{pid}.memlog").into(),
            pid,
            executable: "x".into(),
            started_as: None,
            has_end: true,
            parent,
            folder: "/".into(),
            rank: None,
            is_rank: false,
            bytes: 0,
            rss_peak_kb: 0,
            few: None,
            losses: Vec::new(),
            unlogged: (0, 0),
            bounds: Bounds::default(),
            notes: Vec::new(),
            run: OsString::new(),
            wall_ns: 0,
        }
    }
}
