//! How many blocks there are of each size, of each lifetime, and of both.

use memlog_analysis::Held;
use memlog_table::{Column, Columns, NEVER, Rows};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// Blocks between two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// The least, in bytes, ticks or events.
    pub from: u64,
    /// The most; nothing for blocks that never went.
    pub to: Option<u64>,
    /// How many.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Class {
    /// What is in it.
    pub fn held(&self) -> Held {
        Held {
            bytes: self.bytes,
            blocks: self.blocks,
        }
    }
}

/// Bits of a value, and one class more for what never ends.
const CLASSES: usize = 66;
const ENDLESS: usize = CLASSES - 1;

#[derive(Clone, Copy)]
struct Counts([(u64, u64); CLASSES]);

impl Default for Counts {
    fn default() -> Self {
        Self([(0, 0); CLASSES])
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, class: usize, bytes: u64) {
        let (blocks, all) = &mut self.0[class];
        *blocks += 1;
        *all = all.saturating_add(bytes);
    }

    fn plus(mut self, other: Self) -> Self {
        for (one, other) in self.0.iter_mut().zip(other.0) {
            *one = (one.0 + other.0, one.1.saturating_add(other.1));
        }
        self
    }

    /// From the first class that has any to the last.
    fn classes(&self) -> Vec<Class> {
        let classes = self.0.iter().enumerate().map(|(class, &(blocks, bytes))| {
            let (from, to) = match class {
                0 => (0, Some(0)),
                ENDLESS => (0, None),
                _ => {
                    let from = 1u64 << (class - 1);
                    (from, Some(from - 1 + from))
                }
            };
            Class {
                from,
                to,
                blocks,
                bytes,
            }
        });
        let mut classes: Vec<Class> = classes.collect();
        let endless = classes.pop().filter(|class| class.blocks > 0);
        let has_any = |class: &Class| class.blocks > 0;
        let last = classes.iter().rposition(has_any).map_or(0, |last| last + 1);
        classes.truncate(last);
        let first = classes.iter().position(has_any).unwrap_or(0);
        classes.drain(..first);
        classes.extend(endless);
        classes
    }
}

/// The class of a value: 0, then 1, 2 and 3, 4 to 7, and so on.
#[inline]
fn class_of(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// By bytes asked for.
pub fn by_size(world: &World, choice: &Choice) -> Result<Vec<Class>, Damaged> {
    let counts = counts(world, choice, &[], |_, size, _| class_of(size))?;
    Ok(counts.classes())
}

/// By ticks from coming to going; those that never went are last. Of classes below
/// `grain`, the steps of the clock, the first has all.
pub fn by_lifetime(world: &World, choice: &Choice, grain: u64) -> Result<Vec<Class>, Damaged> {
    let columns = [Column::Born, Column::Died];
    let class = |rows: &Rows, _, row| lifetime_of(world, rows, row);
    Ok(steady(
        counts(world, choice, &columns, class)?.classes(),
        grain,
    ))
}

/// By events from coming to going, those of all threads; those that never went are last.
pub fn by_lifetime_events(world: &World, choice: &Choice) -> Result<Vec<Class>, Damaged> {
    let columns = [Column::Born, Column::Died];
    let class = |rows: &Rows, _, row| match rows.get(Column::Died, row) {
        NEVER => ENDLESS,
        died => class_of(died.saturating_sub(rows.get(Column::Born, row))),
    };
    Ok(counts(world, choice, &columns, class)?.classes())
}

/// By a class that rows have: of its size, or of these columns too.
fn counts(
    world: &World,
    choice: &Choice,
    columns: &[Column],
    class: impl Fn(&Rows, u64, usize) -> usize + Sync,
) -> Result<Counts, Damaged> {
    pass::over(
        world,
        choice,
        Columns::of(columns).and(Columns::of(&[Column::Size])),
        |counts: &mut Counts, rows, chosen| {
            for &row in chosen {
                let size = rows.get(Column::Size, row);
                counts.add(class(rows, size, row), size);
            }
        },
        Counts::plus,
    )
}

/// The class of a row's lifetime.
fn lifetime_of(world: &World, rows: &Rows, row: usize) -> usize {
    match rows.get(Column::Died, row) {
        NEVER => ENDLESS,
        died => class_of(world.lifetime(rows.get(Column::Born, row), died)),
    }
}

/// Below the clock's steps there is nothing to tell apart.
fn steady(mut classes: Vec<Class>, grain: u64) -> Vec<Class> {
    let is_below = |class: &Class| class.to.is_some_and(|to| to < grain);
    let below = classes.iter().take_while(|class| is_below(class)).count();
    if below > 0 {
        let first = classes
            .drain(..below)
            .fold(Class::default(), |all, one| Class {
                from: 0,
                to: Some(grain - 1),
                blocks: all.blocks + one.blocks,
                bytes: all.bytes.saturating_add(one.bytes),
            });
        if let Some(next) = classes.first_mut()
            && next.to.is_some()
        {
            next.from = next.from.max(grain);
        }
        classes.insert(0, first);
    }
    classes
}

/// Blocks of each size and each lifetime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The classes of [`by_size`].
    pub sizes: Vec<Class>,
    /// Those of [`by_lifetime`].
    pub lifetimes: Vec<Class>,
    /// By size what there is of each lifetime.
    pub cells: Vec<Vec<Held>>,
}

/// Counts of each lifetime, by size.
struct Counted(Vec<Counts>);

impl Default for Counted {
    fn default() -> Self {
        Self(vec![Counts::default(); CLASSES])
    }
}

/// By both.
pub fn by_size_and_lifetime(world: &World, choice: &Choice, grain: u64) -> Result<Grid, Damaged> {
    let counted = pass::over(
        world,
        choice,
        Columns::of(&[Column::Size, Column::Born, Column::Died]),
        |counted: &mut Counted, rows, chosen| {
            for &row in chosen {
                let size = rows.get(Column::Size, row);
                counted.0[class_of(size)].add(lifetime_of(world, rows, row), size);
            }
        },
        |all, other| {
            let both = all.0.into_iter().zip(other.0);
            Counted(both.map(|(one, other)| one.plus(other)).collect())
        },
    )?;
    let mut sizes = Counts::default();
    for (class, counts) in counted.0.iter().enumerate() {
        sizes.0[class] = counts.0.iter().fold((0, 0), |sum: (u64, u64), one| {
            (sum.0 + one.0, sum.1.saturating_add(one.1))
        });
    }
    let all = counted.0.iter().copied();
    let lifetimes = steady(all.fold(Counts::default(), Counts::plus).classes(), grain);
    let sizes = sizes.classes();
    let cells = sizes.iter().map(|size| {
        let mut cells = vec![Held::default(); lifetimes.len()];
        for class in counted.0[class_of(size.from)].classes() {
            let is_in = |one: &Class| match (class.to, one.to) {
                (Some(to), Some(last)) => one.from <= to && to <= last,
                (one, other) => one == other,
            };
            if let Some(at) = lifetimes.iter().position(is_in) {
                cells[at] = cells[at].plus(class.held());
            }
        }
        cells
    });
    Ok(Grid {
        cells: cells.collect(),
        sizes,
        lifetimes,
    })
}
