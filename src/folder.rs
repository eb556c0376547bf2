//! A folder that files are written into, and none outside of it: each step of a name is
//! taken from the folder before, and no link is followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use memlog_pages::{Advice, shown};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Such a folder, open.
pub struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

const ELSEWHERE: &str = "give another folder: --output DIR";

impl Folder {
    /// The folder of a name, which has to be there.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(path, flags, Mode::empty()).map_err(|error| {
            let error = io::Error::from(error);
            Advice::error(format!("{}: {error}", shown(path)), ELSEWHERE)
        })?;
        Ok(Self {
            root,
            path: path.to_owned(),
        })
    }

    /// A name in it, as it is told.
    pub fn told(&self, path: &Path) -> String {
        match self.path == Path::new(".") {
            true => shown(path),
            false => shown(&self.path.join(path)),
        }
    }

    /// Makes a folder in it, and those above.
    pub fn make(&self, path: &Path) -> Result<(), String> {
        let walked = self.walk(path, true);
        walked.map(drop).map_err(|error| self.said(path, error))
    }

    /// Whether there is such a folder.
    pub fn has(&self, path: &Path) -> bool {
        self.walk(path, false).is_ok()
    }

    fn walk(&self, path: &Path, makes: bool) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let step = |at: &OwnedFd, name: &OsStr| openat(at, name, flags, Mode::empty());
        let mut at = step(&self.root, OsStr::new("."))?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(Errno::INVAL);
            };
            at = match step(&at, name) {
                Err(Errno::NOENT) if makes => {
                    match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => step(&at, name)?,
                        Err(error) => return Err(error),
                    }
                }
                walked => walked?,
            };
        }
        Ok(at)
    }

    /// Writes a file in it. What lies there is replaced if it is a file of this user's,
    /// without another name. `mode` is who may read and write it.
    pub fn write(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), String> {
        let said = |error: Errno| self.said(path, error);
        let Some(name) = path.file_name() else {
            return Err(said(Errno::ISDIR));
        };
        let above = path.parent().unwrap_or(Path::new(""));
        let folder = self.walk(above, false).map_err(said)?;
        self.check(&folder, path, name)?;
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let fresh = format!(".memlog-{}-{count}.tmp", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(mode & 0o666 | 0o600);
        let file = openat(&folder, &fresh, flags | OFlags::CLOEXEC, mode).map_err(said)?;
        let written = File::from(file).write_all(content);
        let placed = written.and_then(|()| Ok(renameat(&folder, &fresh, &folder, name)?));
        placed.map_err(|error| {
            let _ = unlinkat(&folder, &fresh, AtFlags::empty());
            format!("{} cannot be written: {error}", self.told(path))
        })
    }

    fn check(&self, folder: &OwnedFd, path: &Path, name: &OsStr) -> Result<(), String> {
        let found = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            found => found.map_err(|error| self.said(path, error))?,
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        let why = match kind {
            FileType::Symlink => "it is a link, and stays",
            FileType::RegularFile if found.st_uid != geteuid().as_raw() => {
                "it belongs to somebody else"
            }
            FileType::RegularFile if found.st_nlink > 1 => "it has another name too",
            FileType::RegularFile => return Ok(()),
            _ => "it is there, and no file",
        };
        Err(format!("{} is not replaced: {why}", self.told(path)))
    }

    fn said(&self, path: &Path, error: Errno) -> String {
        let why = match error {
            // What the kernel says of a link that is not to be followed.
            Errno::LOOP => "a link is on the way".to_owned(),
            Errno::NOTDIR => "on the way is what is no folder, or a link".to_owned(),
            error => io::Error::from(error).to_string(),
        };
        format!("{} cannot be written: {why}", self.told(path))
    }
}
