//! Each allocation and release, as the Firefox Profiler reads them.

use std::io::Write;
use std::process::ExitCode;

use memlog_answers::{Event, events, timeline};
use memlog_export::flame::Flame;
use memlog_export::forms::{Change, firefox as form};
use memlog_format::meta::Lack;

use super::{Chosen, counters, process};
use crate::blocks::{Failure, Told};
use crate::calls::outermost_at_main;
use crate::words::{Advice, grouped};

/// A browser holds no more: of each event there are some 60 bytes of text.
const MOST: usize = 4_000_000;
const POINTS: usize = 2_000;

/// Writes it.
pub fn firefox(chosen: &Chosen, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let rests = [Lack::Order, Lack::Times, Lack::Gone, Lack::Course];
    super::write(chosen, &rests, made, out)
}

fn made(told: &Told) -> Result<String, Failure> {
    let world = told.world;
    let Some(events) = events(world, told.choice, MOST)? else {
        return Err(Failure::Said(Advice::error(
            format!(
                "more than {} events: no browser opens that",
                grouped(MOST as u64)
            ),
            "choose blocks by --where, as 'size >= 64KiB', 'born in 20%..40%' or 'lifetime >= 1s'",
        )));
    };
    let (nodes, end_of) = outermost_at_main(world);
    let flame = Flame {
        names: world.names.clone(),
        nodes,
        ..Flame::default()
    };
    let ns = |tick: u64| tick.saturating_mul(world.tick_ns);
    let steps = world.table.steps();
    let change = |event: &Event| Change {
        ns: ns(steps.tick_of(event.number)),
        address: event.address,
        bytes: match (
            i64::try_from(event.size).unwrap_or(i64::MAX),
            event.is_release,
        ) {
            (bytes, false) => bytes,
            (bytes, true) => -bytes,
        },
        end: event
            .stack
            .and_then(|stack| end_of(stack as usize))
            .map(|end| end as u32),
    };
    let changes: Vec<Change> = events.iter().map(change).collect();
    let points = timeline(world, told.choice, POINTS)?;
    let counters = counters(world, &points);
    let text = form(&flame, process(told), &changes, &counters);
    text.map_err(|error| Failure::Said(error.into()))
}
