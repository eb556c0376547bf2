//! Which logs are to be sent: files, those of processes, and those in folders, where more may
//! come.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use memlog_pages::{Advice, Glance, logs_of, process, shown};

/// Names, and what they stand for.
pub struct Found {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    follows_children: bool,
    is_once: bool,
    /// Of files in the folders of the files: the process, and the one that started it. Those
    /// that are no log yet are looked at again.
    families: HashMap<PathBuf, (u32, u32)>,
}

impl Found {
    /// What names stand for.
    pub fn of(names: &[OsString], follows_children: bool, is_once: bool) -> anyhow::Result<Self> {
        let mut found = Self {
            files: Vec::new(),
            folders: Vec::new(),
            follows_children,
            is_once,
            families: HashMap::new(),
        };
        for name in names {
            found.add(name)?;
        }
        Ok(found)
    }

    fn add(&mut self, name: &OsStr) -> anyhow::Result<()> {
        let path = Path::new(name);
        match process::number(name) {
            Some(process) => self.files.push(process::log_of(process)?),
            None if path.is_dir() => self.folders.push(path.to_owned()),
            None if path.exists() => self.files.push(path.to_owned()),
            None => {
                let is_there = |path: &PathBuf| path.exists();
                let logs = logs_of(path).unwrap_or_default();
                let logs: Vec<PathBuf> = logs.into_iter().filter(is_there).collect();
                if logs.is_empty() {
                    return Err(Advice::error(
                        format!("{} is no file, folder or process", shown(path)),
                        "give a log, the number of a recorded process, or a folder of logs",
                    ));
                }
                self.files.extend(logs);
            }
        }
        Ok(())
    }

    /// All that are there now.
    pub fn all(&mut self) -> Vec<PathBuf> {
        let mut all = self.files.clone();
        for folder in &self.folders {
            all.extend(logs_of(folder).unwrap_or_default());
        }
        if self.follows_children {
            all.extend(self.children());
        }
        let mut known = HashSet::new();
        all.retain(|path| known.insert(path.clone()));
        all
    }

    /// Whether there may be others later.
    pub fn may_grow(&self) -> bool {
        !self.folders.is_empty() && !self.is_once
    }

    /// Logs of processes that those of the files started, and those in turn.
    fn children(&mut self) -> Vec<PathBuf> {
        let folder_of = |path: &PathBuf| match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let folders: HashSet<PathBuf> = self.files.iter().map(folder_of).collect();
        for folder in &folders {
            for path in logs_of(folder).unwrap_or_default() {
                if !self.families.contains_key(&path)
                    && let Some(family) = family_of(&path)
                {
                    self.families.insert(path, family);
                }
            }
        }
        let of_files = self.files.iter().filter_map(|path| family_of(path));
        let mut processes: HashSet<u32> = of_files.map(|(process, _)| process).collect();
        let mut chosen = Vec::new();
        loop {
            let before = chosen.len();
            for (path, (process, starter)) in &self.families {
                if processes.contains(starter) && !chosen.contains(path) {
                    processes.insert(*process);
                    chosen.push(path.clone());
                }
            }
            if chosen.len() == before {
                return chosen;
            }
        }
    }
}

/// A log's process, and the one that started it.
fn family_of(path: &Path) -> Option<(u32, u32)> {
    let glance = Glance::take(path).ok()?;
    let log = glance.log().ok()?;
    let start = log.start()?;
    Some((start.pid, log.parent_pid().unwrap_or(start.parent_pid)))
}
