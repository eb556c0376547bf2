//! One file, whole or not at all. What an earlier run left is replaced; a link,
//! a device, and a file that is read-only or another's are not. Who may read the
//! log may read it, and nobody else.

use std::fs::{self, File, Metadata};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use memlog_export::shown;
use memlog_pages::Advice;

use crate::files::check;
use crate::fresh::{Fresh, remove_abandoned};
use crate::signals::Signals;

/// A file that is to be written.
pub struct OneFile {
    path: PathBuf,
    /// Who may read and write it.
    mode: u32,
    /// What to do where it cannot be put there.
    elsewhere: &'static str,
    /// Whether what lies there stays.
    is_kept: bool,
}

impl OneFile {
    /// Looks whether it may be put there. `elsewhere` says how another name is given.
    pub fn prepare(path: &Path, log: &Path, elsewhere: &'static str) -> anyhow::Result<Self> {
        let log = fs::metadata(log);
        let is_it = |log: &Metadata| {
            fs::metadata(path).is_ok_and(|it| (it.dev(), it.ino()) == (log.dev(), log.ino()))
        };
        if log.as_ref().is_ok_and(is_it) {
            return Err(Advice::error(
                format!("{} is what is read, and would be lost", shown(path)),
                elsewhere,
            ));
        }
        let log_mode = log.map_or(0, |found| found.permissions().mode());
        Self::with_mode(path, log_mode, elsewhere)
    }

    /// The same of what is of several logs: `mode` is who may read them all.
    pub fn with_mode(path: &Path, mode: u32, elsewhere: &'static str) -> anyhow::Result<Self> {
        check(path, elsewhere)?;
        let file = Self {
            path: path.to_owned(),
            mode: mode & 0o666 | 0o600,
            elsewhere,
            is_kept: false,
        };
        remove_abandoned(file.folder());
        // A folder without permission or room is told now.
        file.fresh(&[]).map_err(|error| file.unwritable(&error))?;
        Ok(file)
    }

    /// It is not put in the place of another, even of one that comes meanwhile.
    pub fn where_none_is(self) -> Self {
        Self {
            is_kept: true,
            ..self
        }
    }

    /// Gives a file its name.
    fn place(&self, fresh: &Fresh) -> std::io::Result<()> {
        if self.is_kept {
            // Of all calls this one alone refuses where a name is taken.
            match fs::hard_link(&fresh.0, &self.path) {
                Err(error) if self.path.symlink_metadata().is_ok() => return Err(error),
                // Some file systems have one name for a file.
                Err(_) => {}
                linked => return linked,
            }
        }
        fs::rename(&fresh.0, &self.path)
    }

    /// Puts it in place.
    pub fn write(&self, content: &[u8]) -> anyhow::Result<()> {
        Signals::caught().held_during(|| self.write_anew(content))
    }

    /// The same again and again, for who has an answer of its own to signals.
    pub fn write_anew(&self, content: &[u8]) -> anyhow::Result<()> {
        check(&self.path, self.elsewhere)?;
        let fresh = self.fresh(content);
        let fresh = fresh.map_err(|error| self.unwritable(&error))?;
        self.place(&fresh).map_err(|error| self.unwritable(&error))
    }

    /// The same of what is made as it is written, and may be long.
    pub fn write_by<T>(
        &self,
        make: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let unwritable = |error: std::io::Error| self.unwritable(&error);
        let (fresh, file) = Fresh::begin(self.folder(), self.mode).map_err(unwritable)?;
        let mut told = Told {
            file: &file,
            failed: None,
        };
        let made = make(&mut told);
        if let Some(error) = told.failed {
            return Err(unwritable(error));
        }
        let made = made?;
        file.sync_data().map_err(unwritable)?;
        Signals::caught().held_during(|| {
            check(&self.path, self.elsewhere)?;
            self.place(&fresh).map_err(unwritable)
        })?;
        Ok(made)
    }

    fn fresh(&self, content: &[u8]) -> std::io::Result<Fresh> {
        Fresh::write(self.folder(), self.mode, content)
    }

    fn folder(&self) -> &Path {
        let above = self.path.parent();
        let above = above.filter(|above| !above.as_os_str().is_empty());
        above.unwrap_or(Path::new("."))
    }

    fn unwritable(&self, error: &std::io::Error) -> anyhow::Error {
        Advice::error(
            format!("{} cannot be written: {error}", shown(&self.path)),
            self.elsewhere,
        )
    }
}

/// A file, and why it could not be written.
struct Told<'f> {
    file: &'f File,
    failed: Option<std::io::Error>,
}

impl Write for Told<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes).inspect_err(|error| {
            let same = error.raw_os_error().map(std::io::Error::from_raw_os_error);
            // What a signal interrupts is tried again.
            if error.kind() != std::io::ErrorKind::Interrupted {
                self.failed = same.or(Some(error.kind().into()));
            }
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
