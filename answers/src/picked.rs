//! Which blocks were chosen, for who goes through the events of the log once more.

use std::collections::HashSet;

use memlog_table::{Column, Columns};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

const BITS: u64 = u64::BITS as u64;

/// Chosen blocks, by the events at which they came.
#[derive(Clone, Debug, Default)]
pub struct Picked {
    /// A bit for each event.
    born: Vec<u64>,
    /// Addresses of those that were there before the log.
    inherited: HashSet<u64>,
    end: u64,
}

impl Picked {
    /// Whether the block is chosen that came at this event.
    #[inline]
    pub fn has(&self, event: u64) -> bool {
        let word = self.born.get((event / BITS) as usize);
        word.is_some_and(|word| word & (1 << (event % BITS)) != 0)
    }

    /// Whether the one is that was at this address before the log.
    pub fn has_inherited(&self, address: u64) -> bool {
        self.inherited.contains(&address)
    }

    /// The last event that the table knows of.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// All that are chosen: a bit for each event, and no block by itself.
pub fn picked(world: &World, choice: &Choice) -> Result<Picked, Damaged> {
    let words = (world.end() / BITS) as usize + 1;
    let columns = Columns::of(&[Column::Born, Column::Address]);
    let picked = pass::over(
        world,
        choice,
        columns,
        |picked: &mut Picked, rows, chosen| {
            picked.born.resize(words, 0);
            for &row in chosen {
                let born = rows.get(Column::Born, row);
                if born == 0 {
                    picked.inherited.insert(rows.get(Column::Address, row));
                } else if let Some(word) = picked.born.get_mut((born / BITS) as usize) {
                    *word |= 1 << (born % BITS);
                }
            }
        },
        |mut all, other| {
            if all.born.is_empty() {
                all.born = other.born;
            } else {
                let both = all.born.iter_mut().zip(other.born);
                both.for_each(|(all, other)| *all |= other);
            }
            all.inherited.extend(other.inherited);
            all
        },
    )?;
    Ok(Picked {
        end: world.end(),
        ..picked
    })
}
