//! The blocks of a list by their stacks.

use std::rc::Rc;
use std::sync::Arc;

use memlog_answers::{Sums, sums_of_stacks};
use memlog_pages::blocks::Matter;

use crate::chosen::{Chosen, StackKey, StackSet};
use crate::env::{Made, refused};
use crate::list::List;
use crate::stack::keys_of;

/// Blocks of a list with the same stack.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Most stacks have one; the recorder may have written one twice.
    pub keys: Vec<StackKey>,
    pub sums: Sums,
}

/// The blocks of a list by their stacks.
#[derive(Clone)]
pub(crate) struct Groups {
    pub list: List,
    pub rows: Rc<Vec<Group>>,
}

impl Groups {
    /// The blocks of a list, put together.
    pub fn of(list: &List) -> Made<Self> {
        let (chosen, of) = (list.chosen.clone(), list.of);
        let rows = list.log.ask(move |desk| {
            desk.check(Matter::Numbers)?;
            let choice = chosen.choice(desk, of)?;
            let world = desk.world(of, chosen.needs_names())?;
            let sums = sums_of_stacks(world, &choice)?;
            let mut rows = vec![None; sums.len()];
            let is_there = |number: u32| {
                let sums = sums.get(number as usize);
                sums.is_some_and(|sums| sums.blocks > 0)
            };
            for (number, key) in keys_of(world, is_there) {
                let row = rows[number as usize].get_or_insert_with(|| Group {
                    keys: Vec::new(),
                    sums: sums[number as usize],
                });
                row.keys.push(key);
            }
            Ok(rows.into_iter().flatten().collect::<Vec<Group>>())
        })?;
        list.log.env.takes(rows.len())?;
        Ok(Self {
            list: list.clone(),
            rows: Rc::new(rows),
        })
    }

    fn of_the_same(&self, rows: Vec<Group>) -> Self {
        Self {
            list: self.list.clone(),
            rows: Rc::new(rows),
        }
    }

    pub fn only(&self, fits: impl Fn(&Sums) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| fits(&row.sums));
        self.of_the_same(rows.cloned().collect())
    }

    /// Among equals they stay as they stood.
    pub fn sorted(&self, by: impl Fn(&Sums) -> u64, is_descending: bool) -> Self {
        let mut rows = Vec::clone(&self.rows);
        rows.sort_by_key(|row| match is_descending {
            true => !by(&row.sums),
            false => by(&row.sums),
        });
        self.of_the_same(rows)
    }

    pub fn take(&self, count: i64) -> Self {
        let count = usize::try_from(count).unwrap_or(0);
        self.of_the_same(self.rows.iter().take(count).cloned().collect())
    }

    /// The blocks of one of them.
    pub fn get(&self, index: i64) -> Made<List> {
        let place = match index {
            0.. => index,
            _ => index.saturating_add(self.rows.len() as i64),
        };
        let row = usize::try_from(place).ok();
        let row = row.and_then(|place| self.rows.get(place));
        let row = row.ok_or_else(|| {
            refused(format!(
                "there is no place {index} among {} groups",
                self.rows.len()
            ))
        })?;
        self.list_of(row)
    }

    pub fn list_of(&self, row: &Group) -> Made<List> {
        let set = StackSet {
            keys: row.keys.iter().copied().collect(),
            ..StackSet::default()
        };
        let list = self.list.and(&Chosen::stacks(Arc::new(set), false))?;
        Ok(list.with_sums(row.sums.blocks, row.sums.bytes))
    }

    /// The blocks of all of them.
    pub fn ungroup(&self) -> Made<List> {
        self.list.and(&self.stacks())
    }

    /// Which stacks those are.
    pub fn stacks(&self) -> Chosen {
        let keys = self.rows.iter().flat_map(|row| row.keys.iter().copied());
        let set = StackSet {
            keys: keys.collect(),
            ..StackSet::default()
        };
        Chosen::stacks(Arc::new(set), false)
    }
}
