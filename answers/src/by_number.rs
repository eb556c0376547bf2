//! Figures by number. Nearly all numbers are small, and those need no hash: a pass over
//! fifty million rows asks for one in each.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Numbers below this have a place of their own.
const SMALL: u64 = 1 << 16;

/// Figures by number; one that was never asked for is as it begins.
pub(crate) struct ByNumber<T> {
    small: Vec<T>,
    large: HashMap<u64, T, RandomState>,
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        Self {
            small: Vec::new(),
            large: HashMap::default(),
        }
    }
}

impl<T: Default + PartialEq> ByNumber<T> {
    /// The figure of a number.
    #[inline]
    pub(crate) fn of(&mut self, number: u64) -> &mut T {
        if number >= SMALL {
            return self.large.entry(number).or_default();
        }
        let place = number as usize;
        if place >= self.small.len() {
            self.small.resize_with(place + 1, T::default);
        }
        &mut self.small[place]
    }

    /// Those that are more than nothing, in no order.
    pub(crate) fn into_all(self) -> impl Iterator<Item = (u64, T)> {
        let small = (0..).zip(self.small);
        let all = small.chain(self.large);
        all.filter(|(_, figure)| *figure != T::default())
    }

    /// Both together.
    pub(crate) fn plus(mut self, other: Self, add: impl Fn(&T, T) -> T) -> Self {
        for (number, figure) in other.into_all() {
            let known = self.of(number);
            *known = add(known, figure);
        }
        self
    }
}

/// Two small numbers as one, which is small if both are.
#[inline]
pub(crate) fn pair(one: u64, other: u64) -> u64 {
    match one < 256 && other < 256 {
        true => one << 8 | other,
        false => 1 << 63 | one << 31 | other,
    }
}

/// Both again.
pub(crate) fn parted(pair: u64) -> (u64, u64) {
    match pair < SMALL {
        true => (pair >> 8, pair & 255),
        false => (pair >> 31 & 0xffff_ffff, pair & 0x7fff_ffff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_have_their_figures() {
        let mut one = ByNumber::<u64>::default();
        let mut other = ByNumber::default();
        for number in [0, 7, SMALL - 1, SMALL, u64::MAX] {
            *one.of(number) += number / 2 + 1;
            *other.of(number) += 1;
        }
        *other.of(3) += 0;
        let mut all: Vec<_> = one
            .plus(other, |one, other| one + other)
            .into_all()
            .collect();
        all.sort_unstable();
        let told = [0, 7, SMALL - 1, SMALL, u64::MAX].map(|number| (number, number / 2 + 2));
        assert_eq!(all, told);
    }

    #[test]
    fn pairs_are_parted() {
        for one in [0, 1, 255, 256, 100_000] {
            for other in [0, 255, 256, 0x7fff_ffff] {
                assert_eq!(parted(pair(one, other)), (one, other));
            }
        }
    }
}
