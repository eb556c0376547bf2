//! h, m, s, ms and us make durations, of whole numbers and of parts.

use rhai::Engine;

use crate::env::{Made, made};
use crate::time::Duration;

const UNITS: [(&str, u64); 5] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

pub(super) fn teach(engine: &mut Engine) {
    engine.register_type_with_name::<Duration>("Duration");
    for (word, unit_ns) in UNITS {
        engine.register_fn(word, move |count: i64| made(Duration::of(count, unit_ns)));
        engine.register_fn(word, move |count: f64| {
            made(Duration::of_part(count, unit_ns))
        });
    }
    let times = |one: Duration, factor: f64| -> Made<Duration> { made(one.times(factor)) };
    // Whole numbers are exact.
    let whole =
        |one: Duration, factor: i64| -> Made<Duration> { made(Duration::of(factor, one.ns)) };
    engine
        .register_fn("*", whole)
        .register_fn("*", move |factor: i64, one: Duration| whole(one, factor))
        .register_fn("*", times)
        .register_fn("*", move |factor: f64, one: Duration| times(one, factor))
        .register_fn("+", Duration::plus)
        .register_fn("-", Duration::minus)
        .register_fn("<", |one: Duration, other: Duration| one < other)
        .register_fn("<=", |one: Duration, other: Duration| one <= other)
        .register_fn(">", |one: Duration, other: Duration| one > other)
        .register_fn(">=", |one: Duration, other: Duration| one >= other)
        .register_fn("==", |one: Duration, other: Duration| one == other)
        .register_fn("!=", |one: Duration, other: Duration| one != other)
        .register_fn("seconds", |one: &mut Duration| one.seconds());
}
