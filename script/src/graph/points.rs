//! The figures of a graph: at no more moments than a picture has room for, each of them
//! that of the most among its neighbours.

use memlog_answers::{Choice, Layer, Of, Point, Test, courses, thinned, timeline};
use memlog_pages::blocks::{Desk, Failure, Matter};

use super::Kind;
use super::series::{Sent, layers_at};
use crate::time::Duration;

/// Moments that are looked at, of which a picture shows some.
const LOOKED_AT: usize = 20_000;
/// Moments of a picture.
const SHOWN: usize = 800;

/// What of the run is shown.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub trims_left: bool,
    pub trims_right: bool,
    pub start: Option<Duration>,
    pub end: Option<Duration>,
}

/// What is drawn.
pub(super) struct Figures {
    /// When, in seconds since the start.
    pub seconds: Vec<f64>,
    /// By series, at each of those.
    pub values: Vec<Vec<u64>>,
    /// What is shown of the time.
    pub shown: (f64, f64),
    /// When recording began, in seconds since 1970.
    pub start_unix_seconds: Option<f64>,
}

/// Of these layers with so many series together.
pub(super) fn figures(
    desk: &Desk,
    kind: Kind,
    (sent, count): (&[Sent], usize),
    window: Window,
) -> Result<Figures, Failure> {
    let of = kind.of();
    desk.check(match of {
        Of::Blocks => Matter::Curves,
        Of::Mappings => Matter::Mappings,
    })?;
    let layers = match kind {
        // The readings are of all of the process.
        Kind::Rss => Vec::new(),
        _ => layers_at(desk, of, sent)?,
    };
    let world = desk.world(if kind == Kind::Rss { Of::Blocks } else { of }, false)?;
    let all = layers.iter().map(|layer| layer.choice.clone());
    let all = match kind {
        Kind::Rss => Choice::all(),
        _ => any_of(all),
    };
    let points = timeline(world, &all, LOOKED_AT)?;
    let is_busy = |point: &&Point| point.came.blocks > 0 || point.went.blocks > 0;
    let seconds_of = |point: &Point| world.seconds(point.tick);
    let first = points.iter().find(is_busy).map_or(0.0, seconds_of);
    let last = points.iter().rev().find(is_busy).map_or(0.0, seconds_of);
    let run_end = world.seconds(world.table.end_tick());
    let from = if window.trims_left { first } else { 0.0 };
    let to = if window.trims_right { last } else { run_end };
    let from = window.start.map_or(from, |start| start.seconds().max(from));
    let to = window.end.map_or(to, Duration::seconds).max(from);
    let tick_of = |seconds: f64| (seconds * 1e9 / world.tick_ns.max(1) as f64).round() as u64;
    let shown = thinned(&points, (tick_of(from), tick_of(to)), SHOWN);
    let values = match kind {
        Kind::Rss => resident(&shown, count),
        _ => {
            // What came before the window is nothing new within it.
            let before = points.iter().take_while(|point| seconds_of(point) < from);
            let before = before.last().map(|point| point.event);
            let events = before
                .into_iter()
                .chain(shown.iter().map(|point| point.event));
            let events: Vec<u64> = events.collect();
            values(world, kind, &layers, count, &events, before.is_some())?
        }
    };
    let start_unix_ns = desk.start_unix_ns();
    Ok(Figures {
        seconds: shown.iter().map(seconds_of).collect(),
        values,
        shown: (from, to),
        start_unix_seconds: (start_unix_ns > 0).then_some(start_unix_ns as f64 / 1e9),
    })
}

/// What any of these chooses.
fn any_of(choices: impl Iterator<Item = Choice>) -> Choice {
    let tests = choices.map(Choice::into_test);
    Choice::of(Test::Any(tests.collect()))
}

/// All of it is of the first series, which has all maps.
fn resident(points: &[Point], count: usize) -> Vec<Vec<u64>> {
    let values = points.iter().map(|point| point.resident.unwrap_or(0));
    let mut all = vec![vec![0; points.len()]; count];
    if let Some(first) = all.first_mut() {
        *first = values.collect();
    }
    all
}

fn values(
    world: &memlog_answers::World,
    kind: Kind,
    layers: &[Layer],
    count: usize,
    events: &[u64],
    has_before: bool,
) -> Result<Vec<Vec<u64>>, Failure> {
    let courses = courses(world, layers, count, events)?;
    let values = courses.into_iter().map(|course| {
        let course = course.into_iter().skip(usize::from(has_before));
        let value = course.map(|one| match kind {
            Kind::LiveAllocations => one.live.blocks,
            Kind::NewAllocations => one.came.blocks,
            Kind::Deallocations => one.went.blocks,
            Kind::MemoryUsage | Kind::AddressSpace | Kind::Rss => one.live.bytes,
        });
        value.collect()
    });
    Ok(values.collect())
}
