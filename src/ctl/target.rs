//! Which programs are asked: by a number, by a log, by a folder of logs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};

use memlog_format::control::{State, Word};
use memlog_pages::{Advice, clean, logs_of, shown};

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
        maps_file(self.pid, self.log.identity.1)
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
    let number = name.to_str().and_then(|name| name.parse::<u32>().ok());
    let mut found = match number.filter(|_| !Path::new(name).exists()) {
        Some(pid) => vec![of_process(pid)?],
        None => of_logs(Path::new(name))?,
    };
    if with_children {
        let roots: BTreeSet<u32> = found.iter().map(Target::pid).collect();
        for pid in descendants(&roots) {
            // Those without a log are nobody that could be asked.
            found.extend(of_process(pid).ok());
        }
    }
    Ok(found)
}

fn of_process(pid: u32) -> anyhow::Result<Target> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    if !folder.is_dir() {
        return Err(Advice::error(
            format!("there is no process {pid}"),
            "give the number of a program that memlog records, or its log",
        ));
    }
    let mapped = mapped_files(pid).map_err(|error| {
        let sentence = format!("the maps of process {pid} cannot be read: {error}");
        Advice::error(sentence, "run memlog as the user that the program runs as")
    })?;
    let own = own_number(pid);
    let logs = mapped.into_iter().filter_map(|(inode, path)| {
        let seen = [path.clone(), inside(pid, &path)];
        let log = seen.iter().find_map(|path| {
            let log = Log::read(&named(path, inode)?, None).ok().flatten()?;
            (log.identity.1 == inode).then_some(log)
        })?;
        // A forked child has its parent's mapped too.
        (log.pid == own).then_some(log)
    });
    // One that was executed in its place may have come after another.
    match logs.max_by_key(|log| log.wall_ns) {
        Some(log) => Target::open(log, pid),
        None => Err(Advice::error(
            format!("process {pid} has no log that it writes to"),
            "start it with `memlog record`; a program whose recorder writes its log \
             (MEMLOG_SINK=written) cannot be asked",
        )),
    }
}

fn of_logs(name: &Path) -> anyhow::Result<Vec<Target>> {
    let mut found = Vec::new();
    let mut denied = None;
    for path in logs_of(name)? {
        let Some(log) = Log::read(&path, None)? else {
            continue;
        };
        let inode = log.identity.1;
        let pid = match maps_file(log.pid, inode) {
            true => Some(log.pid),
            // Of a container it has another number here.
            false => processes().find(|&pid| own_number(pid) == log.pid && maps_file(pid, inode)),
        };
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

/// A file that had no name when it was mapped has one by now, in the same folder.
fn named(path: &Path, inode: u64) -> Option<PathBuf> {
    if !path.as_os_str().as_bytes().ends_with(b" (deleted)") {
        return Some(path.to_owned());
    }
    let entries = fs::read_dir(path.parent()?).ok()?.flatten();
    let mut same = entries.filter(|entry| entry.ino() == inode);
    Some(same.next()?.path())
}

/// Where a process sees a path.
fn inside(pid: u32, path: &Path) -> PathBuf {
    let mut whole = OsString::from(format!("/proc/{pid}/root"));
    whole.push(path);
    whole.into()
}

fn maps_file(pid: u32, inode: u64) -> bool {
    mapped_files(pid).is_ok_and(|files| files.contains_key(&inode))
}

/// The files that a process maps shared and writable, by their numbers.
fn mapped_files(pid: u32) -> io::Result<BTreeMap<u64, PathBuf>> {
    let maps = fs::read(format!("/proc/{pid}/maps"))?;
    let line = |line: &[u8]| {
        // Five words, and then a path, which may have spaces in it.
        let mut words = line.splitn(6, |&byte| byte == b' ');
        let access = words.nth(1)?;
        let inode = std::str::from_utf8(words.nth(2)?).ok()?.parse().ok()?;
        let path = words.next()?.trim_ascii_start();
        let is_log = access == b"rw-s" && path.starts_with(b"/");
        is_log.then(|| (inode, PathBuf::from(OsString::from_vec(path.to_vec()))))
    };
    Ok(maps.split(|&byte| byte == b'\n').filter_map(line).collect())
}

/// The number that a process has for itself, which in a container is another.
fn own_number(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let last = numbers.and_then(|numbers| numbers.split_whitespace().last());
    last.and_then(|number| number.parse().ok()).unwrap_or(pid)
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All that these have started, and what those have.
fn descendants(roots: &BTreeSet<u32>) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = processes()
        .filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            Some((pid, parent.parse().ok()?))
        })
        .collect();
    let mut known = roots.clone();
    let mut found = Vec::new();
    loop {
        let new = |&&(pid, parent): &&(u32, u32)| known.contains(&parent) && !known.contains(&pid);
        let Some(&(pid, _)) = parents.iter().find(new) else {
            return found;
        };
        known.insert(pid);
        found.push(pid);
    }
}
