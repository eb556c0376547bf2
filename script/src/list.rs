//! Lists of blocks and of mappings. A list is what chooses them; they are looked at once
//! a figure is asked for.

use std::cell::OnceCell;
use std::rc::Rc;

use memlog_answers::{Of, Order, listed, mapped, sums_of_stacks};
use memlog_pages::blocks::Matter;
use memlog_query::Expr;

use crate::block::{Facts, Row};
use crate::chosen::Chosen;
use crate::env::{Log, Made, made, refused};
use crate::stack::keys_of;

/// Blocks that a script may walk through, one by one.
pub(crate) const MOST_SINGLE: usize = 100_000;
/// So many are fetched at once, for who asks for the first asks for the second.
const AT_ONCE: usize = 64;

/// Chosen blocks or mappings of a log.
#[derive(Clone)]
pub(crate) struct List {
    pub log: Log,
    pub of: Of,
    pub chosen: Chosen,
    sums: Rc<OnceCell<(u64, u64)>>,
    first: Rc<OnceCell<Vec<Facts>>>,
}

/// As scripts know them.
#[derive(Clone)]
pub(crate) struct AllocationList(pub List);

#[derive(Clone)]
pub(crate) struct MapList(pub List);

impl List {
    pub fn new(log: Log, of: Of, chosen: Chosen) -> Self {
        Self {
            log,
            of,
            chosen,
            sums: Rc::default(),
            first: Rc::default(),
        }
    }

    /// Everything there is.
    pub fn all(log: Log, of: Of) -> Self {
        Self::new(log, of, Chosen::all())
    }

    /// The same, of which it is known already how many they are, and how many bytes.
    pub fn with_sums(self, blocks: u64, bytes: u64) -> Self {
        let _ = self.sums.set((blocks, bytes));
        self
    }

    fn of_the_same(&self, chosen: Chosen) -> Self {
        Self::new(self.log.clone(), self.of, chosen)
    }

    /// What something else chooses too.
    pub fn and(&self, other: &Chosen) -> Made<Self> {
        Ok(self.of_the_same(made(self.chosen.and(other))?))
    }

    /// What a filter lets through.
    pub fn filtered(&self, filter: Expr) -> Made<Self> {
        self.and(&filter.into())
    }

    /// What is in either of both.
    pub fn plus(&self, other: &Self) -> Made<Self> {
        self.log.must_be(&other.log)?;
        Ok(self.of_the_same(made(self.chosen.or(&other.chosen))?))
    }

    /// What is not in the other.
    pub fn minus(&self, other: &Self) -> Made<Self> {
        self.log.must_be(&other.log)?;
        self.and(&made(other.chosen.negated())?)
    }

    /// What is in both.
    pub fn intersected(&self, other: &Self) -> Made<Self> {
        self.log.must_be(&other.log)?;
        self.and(&other.chosen)
    }

    /// How many they are.
    pub fn len(&self) -> Made<i64> {
        Ok(self.sums()?.0 as i64)
    }

    /// How many bytes all of them have.
    pub fn bytes(&self) -> Made<i64> {
        Ok(self.sums()?.1 as i64)
    }

    /// How many they are, and how many bytes.
    fn sums(&self) -> Made<(u64, u64)> {
        if let Some(sums) = self.sums.get() {
            return Ok(*sums);
        }
        let (chosen, of) = (self.chosen.clone(), self.of);
        let sums = self.log.ask(move |desk| {
            desk.check(match of {
                Of::Blocks => Matter::Numbers,
                Of::Mappings => Matter::Mappings,
            })?;
            let choice = chosen.choice(desk, of)?;
            let world = desk.world(of, chosen.needs_names())?;
            let plus = |(count, bytes): (u64, u64), (more, larger): (u64, u64)| {
                (count + more, bytes.saturating_add(larger))
            };
            Ok(match of {
                Of::Blocks => {
                    let stacks = sums_of_stacks(world, &choice)?;
                    let stacks = stacks.iter().map(|sums| (sums.blocks, sums.bytes));
                    stacks.fold((0, 0), plus)
                }
                Of::Mappings => {
                    let maps = mapped(world, &choice)?;
                    maps.iter()
                        .map(|map| (1, map.whole.bytes))
                        .fold((0, 0), plus)
                }
            })
        })?;
        let _ = self.sums.set(sums);
        Ok(sums)
    }

    /// The first of them, in the order in which they came, and how many there are.
    fn first(&self, most: usize) -> Made<(Vec<Facts>, u64)> {
        let (chosen, of) = (self.chosen.clone(), self.of);
        let found = self.log.ask(move |desk| {
            desk.check(match of {
                Of::Blocks => Matter::Blocks,
                Of::Mappings => Matter::Mappings,
            })?;
            let choice = chosen.choice(desk, of)?;
            let world = desk.world(of, chosen.needs_names())?;
            let keys = keys_of(world, |_| true);
            let mut stacks = vec![None; world.stack_count()];
            for (number, key) in keys {
                stacks[number as usize].get_or_insert(key);
            }
            let stack = |number: u32| stacks.get(number as usize).copied().flatten();
            Ok(match of {
                Of::Blocks => {
                    let (found, sums) = listed(world, &choice, Order::Born, most)?;
                    let facts = found
                        .iter()
                        .map(|one| Facts::of_block(world, one, stack(one.stack)));
                    (facts.collect(), sums.blocks)
                }
                Of::Mappings => {
                    let found = mapped(world, &choice)?;
                    let facts = found.iter().take(most);
                    let facts = facts
                        .map(|one| Facts::of_mapping(world, &one.whole, stack(one.whole.stack)));
                    (facts.collect::<Vec<_>>(), found.len() as u64)
                }
            })
        })?;
        self.log.env.takes(found.0.len())?;
        Ok(found)
    }

    /// The one at a place, from 0; from the end, if it is negative.
    pub fn get(&self, index: i64) -> Made<Row> {
        let place = match index {
            0.. => index,
            _ => self.len()?.saturating_add(index),
        };
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if place >= MOST_SINGLE && index >= 0 && place < self.len()? as usize {
            return Err(too_many(self.len()? as u64));
        }
        if place < AT_ONCE && self.first.get().is_none() {
            let (first, _) = self.first(AT_ONCE)?;
            let _ = self.first.set(first);
        }
        let found = match self.first.get().and_then(|first| first.get(place)) {
            Some(found) => Some(found.clone()),
            None if place < AT_ONCE => None,
            None if place >= MOST_SINGLE => None,
            None => self.first(place + 1)?.0.into_iter().nth(place),
        };
        match found {
            Some(found) => Ok(Row::new(&self.log, self.of, &found)),
            None => Err(refused(format!(
                "there is no place {index} in a list of {}",
                self.len()?
            ))),
        }
    }

    /// All of them, one by one.
    pub fn each(&self) -> Made<Vec<Row>> {
        let (found, count) = self.first(MOST_SINGLE)?;
        if count > found.len() as u64 {
            return Err(too_many(count));
        }
        let rows = found.iter();
        Ok(rows.map(|one| Row::new(&self.log, self.of, one)).collect())
    }

    /// A sentence where nobody recorded who released.
    pub fn knows_releases(&self) -> Made<()> {
        if self.of == Of::Mappings {
            return Ok(());
        }
        let any =
            memlog_query::parse("freed-stack >= 0").map_err(|error| refused(error.to_string()))?;
        self.log
            .ask(move |desk| desk.test(Of::Blocks, &any).map(|_| ()))
    }
}

fn too_many(count: u64) -> Box<rhai::EvalAltResult> {
    refused(format!(
        "a script walks through {MOST_SINGLE} blocks at most, and these are {count}: choose fewer, \
         or put them together by group_by_backtrace"
    ))
}
