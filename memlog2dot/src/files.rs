//! The files that are written: two sets, text and drawings, each there as a
//! whole or not at all.
//!
//! * What an earlier run left is replaced. A link, a device, and a file that is
//!   read-only or another's are not: somebody meant them to stay.
//! * Where new text is put in place the old drawings go that are to be replaced:
//!   they would be of another moment.
//! * A folder that was made for them goes if none comes into it.
//! * Who may read the log may read them, and nobody else.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memlog_export::{quoted, shown};
use memlog_pages::Advice;

use crate::args::Format;
use crate::fresh::{Fresh, remove_abandoned};
use crate::signals::Signals;

/// Where a log's files go.
pub(crate) struct Outputs {
    folder: PathBuf,
    /// The log's own, without its folder.
    name: OsString,
    /// Which ones.
    formats: Vec<Format>,
    /// Who may read and write them.
    mode: u32,
    /// The folders that were not there before, the innermost first.
    made_folders: Vec<PathBuf>,
    signals: Signals,
}

impl Outputs {
    /// Makes the folder and looks whether the files may be put there.
    pub(crate) fn prepare(folder: &Path, log: &Path, formats: Vec<Format>) -> anyhow::Result<Self> {
        let Some(name) = log.file_name() else {
            return Err(Advice::error(
                format!("{} has no file name", shown(log)),
                "give the .memlog file that `memlog record` named",
            ));
        };
        let made_folders = make(folder).map_err(|error| unmakable(folder, &error))?;
        let log_mode = fs::metadata(log).map_or(0, |found| found.permissions().mode());
        let outputs = Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            formats,
            mode: log_mode & 0o666 | 0o600,
            made_folders,
            signals: Signals::caught(),
        };
        for &format in &outputs.formats {
            check(&outputs.path(format), ELSEWHERE)?;
        }
        remove_abandoned(folder);
        // A folder without permission or room is told now.
        let tried = outputs
            .signals
            .held_during(|| outputs.write_new(&[]).map(drop));
        tried.map_err(|error| outputs.unwritable(&error))?;
        Ok(outputs)
    }

    /// `FOLDER/NAME.ENDING`
    pub(crate) fn path(&self, format: Format) -> PathBuf {
        let mut name = self.name.clone();
        name.push(".");
        name.push(format.ending());
        match self.folder == Path::new(".") {
            true => PathBuf::from(name),
            false => self.folder.join(name),
        }
    }

    /// Those that are written, in their order.
    pub(crate) fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// Puts files in place. Where one cannot be written none
    /// is, and what was there stays; where one cannot be put in place, as in a
    /// sticky folder over another's, the error says what is new by then. Nobody
    /// sees half a file.
    pub(crate) fn write(&self, set: &[(Format, Vec<u8>)]) -> anyhow::Result<()> {
        self.signals.held_during(|| self.put(set))
    }

    fn put(&self, set: &[(Format, Vec<u8>)]) -> anyhow::Result<()> {
        let mut fresh = Vec::new();
        for (format, content) in set {
            let path = self.path(*format);
            check(&path, ELSEWHERE)?;
            let new = self.write_new(content);
            fresh.push((new.map_err(|error| self.failed(&path, &error))?, path));
        }
        if set.iter().any(|(format, _)| format.is_text()) {
            self.remove_drawings()?;
        }
        let mut placed: Vec<&Path> = Vec::new();
        for (Fresh(new), path) in &fresh {
            fs::rename(new, path).map_err(|error| unplaced(path, &error, &placed))?;
            placed.push(path);
        }
        Ok(())
    }

    fn remove_drawings(&self) -> anyhow::Result<()> {
        let drawings = self.formats.iter().filter(|format| !format.is_text());
        for path in drawings.map(|&format| self.path(format)) {
            check(&path, ELSEWHERE)?;
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unplaced(&path, &error, &[]));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A file under a name of its own.
    fn write_new(&self, content: &[u8]) -> io::Result<Fresh> {
        Fresh::write(&self.folder, self.mode, content)
    }

    fn failed(&self, path: &Path, error: &io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Advice::error(
                format!("{} cannot be written: {error}", shown(path)),
                "make room there, or give another folder: memlog2dot FILE DIR",
            ),
            _ => self.unwritable(error),
        }
    }

    fn unwritable(&self, error: &io::Error) -> anyhow::Error {
        let folder = shown(&self.folder);
        Advice::error(
            format!("no file can be written in the folder {folder}: {error}"),
            "give a folder where you may write: memlog2dot FILE DIR",
        )
    }
}

/// A folder made for files that never came goes again; one that holds anything
/// cannot.
impl Drop for Outputs {
    fn drop(&mut self) {
        for folder in &self.made_folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes a folder and says which ones that took, the innermost first.
fn make(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |folder: &&Path| !folder.as_os_str().is_empty();
    let missing = folder.ancestors().filter(named);
    let missing = missing.take_while(|folder| folder.symlink_metadata().is_err());
    let missing: Vec<_> = missing.map(Path::to_owned).collect();
    fs::create_dir_all(folder)?;
    Ok(missing)
}

/// What to do where nothing can be put.
const ELSEWHERE: &str = "give another folder: memlog2dot FILE DIR";

/// Whether what is there may be replaced; `elsewhere` is what to do else.
pub(crate) fn check(path: &Path, elsewhere: &str) -> anyhow::Result<()> {
    let Ok(found) = path.symlink_metadata() else {
        return Ok(());
    };
    if !found.is_file() {
        return Err(Advice::error(
            format!("{} is there and is not a regular file", shown(path)),
            format!("move it away, or {elsewhere}"),
        ));
    }
    // To root all files are writable: the mode is what was meant.
    let is_kept =
        found.permissions().readonly() || OpenOptions::new().write(true).open(path).is_err();
    match is_kept {
        true => Err(Advice::error(
            format!("{} is there and you may not write to it", shown(path)),
            format!(
                "see `ls -l {}`: chmod u+w lets it be replaced; or {elsewhere}",
                quoted(path)
            ),
        )),
        false => Ok(()),
    }
}

/// What is there cannot give way to what was written.
fn unplaced(path: &Path, error: &io::Error, placed: &[&Path]) -> anyhow::Error {
    let placed: Vec<_> = placed.iter().map(shown).collect();
    let already = match placed.is_empty() {
        true => String::new(),
        false => format!("; new by then: {}", placed.join(", ")),
    };
    Advice::error(
        format!("{} cannot be replaced: {error}{already}", shown(path)),
        "remove it, or give another folder: memlog2dot FILE DIR",
    )
}

fn unmakable(folder: &Path, error: &io::Error) -> anyhow::Error {
    let name = shown(folder);
    match folder.exists() {
        true => Advice::error(
            format!("{name} is there and is not a folder"),
            "the second name is where the files go; to choose among logs quote a pattern, as in \
             memlog2dot '*.memlog'",
        ),
        false => Advice::error(
            format!("the folder {name} cannot be made: {error}"),
            "give another folder: memlog2dot FILE DIR",
        ),
    }
}
