//! What is compared with a field, and how it is written.

use std::fmt::{self, Write};

use crate::span::Span;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// An address in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub u64);

/// A part of a whole, up to all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    per_billion: u64,
}

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Nanoseconds.
    Ns(u64),
    /// A part of the whole run.
    Share(Share),
}

/// A point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nanoseconds after the start of recording.
    SinceStartNs(u64),
    /// So much of the run has passed.
    Share(Share),
    /// Wall clock, nanoseconds since 1970.
    UnixNs(u64),
    /// The start of recording.
    Start,
    /// The end of the log.
    End,
    /// When resident memory was largest.
    RssPeak,
    /// When the live heap was largest.
    HeapPeak,
    /// When the program set a mark of this name, the first time.
    Mark(String),
}

/// A number of allocations, as such or as a part of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Count(u64),
    /// A part of all.
    Share(Share),
}

impl Share {
    const WHOLE: u64 = 1_000_000_000;
    const PERCENT: u64 = Self::WHOLE / 100;

    /// So many billionths; `None` for more than the whole.
    pub fn from_per_billion(per_billion: u64) -> Option<Self> {
        (per_billion <= Self::WHOLE).then_some(Self { per_billion })
    }

    /// In billionths.
    pub fn per_billion(self) -> u64 {
        self.per_billion
    }

    /// So much of a whole, rounded down.
    pub fn of(self, whole: u64) -> u64 {
        // At most the whole, which fits.
        (u128::from(whole) * u128::from(self.per_billion) / u128::from(Self::WHOLE)) as u64
    }
}

impl Span<Amount> {
    /// Whether so many of so many are in the span. Nothing is rounded: one of
    /// three is less than 50 %.
    pub fn holds_of(&self, count: u64, all: u64) -> bool {
        let whole = u128::from(Share::WHOLE);
        self.holds(u128::from(count) * whole, |end| match end {
            Amount::Count(count) => u128::from(*count) * whole,
            Amount::Share(share) => u128::from(share.per_billion) * u128::from(all),
        })
    }
}

/// Units of a size, the largest first.
const SIZES: [(u64, &str); 4] = [
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
];

/// Units of a duration, the largest first.
const TIMES: [(u64, &str); 5] = [
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
];

/// In the largest unit of which it is a whole number.
fn in_units(
    out: &mut fmt::Formatter,
    number: u64,
    units: &[(u64, &str)],
    least: &str,
) -> fmt::Result {
    let fits = |unit: &&(u64, &str)| number != 0 && number.is_multiple_of(unit.0);
    match units.iter().find(fits) {
        Some((unit, name)) => write!(out, "{}{name}", number / unit),
        None => write!(out, "{number}{least}"),
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        in_units(out, self.0, &SIZES, "")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{:#x}", self.0)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (whole, rest) = (
            self.per_billion / Self::PERCENT,
            self.per_billion % Self::PERCENT,
        );
        write!(out, "{whole}")?;
        if rest > 0 {
            let digits = format!("{rest:07}");
            write!(out, ".{}", digits.trim_end_matches('0'))?;
        }
        out.write_char('%')
    }
}

impl fmt::Display for Length {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Ns(ns) => in_units(out, *ns, &TIMES, "ns"),
            Self::Share(share) => share.fmt(out),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::SinceStartNs(ns) => Length::Ns(*ns).fmt(out),
            Self::Share(share) => share.fmt(out),
            Self::UnixNs(ns) => write!(out, "unix {}", Length::Ns(*ns)),
            Self::Start => out.write_str("start"),
            Self::End => out.write_str("end"),
            Self::RssPeak => out.write_str("rss-peak"),
            Self::HeapPeak => out.write_str("heap-peak"),
            Self::Mark(name) => {
                out.write_str("mark ")?;
                quoted(out, name)
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(out),
            Self::Share(share) => share.fmt(out),
        }
    }
}

/// A text in quotes. A backslash stands before a quote and before itself.
pub(crate) fn quoted(out: &mut fmt::Formatter, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(letter)?;
    }
    out.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(number: u64) -> Share {
        Share::from_per_billion(number * Share::PERCENT).expect("a share")
    }

    #[test]
    fn units_are_the_largest_that_fit() {
        for (bytes, text) in [(0, "0"), (1023, "1023"), (1536, "1536"), (3 << 20, "3MiB")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        for (ns, text) in [
            (0, "0ns"),
            (1500, "1500ns"),
            (12_500_000_000, "12500ms"),
            (120_000_000_000, "2m"),
        ] {
            assert_eq!(Length::Ns(ns).to_string(), text);
        }
    }

    #[test]
    fn shares_are_exact() {
        assert_eq!(percent(20).of(u64::MAX), u64::MAX / 5);
        assert_eq!(percent(100).of(u64::MAX), u64::MAX);
        assert_eq!(
            Share {
                per_billion: 25_000_001
            }
            .to_string(),
            "2.5000001%"
        );
        assert_eq!(Share::from_per_billion(Share::WHOLE + 1), None);
        let half = Span::AtLeast(Amount::Share(percent(50)));
        assert!(!half.holds_of(1, 3) && half.holds_of(2, 3) && half.holds_of(1, 2));
        assert!(Span::AtMost(Amount::Count(2)).holds_of(2, 3));
    }
}
