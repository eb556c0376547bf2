//! How long blocks lived, as far as the log's clock can say. Without fine time that goes
//! in steps of milliseconds: what is known is a bracket, and how many events passed.

use memlog_answers::World;
use memlog_query::{Expr, Length, Test};
use serde_json::{Map, Value};

use crate::page::Page;
use crate::words::counted;

/// No kernel's coarse clock goes in larger steps.
const WIDEST_STEP_NS: u64 = 10_000_000;
/// What lasts so many steps and more is known well enough.
const STEPS: u64 = 10;

/// How long a block lived.
pub struct Lifetime {
    /// Allocations and releases of all threads from its own to its release.
    pub events: u64,
    least_seconds: f64,
    most_seconds: f64,
}

impl Lifetime {
    /// Of a block that came and went in the log, by a clock of such steps.
    pub fn new(world: &World, step: u64, born: u64, died: u64) -> Option<Self> {
        let ticks = world.lifetime(born, died);
        (born > 0).then(|| Self {
            events: died.saturating_sub(born),
            least_seconds: world.seconds(ticks.saturating_sub(step)),
            most_seconds: world.seconds(ticks.saturating_add(step)),
        })
    }

    /// `12 events later, after 0 to 4 ms`; where time is fine, `after 90.1 us`.
    pub fn words(&self, world: &World) -> String {
        let events = counted(self.events, "event");
        let middle = (self.least_seconds + self.most_seconds) / 2.0;
        match world.is_fine {
            true => format!("{events} later, after {}", short(middle)),
            false => format!(
                "{events} later, after {} by the clock",
                bracket(self.least_seconds, self.most_seconds)
            ),
        }
    }

    /// For programs.
    pub fn keys(lifetime: Option<&Self>) -> Map<String, Value> {
        Page::keyed([
            ("lifetime_events", lifetime.map(|it| it.events).into()),
            (
                "lifetime_least_seconds",
                lifetime.map(|it| it.least_seconds).into(),
            ),
            (
                "lifetime_most_seconds",
                lifetime.map(|it| it.most_seconds).into(),
            ),
        ])
    }
}

/// By so many ticks the clock goes on at a time.
pub fn step_ticks(world: &World) -> u64 {
    if world.is_fine {
        return 1;
    }
    let widest = (WIDEST_STEP_NS / world.tick_ns.max(1)).max(1);
    if lost_fine_time(world) {
        return widest;
    }
    let steps = world.table.steps();
    // Of one step nobody knows how far away the next would have been.
    match steps.len() {
        0 | 1 => widest,
        _ => steps.grain().clamp(1, widest),
    }
}

/// Fine time ended in the midst of the log, whose steps say nothing of those behind.
fn lost_fine_time(world: &World) -> bool {
    !world.is_fine && world.tick_ns < 1000
}

/// What is said where lifetimes are shown, or asked for, that the clock hardly knows.
pub fn note(world: &World) -> Option<String> {
    let step = short(world.seconds(step_ticks(world)));
    if lost_fine_time(world) {
        return Some(format!(
            "fine time ended (`memlog info` says when): behind that times are steps of up to {step}"
        ));
    }
    (!world.is_fine).then(|| {
        format!(
            "times are steps of {step} here, and the first events after a pause may have that \
             of before it: `memlog record --fine-time` gives each event its own"
        )
    })
}

/// The same of a filter, if it asks for so short a time.
pub fn note_on_filter(world: &World, filter: Option<&Expr>) -> Option<String> {
    let filter = filter?;
    let step_ns = world.tick_ns.saturating_mul(step_ticks(world));
    let is_short = asks_below(filter, step_ns.saturating_mul(STEPS));
    is_short.then(|| note(world)).flatten()
}

fn asks_below(filter: &Expr, shortest_ns: u64) -> bool {
    let of = |filter: &Expr| asks_below(filter, shortest_ns);
    match filter {
        Expr::Or(list) | Expr::And(list) => list.iter().any(of),
        Expr::Not(one) => of(one),
        Expr::Test(Test::Length { span, .. }) => span
            .ends()
            .any(|end| matches!(end, Length::Ns(ns) if (1..shortest_ns).contains(ns))),
        Expr::Test(_) => false,
    }
}

fn bracket(from_seconds: f64, to_seconds: f64) -> String {
    let (from, to) = (short(from_seconds), short(to_seconds));
    let units = from.split_once(' ').zip(to.split_once(' '));
    match units {
        Some(((from, one), (to, other))) if one == other => format!("{from} to {to} {one}"),
        _ if from_seconds == 0.0 => format!("0 to {to}"),
        _ => format!("{from} to {to}"),
    }
}

/// A time, however short: `90.1 us`.
pub fn short(seconds: f64) -> String {
    let of = |value: f64, unit: &str| match value {
        value if value >= 100.0 || (value - value.round()).abs() < 0.05 => {
            format!("{value:.0} {unit}")
        }
        value => format!("{value:.1} {unit}"),
    };
    match seconds {
        s if s < 0.999_5e-6 => of(s * 1e9, "ns"),
        s if s < 0.999_5e-3 => of(s * 1e6, "us"),
        s if s < 0.999_5 => of(s * 1e3, "ms"),
        s => of(s, "s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_few_digits() {
        let told = [
            (0.0, "0 ns"),
            (1e-8, "10 ns"),
            (1.28e-6, "1.3 us"),
            (90.12e-6, "90.1 us"),
            (0.999_9e-3, "1 ms"),
            (4e-3, "4 ms"),
            (0.356_4, "356 ms"),
            (12.34, "12.3 s"),
            (1234.5, "1234 s"),
        ];
        for (seconds, expected) in told {
            assert_eq!(short(seconds), expected, "{seconds}");
        }
        assert_eq!(bracket(0.0, 0.004), "0 to 4 ms");
        assert_eq!(bracket(0.996, 1.004), "996 ms to 1 s");
        assert_eq!(bracket(0.008, 0.016), "8 to 16 ms");
    }

    #[test]
    fn short_times_in_filters_are_found() {
        let is_short = |text: &str| {
            let filter = memlog_query::parse(text).expect("a filter");
            asks_below(&filter, 40_000_000)
        };
        for text in [
            "lifetime < 1ms",
            "size > 4 and not (chain-lifetime in 5ms..10s or leaked)",
            "group-interval <= 39ms",
        ] {
            assert!(is_short(text), "{text}");
        }
        for text in [
            "lifetime > 40ms",
            "lifetime > 20%",
            "lifetime-events < 2",
            "lifetime > 0ns",
        ] {
            assert!(!is_short(text), "{text}");
        }
    }
}
