//! A control group with a limit on memory, where this machine lets a test
//! make one.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The two versions of groups, by the names of their files.
struct Version {
    place: &'static str,
    limit: &'static str,
    kills: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        place: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        kills: "memory.oom_control",
    },
    Version {
        place: "/sys/fs/cgroup",
        limit: "memory.max",
        kills: "memory.events",
    },
];

/// A group of its own, gone when it is dropped.
pub struct Group {
    folder: PathBuf,
    version: &'static Version,
}

impl Group {
    /// A group that may have so many bytes; the error says what is refused.
    pub fn new(limit_bytes: u64) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("memlog-test-{}-{number}", std::process::id());
        let mut refused = String::new();
        for version in &VERSIONS {
            let folder = Path::new(version.place).join(&name);
            match make(&folder, version, limit_bytes) {
                Ok(()) => return Ok(Self { folder, version }),
                Err(error) => {
                    let _ = fs::remove_dir(&folder);
                    refused = format!("{}: {error}", folder.display());
                }
            }
        }
        Err(refused)
    }

    /// Has a command and its children run inside.
    pub fn enter(&self, command: &mut Command) {
        let file = self.folder.join("cgroup.procs");
        // SAFETY: between fork and exec only a file is written, whose name was
        // made before.
        unsafe { command.pre_exec(move || fs::write(&file, "0")) };
    }

    /// How many processes in it the kernel killed for want of memory.
    pub fn kills(&self) -> u64 {
        let text = fs::read_to_string(self.folder.join(self.version.kills));
        let text = text.expect("the group counts them");
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix("oom_kill "));
        count.expect("the count").trim().parse().expect("a number")
    }

    /// The name as the kernel tells processes inside.
    pub fn name(&self) -> String {
        let name = self.folder.file_name().expect("it has one");
        name.to_string_lossy().into_owned()
    }
}

fn make(folder: &Path, version: &Version, limit_bytes: u64) -> io::Result<()> {
    fs::create_dir(folder)?;
    // A group's files come with it: a folder of another kind would take any.
    let limit = folder.join(version.limit);
    fs::OpenOptions::new().write(true).open(&limit)?;
    fs::write(limit, limit_bytes.to_string())
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel lets go of processes that have ended a moment later.
        let until = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.folder).is_err() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
