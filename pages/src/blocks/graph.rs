//! Who held memory at a moment, as a call graph that is drawn.

use memlog_answers::held_of;
use memlog_export::{CallGraph, Picture, draw, layout, picture};
use memlog_format::meta::Lack;

use super::{Desk, Failure, Question, Told};
use crate::moment::At;
use crate::rests::Rests;
use crate::words::counted;

/// The call graph of a moment, as SVG; of the RSS peak if --at does not say when.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
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
    let rests = Rests::from(true).on(&[Lack::Live]);
    let at = args.question.at().unwrap_or(&At::RSS_PEAK);
    desk.tell(&args.question, &rests, |told| drawn(told, args, at))
}

fn drawn(told: &Told, args: &Args, at: &At) -> Result<String, Failure> {
    let (world, event) = (told.world, told.event(at)?);
    let choice = told.filtered.clone();
    let held = held_of(world, &choice.and(memlog_answers::Test::LiveAt(event)))?;
    let held = world.stacks.iter().map(|stack| stack.whole).zip(held);
    let held = held.filter(|(_, held)| held.blocks > 0);
    let calls = CallGraph::of_lines(&world.lines, &world.names, held);
    let total = calls.total;
    let graph = picture(
        &calls,
        Picture {
            legend: vec![format!(
                "{} live at {at}{} in {}",
                told.sizes.of(total.bytes),
                told.about_filter,
                counted(total.blocks, "block")
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
