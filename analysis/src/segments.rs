//! How far the heap peak may be off where threads ran beside each other.
//!
//! Threads are ordered by the stamps they take; between two stamps of its own
//! a thread's events may have come earlier or later than they stand. At the
//! moment of the peak every thread is somewhere in the segment that its stamps
//! allow. The true heap is at most the sum of what each held at the most in
//! its segment; and at least what one of them held at the most, with the
//! others at their least, for it surely came by there. The figure found lies
//! between the same bounds. So the error is at most the sum of the swings (the
//! most less the least) of all but one thread, and the one to leave out is
//! that of the largest swing. A segment may end after the peak was found, so
//! it is summed up when the next stamp closes it.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// One stream since its last stamp.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    since: u64,
    net: i64,
    low: i64,
    high: i64,
    /// The swing of the segment that held this peak.
    frozen: (u64, u64),
}

impl Segment {
    fn swing(&self) -> u64 {
        self.high.abs_diff(self.low)
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
    #[inline]
    fn of(&mut self, stream: u32) -> &mut Segment {
        if self.segments.is_empty() || self.last.0 != stream {
            let next = self.segments.len();
            let index = *self.index.entry(stream).or_insert(next);
            if index == next {
                self.segments.push(Segment::default());
            }
            self.last = (stream, index);
        }
        &mut self.segments[self.last.1]
    }

    /// The stream's net bytes moved.
    #[inline]
    pub(crate) fn moved(&mut self, stream: u32, bytes: i64) {
        let segment = self.of(stream);
        segment.net = segment.net.saturating_add(bytes);
        segment.low = segment.low.min(segment.net);
        segment.high = segment.high.max(segment.net);
    }

    /// The stream took a stamp at this moment; the last peak was at `peak`.
    pub(crate) fn stamped(&mut self, stream: u32, moment: u64, peak: u64) {
        let segment = self.of(stream);
        if segment.since < peak {
            segment.frozen = (peak, segment.swing());
        }
        *segment = Segment {
            since: moment,
            frozen: segment.frozen,
            ..Segment::default()
        };
    }

    /// By how much the peak of this moment may be off.
    pub(crate) fn bound(&self, peak: u64) -> u64 {
        let swings = self
            .segments
            .iter()
            .map(|segment| match segment.since < peak {
                true => segment.swing(),
                false if segment.frozen.0 == peak => segment.frozen.1,
                false => 0,
            });
        let (sum, largest) = swings.fold((0u64, 0), |(sum, largest), swing| {
            (sum.saturating_add(swing), swing.max(largest))
        });
        sum - largest
    }

    /// Number of streams that moved anything or took a stamp.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
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
        assert_eq!(segments.bound(1), 0);
    }

    #[test]
    fn the_segments_around_the_peak_count() {
        let mut segments = Segments::default();
        segments.moved(1, 1000);
        segments.stamped(1, 1, 0);
        segments.moved(1, 70);
        segments.moved(1, -30);
        segments.moved(2, 100); // the peak, moment 4
        segments.moved(1, -60); // in the same segment, though later
        segments.stamped(1, 6, 4);
        segments.moved(1, -5000);
        assert_eq!(segments.bound(4), 90);
    }
}
