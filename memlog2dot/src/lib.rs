//! `memlog2dot`: a log as a call graph and as text, in up to five files.
//!
//! It decides what is asked for, asks for the page, has it drawn, and writes
//! the files. How a log is read and named is the caller's: [`Logs`].
//!
//! * `args`: the command line
//! * `choose`: one log out of all that match a pattern
//! * `draw`: by ourselves or by Graphviz
//! * `graphviz`: programs that are given a drawing and a limit of time
//! * `elsewhere`: where the files with the names are
//! * `files`: whole files or none
//! * `fresh`: files that have not got their names yet
//! * `opened`: the picture in the user's viewer
//! * `pattern`: the files that match a pattern
//! * `signals`: which wait until they have
#![forbid(unsafe_code)]

mod args;
mod builtin;
mod choose;
mod draw;
mod elsewhere;
mod files;
mod fresh;
mod graphviz;
mod opened;
mod pattern;
mod signals;

use std::fmt::{Display, Formatter};
use std::io::Write;
use std::path::Path;

use memlog_export::{CallGraph, Picture, When, clean, dot, picture, shown, text};

use args::Format;
pub use args::{Args, Cli};
pub use choose::{all, choose};
use draw::Drawings;
pub use elsewhere::Elsewhere;
use files::Outputs;

/// What is known of logs, by whoever can read them.
pub trait Logs {
    /// Whether a file begins as a log does.
    fn is_log(&self, file: &Path) -> bool;
    /// Whether it is one that can be read.
    fn check(&self, log: &Path) -> anyhow::Result<()>;
    /// The figure of the RSS peak.
    fn rss_peak_bytes(&self, log: &Path) -> anyhow::Result<u64>;
    /// No less, and found quickly.
    fn rss_peak_bound(&self, log: &Path) -> anyhow::Result<u64>;
    /// What was live at a moment.
    fn page(&self, log: &Path, wanted: &Wanted) -> anyhow::Result<Page>;
}

/// What a page is to hold.
pub struct Wanted {
    /// The moment.
    pub when: When,
    /// Whether the linker's symbols are shown.
    pub with_symbols: bool,
    /// Whether what the program mapped itself counts.
    pub with_mapped: bool,
}

/// A log at a moment.
pub struct Page {
    /// The heading; the first line is the title.
    pub legend: Vec<String>,
    /// Who held what.
    pub calls: CallGraph,
    /// What is wrong with the log and with the names, in sentences.
    pub remarks: Vec<String>,
}

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub struct Trouble {
    /// A sentence without a full stop.
    pub wrong: String,
    /// What the user can do.
    pub hint: String,
}

impl Trouble {
    fn error(wrong: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        let (wrong, hint) = (wrong.into(), hint.into());
        Self { wrong, hint }.into()
    }
}

impl Display for Trouble {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.wrong)
    }
}

impl std::error::Error for Trouble {}

/// Reads a log and writes FILE.dot, FILE.txt, FILE.ps, FILE.pdf and FILE.svg, or
/// those of them that are wanted.
pub fn run(args: &Args, logs: &dyn Logs) -> anyhow::Result<()> {
    args.check()?;
    if let Some(what) = choose::searched(&args.file) {
        say(args, &format!("Searching {what}"));
    }
    let log = choose(&args.file, logs, |line| say(args, line))?;
    logs.check(&log)?;
    // What cannot be written is told before the log is gone through.
    let outputs = Outputs::prepare(args.folder(), &log, args.formats())?;
    let page = logs.page(&log, &args.wanted())?;
    let graph = picture(
        &page.calls,
        Picture {
            legend: page.legend.clone(),
            least_percent: args.threshold,
            most_boxes: args.max_boxes,
            by_lines: args.lines,
            with_symbols: args.print_symbol_names,
            folds: !args.no_fold,
        },
    );
    page.remarks.iter().for_each(|remark| note(remark));
    let write = |set: Vec<(Format, Vec<u8>)>| {
        outputs.write(&set)?;
        for (format, _) in set {
            say(args, &format!("Creating {}", shown(&outputs.path(format))));
        }
        anyhow::Ok(())
    };
    // Drawing can take long, or fail: what needs none is there by then.
    let dot = dot(&graph);
    let texts = outputs.formats().iter().filter_map(|&format| match format {
        Format::Dot => Some((format, dot.clone().into_bytes())),
        Format::Txt => Some((format, words(&page, &graph.legend, args).into_bytes())),
        Format::Ps | Format::Pdf | Format::Svg => None,
    });
    write(texts.collect())?;
    if outputs.formats().iter().all(|format| format.is_text()) {
        return Ok(());
    }
    let drawings = Drawings::make((&graph, &dot), args.draw, outputs.formats(), args.paper())?;
    drawings.remarks.iter().for_each(|remark| note(remark));
    write(drawings.drawn)?;
    if args.open {
        opened::open(&outputs);
    }
    Ok(())
}

/// The page as text.
fn words(page: &Page, heading: &[String], args: &Args) -> String {
    let mut words = text(heading, &page.calls, args.print_symbol_names);
    for (index, remark) in page.remarks.iter().enumerate() {
        let before = if index == 0 { "\n" } else { "" };
        words.push_str(&format!("{before}note: {remark}\n"));
    }
    words
}

/// On stdout, unless silence is asked for. Who hears it may go away: the files
/// are what was asked for.
fn say(args: &Args, line: &str) {
    if !args.quiet {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}

/// On stderr; where that is gone nobody can be told.
fn note(sentence: &str) {
    let sentence = clean(sentence.as_bytes());
    let _ = writeln!(std::io::stderr().lock(), "memlog: note: {sentence}");
}
