//! The heap and resident memory over time.

use memlog_table::{Column, Columns, NEVER};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, World};

/// What there was at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// After so many events.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// Live bytes.
    pub bytes: u64,
    /// Live blocks.
    pub blocks: u64,
    /// Blocks that came since the point before.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Blocks that went since then.
    pub releases: u64,
    /// What was resident when that was read last, in bytes; nothing before the first
    /// time.
    pub resident: Option<u64>,
}

/// What came and went in a step, of the blocks that were chosen.
#[derive(Clone, Copy, Default)]
struct Change {
    came: (u64, u64),
    went: (u64, u64),
}

/// One point for each tick in which anything happened, but no more than so many: then
/// each stands for a few ticks and is that of the largest heap among them. Both peaks
/// are points of their own, and so is the end.
pub fn timeline(world: &World, choice: &Choice, most: usize) -> Result<Vec<Point>, Damaged> {
    let steps = world.table.steps();
    let (inherited, changes) = changes(world, choice)?;
    let mut points = Vec::with_capacity(changes.len() + 2);
    let mut first_events: Vec<u64> = steps.iter().map(|step| step.event).collect();
    first_events.push(world.end() + 1);
    let mut point = Point {
        bytes: inherited.0,
        blocks: inherited.1,
        ..Point::default()
    };
    for ((index, step), change) in steps.iter().enumerate().zip(&changes) {
        point.event = first_events[index + 1].saturating_sub(1);
        point.tick = step.tick;
        point.bytes = point
            .bytes
            .saturating_add(change.came.0)
            .saturating_sub(change.went.0);
        point.blocks = (point.blocks + change.came.1).saturating_sub(change.went.1);
        point.allocations = change.came.1;
        point.allocated_bytes = change.came.0;
        point.releases = change.went.1;
        points.push(point);
    }
    let mut points = fewer(points, most);
    for event in [world.moments.heap_peak, world.moments.rss_peak] {
        add_moment(world, choice, &mut points, event)?;
    }
    add_resident(world, &mut points);
    Ok(points)
}

type Inherited = (u64, u64);

fn changes(world: &World, choice: &Choice) -> Result<(Inherited, Vec<Change>), Damaged> {
    let steps = world.table.steps();
    let count = steps.len();
    pass::over(
        world,
        choice,
        Columns::of(&[Column::Born, Column::Died, Column::Size]),
        |(inherited, changes): &mut (Inherited, Vec<Change>), rows, chosen| {
            changes.resize(count, Change::default());
            let add =
                |sum: &mut (u64, u64), size: u64| *sum = (sum.0.saturating_add(size), sum.1 + 1);
            for &row in chosen {
                let size = rows.get(Column::Size, row);
                match rows.get(Column::Born, row) {
                    0 => add(inherited, size),
                    born => {
                        if let Some(change) = changes.get_mut(steps.step_of(born)) {
                            add(&mut change.came, size);
                        }
                    }
                }
                let died = rows.get(Column::Died, row);
                if let Some(change) = changes.get_mut(steps.step_of(died))
                    && died != NEVER
                {
                    add(&mut change.went, size);
                }
            }
        },
        |(mut inherited, mut all), (other_inherited, other)| {
            let plus = |one: (u64, u64), other: (u64, u64)| {
                (one.0.saturating_add(other.0), one.1 + other.1)
            };
            inherited = plus(inherited, other_inherited);
            if all.is_empty() {
                return (inherited, other);
            }
            for (one, other) in all.iter_mut().zip(other) {
                one.came = plus(one.came, other.came);
                one.went = plus(one.went, other.went);
            }
            (inherited, all)
        },
    )
    .map(|(inherited, mut changes)| {
        changes.resize(count, Change::default());
        (inherited, changes)
    })
}

fn fewer(points: Vec<Point>, most: usize) -> Vec<Point> {
    if points.len() <= most.max(2) {
        return points;
    }
    let width = points.len().div_ceil(most.max(2));
    let last = points.last().copied();
    let largest = |part: &[Point]| {
        let mut point = part.iter().max_by_key(|point| point.bytes).copied()?;
        point.allocations = part.iter().map(|point| point.allocations).sum();
        point.allocated_bytes = part
            .iter()
            .map(|point| point.allocated_bytes)
            .fold(0, u64::saturating_add);
        point.releases = part.iter().map(|point| point.releases).sum();
        Some(point)
    };
    let mut fewer: Vec<Point> = points.chunks(width).filter_map(largest).collect();
    if let Some(last) = last
        && fewer.last().is_some_and(|point| point.event < last.event)
    {
        fewer.push(Point {
            allocations: 0,
            allocated_bytes: 0,
            releases: 0,
            ..last
        });
    }
    fewer
}

/// What is live right after an event is a point too.
fn add_moment(
    world: &World,
    choice: &Choice,
    points: &mut Vec<Point>,
    event: u64,
) -> Result<(), Damaged> {
    let at = points.partition_point(|point| point.event < event);
    if points.get(at).is_some_and(|point| point.event == event) {
        return Ok(());
    }
    let (bytes, blocks) = live_at(world, choice, event)?;
    let tick = world.table.steps().tick_of(event);
    points.insert(
        at,
        Point {
            event,
            tick,
            bytes,
            blocks,
            ..Point::default()
        },
    );
    Ok(())
}

/// What is live of the chosen blocks after an event.
pub(crate) fn live_at(world: &World, choice: &Choice, event: u64) -> Result<(u64, u64), Damaged> {
    let live = choice.clone().and(crate::choice::Test::LiveAt(event));
    pass::over(
        world,
        &live,
        Columns::of(&[Column::Size]),
        |sum: &mut (u64, u64), rows, chosen| {
            for &row in chosen {
                *sum = (sum.0.saturating_add(rows.get(Column::Size, row)), sum.1 + 1);
            }
        },
        |one, other| (one.0.saturating_add(other.0), one.1 + other.1),
    )
}

fn add_resident(world: &World, points: &mut [Point]) {
    let mut readings = world.table.readings().iter().peekable();
    let mut resident = None;
    for point in points {
        while let Some(reading) = readings.next_if(|reading| reading.event <= point.event) {
            resident = Some(reading.kb.saturating_mul(1024));
        }
        point.resident = resident;
        if point.event == world.moments.rss_peak && world.moments.rss_peak_bytes > 0 {
            point.resident = Some(world.moments.rss_peak_bytes);
        }
    }
}
