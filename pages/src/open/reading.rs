//! A log's events, handed out stride by stride.

use memlog_read::{EventStream, Taker};

/// Events between two looks at whether that is enough.
const STRIDE: u64 = 1 << 13;

/// How far a log was read.
#[derive(Clone, Copy, Default)]
pub struct Far {
    /// Whether it was to the end.
    pub is_whole: bool,
    /// Events in whole strides.
    pub count: u64,
    /// Bytes of events.
    pub bytes: u64,
}

/// Hands out a log's events until there are no more or `goes_on`, which is told how
/// many more came and how many bytes of the log were read in all, says no.
pub fn hand_out<'a, T: Taker<'a>>(
    events: &mut EventStream<'a>,
    taker: &mut T,
    mut goes_on: impl FnMut(&T, u64, u64) -> bool,
) -> Far {
    let mut far = Far {
        bytes: events.bytes_read(),
        ..Far::default()
    };
    if !goes_on(taker, 0, far.bytes) {
        return far;
    }
    while !far.is_whole {
        far.is_whole = !events.hand_out(STRIDE, taker);
        far.bytes = events.bytes_read();
        if !far.is_whole {
            far.count += STRIDE;
            if !goes_on(taker, STRIDE, far.bytes) {
                break;
            }
        }
    }
    far
}
