//! The heap over time, as massif tells it.

use std::io::Write;
use std::process::ExitCode;

use memlog_answers::{Damaged, Point, held_at, peak, timeline_with};
use memlog_export::flame::{Flame, Series};
use memlog_export::forms::{MassifTold, Snapshot, massif as form};
use memlog_format::meta::Lack;

use super::{Chosen, command};
use crate::blocks::Told;
use crate::calls::outermost_at_main;
use crate::facts::is_unknown;

/// massif keeps so many, and has a tree of each tenth.
const SNAPSHOTS: usize = 100;
const EACH: usize = 10;

/// Writes it. Heap is what was asked for, as everywhere here.
pub fn massif(chosen: &Chosen, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    super::write(chosen, &[Lack::Course, Lack::Live], made, out)
}

fn made(told: &Told) -> Result<String, Damaged> {
    let world = told.world;
    // The log knows the peak of all blocks; that of others may be within a tick.
    let own_peak = match told.about.is_empty() {
        true => Vec::new(),
        false => vec![peak(world, told.choice)?.event],
    };
    let points = timeline_with(world, told.choice, SNAPSHOTS, &own_peak)?;
    let highest = peak_of(&points);
    let has_tree = |at: usize| at % EACH == EACH - 1 || Some(at) == highest;
    let detailed: Vec<usize> = (0..points.len()).filter(|&at| has_tree(at)).collect();
    let events: Vec<u64> = detailed.iter().map(|&at| points[at].event).collect();
    let held = held_at(world, told.choice, &events)?;
    let (nodes, end_of) = outermost_at_main(world);
    let series = held.into_iter().map(|by_stack| {
        let mut series = Series {
            thing: "block",
            own: vec![Default::default(); nodes.len()],
        };
        for (stack, held) in by_stack.into_iter().enumerate() {
            if let Some(own) = end_of(stack).and_then(|end| series.own.get_mut(end)) {
                *own = own.plus(held);
            }
        }
        series
    });
    let flame = Flame {
        series: series.collect(),
        names: world.names.clone(),
        nodes,
        ..Flame::default()
    };
    let has_times = !is_unknown(told.log(), Lack::Times);
    let snapshots = points.iter().enumerate().map(|(at, point)| Snapshot {
        time: match has_times {
            true => (world.seconds(point.tick) * 1000.0) as u64,
            false => point.tick,
        },
        bytes: point.live.bytes,
        series: detailed.iter().position(|&detailed| detailed == at),
        is_peak: Some(at) == highest,
    });
    let snapshots: Vec<Snapshot> = snapshots.collect();
    let about = format!("memlog: live heap in bytes asked for{}", told.about);
    let of = MassifTold {
        about: &about,
        command: &command(told),
        has_times,
    };
    Ok(form(&flame, &snapshots, &of))
}

/// The first of the highest.
fn peak_of(points: &[Point]) -> Option<usize> {
    let highest = points.iter().map(|point| point.live.bytes).max()?;
    points.iter().position(|point| point.live.bytes == highest)
}
