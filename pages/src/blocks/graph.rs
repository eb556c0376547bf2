//! Who held memory at a moment, as a call graph that is drawn.

use memlog_export::{CallGraph, Picture, draw, layout, picture};

use super::flame::counted;
use super::{Desk, Failure, Question, Told};
use crate::page::tree::By;
use crate::rests::Rests;
use crate::words::counted as in_words;

/// The call graph as SVG; of what was live at the RSS peak if nothing else is said.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// What is counted
    #[arg(long, value_name = "WHAT", default_value = "live", value_enum)]
    by: By,
    /// Leave out what holds less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1")]
    #[arg(value_parser = memlog_export::percent)]
    threshold: f64,
    /// How many boxes at most
    #[arg(long, value_name = "N", default_value = "60")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=300))]
    max_boxes: u16,
    /// Each line of a function is a box of its own
    #[arg(long)]
    lines: bool,
}

/// The picture.
pub fn svg(desk: &Desk, args: &Args) -> Result<String, Failure> {
    let rests = Rests::from(true).counting(args.by);
    desk.tell(&args.question, &rests, |told| drawn(told, args))
}

fn drawn(told: &Told, args: &Args) -> Result<String, Failure> {
    let world = told.world;
    let at = args.question.at();
    let (held, what) = counted(told, args.by, at)?;
    let held = world.stacks.iter().map(|stack| stack.whole).zip(held);
    let held = held.filter(|(_, held)| held.blocks > 0);
    let calls = CallGraph::of_lines(&world.lines, &world.names, held);
    let total = calls.total;
    let graph = picture(
        &calls,
        Picture {
            legend: vec![format!(
                "{} {what}{} in {}",
                told.sizes.of(total.bytes),
                match args.by {
                    By::Live => told.about_filter,
                    _ => told.about,
                },
                in_words(total.blocks, "block")
            )],
            least_percent: args.threshold,
            most_boxes: args.max_boxes.into(),
            by_lines: args.lines,
            with_symbols: false,
            joins_runs: true,
        },
    );
    Ok(draw::svg(&graph, &layout::place(&graph)))
}
