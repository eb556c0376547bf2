//! What `record` says when the program has ended. All of it goes to stderr,
//! for stdout belongs to the program.

use super::epilogue;
use super::log::Log;
use super::output::Plan;
use crate::losses::fate;
use crate::open::{counted, shown};
use crate::os;
use crate::words::{sized, typed};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Other processes' logs that are named one by one.
const NAMED_LOGS: usize = 4;

/// What was seen of the program from outside.
pub struct Seen<'a> {
    pub child: u32,
    pub status: ExitStatus,
    /// What its logs know this run by.
    pub run: &'a str,
    /// Processes of its group that the kernel killed for want of memory
    /// meanwhile, where that is counted.
    pub oom_kills: Option<u64>,
}

/// Says how the program ended, which logs there are, what they lack, and what
/// to do next.
pub fn print(name: &OsStr, seen: &Seen, plan: &Plan) {
    let (child, status) = (seen.child, seen.status);
    let mut logs = plan.new_logs();
    // Other ranks of a job, each under a `memlog record`, may share the folder.
    logs.retain(|log| log.run.is_empty() || log.run == seen.run);
    // The newest image of the process is the one that was killed. Others may
    // write logs here, in whose container or on whose host it has its number.
    let is_own = |log: &&Log| log.pid == child && log.run == seen.run;
    if let (Some(signal), Some(log)) = (status.signal(), logs.iter().rfind(is_own)) {
        let maxrss_kb = os::children_max_rss_kb();
        // Without it the log is as its program left it.
        let _ = epilogue::write(&log.path, signal as u8, seen.oom_kills, maxrss_kb);
    }
    let mut text = String::new();
    for_want_of_memory(&mut text, seen.oom_kills.unwrap_or(0));
    text.push_str(&describe(name, child, status, plan, &logs));
    // The program's exit code counts, also where nobody reads stderr.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Which processes the kernel killed in the group, nobody says: maybe one that
/// this program had started.
fn for_want_of_memory(text: &mut String, killed: u64) {
    let what = match killed {
        0 => return,
        1 => "a process".to_owned(),
        count => format!("{count} processes"),
    };
    line(
        text,
        format_args!("the kernel killed {what} of this group for want of memory"),
    );
}

fn describe(name: &OsStr, child: u32, status: ExitStatus, plan: &Plan, logs: &[Log]) -> String {
    let mut text = String::new();
    if status.code().is_none() {
        let how = status.to_string();
        let how = how.strip_prefix("signal: ").unwrap_or(&how);
        line(
            &mut text,
            format_args!("{} was killed by signal {how}", shown(name)),
        );
    }
    // The newest image of the process: what came before it only executed it.
    let own = logs.iter().rposition(|log| log.pid == child);
    let Some(main) = own
        .or_else(|| logs.len().checked_sub(1))
        .and_then(|at| logs.get(at))
    else {
        no_log(&mut text, plan);
        return text;
    };
    line(
        &mut text,
        format_args!(
            "the log is {} ({}, of {})",
            typed(&main.path),
            sized(main.bytes),
            shown(&main.executable)
        ),
    );
    others(&mut text, main, logs);
    lost(&mut text, logs);
    for note in &main.notes {
        line(&mut text, format_args!("note: {note}"));
    }
    next(&mut text, main, logs, status.code().is_none());
    text
}

/// The log that is likely the one wanted; the line can be pasted.
fn next(text: &mut String, main: &Log, logs: &[Log], was_killed: bool) {
    let rank = |log: &&Log| (log.rss_peak_kb, log.bytes, log.path == main.path);
    let largest = logs.iter().max_by_key(rank).unwrap_or(main);
    if was_killed {
        let path = typed(&main.path);
        line(text, format_args!("next: memlog postmortem {path}"));
        if logs.len() == 1 {
            return;
        }
    }
    let why = match (logs.len(), largest.rss_peak_kb) {
        (0 | 1, _) => String::new(),
        (count, 0) => format!("  # the largest of {count} logs"),
        (count, kb) => format!(
            "  # the largest RSS peak of {count} logs, {}",
            sized(kb.saturating_mul(1024))
        ),
    };
    let path = typed(&largest.path);
    line(text, format_args!("next: memlog summary {path}{why}"));
}

fn others(text: &mut String, main: &Log, logs: &[Log]) {
    let others: Vec<&Log> = logs.iter().filter(|log| log.path != main.path).collect();
    if others.is_empty() {
        return;
    }
    let what = counted(others.len() as u64, "more log");
    line(
        text,
        format_args!("{what} of processes that it started, or of images before an exec:"),
    );
    for log in others.iter().take(NAMED_LOGS) {
        line(
            text,
            format_args!(
                "  {} ({}, of {})",
                typed(&log.path),
                sized(log.bytes),
                shown(&log.executable)
            ),
        );
    }
    if others.len() > NAMED_LOGS {
        line(
            text,
            format_args!("  and {} more", others.len() - NAMED_LOGS),
        );
    }
}

fn lost(text: &mut String, logs: &[Log]) {
    let with_losses: Vec<&Log> = logs.iter().filter(|log| !log.losses.is_empty()).collect();
    if with_losses.is_empty() {
        line(text, format_args!("nothing was lost"));
    }
    for log in with_losses {
        let path = typed(&log.path);
        for (counter, count) in &log.losses {
            let events = counted(*count, "event");
            let fate = fate(*counter, log.bounds);
            line(text, format_args!("lost: {events} of {path} {fate}"));
        }
    }
}

fn no_log(text: &mut String, plan: &Plan) {
    if let Some(value) = std::env::var_os("MEMLOG_OFF").filter(|value| is_on(value)) {
        let value = shown(&value);
        line(
            text,
            format_args!("nothing was recorded: MEMLOG_OFF={value} switches recording off"),
        );
        return;
    }
    if let Some(ranks) = std::env::var_os("MEMLOG_RANKS").filter(|list| !list.is_empty()) {
        let ranks = shown(&ranks);
        line(
            text,
            format_args!("nothing was recorded here: MEMLOG_RANKS={ranks} names other ranks"),
        );
        return;
    }
    let place = shown(plan.folder());
    if let Some((wrong, hint)) = plan.obstacle() {
        line(text, format_args!("error: no log appeared: {wrong}"));
        line(text, format_args!("hint: {hint}"));
        return;
    }
    line(text, format_args!("error: no log appeared in {place}"));
    line(text, format_args!("hint: it is one of these:"));
    let reasons = [
        "the program could not write there (another user, a read-only folder, a full disk) and the recorder has said so above ('no log of process'): choose another place with -o PATTERN",
        "the program only started another one that is static, setuid, or was started without LD_PRELOAD (a wrapper, a container, a batch system): record that one directly",
        "the loader refused the recorder: it has said so above ('cannot be preloaded')",
        "the program ended before its first instruction",
    ];
    for reason in reasons {
        line(text, format_args!("  - {reason}"));
    }
}

/// As the recorder reads a switch.
fn is_on(value: &OsStr) -> bool {
    ["1", "true", "yes", "on"].iter().any(|on| value == *on)
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "memlog: {words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_line_names_the_largest() {
        let log = |path: &str, rss_peak_kb, bytes| Log {
            path: path.into(),
            pid: 1,
            executable: "x".into(),
            bytes,
            rss_peak_kb,
            losses: Vec::new(),
            bounds: Default::default(),
            notes: Vec::new(),
            run: Default::default(),
            wall_ns: 0,
        };
        let said = |logs: &[Log]| {
            let mut text = String::new();
            next(&mut text, &logs[0], logs, false);
            text
        };
        let main = || log("/a", 5000, 9);
        assert_eq!(said(&[main()]), "memlog: next: memlog summary /a\n");
        assert_eq!(
            said(&[main(), log("/b", 2 << 10, 8), log("/c", 6 << 10, 7)]),
            "memlog: next: memlog summary /c  # the largest RSS peak of 3 logs, 6.0 MiB\n"
        );
        let unknown = [log("/a", 0, 7), log("/b", 0, 8)];
        assert!(said(&unknown).contains("summary /b  # the largest of 2 logs"));
    }
}
