//! Files under names of their own, `.memlog2dot.PID.NUMBER`, until they are
//! whole and get the names that they are for.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = ".memlog2dot.";

/// A process of another machine, which is none here, is writing to a younger one
/// perhaps, or reads a long log for it.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Goes if nobody gives it another name.
pub(crate) struct Fresh(pub(crate) PathBuf);

impl Fresh {
    /// Of nothing yet.
    pub(crate) fn begin(folder: &Path, mode: u32) -> io::Result<(Self, File)> {
        let mut number = 0;
        loop {
            let path = folder.join(format!("{PREFIX}{}.{number}", std::process::id()));
            match create(&path, mode) {
                Ok(file) => return Ok((Self(path), file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Of this content, on the disk.
    pub(crate) fn write(folder: &Path, mode: u32, content: &[u8]) -> io::Result<Self> {
        let (fresh, mut file) = Self::begin(folder, mode)?;
        // Some file systems say only then that there was no room.
        file.write_all(content).and_then(|()| file.sync_data())?;
        Ok(fresh)
    }
}

impl Drop for Fresh {
    /// What cannot be removed stays: the error that led here is the one to tell.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes what runs left here that were killed.
pub(crate) fn remove_abandoned(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if is_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let Some(pid) = path.file_name().and_then(writer) else {
        return false;
    };
    let found = path.symlink_metadata();
    // A process belongs to whom its folder in /proc does.
    let me = fs::metadata("/proc/self").map(|me| me.uid());
    let (Ok(found), Ok(me)) = (found, me) else {
        return false;
    };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok());
    let is_old = age.is_some_and(|age| age > ABANDONED);
    found.is_file() && found.uid() == me && is_old && !Path::new(&format!("/proc/{pid}")).exists()
}

/// The process in such a name.
fn writer(name: &OsStr) -> Option<u32> {
    let (pid, number) = name.to_str()?.strip_prefix(PREFIX)?.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let are_numbers = is_number(pid) && is_number(number) && !number.is_empty();
    are_numbers.then(|| pid.parse().ok())?
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode).open(path)
}
