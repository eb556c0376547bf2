//! What recording costs, measured where it happens: one event in a thousand is
//! timed, from the handler's first look to its last, and summed up in the
//! counters. Readers multiply. What the door and the token cost is not in it.

use crate::log::stream::Stream;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use core::sync::atomic::Ordering;
use memlog_format::counter::Counter;

/// Of the looks at the clock, of which there is one in some events, one in so
/// many is of an event that is timed. A prime, so that those who allocate and
/// release in turn are seen at both.
const TIMED_EVERY: u32 = 61;

/// What takes longer was interrupted, or waited for the log's file.
const LONGEST_NS: u64 = 16_384;

/// Measures the clock itself.
pub fn start() {
    let between = |_| {
        let before = Os::precise_ns();
        Os::precise_ns().saturating_sub(before)
    };
    let least = (0..4).map(between).min().unwrap_or(0);
    RECORDER.clock_ns.store(least, Ordering::Relaxed);
}

/// When the event that is being recorded began, if it is timed.
#[derive(Clone, Copy, Default)]
pub struct Timing(Option<u64>);

impl Timing {
    /// Of an event at which the clock was looked at.
    #[cold]
    pub fn begin(stream: &mut Stream) -> Self {
        match stream.until_timed.checked_sub(1) {
            Some(left) => {
                stream.until_timed = left;
                Self(None)
            }
            // Under a filter the counter of the processor may be forbidden.
            None if RECORDER.ground.is_quiet() => Self(None),
            None => {
                stream.until_timed = TIMED_EVERY - 1;
                Self(Some(Os::precise_ns()))
            }
        }
    }

    /// The event is recorded.
    #[inline]
    pub fn end(self) {
        if let Self(Some(began)) = self {
            note(began);
        }
    }
}

#[cold]
fn note(began: u64) {
    let clock = RECORDER.clock_ns.load(Ordering::Relaxed);
    let took = Os::precise_ns().saturating_sub(began).saturating_sub(clock);
    if took > LONGEST_NS {
        return;
    }
    RECORDER.ground.counters.add(Counter::TimedEvents, 1);
    RECORDER.ground.counters.add(Counter::TimedNs, took);
}
