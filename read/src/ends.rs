//! What is missing at the end of a stream, where no later chunk tells of it: a
//! block of the file that became zeros looks like one that was never used.

use memlog_format::counter::ALL;

use crate::error::{Finding, Findings};
use crate::grid::Grid;
use crate::marks::{Begun, Marks};
use crate::metas::Metas;

/// A damaged counter is not believed beyond this.
const MOST_STREAMS: u64 = 1 << 16;

/// Looks for chunks that were given out and are not there. The log is as long
/// as it was written. Of one that grows only what was sealed and begun by its marks
/// is looked for: what came since may lie behind these bytes.
pub(crate) fn look(
    bytes: &[u8],
    grid: &Grid,
    metas: &Metas,
    (marks, begun): (Option<&Marks>, Begun),
    findings: &mut Findings,
) {
    // A flight recorder gives chunks out again: any may be gone.
    if grid.flight.is_some() {
        return;
    }
    // Without room a stream ends where it stands, and that is counted.
    let mut losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    if losses.any(|(counter, _)| counter.read(bytes) > 0) {
        return;
    }
    // What a writer seals in the end is no sign of more; this one seals only
    // what is full. A forked child's first chunks were private memory.
    let is_forked = metas.parent.is_some();
    if is_forked && metas.end.is_some() {
        return;
    }
    for (&stream, spans) in &grid.streams {
        if let Some(last) = spans.last()
            && last.header.is_sealed()
            && marks.is_none_or(|marks| marks.was_sealed(stream, last.header.sequence))
        {
            let sequence = last.header.sequence.saturating_add(1);
            findings.push(Finding::NextMissing { stream, sequence });
        }
    }
    // A forked child goes on with its parent's numbers, and counts its own.
    if !is_forked {
        let streams = begun.streams.min(MOST_STREAMS) as u32;
        look_between(streams, grid, findings);
    }
}

/// Looks for streams below `end` that have no chunk. Those that follow one
/// another are one finding: a damaged counter tells of many.
fn look_between(end: u32, grid: &Grid, findings: &mut Findings) {
    let mut first = 0;
    let there = grid.streams.range(..end).map(|(&stream, _)| stream);
    for stream in there.chain([end]) {
        if stream > first {
            let count = stream - first;
            findings.push(Finding::StreamsMissing { first, count });
        }
        first = stream + 1;
    }
}
