//! Pages that blocks ever had a part of.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Pages of an entry.
const PAGES: u64 = 512;
/// A block with more pages is kept as a range.
const LARGE: u64 = 4 * PAGES;

/// Such pages, while blocks are added.
#[derive(Default)]
pub struct Adding {
    bits: HashMap<u64, [u64; 8], RandomState>,
    /// From the first page to the last.
    ranges: Vec<(u64, u64)>,
}

/// Such pages: from the first of each range to its last, by address, never side by side.
#[derive(Default)]
pub struct Given(Vec<(u64, u64)>);

impl Adding {
    /// A block was there.
    pub fn add(&mut self, address: u64, bytes: u64, page_bytes: u64) {
        let first = address / page_bytes;
        let last = address.saturating_add(bytes.max(1) - 1) / page_bytes;
        if last - first >= LARGE {
            self.ranges.push((first, last));
            return;
        }
        for page in first..=last {
            let bits = self.bits.entry(page / PAGES).or_default();
            bits[(page % PAGES / 64) as usize] |= 1 << (page % 64);
        }
    }

    /// Those of both.
    pub fn and(mut self, other: Self) -> Self {
        for (key, more) in other.bits {
            let bits = self.bits.entry(key).or_default();
            for (word, more) in bits.iter_mut().zip(more) {
                *word |= more;
            }
        }
        self.ranges.extend(other.ranges);
        self
    }

    /// All of them were added.
    pub fn settled(self) -> Given {
        let mut ranges = self.ranges;
        for (key, bits) in self.bits {
            let pages =
                (0..PAGES).filter(|page| bits[(page / 64) as usize] >> (page % 64) & 1 != 0);
            for page in pages.map(|page| key * PAGES + page) {
                match ranges.last_mut() {
                    Some((_, last)) if last.checked_add(1) == Some(page) => *last = page,
                    _ => ranges.push((page, page)),
                }
            }
        }
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let meets = next.0 <= kept.1.saturating_add(1);
            if meets {
                kept.1 = kept.1.max(next.1);
            }
            meets
        });
        Given(ranges)
    }
}

impl Given {
    /// The ranges from this page on.
    pub fn from(&self, page: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.0.partition_point(|(_, last)| *last < page);
        self.0[first..].iter().copied()
    }
}
