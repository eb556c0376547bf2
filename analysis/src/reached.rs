//! Addresses that recorded calls ever had to do with: what is in memory elsewhere, nobody
//! recorded asked for.

use std::collections::BTreeMap;

/// More are not kept apart: then all between two is one.
const MOST: usize = 1 << 16;

/// Stretches of addresses; neighbours are one.
#[derive(Default)]
pub(crate) struct Reached(BTreeMap<u64, u64>);

impl Reached {
    /// These too.
    pub(crate) fn add(&mut self, low: u64, high: u64) {
        let (mut low, mut high) = (low, high);
        let before = self.0.range(..=low).next_back();
        if let Some((&start, &end)) = before.filter(|(_, end)| **end >= low) {
            if end >= high {
                return;
            }
            low = start;
        }
        while let Some((&start, &end)) = self.0.range(low..=high).next_back() {
            high = high.max(end);
            self.0.remove(&start);
        }
        self.0.insert(low, high);
        if self.0.len() > MOST {
            self.thin();
        }
    }

    /// Every second gap is forgotten.
    #[cold]
    fn thin(&mut self) {
        let all: Vec<(u64, u64)> = self.0.iter().map(|(low, high)| (*low, *high)).collect();
        let pairs = all.chunks(2).filter_map(|pair| {
            let (low, high) = (pair.first()?.0, pair.last()?.1);
            Some((low, high))
        });
        self.0 = pairs.collect();
    }

    /// What of these is none of them, in order.
    pub(crate) fn gaps(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..=low).next_back();
        let mut at = before.map_or(low, |(_, end)| low.max(*end));
        let mut gaps = Vec::new();
        for (&start, &end) in self.0.range(low..high) {
            if start > at {
                gaps.push((at, start));
            }
            at = at.max(end);
        }
        if at < high {
            gaps.push((at, high));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_no_stretch_covers() {
        let mut seed = 5u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let (mut reached, mut twin) = (Reached::default(), [false; 100]);
            for _ in 0..draw(20) {
                let low = draw(100);
                let high = (low + 1 + draw(12)).min(100);
                reached.add(low, high);
                (low..high).for_each(|at| twin[at as usize] = true);
            }
            let low = draw(100);
            let high = low + draw(101 - low);
            let mut found = Vec::new();
            for (from, to) in reached.gaps(low, high) {
                assert!(from < to);
                found.extend(from..to);
            }
            let expected = (low..high).filter(|at| !twin[*at as usize]);
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    /// Nothing that was reached is a gap, however many there are.
    #[test]
    fn many_stretches_are_fewer() {
        let mut reached = Reached::default();
        (0..100_000).for_each(|place| reached.add(place * 10, place * 10 + 5));
        assert!(reached.0.len() <= MOST);
        let gaps = reached.gaps(0, 1_000_000);
        assert!(
            gaps.iter()
                .all(|(from, to)| from % 10 == 5 && to - from == 5)
        );
        assert!(gaps.len() > MOST / 4);
    }
}
