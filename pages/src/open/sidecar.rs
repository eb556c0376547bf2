//! The table of a log's blocks: made once, kept in a file, found again.
//!
//! It lies beside the log, or in the user's cache where that folder takes no files. A
//! small log has none: to make its table takes no longer than to find it. One that is
//! stale, torn or of somebody else is made anew.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memlog_format::chunk::checksum;
use memlog_format::meta::Key;
use memlog_read::Log;
use memlog_table::{Table, Unfit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

use super::map::{open, watch_file};
use super::{Family, FileBytes};
use crate::system::effective_user;

/// Bytes of events above which a table is kept.
const KEPT_FROM: u64 = 4 << 20;
const ENDING: &str = "table";
const WRITTEN_AT_ONCE: usize = 1 << 20;

/// Where a log's table lies, and what tells it from others.
pub struct Sidecar {
    key: Vec<u8>,
    places: Vec<PathBuf>,
    owner: Option<u32>,
    is_worthwhile: bool,
    most_events: u64,
}

/// No event takes less than a byte, and some bytes stand for several.
const EVENTS_OF_A_BYTE: u64 = 8;
/// A record of six bytes or more may tell of 1,024 blocks that were left out.
const BLOCKS_OF_A_BYTE: u64 = 256;

impl Sidecar {
    /// Of the log at this path; none is kept of a program that runs, and of another tool's
    /// file, which is no log.
    pub fn of(path: &Path, family: &Family, is_running: bool) -> Self {
        let own = family.own();
        Self {
            key: key(&family.logs),
            places: places(path),
            owner: fs::metadata(path).ok().map(|file| file.uid()),
            most_events: own.size().event_bytes.saturating_mul(match own.left_out() {
                None => EVENTS_OF_A_BYTE,
                Some(_) => BLOCKS_OF_A_BYTE,
            }),
            is_worthwhile: !family.is_made && own.size().event_bytes >= KEPT_FROM && !is_running,
        }
    }

    /// What a table of this log is made with.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The table in these bytes, if it can be one of this log.
    pub fn table<'b>(&self, bytes: &'b [u8]) -> Result<Table<'b>, Unfit> {
        Table::open(bytes, &self.key, self.most_events)
    }

    /// The table that was kept, if it is one.
    pub fn found(&self) -> Option<FileBytes> {
        let places = self.places.iter().filter(|_| self.is_worthwhile);
        let mut files = places.filter(|place| self.is_trusted(place));
        files.find_map(|place| {
            let bytes = watch_file(&open(place).ok()?, None).ok()?;
            self.table(&bytes).is_ok().then_some(bytes)
        })
    }

    /// It was not what it seemed: the next is made anew.
    pub fn forget(&self) {
        let places = self.places.iter().filter(|_| self.is_worthwhile);
        for place in places.filter(|place| self.is_trusted(place)) {
            let _ = fs::remove_file(place);
        }
    }

    fn is_trusted(&self, place: &Path) -> bool {
        is_trusted(place, self.owner)
    }

    /// Where to write a table: into a file, where it is worthwhile and possible, or
    /// into memory.
    pub fn begin(&self) -> Draft {
        let mut draft = Draft::default();
        for place in self.places.iter().filter(|_| self.is_worthwhile) {
            match Out::create(place) {
                Ok(out) => {
                    draft.out = Some(out);
                    return draft;
                }
                // The log's folder is what people know of.
                Err(error) => draft.not_kept = draft.not_kept.or(Some(error)),
            }
        }
        draft
    }
}

/// A table that is being written.
#[derive(Default)]
pub struct Draft {
    out: Option<Out>,
    /// What is not in the file: all, where there is none.
    rest: Vec<u8>,
    not_kept: Option<io::Error>,
}

/// The file of a draft. It gets its name when it is whole; else it goes.
struct Out {
    file: File,
    written: u64,
    /// Its name until then.
    path: PathBuf,
    /// Its name.
    place: PathBuf,
}

/// A table that is whole.
pub struct Finished {
    /// The table.
    pub bytes: FileBytes,
    /// Why no file has it that stays, where one should.
    pub not_kept: Option<io::Error>,
}

impl Out {
    fn create(place: &Path) -> io::Result<Self> {
        let unnamed = || io::Error::from(io::ErrorKind::InvalidInput);
        let (name, folder) = (place.file_name(), place.parent());
        let (name, folder) = (name.ok_or_else(unnamed)?, folder.ok_or_else(unnamed)?);
        // Who writes beyond the limit of a file's size is ended by it, if he does not
        // listen. Programs that are started from here do not inherit that.
        let _ = flag::register(SIGXFSZ, Arc::default());
        // The cache, before it has anything; the log's folder is there.
        let _ = fs::create_dir_all(folder);
        let mut start = std::ffi::OsString::from(".");
        start.push(name);
        start.push(".");
        sweep(folder, start.as_bytes());
        start.push(std::process::id().to_string());
        let path = place.with_file_name(start);
        // Its process had our number.
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        Ok(Self {
            file: options.open(&path)?,
            written: 0,
            path,
            place: place.to_owned(),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// What was written of it.
    fn read(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.rewind()?;
        (&self.file).take(self.written).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Draft {
    /// It is whole. A file that has it gets its name, if that is to be kept.
    pub fn finish(mut self, keep: bool) -> io::Result<Finished> {
        self.flush()?;
        let bytes = match &self.out {
            None => FileBytes::Read(self.rest),
            Some(out) => {
                let bytes = watch_file(&out.file, None)?;
                if keep && is_at(&out.file, &out.path) {
                    self.not_kept = fs::rename(&out.path, &out.place).err();
                }
                bytes
            }
        };
        let not_kept = self.not_kept.filter(|_| keep);
        Ok(Finished { bytes, not_kept })
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if self.out.is_some() && self.rest.len() >= WRITTEN_AT_ONCE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// On a disk that is full, or where a file may not grow, memory has to do.
    fn flush(&mut self) -> io::Result<()> {
        let Some(mut out) = self.out.take() else {
            return Ok(());
        };
        match out.write(&self.rest) {
            Ok(()) => {
                self.rest.clear();
                self.out = Some(out);
            }
            Err(error) => {
                let mut all = out.read()?;
                all.append(&mut self.rest);
                self.rest = all;
                self.not_kept = Some(error);
            }
        }
        Ok(())
    }
}

/// Whether a file is ours, or that user's. Whoever may write another's table may tell him what
/// he likes.
pub fn is_trusted(place: &Path, owner: Option<u32>) -> bool {
    let file = fs::symlink_metadata(place);
    file.is_ok_and(|file| {
        let is_owners = file.uid() == effective_user() || Some(file.uid()) == owner;
        file.is_file() && is_owners && file.mode() & 0o022 == 0
    })
}

/// Writes a file that can be made anew: whole, or not at all.
pub fn keep(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = Out::create(place)?;
    out.write(bytes)?;
    match is_at(&out.file, &out.path) {
        true => fs::rename(&out.path, &out.place),
        // Another thread writes the same.
        false => Ok(()),
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
        // What was imported has no such start.
        key.extend(log.text(Key::MadeFrom).unwrap_or_default());
        key.extend(log.text(Key::Stripped).unwrap_or_default());
        key.extend(log.text(Key::Culled).unwrap_or_default());
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
pub fn cache() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let named = named.filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(named.or_else(home)?.join("memlog"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{Files, Watch};
    use memlog_format::table::{CodeId, StackId};

    /// What names a block, and tells its log from others, is in the outline too.
    #[test]
    fn an_outline_is_the_log_without_events() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
        let (mut outlined, mut nodes) = (0, 0);
        for folder in ["v1", "v2", "cross"] {
            for entry in golden.join(folder).read_dir().expect("golden").flatten() {
                let path = entry.path();
                if path.extension().is_none_or(|ending| ending != "memlog") {
                    continue;
                }
                let files = [Files::load(&path, &Watch::silent()), Files::outline(&path)]
                    .map(|files| files.expect("a log"));
                let [whole, outline] = files.each_ref().map(|files| files.family().expect("a log"));
                assert_eq!(key(&whole.logs), key(&outline.logs), "{}", path.display());
                assert_eq!(whole.missing_parent, outline.missing_parent);
                for (whole, outline) in whole.logs.iter().zip(&outline.logs) {
                    assert_eq!(whole.modules(), outline.modules());
                    assert!(
                        whole
                            .texts(Key::Executable)
                            .eq(outline.texts(Key::Executable))
                    );
                    for id in 0..20_000 {
                        let node = whole.node(StackId(id));
                        assert_eq!(node, outline.node(StackId(id)));
                        assert_eq!(whole.code(CodeId(id)), outline.code(CodeId(id)));
                        nodes += u32::from(node.is_some());
                    }
                    outlined += u32::from(outline.size().event_bytes > 0);
                }
            }
        }
        assert!(
            outlined > 10 && nodes > 1000,
            "{outlined} logs, {nodes} nodes"
        );
    }
}
