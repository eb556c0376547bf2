//! `memlog tree`: who held the memory as one tree, from either end.

use std::process::ExitCode;

use memlog_export::{When, percent};

use crate::calls::{self, Filter, Form, Shape};
use crate::moment::{At, Wanted};
use crate::names::Labels;
use crate::page::tree::Direction;
use crate::page::{Page, Part};
use crate::shown::{self, Asked, show};
use crate::subject::Subject;
use crate::words::Advice;
use crate::world::{Counted, Where};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-tree-1";

/// Show who held the memory as one tree, from either end.
#[derive(clap::Args)]
pub struct Args {
    /// From main down to the functions that called the allocator
    #[arg(long)]
    top_down: bool,
    /// With each line when the first and the last of its blocks were allocated, in seconds
    #[arg(long, requires = "top_down")]
    times: bool,
    /// Memory live at this moment: rss-peak, heap-peak, start, end, a time since the start
    /// as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME' [default: rss-peak]
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// Memory live at the end, as --at end
    #[arg(long, visible_alias = "show-leaks", conflicts_with = "at")]
    leaks: bool,
    /// Sum up what is less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    threshold: f64,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    blocks: Where,
    /// Print it as JSON, schema memlog-tree-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
}

/// Shows the heading and the tree.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let moment = match args {
        Args { at: Some(_), .. } => Some("--at"),
        Args { leaks: true, .. } => Some("--leaks"),
        _ => None,
    };
    args.form.check(moment, args.blocks.filter().is_some())?;
    if let Some(by) = Some(args.form.by()).filter(|by| args.times && !by.is_of_births()) {
        let what = by.name();
        return Err(Advice::error(
            format!("--times tells when blocks were allocated, and the tree is of what is {what}"),
            "leave out --times",
        ));
    }
    let shape = Shape {
        form: args.form,
        direction: match args.top_down {
            true => Direction::TopDown,
            false => Direction::BottomUp,
        },
        threshold: args.threshold,
        filter: &args.filter,
        has_graph: false,
    };
    let at = match args.leaks {
        true => &At::END,
        false => args.at.as_ref().unwrap_or(&At::RSS_PEAK),
    };
    let shape = match args.json {
        true => shape.whole(),
        false => shape,
    };
    let counted = Counted {
        blocks: &args.blocks,
        by: args.form.by(),
        with_times: args.times,
        with_scopes: false,
    };
    show(
        &args.asked,
        counted,
        Wanted {
            at: Some(at),
            by: Some(args.form.by()),
            ..Wanted::default()
        },
        args.json,
        |subject, labels, at| page(at.unwrap_or(When::END), &shape, subject, labels),
    )
}

/// The page of one tree.
pub fn page(at: When, shape: &Shape, subject: &Subject, labels: &mut Labels) -> Page {
    let tree = calls::tree(subject, (at, (1, 1)), shape, labels);
    shown::page(subject, SCHEMA, labels, vec![Part::Tree(tree)])
}
