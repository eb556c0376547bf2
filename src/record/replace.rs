//! What `--force` takes away before the program starts: a log of that name, or
//! an empty file, to which nobody writes any more.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use memlog_pages::{Advice, shown};

use super::log::{self, Log};
use crate::os;

/// Removes what lies at a path. Whether there was anything.
pub fn clear(path: &Path) -> anyhow::Result<bool> {
    let removed = match look(path)? {
        Lies::Nothing => return Ok(false),
        Lies::Empty(id) => log::remove(path, id),
        Lies::Log(log) => log.remove(),
    };
    match removed {
        Ok(()) => Ok(true),
        Err(error) => Err(refused(path, &error.to_string())),
    }
}

/// Whether [`clear`] would remove what lies there, or there is nothing.
pub fn check(path: &Path) -> anyhow::Result<()> {
    look(path).map(drop)
}

/// What may be replaced.
enum Lies {
    Nothing,
    /// A file of no bytes: its device and number.
    Empty((u64, u64)),
    Log(Box<Log>),
}

fn look(path: &Path) -> anyhow::Result<Lies> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(Lies::Nothing);
    };
    let refused = |why: &str| Err(refused(path, why));
    match (found.is_file(), found.len()) {
        (false, _) => refused("it is no regular file"),
        (true, 0) => match may_be_written(path) {
            Ok(false) => Ok(Lies::Empty((found.dev(), found.ino()))),
            Ok(true) => refused("it is empty, and a process has it open to write"),
            Err(error) => refused(&error.to_string()),
        },
        (true, _) => match Log::read(path, None) {
            Ok(Some(log)) if is_written(&log) => {
                refused(&format!("process {} may still write to it", log.pid))
            }
            Ok(Some(log)) => Ok(Lies::Log(Box::new(log))),
            Ok(None) => refused("it is no log of memlog"),
            Err(error) => refused(&error.to_string()),
        },
    }
}

fn refused(path: &Path, why: &str) -> anyhow::Error {
    let hint = "choose another name with -o PATTERN, or move that file away";
    Advice::error(
        format!("--force does not replace {}: {why}", shown(path)),
        hint,
    )
}

/// Whether anybody may still write to a log. Where the kernel does not know all
/// its writers, one that says how its process went has none.
fn is_written(log: &Log) -> bool {
    let file = log.reopen(&mut OpenOptions::new());
    let is_over = |file: &File| log.is_over || os::knows_its_writers(file).unwrap_or(false);
    !file.is_ok_and(|file| is_over(&file) && !os::may_be_written(&file))
}

fn may_be_written(path: &Path) -> io::Result<bool> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    Ok(os::may_be_written(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_log_that_nobody_writes_or_nothing_goes() {
        let place = std::env::temp_dir().join(format!("replace.{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let (golden, path) = (
            concat!(env!("CARGO_MANIFEST_DIR"), "/golden/v1/tiny.memlog"),
            place.join("log"),
        );
        let why = || clear(&path).unwrap_err().to_string();
        assert!(!clear(&path).unwrap());
        for is_log in [true, false] {
            match is_log {
                true => fs::copy(golden, &path).map(drop).unwrap(),
                false => fs::write(&path, "").unwrap(),
            }
            let writer = OpenOptions::new().write(true).open(&path).unwrap();
            assert!(why().contains(" write"), "{}", why());
            drop(writer);
            assert!(clear(&path).unwrap() && !path.exists());
        }
        fs::write(&path, "a program's own").unwrap();
        assert!(why().ends_with(": it is no log of memlog"), "{}", why());
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(golden, &path).unwrap();
        assert!(why().ends_with(": it is no regular file"), "{}", why());
        fs::remove_dir_all(place).unwrap();
    }
}
