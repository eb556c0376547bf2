//! What stacks allocated and freed up to some moments, as Perfetto shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;

use memlog_analysis::Held;
use memlog_answers::{Damaged, changes, peak, timeline};
use memlog_export::flame::Flame;
use memlog_export::forms::{Dump, perfetto as form};
use memlog_format::meta::Lack;

use super::{Chosen, counters, process};
use crate::blocks::Told;
use crate::calls::outermost_at_main;

/// Moments that its page has a mark for, besides both peaks and the end.
const EACH: u64 = 16;
const POINTS: usize = 2_000;

/// Writes it.
pub fn perfetto(chosen: &Chosen, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    super::write(chosen, &[Lack::Course, Lack::Live], made, out)
}

fn made(told: &Told) -> Result<Vec<u8>, Damaged> {
    let world = told.world;
    let (nodes, end_of) = outermost_at_main(world);
    let flame = Flame {
        names: world.names.clone(),
        nodes,
        ..Flame::default()
    };
    let events = moments(told)?;
    let changed = changes(world, told.choice, &events)?;
    let end_of = |stack: u32| end_of(stack as usize).map(|end| end as u32);
    // Sums by stack, and which of them have risen since they were told.
    let mut sums: BTreeMap<Option<u32>, (Held, Held)> = BTreeMap::new();
    let mut risen: BTreeSet<Option<u32>> = BTreeSet::new();
    for (stack, held) in changed.base {
        let end = end_of(stack);
        let sum = sums.entry(end).or_default();
        sum.0 = sum.0.plus(held);
        risen.insert(end);
    }
    let mut dumps = Vec::new();
    for (&event, changed) in events.iter().zip(changed.changes) {
        for change in changed {
            let end = end_of(change.stack);
            let sum = sums.entry(end).or_default();
            *sum = (sum.0.plus(change.came), sum.1.plus(change.went));
            risen.insert(end);
        }
        let told = std::mem::take(&mut risen).into_iter();
        let told = told.filter_map(|end| sums.get(&end).map(|sum| (end, sum.0, sum.1)));
        dumps.push(Dump {
            ns: world
                .table
                .steps()
                .tick_of(event)
                .saturating_mul(world.tick_ns),
            sums: told.collect(),
        });
    }
    let points = timeline(world, told.choice, POINTS)?;
    Ok(form(
        &flame,
        process(told),
        &dumps,
        &counters(world, &points),
    ))
}

/// After which events: parts of the run, the peaks, and the last.
fn moments(told: &Told) -> Result<Vec<u64>, Damaged> {
    let world = told.world;
    let (steps, end_tick) = (world.table.steps(), world.table.end_tick());
    let parts = (1..EACH).map(|part| steps.event_at(end_tick / EACH * part));
    let mut events: Vec<u64> = parts.map(|event| event.min(world.end())).collect();
    events.extend([world.moments.rss_peak, world.end()]);
    // The log knows the peak of all blocks; that of others is looked for.
    events.push(match told.about.is_empty() {
        true => world.moments.heap_peak,
        false => peak(world, told.choice)?.event,
    });
    events.sort_unstable();
    events.dedup();
    Ok(events)
}
