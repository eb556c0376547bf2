//! Which files are logs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memlog_format::chunk::MAGIC;

/// Whether the file starts as a log does.
pub fn has_magic(path: &Path) -> bool {
    begins_with(path, &MAGIC)
}

/// Whether the file starts with these bytes.
pub fn begins_with<const N: usize>(path: &Path, magic: &[u8; N]) -> bool {
    let mut start = [0; N];
    path.is_file()
        && File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
        && start == *magic
}
