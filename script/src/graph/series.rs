//! The series of a graph, and which blocks are in each.

use std::sync::Arc;

use memlog_answers::{Choice, Of, SeriesOf, World};
use memlog_pages::blocks::{Desk, Failure};

use crate::chosen::{Chosen, StackKey};
use crate::env::{Made, made, refused};
use crate::groups::Groups;
use crate::list::List;

/// Series of a graph, at most: nobody tells more of them apart.
const MOST: usize = 1_000;

/// What a script added to a graph at once.
#[derive(Clone)]
pub(super) enum Layer {
    List(List, Option<String>),
    Groups(Groups),
}

/// The same, to be taken to the desk.
#[derive(Clone)]
pub(super) enum Sent {
    List(Chosen),
    /// The groups' blocks, and the stacks of each.
    Groups(Chosen, Arc<Vec<Vec<StackKey>>>),
}

impl Layer {
    pub fn list(&self) -> &List {
        match self {
            Self::List(list, _) => list,
            Self::Groups(groups) => &groups.list,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::List(..) => 1,
            Self::Groups(groups) => groups.rows.len(),
        }
    }

    pub fn sent(&self) -> Made<Sent> {
        Ok(match self {
            Self::List(list, _) => Sent::List(list.chosen.clone()),
            Self::Groups(groups) => {
                let keys = groups.rows.iter().map(|row| row.keys.clone());
                Sent::Groups(groups.ungroup()?.chosen, Arc::new(keys.collect()))
            }
        })
    }
}

/// A sentence if there are too many.
pub(super) fn check_count(layers: &[Layer]) -> Made<()> {
    let count: usize = layers.iter().map(Layer::count).sum();
    match count > MOST {
        true => Err(refused(format!(
            "a graph has {MOST} series at most, and these are {count}: groups.take({MOST}) has the first of them"
        ))),
        false => Ok(()),
    }
}

/// What is told of each series.
pub(super) fn names(layers: &[Layer]) -> Vec<Option<String>> {
    let names = layers.iter().flat_map(|layer| match layer {
        Layer::List(_, name) => vec![name.clone()],
        Layer::Groups(groups) => vec![None; groups.rows.len()],
    });
    names.collect()
}

/// Each series by itself: its blocks that are in none before it.
pub(super) fn lists(layers: &[Layer]) -> Made<Vec<List>> {
    let mut lists = Vec::new();
    let mut before: Option<Chosen> = None;
    for layer in layers {
        let alone = |list: List| -> Made<List> {
            match &before {
                Some(before) => list.and(&made(before.negated())?),
                None => Ok(list),
            }
        };
        let whole = match layer {
            Layer::List(list, _) => {
                lists.push(alone(list.clone())?);
                list.chosen.clone()
            }
            Layer::Groups(groups) => {
                for row in groups.rows.iter() {
                    lists.push(alone(groups.list_of(row)?)?);
                }
                groups.ungroup()?.chosen
            }
        };
        before = Some(match before {
            Some(before) => made(before.or(&whole))?,
            None => whole,
        });
    }
    Ok(lists)
}

/// What the layers are at the desk.
pub(super) fn layers_at(
    desk: &Desk,
    of: Of,
    sent: &[Sent],
) -> Result<Vec<memlog_answers::Layer>, Failure> {
    let mut first = 0u32;
    let mut layers = Vec::new();
    for one in sent {
        let (chosen, series) = match one {
            Sent::List(chosen) => (chosen, SeriesOf::One(first)),
            Sent::Groups(chosen, keys) => {
                let world = desk.world(of, false)?;
                (chosen, SeriesOf::Stacks(by_stack(world, keys, first)))
            }
        };
        first += match one {
            Sent::List(_) => 1,
            Sent::Groups(_, keys) => keys.len() as u32,
        };
        let choice: Choice = chosen.choice(desk, of)?;
        layers.push(memlog_answers::Layer { choice, series });
    }
    Ok(layers)
}

/// By a stack's number the series of its group.
fn by_stack(world: &World, keys: &[Vec<StackKey>], first: u32) -> Vec<Option<u32>> {
    let groups = (first..).zip(keys);
    let groups = groups.flat_map(|(series, keys)| keys.iter().map(move |key| (*key, series)));
    let groups: std::collections::HashMap<StackKey, u32> = groups.collect();
    let mut series = vec![None; world.stack_count()];
    for (&number, key) in world.numbers.iter().zip(world.table.stacks()) {
        if let Some(found) = groups.get(&(key.log, key.id.0)) {
            series[number as usize] = Some(*found);
        }
    }
    series
}
