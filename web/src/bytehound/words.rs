//! Single blocks in words.

use memlog_answers::{Chains, Found};
use memlog_pages::blocks::{Desk, Failure, Frames, Matter, Told};
use serde_json::{Map, Value, json};

use super::clock::{Clock, time};
use super::frames::{Stacks, id, ids, with};

/// How a block is put into words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All that is known of it.
    Whole { strips: bool },
    /// The addresses on its stack.
    Addresses,
}

/// What blocks are put into words with.
pub struct Words<'w, 't, 'b, 'f> {
    told: &'w Told<'w, 't, 'b>,
    frames: &'f Frames,
    form: Form,
    chains: &'w Chains,
    /// Whether the log knows chains, threads, and what the allocator gave.
    has_chains: bool,
    has_threads: bool,
    has_usable: bool,
    stacks: Stacks<'f>,
    ids: Vec<Option<u32>>,
    clock: Clock,
}

impl<'w, 't, 'b, 'f> Words<'w, 't, 'b, 'f> {
    /// Of a log that is asked.
    pub fn new(
        told: &'w Told<'w, 't, 'b>,
        desk: &'f Desk,
        (form, chains): (Form, &'w Chains),
    ) -> Result<Self, Failure> {
        let frames = desk.frames(memlog_answers::Of::Blocks)?;
        let start = told.log().start();
        Ok(Self {
            told,
            frames,
            form,
            chains,
            has_chains: desk.knows(Matter::Chains),
            has_threads: desk.knows(Matter::Threads),
            has_usable: start.is_some_and(|start| start.has_usable),
            stacks: Stacks::new(frames, form == Form::Whole { strips: true }),
            ids: ids(told.world),
            clock: Clock::of(told),
        })
    }

    /// A block more.
    pub fn add(&mut self, text: &mut String, one: &Found) {
        if self.form != Form::Addresses {
            text.push_str(&self.whole(one));
            return;
        }
        let addresses = self.frames.addresses(one.stack).collect::<Vec<_>>();
        let addresses = addresses.iter().rev().map(|at| format!("{at:016X}"));
        let object = json!({ "backtrace": addresses.collect::<Vec<_>>() });
        text.push_str(&object.to_string());
    }

    fn whole(&mut self, one: &Found) -> String {
        let world = self.told.world;
        let chain = self.chains.get(&one.chain).filter(|_| one.is_in_chain());
        let chain_length = chain.map_or(1, |chain| chain.length);
        let has_chains = self.has_chains;
        let mut object = Map::new();
        for (name, value) in [
            ("id", one.born.into()),
            ("address", one.address.into()),
            ("address_s", format!("{:016X}", one.address).into()),
            ("thread", self.thread(one.thread)),
            ("size", one.size.into()),
            ("backtrace_id", id(&self.ids, one.stack).into()),
            (
                "is_mmaped",
                self.has_usable.then(|| one.is_mmapped()).into(),
            ),
            // No log knows those.
            ("is_jemalloc", Value::Null),
            ("in_main_arena", Value::Null),
            ("extra_space", self.has_usable.then_some(one.waste).into()),
            (
                "position_in_chain",
                has_chains.then_some(one.chain_place).into(),
            ),
            ("chain_length", has_chains.then_some(chain_length).into()),
        ] {
            object.insert(name.to_owned(), value);
        }
        let came_ns = self.clock.ns_of(world, one.born);
        self.clock.add(&mut object, "timestamp", came_ns);
        let last = match chain {
            Some(chain) => chain.last_release(),
            None => one.died,
        };
        if let Some(last) = last.filter(|_| has_chains) {
            let first_ns = self.clock.ns_of(world, one.chain);
            let ns = self.clock.ns_of(world, last).saturating_sub(first_ns);
            object.insert("chain_lifetime".to_owned(), time(ns));
        }
        let own = one.died.map(|died| {
            let by = one.releaser.unwrap_or(usize::MAX);
            self.deallocation(died, by, one.release_stack)
        });
        let of_chain = chain
            .filter(|_| one.flags.is_moved())
            .and_then(|chain| Some((chain, chain.last_release()?)))
            .map(|(chain, died)| self.deallocation(died, chain.releaser, chain.release_stack));
        let backtrace = self.stacks.text(one.stack).to_owned();
        let mut more = vec![("backtrace", backtrace.as_str())];
        more.extend(own.iter().map(|own| ("deallocation", own.as_str())));
        let of_chain = of_chain.iter();
        more.extend(of_chain.map(|last| ("chain_deallocation", last.as_str())));
        with(&Value::Object(object), &more)
    }

    fn thread(&self, place: usize) -> Value {
        let thread = self.told.world.table.threads().get(place);
        let thread = thread.filter(|_| self.has_threads);
        thread.map(|thread| thread.tid).into()
    }

    fn deallocation(&mut self, died: u64, thread: usize, stack: Option<u32>) -> String {
        let timestamp = self.clock.at(self.told.world, died);
        let mut object = json!({ "timestamp": timestamp, "thread": self.thread(thread) });
        let Some(stack) = stack else {
            return object.to_string();
        };
        object["backtrace_id"] = id(&self.ids, stack).into();
        let backtrace = self.stacks.text(stack).to_owned();
        with(&object, &[("backtrace", &backtrace)])
    }
}
