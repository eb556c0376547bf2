//! Names of logs in the receiver's folder. A sender says which it would like; what it gets is
//! always a plain name in this folder, of a new file or of the same log's.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memlog_format::chunk::HEADER_SIZE;
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, linkat, mkdirat,
    openat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::limits::MOST_DATA;
use crate::look::{About, about};
use crate::wire::Why;

/// The folder, open: it is this one, whatever its path comes to lead to.
#[derive(Clone)]
pub struct Folder(Arc<OwnedFd>);

/// A file that is given to a log: it, its name, and how long it was.
pub type Given = (File, String, Option<u64>);
/// Why there is none.
pub type Refusal = (Why, String);

const ENDING: &str = ".memlog";
/// Letters of a name without its ending.
const LONGEST: usize = 150;
/// Logs of one name.
const MOST_ALIKE: u32 = 10_000;

impl Folder {
    /// Opens it, and makes it where it is not there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match mkdirat(CWD, path, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let folder = openat(CWD, path, flags, Mode::empty())?;
        Ok(Self(Arc::new(folder)))
    }

    /// It, open.
    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// The file for a log that begins so. `claim` is asked to have whoever writes to a file
    /// let go of it.
    pub fn file_for(
        &self,
        name: &[u8],
        start: &[u8],
        claim: impl Fn(&File) -> Result<(), String>,
    ) -> Result<Given, Refusal> {
        let Some(log) = about(start) else {
            let text = "what was sent is not the beginning of a log";
            return Err((Why::Never, text.into()));
        };
        let stem = stem_of(name);
        for number in 1..=MOST_ALIKE {
            let name = match number {
                1 => format!("{stem}{ENDING}"),
                number => format!("{stem}.{number}{ENDING}"),
            };
            match self.known(&name, &log, &claim)? {
                Known::None => match self.make(&name, start) {
                    Ok(file) => return Ok((file, name, None)),
                    // Somebody was faster: it may be the same log.
                    Err(Errno::EXIST) => match self.known(&name, &log, &claim)? {
                        Known::Same(file, bytes) => return Ok((file, name, Some(bytes))),
                        Known::None | Known::Other => {}
                    },
                    Err(error) => return Err(refused(error)),
                },
                Known::Same(file, bytes) => return Ok((file, name, Some(bytes))),
                Known::Other => {}
            }
        }
        Err((Why::Never, "there are too many logs of this name".into()))
    }

    fn known(
        &self,
        name: &str,
        log: &About,
        claim: impl Fn(&File) -> Result<(), String>,
    ) -> Result<Known, Refusal> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&*self.0, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(Known::None),
            // A link, a folder, somebody else's: it stays as it is.
            Err(_) => return Ok(Known::Other),
        };
        let found = fstat(&file).map_err(refused)?;
        let is_own = found.st_uid == geteuid().as_raw() && found.st_nlink == 1;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_own || !is_file || begins(&file).is_none_or(|other| other.identity != log.identity) {
            return Ok(Known::Other);
        }
        lock(&file, claim).map_err(|text| (Why::Busy, text))?;
        Ok(Known::Same(file, u64::try_from(found.st_size).unwrap_or(0)))
    }

    /// Makes a file that is a log from the first moment on that it has its name.
    fn make(&self, name: &str, start: &[u8]) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        match openat(&*self.0, ".", flags | OFlags::TMPFILE, mode) {
            Ok(file) => {
                let file = File::from(file);
                fill(&file, start)?;
                // A file without a name gets one by its descriptor's.
                let own = format!("/proc/self/fd/{}", raw(&file));
                match linkat(CWD, own.as_str(), &*self.0, name, AtFlags::SYMLINK_FOLLOW) {
                    Err(Errno::NOENT) => self.make_by_link(name, start),
                    linked => linked.map(|()| file),
                }
            }
            // Not every file system knows such files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                self.make_by_link(name, start)
            }
            Err(error) => Err(error),
        }
    }

    fn make_by_link(&self, name: &str, start: &[u8]) -> Result<File, Errno> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let fresh = format!(".memlog-{}-{count}.tmp", std::process::id());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o600);
        let file = File::from(openat(&*self.0, &fresh, flags | OFlags::CLOEXEC, mode)?);
        let linked = fill(&file, start)
            .and_then(|()| linkat(&*self.0, &fresh, &*self.0, name, AtFlags::empty()));
        let _ = unlinkat(&*self.0, &fresh, AtFlags::empty());
        linked.map(|()| file)
    }
}

enum Known {
    None,
    Other,
    Same(File, u64),
}

fn raw(file: &File) -> i32 {
    use std::os::fd::AsRawFd;
    file.as_fd().as_raw_fd()
}

/// The records, and then the header that makes them valid. From then on it is locked.
fn fill(file: &File, start: &[u8]) -> Result<(), Errno> {
    // The umask may have taken rights of its own user's.
    fchmod(file, Mode::from_raw_mode(0o600))?;
    flock(file, FlockOperation::NonBlockingLockExclusive)?;
    let put = |from: usize, to: usize| {
        let written = file.write_all_at(&start[from..to], from as u64);
        written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    };
    put(HEADER_SIZE, start.len())?;
    put(0, HEADER_SIZE)
}

/// A log that another sender writes is not given to this one, in this process or another.
fn lock(file: &File, claim: impl Fn(&File) -> Result<(), String>) -> Result<(), String> {
    let try_lock = || flock(file, FlockOperation::NonBlockingLockExclusive);
    match try_lock() {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => {
            claim(file)?;
            try_lock().map_err(|_| "another sender sends this log".to_owned())
        }
        Err(error) => Err(io::Error::from(error).to_string()),
    }
}

/// What a file of the folder is of.
pub fn begins(file: &File) -> Option<About> {
    let mut start = vec![0; MOST_DATA];
    let mut done = 0;
    while let Ok(count @ 1..) = file.read_at(&mut start[done..], done as u64) {
        done += count;
    }
    about(&start[..done])
}

fn refused(error: Errno) -> Refusal {
    let why = match error {
        Errno::NOSPC | Errno::DQUOT | Errno::MFILE | Errno::NFILE => Why::Full,
        _ => Why::Never,
    };
    (why, io::Error::from(error).to_string())
}

/// A plain name without `.memlog`, whatever a sender says.
fn stem_of(name: &[u8]) -> String {
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let text = last.iter().map(|&byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte),
        b'.' | b'-' | b'_' | b'+' | b'=' | b'@' | b',' | b'%' => char::from(byte),
        _ => '_',
    });
    let text: String = text.collect();
    let stem = text.strip_suffix(ENDING).unwrap_or(&text);
    // Neither hidden nor an option.
    let stem = stem.trim_start_matches(['.', '-']);
    match &stem[..stem.len().min(LONGEST)] {
        "" => "log".into(),
        stem => stem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_whatever_was_said() {
        for (said, got) in [
            (&b"vm.7748.memlog"[..], "vm.7748"),
            (b"../../etc/passwd", "passwd"),
            (b"/etc/cron.d/x.memlog", "x"),
            (b"..", "log"),
            (b"", "log"),
            (b".memlog", "log"),
            (b".bashrc", "bashrc"),
            (b"-rf.memlog", "rf"),
            (b"a\0b\n\x1b[31m\xff.memlog", "a_b___31m_"),
            (b"a/", "log"),
            (b"$(rm).memlog", "__rm_"),
        ] {
            assert_eq!(stem_of(said), got, "{said:?}");
        }
        assert_eq!(stem_of(&[b'x'; 4000]).len(), LONGEST);
    }
}
