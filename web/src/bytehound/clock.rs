//! Times as bytehound tells them: since 1970, since the start, and as a part of the run.

use memlog_answers::World;
use memlog_pages::blocks::Told;
use serde_json::{Map, Value, json};

/// The clock of a log.
#[derive(Clone, Copy)]
pub struct Clock {
    start_unix_ns: u64,
    end_ns: u64,
    tick_ns: u64,
}

impl Clock {
    /// That of a log that is asked.
    pub fn of(told: &Told) -> Self {
        let tick_ns = told.world.tick_ns;
        Self {
            start_unix_ns: told.start_unix_ns,
            end_ns: told.world.table.end_tick().saturating_mul(tick_ns),
            tick_ns,
        }
    }

    /// Nanoseconds since the start.
    pub fn ns(self, tick: u64) -> u64 {
        tick.saturating_mul(self.tick_ns)
    }

    /// The same of an event.
    pub fn ns_of(self, world: &World, event: u64) -> u64 {
        self.ns(world.table.steps().tick_of(event))
    }

    /// Nanoseconds since 1970.
    pub fn unix_ns(self, since_start_ns: u64) -> u64 {
        self.start_unix_ns.saturating_add(since_start_ns)
    }

    /// When an event was.
    pub fn at(self, world: &World, event: u64) -> Value {
        time(self.unix_ns(self.ns_of(world, event)))
    }

    /// The three times of a moment, under a name.
    pub fn add(self, object: &mut Map<String, Value>, name: &str, since_start_ns: u64) {
        let part = match self.end_ns {
            0 => 0.0,
            all => since_start_ns as f64 / all as f64,
        };
        object.insert(name.to_owned(), time(self.unix_ns(since_start_ns)));
        object.insert(format!("{name}_relative"), time(since_start_ns));
        object.insert(format!("{name}_relative_p"), part.into());
    }
}

/// Seconds and what is beyond them.
pub fn time(ns: u64) -> Value {
    const SECOND: u64 = 1_000_000_000;
    json!({ "secs": ns / SECOND, "fract_nsecs": ns % SECOND })
}
