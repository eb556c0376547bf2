//! Programs whose allocations are known, built, recorded and compared.
//!
//! * here: a test's own folder, memlog run in it, and what it says of a log
//! * [`build`]: compilers and link lines
//! * [`disk`]: a disk that can be full
//! * [`tree`]: the tree of `memlog report`, read back
//! * [`own_time`]: time that does not count the load
//! * [`known`]: the `@site` annotations of `victims/`, and whether a log agrees
//! * [`run`]: a program run natively and recorded, which must not differ
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod build;
pub mod disk;
pub mod known;
#[path = "../own_time/mod.rs"]
pub mod own_time;
pub mod run;
#[path = "../signals/mod.rs"]
mod signals;
pub mod tree;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// What the recorder obeys, and what must not come from the one who runs the tests.
const OBEYED: &[&str] = &[
    "LD_PRELOAD",
    "COBALT_JOBID",
    "PBS_JOBID",
    "SLURM_JOB_ID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "JOB_ID",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
];

/// A file of `victims/`.
pub fn victim(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("victims").join(name)
}

/// A folder of one test's own that anybody may enter, gone when it ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        // Two tests at once may have the same name for theirs.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("memlog-{}-{number}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Who was killed has left his, and his process number comes again.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a folder for the test");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("its mode");
        Self(path)
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A folder in it.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).expect("mkdir");
        path
    }

    /// Whether root runs the tests: it may write anywhere.
    pub fn is_root(&self) -> bool {
        fs::metadata(&self.0).expect("stat").uid() == 0
    }

    /// A program, run in this folder by itself.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.0)
            .env("XDG_CACHE_HOME", self.path("cache"));
        signals::usual(&mut command);
        for name in OBEYED {
            command.env_remove(name);
        }
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("MEMLOG_") || text.starts_with("MEMORY_PROFILER_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// memlog, with a limit of time: a hang is a failure.
    pub fn memlog<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.command("timeout");
        command
            .args(["-k", "5", "1000", env!("CARGO_BIN_EXE_memlog")])
            .args(args);
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.memlog(args).output().expect("memlog runs")
    }

    /// What memlog prints where nothing is wrong.
    #[track_caller]
    pub fn says<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{}: {}",
            output.status,
            said(&output)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// The figures of a log in which nothing is lost, out of order or live twice.
    #[track_caller]
    pub fn whole(&self, log: &Path) -> Value {
        let words = ["stats".as_ref(), "--json".as_ref(), log.as_os_str()];
        let stats: Value = serde_json::from_str(&self.says(&words)).expect("JSON");
        for name in [
            "lost_events",
            "order_breaks",
            "order_gaps",
            "findings_count",
            "allocations_of_live_addresses",
        ] {
            assert_eq!(stats[name], 0, "{name}: {stats:#}");
        }
        assert_eq!(stats["unknown_releases"]["twice"], 0, "{stats:#}");
        stats
    }

    /// The recorder's files, in a folder.
    pub fn recorder(&self) -> PathBuf {
        let lib = self.path("lib");
        self.says(&["artefacts".as_ref(), lib.as_os_str()]);
        lib
    }

    #[track_caller]
    pub fn stats(&self, log: &Path) -> Stats {
        let text = self.says(&["stats".as_ref(), "--json".as_ref(), log.as_os_str()]);
        Stats::read(&text)
    }

    /// Nothing was lost, and nothing in the log is odd.
    #[track_caller]
    pub fn holds_whole(&self, log: &Path) {
        let stats = self.stats(log);
        for name in [
            "lost_events",
            "stackless_allocations",
            "allocations_of_live_addresses",
            "findings_count",
        ] {
            assert_eq!(stats.number(name), 0, "{name}: {}", stats.value("findings"));
        }
        for kind in ["twice", "before_start"] {
            let unknown = &stats.value("unknown_releases")[kind];
            assert_eq!(*unknown, 0, "releases of unknown blocks: {kind}");
        }
    }

    /// The logs in a folder below this one, by name; "" is this one.
    pub fn logs(&self, name: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(name)).expect("list").flatten();
        let mut logs: Vec<_> = entries.map(|entry| entry.path()).collect();
        logs.retain(|path| path.extension() == Some(OsStr::new("memlog")));
        logs.sort();
        logs
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind harms no later test: the name has our number.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// stderr as text.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `memlog stats --json`.
pub struct Stats(Value);

impl Stats {
    pub fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).expect("JSON"))
    }

    #[track_caller]
    pub fn number(&self, name: &str) -> u64 {
        let number = self.0[name].as_u64();
        number.unwrap_or_else(|| panic!("{name} is no number: {}", self.0[name]))
    }

    pub fn is(&self, name: &str) -> bool {
        self.0[name] == Value::Bool(true)
    }

    pub fn value(&self, name: &str) -> &Value {
        &self.0[name]
    }
}
