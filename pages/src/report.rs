//! `memlog report`: who held the memory at a moment.

use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::Moment;
use memlog_export::{When, percent};

use crate::calls::{Filter, Form, Shape, tree};
use crate::heading::failed_askers;
use crate::moment::At;
use crate::names::Labels;
use crate::page::tree::Direction;
use crate::page::{Page, Part};
use crate::shown::{self, Asked, show};
use crate::subject::Subject;
use crate::words::{Advice, typed};
use crate::world::Where;

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
    /// Memory live at this moment: rss-peak, heap-peak, start, end, a time since the start
    /// as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME'
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// Sum up what is less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    threshold: f64,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    blocks: Where,
    /// Print it as JSON, schema memlog-report-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
    /// More than one log, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
}

/// Shows the heading and a tree for each moment asked for.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.more.is_empty() {
        return Err(several(args));
    }
    args.form
        .check(moment_option(args), args.blocks.filter().is_some())?;
    let blocks = &args.blocks;
    show(
        &args.asked,
        blocks,
        args.at.as_ref(),
        args.json,
        |subject, labels, at| page(args, at, subject, labels),
    )
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

fn page(args: &Args, at: Option<When>, subject: &Subject, labels: &mut Labels) -> Page {
    let moments = moments(args, at);
    let count = moments.len();
    let shape = match args.json {
        true => shape(args).whole(),
        false => shape(args),
    };
    let trees = moments.into_iter().enumerate().map(|(index, when)| {
        let part = (index + 1, count);
        Part::OneTree(tree(subject, (when, part), &shape, labels))
    });
    let mut parts: Vec<Part> = trees.collect();
    parts.push(Part::Failed(failed_askers(subject, labels)));
    shown::page(subject, SCHEMA, labels, parts)
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
fn moments(args: &Args, at: Option<When>) -> Vec<When> {
    let mut moments = Vec::from_iter(at);
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
