//! `memlog2dot`: a log as a call graph and as text, in up to five files.
//!
//! It has the page made (`memlog_pages`), has it drawn, and writes the files.
//!
//! * `args`: the command line
//! * `draw`: by ourselves or by Graphviz
//! * `graphviz`: programs that are given a drawing and a limit of time
//! * `files`: whole files or none
//! * `one`: the one file of another command, as careful
//! * `fresh`: files that have not got their names yet
//! * `opened`: the picture in the user's viewer
//! * `signals`: which wait until they have
#![forbid(unsafe_code)]

mod args;
mod builtin;
mod draw;
mod files;
mod fresh;
mod graphviz;
mod one;
mod opened;
mod signals;

use std::io::Write;

use memlog_export::{Picture, Told, dot, picture, shown, text};
use memlog_pages::graph::{self, Page};
use memlog_pages::{choose, searched, symbol_options, tell_note};

use args::Format;
pub use args::{Args, Cli};
use draw::Drawings;
use files::Outputs;
pub use one::OneFile;
pub use opened::open_file;

/// Reads a log and writes FILE.dot, FILE.txt, FILE.ps, FILE.pdf and FILE.svg, or
/// those of them that are wanted.
pub fn run(args: &Args) -> anyhow::Result<()> {
    args.check()?;
    symbol_options(&args.symbol_files)?;
    if let Some(what) = searched(&args.file) {
        say(args, &format!("Searching {what}"));
    }
    let log = choose(&args.file, |line| say(args, line))?;
    graph::check(&log)?;
    // What cannot be written is told before the log is gone through.
    let outputs = Outputs::prepare(args.folder(), &log, args.formats())?;
    let page = graph::page(&log, &args.wanted(), &args.symbol_files)?;
    let drawn = picture(
        &page.calls,
        Picture {
            legend: page.legend.clone(),
            least_percent: args.threshold,
            most_boxes: args.max_boxes,
            by_lines: args.lines,
            with_symbols: args.print_symbol_names,
            joins_runs: !args.no_fold,
        },
    );
    page.remarks.iter().for_each(|remark| tell_note(remark));
    let write = |set: Vec<(Format, Vec<u8>)>| {
        outputs.write(&set)?;
        for (format, _) in set {
            say(args, &format!("Creating {}", shown(&outputs.path(format))));
        }
        anyhow::Ok(())
    };
    // Drawing can take long, or fail: what needs none is there by then.
    let dot = dot(&drawn);
    let texts = outputs.formats().iter().filter_map(|&format| match format {
        Format::Dot => Some((format, dot.clone().into_bytes())),
        Format::Txt => Some((format, words(&page, &drawn.legend, args).into_bytes())),
        Format::Ps | Format::Pdf | Format::Svg => None,
    });
    write(texts.collect())?;
    if outputs.formats().iter().all(|format| format.is_text()) {
        return Ok(());
    }
    let drawings = Drawings::make((&drawn, &dot), args.draw, outputs.formats(), args.paper())?;
    drawings.remarks.iter().for_each(|remark| tell_note(remark));
    write(drawings.drawn)?;
    if args.open {
        opened::open(&outputs);
    }
    Ok(())
}

/// The page as text.
fn words(page: &Page, heading: &[String], args: &Args) -> String {
    let told = Told {
        symbols: args.print_symbol_names,
        counts: page.has_counts,
    };
    let mut words = text(heading, &page.calls, told);
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
