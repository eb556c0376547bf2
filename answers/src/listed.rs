//! Single blocks in any order: the first of them, however many there are.

use memlog_format::api::Api;
use memlog_table::{Column, Columns, Flags, NEVER, Rows};

use crate::choice::Choice;
use crate::find::Found;
use crate::pass;
use crate::sums::Sums;
use crate::world::{Damaged, World};

/// What blocks are put in order by. What there may be much of is told from the most on,
/// everything else from the least, the first, or the letter A on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Bytes asked for.
    Size,
    /// The same, from the least on.
    Small,
    /// Bytes given.
    Usable,
    /// Bytes given beyond those asked for.
    Waste,
    /// How long they lived.
    Lifetime,
    /// Where they begin.
    Address,
    /// When they came.
    Born,
    /// When they went; those that did not are last.
    Died,
    /// The thread that asked, by its name.
    Thread,
    /// The function of the allocator.
    Kind,
    /// The stack that asked, by its number in the log.
    Stack,
    /// When the first block of their chain came.
    Chain,
    /// The function that asked.
    Name,
}

/// Blocks of the same key come in the order in which they were allocated.
type Key = (u64, u64, u64);

/// So many are kept beyond those that are wanted before the rest goes.
const SLACK: usize = 4096;

/// Where a part of a list ended: the next part comes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind(Key);

/// An order, or its exact reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// What blocks are put in order by.
    pub order: Order,
    /// Whether the last comes first.
    pub is_reversed: bool,
}

/// A part of a list.
#[derive(Clone, Debug, Default)]
pub struct ListPart {
    /// The blocks, in their order.
    pub found: Vec<Found>,
    /// What all chosen blocks come to, whichever part they are in.
    pub sums: Sums,
    /// Where it ended; nothing if no block was left.
    pub end: Option<Behind>,
}

/// The first so far, and some more.
#[derive(Default)]
struct First {
    found: Vec<(Key, Found)>,
    /// What comes no sooner than this is none of the first.
    bound: Option<Key>,
    sums: Sums,
}

impl First {
    fn cut(&mut self, most: usize) {
        if self.found.len() > most {
            let (_, (bound, _), _) = self.found.select_nth_unstable_by_key(most, |(key, _)| *key);
            self.bound = Some(*bound);
            self.found.truncate(most);
        }
    }
}

/// The first of the chosen blocks, and what all of them come to.
pub fn listed(
    world: &World,
    choice: &Choice,
    order: Order,
    most: usize,
) -> Result<(Vec<Found>, Sums), Damaged> {
    let way = Way {
        order,
        is_reversed: false,
    };
    let part = list_part(world, choice, way, None, most)?;
    Ok((part.found, part.sums))
}

/// The same of those behind a place: a list of any length can be had in parts, each of
/// which takes a pass, and the memory of its own blocks alone.
pub fn list_part(
    world: &World,
    choice: &Choice,
    Way { order, is_reversed }: Way,
    behind: Option<Behind>,
    most: usize,
) -> Result<ListPart, Damaged> {
    let ranks = ranks(world, order);
    let rank = |place: u64| ranks.get(place as usize).copied().unwrap_or(u64::MAX);
    let key = |rows: &Rows, row: usize| {
        let get = |column| rows.get(column, row);
        let first = match order {
            Order::Size => !get(Column::Size),
            Order::Small => get(Column::Size),
            Order::Usable => !get(Column::Size).saturating_add(get(Column::Waste)),
            Order::Waste => !get(Column::Waste),
            Order::Lifetime => !world.lifetime(get(Column::Born), get(Column::Died)),
            Order::Address => get(Column::Address),
            Order::Born => get(Column::Born),
            Order::Died => match get(Column::Died) {
                NEVER => u64::MAX,
                died => died,
            },
            Order::Thread => rank(get(Column::Thread)),
            Order::Kind => rank(Flags(get(Column::Flags)).api() as u64),
            Order::Stack | Order::Name => rank(world.number(get(Column::Stack)).into()),
            Order::Chain => get(Column::Born).saturating_sub(get(Column::ChainAge)),
        };
        let key = (first, get(Column::Born), get(Column::Address));
        match is_reversed {
            true => (!key.0, !key.1, !key.2),
            false => key,
        }
    };
    let is_before = |key: Key| behind.is_some_and(|Behind(end)| key <= end);
    let mut first = pass::over(
        world,
        choice,
        Columns::ALL,
        |first: &mut First, rows, chosen| {
            for &row in chosen {
                first.sums.add(rows, row);
                let key = key(rows, row);
                if is_before(key) || first.bound.is_some_and(|bound| key >= bound) {
                    continue;
                }
                first.found.push((key, Found::of(world, rows, row)));
                if first.found.len() >= most.saturating_mul(2).saturating_add(SLACK) {
                    first.cut(most);
                }
            }
        },
        |mut all, mut other| {
            all.found.append(&mut other.found);
            all.cut(most);
            all.sums = all.sums.plus(other.sums);
            all
        },
    )?;
    first.cut(most);
    first.found.sort_unstable_by_key(|(key, _)| *key);
    Ok(ListPart {
        end: first.found.last().map(|(key, _)| Behind(*key)),
        found: first.found.into_iter().map(|(_, found)| found).collect(),
        sums: first.sums,
    })
}

/// Of what has a name, or a number of its own, its place in the order of those.
fn ranks(world: &World, order: Order) -> Vec<u64> {
    let by_name = |names: Vec<&str>| {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let place = |name: &&str| sorted.binary_search(name).unwrap_or(usize::MAX) as u64;
        names.iter().map(place).collect()
    };
    match order {
        Order::Thread => by_name(world.threads.iter().map(String::as_str).collect()),
        Order::Kind => {
            let mut names = vec![""; 256];
            for (api, name) in Api::all() {
                names[api as usize] = name;
            }
            by_name(names)
        }
        Order::Name => {
            let stacks = 0..world.stacks.len() as u32;
            let names = stacks.map(|stack| world.owner(stack).map_or("", |name| &name.function));
            by_name(names.collect())
        }
        Order::Stack => {
            let numbers = world.log_numbers().into_iter();
            let least = numbers.map(|numbers| numbers.into_iter().min());
            least
                .map(|least| least.map_or(u64::MAX, u64::from))
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making};
    use crate::world::{Moments, Of};

    /// Blocks of few sizes, so that many have the same key.
    fn table(blocks: u64) -> Vec<u8> {
        let mut making = Making::begin();
        for event in 1..=blocks {
            let address = (event * 7919 % blocks) * 64;
            making.alloc(Api::Malloc, address, event % 5, 1);
        }
        making.end()
    }

    #[test]
    fn parts_are_the_list() {
        let bytes = table(10_007);
        let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
        let world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
        let all = Choice::all();
        for order in [Order::Size, Order::Small, Order::Address, Order::Born] {
            let (mut whole, sums) = listed(&world, &all, order, usize::MAX).expect("whole");
            for is_reversed in [false, true] {
                let way = Way { order, is_reversed };
                let (mut found, mut behind) = (Vec::new(), None);
                loop {
                    let part = list_part(&world, &all, way, behind, 1000).expect("whole");
                    assert_eq!(part.sums, sums);
                    behind = part.end;
                    found.extend(part.found);
                    if behind.is_none() {
                        break;
                    }
                }
                assert_eq!(found, whole, "{way:?}");
                whole.reverse();
            }
        }
    }
}
