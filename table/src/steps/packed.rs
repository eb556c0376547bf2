//! Steps that are many, such as those of a log with fine time: they stay packed in the
//! file, and of each thousand memory has where they lie.
//!
//! ```text
//! chunk := groups of 1024 steps, the last of all steps with what is left, and eight
//!          bytes of slack
//! group := a line for its events, one for its ticks, their bits in this order
//! ```

use super::index::Index;
use super::line::{self, Line};
use super::{CHUNK_STEPS, Step, StepsChunk};
use crate::pack::{Bytes, SLACK};

/// Steps of a group. More would make memory smaller, and the bits of each step more.
const GROUP: usize = 1024;
// Of a chunk that is full every group is.
const _: () = assert!(CHUNK_STEPS.is_multiple_of(GROUP));

/// Packs the steps of a chunk.
pub(crate) fn put(steps: &[Step], out: &mut Vec<u8>) {
    for group in steps.chunks(GROUP) {
        let events: Vec<u64> = group.iter().map(|step| step.event).collect();
        let ticks: Vec<u64> = group.iter().map(|step| step.tick).collect();
        let widths = [&events, &ticks].map(|values| line::put_head(values, out));
        line::put_values(&events, widths[0], out);
        line::put_values(&ticks, widths[1], out);
    }
    out.extend_from_slice(&[0; SLACK]);
}

#[derive(Clone, Copy, Debug)]
struct Group {
    events: Line,
    ticks: Line,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Packed<'b> {
    file: &'b [u8],
    groups: Vec<Group>,
    /// Of all steps.
    pub(super) count: usize,
    index: Index,
}

impl<'b> Packed<'b> {
    /// Nothing if a chunk is not what was written, or its steps do not rise.
    pub(super) fn read(chunks: &[StepsChunk], file: &'b [u8]) -> Option<Self> {
        let mut packed = Self {
            file,
            ..Self::default()
        };
        for chunk in chunks {
            packed.read_chunk(chunk)?;
        }
        packed.index = Index::new(packed.groups.len(), |at| packed.groups[at].events.first);
        Some(packed)
    }

    fn read_chunk(&mut self, chunk: &StepsChunk) -> Option<()> {
        if !chunk.piece.is_whole(self.file) {
            return None;
        }
        let range = chunk.piece.range()?;
        let mut bytes = Bytes(self.file.get(range.clone())?);
        let mut left = usize::try_from(chunk.steps).ok()?;
        // Where a step lies is told by its number: all groups before it are full.
        if left == 0 || left > CHUNK_STEPS || !self.count.is_multiple_of(GROUP) {
            return None;
        }
        while left > 0 {
            let count = left.min(GROUP);
            let mut group = Group {
                events: Line::read(&mut bytes)?,
                ticks: Line::read(&mut bytes)?,
            };
            let start = range.end - bytes.0.len();
            let middle = group.events.lies_at(start, count)?;
            let end = group.ticks.lies_at(middle, count)?;
            bytes.take(end - start)?;
            if !self.goes_on(&group, count) {
                return None;
            }
            self.groups.push(group);
            self.count += count;
            left -= count;
        }
        Some(())
    }

    /// Whether steps are not before those that are there.
    fn goes_on(&self, group: &Group, count: usize) -> bool {
        let last = self.groups.len().checked_sub(1).map(|at| self.ends(at));
        let is_behind = last.is_none_or(|last| {
            group.events.first >= last.1.event && group.ticks.first >= last.1.tick
        });
        is_behind
            && group.events.is_rising(self.file, count)
            && group.ticks.is_rising(self.file, count)
    }

    /// The first and the last step of a group.
    fn ends(&self, at: usize) -> (Step, Step) {
        let last = self.count_of(at) - 1;
        (self.step(at * GROUP), self.step(at * GROUP + last))
    }

    /// How many steps a group has.
    fn count_of(&self, at: usize) -> usize {
        (self.count - at * GROUP).min(GROUP)
    }

    pub(super) fn step(&self, at: usize) -> Step {
        let (group, place) = (&self.groups[at / GROUP], at % GROUP);
        Step {
            event: group.events.get(self.file, place),
            tick: group.ticks.get(self.file, place),
        }
    }

    #[inline]
    pub(super) fn step_of(&self, event: u64) -> usize {
        let (first, end) = self.index.near(event, self.groups.len());
        let near = self.groups.get(first + 1..end).unwrap_or(&[]);
        let at = first + near.partition_point(|next| next.events.first <= event);
        let Some(group) = self.groups.get(at) else {
            return 0;
        };
        let place = group.events.count_to(self.file, self.count_of(at), event);
        at * GROUP + place.saturating_sub(1)
    }

    #[inline]
    pub(super) fn tick_of(&self, event: u64) -> u64 {
        match self.groups.first() {
            Some(first) if event >= first.events.first => {
                let step = self.step_of(event);
                let group = &self.groups[step / GROUP];
                group.ticks.get(self.file, step % GROUP)
            }
            _ => 0,
        }
    }

    /// Within a group it is the slope.
    pub(super) fn grain(&self) -> Option<u64> {
        let within = self.groups.iter().map(|group| group.ticks.slope);
        let ends = |at: usize| self.ends(at - 1).1.tick;
        let firsts = (1..self.groups.len()).map(|at| (self.groups[at].ticks.first, ends(at)));
        let between = firsts.map(|(first, last)| first.saturating_sub(last));
        within.chain(between).filter(|&ticks| ticks > 0).min()
    }

    /// The first event after a tick.
    pub(super) fn after(&self, tick: u64) -> Option<u64> {
        let next = self
            .groups
            .partition_point(|group| group.ticks.first <= tick);
        let Some(at) = next.checked_sub(1) else {
            return self.groups.first().map(|group| group.events.first);
        };
        let group = &self.groups[at];
        let place = group.ticks.count_to(self.file, self.count_of(at), tick);
        let at = at * GROUP + place;
        (at < self.count).then(|| self.step(at).event)
    }

    /// The first step of each so many ticks, and some more.
    pub(super) fn thinned(&self, ticks: u64) -> impl Iterator<Item = Step> {
        let is_of_one = move |at: usize| {
            let (first, last) = self.ends(at);
            first.tick / ticks == last.tick / ticks
        };
        // Of a group that lies within one of them the first step says it.
        (0..self.groups.len()).flat_map(move |at| {
            let count = if is_of_one(at) { 1 } else { self.count_of(at) };
            (at * GROUP..at * GROUP + count).map(|at| self.step(at))
        })
    }
}
