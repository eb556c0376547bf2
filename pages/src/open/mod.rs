//! Opens a log and, for a forked process, those of its parents.

mod analysis;
mod before;
mod blocks;
mod cut;
mod each;
mod extent;
mod following;
mod foreign;
mod glance;
mod identity;
mod interrupt;
mod magic;
mod map;
mod mapped;
mod packed;
pub mod process;
mod progress;
mod reading;
mod sidecar;
mod snapping;
mod steady;
mod unnamed;
mod watch;

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use memlog_format::control::State;
use memlog_format::meta::Key;
use memlog_read::{Log, Marks, ReadError};

use crate::words::{Advice, clean, shown, typed};
pub use analysis::{Analysis, Chosen, LogTables, Part as ReadPart, Times, at_of};
pub use before::Before;
pub use blocks::make as make_table;
pub use cut::outlive_cut_files;
pub use each::{each, gathered};
pub use extent::{Extent, of as extent_of};
pub use following::{Following, Life, Seen, outline};
pub use foreign::{Made, form_of, import};
pub use glance::{FEW_EVENTS, Few, Glance, says_more};
pub use identity::{Identity, Wholeness};
pub use interrupt::{INTERRUPTED, Interrupt};
pub use magic::{begins_with, has_magic};
pub use map::FileBytes;
use map::{bytes_of, log_bytes, log_copy, log_files, log_outline};
pub use map::{map, map_file, map_known};
pub use packed::{Room, is_archive, is_packed};
pub use progress::{Far, left_seconds};
pub use reading::hand_out;
pub use sidecar::{Sidecar, cache, is_trusted, keep};
pub use unnamed::unnamed;
pub use watch::{Over, Watch};

/// No process has more recorded ancestors.
const MAX_ANCESTORS: usize = 64;

/// The files of a log and of its parents, in memory.
pub struct Files {
    /// The log's own file, then its parent's, and so on.
    files: Vec<(PathBuf, FileBytes)>,
    /// Why a parent's log is missing, in a sentence.
    missing_parent: Option<String>,
    /// Whether the log was made for this reading, of another tool's file.
    is_made: bool,
    /// How far the log was a moment before its file was read, if it may be written still.
    marks: Option<Behind>,
}

/// How far a log was at two moments before its file was read.
struct Behind {
    first: Marks,
    last: Option<Marks>,
}

/// A log with those of its parents.
pub struct Family<'a> {
    /// The log itself, then its parent, and so on.
    pub logs: Vec<Log<'a>>,
    /// Where the parent's log lies.
    pub parent: Option<&'a Path>,
    /// Why a parent's log is missing, in a sentence.
    pub missing_parent: Option<&'a str>,
    /// Whether the log was made for this reading, of another tool's file.
    pub is_made: bool,
}

impl Files {
    /// Reads the log at `path` and those it builds upon. Of another tool's file it is the
    /// log that is made of it.
    pub fn load(path: &Path, watch: &Watch) -> anyhow::Result<Self> {
        if form_of(path).is_some() {
            return Ok(Self {
                files: vec![(path.to_owned(), import(path, false, watch)?.1)],
                missing_parent: None,
                is_made: true,
                marks: None,
            });
        }
        Self::read(path, log_bytes, behind)
    }

    /// The same, and nobody is told how far it is.
    pub fn load_silently(path: &Path) -> anyhow::Result<Self> {
        Self::load(path, &Watch::silent())
    }

    /// The same of a log only, copied at once: it may be overwritten meanwhile.
    pub fn copy(path: &Path) -> anyhow::Result<Self> {
        Self::read(path, log_copy, behind)
    }

    /// The same without their events, of a log only.
    pub fn outline(path: &Path) -> anyhow::Result<Self> {
        if form_of(path).is_some() {
            let error = std::io::Error::from(ErrorKind::Unsupported);
            return Err(unreadable(path, &error));
        }
        // It has no events that would have to be of one moment.
        Self::read(path, log_outline, |_| None)
    }

    /// `behind`: how far the log is, before it is read.
    fn read(path: &Path, read: Reader, behind: BehindOf) -> anyhow::Result<Self> {
        let unread = |error| unreadable(path, &error);
        // A packed file has the logs of the parents too.
        let mut packed = log_files(path).map_err(unread)?.into_iter();
        let mut marks = None;
        let bytes = match packed.next() {
            Some(file) => whole(file),
            None => {
                let before = behind(path);
                let mut bytes = read(path);
                // Its program ended after its length was looked at.
                if bytes.as_ref().is_ok_and(|bytes| extent::lacks_end(bytes)) {
                    bytes = read(path);
                }
                marks = match &bytes {
                    Ok(FileBytes::Moment(_, marks)) => Some(Behind {
                        first: marks.clone(),
                        last: None,
                    }),
                    // Places of before say nothing of chunks that move.
                    Ok(bytes) if steady::has_moved(bytes) => None,
                    _ => before,
                };
                bytes
            }
        };
        let mut files = vec![(path.to_owned(), bytes.map_err(unread)?)];
        let missing_parent = loop {
            let Some((path, bytes)) = files.last() else {
                break None;
            };
            let log = open(path, bytes)?;
            let packed = packed.next().filter(|_| log.parent_pid().is_some());
            if let Some(packed) = packed.filter(|_| files.len() < MAX_ANCESTORS) {
                files.push((path.to_owned(), whole(packed).map_err(unread)?));
                continue;
            }
            match parent_of(path, &log, read) {
                Parent::Found(path, bytes) if files.len() < MAX_ANCESTORS => {
                    files.push((path, bytes));
                }
                Parent::Found(..) | Parent::None => break None,
                Parent::Missing(reason) => break Some(reason),
            }
        };
        Ok(Self {
            files,
            missing_parent,
            is_made: false,
            marks,
        })
    }

    /// Whether one of them got shorter since.
    pub fn are_cut(&self) -> bool {
        self.files.iter().any(|(_, bytes)| bytes.is_cut())
    }

    /// The bytes of the log itself, then of its parent's, and so on.
    pub fn logs(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_path(), &**bytes))
    }

    /// The logs, read.
    pub fn family(&self) -> anyhow::Result<Family<'_>> {
        let mut marks = self.marks.iter();
        let logs = self.files.iter().map(|(path, bytes)| match marks.next() {
            Some(Behind { first, last }) => {
                let log = Log::open_behind(bytes, first, last.as_ref());
                log.map_err(|error| no_log(path, &error))
            }
            None => open(path, bytes),
        });
        Ok(Family {
            logs: logs.collect::<anyhow::Result<_>>()?,
            parent: self.files.get(1).map(|(path, _)| path.as_path()),
            missing_parent: self.missing_parent.as_deref(),
            is_made: self.is_made,
        })
    }
}

impl<'a> Family<'a> {
    /// The log that was asked for.
    pub fn own(&self) -> &Log<'a> {
        &self.logs[0]
    }

    /// Each fork, the oldest first: the number of the parent's log, the child's log, and
    /// the parent's.
    pub fn forks(&self) -> impl Iterator<Item = (u32, &Log<'a>, &Log<'a>)> {
        let parents = (1..).zip(self.logs.windows(2)).collect::<Vec<_>>();
        let forks = parents.into_iter().rev();
        forks.filter_map(|(number, pair)| match pair {
            [child, parent] => Some((number, child, parent)),
            _ => None,
        })
    }
}

fn whole(file: std::fs::File) -> std::io::Result<FileBytes> {
    let length = extent_of(&file)?.bytes;
    bytes_of(file, length)
}

/// What reads a log's file.
type Reader = fn(&Path) -> std::io::Result<FileBytes>;
/// How far a log is that may be written still.
type BehindOf = fn(&Path) -> Option<Behind>;

/// What is asked for.
const NAMED: &str = "give the .memlog file that `memlog record` named";

/// Of a packed file that is damaged.
pub const PACK_AGAIN: &str = "copy the packed file again, or pack its log again";

fn unreadable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let shown = shown(path);
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => "see whether you may read that file",
        ErrorKind::InvalidData => PACK_AGAIN,
        ErrorKind::TimedOut => "read it once more, or while its recording is off: memlog ctl stop",
        ErrorKind::StorageFull => {
            "set TMPDIR to a folder that has room, if the file is to be trusted"
        }
        _ => NAMED,
    };
    Advice::error(format!("cannot read the log {shown}: {error}"), hint)
}

/// How far a log is that has not come to its end, twice.
fn behind(path: &Path) -> Option<Behind> {
    let first = marks_of(path)?;
    let last = Some(marks_of(path)?);
    Some(Behind { first, last })
}

/// How far a log is that has not come to its end.
fn marks_of(path: &Path) -> Option<Marks> {
    let bytes = log_outline(path).ok()?;
    if State::read(&bytes) == State::Stopped {
        return None;
    }
    let log = Log::open(&bytes).ok()?;
    let file_bytes = fs::metadata(path).ok()?.len();
    log.end().is_none().then(|| log.marks(file_bytes))
}

fn open<'a>(path: &Path, bytes: &'a [u8]) -> anyhow::Result<Log<'a>> {
    Log::open(bytes).map_err(|error| no_log(path, &error))
}

fn no_log(path: &Path, error: &ReadError) -> anyhow::Error {
    if let Some(form) = form_of(path) {
        return Advice::error(
            format!("{} is a {} file and no log", shown(path), form.tool),
            format!("import it first: memlog import {}", typed(path)),
        );
    }
    let sentence = format!("cannot read {}: {error}", shown(path));
    Advice::error(sentence, error.remedy())
}

/// The log of the process that forked another.
enum Parent {
    /// The process was not forked.
    None,
    /// It is not there; the sentence says why.
    Missing(String),
    /// It is there.
    Found(PathBuf, FileBytes),
}

/// The parent's log, where the child's says it is or beside the child's.
fn parent_of(child: &Path, log: &Log, read: Reader) -> Parent {
    let Some(pid) = log.parent_pid() else {
        return Parent::None;
    };
    let name = log.text(Key::ParentLog).unwrap_or_default();
    let folder = match child.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut mistaken = None;
    for path in places(folder, Path::new(OsStr::from_bytes(name)), pid) {
        let Ok(bytes) = read(&path) else {
            continue;
        };
        let is_it = |log: Log| log.start().is_some_and(|start| start.pid == pid);
        if !Log::open(&bytes).is_ok_and(is_it) {
            continue;
        }
        // Where the parent stood at the fork is told of the one or of the other.
        let is_stripped = Log::open(&bytes).is_ok_and(|parent| parent.stripped().is_some());
        if is_stripped != log.stripped().is_some_and(|stripped| stripped.with_parent) {
            mistaken = Some(path);
            continue;
        }
        let overwritten = match Log::open(&bytes) {
            Ok(parent) if !parent.remembers(log.fork_points()) => shown(&path).to_string(),
            _ if log.flight().is_some() => "the flight recorder".to_owned(),
            _ => return Parent::Found(path, bytes),
        };
        return Parent::Missing(format!(
            "the process was forked by {pid}, and {overwritten} has overwritten events of after \
             the fork; which memory that it inherited is live is not known"
        ));
    }
    if let Some(path) = mistaken {
        let path = shown(&path);
        return Parent::Missing(match log.stripped() {
            Some(stripped) if stripped.with_parent => format!(
                "the process was forked by {pid}, whose log was stripped together with this one, \
                 and {path} is not stripped; memory that it inherited is not known"
            ),
            _ => format!(
                "the process was forked by {pid}, whose log {path} is stripped; strip both logs \
                 in one call: memory that it inherited is not known"
            ),
        });
    }
    let name = match name {
        [] => String::new(),
        name => format!(" {}", clean(name)),
    };
    Parent::Missing(format!(
        "the process was forked by {pid}, whose log{name} was not found beside this one; \
         memory that it inherited is not known"
    ))
}

/// Where a log may lie: under its name, beside the child's log, or, for a
/// parent that had none yet at the fork, under any name with its number.
fn places(folder: &Path, named: &Path, pid: u32) -> impl Iterator<Item = PathBuf> {
    let beside = named.file_name().map(|name| folder.join(name));
    let named = (!named.as_os_str().is_empty()).then(|| folder.join(named));
    let pid = pid.to_string();
    let has_number = move |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split(|c: char| !c.is_ascii_digit())
            .any(|word| word == pid)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|entry| entry.path()).filter(has_number);
    named.into_iter().chain(beside).chain(files)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use memlog_format::chunk::CHUNK_SIZE;
    use memlog_format::counter::Counter;

    use super::*;

    const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/v1/tiny.memlog");

    /// The log of a program that ends as it is read, of which the end came in between.
    #[test]
    fn what_ends_meanwhile_is_read_once_more() {
        static READS: AtomicU32 = AtomicU32::new(0);
        let read: Reader = |path| {
            let mut bytes = fs::read(path)?;
            let places = bytes.len().div_ceil(CHUNK_SIZE);
            Counter::Chunks.write(&mut bytes, places as u64);
            if READS.fetch_add(1, Ordering::Relaxed) == 0 {
                bytes.truncate((places - 1) * CHUNK_SIZE);
            }
            Ok(FileBytes::Read(bytes))
        };
        let files = Files::read(Path::new(TINY), read, |_| None).expect("a log");
        assert_eq!(READS.load(Ordering::Relaxed), 2);
        let whole = fs::metadata(TINY).expect("a log").len();
        let family = files.family().expect("a log");
        assert_eq!(family.own().size().file_bytes as u64, whole);
    }
}
