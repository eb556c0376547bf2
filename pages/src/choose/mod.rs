//! One log: the one that is named, or of all that match a pattern or lie in a
//! folder the one whose process was biggest.

mod copies;
mod pattern;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::open::{Glance, has_magic};
use crate::words::{Advice, shown, sized, tell_note};
pub use copies::{Once, each_process_once, most_of_each};

/// The log that a name stands for; `say` is told which one that is where it
/// stands for several.
pub fn choose(name: &Path, say: impl Fn(&str)) -> anyhow::Result<PathBuf> {
    if let Meaning::Log = Meaning::of(name) {
        return Ok(name.to_owned());
    }
    biggest(all(name)?, say).ok_or_else(|| none_in(name))
}

/// The same for a command that only reads: told on stderr.
pub fn chosen(name: &Path) -> anyhow::Result<PathBuf> {
    choose(name, |line| {
        // Where stderr is gone nobody can be told.
        let _ = writeln!(std::io::stderr().lock(), "memlog: {line}");
    })
}

/// All logs that a name stands for, by name; of a pattern what matches, log or
/// not.
pub fn all(name: &Path) -> anyhow::Result<Vec<PathBuf>> {
    match Meaning::of(name) {
        Meaning::Log => Ok(vec![name.to_owned()]),
        Meaning::Folder => in_folder(name),
        Meaning::Pattern => matching(name),
    }
}

/// All logs that some names stand for: one may be named, and lie in a folder that is named
/// as well.
pub fn each_once(names: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let (mut known, mut paths) = (HashSet::new(), Vec::new());
    if let [name] = names {
        return all(name);
    }
    for name in names {
        let new = all(name)?.into_iter();
        paths.extend(
            new.filter(|path| {
                known.insert(path.canonicalize().ok().unwrap_or_else(|| path.clone()))
            }),
        );
    }
    Ok(paths)
}

/// That there is none.
fn none_in(name: &Path) -> anyhow::Error {
    let (place, hint) = match Meaning::of(name) {
        Meaning::Folder => (
            format!("the folder {} holds no log", shown(name)),
            "give the .memlog file, or the folder of logs, that `memlog record` named",
        ),
        _ => (
            format!("no file that matches '{}' is a log", shown(name)),
            "give a pattern of .memlog files, such as '*.memlog'",
        ),
    };
    Advice::error(format!("{place} that can be read"), hint)
}

/// What a name stands for.
enum Meaning {
    Log,
    Folder,
    Pattern,
}

impl Meaning {
    fn of(name: &Path) -> Self {
        // A file may have a star in its name.
        match (name.is_dir(), pattern::is_one(name)) {
            (true, _) => Self::Folder,
            (_, true) if name.symlink_metadata().is_err() => Self::Pattern,
            _ => Self::Log,
        }
    }
}

/// What has to be looked through for the log, in words.
pub fn searched(name: &Path) -> Option<String> {
    let shown = shown(name);
    match Meaning::of(name) {
        Meaning::Log => None,
        Meaning::Folder => Some(format!("the folder {shown}")),
        Meaning::Pattern => Some(format!("all files matching '{shown}'")),
    }
}

fn in_folder(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if let Err(error) = folder.read_dir() {
        return Err(Advice::error(
            format!("the folder {} cannot be read: {error}", shown(folder)),
            "see whether you may read that folder, or give the .memlog file itself",
        ));
    }
    // In the current folder a name is enough.
    let place = folder.strip_prefix(".").unwrap_or(folder);
    let mut files = pattern::entries(place);
    files.retain(|file| has_magic(file));
    files.sort();
    match files.is_empty() {
        true => Err(none_in(folder)),
        false => Ok(files),
    }
}

fn matching(pattern: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = shown(pattern);
    let files = pattern::matches(pattern).map_err(|error| {
        Advice::error(
            format!("'{name}' is no pattern: {error}"),
            "a pattern has *, ? and [abc], as in '*.memlog'",
        )
    })?;
    if files.is_empty() {
        return Err(Advice::error(
            format!("no file matches '{name}'"),
            "see `ls`: a log is named HOST.PID.memlog, as `memlog record` said",
        ));
    }
    Ok(files)
}

/// Of equals the first by name. The peak itself is asked for only of those whose
/// bound is above all peaks that are known.
fn biggest(files: Vec<PathBuf>, say: impl Fn(&str)) -> Option<PathBuf> {
    let bound = |path: PathBuf| match Glance::take(&path).and_then(|log| log.rss_peak_bound()) {
        Ok(bound) => Some((bound, path)),
        Err(error) => {
            tell_note(&format!("skipped: {error:#}"));
            None
        }
    };
    let mut bounds: Vec<_> = files.into_iter().filter_map(bound).collect();
    bounds.sort_by_key(|(bound, _)| Reverse(*bound));
    let count = bounds.len();
    let mut best: Option<(u64, PathBuf)> = None;
    for (bound, path) in bounds {
        if best.as_ref().is_some_and(|(highest, _)| bound < *highest) {
            break;
        }
        let peak = Glance::take(&path).and_then(|log| log.rss_peak_bytes());
        let peak = peak.unwrap_or(bound);
        let is_better = |(highest, first): &(u64, PathBuf)| {
            peak > *highest || peak == *highest && path < *first
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((peak, path));
        }
    }
    best.map(|(peak, path)| {
        let (shown, peak) = (shown(&path), sized(peak));
        say(&match count {
            1 => format!("Using {shown}, the only log; its RSS peak is {peak}"),
            count => {
                format!("Using {shown}, whose RSS peak of {peak} is the highest of {count} logs")
            }
        });
        path
    })
}

/// That a command takes one log alone.
pub fn one_more(verb: &str, more: &str) -> anyhow::Error {
    Advice::error(
        format!("{verb} takes one log, and {more} is one more"),
        format!(
            "give one; or of a folder or a quoted pattern the one with the highest RSS peak: \
             memlog {verb} '*.memlog'; or a line of each: memlog info --list *.memlog"
        ),
    )
}
