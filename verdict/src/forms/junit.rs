//! JUnit's XML, as Jenkins, GitLab and others read it: a suite for each program, a case for
//! each check.

use std::fmt::Write;

use super::lines;
use crate::report::{Report, State, Subject, Verdict};

/// The report as JUnit's XML.
pub fn junit(report: &Report) -> String {
    let count = |of: fn(&Subject) -> usize| report.subjects.iter().map(of).sum::<usize>();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put(
        &mut text,
        format_args!(
            "<testsuites name=\"memlog check\" tests=\"{}\" failures=\"{}\" errors=\"0\">",
            count(tests),
            count(failures)
        ),
    );
    for (place, subject) in report.subjects.iter().enumerate() {
        // Only a suite may have text: the first tells what is of all.
        let of_all = report.notes.iter().filter(|_| place == 0);
        let notes: Vec<&str> = subject
            .notes
            .iter()
            .chain(of_all)
            .map(String::as_str)
            .collect();
        suite(&mut text, subject, &notes.join("\n"), &report.root);
    }
    text.push_str("</testsuites>\n");
    text
}

fn tests(subject: &Subject) -> usize {
    // That of the program itself is among them.
    1 + subject.verdicts.len()
}

fn failures(subject: &Subject) -> usize {
    let broken = subject.verdicts.iter().filter(|one| !one.is_fine()).count();
    broken + usize::from(!subject.failures.is_empty())
}

fn skipped(subject: &Subject) -> usize {
    let is_undecided = |one: &&Verdict| matches!(one.state, State::Undecided(_));
    subject.verdicts.iter().filter(is_undecided).count()
}

fn suite(text: &mut String, subject: &Subject, notes: &str, root: &str) {
    let name = escaped(&subject.name);
    put(
        text,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">",
            tests(subject),
            failures(subject),
            skipped(subject)
        ),
    );
    let failed = subject
        .failures
        .iter()
        .map(|one| format!("the program {one}"));
    let failed: Vec<_> = failed.collect();
    case(
        text,
        &name,
        "program",
        match &failed[..] {
            [] => Told::Passed,
            lines => Told::Failed("program", lines.to_vec()),
        },
    );
    for verdict in &subject.verdicts {
        let told = match verdict.state {
            State::Held => Told::Passed,
            State::Broken => Told::Failed("broken", lines(verdict, root)),
            State::Unproven(_) => Told::Failed("unproven", lines(verdict, root)),
            State::Undecided(_) => Told::Skipped(verdict.sentence()),
        };
        let kind = match verdict.against {
            crate::Against::Limit(_) => "limit",
            crate::Against::Baseline(_) | crate::Against::Unknown => "baseline",
        };
        let title = format!("{} {} ({kind})", verdict.budget, verdict.measure.word());
        case(text, &name, &title, told);
    }
    if !notes.is_empty() {
        let notes = escaped(notes);
        put(text, format_args!("    <system-out>{notes}</system-out>"));
    }
    text.push_str("  </testsuite>\n");
}

/// How a case came out.
enum Told {
    Passed,
    Failed(&'static str, Vec<String>),
    Skipped(String),
}

fn case(text: &mut String, suite: &str, title: &str, told: Told) {
    let title = escaped(title);
    let begin = format!("    <testcase classname=\"memlog.{suite}\" name=\"{title}\" time=\"0\"");
    match told {
        Told::Passed => put(text, format_args!("{begin}/>")),
        Told::Failed(kind, lines) => {
            let first = escaped(lines.first().map_or("", String::as_str));
            let all = escaped(&lines.join("\n"));
            put(text, format_args!("{begin}>"));
            put(
                text,
                format_args!("      <failure type=\"{kind}\" message=\"{first}\">{all}</failure>"),
            );
            text.push_str("    </testcase>\n");
        }
        Told::Skipped(why) => {
            let why = escaped(&why);
            put(text, format_args!("{begin}>"));
            put(text, format_args!("      <skipped message=\"{why}\"/>"));
            text.push_str("    </testcase>\n");
        }
    }
}

/// Text in XML, where some characters may not even be written as their numbers.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' => escaped.push_str("&#10;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

fn put(text: &mut String, line: std::fmt::Arguments) {
    // A String takes everything.
    let _ = writeln!(text, "{line}");
}
