//! Which process a log is of, whatever its file is called, and which of two files of the
//! same process has more of it.

use memlog_format::meta::Key;
use memlog_read::Log;

/// What tells a process from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A recorded one.
    Process {
        /// Its host.
        host: Vec<u8>,
        /// Its number there.
        pid: u32,
        /// When it began, in nanoseconds since 1970.
        start_unix_ns: u64,
        /// The log's own path when it was made: a process that executes another program has
        /// another log, which may begin at the same step of the clock.
        log: Vec<u8>,
    },
    /// One of another tool's file, by what the import says of that file.
    Imported(Vec<u8>),
}

impl Identity {
    /// Nothing where the log does not say enough.
    pub fn of(log: &Log) -> Option<Self> {
        let start = log.start()?;
        if start.pid > 0 && start.wall_ns > 0 {
            return Some(Self::Process {
                host: log.text(Key::Host).unwrap_or_default().to_vec(),
                pid: start.pid,
                start_unix_ns: start.wall_ns,
                log: log.text(Key::LogPath).unwrap_or_default().to_vec(),
            });
        }
        // The tool and the file's name alone tell nothing: many are called profile.pb.gz.
        let made_from = log.text(Key::MadeFrom)?;
        let own = made_from.splitn(3, |&byte| byte == 0).nth(2)?;
        let is_told = own.iter().any(|&byte| byte != 0);
        is_told.then(|| Self::Imported(made_from.to_vec()))
    }
}

/// How much of a process a file has: the greater one is the one to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wholeness {
    /// All that was given out is there.
    pub is_whole: bool,
    /// It has its end.
    pub has_end: bool,
    /// How much of it is there.
    pub bytes: u64,
}
