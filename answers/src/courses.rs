//! The blocks of several choices over time, each block in one of them only.

use memlog_analysis::Held;
use memlog_table::{Column, Columns, NEVER, Rows};

use crate::choice::{Choice, Test};
use crate::pass;
use crate::timeline::Point;
use crate::world::{Damaged, World};

/// Blocks that are chosen together, and the series that each belongs to.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Which.
    pub choice: Choice,
    /// Where they go.
    pub series: SeriesOf,
}

/// To which series the blocks of a layer belong.
#[derive(Clone, Debug)]
pub enum SeriesOf {
    /// All to this one.
    One(u32),
    /// By the number of their stack; those of the others are in none.
    Stacks(Vec<Option<u32>>),
}

/// What there is of a series between two events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Live right after the event.
    pub live: Held,
    /// Came since the event before.
    pub came: Held,
    /// Went since then.
    pub went: Held,
}

/// By series and event; what was there before the first came from elsewhere.
#[derive(Default)]
struct Changes {
    steps: Vec<Course>,
    inherited: Vec<Held>,
}

/// By series what is live right after each of these events, which ascend, and what came
/// and went on the way there. A block is of the first layer that chooses it.
pub fn courses(
    world: &World,
    layers: &[Layer],
    series: usize,
    events: &[u64],
) -> Result<Vec<Vec<Course>>, Damaged> {
    let all = layers.iter().map(|layer| layer.choice.test().clone());
    let all = Choice::of(Test::Any(all.collect()));
    let columns = Columns::of(&[Column::Born, Column::Died, Column::Size, Column::Stack]);
    let asked = layers.iter().map(|layer| layer.choice.columns());
    let columns = asked.fold(columns, Columns::and);
    let size = series * events.len();
    let each = |changes: &mut Changes, rows: &Rows, chosen: &[usize]| {
        changes.steps.resize(size, Course::default());
        changes.inherited.resize(series, Held::default());
        let (changes, inherited) = (&mut changes.steps, &mut changes.inherited);
        for (&row, series) in chosen.iter().zip(series_of(world, layers, rows, chosen)) {
            let Some(series) = series else { continue };
            let get = |column| rows.get(column, row);
            let one = Held {
                bytes: get(Column::Size),
                blocks: 1,
            };
            let place = |event: u64| {
                let at = events.partition_point(|&known| known < event);
                (at < events.len()).then_some(series as usize * events.len() + at)
            };
            let born = get(Column::Born);
            if born == 0
                && let Some(held) = inherited.get_mut(series as usize)
            {
                *held = held.plus(one);
            } else if let Some(change) = place(born).and_then(|at| changes.get_mut(at)) {
                change.came = change.came.plus(one);
            }
            let died = Some(get(Column::Died)).filter(|&died| died != NEVER);
            let went = died.and_then(place).and_then(|at| changes.get_mut(at));
            if let Some(change) = went {
                change.went = change.went.plus(one);
            }
        }
    };
    let mut changes = pass::over(world, &all, columns, each, |mut all, other| {
        if all.steps.is_empty() {
            return other;
        }
        for (sum, one) in all.steps.iter_mut().zip(other.steps) {
            sum.came = sum.came.plus(one.came);
            sum.went = sum.went.plus(one.went);
        }
        for (sum, one) in all.inherited.iter_mut().zip(other.inherited) {
            *sum = sum.plus(one);
        }
        all
    })?;
    changes.steps.resize(size, Course::default());
    changes.inherited.resize(series, Held::default());
    let courses = changes.steps.chunks_mut(events.len().max(1));
    let courses = courses.zip(changes.inherited).map(|(course, inherited)| {
        let mut live = inherited;
        for one in &mut *course {
            live = live.plus(one.came).minus(one.went);
            one.live = live;
        }
        course.to_vec()
    });
    Ok(courses.collect())
}

/// Of each chosen row its series.
fn series_of(world: &World, layers: &[Layer], rows: &Rows, chosen: &[usize]) -> Vec<Option<u32>> {
    let mut found = vec![None; chosen.len()];
    let mut mask = Vec::new();
    for layer in layers {
        layer.choice.choose(world, rows, &mut mask);
        for (found, &row) in found.iter_mut().zip(chosen) {
            if found.is_none() && mask[row] {
                *found = match &layer.series {
                    SeriesOf::One(series) => Some(*series),
                    SeriesOf::Stacks(series) => {
                        let stack = world.number(rows.get(Column::Stack, row));
                        series.get(stack as usize).copied().flatten()
                    }
                };
            }
        }
    }
    found
}

/// Of points those between two ticks, no more than so many: each of them stands for a few,
/// and is that of the largest heap among them.
pub fn thinned(points: &[Point], ticks: (u64, u64), most: usize) -> Vec<Point> {
    let within: Vec<Point> = points
        .iter()
        .filter(|point| (ticks.0..=ticks.1).contains(&point.tick))
        .copied()
        .collect();
    let width = within.len().div_ceil(most.max(2)).max(1);
    let last = within.last().copied();
    let mut thin: Vec<Point> = within
        .chunks(width)
        .filter_map(|part| part.iter().max_by_key(|point| point.live.bytes).copied())
        .collect();
    thin.extend(last.filter(|last| thin.last().is_some_and(|thin| thin.event < last.event)));
    thin
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making, random};
    use crate::timeline::timeline;
    use crate::world::{Moments, Of};

    /// A block: born, died, its size, and its stack.
    type Block = (u64, Option<u64>, u64, u32);

    /// Blocks of random sizes and of three stacks come and go.
    fn made(seed: u64, events: u64) -> (Vec<u8>, Vec<Block>) {
        let mut below = random(seed);
        let mut making = Making::begin();
        let (mut live, mut blocks): (Vec<usize>, Vec<Block>) = (Vec::new(), Vec::new());
        for event in 1..=events {
            if live.is_empty() || below(5) < 3 {
                let (size, stack) = (below(40), 1 + below(3) as u32);
                making.alloc(Api::Malloc, event * 64, size, stack);
                live.push(blocks.len());
                blocks.push((event, None, size, stack));
            } else {
                let one = live.swap_remove(below(live.len() as u64) as usize);
                making.release(Api::Free, blocks[one].0 * 64);
                blocks[one].1 = Some(event);
            }
        }
        (making.end(), blocks)
    }

    /// The series of a block, in the plainest way: small ones, then those of the first
    /// stack and of the third, then all that are left.
    fn series_of_block(&(_, _, size, stack): &Block) -> usize {
        match (size, stack) {
            (..10, _) => 0,
            (_, 1) => 1,
            (_, 3) => 2,
            _ => 3,
        }
    }

    #[test]
    fn each_block_is_in_its_first_series() {
        for seed in 1..40 {
            let (bytes, blocks) = made(seed, 20 + seed * 31);
            let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
            let mut world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
            world.numbers = (0..table.stacks().len() as u32).collect();
            let number = |id: u32| table.stacks().iter().position(|key| key.id.0 == id);
            let mut by_stack = vec![None; world.stack_count()];
            for (id, series) in [(1, 1), (3, 2)] {
                if let Some(number) = number(id) {
                    by_stack[number] = Some(series);
                }
            }
            let layer = |test, series| Layer {
                choice: Choice::of(test),
                series,
            };
            let layers = [
                // By a column that nothing else needs; nothing here is given more than it asks.
                layer(Test::Usable(0, 9), SeriesOf::One(0)),
                layer(Test::Always(true), SeriesOf::Stacks(by_stack)),
                layer(Test::Always(true), SeriesOf::One(3)),
            ];
            let points = timeline(&world, &Choice::all(), 30).expect("points");
            let points = thinned(&points, (0, u64::MAX), 7);
            assert!(points.len() <= 8);
            let events: Vec<u64> = points.iter().map(|point| point.event).collect();
            let found = courses(&world, &layers, 4, &events).expect("courses");
            let mut before = None;
            for (at, &event) in events.iter().enumerate() {
                let mut expected = vec![Course::default(); 4];
                for block in &blocks {
                    let (born, died, bytes, _) = *block;
                    let one = Held { bytes, blocks: 1 };
                    let course = &mut expected[series_of_block(block)];
                    let is_new = |when: u64| when <= event && before.is_none_or(|last| when > last);
                    if born <= event && died.is_none_or(|died| event < died) {
                        course.live = course.live.plus(one);
                    }
                    if is_new(born) {
                        course.came = course.came.plus(one);
                    }
                    if died.is_some_and(is_new) {
                        course.went = course.went.plus(one);
                    }
                }
                let found: Vec<Course> = found.iter().map(|course| course[at]).collect();
                assert_eq!(found, expected, "seed {seed}, event {event}");
                // All series together are all blocks.
                let all = found
                    .iter()
                    .fold(Held::default(), |sum, one| sum.plus(one.live));
                assert_eq!(all, points[at].live, "seed {seed}, event {event}");
                before = Some(event);
            }
        }
    }
}
