//! One file, whole or not at all. What an earlier run left is replaced; a link,
//! a device, and a file that is read-only or another's are not. Who may read the
//! log may read it, and nobody else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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
}

impl OneFile {
    /// Looks whether it may be put there. `elsewhere` says how another name is given.
    pub fn prepare(path: &Path, log: &Path, elsewhere: &'static str) -> anyhow::Result<Self> {
        check(path, elsewhere)?;
        let log_mode = fs::metadata(log).map_or(0, |found| found.permissions().mode());
        let file = Self {
            path: path.to_owned(),
            mode: log_mode & 0o666 | 0o600,
            elsewhere,
        };
        remove_abandoned(file.folder());
        // A folder without permission or room is told now.
        file.fresh(&[]).map_err(|error| file.unwritable(&error))?;
        Ok(file)
    }

    /// Puts it in place.
    pub fn write(&self, content: &[u8]) -> anyhow::Result<()> {
        Signals::caught().held_during(|| {
            check(&self.path, self.elsewhere)?;
            let fresh = self.fresh(content);
            let fresh = fresh.map_err(|error| self.unwritable(&error))?;
            fs::rename(&fresh.0, &self.path).map_err(|error| self.unwritable(&error))
        })
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
