//! How long a log is, and how long its file seems: the recorder makes it longer
//! ahead of its use, and cuts off the rest when its program ends in order.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use memlog_format::chunk::{CHUNK_SIZE, MAGIC};
use memlog_format::counter::{AREA_END, Counter};
use memlog_read::Log;

use crate::system;

/// Two lengths of one file.
pub struct Extent {
    /// Bytes of the log.
    pub bytes: u64,
    /// Bytes of the file, of which the last may never have been written.
    pub seeming_bytes: u64,
}

impl Extent {
    /// Whether the file goes on behind the log.
    pub fn is_ahead(&self) -> bool {
        self.bytes < self.seeming_bytes
    }
}

/// Of an open log. Any other file is as long as it seems.
pub fn of(file: &File) -> io::Result<Extent> {
    let mut longest = u64::MAX;
    loop {
        let length = file.metadata()?.len();
        match looked_at(file) {
            // Its program has just ended, and cut it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && length < longest => {
                longest = length;
            }
            result => return result,
        }
    }
}

/// Whether these bytes of a log say how its program ended.
pub fn is_over(bytes: &[u8]) -> bool {
    Log::open(bytes).is_ok_and(|log| log.end().is_some() || log.death().is_some())
}

/// The same, and they lack chunks that it had by then: its length was looked at before.
pub fn lacks_end(bytes: &[u8]) -> bool {
    let given = Counter::Chunks.read(bytes);
    given > bytes.len().div_ceil(CHUNK_SIZE) as u64 && is_over(bytes)
}

fn looked_at(file: &File) -> io::Result<Extent> {
    let found = file.metadata()?;
    let seeming_bytes = found.len();
    let whole = Extent {
        bytes: seeming_bytes,
        seeming_bytes,
    };
    let mut start = [0; AREA_END];
    if found.blocks() * 512 >= seeming_bytes
        || file.read_exact_at(&mut start, 0).is_err()
        || !start.starts_with(&MAGIC)
    {
        return Ok(whole);
    }
    // What was given out may be a hole in a copy, and is part of the log.
    let given = Counter::Chunks.read(&start);
    let given = given.saturating_mul(CHUNK_SIZE as u64).min(seeming_bytes);
    let Ok(end) = system::end_of_data(file, given) else {
        return Ok(whole);
    };
    let bytes = end.next_multiple_of(CHUNK_SIZE as u64).min(seeming_bytes);
    let bytes = end_of_written(file, given, bytes)?;
    Ok(Extent { bytes, ..whole })
}

/// The end without the chunks behind what was given out that are all zeros: they
/// were made ready for the case that a filter came.
fn end_of_written(file: &File, given: u64, mut end: u64) -> io::Result<u64> {
    let mut chunk = vec![0; CHUNK_SIZE];
    while end > given {
        let start = (end - 1) / CHUNK_SIZE as u64 * CHUNK_SIZE as u64;
        let bytes = &mut chunk[..(end - start) as usize];
        file.read_exact_at(bytes, start)?;
        if bytes.iter().any(|&byte| byte != 0) {
            break;
        }
        end = start;
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::path::Path;

    use memlog_format::counter::AREA_AT;

    /// A log of two chunks of which three were given out, in a file that seems
    /// to be longer.
    fn log(path: &Path) -> File {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).unwrap();
        file.write_all_at(&MAGIC, 0).unwrap();
        let counter = (AREA_AT + 8 * Counter::Chunks as usize) as u64;
        file.write_all_at(&3u64.to_le_bytes(), counter).unwrap();
        file.write_all_at(b"more", CHUNK_SIZE as u64 + 100).unwrap();
        file.set_len(64 << 20).unwrap();
        file
    }

    #[test]
    fn a_log_ends_where_nothing_was_given_out() {
        let path = std::env::temp_dir().join(format!("extent.{}", std::process::id()));
        let file = log(&path);
        let extent = of(&file).unwrap();
        assert_eq!(extent.seeming_bytes, 64 << 20);
        assert_eq!(extent.bytes, 3 * CHUNK_SIZE as u64);
        // What lies behind all the same belongs to it.
        file.write_all_at(b"death", 5 * CHUNK_SIZE as u64).unwrap();
        assert_eq!(of(&file).unwrap().bytes, 6 * CHUNK_SIZE as u64);
        // Zeros that are no hole do not.
        file.write_all_at(&[0; 2 * CHUNK_SIZE], 6 * CHUNK_SIZE as u64)
            .unwrap();
        assert_eq!(of(&file).unwrap().bytes, 6 * CHUNK_SIZE as u64);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn another_file_is_as_long_as_it_seems() {
        let path = std::env::temp_dir().join(format!("other.{}", std::process::id()));
        let file = File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        drop(file);
        assert!(!of(&File::open(&path).unwrap()).unwrap().is_ahead());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_log_may_be_cut_meanwhile() {
        let path = std::env::temp_dir().join(format!("extent-cut.{}", std::process::id()));
        let file = log(&path);
        let ready = 200 * CHUNK_SIZE as u64;
        for round in 0..50 {
            file.set_len(64 << 20).unwrap();
            // Chunks of zeros, made ready: all of them are looked at.
            for at in (3 * CHUNK_SIZE as u64..ready).step_by(CHUNK_SIZE) {
                file.write_all_at(&[0; CHUNK_SIZE], at).unwrap();
            }
            std::thread::scope(|scope| {
                let cut = scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_micros(20 * round));
                    file.set_len(3 * CHUNK_SIZE as u64)
                });
                let extent = of(&file);
                cut.join().unwrap().unwrap();
                let bytes = extent.map(|extent| extent.bytes);
                assert_eq!(bytes.unwrap(), 3 * CHUNK_SIZE as u64, "round {round}");
            });
        }
        std::fs::remove_file(path).unwrap();
    }
}
