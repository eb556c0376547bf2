//! Packed logs: what is in them lies in files without names while it is read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use memlog_pack::archive::{self, MAGIC};

use super::magic::begins_with;
use super::unnamed::unnamed;
use crate::words::shown;

/// Whether the file is a packed log.
pub fn is_packed(path: &Path) -> bool {
    let first = |file| {
        archive::read(
            BufReader::new(file),
            |_, _| Err(io::ErrorKind::Other.into()),
        )
    };
    // It is one as soon as a log in it is to be read.
    begins_with(path, &MAGIC)
        && File::open(path).is_ok_and(|file| !matches!(first(file), Ok(false)))
}

/// The logs in a packed file, each in a file of its own; none if it is no packed one.
pub fn unpacked(file: &File) -> io::Result<Vec<File>> {
    let mut start = [0; MAGIC.len()];
    if !matches!(file.read_at(&mut start, 0), Ok(count) if count == start.len()) || start != MAGIC {
        return Ok(Vec::new());
    }
    let mut logs = Vec::new();
    let whole = archive::read(BufReader::new(file), |_, content| {
        logs.push(spooled(content)?);
        Ok(())
    })?;
    Ok(if whole { logs } else { Vec::new() })
}

/// A file that has no name, with that content.
fn spooled(content: &mut dyn Read) -> io::Result<File> {
    let folder = std::env::temp_dir();
    let told = |error: io::Error| {
        let sentence = format!(
            "it is packed, and there is no room to unpack it in {}: {error}",
            shown(&folder)
        );
        io::Error::new(error.kind(), sentence)
    };
    let mut file = unnamed(&folder).map_err(told)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match content.read(&mut buffer)? {
            0 => break,
            count => file.write_all(&buffer[..count]).map_err(told)?,
        }
    }
    file.rewind()?;
    Ok(file)
}
