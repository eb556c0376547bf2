//! Rising numbers, each of which can be had by itself.
//!
//! ```text
//! line := first slope:varint width:u8
//! bits := ceil(count * width / 8) bytes: `width` bits of each
//!         (value - first - place * slope)
//! ```
//!
//! The slope is the least difference of two neighbours, so what is left rises too. Of
//! the events of a fine log nothing is left where each is a step of its own.

use crate::pack::{Bytes, WIDEST, bits, bits_at, put_bits, put_var};

/// Where the numbers lie, and what their bits are added to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) first: u64,
    pub(super) slope: u64,
    /// Of the bits, in the file.
    at: usize,
    width: u32,
}

/// Appends the head of a line, and hands out its width.
pub(super) fn put_head(values: &[u64], out: &mut Vec<u8>) -> u32 {
    let (first, slope) = first_and_slope(values);
    // The last has the most left.
    let width = bits(left(values, first, slope).last().unwrap_or(0));
    let width = if width > WIDEST { u64::BITS } else { width };
    put_var(out, first);
    put_var(out, slope);
    out.push(width as u8);
    width
}

/// Appends its bits.
pub(super) fn put_values(values: &[u64], width: u32, out: &mut Vec<u8>) {
    let (first, slope) = first_and_slope(values);
    put_bits(left(values, first, slope), width, out);
}

fn first_and_slope(values: &[u64]) -> (u64, u64) {
    let apart = values.windows(2).map(|pair| pair[1] - pair[0]);
    let first = values.first().copied().unwrap_or(0);
    (first, apart.min().unwrap_or(0))
}

fn left(values: &[u64], first: u64, slope: u64) -> impl Iterator<Item = u64> {
    let values = (0..).zip(values);
    values.map(move |(place, &value)| value - first - place * slope)
}

impl Line {
    pub(super) fn read(bytes: &mut Bytes) -> Option<Self> {
        let (first, slope) = (bytes.var()?, bytes.var()?);
        let width = u32::from(bytes.u8()?);
        (width <= WIDEST || width == u64::BITS).then_some(Self {
            first,
            slope,
            at: 0,
            width,
        })
    }

    /// The bits of so many numbers begin here, and where they end.
    pub(super) fn lies_at(&mut self, at: usize, count: usize) -> Option<usize> {
        self.at = at;
        at.checked_add((count * self.width as usize).div_ceil(8))
    }

    /// What a number has at most above its place on the slope.
    #[inline]
    fn low(&self) -> u64 {
        match self.width {
            0 => 0,
            width => u64::MAX >> (u64::BITS - width),
        }
    }

    #[inline]
    fn left(&self, file: &[u8], place: usize) -> u64 {
        let bytes = file.get(self.at..).unwrap_or(&[]);
        bits_at(bytes, place * self.width as usize) & self.low()
    }

    /// One number. What was [checked](Self::is_rising) does not wrap, if the file has
    /// not changed since.
    #[inline]
    pub(super) fn get(&self, file: &[u8], place: usize) -> u64 {
        let risen = self.slope.wrapping_mul(place as u64);
        let value = self.first.wrapping_add(risen);
        match self.width {
            0 => value,
            _ => value.wrapping_add(self.left(file, place)),
        }
    }

    /// Whether no number is smaller than the one before it, whoever wrote them.
    pub(super) fn is_rising(&self, file: &[u8], count: usize) -> bool {
        let mut before = self.first;
        let mut risen = Some(self.first);
        (0..count).all(|place| {
            let value = risen.and_then(|risen| risen.checked_add(self.left(file, place)));
            risen = risen.and_then(|risen| risen.checked_add(self.slope));
            value.is_some_and(|value| value >= std::mem::replace(&mut before, value))
        })
    }

    /// How many of the numbers are not above this one.
    #[inline]
    pub(super) fn count_to(&self, file: &[u8], count: usize, value: u64) -> usize {
        let Some(above) = value.checked_sub(self.first) else {
            return 0;
        };
        // Each is on the slope, or above it by no more than its bits.
        let on_slope = |above: u64| above.checked_div(self.slope)?.checked_add(1);
        let places = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let mut most = on_slope(above).map_or(count, |most| count.min(places(most)));
        if self.width == 0 {
            return most;
        }
        let surely = above.checked_sub(self.low()).and_then(on_slope);
        let mut least = surely.map_or(0, |least| most.min(places(least)));
        while least < most {
            let middle = least.midpoint(most);
            match self.get(file, middle) <= value {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        least
    }
}
