//! `memlog annotate`: the lines of a source file with what was allocated in them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::UNIX_EPOCH;

use memlog_analysis::Held;
use memlog_answers::{Damaged, FileLines, LineSums, lines};
use serde_json::{Value, json};

use super::{Answer, Ask, Failure, Question, Told};
use crate::open::map;
use crate::page::Page;
use crate::page::rows::{Rows, titles};
use crate::rests::Rests;
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

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        self.question.sums_rest()
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told, self)?)
    }
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Damaged> {
    let (source, function) = split(&args.source);
    let fits = |path: &str| {
        let rest = path.strip_suffix(source);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || source.starts_with('/'))
    };
    let is_function = |name: &str| function.is_none_or(|function| name.contains(function));
    let found = lines(told.world, told.choice, fits, is_function)?;
    let mut files: Vec<(&String, &FileLines)> = found.iter().collect();
    files.sort_by_key(|(path, _)| path.as_str());
    let figures = Page::keyed([(
        "files",
        files
            .iter()
            .map(|(path, lines)| json_of(told, path, lines))
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
        columns: titles(&[
            "allocated here",
            "blocks",
            "and by callees",
            "line",
            "source",
        ]),
        gives_way: vec!["blocks"],
        ..Rows::default()
    };
    for (path, lines) in files {
        rows.rows.extend(file_rows(told, path, lines, args));
    }
    Ok(Answer {
        figures,
        rows,
        ..Answer::default()
    })
}

fn json_of(told: &Told, path: &str, lines: &FileLines) -> Value {
    let text = Text::of(path);
    let lines = lines.iter().map(|(number, line)| {
        json!({
            "line": number,
            "bytes": line.own.bytes,
            "blocks": line.own.blocks,
            "below_bytes": line.below.bytes,
            "below_blocks": line.below.blocks,
            "functions": line.functions,
            "text": text.line(*number),
        })
    });
    json!({
        "name": path,
        "is_newer": is_newer(path, told),
        "rows": lines.collect::<Vec<_>>(),
    })
}

/// A file, and behind the first single colon a function: `a.cpp:Foo::bar`.
fn split(source: &str) -> (&str, Option<&str>) {
    let colons = source.match_indices(':').map(|(at, _)| at);
    let is_single = |&at: &usize| {
        let (before, behind) = (&source[..at], &source[at + 1..]);
        !before.ends_with(':') && !behind.starts_with(':') && !before.is_empty()
    };
    match colons.into_iter().find(is_single) {
        Some(at) => (&source[..at], Some(&source[at + 1..])),
        None => (source, None),
    }
}

/// A longer file is no source that anybody reads.
const LONGEST: usize = 64 << 20;

/// The lines of a file, if they are to be had.
struct Text(Vec<String>);

impl Text {
    fn of(path: &str) -> Self {
        // Whatever the debug information calls a file: a regular one of usual length.
        let text = map(Path::new(path)).ok();
        let text = text.filter(|text| text.len() <= LONGEST);
        let text = text.as_deref().unwrap_or_default();
        Self(text.split(|&byte| byte == b'\n').map(source_line).collect())
    }

    fn line(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.0.get(index).map(String::as_str)
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

/// The file's text, if it is to be had; else only what is known of the lines.
fn file_rows(told: &Told, path: &str, lines: &FileLines, args: &Args) -> Vec<Vec<String>> {
    let text = Text::of(path);
    let heading = match text.count() {
        0 | 1 => format!("{path} (its text is not here)"),
        _ if is_newer(path, told) => format!("{path} (newer than the log: lines may have moved)"),
        _ => path.to_owned(),
    };
    let mut rows = vec![vec![
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        heading,
    ]];
    let last = text.count();
    let mut shown: BTreeSet<u64> = match args.whole {
        true => (1..=last).collect(),
        false => {
            let near = lines.keys().flat_map(|&line| {
                let from = line.saturating_sub(args.context).max(1);
                from..=line.saturating_add(args.context).min(last)
            });
            near.collect()
        }
    };
    shown.extend(lines.keys());
    let mut before = 0;
    for number in shown {
        if number > before + 1 {
            let mut gap = vec![String::new(); 5];
            gap[3] = "...".into();
            rows.push(gap);
        }
        before = number;
        let line = lines.get(&number);
        let functions = || line.map_or(String::new(), |line| line.functions.join(", "));
        let source = text.line(number).map_or_else(functions, str::to_owned);
        rows.push(line_row(told, number, line, source));
    }
    rows
}

/// Whether the source was changed after the program ran.
fn is_newer(path: &str, told: &Told) -> bool {
    let changed = std::fs::metadata(path).and_then(|file| file.modified());
    let changed = changed
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    changed.is_some_and(|since| since.as_nanos() > told.start_unix_ns.into())
}

fn line_row(told: &Told, number: u64, line: Option<&LineSums>, source: String) -> Vec<String> {
    let some = |held: &Held, text: String| if held.blocks > 0 { text } else { String::new() };
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
