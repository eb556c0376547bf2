//! `memlog report`: who held the memory at a moment.

mod coverage;
mod curve;
mod cuts;
mod failed;
mod filter;
mod grow;
mod heading;
mod json;
mod labels;
mod moment;
mod notes;
mod paths;
mod resident;
mod runs;
mod subject;
mod text;
mod window;

use std::io::{Result, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::Moment;
use memlog_export::{When, percent};
use memlog2dot::Elsewhere;
use serde_json::Value;

use crate::advice::Advice;
use crate::open::grouped;
use crate::screen::Look;
use crate::words::typed;
pub use coverage::{holders, past_us};
pub use cuts::{figures as cut_figures, sentences as cut_sentences};
pub use failed::{figures as failed_figures, parts as failed_parts};
pub use filter::Filter;
pub use grow::{Direction, Grown, Shape, grow};
pub use heading::{folded, print as print_heading, print_within as print_heading_within};
pub use json::tree as json_tree;
pub use labels::{Cursor, Labels};
pub use moment::check as check_moment;
pub use notes::{lacking, notes};
pub use subject::{Asked, Subject, json_page, show, show_after};
pub use text::{Printer, named};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-report-1";

/// Say who held the memory, and who called them.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// More than one log, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
    /// Memory live at the end, as --at end
    #[arg(long, visible_alias = "leaks")]
    show_leaks: bool,
    /// Memory live when most bytes were, as --at heap-peak
    #[arg(long)]
    show_maximum: bool,
    /// Memory live at this moment: rss-peak, heap-peak, end, or a time since
    /// the start as 12.5, 12.5s, 300ms or 2m
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<When>,
    /// Fold what holds less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    threshold: f64,
    #[command(flatten)]
    filter: Filter,
    /// Print it as JSON, schema memlog-report-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    elsewhere: Elsewhere,
    #[command(flatten)]
    look: Look,
}

impl Args {
    fn asked(&self) -> Asked<'_> {
        Asked {
            file: &self.file,
            elsewhere: &self.elsewhere,
            look: &self.look,
        }
    }
}

/// Prints the heading and a tree for each moment asked for.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.more.is_empty() {
        return Err(several(args));
    }
    show(&args.asked(), args.at, |subject, labels| match args.json {
        true => as_json(args, subject, labels),
        false => as_text(args, subject, labels),
    })
}

fn several(args: &Args) -> anyhow::Error {
    let count = args.more.len() + 1;
    Advice::error(
        format!("report takes one log, and {count} were given"),
        format!(
            "memlog report {}, then each of the others",
            typed(&args.file)
        ),
    )
}

fn as_text(args: &Args, subject: &Subject, labels: &mut Labels) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    print_heading(&mut page, subject)?;
    let moments = moments(args);
    for (index, &when) in moments.iter().enumerate() {
        let part = (index + 1, moments.len());
        print_tree(&mut page, subject, (when, part), &shape(args), labels)?;
    }
    failed::print(&mut page, subject, labels)?;
    subject.print_remarks(&mut page, labels)?;
    Ok(page)
}

fn as_json(args: &Args, subject: &Subject, labels: &mut Labels) -> Result<Vec<u8>> {
    let shape = shape(args);
    let mut trees: Vec<Value> = Vec::new();
    for when in moments(args) {
        let grown = grow(subject.analysis, when, &shape, labels);
        trees.push(json_tree(subject, when, &shape, &grown).into());
    }
    let mut page = subject.as_json(SCHEMA, labels);
    page.insert("trees".into(), trees.into());
    let failed = failed::askers(subject, labels);
    page.insert("failed".into(), failed.into());
    json_page(&page)
}

fn shape(args: &Args) -> Shape<'_> {
    Shape {
        direction: Direction::BottomUp,
        threshold: args.threshold,
        filter: &args.filter,
    }
}

/// The moments asked for, each once.
fn moments(args: &Args) -> Vec<When> {
    let mut moments = Vec::from_iter(args.at);
    let switches = [
        (args.show_maximum, Moment::HeapPeak),
        (args.show_leaks, Moment::End),
    ];
    for (wanted, moment) in switches {
        if wanted && !moments.contains(&When::Known(moment)) {
            moments.push(When::Known(moment));
        }
    }
    if moments.is_empty() {
        moments.push(When::Known(Moment::RssPeak));
    }
    moments
}

/// Grows a tree and prints it. `part` is which it is on its page, and of how many.
pub fn print_tree(
    out: &mut impl Write,
    subject: &Subject,
    (when, part): (When, (usize, usize)),
    shape: &Shape,
    labels: &mut Labels,
) -> Result<()> {
    let grown = grow(subject.analysis, when, shape, labels);
    let mut printer = Printer {
        out,
        screen: subject.screen,
        direction: shape.direction,
        threshold: grown.threshold,
        tree: &grown.tree,
        names: &grown.names,
    };
    printer.print(&title(subject, (when, part), shape, &grown))?;
    if grown.threshold > shape.threshold {
        let sentence = format!(
            "there are more than {} places: those below {:.3} % are summed up",
            grouped(grow::MOST as u64),
            grown.threshold
        );
        writeln!(printer.out, "{}", subject.screen.note(&sentence))?;
    }
    Ok(())
}

fn title(
    subject: &Subject,
    (when, part): (When, (usize, usize)),
    shape: &Shape,
    grown: &Grown,
) -> String {
    let summary = &subject.analysis.summary;
    let rss_is_known = summary.shows_rss_peak();
    let recorded = match summary.is_lossy() {
        false => "",
        true => " of what was recorded",
    };
    let so_far = if subject.is_running { " so far" } else { "" };
    let moment = match when {
        When::Seconds(_) if is_after(subject, when) => "where reading ended".into(),
        When::Seconds(seconds) => format!("at {seconds} s"),
        When::Known(Moment::RssPeak) if rss_is_known => format!("at the RSS peak{so_far}"),
        When::Known(Moment::End) if subject.analysis.part.is_some() => "where reading ended".into(),
        When::Known(Moment::End) if subject.is_running => "now".into(),
        When::Known(Moment::End) => "at the end".into(),
        When::Known(_) if summary.window.is_some() => "at its maximum in the window".into(),
        When::Known(_) => format!("at its maximum{so_far}"),
    };
    // Two trees may look alike.
    let which = match part {
        (_, 1) => String::new(),
        (index, count) => format!("moment {index} of {count}{}, ", time(subject, when)),
    };
    let from = match shape.direction {
        Direction::BottomUp => "",
        Direction::TopDown => ", from main down",
    };
    let filtered = match shape.filter.is_none() {
        true => String::new(),
        false => format!("{:.2}% that the filter let through, ", grown.percent()),
    };
    format!("live heap {moment}{recorded}{from} ({which}{filtered}percentages are shares of it)")
}

/// When a moment was that is not named by its time.
fn time(subject: &Subject, when: When) -> String {
    if let When::Seconds(_) = when {
        return String::new();
    }
    let log = subject.family.own();
    let tick = subject.analysis.tick_of(when, log.tick_ns());
    format!(" at {:.3} s", log.seconds(tick))
}

/// Whether a log was read to an end that is before a moment.
fn is_after(subject: &Subject, when: When) -> bool {
    let (analysis, log) = (subject.analysis, subject.family.own());
    let tick = analysis.tick_of(when, log.tick_ns());
    analysis.part.is_some_and(|part| tick > part.tick)
}
