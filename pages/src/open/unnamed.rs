//! Files that go with the process.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file without a name in a folder: nobody else can open it.
pub fn unnamed(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let made = options.clone().custom_flags(libc::O_TMPFILE).open(folder);
    // Some file systems have none without a name.
    made.or_else(|_| named_for_now(folder, &options))
}

/// Names that are tried: a process of our number in another container may have one.
const TRIES: u32 = 100;

/// It loses its name at once. Threads make theirs at the same time.
fn named_for_now(folder: &Path, options: &OpenOptions) -> io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut taken = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..TRIES {
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!(".memlog.{process}.{number}"));
        match options.clone().create_new(true).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another file has the name, and threads come at once.
    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let folder = std::env::temp_dir().join(format!("memlog-unnamed-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("mkdir");
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        for number in 0..8 {
            let name = format!(".memlog.{}.{number}", std::process::id());
            std::fs::write(folder.join(name), "x").expect("written");
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        named_for_now(&folder, &options).expect("a file");
                    }
                });
            }
        });
        let left = std::fs::read_dir(&folder).expect("a folder").count();
        assert_eq!(left, 8);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
