//! `memlog annotate`: the lines of a source file with what was allocated in them.

use std::path::Path;
use std::process::ExitCode;

use memlog_answers::{Damaged, FileLines, LineSums, Sums, lines};
use serde_json::{Value, json};

use super::{Answer, Question, Told, ask};
use crate::page::Page;
use crate::page::rows::Rows;
use crate::words::{clean, counted, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-annotate-1";

/// Show a source file with what was allocated in its lines.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// The source file, or the end of its path, and after a colon, if wanted, a
    /// function: parse.c, src/parse.c:read_header
    #[arg(value_name = "SOURCE[:FUNCTION]")]
    source: String,
    /// Lines that are shown around each one with allocations
    #[arg(short = 'C', long, value_name = "N", default_value = "2")]
    context: u64,
    /// Show the whole file
    #[arg(long)]
    whole: bool,
}

/// Shows the lines.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    ask(&args.question, SCHEMA, true, |told| answer(told, args))
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Damaged> {
    let (source, function) = match args.source.rsplit_once(':') {
        Some((source, function)) if !source.is_empty() => (source, Some(function)),
        _ => (args.source.as_str(), None),
    };
    let fits = |path: &str| {
        let rest = path.strip_suffix(source);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || source.starts_with('/'))
    };
    let is_function = |name: &str| {
        function.is_none_or(|function| {
            name.split('(').next() == Some(function) || name.contains(function)
        })
    };
    let found = lines(told.world, told.choice, fits, is_function)?;
    let mut files: Vec<(&String, &FileLines)> = found.iter().collect();
    files.sort_by_key(|(path, _)| path.as_str());
    let figures = Page::keyed([(
        "files",
        files
            .iter()
            .map(|(path, lines)| json_of(path, lines))
            .collect::<Vec<_>>()
            .into(),
    )]);
    let mut rows = Rows {
        title: match files.len() {
            0 => format!(
                "no line of {} is in a stack of these blocks",
                clean(args.source.as_bytes())
            ),
            count => format!(
                "lines of {}, with blocks{}:",
                counted(count as u64, "file"),
                told.about
            ),
        },
        columns: vec![
            "allocated here",
            "blocks",
            "and by callees",
            "line",
            "source",
        ],
        ..Rows::default()
    };
    for (path, lines) in files {
        rows.rows.extend(file_rows(told, path, lines, args));
    }
    Ok(Answer { figures, rows })
}

fn json_of(path: &str, lines: &FileLines) -> Value {
    let lines = lines.iter().map(|(number, line)| {
        json!({
            "line": number,
            "bytes": line.own.bytes,
            "blocks": line.own.blocks,
            "below_bytes": line.below.bytes,
            "below_blocks": line.below.blocks,
            "functions": line.functions,
        })
    });
    json!({"name": path, "rows": lines.collect::<Vec<_>>()})
}

/// The file's text, if it is to be had; else only what is known of the lines.
fn file_rows(told: &Told, path: &str, lines: &FileLines, args: &Args) -> Vec<Vec<String>> {
    let text = std::fs::read(Path::new(path)).unwrap_or_default();
    let text: Vec<String> = text.split(|&byte| byte == b'\n').map(source_line).collect();
    let of = |number: u64| {
        let index = usize::try_from(number)
            .unwrap_or(usize::MAX)
            .wrapping_sub(1);
        text.get(index).cloned()
    };
    let heading = match text.len() {
        0 | 1 => format!("{path} (its text is not here)"),
        _ => path.to_owned(),
    };
    let mut rows = vec![vec![
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        heading,
    ]];
    let is_near = |number: u64| {
        let from = number.saturating_sub(args.context);
        lines
            .range(from..=number.saturating_add(args.context))
            .next()
            .is_some()
    };
    let last = lines.keys().next_back().copied().unwrap_or(0);
    let end = (text.len() as u64).max(last);
    let mut was_shown = true;
    for number in 1..=end {
        let line = lines.get(&number);
        let is_shown = line.is_some() || (of(number).is_some() && (args.whole || is_near(number)));
        if !is_shown {
            if was_shown && number < last {
                rows.push(vec![
                    String::new(),
                    String::new(),
                    String::new(),
                    "...".into(),
                    String::new(),
                ]);
            }
            was_shown = false;
            continue;
        }
        was_shown = true;
        let source = of(number)
            .unwrap_or_else(|| line.map_or(String::new(), |line| line.functions.join(", ")));
        rows.push(line_row(told, number, line, source));
    }
    rows
}

fn line_row(told: &Told, number: u64, line: Option<&LineSums>, source: String) -> Vec<String> {
    let some = |sums: &Sums, text: String| if sums.blocks > 0 { text } else { String::new() };
    let (own, below) = line.map_or_else(Default::default, |line| (line.own, line.below));
    vec![
        some(&own, told.sizes.of(own.bytes)),
        some(&own, grouped(own.blocks)),
        some(&below, told.sizes.of(below.bytes)),
        number.to_string(),
        source,
    ]
}

/// As it is shown: tabs are blanks, and nothing that a terminal would obey.
fn source_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('\t', "    ");
    let text = text.trim_end_matches('\r');
    let indent = text.len() - text.trim_start().len();
    format!("{:indent$}{}", "", clean(text.trim_start().as_bytes()))
}
