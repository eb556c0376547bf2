//! Which addresses blocks ever lay at.

use memlog_table::{Column, Columns};

use crate::choice::{Choice, is_mmapped};
use crate::pass;
use crate::world::{Damaged, World};

/// Addresses from the first up to the second, which is behind the last.
pub type Range = (u64, u64);

/// So many are kept beyond those that were put together last before they are again.
const SLACK: usize = 1 << 16;

/// Ranges that become fewer where they meet.
#[derive(Default)]
struct Ranges {
    all: Vec<Range>,
    /// How many there were when they were put together last.
    known: usize,
}

impl Ranges {
    fn add(&mut self, range: Range) {
        self.all.push(range);
        if self.all.len() >= 2 * self.known + SLACK {
            self.join();
        }
    }

    /// Those that meet or overlap become one.
    fn join(&mut self) {
        self.all.sort_unstable();
        self.all.dedup_by(|next, range| {
            let is_one = next.0 <= range.1;
            if is_one {
                range.1 = range.1.max(next.1);
            }
            is_one
        });
        self.known = self.all.len();
    }
}

/// What chosen blocks occupied at any time, by address: what the allocator gave, with the
/// `word_bytes` before it in which glibc keeps its size; two of them if it mapped the block
/// by itself. So neighbours of a heap meet.
pub fn occupied(world: &World, choice: &Choice, word_bytes: u64) -> Result<Vec<Range>, Damaged> {
    let columns = Columns::of(&[Column::Address, Column::Size, Column::Waste]);
    let mut ranges = pass::over(
        world,
        choice,
        columns,
        |ranges: &mut Ranges, rows, chosen| {
            for &row in chosen {
                let get = |column| rows.get(column, row);
                let (size, waste) = (get(Column::Size), get(Column::Waste));
                let words = if is_mmapped(size, waste) { 2 } else { 1 };
                let start = get(Column::Address);
                let end = start.saturating_add(size).saturating_add(waste);
                ranges.add((start.saturating_sub(words * word_bytes), end));
            }
        },
        |mut all, other| {
            all.all.extend(other.all);
            all.join();
            all
        },
    )?;
    ranges.join();
    Ok(ranges.all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let mut ranges = Ranges::default();
        let given = [(40, 50), (0, 10), (10, 20), (12, 15), (21, 30), (45, 60)];
        given.into_iter().for_each(|range| ranges.add(range));
        ranges.join();
        assert_eq!(ranges.all, [(0, 20), (21, 30), (40, 60)]);
    }

    /// Blocks come and go at the same addresses: their number does not matter.
    #[test]
    fn many_ranges_take_no_memory() {
        let mut ranges = Ranges::default();
        for turn in 0..10 * SLACK as u64 {
            let start = turn % 100 * 32;
            ranges.add((start, start + 16));
        }
        assert!(ranges.all.len() <= 2 * 100 + SLACK, "{}", ranges.all.len());
        ranges.join();
        assert_eq!(ranges.all.len(), 100);
    }
}
