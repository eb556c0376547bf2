//! Where chosen blocks lie in the address space.

use memlog_table::{Column, Columns};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World, sound_page_bytes};

/// A part of the address space with blocks in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Its first byte, at the beginning of a page.
    pub start: u64,
    /// The one behind its last.
    pub end: u64,
    /// What the blocks in it hold.
    pub bytes: u64,
    /// How many they are.
    pub blocks: u64,
    /// The bytes that blocks hold in parts of the same size, the last perhaps shorter.
    pub fill: Vec<u64>,
}

/// Blocks farther apart than this lie in two regions, if that makes no more than there
/// may be.
const GAP_BYTES: u64 = 1 << 20;

/// Regions of chosen blocks, by address: so many at most, of so many parts each at most.
pub fn regions(
    world: &World,
    choice: &Choice,
    page_bytes: u64,
    (most, parts): (usize, usize),
) -> Result<Vec<Region>, Damaged> {
    let page = sound_page_bytes(page_bytes);
    let columns = Columns::of(&[Column::Address, Column::Size]);
    let mut blocks = pass::over(
        world,
        choice,
        columns,
        |blocks: &mut Vec<(u64, u64)>, rows, chosen| {
            let of = |&row: &usize| (rows.get(Column::Address, row), rows.get(Column::Size, row));
            blocks.extend(chosen.iter().map(of));
        },
        |mut all, mut one| {
            all.append(&mut one);
            all
        },
    )?;
    blocks.sort_unstable();
    let mut gap = GAP_BYTES;
    while count(&blocks, gap) > most.max(1) {
        gap = gap.saturating_mul(2);
    }
    let groups = blocks.chunk_by(|one, next| !are_apart(*one, *next, gap));
    Ok(groups.map(|blocks| region(blocks, page, parts)).collect())
}

fn are_apart((address, bytes): (u64, u64), (next, _): (u64, u64), gap: u64) -> bool {
    next.saturating_sub(address.saturating_add(bytes)) > gap
}

fn count(blocks: &[(u64, u64)], gap: u64) -> usize {
    let pairs = blocks.windows(2);
    let apart = pairs.filter(|pair| are_apart(pair[0], pair[1], gap));
    apart.count() + usize::from(!blocks.is_empty())
}

fn region(blocks: &[(u64, u64)], page: u64, parts: usize) -> Region {
    let start = blocks
        .first()
        .map_or(0, |(address, _)| address / page * page);
    let ends = blocks
        .iter()
        .map(|(address, bytes)| address.saturating_add((*bytes).max(1)));
    let end = ends.max().unwrap_or(start);
    let end = end.div_ceil(page).saturating_mul(page).max(start);
    // No part is less than a page.
    let pages = ((end - start) / page).max(1);
    let step = pages.div_ceil(parts.max(1) as u64) * page;
    let mut found = Region {
        start,
        end,
        fill: vec![0; (end - start).div_ceil(step).max(1) as usize],
        ..Region::default()
    };
    for &(address, bytes) in blocks {
        found.bytes = found.bytes.saturating_add(bytes);
        found.blocks += 1;
        let behind = address.saturating_add(bytes);
        let mut from = address;
        while from < behind {
            let part = (from - start) / step;
            let next = (part + 1).saturating_mul(step);
            let to = behind.min(start.saturating_add(next));
            if let Some(fill) = found.fill.get_mut(part as usize) {
                *fill = fill.saturating_add(to - from);
            }
            from = to;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_the_parts_that_they_lie_in() {
        // Two pages; then a block over three, with nothing behind it.
        let blocks = [(0x1010, 0x20), (0x1fff, 2), (0x3000, 0x2001), (0x6000, 0)];
        let all = region(&blocks, 0x1000, 256);
        assert_eq!((all.start, all.end), (0x1000, 0x7000));
        assert_eq!((all.bytes, all.blocks), (0x2023, 4));
        assert_eq!(all.fill, [0x21, 1, 0x1000, 0x1000, 1, 0]);
        let few = region(&blocks, 0x1000, 4);
        assert_eq!(few.fill, [0x22, 0x2000, 1]);
        assert_eq!(few.fill.iter().sum::<u64>(), few.bytes);
    }

    #[test]
    fn what_is_far_apart_lies_in_two() {
        let blocks = [
            (0x1000, 16),
            (0x1000 + GAP_BYTES, 16),
            (1 << 40, 8),
            (1 << 46, 8),
        ];
        assert_eq!(count(&blocks, GAP_BYTES), 3);
        assert_eq!(count(&blocks, 1 << 42), 2);
        assert_eq!(count(&blocks, u64::MAX), 1);
        assert_eq!(count(&[], 0), 0);
    }

    /// A damaged log may tell anything.
    #[test]
    fn no_address_is_too_much() {
        let blocks = [(0, 5), (u64::MAX - 3, u64::MAX), (u64::MAX, 0)];
        let all = region(&blocks, 4096, 256);
        assert!(all.fill.len() <= 257 && all.blocks == 3);
    }
}
