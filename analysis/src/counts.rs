//! Live memory by stack: now, at the heap peak, at the peak of resident memory
//! and at one chosen time, in one pass over the events.
//!
//! Copying the table at every new peak would take time for each stack at each
//! allocation of a growing program. So a copy is made stack by stack, when the
//! stack's figures next change:
//!
//! ```text
//! mark:                     epoch := epoch + 1        the state of this moment is wanted
//! before a stack changes:   if version < epoch: copy := live; version := epoch
//! what it was at the mark:  copy if version = epoch, else live (unchanged since)
//! ```
//!
//! That serves the heap peak (mark at each new maximum) and the chosen time
//! (mark once). For resident memory the candidate is the largest heap between
//! two readings, and only the second reading tells whether it is kept. So there
//! are two copies: of the candidate, and of the one that was kept.
//!
//! ```text
//! keep:                     kept := epoch of the candidate; a new candidate is marked at once
//! before a stack changes, if version < epoch and kept_version < kept:
//!                           kept_copy := copy if version = kept, else live
//!                           kept_version := kept
//! ```
//!
//! The copy still holds what was kept: a stack's candidate copy is overwritten
//! only here, and `keep` marks a new candidate, so the first change after it
//! comes by here. Which moment was marked last of all is one number, so that
//! each change costs one comparison, and each mark nothing.
//!
//! Most stacks are callers that ask for nothing themselves; they take four bytes.

/// A moment for which live memory is known by stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When resident memory was largest.
    RssPeak,
    /// When most bytes were live.
    HeapPeak,
    /// At the end of the log.
    End,
    /// That given in the options.
    Chosen,
}

/// When [`Moment::Chosen`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// At the end of this tick.
    Tick(u64),
    /// At a mark that the program set, by its number from 0, and its tick.
    #[allow(missing_docs)]
    Mark { number: u64, tick: u64 },
}

impl Instant {
    /// The tick that it is in.
    pub fn tick(self) -> u64 {
        match self {
            Self::Tick(tick) | Self::Mark { tick, .. } => tick,
        }
    }
}

/// Blocks and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes asked for.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
}

/// What decides how much a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its bytes.
    Bytes,
    /// Its blocks, or the calls that made them.
    Blocks,
}

impl Held {
    /// Both together; of a damaged log at most what there are numbers for.
    pub fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            blocks: self.blocks.saturating_add(other.blocks),
        }
    }

    /// What is left without a part.
    pub fn minus(self, part: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(part.bytes),
            blocks: self.blocks.saturating_sub(part.blocks),
        }
    }

    /// How much it is.
    pub fn by(self, measure: Measure) -> u64 {
        match measure {
            Measure::Bytes => self.bytes,
            Measure::Blocks => self.blocks,
        }
    }
}

/// What a stack held at a marked moment, valid if it changed since.
#[derive(Clone, Copy, Debug, Default)]
struct Copied {
    held: Held,
    version: u64,
}

impl Copied {
    #[inline]
    fn before_change(&mut self, live: Held, epoch: u64) {
        if self.version < epoch {
            self.held = live;
            self.version = epoch;
        }
    }

    fn at_mark(&self, live: Held, epoch: u64) -> Held {
        if self.version == epoch {
            self.held
        } else {
            live
        }
    }
}

/// The figures of a stack that asked for memory: what each event needs, in one line
/// of the processor's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Count {
    live: Held,
    /// Everything it ever allocated.
    total: Held,
    /// What of that went before its thread asked for another.
    temporary: Held,
    /// How many marks there were when it last changed.
    marks: u64,
}

/// What such a stack held at the marked moments.
#[derive(Clone, Copy, Debug, Default)]
struct Copies {
    heap_peak: Copied,
    candidate: Copied,
    kept: Copied,
    chosen: Copied,
}

/// All stacks' figures, by the stack's index.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// By stack the place of its count plus one, 0 where it has none.
    places: Vec<u32>,
    counts: Vec<Count>,
    copies: Vec<Copies>,
    /// How many marks there were.
    marks: u64,
    heap_peak: u64,
    candidate: u64,
    kept: u64,
    chosen: u64,
}

impl Counts {
    /// The count of a stack that is about to change.
    #[inline(always)]
    fn changing(&mut self, stack: u32) -> &mut Count {
        let place = match self.places.get(stack as usize) {
            Some(&place) if place != 0 => place as usize - 1,
            _ => self.make(stack),
        };
        if self.counts[place].marks != self.marks {
            self.copy(place);
        }
        &mut self.counts[place]
    }

    #[cold]
    fn make(&mut self, stack: u32) -> usize {
        let (index, place) = (stack as usize, self.counts.len());
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        self.counts.push(Count::default());
        self.copies.push(Copies::default());
        // There are no more counts than stacks, which have numbers of 32 bits.
        self.places[index] = place as u32 + 1;
        place
    }

    /// Keeps what the marked moments since the last change want.
    #[inline(never)]
    fn copy(&mut self, place: usize) {
        let (count, copies) = (&mut self.counts[place], &mut self.copies[place]);
        let live = count.live;
        count.marks = self.marks;
        copies.heap_peak.before_change(live, self.heap_peak);
        if copies.candidate.version < self.candidate {
            if copies.kept.version < self.kept {
                copies.kept.held = copies.candidate.at_mark(live, self.kept);
                copies.kept.version = self.kept;
            }
            copies.candidate.before_change(live, self.candidate);
        }
        copies.chosen.before_change(live, self.chosen);
    }

    /// Each stack that asked for memory with the place of its count, what it holds now
    /// and everything that it ever allocated.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u32, usize, Held, Held)> {
        let all = (0..).zip(&self.places);
        all.filter_map(|(stack, place)| {
            let place = place.checked_sub(1)? as usize;
            let count = &self.counts[place];
            Some((stack, place, count.live, count.total))
        })
    }

    /// The count of a stack and its copies, if it has any.
    fn of_all(&self) -> impl Iterator<Item = (u32, &Count, &Copies)> {
        let all = (0..).zip(&self.places);
        all.filter_map(|(stack, place)| {
            let place = place.checked_sub(1)? as usize;
            Some((stack, &self.counts[place], &self.copies[place]))
        })
    }

    /// A block of this stack came.
    #[inline]
    pub(crate) fn add(&mut self, stack: u32, bytes: u64) {
        let count = self.changing(stack);
        count.live.bytes = count.live.bytes.saturating_add(bytes);
        count.live.blocks += 1;
        count.total.bytes = count.total.bytes.saturating_add(bytes);
        count.total.blocks += 1;
    }

    /// A block of this stack went.
    #[inline]
    pub(crate) fn subtract(&mut self, stack: u32, bytes: u64) {
        let count = self.changing(stack);
        count.live.bytes = count.live.bytes.saturating_sub(bytes);
        count.live.blocks = count.live.blocks.saturating_sub(1);
    }

    /// A block of this stack, which goes, was temporary.
    #[inline]
    pub(crate) fn temporary(&mut self, stack: u32, bytes: u64) {
        if let Some(&place) = self.places.get(stack as usize)
            && let Some(count) = self.counts.get_mut((place as usize).wrapping_sub(1))
        {
            count.temporary.bytes = count.temporary.bytes.saturating_add(bytes);
            count.temporary.blocks += 1;
        }
    }

    /// Blocks of this stack came and went.
    pub(crate) fn passed(&mut self, stack: u32, bytes: u64, blocks: u64, is_temporary: bool) {
        let count = self.changing(stack);
        let more = |held: &mut Held| {
            held.bytes = held.bytes.saturating_add(bytes);
            held.blocks = held.blocks.saturating_add(blocks);
        };
        more(&mut count.total);
        if is_temporary {
            more(&mut count.temporary);
        }
    }

    /// A block that was there before the log began.
    pub(crate) fn inherit(&mut self, stack: u32, bytes: u64) {
        let before = self.changing(stack).total;
        self.add(stack, bytes);
        self.changing(stack).total = before;
    }

    /// Now is the heap peak.
    #[inline]
    pub(crate) fn mark_heap_peak(&mut self) {
        self.heap_peak += 1;
        self.marks += 1;
    }

    /// Now is the candidate for the peak of resident memory.
    #[inline]
    pub(crate) fn mark_candidate(&mut self) {
        self.candidate += 1;
        self.marks += 1;
    }

    /// The candidate is kept, and now is the next one.
    pub(crate) fn keep_candidate(&mut self) {
        self.kept = self.candidate;
        self.candidate += 1;
        self.marks += 1;
    }

    /// Now is the chosen time.
    pub(crate) fn mark_chosen(&mut self) {
        self.chosen += 1;
        self.marks += 1;
    }

    /// What each stack held at a moment, those that held nothing left out.
    pub(crate) fn held(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        let held = move |live: Held, copies: &Copies| match moment {
            Moment::End => live,
            Moment::HeapPeak => copies.heap_peak.at_mark(live, self.heap_peak),
            Moment::Chosen => copies.chosen.at_mark(live, self.chosen),
            Moment::RssPeak if copies.kept.version == self.kept => copies.kept.held,
            Moment::RssPeak => copies.candidate.at_mark(live, self.kept),
        };
        self.of_all()
            .map(move |(stack, count, copies)| (stack, held(count.live, copies)))
            .filter(|(_, held)| held.blocks != 0)
    }

    /// Everything each stack ever allocated.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (u32, Held)> {
        self.of_all()
            .map(|(stack, count, _)| (stack, count.total))
            .filter(|(_, total)| total.blocks != 0)
    }

    /// What of that was temporary.
    pub(crate) fn temporaries(&self) -> impl Iterator<Item = (u32, Held)> {
        self.of_all()
            .map(|(stack, count, _)| (stack, count.temporary))
            .filter(|(_, temporary)| temporary.blocks != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The naive twin: a whole copy at every mark.
    #[derive(Default)]
    struct Copies {
        live: Vec<Held>,
        heap_peak: Vec<Held>,
        candidate: Vec<Held>,
        kept: Vec<Held>,
        chosen: Vec<Held>,
    }

    fn shown(held: &[Held]) -> Vec<(u32, Held)> {
        let all = (0..).zip(held.iter().copied());
        all.filter(|(_, held)| held.blocks != 0).collect()
    }

    const STACKS: usize = 4;

    fn act(counts: &mut Counts, copies: &mut Copies, action: u8, stack: u32, bytes: u64) {
        let live = &mut copies.live[stack as usize];
        match action {
            0..=7 => {
                counts.add(stack, bytes);
                live.bytes += bytes;
                live.blocks += 1;
            }
            8..=11 if live.blocks > 0 => {
                let bytes = live.bytes / live.blocks;
                counts.subtract(stack, bytes);
                live.bytes -= bytes;
                live.blocks -= 1;
            }
            12 => {
                counts.mark_heap_peak();
                copies.heap_peak = copies.live.clone();
            }
            13..=14 => {
                counts.mark_candidate();
                copies.candidate = copies.live.clone();
            }
            15 => {
                counts.keep_candidate();
                copies.kept = std::mem::take(&mut copies.candidate);
                copies.candidate = copies.live.clone();
            }
            16 if copies.chosen.is_empty() => {
                counts.mark_chosen();
                copies.chosen = copies.live.clone();
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn lazy_copies_equal_whole_ones(
            actions in prop::collection::vec((0..17u8, 0..STACKS as u32, 0..1000u64), 0..200)
        ) {
            let mut counts = Counts::default();
            let mut copies = Copies::default();
            copies.live.resize(STACKS, Held::default());
            copies.candidate = copies.live.clone();
            for (action, stack, bytes) in actions {
                act(&mut counts, &mut copies, action, stack, bytes);
                let held = |moment| counts.held(moment).collect::<Vec<_>>();
                prop_assert_eq!(held(Moment::End), shown(&copies.live));
                prop_assert_eq!(held(Moment::HeapPeak), shown(&copies.heap_peak));
                prop_assert_eq!(held(Moment::RssPeak), shown(&copies.kept));
                prop_assert_eq!(held(Moment::Chosen), shown(&copies.chosen));
            }
        }
    }
}
