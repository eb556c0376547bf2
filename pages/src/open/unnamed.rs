//! Files that go with the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A file without a name in a folder: nobody else can open it.
pub fn unnamed(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let made = options.clone().custom_flags(libc::O_TMPFILE).open(folder);
    made.or_else(|_| {
        // Some file systems have none without a name.
        let path = folder.join(format!(".memlog.{}", std::process::id()));
        let file = options.create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    })
}
