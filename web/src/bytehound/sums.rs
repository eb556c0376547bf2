//! What there is to say of blocks of one stack, in bytehound's form.

use memlog_answers::{Sums, World};
use serde_json::{Map, Value};

use super::clock::{Clock, time};

/// The figures of some blocks. `peak`: the event after which they first held most, where
/// that is known.
pub fn json(world: &World, clock: Clock, sums: &Sums, peak: Option<u64>) -> Map<String, Value> {
    let (first_ns, last_ns) = born_ns(world, clock, sums);
    let mut object = Map::new();
    for (name, value) in [
        ("size", sums.bytes.into()),
        ("min_size", sums.sizes.0.into()),
        ("max_size", sums.sizes.1.into()),
        ("interval", time(last_ns - first_ns)),
        ("leaked_count", sums.leaked_blocks.into()),
        ("allocated_count", sums.blocks.into()),
        ("graph_preview_url", Value::Null),
        ("graph_url", Value::Null),
    ] {
        object.insert(name.to_owned(), value);
    }
    clock.add(&mut object, "min_timestamp", first_ns);
    clock.add(&mut object, "max_timestamp", last_ns);
    const PEAK: &str = "max_total_usage_first_seen_at";
    match peak {
        Some(event) => clock.add(&mut object, PEAK, clock.ns_of(world, event)),
        None => {
            for end in ["", "_relative", "_relative_p"] {
                object.insert(format!("{PEAK}{end}"), Value::Null);
            }
        }
    }
    object
}

/// When the first of them came, and the last.
pub fn born_ns(world: &World, clock: Clock, sums: &Sums) -> (u64, u64) {
    let first = clock.ns_of(world, sums.born.0);
    (first, clock.ns_of(world, sums.born.1).max(first))
}
