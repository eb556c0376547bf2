//! Places that allocate with the lives of their blocks, as DHAT tells them.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;

use memlog_analysis::Name;
use memlog_answers::{World, allocation_points};
use memlog_export::forms::{Dhat, DhatPoint, dhat as form, dhat_name};
use memlog_format::meta::Lack;

use super::{Chosen, command};
use crate::blocks::{Failure, Told};
use crate::facts::is_unknown;
use crate::words::Advice;

/// Writes it.
pub fn dhat(chosen: &Chosen, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    super::write(
        chosen,
        &[Lack::Gone, Lack::Counts, Lack::Live, Lack::Peak],
        |told| made(told, told.about.is_empty()),
        out,
    )
}

/// 2 GiB of them.
const MOST_CHANGES: usize = 90_000_000;

/// Who does not know one of these knows of no block how long it lived.
const LIFETIMES: [Lack; 4] = [Lack::Times, Lack::Lifetimes, Lack::Order, Lack::Gone];

fn made(told: &Told, is_of_all: bool) -> Result<String, Failure> {
    let world = told.world;
    let (places, place_of) = places(world);
    let bound = (is_of_all, MOST_CHANGES);
    let Some(points) = allocation_points(world, told.choice, &place_of, bound)? else {
        return Err(Failure::Said(Advice::error(
            "too many blocks to tell the most that each place held",
            "choose blocks by --where, as 'size >= 4KiB' or 'born in 20%..40%'",
        )));
    };
    let micros = |ticks: u64| (world.seconds(ticks) * 1e6) as u64;
    let told_points = places.into_iter().zip(points);
    let told_points = told_points.filter(|(_, point)| point.all.blocks > 0);
    let told_points = told_points.map(|(frames, point)| DhatPoint {
        frames,
        all: point.all,
        lifetime_us: micros(point.lifetime_ticks),
        most: point.most,
        at_peak: point.at_peak,
        at_end: point.at_end,
    });
    let peak = world.table.steps().tick_of(world.moments.heap_peak);
    Ok(form(&Dhat {
        command: &command(told),
        pid: told.log().start().map_or(0, |start| start.pid.into()),
        peak_us: micros(peak),
        // Its page divides by it.
        end_us: micros(world.table.end_tick()).max(1),
        has_lifetimes: !LIFETIMES.iter().any(|lack| is_unknown(told.log(), *lack)),
        points: told_points.collect(),
    }))
}

/// Stacks by what their functions are called, from who called the allocator out, and by a
/// stack's number which of them it is.
fn places<'w>(world: &'w World) -> (Vec<Vec<&'w Name>>, Vec<u32>) {
    let mut places = Vec::new();
    let mut index: HashMap<Vec<String>, u32> = HashMap::new();
    let mut by_line: HashMap<u32, u32> = HashMap::new();
    let place_of = world.stacks.iter().map(|stack| {
        *by_line.entry(stack.asker).or_insert_with(|| {
            let frames: Vec<&Name> = world.named(stack.asker).collect();
            let told = frames.iter().map(|name| dhat_name(name)).collect();
            let next = places.len() as u32;
            let place = *index.entry(told).or_insert(next);
            if place == next {
                places.push(frames);
            }
            place
        })
    });
    let place_of = place_of.collect();
    (places, place_of)
}
