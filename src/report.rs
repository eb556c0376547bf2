//! `memlog report`: who held the memory at a moment.

mod by_thread;
mod coverage;
mod curve;
mod cuts;
mod failed;
mod filter;
mod form;
mod grow;
mod heading;
mod json;
mod labels;
mod moment;
mod notes;
mod outside;
mod paths;
mod resident;
mod runs;
mod subject;
mod text;
mod title;
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
pub use by_thread::figures as thread_figures;
pub use coverage::{holders, past_us};
pub use cuts::{figures as cut_figures, sentences as cut_sentences};
pub use failed::{figures as failed_figures, parts as failed_parts};
pub use filter::Filter;
pub use form::Form;
pub use grow::{Direction, Shape, grow};
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
    /// Sum up what is less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    threshold: f64,
    #[command(flatten)]
    form: Form,
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
    args.form.check(moment_option(args))?;
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

/// An option that asks for a moment.
fn moment_option(args: &Args) -> Option<&'static str> {
    match args {
        Args { at: Some(_), .. } => Some("--at"),
        Args {
            show_leaks: true, ..
        } => Some("--show-leaks"),
        Args {
            show_maximum: true, ..
        } => Some("--show-maximum"),
        _ => None,
    }
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
    let shape = shape(args).whole();
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
        form: args.form,
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
        form: shape.form,
        threshold: grown.threshold,
        tree: &grown.tree,
        names: &grown.names,
    };
    printer.print(&title::title(subject, (when, part), shape, &grown))?;
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
