//! A memory cgroup of the test's own, of either version, gone at the end.

use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A group with a limit.
pub struct Cgroup {
    folder: PathBuf,
    files: &'static Files,
}

/// What the versions call the same.
struct Files {
    limit: &'static str,
    /// The most that was taken.
    peak: &'static str,
    /// Has a line `oom_kill N`.
    kills: &'static str,
}

const FIRST: Files = Files {
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    kills: "memory.oom_control",
};
const SECOND: Files = Files {
    limit: "memory.max",
    peak: "memory.peak",
    kills: "memory.events",
};

impl Cgroup {
    /// A group below the test's own, or why there is none.
    pub fn new(limit_bytes: u64) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (own, files) = own_group()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = own.join(format!("memlog-test-{}-{number}", std::process::id()));
        let refused = |error| format!("no memory cgroup in {}: {error}", own.display());
        fs::create_dir(&folder).map_err(refused)?;
        let group = Self { folder, files };
        let limited = group.write(files.limit, &limit_bytes.to_string());
        limited.map_err(|error| format!("{} is refused: {error}", files.limit))?;
        // Where there is swap the limit is of both; where there is none these
        // files are not there.
        let _ = group.write("memory.swap.max", "0");
        let _ = group.write("memory.memsw.limit_in_bytes", &limit_bytes.to_string());
        Ok(group)
    }

    fn write(&self, file: &str, text: &str) -> std::io::Result<()> {
        fs::write(self.folder.join(file), text)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// Makes the command's process, and its children, live in the group.
    pub fn hold(&self, command: &mut Command) {
        let procs = self.folder.join("cgroup.procs");
        let procs = fs::OpenOptions::new().write(true).open(procs);
        let procs = procs.expect("the group's processes");
        // SAFETY: between fork and exec, one write by a descriptor.
        unsafe {
            command.pre_exec(move || {
                let wrote = libc::write(procs.as_raw_fd(), c"0".as_ptr().cast(), 1);
                if wrote == 1 {
                    Ok(())
                } else {
                    Err(std::io::Error::last_os_error())
                }
            });
        }
    }

    /// How many processes the kernel killed in it for want of memory.
    pub fn oom_kills(&self) -> u64 {
        let text = self.read(self.files.kills);
        let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        line.and_then(|count| count.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Its own part of the name by which the kernel tells it to those inside.
    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The most that it took, files included.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.read(self.files.peak).trim().parse().ok()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // What was killed may need a moment to be gone.
        for _ in 0..200 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = writeln!(std::io::stderr(), "{} is left", self.folder.display());
    }
}

/// The group that this process is in, with a memory controller for groups
/// below it.
fn own_group() -> Result<(PathBuf, &'static Files), String> {
    let mounts = fs::read_to_string("/proc/mounts").map_err(|error| error.to_string())?;
    let groups = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let mut words = mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let has_memory = |options: &str| options.split(',').any(|option| option == "memory");
    let first = words
        .clone()
        .find(|mount| mount.len() > 3 && mount[2] == "cgroup" && has_memory(mount[3]));
    let own = |prefix: &dyn Fn(&str) -> bool| {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            prefix(controllers).then(|| path.trim_start_matches('/').to_owned())
        })
    };
    if let Some(mount) = first {
        let root = Path::new(mount[1]);
        let below = root.join(own(&has_memory).unwrap_or_default());
        return Ok((
            if below.is_dir() {
                below
            } else {
                root.to_owned()
            },
            &FIRST,
        ));
    }
    let second = words.find(|mount| mount.len() > 3 && mount[2] == "cgroup2");
    let Some(mount) = second else {
        return Err("no cgroup file system is mounted".to_owned());
    };
    let folder = Path::new(mount[1]).join(own(&str::is_empty).unwrap_or_default());
    let control = folder.join("cgroup.subtree_control");
    let is_on = || {
        let text = fs::read_to_string(&control).unwrap_or_default();
        text.split_whitespace()
            .any(|controller| controller == "memory")
    };
    if !is_on()
        && let Err(error) = fs::write(&control, "+memory")
    {
        return Err(format!(
            "no memory controller below {}: {error}",
            folder.display()
        ));
    }
    Ok((folder, &SECOND))
}
