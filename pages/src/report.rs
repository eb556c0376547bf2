//! `memlog report`: who held the memory at a moment.

use std::io::Result;
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::Moment;
use memlog_export::{When, percent};
use serde_json::Value;

use crate::calls::{Direction, Filter, Form, Shape, grow, json_tree, print_tree};
use crate::heading::{failed_askers, print_failed, print_heading};
use crate::names::Labels;
use crate::shown::{Asked, json_page, json_start, show};
use crate::subject::Subject;
use crate::words::{Advice, typed};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-report-1";

/// Say who held the memory, and who called them.
#[derive(clap::Args)]
pub struct Args {
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
    asked: Asked,
    /// More than one log, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
}

/// Prints the heading and a tree for each moment asked for.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.more.is_empty() {
        return Err(several(args));
    }
    args.form.check(moment_option(args))?;
    show(&args.asked, args.at, |subject, labels| match args.json {
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
            typed(&args.asked.file)
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
    print_failed(&mut page, subject, labels)?;
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
    let mut page = json_start(subject, SCHEMA, labels);
    page.insert("trees".into(), trees.into());
    let failed = failed_askers(subject, labels);
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
