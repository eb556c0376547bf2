//! Counts of few that have large numbers: those of all stacks that map. What lies between
//! them takes no memory.

use crate::counts::{Counts, Held, Moment};
use crate::places::Places;

/// Counts by any number.
#[derive(Default)]
pub(crate) struct Sparse {
    /// By their places here; it is told of the moments.
    pub(crate) counts: Counts,
    places: Places<u32>,
}

impl Sparse {
    /// A block came.
    #[inline]
    pub(crate) fn add(&mut self, key: u32, bytes: u64) {
        let place = self.places.of(key);
        self.counts.add(place, bytes);
    }

    /// A block went.
    #[inline]
    pub(crate) fn subtract(&mut self, key: u32, bytes: u64) {
        let place = self.places.of(key);
        self.counts.subtract(place, bytes);
    }

    /// What each held at a moment, in the order of their coming.
    pub(crate) fn held(&self, moment: Moment) -> impl Iterator<Item = (u32, Held)> {
        let held = self.counts.held(moment);
        held.map(|(place, held)| (self.places.key(place), held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_take_no_more_than_small_ones() {
        let mut sparse = Sparse::default();
        let told = |sparse: &Sparse, moment| {
            let all = sparse.held(moment);
            all.map(|(key, held)| (key, held.bytes)).collect::<Vec<_>>()
        };
        sparse.add(u32::MAX, 1000);
        sparse.add(71, 200);
        sparse.add(u32::MAX, 30);
        sparse.counts.mark_heap_peak();
        sparse.subtract(u32::MAX, 1000);
        sparse.subtract(71, 200);
        sparse.add(9, 5);
        let peak = told(&sparse, Moment::HeapPeak);
        assert_eq!(peak, [(u32::MAX, 1030), (71, 200)]);
        assert_eq!(told(&sparse, Moment::End), [(u32::MAX, 30), (9, 5)]);
        assert_eq!(sparse.places.of(12), 3, "three have places");
    }
}
