//! Names of code that programs made at run time: where its compilers write
//! them, and how they come into the log.
//!
//! Node.js writes `/tmp/perf-PID.map` with `--perf-basic-prof`, others a
//! `jit-PID.dump`. `record` keeps of both what the stacks need, for the files
//! do not stay; reading commands look for them where the log has no names.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memlog_format::meta::Key;
use memlog_read::Log;
use memlog_symbols::MadeNames;

/// No more of a file is read.
const MOST_BYTES: u64 = 256 << 20;
/// So long after the log's last change a compiler may still write, in seconds.
const LATE: i64 = 60;

/// What the compilers of this log's process wrote of the code in its stacks.
/// A file of another user's is not believed, nor one of another time: numbers
/// of processes come again.
pub fn found(log: &Log, file: &Path) -> Option<MadeNames> {
    let start = log.start()?;
    let is_here = log.text(Key::Host).is_none_or(|host| host == own_host());
    if !is_here {
        return None;
    }
    let of_log = std::fs::metadata(file).ok()?;
    let from = (start.wall_ns / 1_000_000_000) as i64 - 1;
    let times = from..of_log.mtime().saturating_add(LATE);
    let is_its =
        |path: &PathBuf| -> Option<Vec<u8>> { read(path, of_log.uid(), &times).ok().flatten() };
    // A forked process runs what its parent compiled.
    let pids = [Some(start.pid), log.parent_pid()].into_iter().flatten();
    let pids: Vec<u32> = pids.collect();
    let folder = log.text(Key::WorkingDirectory).unwrap_or(b"/");
    let dumps = pids.iter().flat_map(|&pid| dumps(pid, folder));
    let maps = pids.iter().map(|&pid| map(pid));
    let dumps: Vec<_> = dumps.filter_map(|path| is_its(&path)).collect();
    let maps: Vec<_> = maps.filter_map(|path| is_its(&path)).collect();
    if dumps.is_empty() && maps.is_empty() {
        return None;
    }
    let mut names = MadeNames::of(log.codes_of_no_file());
    for dump in &dumps {
        // What comes before the damage counts.
        let _ = names.take_jitdump(dump);
    }
    // It has no lines, and the same names in other words.
    let mut others = MadeNames::of(names.nameless());
    maps.iter().for_each(|map| others.take_perf_map(map));
    names.join(others);
    Some(names)
}

/// Whether there is any such file of one of these processes: for each log of
/// thousands that is quicker asked than what it needs.
pub fn may_be(pids: &[u32], folder: &[u8]) -> bool {
    let is_there = |&pid: &u32| {
        let dumps = dumps(pid, folder);
        map(pid).exists() || dumps.iter().any(|path| path.exists())
    };
    pids.iter().any(is_there)
}

/// perf's map of a process.
fn map(pid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{pid}.map"))
}

fn own_host() -> Vec<u8> {
    let name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim_ascii_end().to_vec()
}

/// Where a dump may lie: compilers name it by the process, in a folder of
/// their own choice.
fn dumps(pid: u32, folder: &[u8]) -> Vec<PathBuf> {
    let name = format!("jit-{pid}.dump");
    let folder = Path::new(OsStr::from_bytes(folder));
    let mut paths = vec![Path::new("/tmp").join(&name)];
    if folder != Path::new("/tmp") {
        paths.push(folder.join(&name));
    }
    // Java's agent makes a folder a run.
    let home = std::env::var_os("JITDUMPDIR").or_else(|| std::env::var_os("HOME"));
    let runs = home.map(|home| Path::new(&home).join(".debug/jit"));
    let runs = runs.and_then(|runs| std::fs::read_dir(runs).ok());
    let runs = runs.into_iter().flatten().flatten();
    paths.extend(runs.map(|run| run.path().join(&name)));
    paths
}

/// A file of the log's owner or of ours, written in that time.
fn read(path: &Path, owner: u32, times: &std::ops::Range<i64>) -> io::Result<Option<Vec<u8>>> {
    let mut options = OpenOptions::new();
    let options = options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file: File = options.open(path)?;
    let metadata = file.metadata()?;
    let is_ours = [owner, crate::system::effective_user()].contains(&metadata.uid());
    if !metadata.is_file() || !is_ours || !times.contains(&metadata.mtime()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
