//! What a log that `memlog strip` made says of it: the text of
//! [`Key::Stripped`](crate::meta::Key::Stripped), words apart by blanks.
//!
//! ```text
//! THRESHOLD   in ns, or `all`
//! FORKS       `own` or `parent`
//! ERROR       four figures of the log as it was, in decimal
//! EVENTS
//! LOW
//! PEAK
//! ```

/// What was left out, and what it would have told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripped {
    /// Blocks that lived less than so many nanoseconds were left out; without it all that
    /// went.
    pub below_ns: Option<u64>,
    /// Fork points are of the parent's stripped log, and not of the log as it was recorded.
    pub with_parent: bool,
    /// By how much the heap peak may be off, in bytes.
    pub error_bytes: u64,
    /// Events between the two readings that the RSS peak lies between.
    pub bracket_events: u64,
    /// The smallest heap there, in bytes.
    pub bracket_low_bytes: u64,
    /// Which reading has the RSS peak before it, of those that say something, from 1; the
    /// log's end is one more. 0: none has.
    pub peak_reading: u64,
}

/// Where all that went was left out.
const ALL: &str = "all";
const OWN: &str = "own";
const PARENT: &str = "parent";

impl Stripped {
    /// What the text says; nothing of a newer memlog's.
    pub fn of(text: &[u8]) -> Option<Self> {
        let mut words = core::str::from_utf8(text).ok()?.split(' ');
        let below_ns = match words.next()? {
            ALL => None,
            ns => Some(ns.parse().ok()?),
        };
        let with_parent = match words.next()? {
            PARENT => true,
            OWN => false,
            _ => return None,
        };
        let mut figure = || words.next()?.parse().ok();
        Some(Self {
            below_ns,
            with_parent,
            error_bytes: figure()?,
            bracket_events: figure()?,
            bracket_low_bytes: figure()?,
            peak_reading: figure()?,
        })
    }
}

impl core::fmt::Display for Stripped {
    fn fmt(&self, out: &mut core::fmt::Formatter) -> core::fmt::Result {
        match self.below_ns {
            Some(ns) => write!(out, "{ns} ")?,
            None => write!(out, "{ALL} ")?,
        }
        let forks = if self.with_parent { PARENT } else { OWN };
        let (error, events) = (self.error_bytes, self.bracket_events);
        let (low, peak) = (self.bracket_low_bytes, self.peak_reading);
        write!(out, "{forks} {error} {events} {low} {peak}")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Stripped;
    use std::string::ToString;

    #[test]
    fn what_it_says_is_read_again() {
        for below_ns in [None, Some(0), Some(u64::MAX)] {
            for with_parent in [true, false] {
                let stripped = Stripped {
                    below_ns,
                    with_parent,
                    error_bytes: 1,
                    bracket_events: u64::MAX,
                    bracket_low_bytes: 0,
                    peak_reading: 7,
                };
                let text = stripped.to_string();
                assert_eq!(Stripped::of(text.as_bytes()), Some(stripped));
            }
        }
        let others: [&[u8]; 5] = [
            b"",
            b"all",
            b"all mine 1 2 3 4",
            b"-1 own 1 2 3 4",
            b"all own 1 2 3",
        ];
        for other in others {
            assert_eq!(Stripped::of(other), None);
        }
    }
}
