//! Single blocks and mappings, as scripts have them in their hands.

use memlog_answers::{Found, Mapping, Of, World};

use crate::chosen::StackKey;
use crate::env::Log;
use crate::stack::Backtrace;
use crate::time::Duration;

/// What is known of a block or a mapping, without its log.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub address: u64,
    pub bytes: u64,
    pub born: Duration,
    pub died: Option<Duration>,
    pub stack: Option<StackKey>,
    pub thread: String,
    /// Of a mapping, what `map` is in filters.
    pub number: u64,
}

/// The same with its log.
#[derive(Clone)]
pub(crate) struct Row {
    pub log: Log,
    pub of: Of,
    pub facts: std::rc::Rc<Facts>,
    pub stack: Option<StackKey>,
}

#[derive(Clone)]
pub(crate) struct Allocation(pub Row);

#[derive(Clone)]
pub(crate) struct Map(pub Row);

impl Facts {
    pub fn of_block(world: &World, found: &Found, stack: Option<StackKey>) -> Self {
        Self {
            address: found.address,
            bytes: found.size,
            born: when(world, found.born),
            died: found.died.map(|event| when(world, event)),
            stack,
            thread: world.thread(found.thread),
            number: found.born,
        }
    }

    pub fn of_mapping(world: &World, mapping: &Mapping, stack: Option<StackKey>) -> Self {
        Self {
            address: mapping.address,
            bytes: mapping.bytes,
            born: when(world, mapping.born),
            died: mapping.died.map(|event| when(world, event)),
            stack,
            thread: world.thread(mapping.thread),
            number: mapping.born,
        }
    }
}

/// When an event was, as a duration since the start.
fn when(world: &World, event: u64) -> Duration {
    let tick = world.table.steps().tick_of(event);
    Duration {
        ns: tick.saturating_mul(world.tick_ns),
    }
}

impl Row {
    pub fn new(log: &Log, of: Of, facts: &Facts) -> Self {
        Self {
            log: log.clone(),
            of,
            stack: facts.stack,
            facts: std::rc::Rc::new(facts.clone()),
        }
    }

    pub fn backtrace(&self) -> Option<Backtrace> {
        let stack = self.stack?;
        Some(Backtrace::new(self.log.clone(), self.of, stack))
    }
}
