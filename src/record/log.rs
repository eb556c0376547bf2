//! What a log says of itself to `record`, without its events being read.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memlog_format::chunk::MAGIC;
use memlog_format::counter::{self, Counter};
use memlog_format::meta::Key;
use memlog_pages::{Bounds, Few, Glance, clean, may_lack, note, says_more, started_as};

/// What a log says of itself.
pub struct Log {
    /// Where it is.
    pub path: PathBuf,
    /// Which file it was there when this was read: device and number.
    pub identity: (u64, u64),
    /// The process that wrote it.
    pub pid: u32,
    /// The program of that process.
    pub executable: OsString,
    /// The name that it was started by, where that is another.
    pub started_as: Option<String>,
    /// Whether it says how its image ended.
    pub has_end: bool,
    /// Whether it says how its process went: by that end, or by a signal.
    pub is_over: bool,
    /// The process that forked its own.
    pub parent: Option<u32>,
    /// Where it was started.
    pub folder: OsString,
    /// Its rank in a parallel job; that of its parent where it is a rank's child.
    pub rank: Option<String>,
    /// Whether there is more to say of it than what its process allocated.
    pub says_more: bool,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// The peak of resident memory, 0 if it tells of none.
    pub rss_peak_kb: u64,
    /// What its process did, where that was little and there are other logs.
    pub few: Option<Few>,
    /// Counters of what was lost that are not zero.
    pub losses: Vec<(Counter, u64)>,
    /// Forked children without a log, and why the last has none, as counted.
    pub unlogged: (u64, u64),
    /// Calls that got no memory.
    pub failed: u64,
    /// What to say where the log may lack what nobody counted.
    pub may_lack: Option<&'static str>,
    /// What bounds it.
    pub bounds: Bounds,
    /// Remarks of the recorder.
    pub notes: Vec<String>,
    /// Functions of other names that its program called and that were recorded.
    pub named: Vec<String>,
    /// The run that it is of, as `record` named it to the recorder.
    pub run: OsString,
    /// When it began.
    pub wall_ns: u64,
}

impl Log {
    /// `None` if the file is no log. What stands among its events is worth a look
    /// where there are `others`: how few they are, if fewer than so many, and the
    /// peak of one without an end.
    pub fn read(path: &Path, others: Option<u64>) -> io::Result<Option<Self>> {
        // Looked at first: to open a pipe that the program made would be to wait.
        let found = fs::symlink_metadata(path)?;
        if !found.is_file() {
            return Ok(None);
        }
        let Ok(glance) = Glance::take(path) else {
            return Ok(None);
        };
        let Ok(log) = glance.log() else {
            return Ok(None);
        };
        let losses = counter::ALL.iter().filter(|(counter, _)| counter.is_loss());
        let losses = losses
            .map(|(counter, _)| (*counter, log.counter(*counter)))
            .filter(|(_, count)| *count != 0)
            .collect();
        let peak_bytes = match others.is_some() || log.end().is_some() {
            true => glance.rss_peak_bound().unwrap_or(0),
            false => 0,
        };
        let executable = log.text(Key::Executable).unwrap_or_default();
        let settings = || log.texts(Key::Setting);
        let mut bounds = Bounds::default();
        settings().for_each(|text| bounds.take(text));
        let bounds = bounds.refused(log.counter(Counter::LogRefused));
        let run = settings().filter_map(|text| text.strip_prefix(b"MEMLOG_RUN="));
        let run = run.last().unwrap_or_default();
        let start = log.start();
        Ok(Some(Self {
            identity: glance.identity()?,
            pid: start.map_or(0, |start| start.pid),
            executable: OsStr::from_bytes(executable).into(),
            started_as: started_as(&log),
            has_end: log.end().is_some(),
            is_over: log.end().is_some() || log.death().is_some(),
            parent: log.parent_pid(),
            folder: OsStr::from_bytes(log.text(Key::WorkingDirectory).unwrap_or_default()).into(),
            rank: log.text(Key::Rank).map(clean),
            says_more: says_more(&log),
            bytes: glance.taken_bytes()?,
            rss_peak_kb: peak_bytes / 1024,
            few: others.and_then(|limit| glance.few(limit).ok().flatten()),
            losses,
            unlogged: (
                log.counter(Counter::ChildrenUnlogged),
                log.counter(Counter::ChildRefused),
            ),
            may_lack: may_lack(log.end().is_some(), settings()),
            failed: log.counter(Counter::AllocationsFailed),
            bounds,
            notes: log.texts(Key::Note).map(note).collect(),
            named: log.texts(Key::Named).map(clean).collect(),
            run: OsStr::from_bytes(run).into(),
            wall_ns: start.map_or(0, |start| start.wall_ns),
            path: path.to_owned(),
        }))
    }

    /// Opens the log once more. Whoever may write to its folder may have put
    /// another file there, or a link to one, since it was read.
    pub fn reopen(&self, options: &mut OpenOptions) -> io::Result<File> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = options.read(true).custom_flags(flags).open(&self.path)?;
        let found = file.metadata()?;
        let mut start = [0; MAGIC.len()];
        let count = file.read_at(&mut start, 0)?;
        match (found.dev(), found.ino()) == self.identity && start[..count] == MAGIC {
            true => Ok(file),
            false => Err(io::Error::other("another file is there now")),
        }
    }

    /// Removes the log, and no other file that has come to lie there.
    pub fn remove(&self) -> io::Result<()> {
        remove(&self.path, self.identity)
    }

    /// Whether there is nothing to say of it but that it was there.
    pub fn is_little(&self) -> bool {
        let peak_bytes = self.rss_peak_kb.saturating_mul(1024);
        let few = self.few.as_ref();
        !self.says_more && few.is_some_and(|few| few.is_little(peak_bytes))
    }
}

/// Removes a file, known by its device and number, and no other that has come
/// to lie there.
pub fn remove(path: &Path, identity: (u64, u64)) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    // From here on it is this folder, whatever its path comes to lead to.
    let folder = File::open(folder)?;
    let there = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let there = Path::new(&there).join(name);
    let found = fs::symlink_metadata(&there)?;
    match (found.dev(), found.ino()) == identity {
        true => fs::remove_file(there),
        false => Err(io::Error::other("another file is there now")),
    }
}

#[cfg(test)]
impl Log {
    /// One that ended and says nothing else.
    pub fn of(pid: u32, parent: Option<u32>) -> Self {
        Self {
            path: format!("/{pid}.memlog").into(),
            identity: (0, 0),
            pid,
            executable: "x".into(),
            started_as: None,
            has_end: true,
            is_over: true,
            parent,
            folder: "/".into(),
            rank: None,
            says_more: false,
            bytes: 0,
            rss_peak_kb: 0,
            few: None,
            losses: Vec::new(),
            unlogged: (0, 0),
            may_lack: None,
            failed: 0,
            bounds: Bounds::default(),
            notes: Vec::new(),
            named: Vec::new(),
            run: OsString::new(),
            wall_ns: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_comes_to_lie_in_its_place_is_not_written_to() {
        let place = std::env::temp_dir().join(format!("reopen.{}", std::process::id()));
        let (logs, others) = (place.join("logs"), place.join("others"));
        for folder in [&logs, &others] {
            fs::create_dir_all(folder).unwrap();
            let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/v1/tiny.memlog");
            fs::copy(golden, folder.join("log")).unwrap();
        }
        let path = logs.join("log");
        let log = Log::read(&path, Some(0)).unwrap().expect("a log");
        let open = || log.reopen(OpenOptions::new().write(true));
        let left = || others.join("log").exists() && place.join("kept").exists();
        assert!(open().is_ok());
        // Its folder leads elsewhere.
        fs::rename(&logs, place.join("away")).unwrap();
        symlink(&others, &logs).unwrap();
        assert!(open().is_err() && log.remove().is_err());
        fs::remove_file(&logs).unwrap();
        fs::rename(place.join("away"), &logs).unwrap();
        assert!(open().is_ok());
        // Or it does itself.
        fs::rename(&path, place.join("kept")).unwrap();
        symlink(place.join("kept"), &path).unwrap();
        assert!(open().is_err() && log.remove().is_err() && left());
        fs::remove_file(&path).unwrap();
        // It is the same file, and no log any more.
        fs::rename(place.join("kept"), &path).unwrap();
        fs::write(&path, "a program's own").unwrap();
        assert!(open().is_err());
        assert!(log.remove().is_ok() && !path.exists());
        fs::remove_dir_all(place).unwrap();
    }
}
