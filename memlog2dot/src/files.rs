//! The files that are written: each is there as a whole or not at all, and
//! nothing else is ever replaced.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Trouble;

const ENDINGS: [&str; 5] = ["dot", "txt", "ps", "pdf", "svg"];

/// Where a log's files go.
pub(crate) struct Outputs {
    folder: PathBuf,
    /// The log's own, without its folder.
    name: OsString,
}

impl Outputs {
    /// Makes the folder and looks whether the files may be put there.
    pub(crate) fn prepare(folder: &Path, log: &Path) -> anyhow::Result<Self> {
        let Some(name) = log.file_name() else {
            return Err(Trouble::error(
                format!("{} has no file name", log.display()),
                "give the .memlog file that `memlog record` named",
            ));
        };
        fs::create_dir_all(folder).map_err(|error| unmakable(folder, &error))?;
        let outputs = Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
        };
        for ending in ENDINGS {
            outputs.check(&outputs.path(ending))?;
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

    /// A link or a device is not what an earlier run left.
    fn check(&self, path: &Path) -> anyhow::Result<()> {
        match path.symlink_metadata() {
            Ok(metadata) if !metadata.is_file() => Err(Trouble::error(
                format!("{} is there and is not a regular file", path.display()),
                "move it away, or give another folder: memlog2dot FILE DIR",
            )),
            _ => Ok(()),
        }
    }

    /// Writes beside and renames, so that no reader sees half a file.
    pub(crate) fn write(&self, ending: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.path(ending);
        self.check(&path)?;
        let done = self
            .write_new(content)
            .and_then(|new| fs::rename(&new, &path).inspect_err(|_| forget(&new)));
        done.map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Trouble::error(
                format!("{} cannot be written: {error}", path.display()),
                "make room there, or give another folder: memlog2dot FILE DIR",
            ),
            _ => self.unwritable(&error),
        })
    }

    /// A file under a name of its own.
    fn write_new(&self, content: &[u8]) -> io::Result<PathBuf> {
        let mut number = 0;
        let (path, mut file) = loop {
            let name = format!(".memlog2dot.{}.{number}", std::process::id());
            let path = self.folder.join(name);
            match create(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        };
        match file.write_all(content) {
            Ok(()) => Ok(path),
            Err(error) => {
                forget(&path);
                Err(error)
            }
        }
    }

    fn unwritable(&self, error: &io::Error) -> anyhow::Error {
        let folder = self.folder.display();
        Trouble::error(
            format!("no file can be written in the folder {folder}: {error}"),
            "give a folder where you may write: memlog2dot FILE DIR",
        )
    }
}

fn unmakable(folder: &Path, error: &io::Error) -> anyhow::Error {
    let shown = folder.display();
    match folder.exists() {
        true => Trouble::error(
            format!("{shown} is there and is not a folder"),
            "the second name is where the files go; to choose among logs quote a pattern, as in \
             memlog2dot '*.memlog'",
        ),
        false => Trouble::error(
            format!("the folder {shown} cannot be made: {error}"),
            "give another folder: memlog2dot FILE DIR",
        ),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// What cannot be removed stays: the error that led here is the one to tell.
fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}
