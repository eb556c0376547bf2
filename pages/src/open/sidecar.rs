//! The table of a log's blocks: made once, kept in a file, found again.
//!
//! It lies beside the log, or in the user's cache where that folder takes no files. A
//! small log has none: to make its table takes no longer than to find it. One that is
//! stale, torn or of somebody else is made anew.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memlog_format::chunk::checksum;
use memlog_read::Log;
use memlog_table::Table;

use super::map::{map, map_file};
use super::{Family, FileBytes};
use crate::system::effective_user;

/// Bytes of events above which a table is kept.
const KEPT_FROM: u64 = 4 << 20;
const ENDING: &str = "table";

/// Where a log's table lies, and what tells it from others.
pub struct Sidecar {
    key: Vec<u8>,
    places: Vec<PathBuf>,
    owner: Option<u32>,
    is_worthwhile: bool,
}

impl Sidecar {
    /// Of the log at this path; none is kept of a program that runs.
    pub fn of(path: &Path, family: &Family, is_running: bool) -> Self {
        let own = family.own();
        Self {
            key: key(&family.logs),
            places: places(path),
            owner: fs::metadata(path).ok().map(|file| file.uid()),
            is_worthwhile: own.size().event_bytes >= KEPT_FROM && !is_running,
        }
    }

    /// What a table of this log is made with.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The table that was kept, if it is one.
    pub fn found(&self) -> Option<FileBytes> {
        let places = self.places.iter().filter(|_| self.is_worthwhile);
        let mut files = places.filter(|place| self.is_trusted(place));
        files.find_map(|place| {
            let bytes = map(place).ok()?;
            Table::open(&bytes, &self.key).is_ok().then_some(bytes)
        })
    }

    /// It was not what it seemed: the next is made anew.
    pub fn forget(&self) {
        let places = self.places.iter().filter(|_| self.is_worthwhile);
        for place in places.filter(|place| self.is_trusted(place)) {
            let _ = fs::remove_file(place);
        }
    }

    /// Whoever may write another's table may tell him what he likes.
    fn is_trusted(&self, place: &Path) -> bool {
        let file = fs::symlink_metadata(place);
        file.is_ok_and(|file| {
            let is_owners = file.uid() == effective_user() || Some(file.uid()) == self.owner;
            file.is_file() && is_owners && file.mode() & 0o022 == 0
        })
    }

    /// Where to write a table: into a file, where it is worthwhile and possible, or
    /// into memory.
    pub fn begin(&self) -> Draft {
        let places = self.places.iter().filter(|_| self.is_worthwhile);
        let mut drafts = places.filter_map(|place| {
            let name = place.file_name()?;
            // The cache, before it has anything; the log's folder is there.
            let _ = fs::create_dir_all(place.parent()?);
            let mut start = std::ffi::OsString::from(".");
            start.push(name);
            start.push(".");
            sweep(place.parent()?, start.as_bytes());
            start.push(std::process::id().to_string());
            let path = place.with_file_name(start);
            // Its process had our number.
            let _ = fs::remove_file(&path);
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create_new(true).mode(0o600);
            let file = options.open(&path).ok()?;
            Some(Draft::File {
                writer: BufWriter::with_capacity(1 << 20, file),
                path,
                place: place.clone(),
            })
        });
        drafts.next().unwrap_or(Draft::Memory(Vec::new()))
    }
}

/// A table that is being written.
pub enum Draft {
    /// Into memory.
    Memory(Vec<u8>),
    /// Into a file, which gets its name when it is whole.
    File {
        /// Where it is written.
        writer: BufWriter<File>,
        /// Its name until then.
        path: PathBuf,
        /// Its name.
        place: PathBuf,
    },
}

impl Draft {
    /// One that goes nowhere else.
    pub fn memory() -> Self {
        Self::Memory(Vec::new())
    }

    /// It is whole: the bytes, and where a file has them that stays.
    pub fn finish(self, keep: bool) -> std::io::Result<FileBytes> {
        match self {
            Draft::Memory(bytes) => Ok(FileBytes::Read(bytes)),
            Draft::File {
                writer,
                path,
                place,
            } => {
                let file = writer.into_inner().map_err(|error| error.into_error())?;
                let bytes = map_file(&file, None);
                let is_ours = is_at(&file, &path);
                let is_good = keep && is_ours && bytes.is_ok();
                let is_kept = is_good && fs::rename(&path, &place).is_ok();
                if is_ours && !is_kept {
                    let _ = fs::remove_file(&path);
                }
                bytes
            }
        }
    }

    /// It failed: nothing of it stays.
    pub fn discard(path: Option<PathBuf>) {
        if let Some(path) = path {
            let _ = fs::remove_file(path);
        }
    }

    /// The file that it is written to.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Draft::Memory(_) => None,
            Draft::File { path, .. } => Some(path.clone()),
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Draft::Memory(all) => all.write(bytes),
            Draft::File { writer, .. } => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Draft::Memory(_) => Ok(()),
            Draft::File { writer, .. } => writer.flush(),
        }
    }
}

/// Removes drafts that killed processes left. A process of our number in another
/// container may write one: it answers from it as well without its name.
fn sweep(folder: &Path, start: &[u8]) {
    let is_here = folder.as_os_str().is_empty();
    let folder = if is_here { Path::new(".") } else { folder };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.as_bytes().strip_prefix(start);
        let process = process.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u32>().ok());
        let is_left = |process: u32| !Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(is_left) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a path still names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |file: fs::Metadata| (file.dev(), file.ino());
    let named = fs::symlink_metadata(path).map(number);
    matches!((file.metadata().map(number), named), (Ok(one), Ok(other)) if one == other)
}

/// What changes when a log of the family is another, or has grown.
fn key(logs: &[Log]) -> Vec<u8> {
    let mut key = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
    for log in logs {
        let (size, start) = (log.size(), log.start());
        let words = [
            size.event_bytes,
            size.chunks as u64,
            size.streams as u64,
            start.map_or(0, |start| start.wall_ns),
            start.map_or(0, |start| start.pid.into()),
            u64::from(log.end().is_some()),
        ];
        key.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    key
}

/// Beside the log, and in the cache.
fn places(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else {
        return Vec::new();
    };
    let mut beside = name.to_owned();
    beside.push(".");
    beside.push(ENDING);
    let mut places = vec![path.with_file_name(&beside)];
    if let Some(cache) = cache() {
        let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let number = checksum(whole.as_os_str().as_bytes());
        let mut name = std::ffi::OsString::from(format!("{number:016x}."));
        name.push(beside);
        places.push(cache.join(name));
    }
    places
}

/// The user's folder of what can be made anew.
fn cache() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let named = named.filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(named.or_else(home)?.join("memlog"))
}
