//! Calls that got no memory: a line of the heading, and who asked.

use std::io::{Result, Write};

use memlog_analysis::{Asker, Failed};
use memlog_format::counter::Counter;
use memlog_read::Log;
use serde_json::{Value, json};

use crate::names::Labels;
use crate::open::Analysis;
use crate::screen::Role;
use crate::subject::Subject;
use crate::words::{clean, counted, grouped, sized};

/// Askers that are shown with their stacks.
const MOST_SHOWN: usize = 5;
/// Places that are shown of a stack.
const MOST_PLACES: usize = 30;

/// How many failed: what the recorder counted, unless its count came to less.
pub fn count(log: &Log, analysis: &Analysis) -> u64 {
    let told = analysis.fold.failures().calls();
    match analysis.part {
        Some(_) => told,
        None => told.max(log.counter(Counter::AllocationsFailed)),
    }
}

/// The parts of the line, nothing where none failed: how many, the largest, and
/// the first.
pub fn parts(log: &Log, analysis: &Analysis, labels: &mut Labels) -> Vec<String> {
    let failures = analysis.fold.failures();
    let count = count(log, analysis);
    if count == 0 {
        return Vec::new();
    }
    let mut parts = vec![format!("{} failed", counted(count, "allocation"))];
    let (Some(largest), Some(first)) = (failures.largest(), failures.first()) else {
        parts.push("by whom the log does not hold any more".into());
        return parts;
    };
    let in_window = match analysis.summary.window {
        Some(_) => " that the log still holds",
        None => "",
    };
    parts.push(format!(
        "the largest{in_window} asked for {} at {}{}",
        asked(largest.size),
        place(&largest, labels),
        why(largest.errno)
    ));
    let resident = match first.resident_kb {
        0 => String::new(),
        kb => format!(" when {} were resident", sized(kb.saturating_mul(1024))),
    };
    let seconds = log.seconds(first.tick);
    parts.push(format!("the first{in_window} at {seconds:.3} s{resident}"));
    parts
}

/// `12.5 GiB`; no number where it is as good as all there is.
fn asked(bytes: u64) -> String {
    match bytes {
        u64::MAX => "more bytes than there are numbers for".into(),
        bytes => sized(bytes),
    }
}

/// What is said of a call that did not fail for want of memory.
fn why(errno: u32) -> &'static str {
    match errno as i32 {
        libc::EINVAL => " (EINVAL: with an alignment that is none)",
        _ => "",
    }
}

fn place(failed: &Failed, labels: &mut Labels) -> String {
    places(failed.stack, labels)
        .into_iter()
        .next()
        .unwrap_or_else(|| "(no stack)".into())
}

/// The places of a stack, from the innermost out.
fn places(stack: u32, labels: &mut Labels) -> Vec<String> {
    let mut places = Vec::new();
    let mut cursor = labels.start(stack);
    while places.len() < MOST_PLACES
        && let Some((label, outer)) = labels.step(cursor)
    {
        cursor = outer;
        let name = &labels.names()[label as usize];
        places.push(match name.place() {
            Some(place) => format!("{} [{place}]", name.function),
            None => name.function.clone(),
        });
    }
    places
}

/// Who asked, below the tree of a report.
pub fn print(out: &mut impl Write, subject: &Subject, labels: &mut Labels) -> Result<()> {
    let log = subject.family.own();
    let analysis = subject.analysis;
    let askers = analysis.fold.failures().askers();
    if askers.is_empty() {
        return Ok(());
    }
    let title = "allocations that failed, by who asked for most";
    let title = subject.screen.colours.paint(Role::Title, title);
    writeln!(out, "\n{title}:")?;
    for asker in askers.iter().take(MOST_SHOWN) {
        let named = analysis.fold.threads().get(asker.first.tid);
        let name = named.map(|thread| clean(&thread.name));
        writeln!(out, "{}", heading(log, asker, name))?;
        for place in places(asker.largest.stack, labels) {
            writeln!(out, "    {place}")?;
        }
    }
    if askers.len() > MOST_SHOWN {
        let more = counted((askers.len() - MOST_SHOWN) as u64, "other place");
        writeln!(out, "and {more}")?;
    }
    Ok(())
}

fn heading(log: &Log, asker: &Asker, name: Option<String>) -> String {
    let (first, largest) = (&asker.first, &asker.largest);
    let api = first.api.name();
    let seconds = log.seconds(first.tick);
    let at_most = if asker.calls == 1 { "" } else { "at most " };
    let name = name.filter(|name| !name.is_empty());
    let name = name.map_or(String::new(), |name| format!(" ({name})"));
    format!(
        "  {} of {api} for {at_most}{}{}, first at {seconds:.3} s by thread {}{name}",
        counted(asker.calls, "call"),
        bytes(largest.size),
        why(largest.errno),
        first.tid
    )
}

fn bytes(size: u64) -> String {
    match size {
        u64::MAX => asked(size),
        ..1024 => format!("{size}B"),
        _ => format!("{}B ({})", grouped(size), sized(size)),
    }
}

/// The same for programs: the figures that `stats` prints.
pub fn figures(log: &Log, analysis: &Analysis) -> Value {
    let failures = analysis.fold.failures();
    let first = failures.first();
    let largest = failures.largest();
    json!({
        "failed_allocations": count(log, analysis),
        "failed_largest_bytes": largest.map(|failed| failed.size),
        "failed_largest_by": largest.map(|failed| failed.api.name()),
        "failed_first_seconds": first.map(|failed| log.seconds(failed.tick)),
        "failed_first_rss_bytes": first
            .filter(|failed| failed.resident_kb > 0)
            .map(|failed| failed.resident_kb.saturating_mul(1024)),
    })
}

/// Who asked, for programs.
pub fn askers(subject: &Subject, labels: &mut Labels) -> Vec<Value> {
    let log = subject.family.own();
    let askers = subject.analysis.fold.failures().askers().into_iter();
    let askers = askers.map(|asker| {
        json!({
            "function": asker.first.api.name(),
            "calls": asker.calls,
            "largest_bytes": asker.largest.size,
            "errno": asker.largest.errno,
            "first_seconds": log.seconds(asker.first.tick),
            "thread": asker.first.tid,
            "stack": places(asker.largest.stack, labels),
        })
    });
    askers.collect()
}
