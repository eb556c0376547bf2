//! What stands above the tree: both peaks, how well they are known, and what
//! is missing.

use std::io::{Result, Write};

use memlog_analysis::Summary;
use memlog_format::counter::Counter;
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::open::{Analysis, Family, clean, counted, grouped};

/// Lines that have a choice are no wider.
const COLUMNS: usize = 100;
/// Where what a line says begins.
const INDENT: usize = 11;

pub fn print(out: &mut impl Write, family: &Family, analysis: &Analysis) -> Result<()> {
    let (log, summary) = (family.own(), &analysis.summary);
    line(out, "program", &program(log, summary))?;
    rss_peak(out, log, analysis)?;
    line(out, "heap peak", &heap_peak(log, summary))?;
    mapped(out, summary)?;
    line(out, "events", &events(analysis))?;
    line(out, "stacks", &stacks(summary))?;
    warnings(out, family, analysis)
}

/// A name and what is to be said, broken only between the parts.
fn line(out: &mut impl Write, name: &str, parts: &[String]) -> Result<()> {
    let mut text = match name {
        "" => String::new(),
        name => format!("{name}:"),
    };
    text = format!("{text:<INDENT$}");
    let mut column = INDENT;
    for (index, part) in parts.iter().enumerate() {
        let width = part.chars().count();
        if index > 0 && column + 3 + width > COLUMNS {
            text.push_str(&format!(",\n{:INDENT$}", ""));
            column = INDENT;
        } else if index > 0 {
            text.push_str(", ");
            column += 2;
        }
        text.push_str(part);
        column += width;
    }
    writeln!(out, "{text}")
}

fn program(log: &Log, summary: &Summary) -> Vec<String> {
    let name = log.text(Key::Executable).map(clean);
    let mut parts = vec![name.unwrap_or_else(|| "unknown program".into())];
    let host = log.text(Key::Host).map(clean);
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    if let Some(start) = log.start() {
        parts.push(format!("process {}{host}", start.pid));
    }
    parts.push(format!("{:.3} s", log.seconds(summary.end_tick)));
    parts.push(counted(summary.threads, "thread"));
    if log.end().is_none() {
        parts.push("no end in the log".into());
    }
    parts
}

fn rss_peak(out: &mut impl Write, log: &Log, analysis: &Analysis) -> Result<()> {
    let summary = &analysis.summary;
    let (peak, bracket) = (&summary.rss_peak, &summary.rss_peak.bracket);
    if summary.rss_peak_bytes == 0 {
        let text = "not known; the largest heap is taken for it";
        return line(out, "RSS peak", &[text.into()]);
    }
    let bytes = grouped(summary.rss_peak_bytes);
    let when = format!("{bytes}B at {:.3} s", log.seconds(peak.tick));
    let between = format!(
        "between the readings at {:.3} s and {:.3} s",
        log.seconds(bracket.from_tick),
        log.seconds(bracket.to_tick),
    );
    line(out, "RSS peak", &[when, between])?;
    if bracket.low_heap_bytes != bracket.high_heap_bytes {
        let (low, high) = (bracket.low_heap_bytes, bracket.high_heap_bytes);
        let events = format!("{} between them", counted(bracket.events, "event"));
        let heap = format!("heap from {}B to {}B", grouped(low), grouped(high));
        line(out, "", &[events, heap])?;
    }
    line(out, "", &rss_parts(summary, analysis.rss_peak_mapped_bytes))
}

/// What the resident memory consists of. What was mapped need not have been
/// touched, so its part is known only from above.
fn rss_parts(summary: &Summary, mapped_bytes: u64) -> Vec<String> {
    let (live, own) = (summary.rss_peak.live_bytes, summary.own_rss_bytes);
    let seen = live.saturating_add(own);
    let mut parts = vec![
        format!("{}B live heap", grouped(live)),
        format!("{}B memlog's own", grouped(own)),
    ];
    let Some(rest) = summary.rss_peak_bytes.checked_sub(seen) else {
        let over = grouped(seen - summary.rss_peak_bytes);
        parts.push(format!("{over}B of it not resident"));
        return parts;
    };
    if mapped_bytes == 0 {
        parts.push(format!("{}B not seen by hooks", grouped(rest)));
        return parts;
    }
    let most = grouped(mapped_bytes.min(rest));
    parts.push(format!(
        "{}B others: at most {most}B of it mapped by the program itself",
        grouped(rest)
    ));
    parts.push("the rest not seen by hooks".into());
    parts
}

fn heap_peak(log: &Log, summary: &Summary) -> Vec<String> {
    let peak = &summary.heap_peak;
    let mut parts = vec![format!(
        "{}B in {} at {:.3} s",
        grouped(peak.bytes),
        counted(peak.blocks, "block"),
        log.seconds(peak.tick)
    )];
    if peak.error_bytes > 0 {
        let error = grouped(peak.error_bytes);
        parts.push(format!("at most {error}B off between threads"));
    }
    parts
}

/// What the program mapped itself is resident and in no heap.
fn mapped(out: &mut impl Write, summary: &Summary) -> Result<()> {
    let mapped = &summary.mapped;
    if mapped.calls == 0 {
        return Ok(());
    }
    let parts = [
        format!(
            "at most {}B at a time by {} of the program's own",
            grouped(mapped.peak_bytes),
            counted(mapped.calls, "call")
        ),
        "not in the heap".into(),
    ];
    line(out, "mapped", &parts)
}

fn events(analysis: &Analysis) -> Vec<String> {
    let totals = &analysis.summary.totals;
    let mut parts = vec![
        format!(
            "{} of {}B",
            counted(totals.allocations, "allocation"),
            grouped(totals.bytes)
        ),
        counted(totals.releases, "release"),
    ];
    if totals.inherited_blocks > 0 {
        let blocks = counted(totals.inherited_blocks, "block");
        let bytes = grouped(totals.inherited_bytes);
        parts.push(format!("{blocks} of {bytes}B inherited by fork"));
    }
    parts.push(lost(analysis.summary.lost_events, damage(analysis)));
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

/// What shows that the file is not as it was written. A cut between two chunks
/// is no finding, but takes tables away.
fn damage(analysis: &Analysis) -> Option<String> {
    let findings = analysis.damages();
    let mut reasons = analysis.summary.cut_stacks.reasons();
    if findings > 0 {
        let findings = counted(findings, "finding");
        return Some(format!("the log is damaged: {findings}, see memlog info"));
    }
    let is_lacking = reasons.any(|(name, _)| name == "stack not in the log");
    is_lacking.then(|| "the log is cut short or damaged: it lacks stacks".into())
}

fn stacks(summary: &Summary) -> Vec<String> {
    let cut = &summary.cut_stacks;
    let mut parts = vec![format!("{} different", grouped(summary.distinct_stacks))];
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

fn warnings(out: &mut impl Write, family: &Family, analysis: &Analysis) -> Result<()> {
    let sentences = [
        recorders_notes(family.own()),
        Vec::from_iter(empty(family.own(), analysis)),
        Vec::from_iter(losses(family.own())),
        anomalies(analysis),
        Vec::from_iter(family.missing_parent.map(str::to_owned)),
        Vec::from_iter(analysis.findings.list().iter().map(ToString::to_string)),
    ];
    for sentence in sentences.iter().flatten() {
        writeln!(out, "note: {sentence}")?;
    }
    Ok(())
}

/// What the recorder had to say, each sentence once.
fn recorders_notes(log: &Log) -> Vec<String> {
    let mut notes = Vec::new();
    for text in log.texts(Key::Note) {
        let note = clean(text);
        let note = note.trim_end_matches([' ', ';']).to_owned();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Why a log may have no allocation.
fn empty(log: &Log, analysis: &Analysis) -> Option<String> {
    let summary = &analysis.summary;
    if summary.totals.allocations > 0 || summary.lost_events > 0 || damage(analysis).is_some() {
        return None;
    }
    Some(match log.text(Key::Note) {
        Some(_) => "no allocation was recorded; the notes above may say why".into(),
        None => "no allocation was recorded: the program made none or ended before, it has a \
                 malloc of its own, or it was linked with -lmemlog after -lc, or statically \
                 without the flags of `memlog ldflags --static`"
            .into(),
    })
}

/// What lost events mean for the figures.
fn losses(log: &Log) -> Option<String> {
    let no_room = log.counter(Counter::LostNoRoom);
    (no_room > 0).then(|| {
        format!(
            "{} found no room in the log, which had reached MEMLOG_MAX_LOG or filled the disk; \
             the figures are of what came before",
            counted(no_room, "event")
        )
    })
}

fn anomalies(analysis: &Analysis) -> Vec<String> {
    let anomalies = &analysis.summary.anomalies;
    let counts = [
        (
            anomalies.alive_twice,
            "allocation",
            "at an address that was live",
        ),
        (
            anomalies.released_twice,
            "release",
            "of a block that was released before",
        ),
        (
            anomalies.released_of_parent,
            "release",
            "of a block of the parent process",
        ),
        (
            anomalies.released_from_before,
            "release",
            "of blocks whose allocation was not seen (allocated before the recorder started or \
             through a function that is not wrapped)",
        ),
        (
            analysis.findings.order_breaks,
            "order number",
            "in contradiction to others",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let sentences = counts.map(|(count, thing, what)| format!("{} {what}", counted(count, thing)));
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_parts() {
        let mut out = Vec::new();
        let parts = ["a".repeat(60), "b".repeat(26), "c".repeat(40)];
        line(&mut out, "name", &parts).unwrap();
        let [a, b, c] = &parts;
        let expected = format!("name:      {a}, {b},\n           {c}\n");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(expected.lines().map(str::len).max(), Some(COLUMNS));
    }

    #[test]
    fn a_damaged_log_is_not_said_to_be_whole() {
        let damage = || Some("it is cut".to_owned());
        assert_eq!(lost(0, None), "none lost");
        assert_eq!(lost(0, damage()), "none counted as lost, but it is cut");
        assert_eq!(lost(1234, None), "1,234 LOST");
        assert_eq!(lost(1234, damage()), "1,234 LOST, and it is cut");
    }

    #[test]
    fn mapped_memory_is_told_from_what_was_not_seen() {
        let mut summary = Summary {
            rss_peak_bytes: 1000,
            own_rss_bytes: 100,
            ..Summary::default()
        };
        summary.rss_peak.live_bytes = 300;
        assert_eq!(rss_parts(&summary, 0)[2], "600B not seen by hooks");
        let others = "600B others: at most 500B of it mapped by the program itself";
        assert_eq!(rss_parts(&summary, 500)[2], others);
        let others = "600B others: at most 600B of it mapped by the program itself";
        assert_eq!(rss_parts(&summary, 5000)[2], others);
        summary.rss_peak.live_bytes = 1900;
        assert_eq!(rss_parts(&summary, 5000)[2], "1,000B of it not resident");
    }
}
