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

#[derive(Default)]
struct Changes(Vec<Course>);

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
    let size = series * events.len();
    let each = |Changes(changes): &mut Changes, rows: &Rows, chosen: &[usize]| {
        changes.resize(size, Course::default());
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
            if let Some(change) = place(get(Column::Born)).and_then(|at| changes.get_mut(at)) {
                change.came = change.came.plus(one);
            }
            let died = Some(get(Column::Died)).filter(|&died| died != NEVER);
            let went = died.and_then(place).and_then(|at| changes.get_mut(at));
            if let Some(change) = went {
                change.went = change.went.plus(one);
            }
        }
    };
    let Changes(mut changes) = pass::over(world, &all, columns, each, |all, other| {
        if all.0.is_empty() {
            return other;
        }
        let Changes(mut sums) = all;
        for (sum, one) in sums.iter_mut().zip(other.0) {
            sum.came = sum.came.plus(one.came);
            sum.went = sum.went.plus(one.went);
        }
        Changes(sums)
    })?;
    changes.resize(size, Course::default());
    let courses = changes.chunks_mut(events.len().max(1)).map(|course| {
        let mut live = Held::default();
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
