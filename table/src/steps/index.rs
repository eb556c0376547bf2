//! Where in a list of rising events to look for one.

/// So many events have one place in it at least, as a power of two.
const LEAST_SHIFT: u32 = 10;

/// Of every 2^`shift` events the place in the list of the last that is not behind the
/// first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    places: Vec<u32>,
    shift: u32,
}

impl Index {
    /// No larger than the list, whatever a file says of events.
    pub(super) fn new(count: usize, event: impl Fn(usize) -> u64) -> Self {
        let last = count.checked_sub(1).map_or(0, &event);
        let most = 4 * count as u64 + 1024;
        let mut shift = LEAST_SHIFT;
        while last >> shift > most {
            shift += 1;
        }
        let mut at = 0;
        let places = (0..=last >> shift).map(|place| {
            while at + 1 < count && event(at + 1) <= place << shift {
                at += 1;
            }
            at as u32
        });
        Self {
            places: places.collect(),
            shift,
        }
    }

    /// The place of an event is the first of these two or behind it, and before the
    /// second.
    #[inline]
    pub(super) fn near(&self, event: u64, count: usize) -> (usize, usize) {
        let place = (event >> self.shift) as usize;
        let first = self.places.get(place).or(self.places.last());
        // Where time is fine nearly every event is a step of its own.
        let next = self.places.get(place + 1).map(|&at| at as usize + 1);
        let end = next.unwrap_or(count).min(count);
        (first.map_or(0, |&at| at as usize), end)
    }
}
