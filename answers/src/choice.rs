//! Which rows.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use memlog_table::{Column, Columns, Extent, Flags, NEVER, Rows};

use crate::areas::AreasInTime;
use crate::chain::{ChainFacts, ChainTest, first_of_chain};
use crate::world::World;

/// What a row is asked. Ranges contain both their ends.
#[derive(Clone, Debug)]
pub enum Test {
    /// Always, or never.
    Always(bool),
    /// All of them.
    All(Vec<Test>),
    /// One of them.
    Any(Vec<Test>),
    /// Not that.
    Not(Box<Test>),
    /// A column's value is between these.
    Between(Column, u64, u64),
    /// It is among the live ones after this event.
    LiveAt(u64),
    /// It was live after the first event, and until after the second.
    LiveFrom(u64, u64),
    /// It never went.
    Leaked,
    /// It went, at an event between these.
    Died(u64, u64),
    /// Bytes given are between these.
    Usable(u64, u64),
    /// The address is one of its bytes.
    Contains(u64),
    /// It lived so many ticks.
    Lifetime(u64, u64),
    /// It lived for so many events.
    LifetimeEvents(u64, u64),
    /// The stack that asked is one of these, by its number.
    Stack(Arc<Vec<bool>>),
    /// The stack that released it is one of these.
    ReleaseStack(Arc<Vec<bool>>),
    /// The thread that asked is one of these, by its place.
    Thread(Arc<Vec<bool>>),
    /// The tag of its thread is one of these.
    Scope(Arc<Vec<bool>>),
    /// The thread that released it is one of these.
    Releaser(Arc<Vec<bool>>),
    /// The function that was called is one of these, by its number.
    Api(Arc<Vec<bool>>),
    /// The alignment asked for, in bytes, is between these.
    Alignment(u64, u64),
    /// It went before its thread asked for another.
    Temporary,
    /// A realloc took it.
    Moved,
    /// glibc mapped it by itself.
    Mmapped,
    /// It was mapped with such a protection, as bits of mmap's.
    Access(u32),
    /// The allocator mapped it for itself.
    Backing,
    /// It lay in one of these areas when it came.
    In(Arc<AreasInTime>),
    /// Its chain of reallocs answers so.
    Chain(ChainTest, Arc<HashMap<u64, ChainFacts, RandomState>>),
}

/// Chosen rows.
#[derive(Clone, Debug)]
pub struct Choice(Test);

impl Choice {
    /// All rows.
    pub fn all() -> Self {
        Self(Test::Always(true))
    }

    /// Those that pass a test.
    pub fn of(test: Test) -> Self {
        Self(test)
    }

    /// Those of them that pass a test too.
    pub fn and(self, test: Test) -> Self {
        match self.0 {
            Test::Always(true) => Self(test),
            before => Self(Test::All(vec![before, test])),
        }
    }

    /// What rows are asked, handed over.
    pub fn into_test(self) -> Test {
        self.0
    }

    /// The same, lent.
    pub(crate) fn test(&self) -> &Test {
        &self.0
    }

    /// What has to be read for it.
    pub(crate) fn columns(&self) -> Columns {
        columns_of(&self.0)
    }

    /// Whether it is every row of this chunk.
    pub(crate) fn takes_all(&self, chunk: &Extent) -> bool {
        must_pass(&self.0, chunk)
    }

    /// Whether a row of this chunk may be chosen.
    pub(crate) fn may_choose(&self, chunk: &Extent) -> bool {
        may_pass(&self.0, chunk)
    }

    /// Whether each row is chosen.
    pub(crate) fn choose(&self, world: &World, rows: &Rows, mask: &mut Vec<bool>) {
        *mask = answers(&self.0, world, rows);
    }
}

fn columns_of(test: &Test) -> Columns {
    let of = |columns: &[Column]| Columns::of(columns);
    match test {
        Test::Always(_) => Columns::default(),
        Test::All(tests) | Test::Any(tests) => {
            let columns = tests.iter().map(columns_of);
            columns.fold(Columns::default(), Columns::and)
        }
        Test::Not(test) => columns_of(test),
        Test::Between(column, ..) => of(&[*column]),
        Test::LiveAt(_) | Test::LiveFrom(..) | Test::Lifetime(..) | Test::LifetimeEvents(..) => {
            of(&[Column::Born, Column::Died])
        }
        Test::Leaked | Test::Died(..) => of(&[Column::Died]),
        Test::Usable(..) | Test::Mmapped => of(&[Column::Size, Column::Waste]),
        Test::Contains(_) => of(&[Column::Address, Column::Size]),
        Test::Stack(_) => of(&[Column::Stack]),
        Test::ReleaseStack(_) => of(&[Column::ReleaseStack]),
        Test::Thread(_) => of(&[Column::Thread]),
        Test::Scope(_) => of(&[Column::Scope]),
        Test::Releaser(_) => of(&[Column::Releaser, Column::Died]),
        Test::Api(_) | Test::Alignment(..) | Test::Temporary | Test::Moved => of(&[Column::Flags]),
        Test::Access(_) | Test::Backing => of(&[Column::Flags]),
        Test::In(_) => of(&[Column::Address, Column::Born]),
        Test::Chain(..) => of(&[
            Column::Born,
            Column::Died,
            Column::Size,
            Column::ChainAge,
            Column::ChainPlace,
            Column::Flags,
        ]),
    }
}

/// False only where no row can pass.
fn may_pass(test: &Test, chunk: &Extent) -> bool {
    let meet = |(least, most): (u64, u64), from: u64, to: u64| least <= to && from <= most;
    match test {
        Test::Always(is) => *is,
        Test::All(tests) => tests.iter().all(|test| may_pass(test, chunk)),
        Test::Any(tests) => tests.iter().any(|test| may_pass(test, chunk)),
        Test::Not(test) => !must_pass(test, chunk),
        Test::Between(Column::Size, from, to) => meet(chunk.size, *from, *to),
        Test::Between(Column::Born, from, to) => meet(chunk.born, *from, *to),
        Test::LiveAt(event) => chunk.may_live_at(*event),
        Test::LiveFrom(from, to) => chunk.born.0 <= *from && *to < chunk.died.1,
        Test::Leaked => chunk.is_live,
        Test::Died(from, to) => !chunk.is_live && meet(chunk.died, *from, *to),
        _ => true,
    }
}

/// True only where every row passes.
fn must_pass(test: &Test, chunk: &Extent) -> bool {
    let is_within = |(least, most): (u64, u64), from: u64, to: u64| from <= least && most <= to;
    match test {
        Test::Always(is) => *is,
        Test::All(tests) => tests.iter().all(|test| must_pass(test, chunk)),
        Test::Any(tests) => tests.iter().any(|test| must_pass(test, chunk)),
        Test::Not(test) => !may_pass(test, chunk),
        Test::Between(Column::Size, from, to) => is_within(chunk.size, *from, *to),
        Test::Between(Column::Born, from, to) => is_within(chunk.born, *from, *to),
        Test::LiveAt(event) => chunk.born.1 <= *event && *event < chunk.died.0,
        Test::LiveFrom(from, to) => chunk.born.1 <= *from && *to < chunk.died.0,
        Test::Leaked => chunk.is_live,
        Test::Died(from, to) => !chunk.is_live && is_within(chunk.died, *from, *to),
        _ => false,
    }
}

/// Whether each row passes a test.
fn answers(test: &Test, world: &World, rows: &Rows) -> Vec<bool> {
    let column = |column: Column| rows.column(column).iter().copied();
    let is_in = |set: &[bool], place: u64| set.get(place as usize).copied().unwrap_or(false);
    let flags = || column(Column::Flags).map(Flags);
    let life = || column(Column::Born).zip(column(Column::Died));
    match test {
        Test::Always(is) => vec![*is; rows.len()],
        Test::All(tests) => joined(tests, world, rows, true),
        Test::Any(tests) => joined(tests, world, rows, false),
        Test::Not(test) => {
            let mut mask = answers(test, world, rows);
            mask.iter_mut().for_each(|is| *is = !*is);
            mask
        }
        Test::Between(of, from, to) => column(*of)
            .map(|value| (*from..=*to).contains(&value))
            .collect(),
        Test::LiveAt(event) => life()
            .map(|(born, died)| born <= *event && *event < died)
            .collect(),
        Test::LiveFrom(from, to) => life()
            .map(|(born, died)| born <= *from && *to < died)
            .collect(),
        Test::Leaked => column(Column::Died).map(|died| died == NEVER).collect(),
        Test::Died(from, to) => column(Column::Died)
            .map(|died| died != NEVER && (*from..=*to).contains(&died))
            .collect(),
        Test::Usable(from, to) => column(Column::Size)
            .zip(column(Column::Waste))
            .map(|(size, waste)| (*from..=*to).contains(&size.saturating_add(waste)))
            .collect(),
        Test::Contains(address) => column(Column::Address)
            .zip(column(Column::Size))
            .map(|(start, size)| {
                address
                    .checked_sub(start)
                    .is_some_and(|into| into < size.max(1))
            })
            .collect(),
        Test::Lifetime(from, to) => life()
            .map(|(born, died)| (*from..=*to).contains(&world.lifetime(born, died)))
            .collect(),
        Test::LifetimeEvents(from, to) => life()
            .map(|(born, died)| (*from..=*to).contains(&died.min(world.end()).saturating_sub(born)))
            .collect(),
        Test::Stack(set) => column(Column::Stack)
            .map(|place| is_in(set, world.number(place).into()))
            .collect(),
        Test::ReleaseStack(set) => column(Column::ReleaseStack)
            .map(|place| place > 0 && is_in(set, world.number(place - 1).into()))
            .collect(),
        Test::Thread(set) => column(Column::Thread)
            .map(|place| is_in(set, place))
            .collect(),
        Test::Scope(set) => column(Column::Scope)
            .map(|place| is_in(set, place))
            .collect(),
        Test::Releaser(set) => column(Column::Releaser)
            .zip(column(Column::Died))
            .map(|(place, died)| died != NEVER && is_in(set, place))
            .collect(),
        Test::Api(set) => flags()
            .map(|flags| is_in(set, flags.api() as u64))
            .collect(),
        Test::Alignment(from, to) => flags()
            .map(|flags| (*from..=*to).contains(&flags.alignment()))
            .collect(),
        Test::Temporary => flags().map(Flags::is_temporary).collect(),
        Test::Moved => flags().map(Flags::is_moved).collect(),
        Test::Mmapped => column(Column::Size)
            .zip(column(Column::Waste))
            .map(|(size, waste)| is_mmapped(size, waste))
            .collect(),
        Test::Access(bit) => flags()
            .map(|flags| flags.access().is_some_and(|(prot, _)| prot & bit != 0))
            .collect(),
        Test::Backing => flags().map(Flags::is_backing).collect(),
        Test::In(areas) => column(Column::Address)
            .zip(column(Column::Born))
            .map(|(address, born)| areas.has(address, born))
            .collect(),
        Test::Chain(asked, facts) => (0..rows.len())
            .map(|row| {
                let first = first_of_chain(rows, row);
                let own;
                let facts = match facts.get(&first) {
                    Some(facts) => facts,
                    None => {
                        own = ChainFacts::of_one(rows, row);
                        &own
                    }
                };
                facts.answers(*asked, first, world)
            })
            .collect(),
    }
}

fn joined(tests: &[Test], world: &World, rows: &Rows, wants_all: bool) -> Vec<bool> {
    let mut mask = vec![wants_all; rows.len()];
    for test in tests {
        for (is, one) in mask.iter_mut().zip(answers(test, world, rows)) {
            *is = if wants_all { *is & one } else { *is | one };
        }
    }
    mask
}

/// Whether glibc mapped a block by itself: what it gives is a multiple of 16 only then.
pub(crate) fn is_mmapped(size: u64, waste: u64) -> bool {
    size >= 4096 && size.wrapping_add(waste).is_multiple_of(16)
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making, random};
    use crate::world::{Moments, Of};

    /// What is told of a chunk without a look at its rows is what they say.
    #[test]
    fn chunks_are_passed_over_and_taken_whole_as_their_rows_say() {
        let mut next = random(7);
        let mut making = Making::begin();
        let mut live = Vec::new();
        for address in 1..30_000 {
            making.alloc(Api::Malloc, address * 16, 10 + next(50), 1);
            live.push(address * 16);
            if next(4) > 0 {
                let place = next(live.len() as u64) as usize;
                making.release(Api::Free, live.swap_remove(place));
            }
        }
        // All of a chunk are live at once.
        let address = |block: u64| (1 << 30) + block * 16;
        (0..20_000).for_each(|block| making.alloc(Api::Malloc, address(block), 8, 1));
        (0..20_000).for_each(|block| making.release(Api::Free, address(block)));
        let bytes = making.end();
        let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
        let world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
        // Where chunks begin and end, an answer is another by one.
        let extents = table.chunks().iter();
        let edges =
            extents.flat_map(|chunk| [chunk.born.0, chunk.born.1, chunk.died.0, chunk.died.1]);
        let edges: Vec<u64> = edges.filter(|&edge| edge != NEVER).collect();
        let mut simple = vec![Test::Leaked, Test::Always(true), Test::Temporary];
        for _ in 0..400 {
            let mut edge =
                || (edges[next(edges.len() as u64) as usize] + next(3)).saturating_sub(1);
            let (from, to) = (edge(), edge());
            simple.extend([
                Test::Between(Column::Born, from, to),
                Test::Between(Column::Size, next(62), next(62)),
                Test::Died(from, to),
                Test::LiveAt(from),
                Test::LiveFrom(from, to),
            ]);
        }
        let mut tests = simple.clone();
        for _ in 0..2000 {
            let mut two = || {
                vec![
                    simple[next(2003) as usize].clone(),
                    simple[next(2003) as usize].clone(),
                ]
            };
            tests.extend([Test::All(two()), Test::Not(Box::new(Test::Any(two())))]);
        }
        // By kind, how often either was told.
        let mut told: HashMap<String, [u32; 2]> = HashMap::new();
        let kind = |test: &Test| -> String {
            let letters = format!("{test:?}");
            letters.chars().take_while(|c| c.is_alphabetic()).collect()
        };
        let mut rows = Rows::default();
        for (place, chunk) in table.chunks().iter().enumerate() {
            table.read(place, Columns::ALL, &mut rows).expect("whole");
            for test in &tests {
                let mask = answers(test, &world, &rows);
                let choice = Choice::of(test.clone());
                let told = told.entry(kind(test)).or_default();
                if choice.takes_all(chunk) {
                    assert!(mask.iter().all(|&is| is), "{test:?} {chunk:?}");
                    told[0] += 1;
                }
                if !choice.may_choose(chunk) {
                    assert!(!mask.iter().any(|&is| is), "{test:?} {chunk:?}");
                    told[1] += 1;
                }
            }
        }
        for kind in ["Between", "Died", "LiveAt", "LiveFrom", "All", "Not"] {
            assert!(
                told[kind].iter().all(|&times| times > 10),
                "{kind}: {told:?}"
            );
        }
    }
}
