//! Debug files of servers, for who asks for them: elfutils' own client brings them into its
//! cache, by build-id.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::words::Advice;

const PROGRAM: &str = "debuginfod-find";

/// Limits of the client where the user has set no others: seconds without 100 KB, seconds,
/// and bytes.
const LIMITS: [(&str, &str); 3] = [
    ("DEBUGINFOD_TIMEOUT", "30"),
    ("DEBUGINFOD_MAXTIME", "600"),
    ("DEBUGINFOD_MAXSIZE", "4294967296"),
];

/// Why no server can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Servers,
    Client,
    Cache,
}

impl Missing {
    /// As who asked for it is told.
    pub fn error(self) -> anyhow::Error {
        let advice = match self {
            Self::Servers => "set it to the server of your distribution, or leave --debuginfod out",
            Self::Client => {
                "install it (Debian: debuginfod, Fedora: elfutils-debuginfod-client), or leave \
                 --debuginfod out"
            }
            Self::Cache => "set DEBUGINFOD_CACHE_PATH, or HOME",
        };
        Advice::error(format!("--debuginfod: {}", self.sentence()), advice)
    }

    /// What is missing.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Servers => "$DEBUGINFOD_URLS names no server",
            Self::Client => "there is no debuginfod-find in PATH",
            Self::Cache => "there is no folder for what comes",
        }
    }
}

/// Where the client keeps files, if there is one with servers.
pub fn cache(environment: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Missing> {
    let value = |name| environment(name).filter(|value| !value.is_empty());
    value("DEBUGINFOD_URLS").ok_or(Missing::Servers)?;
    let folders = value("PATH").unwrap_or_default();
    let is_there = |folder: PathBuf| folder.join(PROGRAM).is_file();
    if !std::env::split_paths(&folders).any(is_there) {
        return Err(Missing::Client);
    }
    let named = value("DEBUGINFOD_CACHE_PATH").map(PathBuf::from);
    let below = |name, rest: &str| value(name).map(|folder| Path::new(&folder).join(rest));
    named
        .or_else(|| below("XDG_CACHE_HOME", "debuginfod_client"))
        .or_else(|| below("HOME", ".cache/debuginfod_client"))
        .ok_or(Missing::Cache)
}

/// The client.
pub struct Debuginfod {
    cache: PathBuf,
}

/// What it did not find: a server that does not answer is not asked for each function once
/// more, whoever of this process asks.
static IN_VAIN: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

impl Debuginfod {
    pub fn new(cache: PathBuf) -> Self {
        Self { cache }
    }

    /// A file of the cache that is not there yet is asked for; any other is no concern of
    /// this.
    pub fn bring(&self, path: &Path) -> io::Result<()> {
        let Ok(below) = path.strip_prefix(&self.cache) else {
            return Ok(());
        };
        let mut parts = below.iter().filter_map(|part| part.to_str());
        let (Some(id), Some(kind @ ("debuginfo" | "executable"))) = (parts.next(), parts.next())
        else {
            return Ok(());
        };
        // The client remembers by an empty file what no server has.
        if path.metadata().is_ok_and(|file| file.len() > 0) {
            return Ok(());
        }
        let not_found = || Err(io::Error::from(ErrorKind::NotFound));
        let mut in_vain = IN_VAIN.lock().unwrap_or_else(PoisonError::into_inner);
        if in_vain.contains(path) {
            return not_found();
        }
        match self.find(kind, id) {
            true => Ok(()),
            false => {
                in_vain.insert(path.to_owned());
                not_found()
            }
        }
    }

    /// Its own line says how far it is, where somebody sees it.
    fn find(&self, kind: &str, id: &str) -> bool {
        let mut command = Command::new(PROGRAM);
        command.args([kind, id]);
        command.env("DEBUGINFOD_CACHE_PATH", &self.cache);
        for (name, value) in LIMITS {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let is_seen = io::stderr().is_terminal();
        if is_seen {
            command.env("DEBUGINFOD_PROGRESS", "1");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(match is_seen {
            true => Stdio::inherit(),
            false => Stdio::null(),
        });
        command.status().is_ok_and(|status| status.success())
    }
}
