//! Whether a process can be attached to, by what the kernel says of it: nothing is
//! stopped for that.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use crate::objects::Auxiliary;
use crate::tasks::{refuse_filtered, tids};
use crate::{Outcome, Refusal};

/// Looks at all that can be seen from outside.
pub fn look(pid: u32) -> Outcome<()> {
    may_trace(pid)?;
    let told = Auxiliary::of(pid).ok_or_else(|| {
        Refusal::new(
            "what the kernel told it cannot be read",
            "run memlog as its user, or as root",
        )
    })?;
    if told.get(Auxiliary::SECURE) == Some(1) {
        return Err(Refusal::new(
            "it has other rights than who started it (setuid or file capabilities)",
            "memlog does not record such programs",
        ));
    }
    refuse_filtered(pid)
}

/// What /proc/PID/status says.
pub struct Status(BTreeMap<String, String>);

impl Status {
    /// Reads it.
    pub fn of(path: &str) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let pairs = lines.map(|(key, value)| (key.to_owned(), value.trim().to_owned()));
        Some(Self(pairs.collect()))
    }

    fn text(&self, key: &str) -> &str {
        self.0.get(key).map_or("", String::as_str)
    }

    /// The first number of a line.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.text(key).split_whitespace().next()?.parse().ok()
    }

    /// All numbers of a line.
    pub fn numbers(&self, key: &str) -> Vec<u32> {
        let words = self.text(key).split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// The letter of the state that it is in.
    pub fn state(&self) -> char {
        self.text("State").chars().next().unwrap_or('X')
    }
}

/// The number that a thread has for itself.
pub fn own_number(pid: u32, tid: u32) -> Option<u32> {
    let status = Status::of(&format!("/proc/{pid}/task/{tid}/status"))?;
    status.text("NSpid").split_whitespace().last()?.parse().ok()
}

/// Whether its threads have the same numbers for themselves as for memlog.
pub fn has_our_numbers(pid: u32) -> bool {
    let of = |which: &str| fs::read_link(format!("/proc/{which}/ns/pid")).ok();
    let ours = of("self");
    ours.is_some() && of(&pid.to_string()) == ours
}

/// The name of the process's file.
fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Whether the process can be stopped and changed at all.
pub fn may_trace(pid: u32) -> Outcome<Status> {
    let status = Status::of(&format!("/proc/{pid}/status"))
        .ok_or_else(|| Refusal::new("there is no such process", "see `ps` for its number"))?;
    let plain = |why: &str, advice: &str| Err(Refusal::new(why, advice));
    if !crate::arch::IS_KNOWN {
        return plain(
            "attaching is known on x86_64 only",
            "start the program with `memlog record`",
        );
    }
    if pid == std::process::id() {
        return plain("this is memlog itself", "give another process");
    }
    if status.number("Tgid") != Some(u64::from(pid)) {
        let group = status.text("Tgid");
        return plain(
            "this is the number of a thread",
            &format!("give that of its process, {group}"),
        );
    }
    match status.state() {
        'Z' if tids(pid).len() > 1 => {
            return plain(
                "its first thread has ended, and the kernel shows nothing more of it",
                "start the program with `memlog record`",
            );
        }
        'Z' | 'X' => return plain("it has ended", "there is nothing to record"),
        'T' => {
            return plain(
                "it is stopped by a signal",
                &format!("let it go on first: kill -CONT {pid}"),
            );
        }
        _ => {}
    }
    if let Some(tracer) = status.number("TracerPid").filter(|&tracer| tracer != 0) {
        return plain(
            &format!("process {tracer} traces it already, and there can be only one"),
            "end that debugger or strace first",
        );
    }
    if status.0.contains_key("VmSize") {
        may_open(pid, &status)?;
    } else {
        return plain(
            "it is a thread of the kernel, or just ending",
            "give a program",
        );
    }
    is_same_kind(pid)?;
    Ok(status)
}

/// Whether this user may.
fn may_open(pid: u32, status: &Status) -> Outcome<()> {
    if program(pid).is_some() && File::open(format!("/proc/{pid}/mem")).is_ok() {
        return Ok(());
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let own = Status::of("/proc/self/status");
    let own = own.as_ref().and_then(|own| own.number("Uid"));
    let (why, advice) = match (status.number("Uid") == own, scope.trim()) {
        (_, "3") => (
            "this system forbids to trace any process (kernel.yama.ptrace_scope is 3)".to_owned(),
            "start the program with `memlog record`".to_owned(),
        ),
        (true, "1" | "2") => (
            format!(
                "this system lets only root trace processes (kernel.yama.ptrace_scope is {})",
                scope.trim()
            ),
            "run memlog as root, or `sysctl kernel.yama.ptrace_scope=0`".to_owned(),
        ),
        (true, _) => (
            "the kernel does not let this user trace it".to_owned(),
            "run memlog as root, or in a container with `--cap-add SYS_PTRACE`".to_owned(),
        ),
        (false, _) => (
            format!(
                "it is of another user (number {})",
                status.number("Uid").unwrap_or_default()
            ),
            "run memlog as that user, or as root".to_owned(),
        ),
    };
    Err(Refusal::new(why, advice))
}

/// Whether it is of this processor and width.
fn is_same_kind(pid: u32) -> Outcome<()> {
    let head = |path: String| {
        let mut head = [0; 20];
        File::open(path)
            .and_then(|mut file| file.read_exact(&mut head))
            .ok()
            .map(|()| (head[4], head[5], head[18], head[19]))
    };
    let theirs = head(format!("/proc/{pid}/exe"));
    match theirs.is_some() && theirs == head("/proc/self/exe".into()) {
        true => Ok(()),
        false => Err(Refusal::new(
            "it is a program for another processor or width than memlog",
            "use the memlog that was built for it",
        )),
    }
}
