//! How far the heap peak may be off where threads ran beside each other.
//!
//! Threads are ordered by the stamps they take; between two stamps of its own
//! a thread's events may have come earlier or later than they stand. Let H(s)
//! be the heap at stamp s, every thread taken at its own last stamp. At any
//! moment the true heap is within E of H of the last stamp, where E is the sum,
//! over the threads, of the most that each strayed from what it held at a
//! stamp before it took the next. The same holds for the heap as it is read
//! here. So the two peaks are at most 2 E apart.
//!
//! A large block is stamped before and after: where nobody else took a number
//! in between, its place is certain, and it is no straying.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// One stream since its last stamp.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    stamp: u64,
    events: u64,
    net: i64,
    /// The most that the stream was away from its last stamp.
    away: u64,
    /// The most that it was so in any segment.
    widest: u64,
    /// Whether it ever moved: who only maps memory takes stamps as well.
    has_moved: bool,
}

impl Segment {
    /// The widest, if the segment were to end with this stamp.
    fn widest_until(&self, stamp: u64) -> u64 {
        let is_certain = self.events <= 1 && stamp == self.stamp.wrapping_add(1);
        match is_certain {
            true => self.widest,
            false => self.widest.max(self.away),
        }
    }
}

/// All streams' segments; moments are numbers of events.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    segments: Vec<Segment>,
    index: HashMap<u32, usize, RandomState>,
    last: (u32, usize),
}

impl Segments {
    #[inline(always)]
    fn of(&mut self, stream: u32) -> &mut Segment {
        if self.segments.is_empty() || self.last.0 != stream {
            self.look_up(stream);
        }
        &mut self.segments[self.last.1]
    }

    #[inline(never)]
    fn look_up(&mut self, stream: u32) {
        let next = self.segments.len();
        let index = *self.index.entry(stream).or_insert(next);
        if index == next {
            self.segments.push(Segment::default());
        }
        self.last = (stream, index);
    }

    /// The stream's net bytes moved.
    #[inline]
    pub(crate) fn moved(&mut self, stream: u32, bytes: i64) {
        let segment = self.of(stream);
        segment.events += 1;
        segment.has_moved = true;
        segment.net = segment.net.saturating_add(bytes);
        segment.away = segment.away.max(segment.net.unsigned_abs());
    }

    /// The stream took this stamp.
    pub(crate) fn stamped(&mut self, stream: u32, stamp: u64) {
        let segment = self.of(stream);
        *segment = Segment {
            stamp,
            widest: segment.widest_until(stamp),
            has_moved: segment.has_moved,
            ..Segment::default()
        };
    }

    /// By how much the heap's peak may be off.
    pub(crate) fn bound(&self) -> u64 {
        let moved = self.segments.iter().filter(|segment| segment.has_moved);
        if moved.clone().count() < 2 {
            return 0;
        }
        let widest = moved.map(|segment| segment.widest_until(0));
        let sum = widest.fold(0u64, u64::saturating_add);
        sum.saturating_mul(2)
    }

    /// The streams that moved.
    pub(crate) fn streams(&self) -> impl Iterator<Item = &u32> {
        self.index.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stream_has_no_error() {
        let mut segments = Segments::default();
        segments.moved(3, 500);
        segments.moved(3, -100);
        assert_eq!(segments.bound(), 0);
        // What its allocator maps stands in a stream of its own.
        segments.stamped(4, 1);
        assert_eq!(segments.bound(), 0);
    }

    #[test]
    fn the_widest_straying_of_each_stream_counts() {
        let mut segments = Segments::default();
        segments.moved(1, 1000);
        segments.moved(1, -400);
        segments.stamped(1, 1);
        segments.moved(1, 70);
        segments.moved(2, 100);
        assert_eq!(segments.bound(), 2 * (1000 + 100));
    }

    #[test]
    fn a_block_pinned_between_two_stamps_is_certain() {
        let mut segments = Segments::default();
        segments.moved(2, 10);
        segments.stamped(1, 5);
        segments.moved(1, 1 << 30);
        segments.stamped(1, 6);
        assert_eq!(segments.bound(), 20);
        segments.moved(1, 1 << 30);
        segments.stamped(1, 8); // somebody else had 7
        assert_eq!(segments.bound(), 2 * ((1 << 30) + 10));
    }
}
