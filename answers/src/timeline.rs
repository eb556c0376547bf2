//! The heap and resident memory over time.

use std::borrow::Cow;

use memlog_analysis::Held;
use memlog_table::{Column, Columns, Flags, NEVER, Steps};

use crate::choice::{Choice, Test};
use crate::pass;
use crate::world::{Damaged, World};

/// What there was at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// After so many events.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// What is live.
    pub live: Held,
    /// What came since the point before.
    pub came: Held,
    /// What went since then.
    pub went: Held,
    /// Blocks of those that were released: others are not followed any further.
    pub released: u64,
    /// What was resident when that was read last, in bytes; nothing before the first
    /// time.
    pub resident: Option<u64>,
}

/// What came and went, of the blocks that were chosen.
#[derive(Clone, Copy, Default)]
struct Change {
    came: Held,
    went: Held,
    released: u64,
}

impl Change {
    fn plus(self, other: Self) -> Self {
        Self {
            came: self.came.plus(other.came),
            went: self.went.plus(other.went),
            released: self.released + other.released,
        }
    }
}

/// What changed before the first step, and in each.
#[derive(Default)]
struct Changes {
    inherited: Held,
    steps: Vec<Change>,
}

/// One point for each tick in which anything happened, or each millisecond where ticks are
/// shorter and the run is long, but no more than so many: then each stands for a few ticks
/// and is that of the largest heap among them. Both peaks are points of their own, and so is
/// the end.
pub fn timeline(world: &World, choice: &Choice, most: usize) -> Result<Vec<Point>, Damaged> {
    timeline_with(world, choice, most, &[])
}

/// The same, with what was live right after these events.
pub fn timeline_with(
    world: &World,
    choice: &Choice,
    most: usize,
    events: &[u64],
) -> Result<Vec<Point>, Damaged> {
    let (all, steps) = (world.table.steps(), steps(world, most));
    let changes = changes(world, choice, &steps)?;
    // A step lasts until the next one's first event.
    let ends = steps.iter().skip(1).map(|step| step.event);
    let ends = ends.chain([world.end() + 1]);
    let mut live = changes.inherited;
    let points = steps.iter().zip(ends).zip(changes.steps);
    let points = points.map(|((step, end), change)| {
        let Change {
            came,
            went,
            released,
        } = change;
        live = live.plus(came).minus(went);
        Point {
            event: end.saturating_sub(1),
            // Of a step that was thinned the last tick.
            tick: all.tick_of(end.saturating_sub(1)).max(step.tick),
            live,
            came,
            went,
            released,
            resident: None,
        }
    });
    let mut points = fewer(points.collect(), most);
    let peaks = [world.moments.heap_peak, world.moments.rss_peak];
    for event in peaks.into_iter().chain(events.iter().copied()) {
        add_moment(world, choice, &mut points, event)?;
    }
    add_resident(world, &mut points);
    Ok(points)
}

/// Those of the table, but no more than one a millisecond: where time is fine every
/// event has its own. A run that is as short as that has as many as are wanted.
fn steps<'w>(world: &'w World, most: usize) -> Cow<'w, Steps<'w>> {
    let all = world.table.steps();
    let wanted = world.table.end_tick() / (most as u64).max(1);
    match wanted.min(1_000_000 / world.tick_ns.max(1)) {
        0 | 1 => Cow::Borrowed(all),
        ticks => Cow::Owned(all.thinned(ticks)),
    }
}

fn changes(world: &World, choice: &Choice, steps: &Steps) -> Result<Changes, Damaged> {
    let count = steps.len();
    let mut changes = pass::over(
        world,
        choice,
        Columns::of(&[Column::Born, Column::Died, Column::Size, Column::Flags]),
        |changes: &mut Changes, rows, chosen| {
            changes.steps.resize(count, Change::default());
            for &row in chosen {
                let one = Held {
                    bytes: rows.get(Column::Size, row),
                    blocks: 1,
                };
                let (born, died) = (rows.get(Column::Born, row), rows.get(Column::Died, row));
                if born == 0 {
                    changes.inherited = changes.inherited.plus(one);
                } else if let Some(change) = changes.steps.get_mut(steps.step_of(born)) {
                    change.came = change.came.plus(one);
                }
                if died == NEVER {
                    continue;
                }
                if let Some(change) = changes.steps.get_mut(steps.step_of(died)) {
                    change.went = change.went.plus(one);
                    let flags = Flags(rows.get(Column::Flags, row));
                    change.released += u64::from(!flags.is_lost_sight_of());
                }
            }
        },
        |mut all, other| {
            all.inherited = all.inherited.plus(other.inherited);
            all.steps.resize(count, Change::default());
            for (one, other) in all.steps.iter_mut().zip(other.steps) {
                *one = one.plus(other);
            }
            all
        },
    )?;
    changes.steps.resize(count, Change::default());
    Ok(changes)
}

fn fewer(points: Vec<Point>, most: usize) -> Vec<Point> {
    if points.len() <= most.max(2) {
        return points;
    }
    let width = points.len().div_ceil(most.max(2));
    let last = points.last().copied();
    let sum = |part: &[Point], of: fn(&Point) -> Held| {
        let all = part.iter().map(of);
        all.fold(Held::default(), Held::plus)
    };
    let largest = |part: &[Point]| {
        let point = part.iter().max_by_key(|point| point.live.bytes)?;
        Some(Point {
            came: sum(part, |point| point.came),
            went: sum(part, |point| point.went),
            released: part.iter().map(|point| point.released).sum(),
            ..*point
        })
    };
    let mut fewer: Vec<Point> = points.chunks(width).filter_map(largest).collect();
    if let Some(last) = last
        && fewer.last().is_some_and(|point| point.event < last.event)
    {
        fewer.push(Point {
            came: Held::default(),
            went: Held::default(),
            released: 0,
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
    let point = Point {
        event,
        tick: world.table.steps().tick_of(event),
        live: live_at(world, choice, event)?,
        ..Point::default()
    };
    points.insert(at, point);
    Ok(())
}

/// What is live of the chosen blocks after an event.
fn live_at(world: &World, choice: &Choice, event: u64) -> Result<Held, Damaged> {
    let live = choice.clone().and(Test::LiveAt(event));
    pass::over(
        world,
        &live,
        Columns::of(&[Column::Size]),
        |held: &mut Held, rows, chosen| {
            for &row in chosen {
                *held = held.plus(Held {
                    bytes: rows.get(Column::Size, row),
                    blocks: 1,
                });
            }
        },
        Held::plus,
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
