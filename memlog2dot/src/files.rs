//! The files that are written: two sets, text and drawings, each there as a
//! whole or not at all.
//!
//! * What an earlier run left is replaced. A link, a device, and a file that is
//!   read-only or another's are not: somebody meant them to stay.
//! * Where new text is put in place old drawings go: they would be of another
//!   moment.
//! * Who may read the log may read them, and nobody else.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use memlog_export::{quoted, shown};

use crate::Trouble;

/// The page, which needs no drawing.
const TEXT: [&str; 2] = ["dot", "txt"];
/// The picture in three forms.
const DRAWINGS: [&str; 3] = ["ps", "pdf", "svg"];

/// Where a log's files go.
pub(crate) struct Outputs {
    folder: PathBuf,
    /// The log's own, without its folder.
    name: OsString,
    /// Who may read and write them.
    mode: u32,
}

impl Outputs {
    /// Makes the folder and looks whether the files may be put there.
    pub(crate) fn prepare(folder: &Path, log: &Path) -> anyhow::Result<Self> {
        let Some(name) = log.file_name() else {
            return Err(Trouble::error(
                format!("{} has no file name", shown(log)),
                "give the .memlog file that `memlog record` named",
            ));
        };
        fs::create_dir_all(folder).map_err(|error| unmakable(folder, &error))?;
        let log_mode = fs::metadata(log).map_or(0, |found| found.permissions().mode());
        let outputs = Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            mode: log_mode & 0o666 | 0o600,
        };
        for ending in TEXT.iter().chain(&DRAWINGS) {
            check(&outputs.path(ending))?;
        }
        // A folder without permission or room is told now.
        outputs
            .write_new(&[])
            .and_then(fs::remove_file)
            .map_err(|error| outputs.unwritable(&error))?;
        Ok(outputs)
    }

    /// `FOLDER/NAME.ENDING`
    pub(crate) fn path(&self, ending: &str) -> PathBuf {
        let mut name = self.name.clone();
        name.push(".");
        name.push(ending);
        match self.folder == Path::new(".") {
            true => PathBuf::from(name),
            false => self.folder.join(name),
        }
    }

    /// Puts files in place, by their endings: all of them, or, where one cannot
    /// be written, none, and what was there stays. Nobody sees half a file.
    pub(crate) fn write(&self, set: &[(&str, &[u8])]) -> anyhow::Result<()> {
        let mut fresh = Fresh(Vec::new());
        for (ending, content) in set {
            let path = self.path(ending);
            check(&path)?;
            let new = self.write_new(content);
            fresh
                .0
                .push((new.map_err(|error| self.failed(&path, &error))?, path));
        }
        if set.iter().any(|(ending, _)| TEXT.contains(ending)) {
            self.remove_drawings()?;
        }
        for (new, path) in &fresh.0 {
            fs::rename(new, path).map_err(|error| self.failed(path, &error))?;
        }
        Ok(())
    }

    fn remove_drawings(&self) -> anyhow::Result<()> {
        for path in DRAWINGS.map(|ending| self.path(ending)) {
            check(&path)?;
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(self.failed(&path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A file under a name of its own.
    fn write_new(&self, content: &[u8]) -> io::Result<PathBuf> {
        let mut number = 0;
        let (path, mut file) = loop {
            let name = format!(".memlog2dot.{}.{number}", std::process::id());
            let path = self.folder.join(name);
            match create(&path, self.mode) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        };
        // Some file systems say only then that there was no room.
        let written = file.write_all(content).and_then(|()| file.sync_data());
        written.inspect_err(|_| forget(&path)).map(|()| path)
    }

    fn failed(&self, path: &Path, error: &io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::error(
                format!("{} cannot be written: {error}", shown(path)),
                "make room there, or give another folder: memlog2dot FILE DIR",
            ),
            _ => self.unwritable(error),
        }
    }

    fn unwritable(&self, error: &io::Error) -> anyhow::Error {
        let folder = shown(&self.folder);
        Trouble::error(
            format!("no file can be written in the folder {folder}: {error}"),
            "give a folder where you may write: memlog2dot FILE DIR",
        )
    }
}

/// Files under names of their own, and the names that they are to get; those
/// that did not get them go.
struct Fresh(Vec<(PathBuf, PathBuf)>);

impl Drop for Fresh {
    fn drop(&mut self) {
        for (new, _) in &self.0 {
            forget(new);
        }
    }
}

/// Whether what is there may be replaced.
fn check(path: &Path) -> anyhow::Result<()> {
    let Ok(found) = path.symlink_metadata() else {
        return Ok(());
    };
    if !found.is_file() {
        return Err(Trouble::error(
            format!("{} is there and is not a regular file", shown(path)),
            "move it away, or give another folder: memlog2dot FILE DIR",
        ));
    }
    // To root all files are writable: the mode is what was meant.
    let is_kept =
        found.permissions().readonly() || OpenOptions::new().write(true).open(path).is_err();
    match is_kept {
        true => Err(Trouble::error(
            format!("{} is there and you may not write to it", shown(path)),
            format!(
                "see `ls -l {}`: chmod u+w lets it be replaced; or give another folder: memlog2dot \
                 FILE DIR",
                quoted(path)
            ),
        )),
        false => Ok(()),
    }
}

fn unmakable(folder: &Path, error: &io::Error) -> anyhow::Error {
    let name = shown(folder);
    match folder.exists() {
        true => Trouble::error(
            format!("{name} is there and is not a folder"),
            "the second name is where the files go; to choose among logs quote a pattern, as in \
             memlog2dot '*.memlog'",
        ),
        false => Trouble::error(
            format!("the folder {name} cannot be made: {error}"),
            "give another folder: memlog2dot FILE DIR",
        ),
    }
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode).open(path)
}

/// What cannot be removed stays: the error that led here is the one to tell.
fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}
