//! What a word of the command line stands for.

use std::path::{Path, PathBuf};

use crate::open::process;

/// What a word of the command line stands for.
#[derive(Debug)]
pub enum Target {
    /// A log.
    Log(PathBuf),
    /// A folder of logs, or a pattern of them.
    Several(PathBuf),
    /// A process whose log is not found yet: [`process::log_of`] says why.
    Process(u32),
}

/// What a word stands for. A file may have digits for its name: it comes first.
pub fn target(word: &Path) -> anyhow::Result<Target> {
    if word.is_dir() {
        return Ok(Target::Several(word.to_owned()));
    }
    if word.symlink_metadata().is_ok() {
        return Ok(Target::Log(word.to_owned()));
    }
    if let Some(pid) = process::number(word.as_os_str()) {
        let log = process::log_if_any(pid).ok().flatten();
        return Ok(log.map_or(Target::Process(pid), Target::Log));
    }
    match crate::choose::searched(word) {
        Some(_) => Ok(Target::Several(word.to_owned())),
        None => Ok(Target::Log(word.to_owned())),
    }
}
