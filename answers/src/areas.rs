//! The areas of mappings in the time of blocks: which blocks came to lie in them.

use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A part of a mapping, and the events of blocks between which it was there. The clock
/// is all that blocks and mappings have in common, and ticks are long: so `first` is the
/// first event of the tick in which it came, and `last` that of the one in which it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Its first byte, and the one behind its last.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Its number.
    pub(crate) born: u64,
}

/// The numbers of mappings whose blocks are asked for.
#[derive(Debug)]
pub(crate) enum Numbers {
    /// All between these.
    Range(RangeInclusive<u64>),
    /// These.
    Chosen(HashSet<u64>),
}

impl Numbers {
    fn contains(&self, number: u64) -> bool {
        match self {
            Self::Range(range) => range.contains(&number),
            Self::Chosen(chosen) => chosen.contains(&number),
        }
    }
}

/// Mappings whose blocks are asked for, among all others: parts by their first byte, with
/// the farthest end of all up to each.
#[derive(Debug)]
pub struct AreasInTime {
    numbers: Numbers,
    parts: Vec<Part>,
    ends: Vec<u64>,
}

impl AreasInTime {
    /// Of all parts those of the mappings with such numbers.
    pub(crate) fn new(numbers: Numbers, mut parts: Vec<Part>) -> Self {
        drop_those_far_from(&numbers, &mut parts);
        parts.sort_unstable_by_key(|part| part.start);
        let ends = parts.iter().scan(0, |farthest, part| {
            *farthest = part.end.max(*farthest);
            Some(*farthest)
        });
        let ends = ends.collect();
        Self {
            numbers,
            parts,
            ends,
        }
    }

    /// Whether what came to lie there at an event lay in one of them. Of two that were
    /// there in the same tick the later one counts, so that a block is in one at most.
    pub(crate) fn has(&self, address: u64, event: u64) -> bool {
        let before = self.parts.partition_point(|part| part.start <= address);
        let parts = self.parts[..before].iter().zip(&self.ends).rev();
        // None of those before ends behind the address.
        let near = parts.take_while(|(_, end)| address < **end);
        let there = near.filter(|(part, _)| address < part.end && part.first <= event);
        let latest = there.max_by_key(|(part, _)| part.born);
        latest.is_some_and(|(part, _)| event <= part.last && self.numbers.contains(part.born))
    }
}

/// Only what came later than such a mapping, in its place and its time, takes blocks from
/// it. A long log has many others.
fn drop_those_far_from(numbers: &Numbers, parts: &mut Vec<Part>) {
    let wanted = parts.iter().filter(|part| numbers.contains(part.born));
    let Some(all) = wanted.copied().reduce(|all, one| Part {
        start: all.start.min(one.start),
        end: all.end.max(one.end),
        first: all.first.min(one.first),
        last: all.last.max(one.last),
        born: all.born.min(one.born),
    }) else {
        parts.clear();
        return;
    };
    parts.retain(|part| {
        let is_near = part.start < all.end && all.start < part.end;
        is_near && part.born >= all.born && part.first <= all.last
    });
}
