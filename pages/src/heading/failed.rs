//! Calls that got no memory: a line of the heading, and who asked.

use memlog_analysis::{Failed, Failures};
use memlog_format::counter::Counter;
use memlog_read::Log;
use serde_json::{Map, Value};

use crate::names::Labels;
use crate::open::Analysis;
use crate::page::Page;
use crate::page::others::FailedCalls;
use crate::subject::Subject;
use crate::words::{asked, clean, counted, no_memory_but, sized};

/// Places that are shown of a stack.
const MOST_PLACES: usize = 30;

/// How many failed: what the recorder counted, unless its count came to less, or the
/// log was not read to its end.
pub fn count(log: &Log, failures: &Failures, is_whole: bool) -> u64 {
    let told = failures.calls();
    match is_whole {
        false => told,
        true => told.max(log.counter(Counter::AllocationsFailed)),
    }
}

/// The parts of the line, nothing where none failed: how many, the largest, and
/// the first.
pub fn parts(log: &Log, analysis: &Analysis, labels: &mut Labels) -> Vec<String> {
    let failures = analysis.tally.failures();
    let count = count(log, failures, analysis.part.is_none());
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
        no_memory_but(largest.errno)
    ));
    let resident = match first.resident_kb {
        0 => String::new(),
        kb => format!(" when {} were resident", sized(kb.saturating_mul(1024))),
    };
    let seconds = log.seconds(first.tick);
    parts.push(format!("the first{in_window} at {seconds:.3} s{resident}"));
    parts
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

/// The same for programs: the figures that `stats` prints.
pub fn figures(log: &Log, failures: &Failures, is_whole: bool) -> Map<String, Value> {
    let first = failures.first();
    let largest = failures.largest();
    let resident = first.filter(|failed| failed.resident_kb > 0);
    let resident = resident.map(|failed| failed.resident_kb.saturating_mul(1024));
    let size = largest.map(|failed| failed.size);
    let seconds = first.map(|failed| log.seconds(failed.tick));
    Page::keyed([
        ("failed_allocations", count(log, failures, is_whole).into()),
        ("failed_largest_bytes", size.into()),
        (
            "failed_largest_by",
            largest.map(|failed| failed.api.name()).into(),
        ),
        ("failed_first_seconds", seconds.into()),
        ("failed_first_rss_bytes", resident.into()),
    ])
}

/// Who asked, those who asked for most first.
pub fn askers(subject: &Subject, labels: &mut Labels) -> Vec<FailedCalls> {
    let log = subject.family.own();
    let tally = &subject.analysis.tally;
    let askers = tally.failures().askers().into_iter();
    let askers = askers.map(|asker| {
        let thread = tally.threads().get(asker.first.tid);
        let name = thread.map(|thread| clean(&thread.name));
        FailedCalls {
            function: asker.first.api.name(),
            calls: asker.calls,
            largest_bytes: asker.largest.size,
            errno: asker.largest.errno,
            first_seconds: log.seconds(asker.first.tick),
            tid: asker.first.tid,
            thread_name: name.filter(|name| !name.is_empty()),
            stack: places(asker.largest.stack, labels),
        }
    });
    askers.collect()
}
