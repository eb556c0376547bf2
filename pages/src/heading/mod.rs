//! What stands above everything else: both peaks, how well they are known,
//! and what is missing.

mod by_thread;
mod coverage;
mod curve;
mod cuts;
mod failed;
mod notes;
mod resident;
mod window;

use std::io::{Result, Write};

use memlog_analysis::Summary;
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::facts::{rank, started_as, threads_at_once};
use crate::open::Analysis;
use crate::screen::{Role, Screen, wrapped};
use crate::subject::Subject;
use crate::words::{Sizes, clean, counted, grouped, signal};
pub use by_thread::figures as thread_figures;
pub use coverage::{holders, past_us};
pub use cuts::{figures as cut_figures, sentences as cut_sentences};
pub use failed::{
    askers as failed_askers, figures as failed_figures, parts as failed_parts,
    print as print_failed,
};
use notes::damage;
pub use notes::{lacking, notes};

/// Lines that have a choice are no wider where there is no terminal.
const COLUMNS: usize = 100;
/// Where what a line says begins.
const INDENT: usize = 11;

/// What gives way first where there is no room for all: the report has it.
const LEAST_TELLING: [&str; 9] = [
    OVER_TIME,
    "log",
    "by thread",
    "mapped",
    "coverage",
    "events",
    PARTS,
    "heap peak",
    "program",
];
/// The lines below the RSS peak have no name.
const PARTS: &str = "";
const OVER_TIME: &str = "over time";
/// Rows that places have besides the least of them where there is a curve.
const PLACES: usize = 6;

/// Prints it.
pub fn print_heading(out: &mut impl Write, subject: &Subject) -> Result<()> {
    let lines = lines(subject);
    let mut lines = lines.iter().filter(|line| line.name != Some(OVER_TIME));
    lines.try_for_each(|line| writeln!(out, "{}", line.text))
}

/// Prints it with curves in so many rows, if there is a way to make do with them;
/// says whether there is one that keeps what the RSS peak consists of.
pub fn print_heading_within(out: &mut impl Write, subject: &Subject, rows: usize) -> Result<bool> {
    let screen = subject.screen;
    let lines = lines(subject);
    let shown = |left_out: &[&str]| {
        let goes = |line: &&Line| line.name.is_none_or(|name| !left_out.contains(&name));
        lines.iter().filter(goes).collect::<Vec<_>>()
    };
    let fits = |left_out: &[&str]| {
        let rows_of = |line: &&Line| screen.rows_of(line.text.as_bytes());
        let needed: usize = shown(left_out).iter().map(rows_of).sum();
        // Rows of places tell more than a curve.
        let has_curve = !left_out.contains(&OVER_TIME);
        needed <= rows.saturating_sub(if has_curve { PLACES } else { 0 })
    };
    let left_out = giving_way(fits);
    for line in shown(&left_out) {
        writeln!(out, "{}", line.text)?;
    }
    let has_parts = lines.iter().any(|line| line.name == Some(PARTS));
    Ok(fits(&left_out) && !(has_parts && left_out.contains(&PARTS)))
}

/// What is left out, as little as will do: one that gave way in vain, for a
/// longer one that is gone as well, comes back.
fn giving_way(fits: impl Fn(&[&str]) -> bool) -> Vec<&'static str> {
    let count = (0..LEAST_TELLING.len()).find(|&count| fits(&LEAST_TELLING[..count]));
    let mut left_out = LEAST_TELLING[..count.unwrap_or(LEAST_TELLING.len())].to_vec();
    for name in left_out.clone().into_iter().rev() {
        let fewer: Vec<_> = left_out
            .iter()
            .copied()
            .filter(|one| *one != name)
            .collect();
        if fits(&fewer) {
            left_out = fewer;
        }
    }
    left_out
}

fn lines(subject: &Subject) -> Vec<Line> {
    let (log, analysis) = (subject.family.own(), subject.analysis);
    let summary = &analysis.summary;
    let mut lines = Lines {
        list: Vec::new(),
        screen: subject.screen,
    };
    if let Some(part) = analysis.part {
        let read = format!(
            "read up to {:.1} s of the log, interrupted",
            log.seconds(part.tick)
        );
        let shown = "all that follows is of that part";
        lines.alarm(
            "PART ONLY",
            &[read, format!("{:.0} % of it", part.percent), shown.into()],
        );
    }
    lines.line("program", &program(subject));
    if let Some(parts) = window::line(log, summary) {
        lines.line("flight recorder", &parts);
    }
    let sizes = subject.screen.sizes;
    let (when, parts) = resident::peak(log, summary, sizes);
    lines.line("RSS peak", &when);
    if !parts.is_empty() {
        lines.line(PARTS, &parts);
    }
    let parts = by_thread::parts(log, analysis);
    if !parts.is_empty() {
        lines.line("by thread", &parts);
    }
    match coverage::line(analysis, sizes) {
        Some((parts, true)) => lines.alarm("coverage", &parts),
        Some((parts, false)) => lines.line("coverage", &parts),
        None => {}
    }
    match window::heap_peak(log, summary, sizes) {
        Some(parts) => {
            lines.line("heap peak", &parts);
            lines.line("since", &heap_peak(log, summary, sizes));
        }
        None => lines.line("heap peak", &heap_peak(log, summary, sizes)),
    }
    let room = subject.screen.columns().unwrap_or(COLUMNS);
    let history = analysis.fold.history();
    let curves = curve::lines(history, room.saturating_sub(INDENT + 1), sizes);
    for (index, curve) in curves.iter().enumerate() {
        let name = if index == 0 { OVER_TIME } else { PARTS };
        lines.drawn(name, curve);
    }
    mapped(&mut lines, summary, sizes);
    let missing = damage(analysis).or_else(|| {
        let sentence = "what came last may be missing, see the note";
        lacking(log).map(|_| sentence.to_owned())
    });
    let is_whole = summary.lost_events == 0 && missing.is_none();
    let events = events(analysis, missing, sizes);
    match is_whole {
        true => lines.line("events", &events),
        false => lines.alarm("events", &events),
    }
    if !subject.failed.is_empty() {
        lines.alarm("failed", &subject.failed);
    }
    lines.line(
        "log",
        &[size(log, analysis, sizes), stacks(summary)].concat(),
    );
    for sentence in notes(subject.family, analysis) {
        lines.note(&sentence);
    }
    lines.list
}

/// A line, which may be broken into several.
struct Line {
    /// Nothing where it may not give way.
    name: Option<&'static str>,
    text: String,
}

/// The page, line by line.
struct Lines<'s> {
    list: Vec<Line>,
    screen: &'s Screen,
}

impl Lines<'_> {
    fn line(&mut self, name: &'static str, parts: &[String]) {
        let text = self.named(Role::Title, name, parts);
        let name = Some(name);
        self.list.push(Line { name, text });
    }

    /// What is not to be broken.
    fn drawn(&mut self, name: &'static str, curve: &str) {
        let text = self.named(Role::Title, name, &[]) + curve;
        let name = Some(OVER_TIME);
        self.list.push(Line { name, text });
    }

    fn alarm(&mut self, name: &str, parts: &[String]) {
        let text = self.named(Role::Alarm, name, parts);
        self.list.push(Line { name: None, text });
    }

    fn note(&mut self, sentence: &str) {
        let text = self.screen.note(sentence);
        self.list.push(Line { name: None, text });
    }

    /// A name and what is to be said.
    fn named(&self, role: Role, name: &str, parts: &[String]) -> String {
        let name = match name {
            PARTS => format!("{:INDENT$}", ""),
            name => {
                let blanks = INDENT.saturating_sub(name.len() + 1).max(1);
                format!("{}:{:blanks$}", self.screen.colours.paint(role, name), "")
            }
        };
        let columns = self.screen.columns().map(|columns| columns.max(40));
        format!("{name}{}", folded(parts, columns))
    }
}

/// Broken between the parts, and on a terminal within what is wider than it.
pub fn folded(parts: &[String], terminal: Option<usize>) -> String {
    let columns = terminal.unwrap_or(COLUMNS);
    let mut text = String::new();
    let mut column = INDENT;
    for (index, part) in parts.iter().enumerate() {
        let width = part.chars().count();
        if index > 0 && column + 3 + width > columns {
            text.push_str(&format!(",\n{:INDENT$}", ""));
            column = INDENT;
        } else if index > 0 {
            text.push_str(", ");
            column += 2;
        }
        // A comma may follow.
        match terminal.map(|columns| columns - 1) {
            Some(columns) if column + width > columns => {
                let part = wrapped(part, column, columns, INDENT);
                let last = part.rsplit('\n').next().unwrap_or_default().chars().count();
                column = match part.contains('\n') {
                    true => last,
                    false => column + last,
                };
                text.push_str(&part);
            }
            _ => {
                text.push_str(part);
                column += width;
            }
        }
    }
    text
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
    if let Some(start) = log.start() {
        parts.push(format!("process {}{host}", start.pid));
    }
    parts.push(format!("{:.3} s", log.seconds(summary.end_tick)));
    parts.push(threads(log, summary));
    match (log.end(), log.death()) {
        (_, Some(death)) => parts.push(format!("killed by signal {}", signal(death.signal))),
        (None, None) if subject.is_running => parts.push("still running".into()),
        (None, None) => {
            parts.push("no end in the log (still running, killed, or exec'd)".into());
        }
        (Some(_), None) => {}
    }
    parts
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
    let mut parts = vec![format!(
        "{} in {} {first} {:.3} s",
        sizes.of(peak.bytes),
        counted(peak.blocks, "block"),
        log.seconds(peak.tick)
    )];
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
fn mapped(lines: &mut Lines, summary: &Summary, sizes: Sizes) {
    let mapped = &summary.mapped;
    if mapped.calls == 0 {
        return;
    }
    let parts = [
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
    lines.line("mapped", &parts);
}

fn events(analysis: &Analysis, missing: Option<String>, sizes: Sizes) -> Vec<String> {
    let totals = &analysis.summary.totals;
    let mut parts = vec![
        format!(
            "{} of {}",
            counted(totals.allocations, "allocation"),
            sizes.of(totals.bytes)
        ),
        counted(totals.releases, "release"),
    ];
    if totals.inherited_blocks > 0 {
        let blocks = counted(totals.inherited_blocks, "block");
        let bytes = sizes.of(totals.inherited_bytes);
        parts.push(format!("{blocks} of {bytes} inherited by fork"));
    }
    parts.push(lost(analysis.summary.lost_events, missing));
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

/// What the log takes on the disk.
fn size(log: &Log, analysis: &Analysis, sizes: Sizes) -> Vec<String> {
    let size = log.size();
    let mut parts = vec![sizes.of(size.file_bytes as u64)];
    let totals = &analysis.summary.totals;
    let events = totals.allocations + totals.releases;
    if events > 0 && analysis.part.is_none() && analysis.summary.window.is_none() {
        let each = size.event_bytes as f64 / events as f64;
        parts.push(format!("{each:.1} bytes an event"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_parts() {
        let parts = ["a".repeat(60), "b".repeat(26), "c".repeat(40)];
        let [a, b, c] = &parts;
        let text = folded(&parts, None);
        assert_eq!(text, format!("{a}, {b},\n           {c}"));
        let widest = text.lines().next().map(|line| line.len() + INDENT);
        assert_eq!(widest, Some(COLUMNS));
        let parts = ["a long part of some words".repeat(3), "/path".repeat(20)];
        for columns in 40..120 {
            let text = folded(&parts, Some(columns));
            let text = format!("{:INDENT$}{text}", "");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{columns}: {text}");
        }
    }

    /// Rows that each takes, where so many are to be left out.
    fn gave_way(rows: &[(&str, usize)], room: usize) -> Vec<&'static str> {
        giving_way(|left_out| {
            let stay = rows.iter().filter(|(name, _)| !left_out.contains(name));
            stay.map(|(_, rows)| rows).sum::<usize>() <= room
        })
    }

    #[test]
    fn no_more_gives_way_than_has_to() {
        let rows = [(OVER_TIME, 2), ("log", 1), ("by thread", 1), (PARTS, 4)];
        assert!(gave_way(&rows, 8).is_empty());
        assert_eq!(gave_way(&rows, 6), [OVER_TIME]);
        // All but the parts went for nothing, and the parts go.
        let wide = [("log", 1), ("by thread", 1), (PARTS, 9), ("program", 1)];
        let left_out = gave_way(&wide, 3);
        assert!(left_out.contains(&PARTS) && !left_out.contains(&"log"));
    }

    #[test]
    fn a_damaged_log_is_not_said_to_be_whole() {
        let damage = || Some("it is cut".to_owned());
        assert_eq!(lost(0, None), "none lost");
        assert_eq!(lost(0, damage()), "none counted as lost, but it is cut");
        assert_eq!(lost(1234, None), "1,234 LOST");
        assert_eq!(lost(1234, damage()), "1,234 LOST, and it is cut");
    }
}
