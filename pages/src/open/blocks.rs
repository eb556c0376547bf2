//! Makes the table of a log's blocks, beside what the log tells as a whole: each on a
//! core of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use memlog_analysis::{Instant, Snapshots};
use memlog_read::{Flight, Kind, Log};
use memlog_table::Builder;

use super::sidecar::{Draft, Finished, Sidecar};
use super::{Analysis, Family, Watch, hand_out};

/// The table of a log, and what it tells as a whole.
pub struct Made {
    /// The table.
    pub table: Finished,
    /// What was said of it to be kept.
    pub analysis: Analysis,
}

/// Reads a log for its table. `figures` is told what the log tells as a whole, and gives
/// what is to be kept with the table. `chosen` is a moment of interest.
pub fn make(
    family: &Family,
    sidecar: &Sidecar,
    (chosen, snapshots): (Option<Instant>, Option<Snapshots>),
    watch: &Watch,
    figures: impl Fn(&Analysis) -> Vec<u8>,
) -> std::io::Result<Made> {
    // Where Ctrl-C ends the reading, in events.
    let last = AtomicU64::new(u64::MAX);
    let (builder, analysis) = std::thread::scope(|scope| {
        let building = scope.spawn(|| build(family, sidecar, &last));
        let analysis = family.analyse_with(chosen, snapshots, watch);
        if analysis.part.is_some() {
            last.store(analysis.tally.events(), Ordering::Relaxed);
        }
        let builder = building.join();
        (builder, analysis)
    });
    let broken = |_| std::io::Error::other("the table could not be made");
    let end = family.own().end().map(|end| end.tick);
    let end = end.filter(|_| analysis.part.is_none());
    let draft = builder.map_err(broken)?.finish(end, &figures(&analysis))?;
    let table = draft.finish(analysis.part.is_none())?;
    Ok(Made { table, analysis })
}

fn build(family: &Family, sidecar: &Sidecar, last: &AtomicU64) -> Builder<Draft> {
    let mut builder = Builder::new(sidecar.begin(), sidecar.key());
    for (number, child, parent) in family.forks() {
        inherit(&mut builder, number, child, parent, last);
    }
    let log = family.own();
    builder.log(0, log.size().file_bytes);
    let mut horizon = 0;
    if let Some(flight) = log.flight() {
        flight.live().for_each(|entry| builder.seed(entry));
        horizon = flight.sums.horizon_tick;
    }
    builder.start(horizon);
    hand_out(&mut log.events(), &mut builder, |builder, _, _| {
        builder.events() < last.load(Ordering::Relaxed)
    });
    builder
}

fn inherit(builder: &mut Builder<Draft>, number: u32, child: &Log, parent: &Log, last: &AtomicU64) {
    builder.log(number, parent.size().file_bytes);
    let entries = parent.flight().into_iter().flat_map(Flight::live);
    entries.for_each(|entry| builder.seed(entry));
    for item in parent.events_until(child.fork_points()) {
        if last.load(Ordering::Relaxed) != u64::MAX {
            return;
        }
        match &item.kind {
            Kind::Alloc(alloc) => builder.inherit_alloc(item.place(), alloc),
            Kind::Release(release) => builder.inherit_release(release),
            Kind::Thread { .. } | Kind::Scope(_) => builder.inherit_scope(&item),
            Kind::Switch(switch) if switch.on => builder.inherit_forget(),
            _ => {}
        }
    }
}
