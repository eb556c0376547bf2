//! Blocks, mappings, stacks and logs.

use memlog_answers::Of;
use rhai::{Dynamic, Engine};

use crate::block::{Allocation, Map, Row};
use crate::env::{Log, Made};
use crate::list::{AllocationList, List, MapList};
use crate::stack::Backtrace;
use crate::time::Duration;

/// A log.
#[derive(Clone)]
pub(crate) struct Data(pub Log);

/// What a block and a mapping have in common.
trait HasRow: Clone + 'static {
    fn row(&self) -> &Row;
}

impl HasRow for Allocation {
    fn row(&self) -> &Row {
        &self.0
    }
}

impl HasRow for Map {
    fn row(&self) -> &Row {
        &self.0
    }
}

/// Nothing, or a value.
fn optional<T: Clone + 'static>(value: Option<T>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Dynamic::from)
}

fn of_row<T: HasRow>(engine: &mut Engine) {
    engine
        .register_fn("allocated_at", |one: &mut T| one.row().facts.born)
        .register_fn("deallocated_at", |one: &mut T| {
            optional(one.row().facts.died)
        })
        .register_fn("backtrace", |one: &mut T| optional(one.row().backtrace()))
        .register_fn("size", |one: &mut T| one.row().facts.bytes as i64)
        .register_fn("address", |one: &mut T| one.row().facts.address as i64)
        .register_fn("thread_name", |one: &mut T| one.row().facts.thread.clone());
}

pub(super) fn teach(engine: &mut Engine) {
    engine
        .register_type_with_name::<Data>("Data")
        .register_type_with_name::<Allocation>("Allocation")
        .register_type_with_name::<Map>("Map")
        .register_type_with_name::<Backtrace>("Backtrace");
    of_row::<Allocation>(engine);
    of_row::<Map>(engine);
    engine
        .register_fn("number", |one: &mut Map| one.0.facts.number as i64)
        .register_fn("strip", Backtrace::strip)
        .register_fn("number", |one: &mut Backtrace| i64::from(one.key.1))
        .register_fn("allocations", |data: &mut Data| {
            AllocationList(List::all(data.0.clone(), Of::Blocks))
        })
        .register_fn("maps", |data: &mut Data| {
            MapList(List::all(data.0.clone(), Of::Mappings))
        })
        .register_fn("runtime", |data: &mut Data| -> Made<Duration> {
            data.0.ask(|desk| {
                let world = desk.world(Of::Blocks, false)?;
                let ns = world.table.end_tick().saturating_mul(world.tick_ns);
                Ok(Duration { ns })
            })
        });
}
