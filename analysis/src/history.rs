//! The heap and resident memory over time, in few steps: for a curve on a page.

/// Steps that are kept at most; their width doubles when they are used up.
const STEPS: usize = 128;

/// In a step in which nobody knows the figure.
pub const UNKNOWN: u64 = u64::MAX;
/// So many steps without a reading, an eighth of a curve, are a gap. Between
/// fewer it is drawn as it was: dots all over tell nothing.
const GAP: usize = STEPS / 8;

/// One figure over time: the most of each step.
#[derive(Clone, Debug, Default)]
struct Curve {
    most: Vec<u64>,
    /// The figure after the last change.
    now: u64,
}

impl Curve {
    #[inline]
    fn change(&mut self, step: usize, bytes: u64) {
        if self.most.is_empty() {
            // Before what was known first nothing else is.
            self.now = bytes;
        }
        self.reach(step);
        self.now = bytes;
        if let Some(most) = self.most.get_mut(step) {
            *most = bytes.max(*most);
        }
    }

    /// What did not change in between stayed as it was.
    #[inline]
    fn reach(&mut self, step: usize) {
        if step >= self.most.len() {
            self.most.resize(step + 1, self.now);
        }
    }

    /// The figure is only known now and then. Where it rose by an eighth over a
    /// gap, nobody knows when.
    fn read(&mut self, step: usize, bytes: u64) {
        let (from, before) = (self.most.len(), self.now);
        let has_risen = bytes > before.saturating_add(before / 8);
        self.change(step, bytes);
        if let Some(gap) = self.most.get_mut(from..step)
            && from > 0
            && gap.len() >= GAP
            && has_risen
        {
            gap.fill(UNKNOWN);
        }
    }

    fn halve(&mut self) {
        self.most = self.most.chunks(2).map(most_of).collect();
    }
}

/// Both over time.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Where it begins.
    first: u64,
    /// A step is so many ticks, as a power of two.
    shift: u32,
    heap: Curve,
    resident: Curve,
}

impl History {
    /// Nothing is known of before this.
    pub(crate) fn begin(&mut self, tick: u64) {
        *self = Self {
            first: tick,
            ..Self::default()
        };
    }

    #[inline]
    pub(crate) fn heap(&mut self, tick: u64, bytes: u64) {
        let step = self.step(tick);
        self.heap.change(step, bytes);
    }

    pub(crate) fn resident(&mut self, tick: u64, bytes: u64) {
        let step = self.step(tick);
        self.resident.read(step, bytes);
    }

    #[inline]
    fn step(&mut self, tick: u64) -> usize {
        let tick = tick.saturating_sub(self.first);
        while tick >> self.shift >= STEPS as u64 {
            self.shift += 1;
            self.heap.halve();
            self.resident.halve();
        }
        (tick >> self.shift) as usize
    }

    /// The log is through.
    pub(crate) fn end(&mut self, tick: u64) {
        let step = self.step(tick);
        self.heap.reach(step);
        self.resident.reach(step);
    }

    /// Each step: the tick at which it begins, and the most of both in it, [`UNKNOWN`] where
    /// that is not known.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let count = self.heap.most.len().max(self.resident.most.len());
        let of = |curve: &Curve, step: usize| curve.most.get(step).copied().unwrap_or(UNKNOWN);
        (0..count).map(move |step| {
            let tick = self.first.saturating_add((step as u64) << self.shift);
            (tick, of(&self.heap, step), of(&self.resident, step))
        })
    }

    /// The most of the heap in each of so many parts of the time, or fewer.
    pub fn heap_in(&self, parts: usize) -> Vec<u64> {
        in_parts(&self.heap.most, parts)
    }

    /// The same of resident memory; [`UNKNOWN`] where that is not known.
    pub fn resident_in(&self, parts: usize) -> Vec<u64> {
        in_parts(&self.resident.most, parts)
    }
}

fn in_parts(steps: &[u64], parts: usize) -> Vec<u64> {
    let count = parts.min(steps.len());
    let bound = |part: usize| part * steps.len() / count;
    let parts = (0..count).map(|part| most_of(&steps[bound(part)..bound(part + 1)]));
    parts.collect()
}

/// The most that is known.
fn most_of(steps: &[u64]) -> u64 {
    let known = steps.iter().copied().filter(|&bytes| bytes != UNKNOWN);
    known.max().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against every figure kept.
    #[test]
    fn a_curve_is_the_most_of_each_part() {
        let mut history = History::default();
        history.heap(0, 0);
        let mut all = vec![0u64; 5000];
        let (mut now, mut seed) = (0u64, 7u64);
        for (tick, most) in all.iter_mut().enumerate() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *most = now;
            if (seed >> 40).is_multiple_of(3) {
                now = seed >> 44;
                *most = now.max(*most);
                history.heap(tick as u64, now);
            }
        }
        history.end(4999);
        let width = 1usize << history.shift;
        let expected: Vec<u64> = all
            .chunks(width)
            .map(|part| part.iter().copied().max().unwrap_or(0))
            .collect();
        assert_eq!(history.heap_in(STEPS), expected);
        let halves = history.heap_in(2);
        let middle = expected.len() / 2;
        assert_eq!(halves[0], *expected[..middle].iter().max().expect("some"));
        assert_eq!(halves[1], *expected[middle..].iter().max().expect("some"));
    }

    #[test]
    fn what_does_not_change_stays() {
        let mut history = History::default();
        history.heap(0, 0);
        history.resident(70, 50);
        history.resident(90, 70);
        history.heap(100, 9);
        history.end(127);
        // What was before the first reading is not known, and no valley.
        assert_eq!(history.resident_in(4), [50, 50, 70, 70]);
        assert_eq!(history.heap_in(4), [0, 0, 0, 9]);
        assert_eq!(History::default().heap_in(4), [] as [u64; 0]);
        history.begin(1000);
        // Memory that is touched without a call: read before and after.
        history.resident(1000, 20);
        history.resident(1100, 100);
        history.resident(1120, 101);
        history.end(1127);
        let unknown = [20, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 100, 101];
        assert_eq!(history.resident_in(8), unknown);
        history.resident(2023, 101);
        assert_eq!(history.resident_in(4), [101; 4], "halved thrice");
        history.begin(1000);
        history.heap(1000, 8);
        history.heap(1003, 2);
        history.end(1004);
        assert_eq!(history.heap_in(9), [8, 8, 8, 8, 2]);
    }
}
