//! Whether the process of a log that is followed lives.

use std::time::{Duration, Instant};

use memlog_read::Log;

use crate::facts::{Running, is_here, running};
use crate::words::signal;

/// What is known of a process's life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    #[default]
    Running,
    /// It ended in order.
    Ended,
    /// This signal killed it.
    Killed(String),
    /// It does not run any more, and the log has no end.
    Gone,
    /// It started this program in its place.
    Replaced(String),
    /// The log is of another machine, and has no end.
    Elsewhere,
}

impl Life {
    /// In a word or two.
    pub fn word(&self) -> String {
        match self {
            Self::Running => "running".into(),
            Self::Ended => "ended".into(),
            Self::Killed(signal) => format!("killed by {signal}"),
            Self::Gone => "gone, killed or lost".into(),
            Self::Replaced(by) => format!("became {by}"),
            Self::Elsewhere => "on another host".into(),
        }
    }
}

/// Who started a program writes down how it died a moment later.
const TIME_FOR_LAST_WORDS: Duration = Duration::from_millis(700);

/// The same with how long it has been so.
#[derive(Default)]
pub(super) struct Watched {
    now: Life,
    gone_since: Option<Instant>,
    /// Whether it ever ran while it was looked at.
    has_run: bool,
    /// Whether it is still there: what runs at exit frees memory behind the log's end.
    is_there: bool,
}

impl Watched {
    pub(super) fn look(&mut self, log: &Log) {
        let running = running(log);
        self.is_there = matches!(running, Some(Running::Same));
        self.now = match (log.death(), log.end()) {
            (Some(death), _) => Life::Killed(signal(death.signal)),
            (None, Some(_)) => Life::Ended,
            (None, None) => match running {
                Some(Running::Same) => Life::Running,
                Some(Running::Other(program)) => Life::Replaced(program),
                None if is_here(log) => Life::Gone,
                None => Life::Elsewhere,
            },
        };
        self.has_run |= self.now == Life::Running;
        match self.now {
            Life::Gone => {
                self.gone_since.get_or_insert_with(Instant::now);
            }
            _ => self.gone_since = None,
        }
    }

    pub(super) fn now(&self) -> &Life {
        &self.now
    }

    /// Whether nothing more can come.
    pub(super) fn is_over(&self) -> bool {
        match &self.now {
            Life::Running | Life::Elsewhere => false,
            Life::Ended => !self.is_there,
            Life::Killed(_) | Life::Replaced(_) => true,
            Life::Gone => {
                let since = self.gone_since.map_or(Duration::ZERO, |at| at.elapsed());
                !self.has_run || since >= TIME_FOR_LAST_WORDS
            }
        }
    }
}
