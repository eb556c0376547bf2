//! What single records of a log mean, in words.

mod biggest;
mod imported;
mod kernel;
mod losses;
mod program;
mod ranks;
mod stripped;

use memlog_format::control::State;
use memlog_format::counter::Counter;
use memlog_read::Log;

use crate::words::clean;
pub use biggest::when_biggest;
pub use imported::{
    Imported, gap_of, is_temporary_guessed, is_unknown, lacks, unknown_words, without_unknown,
};
pub use kernel::{Running, Word, is_here, is_running, oom_word, running};
pub use losses::{Bounds, fate, is_denied, may_lack, reason, without_log};
pub use program::{command_line, command_words, log_name, program, started_as};
pub use ranks::place as rank;
pub use stripped::left_out;

/// How many of these threads there were at a time. A bound: each thread has a
/// stream, which another takes over when it is gone, and a signal handler may
/// have one for itself.
pub fn threads_at_once(log: &Log, threads: u64) -> u64 {
    match log.counter(Counter::Streams) {
        0 => threads,
        streams => streams.min(threads),
    }
}

/// Whether recording is off, for now or for good.
pub fn is_off(log: &Log) -> bool {
    matches!(log.state(), State::Off | State::Stopped)
}

/// Whether recording was off at the log's end: it does not tell how its program ended.
pub fn ends_off(log: &Log) -> bool {
    is_off(log) && log.end().is_none() && log.death().is_none()
}

/// A remark of the recorder; that of an older one ends as if more followed.
pub fn note(text: &[u8]) -> String {
    let mut note = clean(text);
    note.truncate(note.trim_end_matches([' ', ';']).len());
    note
}
