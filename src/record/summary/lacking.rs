//! What `record` says of what the logs lack: events, logs, whole programs.

use std::ffi::OsStr;
use std::path::Path;

use memlog_pages::{counted, fate, is_denied, shown, typed, without_log};

use super::line;
use crate::record::log::Log;
use crate::record::output::Plan;

/// Programs that start another one with other rights, in a child.
const CHANGERS: [&str; 7] = [
    "su", "sudo", "runuser", "doas", "pkexec", "unshare", "nsenter",
];

/// What there is no log of although the program started it, if so.
pub fn left_none(main: &Log, logs: &[Log], last_name: Option<&str>) -> Option<String> {
    let program = shown(&main.executable);
    let file = Path::new(&main.executable).file_name()?.to_str()?;
    // An image that ended in order said so, and the kernel knows the last one
    // by as much of its name.
    let is_own = |name: &str| {
        let names = [Some(file), main.started_as.as_deref()];
        names.into_iter().flatten().any(|own| own.starts_with(name))
    };
    if let Some(name) = last_name.filter(|name| !main.has_end && !is_own(name)) {
        let name = shown(OsStr::new(name));
        return Some(format!("{name}, which {program} executed: it left no log"));
    }
    let is_alone = logs.iter().all(|log| log.executable == main.executable);
    (CHANGERS.contains(&file) && is_alone)
        .then(|| format!("what {program} started, if anything: it left no log"))
}

/// That something was not recorded, and why that may be.
pub fn unrecorded(text: &mut String, what: &str, plan: &Plan) {
    let place = shown(plan.folder());
    line(text, format_args!("not recorded: {what}"));
    line(
        text,
        format_args!(
            "hint: as another user it may not write to {place} or not read the recorder, or \
             LD_PRELOAD was taken from it: make a folder that its user may write to and give it \
             by -o, or record the program itself (as in setpriv ... memlog record PROG)"
        ),
    );
}

/// Where it `lacks_logs` altogether, that has been told.
pub fn lost(text: &mut String, logs: &[Log], lacks_logs: bool) {
    let with_losses: Vec<&Log> = logs.iter().filter(|log| !log.losses.is_empty()).collect();
    let unlogged = logs.iter().filter_map(|log| {
        let told = without_log(log.unlogged)?;
        Some((typed(&log.path), told))
    });
    let unlogged: Vec<_> = unlogged.collect();
    let lacking = logs
        .iter()
        .filter_map(|log| Some((typed(&log.path), log.may_lack?)));
    let lacking: Vec<_> = lacking.collect();
    if with_losses.is_empty() && unlogged.is_empty() && lacking.is_empty() && !lacks_logs {
        line(text, format_args!("nothing was lost"));
    }
    for (path, sentence) in lacking {
        line(text, format_args!("perhaps lost, {path}: {sentence}"));
    }
    for (path, told) in unlogged {
        line(text, format_args!("not recorded, {path}: {told}"));
    }
    if logs.iter().any(|log| is_denied(log.unlogged)) {
        line(
            text,
            format_args!(
                "hint: make a folder that the user may write to whom the program becomes, and \
                 give it by -o"
            ),
        );
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

/// Calls that got no memory, of all logs together.
pub fn failed(text: &mut String, logs: &[Log]) {
    let with_failures = logs.iter().filter(|log| log.failed > 0);
    let count = with_failures.fold(0u64, |sum, log| sum.saturating_add(log.failed));
    if count > 0 {
        let calls = counted(count, "allocation");
        let word = if count == 1 { "its" } else { "their" };
        line(
            text,
            format_args!("{calls} failed; memlog report shows {word} size and stack"),
        );
    }
}

/// Why there is no log at all.
pub fn no_log(text: &mut String, plan: &Plan, only: &[String]) {
    let variable = std::env::var_os("MEMLOG_ONLY").filter(|list| !list.is_empty());
    let named = match only.is_empty() {
        true => variable.map(|list| format!("MEMLOG_ONLY={}", shown(&list))),
        false => Some(format!("--only {}", shown(&only.join(", ")))),
    };
    if let Some(named) = named.filter(|_| plan.obstacle().is_none()) {
        line(
            text,
            format_args!("nothing was recorded: {named} names other programs than were started"),
        );
        return;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The user whom the program became may not make logs there.
    #[test]
    fn a_hint_follows_where_a_log_was_denied() {
        use memlog_format::refusal::{Refusal, Step};
        let said = |errno: i32| {
            let (step, errno) = (Step::Create, errno as u32);
            let unlogged = (1, Refusal { step, errno }.encode());
            let log = Log {
                unlogged,
                ..Log::of(1, None)
            };
            let mut text = String::new();
            lost(&mut text, &[log], false);
            text
        };
        let hint = "hint: make a folder that the user may write to whom the program becomes";
        for (errno, has_hint) in [(libc::EACCES, true), (libc::ENOSPC, false)] {
            let text = said(errno);
            assert!(text.contains("1 forked process of it has no log"), "{text}");
            assert_eq!(text.contains(hint), has_hint, "{text}");
        }
    }
}
