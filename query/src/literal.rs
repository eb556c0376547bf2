//! Values that are one word.

use std::str::FromStr;

use crate::error::{Fault, Kind, Problem, shown};
use crate::field::is_name;
use crate::number::{self, ONES, PERCENTS, SIZES, TIMES};
use crate::value::{Address, Amount, Bytes, Length, Moment, Share};

/// What can be compared by size.
pub(crate) trait Literal: Sized + Clone {
    const KIND: Kind;

    /// The value of a word.
    fn of(word: &str) -> Result<Self, number::Fault<'_>>;

    /// Whether one is certainly larger than another.
    fn exceeds(&self, other: &Self) -> bool;
}

impl Literal for Bytes {
    const KIND: Kind = Kind::Size;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        number::number(word, &SIZES).map(Self)
    }

    fn exceeds(&self, other: &Self) -> bool {
        self > other
    }
}

impl Literal for u64 {
    const KIND: Kind = Kind::Count;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        number::number(word, &ONES)
    }

    fn exceeds(&self, other: &Self) -> bool {
        self > other
    }
}

impl Literal for Address {
    const KIND: Kind = Kind::Address;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        number::address(word).map(Self)
    }

    fn exceeds(&self, other: &Self) -> bool {
        self > other
    }
}

impl Literal for Length {
    const KIND: Kind = Kind::Duration;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        match share(word) {
            Some(share) => share.map(Self::Share),
            None => number::sum(word, &TIMES).map(Self::Ns),
        }
    }

    fn exceeds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ns(one), Self::Ns(other)) => one > other,
            (Self::Share(one), Self::Share(other)) => one > other,
            _ => false,
        }
    }
}

impl Literal for Amount {
    const KIND: Kind = Kind::Amount;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        match share(word) {
            Some(share) => share.map(Self::Share),
            None => u64::of(word).map(Self::Count),
        }
    }

    fn exceeds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => one > other,
            (Self::Share(one), Self::Share(other)) => one > other,
            _ => false,
        }
    }
}

impl Literal for Moment {
    const KIND: Kind = Kind::Moment;

    fn of(word: &str) -> Result<Self, number::Fault<'_>> {
        let names = [
            ("start", Self::Start),
            ("end", Self::End),
            ("rss-peak", Self::RssPeak),
            ("heap-peak", Self::HeapPeak),
        ];
        let named = names.into_iter().find(|(name, _)| is_name(word, name));
        if let Some((_, moment)) = named {
            return Ok(moment);
        }
        match share(word) {
            Some(share) => share.map(Self::Share),
            None => number::sum(word, &TIMES).map(Self::SinceStartNs),
        }
    }

    fn exceeds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::SinceStartNs(one), Self::SinceStartNs(other)) => one > other,
            (Self::UnixNs(one), Self::UnixNs(other)) => one > other,
            (Self::Share(one), Self::Share(other)) => one > other,
            _ => false,
        }
    }
}

/// A size as in a filter, for who asks for one elsewhere.
impl FromStr for Bytes {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::of(word).map_err(|_| ())
    }
}

/// A duration as in a filter.
impl FromStr for Length {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::of(word).map_err(|_| ())
    }
}

/// A share, if the word has its sign.
fn share(word: &str) -> Option<Result<Share, number::Fault<'_>>> {
    let number = number::number(word.strip_suffix('%')?, &PERCENTS);
    let share =
        number.and_then(|number| Share::from_per_billion(number).ok_or(number::Fault::NoNumber));
    Some(share)
}

/// The value of a word at a column.
pub(crate) fn literal<V: Literal>(word: &str, column: usize) -> Result<V, Fault> {
    V::of(word).map_err(|fault| {
        let (found, kind) = (shown(word), V::KIND);
        let problem = match fault {
            number::Fault::Unit(unit) if kind.has_units() => {
                let unit = shown(unit);
                Problem::UnknownUnit { unit, kind }
            }
            number::Fault::TooLarge => Problem::TooLarge { found },
            _ => Problem::BadValue { found, kind },
        };
        (column, problem)
    })
}
