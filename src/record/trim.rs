//! Files of logs that seem longer than the log, cut to its length.

use std::fs::{File, OpenOptions};
use std::io;

use memlog_pages::extent_of;

use crate::os;

/// Cuts off what its program left behind a log: one that was killed, or may not
/// open its log any more. Not while anybody may write to it. `open` opens it
/// as it is asked; `is_gone`: its process is known to be; `has_end`: it ended
/// in order. Then those of its children that have the log in memory still have
/// no use but for the first chunk.
pub fn trim(
    open: impl Fn(&mut OpenOptions) -> io::Result<File>,
    is_gone: bool,
    has_end: bool,
) -> io::Result<()> {
    trim_where(open, is_gone, has_end, os::knows_its_writers)
}

/// The same with another answer to whether all its writers are known.
fn trim_where(
    open: impl Fn(&mut OpenOptions) -> io::Result<File>,
    is_gone: bool,
    has_end: bool,
    knows_its_writers: fn(&File) -> io::Result<bool>,
) -> io::Result<()> {
    let file = open(OpenOptions::new().read(true))?;
    let is_sure = is_gone || knows_its_writers(&file)?;
    let may_be_written = || !(is_gone && has_end) && os::may_be_written(&file);
    if !is_sure || !extent_of(&file)?.is_ahead() || may_be_written() {
        return Ok(());
    }
    open(OpenOptions::new().write(true))?.set_len(extent_of(&file)?.bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use memlog_format::chunk::{CHUNK_SIZE, MAGIC};

    use super::*;

    /// A log of one chunk, in a file that seems to be longer.
    fn log(path: &Path) -> File {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).unwrap();
        file.write_all_at(&MAGIC, 0).unwrap();
        file.set_len(64 << 20).unwrap();
        file
    }

    #[test]
    fn nothing_goes_while_it_is_open_for_writing() {
        let path = std::env::temp_dir().join(format!("open.{}", std::process::id()));
        let file = log(&path);
        let trim = || super::trim(|options| options.open(&path), true, false);
        trim().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 64 << 20);
        drop(file);
        trim().unwrap();
        assert_eq!(path.metadata().unwrap().len(), CHUNK_SIZE as u64);
        std::fs::remove_file(path).unwrap();
    }

    /// Children that have the log in memory keep nobody from cutting it.
    #[test]
    fn who_ended_in_order_needs_no_more_of_its_log() {
        let path = std::env::temp_dir().join(format!("ended.{}", std::process::id()));
        let file = log(&path);
        let length = || file.metadata().unwrap().len();
        for (is_gone, has_end) in [(false, true), (true, false), (false, false)] {
            trim_where(
                |options| options.open(&path),
                is_gone,
                has_end,
                |_| Ok(true),
            )
            .unwrap();
            assert_eq!(length(), 64 << 20, "{is_gone} {has_end}");
        }
        trim(|options| options.open(&path), true, true).unwrap();
        assert_eq!(length(), CHUNK_SIZE as u64);
        std::fs::remove_file(path).unwrap();
    }

    /// On another machine somebody may have it open.
    #[test]
    fn a_log_that_unknown_ones_may_write_to_stays() {
        let path = std::env::temp_dir().join(format!("unknown.{}", std::process::id()));
        drop(log(&path));
        let open = |options: &mut OpenOptions| options.open(&path);
        let length = || path.metadata().unwrap().len();
        trim_where(open, false, true, |_| Ok(false)).unwrap();
        assert_eq!(length(), 64 << 20);
        trim_where(open, false, true, |_| Ok(true)).unwrap();
        assert_eq!(length(), CHUNK_SIZE as u64);
        std::fs::remove_file(path).unwrap();
        let is_known = |path: &str| os::knows_its_writers(&File::open(path).unwrap()).unwrap();
        assert!(!is_known("/proc/self/status"));
    }
}
