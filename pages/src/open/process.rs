//! Which log a process has mapped, and which process a log: by the kernel's list, also where
//! the process is in a container.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Glance;
use crate::words::Advice;

/// What a word of a command line names, where it is a number and no file.
pub fn number(name: &OsStr) -> Option<u32> {
    let number = name.to_str()?.parse().ok()?;
    (!Path::new(name).exists()).then_some(number)
}

/// The log that a process writes to which a user named.
pub fn log_of(pid: u32) -> anyhow::Result<PathBuf> {
    if !Path::new(&format!("/proc/{pid}")).is_dir() {
        return Err(Advice::error(
            format!("there is no process {pid}"),
            "give the number of a program that memlog records, or its log",
        ));
    }
    let log = log_if_any(pid).map_err(|error| {
        let sentence = format!("the maps of process {pid} cannot be read: {error}");
        Advice::error(sentence, "run memlog as the user that the program runs as")
    })?;
    log.ok_or_else(|| {
        let has_log = |&one: &u32| log_if_any(one).is_ok_and(|log| log.is_some());
        let hint = match descendants(&BTreeSet::from([pid]))
            .into_iter()
            .find(has_log)
        {
            Some(child) => format!("process {child}, which it has started, has one"),
            None => format!(
                "start it with `memlog record`, or record it from now on: memlog attach {pid}; \
                 a program whose recorder writes its log (MEMLOG_SINK=written) has none mapped: \
                 give the log itself"
            ),
        };
        Advice::error(format!("process {pid} has no log that it writes to"), hint)
    })
}

/// The log that any process writes to.
pub fn log_if_any(pid: u32) -> io::Result<Option<PathBuf>> {
    let own = own_number(pid);
    let logs = files(pid)?.into_iter().filter_map(|(inode, path)| {
        let seen = [inside(pid, &path), path];
        seen.iter().rev().find_map(|path| {
            let path = named(path, inode)?;
            let is_it = fs::metadata(&path).ok()?.ino() == inode;
            let glance = is_it.then(|| Glance::take(&path).ok())??;
            let log = glance.log().ok()?;
            // A forked child has its parent's mapped too.
            let start = log.start().filter(|start| start.pid == own)?;
            Some((start.wall_ns, path))
        })
    });
    // One that was executed in its place may have come after another.
    let log = logs.max_by_key(|&(wall_ns, _)| wall_ns);
    Ok(log.map(|(_, path)| path))
}

/// All that these have started, and what those have.
pub fn descendants(roots: &BTreeSet<u32>) -> Vec<u32> {
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

/// The process that has a log mapped; `pid` is what it has for itself.
pub fn process_of(pid: u32, inode: u64) -> Option<u32> {
    match maps(pid, inode) {
        true => Some(pid),
        // Of a container it has another number here.
        false => processes().find(|&one| own_number(one) == pid && maps(one, inode)),
    }
}

/// Whether a process has a file mapped.
pub fn maps(pid: u32, inode: u64) -> bool {
    files(pid).is_ok_and(|files| files.contains_key(&inode))
}

/// All that there are.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
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

/// The files that a process maps shared and writable, by their numbers.
fn files(pid: u32) -> io::Result<BTreeMap<u64, PathBuf>> {
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
