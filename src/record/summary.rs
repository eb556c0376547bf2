//! What `record` says when the program has ended. All of it goes to stderr,
//! for stdout belongs to the program.

mod lacking;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use memlog_pages::{
    FEW_EVENTS, counted, grouped, has_magic, may_have_jit_names, shown, sized, typed,
};

use super::epilogue;
use super::functions::Wanted;
use super::log::Log;
use super::output::Plan;
use super::skip::{self, Skipped};
use super::total::Total;
use super::trim::trim;
use crate::os;
use lacking::{failed, left_none, lost, no_log, unrecorded};

/// What every line begins with.
const NAME: &str = "memlog: ";
/// Other processes' logs that are named one by one.
const NAMED_LOGS: usize = 4;

/// What was seen of the program from outside.
pub struct RunOutcome<'a> {
    pub child: u32,
    pub status: ExitStatus,
    /// The name that the kernel had for its last image.
    pub last_name: Option<String>,
    /// What its logs know this run by.
    pub run: &'a str,
    /// Processes of its group that the kernel killed for want of memory
    /// meanwhile, where that is counted.
    pub oom_kills: Option<u64>,
    /// The programs that `--only` names.
    pub only: &'a [String],
    /// Fewer events are not worth a log.
    pub skip_below: Option<u64>,
    /// What bounds all logs together.
    pub total: Option<&'a Total>,
    /// Those that `--alloc-func` names.
    pub functions: &'a Wanted,
}

/// What is said when a program has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// How it ended, which logs there are, what they lack, and what to do next.
    All,
    /// Why it has no log, if so: another command says the rest.
    WhyNone,
}

/// Adds to the logs what their program could not, removes those that are not to be kept,
/// and says what is to be said.
pub fn finish(name: &OsStr, outcome: &RunOutcome, plan: &Plan, tells: Tells) -> Vec<Log> {
    let (child, status) = (outcome.child, outcome.status);
    let few = outcome.skip_below.unwrap_or(0).max(FEW_EVENTS);
    let mut logs = plan.new_logs(few);
    // Other ranks of a job, each under a `memlog record`, may share the folder.
    logs.retain(|log| log.run.is_empty() || log.run == outcome.run);
    let skipped = outcome.skip_below;
    let skipped = skipped.map(|below| skip::remove(&mut logs, below, child, outcome.run));
    // The newest image of the process is the one that was killed. Others may
    // write logs here, in whose container or on whose host it has its number.
    let is_own = |log: &&Log| log.pid == child && log.run == outcome.run;
    // What they left behind their end goes; where it cannot, it does no harm.
    for log in logs.iter().filter(|log| log.run == outcome.run) {
        let _ = trim(|options| log.reopen(options), is_own(&log), log.has_end);
    }
    if let (Some(signal), Some(log)) = (status.signal(), logs.iter().rfind(is_own)) {
        let maxrss_kb = os::children_max_rss_kb();
        // Without it the log is as its program left it.
        let _ = epilogue::write(log, signal as u8, outcome.oom_kills, maxrss_kb);
    }
    keep_names(&logs, outcome);
    if tells == Tells::WhyNone && logs.iter().any(|log| is_own(&log)) {
        return logs;
    }
    let mut text = String::new();
    for_want_of_memory(&mut text, outcome.oom_kills.unwrap_or(0));
    text.push_str(&describe(name, outcome, plan, &logs, skipped.as_ref()));
    // The program's exit code counts, also where nobody reads stderr.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    logs
}

/// Keeps the names of code made at run time, for the files that have them do
/// not stay. To a log that its process may still write nothing is added.
fn keep_names(logs: &[Log], outcome: &RunOutcome) {
    let is_gone = |log: &Log| {
        let is_there = Path::new("/proc").join(log.pid.to_string()).exists();
        (log.has_end || log.pid == outcome.child) && !is_there && log.run == outcome.run
    };
    let may_have = |log: &&Log| {
        let pids = [Some(log.pid), log.parent].into_iter().flatten();
        may_have_jit_names(&pids.collect::<Vec<_>>(), log.folder.as_bytes()) && is_gone(log)
    };
    for log in logs.iter().filter(may_have) {
        // Without them the log is as its program left it.
        let _ = epilogue::write_names(log);
    }
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

fn describe(
    name: &OsStr,
    outcome: &RunOutcome,
    plan: &Plan,
    logs: &[Log],
    skipped: Option<&Skipped>,
) -> String {
    let (child, status) = (outcome.child, outcome.status);
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
        match outcome.total.and_then(Total::told) {
            Some(told) => line(&mut text, format_args!("nothing was recorded: {told}")),
            None => no_log(&mut text, plan, outcome.only),
        }
        return text;
    };
    let bounded = skipped.map(Skipped::told);
    let bounded = bounded
        .into_iter()
        .chain(outcome.total.and_then(Total::told));
    let rank = main.rank.as_ref().filter(|_| !is_launcher(main, logs));
    if let Some(rank) = rank {
        of_rank(&mut text, main, logs, has_fate(status));
        bounded.for_each(|told| line(&mut text, format_args!("{told}")));
        return with_rank(rank, &text);
    }
    line(&mut text, format_args!("the log is {}", told(main)));
    if let Some(name) = plan.taken(&main.path) {
        other_name(&mut text, main, &name);
    }
    others(&mut text, main, logs);
    let lacks_logs = outcome.total.and_then(Total::told).is_some();
    bounded.for_each(|told| line(&mut text, format_args!("{told}")));
    match left_none(main, logs, outcome.last_name.as_deref()) {
        Some(what) => {
            unrecorded(&mut text, &what, plan);
            if logs
                .iter()
                .any(|log| !log.losses.is_empty() || log.may_lack.is_some())
            {
                lost(&mut text, logs, lacks_logs);
            }
        }
        None => lost(&mut text, logs, lacks_logs),
    }
    failed(&mut text, logs);
    for note in &main.notes {
        line(&mut text, format_args!("note: {note}"));
    }
    let called = logs.iter().flat_map(|log| &log.named);
    for remark in outcome.functions.remarks(&called.collect::<Vec<_>>()) {
        line(&mut text, format_args!("{remark}"));
    }
    next(&mut text, main, logs, has_fate(status));
    text
}

/// Whether its death is worth a look. Who ends it by Ctrl-C knows why it died.
fn has_fate(status: ExitStatus) -> bool {
    status.signal().is_some_and(|signal| signal != libc::SIGINT)
}

/// Whether it started ranks. It may have a number itself, as all that a batch
/// script starts.
fn is_launcher(main: &Log, logs: &[Log]) -> bool {
    let mut ranks = logs.iter().filter_map(|log| log.rank.as_ref());
    ranks.any(|rank| main.rank.as_ref() != Some(rank))
}

/// Of a rank, whose fellows say the same at the same time: one line, and what
/// is out of the ordinary. What to do next the first of them says for all.
fn of_rank(text: &mut String, main: &Log, logs: &[Log], has_fate: bool) {
    let is_whole =
        |log: &Log| log.losses.is_empty() && log.unlogged.0 == 0 && log.may_lack.is_none();
    let lost_none = logs.iter().all(is_whole);
    let lost_none = if lost_none { ", nothing lost" } else { "" };
    let more = match logs.len() - 1 {
        0 => String::new(),
        count => format!(", and {}", counted(count as u64, "more log")),
    };
    line(
        text,
        format_args!("the log is {}{more}{lost_none}", told(main)),
    );
    if lost_none.is_empty() {
        lost(text, logs, false);
    }
    failed(text, logs);
    for note in &main.notes {
        line(text, format_args!("note: {note}"));
    }
    let path = typed(&main.path);
    if has_fate {
        line(text, format_args!("next: memlog postmortem {path}"));
    } else if main.rank.as_deref() == Some("0") {
        let all = list_of(main);
        line(
            text,
            format_args!("next: memlog summary {path}  # of all ranks there: {all}"),
        );
    }
}

/// Each line of it is the rank's.
fn with_rank(rank: &str, text: &str) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| line.strip_prefix(NAME).unwrap_or(line));
    lines
        .map(|line| format!("{NAME}rank {rank}: {line}\n"))
        .collect()
}

/// Who reads the name that was asked for reads an older log.
fn other_name(text: &mut String, main: &Log, name: &Path) {
    let is_empty = || name.metadata().is_ok_and(|found| found.len() == 0);
    let remedy = match has_magic(name) || is_empty() {
        true => "; --force replaces it",
        false => "",
    };
    let (name, path) = (typed(name), typed(&main.path));
    line(
        text,
        format_args!("{name} was there before: this log is {path}{remedy}"),
    );
}

/// A log as it is named: its path, its size and whose it is.
fn told(log: &Log) -> String {
    let program = shown(&log.executable);
    let name = log.started_as.as_ref();
    let name = name.map_or(String::new(), |name| format!(" as {name}"));
    format!(
        "{} ({}, of {program}{name})",
        typed(&log.path),
        sized(log.bytes)
    )
}

/// The command that lists all logs beside one.
fn list_of(log: &Log) -> String {
    let folder = log.path.parent().map(typed).unwrap_or_default();
    let folder = match folder.as_str() {
        "" | "''" => ".",
        folder => folder,
    };
    format!("memlog info --list {folder}")
}

/// The log that is likely the one wanted; the line can be pasted. Among ranks
/// that is none of the launcher's.
fn next(text: &mut String, main: &Log, logs: &[Log], has_fate: bool) {
    if has_fate {
        let path = typed(&main.path);
        line(text, format_args!("next: memlog postmortem {path}"));
        if logs.len() == 1 {
            return;
        }
    }
    let starts_ranks = is_launcher(main, logs);
    let is_rank = |log: &&Log| log.rank.is_some() && !(starts_ranks && log.path == main.path);
    let ranks: Vec<&Log> = logs.iter().filter(is_rank).collect();
    let (among, what) = match ranks.is_empty() {
        true => (logs.iter().collect(), "logs"),
        false => (ranks, "logs of ranks"),
    };
    let worth = |log: &&&Log| (log.rss_peak_kb, log.bytes, log.path == main.path);
    let largest = among.iter().max_by_key(worth).copied().unwrap_or(main);
    let why = match (logs.len(), among.len(), largest.rss_peak_kb) {
        (0 | 1, ..) => String::new(),
        (_, count, 0) => format!("  # the largest of {count} {what}"),
        (_, count, kb) => format!(
            "  # the largest RSS peak of {count} {what}, {}",
            sized(kb.saturating_mul(1024))
        ),
    };
    let path = typed(&largest.path);
    line(text, format_args!("next: memlog summary {path}{why}"));
}

fn others(text: &mut String, main: &Log, logs: &[Log]) {
    let mut others: Vec<&Log> = logs.iter().filter(|log| log.path != main.path).collect();
    if others.is_empty() {
        return;
    }
    // A launcher's own are not what is looked for, nor who did little.
    others.sort_by_key(|log| (log.rank.is_none(), log.is_little()));
    let what = counted(others.len() as u64, "more log");
    let little = others.iter().filter(|log| log.is_little()).count();
    let little = match little {
        count if count > 0 && others.len() > NAMED_LOGS => {
            let count = grouped(count as u64);
            format!(" ({count} with fewer than {FEW_EVENTS} events)")
        }
        _ => String::new(),
    };
    line(
        text,
        format_args!("{what} of processes that it started, or of images before an exec{little}:"),
    );
    for log in others.iter().take(NAMED_LOGS) {
        let rank = log.rank.as_ref();
        let rank = rank.map_or(String::new(), |rank| format!("rank {rank}: "));
        line(text, format_args!("  {rank}{}", told(log)));
    }
    if others.len() > NAMED_LOGS {
        let more = others.len() - NAMED_LOGS;
        let all = list_of(main);
        line(text, format_args!("  and {more} more; all of them: {all}"));
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{NAME}{words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_line_names_the_largest() {
        let log = |path: &str, rss_peak_kb, bytes| Log {
            path: path.into(),
            bytes,
            rss_peak_kb,
            ..Log::of(1, None)
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
        let mut ranks = [log("/a", 9000, 9), log("/b", 1, 8), log("/c", 2048, 7)];
        for (number, log) in ranks[1..].iter_mut().enumerate() {
            log.rank = Some(number.to_string());
        }
        let line = "summary /c  # the largest RSS peak of 2 logs of ranks, 2.0 MiB\n";
        assert!(said(&ranks).contains(line), "{}", said(&ranks));
        let unknown = [log("/a", 0, 7), log("/b", 0, 8)];
        assert!(said(&unknown).contains("summary /b  # the largest of 2 logs"));
    }
}
