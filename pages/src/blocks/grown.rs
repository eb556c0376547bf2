//! What groups of blocks held over time.

use memlog_answers::{By, Choice, Group, Growth, growth};
use memlog_format::meta::Lack;

use super::{Failure, Told};
use crate::moment::At;
use crate::words::Advice;

/// How groups grew.
pub struct Grown {
    live: Growth,
    moments: Moments,
    /// What is shown of it.
    pub shows: Shows,
}

/// What is shown of groups that are known over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The first moment, the last, and what is between them.
    Ends,
    /// The same, and only those that grew from each moment to the next.
    Growing,
    /// All moments, beside the usual columns.
    Curve,
}

/// What each moment of a run rests on.
pub const COURSE: &[Lack] = &[Lack::Course, Lack::Order];

/// Events, and their seconds.
pub type Moments = Vec<(u64, f64)>;

impl Grown {
    /// Of chosen blocks.
    pub fn of(
        told: &Told,
        choice: &Choice,
        by: By,
        (moments, shows): (Moments, Shows),
    ) -> Result<Self, Failure> {
        let events: Vec<u64> = moments.iter().map(|(event, _)| *event).collect();
        Ok(Self {
            live: growth(told.world, choice, by, &events)?,
            moments,
            shows,
        })
    }

    /// When that was.
    pub fn seconds(&self) -> Vec<f64> {
        seconds(&self.moments)
    }

    /// What a group held at each moment: bytes, and blocks.
    pub fn held(&self, told: &Told, group: &Group) -> (Vec<u64>, Vec<u64>) {
        let held = self.live.of(told.world, group).iter();
        held.map(|held| (held.bytes, held.blocks)).unzip()
    }

    /// Whether a group is shown.
    pub fn has(&self, told: &Told, group: &Group) -> bool {
        let live = self.live.of(told.world, group);
        self.shows != Shows::Growing || live.is_sorted_by(|one, next| one.bytes < next.bytes)
    }
}

/// The ends of so many equal parts of the time between two moments; nothing between is the
/// whole run, from before anything was allocated.
pub fn moments(told: &Told, between: &[At], parts: u64) -> Result<Moments, Failure> {
    let world = told.world;
    let (from, to) = match between {
        [from, to] => (told.event(from)?, told.event(to)?),
        _ => (0, world.end()),
    };
    if let ([first, last], true) = (between, from > to) {
        return Err(Failure::Said(Advice::error(
            format!("--between: {first} comes after {last}"),
            format!("--between '{last}' '{first}' has the earlier moment first"),
        )));
    }
    let steps = world.table.steps();
    let tick = |event: u64| match event {
        event if event == world.end() => world.table.end_tick(),
        event => steps.tick_of(event),
    };
    let (first, last) = (tick(from), tick(to));
    let inner = (1..parts).map(|part| {
        let into = u128::from(last - first) * u128::from(part) / u128::from(parts);
        let tick = first + into as u64;
        (steps.event_at(tick).clamp(from, to), world.seconds(tick))
    });
    let begin = std::iter::once((from, world.seconds(first)));
    let end = std::iter::once((to, world.seconds(last)));
    Ok(begin.chain(inner).chain(end).collect())
}

/// What programs are told of them.
pub fn seconds(moments: &Moments) -> Vec<f64> {
    moments.iter().map(|(_, seconds)| *seconds).collect()
}
