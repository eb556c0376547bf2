//! How a program ended, as far as log and kernel tell.

use memlog_format::limit::LimitAct;
use memlog_format::meta::Death;
use memlog_read::Log;
use serde_json::{Value, json};

use super::kernel::{self, Running};
use super::last::{Last, limit_line};
use crate::words::signal;

/// How it ended.
pub enum Fate {
    /// In order: by its exit handlers, or by `_exit`.
    Ended { by_exit: bool },
    /// By a signal, as who started it saw; `kernel` is the kernel's own word
    /// on memory.
    Killed {
        death: Death,
        kernel: Option<String>,
    },
    /// By a signal that nobody saw, but the kernel says so.
    KilledForMemory(String),
    /// The log has no end, and its guard had asked for one.
    Stopped,
    /// It has not.
    Runs(Running),
    /// The log has no end.
    Unknown,
}

impl Fate {
    /// Asks everybody.
    pub fn of(log: &Log, last: &Last) -> Self {
        if let Some(&death) = log.death() {
            let kernel = kernel::oom_line(log);
            return Self::Killed { death, kernel };
        }
        if let Some(end) = log.end() {
            let by_exit = end.how != 2;
            return Self::Ended { by_exit };
        }
        if let Some(running) = kernel::running(log) {
            return Self::Runs(running);
        }
        match kernel::oom_line(log) {
            Some(line) => Self::KilledForMemory(line),
            None if last.stopped_by().is_some() => Self::Stopped,
            None => Self::Unknown,
        }
    }

    /// In one word, for programs.
    fn word(&self) -> &'static str {
        match self {
            Self::Ended { by_exit: true } => "exit",
            Self::Ended { by_exit: false } => "_exit",
            Self::Killed { .. } if self.is_for_memory() => "out-of-memory",
            Self::Killed { .. } => "signal",
            Self::KilledForMemory(_) => "out-of-memory",
            Self::Stopped => "stopped-by-guard",
            Self::Runs(Running::Same) => "running",
            Self::Runs(Running::Other(_)) => "executed-another",
            Self::Unknown => "unknown",
        }
    }

    fn is_for_memory(&self) -> bool {
        match self {
            Self::Killed { death, kernel } => {
                death.signal == KILL && (kernel.is_some() || death.oom_kills > 0)
            }
            Self::KilledForMemory(_) => true,
            _ => false,
        }
    }

    /// For people.
    pub fn sentences(&self, log: &Log, last: &Last) -> Vec<String> {
        let at = format!("at {:.3} s", last.end_seconds);
        let mut parts = Vec::new();
        match self {
            Self::Ended { by_exit: true } => parts.push(format!("none: it ended in order {at}")),
            Self::Ended { by_exit: false } => parts.push(format!("none: it ended by _exit {at}")),
            Self::Killed { death, kernel } => {
                let what = signal(death.signal);
                parts.push(format!("killed by signal {what}, its last event was {at}"));
                parts.extend(self.why(death, kernel.as_deref(), log, last));
            }
            Self::KilledForMemory(line) => {
                parts.push(format!(
                    "killed by the kernel, for memory had run out, its last event was {at}"
                ));
                parts.push(format!("the kernel says: {line}"));
            }
            Self::Stopped => {
                parts.push(format!(
                    "asked to end {at} by memlog's own guard, as it was told to"
                ));
            }
            Self::Runs(Running::Same) => {
                parts.push("none: it runs still".into());
                parts.push(format!("its last event in the log was {at}"));
            }
            Self::Runs(Running::Other(exe)) => {
                parts.push(format!(
                    "none: it started another program in its place, {exe}"
                ));
                parts.push("which may have a log of its own".into());
            }
            Self::Unknown => parts.extend([
                format!("the log has no end, its last event was {at}"),
                "it was killed, it crashed, or it started another program in its place".into(),
                "who starts it by memlog record is told which".into(),
            ]),
        }
        if let Some(limit) = last.stopped_by() {
            parts.push(format!(
                "memlog's guard asked it to end: {}",
                limit_line(limit)
            ));
        }
        parts
    }

    /// What is known beyond the signal.
    fn why(&self, death: &Death, kernel: Option<&str>, log: &Log, last: &Last) -> Vec<String> {
        let mut parts = Vec::new();
        if self.is_for_memory() {
            parts.push("by the kernel, for memory had run out".into());
        }
        if let Some(line) = kernel {
            parts.push(format!("the kernel says: {line}"));
        }
        let is_near = |limit: &&super::last::Watched| limit.act == LimitAct::Near;
        match last.nearest().filter(is_near) {
            Some(limit) => parts.push(format!("before that {}", limit_line(limit))),
            None if death.signal == KILL && !self.is_for_memory() => {
                let whose = "by somebody's kill -9 or a batch system's: the kernel counted no \
                             kill for want of memory in its group";
                parts.push(whose.into());
            }
            None => {}
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
            value["oom_kills"] = death.oom_kills.into();
            value["maxrss_kb"] = death.maxrss_kb.into();
        }
        value
    }
}

/// SIGKILL, on every machine.
const KILL: u8 = 9;
