//! Comparisons, each of them a span of values.

use std::fmt;
use std::ops::RangeInclusive;

/// The values that a comparison lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span<T> {
    /// `>= value`
    AtLeast(T),
    /// `> value`
    MoreThan(T),
    /// `<= value`
    AtMost(T),
    /// `< value`
    LessThan(T),
    /// `in first..last`, both included; twice the same is `= value`
    Between(T, T),
}

impl<T> Span<T> {
    /// Whether a value is in the span, whose ends are resolved by `of`.
    pub fn holds<K: PartialOrd>(&self, value: K, of: impl Fn(&T) -> K) -> bool {
        match self {
            Self::AtLeast(end) => value >= of(end),
            Self::MoreThan(end) => value > of(end),
            Self::AtMost(end) => value <= of(end),
            Self::LessThan(end) => value < of(end),
            Self::Between(first, last) => value >= of(first) && value <= of(last),
        }
    }

    /// The same values as a range, once it is known what each end stands for.
    /// `None` where there is no such value.
    pub fn resolved(&self, of: impl Fn(&T) -> u64) -> Option<RangeInclusive<u64>> {
        let range = match self {
            Self::AtLeast(end) => of(end)..=u64::MAX,
            Self::MoreThan(end) => of(end).checked_add(1)?..=u64::MAX,
            Self::AtMost(end) => 0..=of(end),
            Self::LessThan(end) => 0..=of(end).checked_sub(1)?,
            Self::Between(first, last) => of(first)..=of(last),
        };
        (!range.is_empty()).then_some(range)
    }
}

impl<T> Span<T> {
    /// The values that were written down: one, or both ends.
    pub fn ends(&self) -> impl Iterator<Item = &T> {
        let (first, last) = match self {
            Self::AtLeast(end) | Self::MoreThan(end) | Self::AtMost(end) | Self::LessThan(end) => {
                (end, None)
            }
            Self::Between(first, last) => (first, Some(last)),
        };
        std::iter::once(first).chain(last)
    }
}

impl<T: Clone> Span<T> {
    /// Only this value.
    pub fn only(value: T) -> Self {
        Self::Between(value.clone(), value)
    }
}

impl<T: fmt::Display + PartialEq> fmt::Display for Span<T> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::AtLeast(end) => write!(out, ">= {end}"),
            Self::MoreThan(end) => write!(out, "> {end}"),
            Self::AtMost(end) => write!(out, "<= {end}"),
            Self::LessThan(end) => write!(out, "< {end}"),
            Self::Between(first, last) if first == last => write!(out, "= {first}"),
            Self::Between(first, last) => write!(out, "in {first}..{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_what_the_span_holds() {
        let values = [0, 1, 2, 3, u64::MAX - 1, u64::MAX];
        for end in values {
            let others = values.map(|last| Span::Between(end, last));
            let spans = [
                Span::AtLeast(end),
                Span::MoreThan(end),
                Span::AtMost(end),
                Span::LessThan(end),
                Span::only(end),
            ];
            for span in spans.into_iter().chain(others) {
                let range = span.resolved(|end| *end);
                for value in values {
                    let is_in = range.as_ref().is_some_and(|range| range.contains(&value));
                    assert_eq!(is_in, span.holds(value, |end| *end), "{value} {span}");
                }
            }
        }
    }
}
