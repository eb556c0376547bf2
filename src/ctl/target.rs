//! Which programs are asked: by a number, by a log, by a folder of logs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use memlog_format::control::{State, Word};
use memlog_pages::{Advice, clean, logs_of, process, shown};

use crate::os::SharedWords;
use crate::record::Log;

/// A program that has its log mapped.
pub struct Target {
    log: Log,
    pid: u32,
    file: File,
    words: SharedWords,
}

impl Target {
    /// The program's log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The process, as it is called here.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The name that it was started by, without the folder.
    pub fn program(&self) -> String {
        if let Some(name) = &self.log.started_as {
            return name.clone();
        }
        let path = self.log.executable.as_bytes();
        let name = path.rsplit(|&byte| byte == b'/').next();
        clean(name.unwrap_or(path))
    }

    /// As lines begin.
    pub fn name(&self) -> String {
        format!("process {} ({})", self.pid, self.program())
    }

    /// What both map.
    pub fn words(&self) -> &SharedWords {
        &self.words
    }

    /// The log's file, to be locked.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// What its recorder does now.
    pub fn state(&self) -> State {
        State::from_word(self.words.get(Word::State.at()))
    }

    /// Whether it is still there.
    pub fn is_there(&self) -> bool {
        process::maps(self.pid, self.log.identity.1)
    }

    fn open(log: Log, pid: u32) -> anyhow::Result<Self> {
        let denied = |error: io::Error| {
            Advice::error(
                format!("{} cannot be opened for writing: {error}", shown(&log.path)),
                "only the log's owner can ask its program; run memlog as that user",
            )
        };
        let file = log.reopen(OpenOptions::new().write(true)).map_err(denied)?;
        let words = SharedWords::of(&file).map_err(denied)?;
        Ok(Self {
            log,
            pid,
            file,
            words,
        })
    }
}

/// The programs that are asked, at least one.
pub fn find(name: &OsStr, with_children: bool) -> anyhow::Result<Vec<Target>> {
    let mut found = match process::number(name) {
        Some(pid) => vec![of_process(pid, process::log_of(pid)?)?],
        None => of_logs(Path::new(name))?,
    };
    if with_children {
        let roots: BTreeSet<u32> = found.iter().map(Target::pid).collect();
        for pid in process::descendants(&roots) {
            // Those without a log are nobody that could be asked.
            let log = process::log_if_any(pid).ok().flatten();
            found.extend(log.and_then(|path| of_process(pid, path).ok()));
        }
    }
    Ok(found)
}

fn of_process(pid: u32, path: PathBuf) -> anyhow::Result<Target> {
    let log = Log::read(&path, None)?;
    let log = log.with_context(|| format!("{} was replaced just now", shown(&path)))?;
    Target::open(log, pid)
}

fn of_logs(name: &Path) -> anyhow::Result<Vec<Target>> {
    let mut found = Vec::new();
    let mut denied = None;
    for path in logs_of(name)? {
        let Some(log) = Log::read(&path, None)? else {
            continue;
        };
        let pid = process::process_of(log.pid, log.identity.1);
        match pid.map(|pid| Target::open(log, pid)) {
            Some(Ok(target)) => found.push(target),
            Some(Err(error)) => denied = Some(error),
            None => {}
        }
    }
    match (found.is_empty(), denied) {
        (false, _) => Ok(found),
        (true, Some(error)) => Err(error),
        (true, None) => Err(Advice::error(
            format!("no program on this machine writes to {}", shown(name)),
            "it may have ended, or run elsewhere: use memlog on the machine where it runs",
        )),
    }
}
