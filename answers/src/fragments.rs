//! Pages that few bytes hold: the allocator cannot give back a page while a block is
//! in it.

use std::collections::HashMap;

use memlog_table::{Column, Columns};

use crate::choice::Choice;
use crate::keys::{By, Keys};
use crate::pass;
use crate::world::{Damaged, World, sound_page_bytes};

/// What live blocks do to pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// Pages with at least one live block.
    pub pages: u64,
    /// Bytes of blocks in them.
    pub bytes: u64,
    /// Pages by how full they are, in tenths: up to 10 %, 20 % and so on.
    pub tenths: [u64; 10],
    /// By what holds pages, those that hold most free bytes first.
    pub rows: Vec<FragmentRow>,
}

/// Blocks of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentRow {
    /// What they have in common.
    pub name: String,
    /// Bytes asked for.
    pub bytes: u64,
    /// How many blocks.
    pub blocks: u64,
    /// Pages that it has a part of.
    pub pages: u64,
    /// Pages that only it holds.
    pub sole_pages: u64,
    /// Bytes of those that no block is in: what goes with its blocks.
    pub held: u64,
}

/// The group of all that was not chosen.
const OTHERS: u32 = u32::MAX;

/// A part of a block in a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    page: u64,
    group: u32,
    bytes: u64,
}

/// A block that covers more pages than this is no cause of anything: the pages amid it
/// are full. Only its first and last count.
const WHOLE: u64 = 2;

/// Of all blocks that are live at a moment; there are rows of those of them that are
/// chosen. Pages have so many bytes.
pub fn fragments(
    world: &World,
    moment: &Choice,
    choice: &Choice,
    by: By,
    page_bytes: u64,
) -> Result<Fragments, Damaged> {
    let page_bytes = sound_page_bytes(page_bytes);
    let live = pass::over(
        world,
        moment,
        Columns::of(&[Column::Address, Column::Size, Column::Stack]).and(choice.columns()),
        |live: &mut Vec<(u64, u64, Option<u32>)>, rows, chosen| {
            let mut mask = Vec::new();
            choice.choose(world, rows, &mut mask);
            live.extend(chosen.iter().map(|&row| {
                let get = |column| rows.get(column, row);
                (
                    get(Column::Address),
                    get(Column::Size),
                    mask[row].then(|| world.number(get(Column::Stack))),
                )
            }));
        },
        |mut all, mut one| {
            all.append(&mut one);
            all
        },
    )?;
    let mut keys = Keys::new(world, by);
    let mut of_stack: HashMap<u32, u32> = HashMap::new();
    let mut found = Fragments::default();
    let mut pieces = Vec::with_capacity(live.len());
    for (address, size, stack) in live {
        let group = stack.map_or(OTHERS, |stack| {
            *of_stack.entry(stack).or_insert_with(|| keys.of(stack))
        });
        found.rows.resize_with(keys.len(), FragmentRow::default);
        if let Some(row) = found.rows.get_mut(group as usize) {
            row.bytes = row.bytes.saturating_add(size);
            row.blocks += 1;
        }
        found.bytes = found.bytes.saturating_add(size);
        let end = address.saturating_add(size.max(1));
        let (first, last) = (address / page_bytes, (end - 1) / page_bytes);
        let part = |page: u64| {
            let start = address.max(page * page_bytes);
            let stop = end.min((page + 1).saturating_mul(page_bytes));
            Piece {
                page,
                group,
                bytes: (stop - start).min(size),
            }
        };
        pieces.push(part(first));
        if last > first {
            pieces.push(part(last));
        }
        let amid = (last - first).saturating_sub(WHOLE - 1);
        if let Some(row) = found.rows.get_mut(group as usize) {
            row.pages += amid;
            row.sole_pages += amid;
        }
        found.pages += amid;
        found.tenths[9] += amid;
    }
    pieces.sort_unstable();
    for page in pieces.chunk_by(|one, other| one.page == other.page) {
        count_page(&mut found, page, page_bytes);
    }
    for (row, name) in found.rows.iter_mut().zip(keys.into_names()) {
        row.name = name;
    }
    found.rows.sort_by(|one, other| {
        let by_held = other.held.cmp(&one.held);
        by_held
            .then(other.pages.cmp(&one.pages))
            .then(one.name.cmp(&other.name))
    });
    Ok(found)
}

fn count_page(found: &mut Fragments, pieces: &[Piece], page_bytes: u64) {
    let used: u64 = pieces.iter().map(|piece| piece.bytes).sum();
    let used = used.min(page_bytes);
    found.pages += 1;
    let tenth = (used * 10).div_ceil(page_bytes).clamp(1, 10);
    found.tenths[tenth as usize - 1] += 1;
    let first = pieces.first().map(|piece| piece.group);
    let is_sole = pieces.iter().all(|piece| Some(piece.group) == first);
    let mut before = None;
    for piece in pieces {
        // They are sorted by their groups.
        if before != Some(piece.group) {
            if let Some(row) = found.rows.get_mut(piece.group as usize) {
                row.pages += 1;
            }
            before = Some(piece.group);
        }
    }
    if let Some(row) = first.and_then(|group| found.rows.get_mut(group as usize))
        && is_sole
    {
        row.sole_pages += 1;
        row.held += page_bytes - used;
    }
}
