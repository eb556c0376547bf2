//! The logs that are cut and damaged: of real programs, as they left them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::tools::{Folder, read_log, tools};

/// The logs of a run by their size, the largest first.
pub fn logs_of(victim: &str, args: &[&str], folder: &Folder) -> Vec<PathBuf> {
    let program = tools().victim(victim).expect("a C compiler made it");
    let status = recorded(&program, folder).args(args).status();
    assert!(status.expect("the program starts").success());
    logs_in(folder.path())
}

/// A command under the recorder, whose logs go into `folder`.
pub fn recorded(program: &Path, folder: &Folder) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") {
            command.env_remove(name);
        }
    }
    command
        .env("LD_PRELOAD", &tools().memlog)
        .env("MEMLOG_OUTPUT", folder.path().join("%p.memlog"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The logs in a folder by their size, the largest first.
pub fn logs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the run's folder");
    let paths = entries.flatten().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "memlog"))
        .collect();
    let bytes = |path: &PathBuf| std::fs::metadata(path).map_or(0, |about| about.blocks());
    logs.sort_by_key(|path| std::cmp::Reverse((bytes(path), path.clone())));
    logs
}

/// The largest log of a run, whole.
pub fn log_of(victim: &str, args: &[&str]) -> Vec<u8> {
    let folder = Folder::new(victim);
    let logs = logs_of(victim, args, &folder);
    read_log(&logs[0]).expect("the log")
}

/// Copies of the largest log of a run while it was written, and in the end.
pub fn snapshots_of(victim: &str, args: &[&str]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let folder = Folder::new(victim);
    let program = tools().victim(victim).expect("a C compiler made it");
    let mut command = recorded(&program, &folder);
    let mut child = command.args(args).spawn().expect("the program starts");
    let log = folder.path().join(format!("{}.memlog", child.id()));
    let mut older: Vec<Vec<u8>> = Vec::new();
    let status = loop {
        let bytes = read_log(&log).unwrap_or_default();
        let is_newer = older.last().is_none_or(|last| *last != bytes);
        if older.len() < 40 && bytes.starts_with(b"MLOG") && is_newer {
            older.push(bytes);
        }
        match child.try_wait() {
            Ok(None) => std::thread::sleep(std::time::Duration::from_millis(5)),
            _ => break child.wait().expect("a child"),
        }
    };
    assert!(status.success(), "{status}");
    let bytes = read_log(&log).expect("the log");
    assert!(older.len() > 4, "only {} older versions", older.len());
    (older, bytes)
}
