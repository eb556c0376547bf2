//! Annotations, as commands to the runner of GitHub's workflows: a line each, in which a
//! percent sign and the ends of lines are written out, and in a property colon and comma
//! too.

use std::fmt::Write;

use super::lines;
use crate::report::{Report, Source, State};

/// The report as annotations.
pub fn github(report: &Report) -> String {
    let mut text = String::new();
    for subject in &report.subjects {
        for failure in &subject.failures {
            let message = format!("{}: the program {failure}", subject.name);
            command(
                &mut text,
                "error",
                None,
                "memlog: the program failed",
                &message,
            );
        }
        for verdict in &subject.verdicts {
            let level = match verdict.state {
                State::Held => continue,
                State::Undecided(_) => "warning",
                State::Broken | State::Unproven(_) => "error",
            };
            let title = format!(
                "memlog: {} {}",
                verdict.title(),
                verdict.word().to_lowercase()
            );
            let message = format!(
                "{}: {}",
                subject.name,
                lines(verdict, &report.root).join("\n")
            );
            let source = verdict.source(&report.root);
            command(&mut text, level, source, &title, &message);
        }
    }
    for note in report.all_notes() {
        command(&mut text, "notice", None, "memlog", note);
    }
    let level = if report.is_held() { "notice" } else { "error" };
    command(&mut text, level, None, "memlog check", &report.summary());
    text
}

fn command(text: &mut String, level: &str, source: Option<Source>, title: &str, message: &str) {
    let place = source.map(|source| {
        let file = property(&source.file);
        format!("file={file},line={},", source.line)
    });
    let place = place.unwrap_or_default();
    let (title, message) = (property(title), data(message));
    // A String takes everything.
    let _ = writeln!(text, "::{level} {place}title={title}::{message}");
}

fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
