//! What the head of a program's source says: `victims/torture/torture.h`.

use super::common::tools::tools;
use std::fs;
use std::path::{Path, PathBuf};

/// A program.
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether events may be lost.
    pub may_lose: bool,
    /// Whether a thread's first events may be, where recording goes on amid the run.
    pub may_begin_late: bool,
    /// Whether addresses may come that were not seen to go.
    pub may_reuse: bool,
    /// Whether children may leave no log.
    pub may_lack: bool,
    /// Whether its events are compared with the second recorder's.
    pub is_counted: bool,
}

impl Case {
    /// Where it was built, if it was.
    pub fn program(&self) -> Option<PathBuf> {
        tools().victim(&format!("torture/{}", self.name))
    }
}

/// All of them, by name: those of every folder, which are built into one.
pub fn all() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("victims/torture");
    let folders = fs::read_dir(&root).expect("victims/torture").flatten();
    let mut cases: Vec<Case> = folders
        .filter(|entry| entry.path().is_dir())
        .flat_map(|folder| fs::read_dir(folder.path()).expect("a folder of programs"))
        .flatten()
        .filter_map(|file| read(&file.path()))
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in cases.windows(2) {
        assert_ne!(pair[0].name, pair[1].name, "in two folders");
    }
    cases
}

fn read(path: &Path) -> Option<Case> {
    let kind = path.extension()?.to_str()?;
    if !["c", "cpp"].contains(&kind) {
        return None;
    }
    let text = fs::read_to_string(path).expect("a source");
    let head = text.split("*/").next().unwrap_or_default();
    let mut case = Case {
        name: path.file_stem()?.to_str()?.to_owned(),
        args: Vec::new(),
        may_lose: false,
        may_begin_late: false,
        may_reuse: false,
        may_lack: false,
        is_counted: true,
    };
    for line in head
        .lines()
        .filter_map(|line| line.trim().strip_prefix("* @"))
    {
        let (word, rest) = line.split_once([' ', ':']).unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("plugin", _) => return None,
            ("flags", _) => {}
            ("args", rest) => case.args = rest.split_whitespace().map(str::to_owned).collect(),
            ("may", rest) if rest.starts_with("lose") => case.may_lose = true,
            ("may", rest) if rest.starts_with("begin late") => case.may_begin_late = true,
            ("may", rest) if rest.starts_with("reuse") => case.may_reuse = true,
            ("may", rest) if rest.starts_with("lack") => case.may_lack = true,
            ("uncounted", _) => case.is_counted = false,
            _ => panic!("{}: what is @{line}?", path.display()),
        }
    }
    Some(case)
}
