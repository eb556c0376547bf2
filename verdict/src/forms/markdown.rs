//! Markdown, for a comment on a change.

use std::fmt::Write;

use memlog_export::numbers::{grouped, sized};

use crate::report::{Against, Report, Subject, Verdict};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let sign = if report.is_held() { "OK" } else { "FAILED" };
    let mut text = format!("### memlog check: {sign}\n\n{}\n", plain(&report.summary()));
    for subject in &report.subjects {
        one(&mut text, subject, &report.root);
    }
    let notes: Vec<_> = report.all_notes().collect();
    if !notes.is_empty() {
        put(&mut text, "");
    }
    for note in notes {
        put(&mut text, &format!("- note: {}", plain(note)));
    }
    text
}

fn one(text: &mut String, subject: &Subject, root: &str) {
    put(text, &format!("\n**{}**\n", plain(&subject.name)));
    for failure in &subject.failures {
        put(text, &format!("- the program {}", plain(failure)));
    }
    if !subject.failures.is_empty() {
        put(text, "");
    }
    if !subject.verdicts.is_empty() {
        put(text, "| | check | measured | allowed | |");
        put(text, "|---|---|--:|--:|---|");
    }
    for verdict in &subject.verdicts {
        row(text, verdict);
    }
    for verdict in subject.verdicts.iter().filter(|one| !one.places.is_empty()) {
        places(text, verdict, root);
    }
}

fn row(text: &mut String, verdict: &Verdict) {
    let told = |amount| verdict.measure.told(amount);
    let (measured, allowed) = match &verdict.against {
        Against::Limit(limit) => (verdict.measured().map(told), told(*limit)),
        Against::Baseline(compared) => {
            let allowed = format!("{} + {} %", told(compared.base_median), compared.tolerance);
            (Some(told(compared.new_median)), allowed)
        }
        Against::Unknown => (verdict.measured().map(told), "not known".to_owned()),
    };
    let cells = [
        verdict.word().to_owned(),
        verdict.title(),
        measured.unwrap_or_else(|| "not known".into()),
        allowed,
        verdict.sentence(),
    ];
    let cells = cells.map(|cell| plain(&cell));
    put(text, &format!("| {} |", cells.join(" | ")));
}

fn places(text: &mut String, verdict: &Verdict, root: &str) {
    let title = super::places_title(verdict);
    let title = match verdict.budget.as_str() {
        crate::Budget::ALL => title.to_owned(),
        name => format!("{name}, {title}"),
    };
    put(text, &format!("\n{}\n", plain(&title)));
    for place in &verdict.places {
        let share = format!("{:.1} %", place.share);
        let bytes = sized(place.bytes);
        let blocks = place
            .blocks
            .map(|blocks| format!(" in {}", grouped(blocks)));
        let blocks = blocks.unwrap_or_default();
        let name = code(&place.frame.told(root));
        put(text, &format!("- {share}, {bytes}{blocks}: {name}"));
    }
}

/// Text that means nothing in Markdown, in a cell of a table neither.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '\\' | '@' => {
                // A String takes everything.
                let _ = write!(plain, "&#{};", u32::from(character));
            }
            other if other.is_control() => plain.push('\u{fffd}'),
            other => plain.push(other),
        }
    }
    plain
}

/// Text between more backticks than it has on end: no name of a function in it calls a
/// person or an issue.
fn code(text: &str) -> String {
    let runs = text.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let text: String = text.chars().filter(|one| !one.is_control()).collect();
    format!("{fence} {text} {fence}")
}

fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
