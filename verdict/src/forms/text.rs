//! For people.

use std::fmt::Write;

use super::{place_line, places_title};
use crate::report::{Report, Subject, Verdict};

/// The report as text.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    let has_several = report.subjects.len() > 1;
    for subject in &report.subjects {
        if has_several {
            put(&mut text, format_args!("{}", heading(subject)));
        }
        for failure in &subject.failures {
            put(
                &mut text,
                format_args!("{:9}  the program {failure}", "FAILED"),
            );
        }
        for verdict in &subject.verdicts {
            one(&mut text, verdict, &report.root);
        }
    }
    for note in report.all_notes() {
        put(&mut text, format_args!("note: {note}"));
    }
    put(&mut text, format_args!("{}", report.summary()));
    text
}

fn heading(subject: &Subject) -> String {
    match &subject.logs[..] {
        [log] => format!("{} ({log}):", subject.name),
        _ => format!("{}:", subject.name),
    }
}

fn one(text: &mut String, verdict: &Verdict, root: &str) {
    let (word, title, sentence) = (verdict.word(), verdict.title(), verdict.sentence());
    put(text, format_args!("{word:9}  {title}: {sentence}"));
    const INDENT: &str = "           ";
    if verdict.places.is_empty() {
        return;
    }
    if let Some(filter) = &verdict.filter {
        put(text, format_args!("{INDENT}of blocks where {filter}"));
    }
    put(text, format_args!("{INDENT}{}", places_title(verdict)));
    for place in &verdict.places {
        put(text, format_args!("{INDENT}{}", place_line(place, root)));
    }
}

fn put(text: &mut String, line: std::fmt::Arguments) {
    // A String takes everything.
    let _ = writeln!(text, "{line}");
}
