//! What stands above everything else: both peaks, how well they are known,
//! and what is missing.

mod by_scope;
mod by_thread;
mod coverage;
mod cuts;
mod failed;
mod notes;
mod resident;
pub mod switched;
mod unseen;
mod window;

use memlog_analysis::Summary;
use memlog_format::meta::{Key, Lack};
use memlog_read::Log;

use crate::facts::{Imported, ends_off, is_unknown, left_out, rank, started_as, threads_at_once};
use crate::open::Analysis;
use crate::page::heading::{Heading, Line, Says};
use crate::subject::Subject;
use crate::words::{Sizes, clean, counted, grouped, signal};
pub use by_scope::figures as scope_figures;
pub use by_thread::figures as thread_figures;
pub use coverage::{holders, past_us};
pub use cuts::{COMPILERS, figures as cut_figures, sentences as cut_sentences, unwindable};
pub use failed::{askers as failed_askers, figures as failed_figures, parts as failed_parts};
use notes::damage;
pub use notes::{gap, lacking, notes, notes_on_blocks};

/// Where what a line says begins.
pub const INDENT: usize = 11;

/// What the peak of resident memory was made of, as far as it is known.
pub fn made_of(log: &Log, analysis: &Analysis, sizes: Sizes) -> Vec<String> {
    resident::peak(log, analysis, sizes).1
}

/// Both peaks, what they consist of, and how much of it is known.
pub fn heading(subject: &Subject) -> Heading {
    let (log, analysis) = (subject.family.own(), subject.analysis);
    let summary = &analysis.summary;
    let mut lines = Heading {
        indent: INDENT,
        ..Heading::default()
    };
    if let Some(part) = analysis.part {
        let read = format!(
            "read up to {:.1} s of the log, interrupted",
            log.seconds(part.tick)
        );
        let shown = "all that follows is of that part";
        lines.alarm(
            "PART ONLY",
            vec![read, format!("{:.0} % of it", part.percent), shown.into()],
        );
    }
    let imported = Imported::of(log);
    let is_imported = imported.is_some();
    if let Some(imported) = imported {
        let from = format!("from a {} file, {}", imported.tool, imported.file);
        let parts = [from].into_iter().chain(imported.unknown());
        lines.line("imported", parts.collect());
    }
    lines.line("program", program(subject));
    if let Some(parts) = window::line(log, summary) {
        lines.line("flight recorder", parts);
    }
    if let Some(parts) = stripped(log, summary, subject.sizes) {
        let name = match log.left_out().is_some_and(|left_out| left_out.by_recorder) {
            true => "culled",
            false => "stripped",
        };
        lines.line(name, parts);
    }
    let sizes = subject.sizes;
    let (when, parts) = resident::peak(log, analysis, sizes);
    lines.line("RSS peak", when);
    if !parts.is_empty() {
        lines.line("", parts);
    }
    if !is_unknown(log, Lack::Threads) {
        let parts = by_thread::parts(log, analysis);
        if !parts.is_empty() {
            lines.line("by thread", parts);
        }
    }
    let parts = by_scope::parts(log, analysis, sizes);
    if !parts.is_empty() {
        lines.line("by scope", parts);
    }
    match coverage::line(analysis, sizes).filter(|_| !is_imported) {
        Some((parts, true)) => lines.alarm("coverage", parts),
        Some((parts, false)) => lines.line("coverage", parts),
        None => {}
    }
    match window::heap_peak(log, summary, sizes) {
        Some(parts) => {
            lines.line("heap peak", parts);
            lines.line("since", heap_peak(log, summary, sizes));
        }
        None => lines.line("heap peak", heap_peak(log, summary, sizes)),
    }
    if ![Lack::Course, Lack::Live]
        .iter()
        .any(|lack| is_unknown(log, *lack))
    {
        lines.lines.push(Line {
            name: "over time",
            is_alarm: false,
            says: Says::Curves(analysis.tally.history().clone()),
        });
    }
    mapped(&mut lines, summary, sizes);
    let missing = damage(analysis).or_else(|| {
        let sentence = "what came last may be missing, see the note";
        lacking(log).map(|_| sentence.to_owned())
    });
    let is_whole = summary.lost_events == 0 && missing.is_none();
    let events = events(log, analysis, missing, sizes);
    match is_whole {
        true => lines.line("events", events),
        false => lines.alarm("events", events),
    }
    if !subject.failed.is_empty() {
        lines.alarm("failed", subject.failed.clone());
    }
    lines.line("log", [size(subject), stacks(summary)].concat());
    lines
}

fn program(subject: &Subject) -> Vec<String> {
    let (log, summary) = (subject.family.own(), &subject.analysis.summary);
    let name = log.text(Key::Executable).map(clean);
    let mut name = name.unwrap_or_else(|| "unknown program".into());
    if let Some(started_as) = started_as(log) {
        name = format!("{name} as {started_as}");
    }
    let mut parts = vec![name];
    parts.extend(rank(log));
    let host = log.text(Key::Host).map(clean);
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    match log.start() {
        // What was imported may not have it.
        Some(start) if start.pid == 0 && host.is_empty() => {}
        Some(start) => parts.push(format!("process {}{host}", start.pid)),
        None => {}
    }
    if !is_unknown(log, Lack::Times) {
        parts.push(format!("{:.3} s", log.seconds(summary.end_tick)));
    }
    if !is_unknown(log, Lack::Threads) {
        parts.push(threads(log, summary));
    }
    match (log.end(), log.death()) {
        (_, Some(death)) => parts.push(format!("killed by signal {}", signal(death.signal))),
        // What is not known of it stands above.
        (None, None) if Imported::of(log).is_some() => {}
        (None, None) if subject.is_running && ends_off(log) => {
            parts.push("still running, recording is off".into());
        }
        (None, None) if subject.is_running => parts.push("still running".into()),
        (None, None) if ends_off(log) => {
            parts.push("its end was not recorded: recording was off".into());
        }
        (None, None) => {
            parts.push("no end in the log (still running, killed, or exec'd)".into());
        }
        (Some(_), None) => {}
    }
    parts
}

/// What the log tells of without events.
fn stripped(log: &Log, summary: &Summary, sizes: Sizes) -> Option<Vec<String>> {
    let stripped = log.left_out()?;
    let passed = summary.totals.passed;
    let blocks = format!(
        "{} of {}",
        counted(passed.blocks, "block"),
        sizes.of(passed.bytes)
    );
    Some(vec![
        format!("{blocks} {} are in the sums only", left_out(stripped)),
        "when they were live is not known, but for the peaks".into(),
    ])
}

/// How many there were, and how many at a time where those were fewer.
fn threads(log: &Log, summary: &Summary) -> String {
    let all = counted(summary.threads, "thread");
    match threads_at_once(log, summary.threads) {
        most if most < summary.threads => format!("{all} (at most {} at a time)", grouped(most)),
        _ => all,
    }
}

fn heap_peak(log: &Log, summary: &Summary, sizes: Sizes) -> Vec<String> {
    let (peak, at_rss_peak) = (&summary.heap_peak, &summary.rss_peak);
    let is_again = at_rss_peak.live_bytes == peak.bytes && at_rss_peak.tick != peak.tick;
    let first = match is_again && summary.shows_rss_peak() && peak.bytes > 0 {
        true => "first at",
        false => "at",
    };
    if is_unknown(log, Lack::Live) {
        return vec!["not known: the file has only what was allocated in all".into()];
    }
    if is_unknown(log, Lack::Peak) {
        return vec!["not known: the file has one moment only".into()];
    }
    let mut part = sizes.of(peak.bytes);
    if !is_unknown(log, Lack::Counts) {
        part += &format!(" in {}", counted(peak.blocks, "block"));
    }
    if !is_unknown(log, Lack::Times) {
        part += &format!(" {first} {:.3} s", log.seconds(peak.tick));
    }
    let mut parts = vec![part];
    if first != "at" {
        parts.push("as large again at the RSS peak".into());
    }
    if summary.is_lossy() {
        parts.push("of what was recorded".into());
    }
    parts.extend(window::is_of_all(summary));
    if peak.error_bytes > 0 {
        let error = sizes.of(peak.error_bytes);
        parts.push(match peak.error_bytes < peak.bytes {
            true => format!("±{error}, as threads ran side by side"),
            false => "how exact is not known, as threads ran side by side".into(),
        });
    }
    parts
}

/// What the program mapped itself is resident and in no heap.
fn mapped(lines: &mut Heading, summary: &Summary, sizes: Sizes) {
    let mapped = &summary.mapped;
    if mapped.calls == 0 {
        return;
    }
    let parts = vec![
        format!(
            "at most {} at a time by {} of its own",
            sizes.of(mapped.peak_bytes),
            counted(mapped.calls, "call")
        ),
        match summary.window {
            None => "not in the heap".into(),
            Some(_) => "not in the heap and of the window only".into(),
        },
    ];
    lines.line("mapped", parts);
}

fn events(log: &Log, analysis: &Analysis, missing: Option<String>, sizes: Sizes) -> Vec<String> {
    let totals = &analysis.summary.totals;
    let bytes = sizes.of(totals.bytes);
    if is_unknown(log, Lack::Gone) {
        return vec!["not known: the file has only what was live".into()];
    }
    if is_unknown(log, Lack::Counts) {
        return vec![format!(
            "{bytes} were allocated, in how many calls is not known"
        )];
    }
    let mut parts = vec![format!(
        "{} of {bytes}",
        counted(totals.allocations, "allocation")
    )];
    if !is_unknown(log, Lack::Live) {
        parts.push(counted(totals.releases, "release"));
    }
    if totals.inherited_blocks > 0 {
        let blocks = counted(totals.inherited_blocks, "block");
        let bytes = sizes.of(totals.inherited_bytes);
        parts.push(format!("{blocks} of {bytes} inherited by fork"));
    }
    // Of another tool's losses nothing is known.
    if Imported::of(log).is_none() || missing.is_some() {
        parts.push(lost(analysis.summary.lost_events, missing));
    }
    parts
}

/// The recorder's count says nothing of what went from the file afterwards.
fn lost(events: u64, damage: Option<String>) -> String {
    match (events, damage) {
        (0, None) => "none lost".into(),
        (0, Some(damage)) => format!("none counted as lost, but {damage}"),
        (lost, None) => format!("{} LOST", grouped(lost)),
        (lost, Some(damage)) => format!("{} LOST, and {damage}", grouped(lost)),
    }
}

fn stacks(summary: &Summary) -> Vec<String> {
    let cut = &summary.cut_stacks;
    let mut parts = vec![counted(summary.distinct_stacks, "stack")];
    if cut.none() > 0 {
        parts.push(format!("{} without one", counted(cut.none(), "allocation")));
    }
    if cut.cut() == 0 {
        parts.push("none cut".into());
        return parts;
    }
    let reasons = cut.reasons();
    let mut reasons = reasons.map(|(name, count)| format!("{} {name}", grouped(count)));
    let count = counted(cut.cut(), "allocation");
    let first = reasons.next().unwrap_or_default();
    parts.push(format!("{count} with a cut one: {first}"));
    parts.extend(reasons);
    parts
}

/// What the log takes on the disk; nothing of one that was made of another tool's file, which
/// has another size.
fn size(subject: &Subject) -> Vec<String> {
    let (log, analysis) = (subject.family.own(), subject.analysis);
    if Imported::of(log).is_some() {
        return Vec::new();
    }
    let size = log.size();
    let mut parts = vec![subject.sizes.of(size.file_bytes as u64)];
    let totals = &analysis.summary.totals;
    let events = totals.allocations + totals.releases;
    let has_all = analysis.summary.window.is_none() && log.left_out().is_none();
    if events > 0 && analysis.part.is_none() && has_all {
        let each = size.event_bytes as f64 / events as f64;
        parts.push(format!("{each:.1} bytes an event"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_log_is_not_said_to_be_whole() {
        let damage = || Some("it is cut".to_owned());
        assert_eq!(lost(0, None), "none lost");
        assert_eq!(lost(0, damage()), "none counted as lost, but it is cut");
        assert_eq!(lost(1234, None), "1,234 LOST");
        assert_eq!(lost(1234, damage()), "1,234 LOST, and it is cut");
    }
}
