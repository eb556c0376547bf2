//! How a program ended, as far as log and kernel tell.

use memlog_format::limit::LimitAct;
use memlog_format::meta::Death;
use memlog_read::Log;
use serde_json::{Value, json};

use super::last::{Last, limit_line};
use crate::facts::{Imported, Running, Word, ends_off, oom_word, running};
use crate::words::signal;

/// How it ended.
pub enum Fate {
    /// In order: by its exit handlers, or by `_exit`; `seconds` is when.
    Ended { by_exit: bool, seconds: f64 },
    /// By a signal, as who started it saw; `kernel` is the kernel's own word
    /// on memory.
    Killed { death: Death, kernel: Word },
    /// By a signal that nobody saw, but the kernel says so.
    KilledForMemory(String),
    /// The log has no end, and its guard had asked for one.
    Stopped,
    /// It has not.
    Runs(Running),
    /// Not while it was recorded.
    Unrecorded,
    /// The log has no end.
    Unknown,
    /// Another tool's file does not say it.
    NotTold,
}

impl Fate {
    /// Asks everybody.
    pub fn of(log: &Log, last: &Last) -> Self {
        if let Some(&death) = log.death() {
            let kernel = match death.signal {
                KILL => oom_word(log, Some(death.wall_ns)),
                _ => Word::Unknown,
            };
            return Self::Killed { death, kernel };
        }
        if Imported::of(log).is_some() {
            return Self::NotTold;
        }
        if let Some(end) = log.end() {
            return Self::Ended {
                by_exit: end.how != 2,
                seconds: log.seconds(end.tick),
            };
        }
        if let Some(running) = running(log) {
            return Self::Runs(running);
        }
        match oom_word(log, None) {
            Word::Killed(line) => Self::KilledForMemory(line),
            _ if last.stopped_by().is_some() => Self::Stopped,
            _ if ends_off(log) => Self::Unrecorded,
            _ => Self::Unknown,
        }
    }

    /// In one word, for programs.
    fn word(&self) -> &'static str {
        match self {
            Self::Ended { by_exit: true, .. } => "exit",
            Self::Ended { by_exit: false, .. } => "_exit",
            Self::Killed { .. } if self.is_for_memory() => "out-of-memory",
            Self::Killed { .. } => "signal",
            Self::KilledForMemory(_) => "out-of-memory",
            Self::Stopped => "stopped-by-guard",
            Self::Runs(Running::Same) => "running",
            Self::Runs(Running::Other(_)) => "executed-another",
            Self::Unrecorded => "not-recorded",
            Self::Unknown | Self::NotTold => "unknown",
        }
    }

    fn is_for_memory(&self) -> bool {
        match self {
            // Where the kernel's log cannot be read its count has to do.
            Self::Killed { death, kernel } => match kernel {
                Word::Killed(_) => true,
                Word::Silent => false,
                Word::Unknown => {
                    let kills = death.known_oom_kills().unwrap_or(0);
                    death.signal == KILL && kills > 0
                }
            },
            Self::KilledForMemory(_) => true,
            _ => false,
        }
    }

    /// For people.
    pub fn sentences(&self, log: &Log, last: &Last) -> Vec<String> {
        let at = format!("at {:.3} s", last.end_seconds);
        let mut parts = Vec::new();
        match self {
            Self::Ended { by_exit, seconds } => {
                let how = if *by_exit { "in order" } else { "by _exit" };
                match *seconds < last.end_seconds {
                    // An end that was begun and not come to.
                    true => parts.extend([
                        format!("it had begun to end {how} at {seconds:.3} s"),
                        format!("and its last event was {at}"),
                    ]),
                    false => parts.push(format!("none: it ended {how} {at}")),
                }
            }
            Self::Killed { death, kernel } => {
                let what = signal(death.signal);
                parts.push(format!("killed by signal {what}, its last event was {at}"));
                parts.extend(self.why(death, kernel, log, last));
            }
            Self::KilledForMemory(line) => {
                parts.push(format!(
                    "killed by the kernel, for memory had run out, its last event was {at}"
                ));
                parts.push(format!("the kernel says: {line}"));
            }
            Self::Stopped => parts.push(format!("its last event was {at}")),
            Self::Runs(Running::Same) => {
                parts.push("none: still running".into());
                parts.push(format!("its last event in the log was {at}"));
                parts.extend(ends_off(log).then(|| "recording is off".into()));
            }
            Self::Runs(Running::Other(exe)) => {
                parts.push(format!("the log has no end, its last event was {at}"));
                parts.push(format!("a process of its number runs now, {exe}"));
                parts.push("which it may have started in its own place".into());
            }
            Self::NotTold => parts.extend([
                "not known: the imported file does not tell it".into(),
                format!("its last event was {at}"),
            ]),
            Self::Unrecorded => parts.extend([
                "not known: recording was off then".into(),
                format!("its last event was {at}"),
            ]),
            Self::Unknown => parts.extend([
                format!("the log has no end, its last event was {at}"),
                "it was killed, it crashed, or it started another program in its place".into(),
                "who starts it by memlog record is told which".into(),
            ]),
        }
        if let Some(limit) = last.stopped_by() {
            let what = match limit.act {
                LimitAct::Ended => "ended it, for it had been asked and went on",
                _ => "asked it to end",
            };
            parts.push(format!("memlog's guard {what}: {}", limit_line(limit)));
        }
        parts
    }

    /// What is known beyond the signal.
    fn why(&self, death: &Death, kernel: &Word, log: &Log, last: &Last) -> Vec<String> {
        let mut parts = Vec::new();
        if self.is_for_memory() {
            parts.push("by the kernel, for memory had run out".into());
        }
        if let Word::Killed(line) = kernel {
            parts.push(format!("the kernel says: {line}"));
        }
        let is_near = |limit: &&super::last::Watched| limit.act == LimitAct::Near;
        if let Some(limit) = last.nearest().filter(is_near) {
            parts.push(format!("before that {}", limit_line(limit)));
        }
        let kills = death.known_oom_kills();
        if death.signal == KILL && !self.is_for_memory() && last.stopped_by().is_none() {
            parts.push(match kills {
                Some(0) => "not for want of memory, as far as the kernel counts in its group: \
                            by a kill -9, a batch system, or a limit such as RLIMIT_CPU"
                    .into(),
                Some(count) => format!(
                    "the kernel killed {count} of its group for want of memory meanwhile, but as \
                     far as its log goes not this one"
                ),
                None => "by whom is not known here: by a kill -9, a batch system, or the kernel \
                         for want of memory"
                    .into(),
            });
        }
        if log.end().is_some() {
            parts.push("after it had begun to end in order".into());
        }
        parts
    }

    /// For programs.
    pub fn as_json(&self, log: &Log, last: &Last) -> Value {
        let mut value = json!({
            "how": self.word(),
            "last_event_seconds": last.end_seconds,
            "sentences": self.sentences(log, last),
        });
        if let Self::Killed { death, .. } = self {
            value["signal"] = death.signal.into();
            value["oom_kills"] = death.known_oom_kills().into();
            value["maxrss_kb"] = death.maxrss_kb.into();
        }
        value
    }
}

const KILL: u8 = libc::SIGKILL as u8;
