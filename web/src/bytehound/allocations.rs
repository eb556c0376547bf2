//! `/allocations` and `/raw_allocations`: single blocks, however many they are.
//!
//! ```text
//! batch:  a pass over the table for the next blocks in their order     one job at the desk
//! piece:  some of them in words                                        one job at the desk
//! piece -> sink, which waits for the client; nobody waits for it at the desk
//! ```

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use memlog_answers::{Behind, Chains, Found, ListPart, Order, Way, chain_facts, list_part};
use memlog_pages::blocks::{Failure, Matter, Told};
use serde_json::{Map, Value, json};

use super::JSON;
use super::asked::{Asked, Of};
use super::clock::{Clock, time};
use super::frames::{Stacks, id, ids, with};
use super::log::Log;
use crate::pieces::{FULL, Sink, streamed};
use crate::reply::Refusal;

/// Blocks that a pass finds.
const BATCH: usize = 1 << 15;
/// Blocks that are put into words at a time, at most.
const PIECE: usize = 2048;

const ORDERS: [(&str, Order); 3] = [
    ("timestamp", Order::Born),
    ("address", Order::Address),
    ("size", Order::Small),
];

/// Which blocks, and where the list has come.
struct Listing {
    log: Log,
    asked: Asked,
    way: Way,
    /// Those found, and how many of them are behind.
    found: Arc<Vec<Found>>,
    done: usize,
    behind: Option<Behind>,
    /// Blocks that are left out yet, and those that come then.
    skip: u64,
    left: u64,
    /// How many there are.
    total: u64,
    form: Form,
}

/// How a block is put into words.
#[derive(Clone)]
enum Form {
    Whole { strips: bool, chains: Arc<Chains> },
    Addresses,
}

impl Listing {
    async fn new(log: Log, asked: Asked, form: Form) -> Result<Self, Refusal> {
        let (order, is_reversed) = (asked.choice("sort_by", &ORDERS)?, asked.is_reversed()?);
        let (skip, left) = asked.window()?;
        let mut listing = Self {
            log,
            asked,
            way: Way { order, is_reversed },
            found: Arc::default(),
            done: 0,
            behind: None,
            skip,
            left,
            total: 0,
            form,
        };
        let first = listing.batch().await?;
        listing.total = first.sums.blocks;
        listing.left = left.min(listing.total.saturating_sub(skip));
        listing.take(first);
        Ok(listing)
    }

    /// The next blocks.
    async fn batch(&self) -> Result<ListPart, Refusal> {
        let (way, behind) = (self.way, self.behind);
        let wanted = self.skip.saturating_add(self.left).min(BATCH as u64);
        let matter = match self.form {
            Form::Whole { .. } => Matter::Blocks,
            Form::Addresses => Matter::Groups,
        };
        let filter = self.asked.filter.clone();
        let made = self.log.told(matter, filter, move |told, _| {
            let most = wanted as usize;
            Ok(list_part(told.world, told.choice, way, behind, most)?)
        });
        made.await
    }

    fn take(&mut self, part: ListPart) {
        let skipped = self.skip.min(part.found.len() as u64);
        self.skip -= skipped;
        self.done = skipped as usize;
        self.behind = part.end;
        if part.found.is_empty() {
            self.left = 0;
        }
        self.found = Arc::new(part.found);
    }

    /// The next piece, with a comma behind each block but the last; empty at the end.
    async fn piece(&mut self) -> Result<String, Refusal> {
        while self.left > 0 && self.done == self.found.len() {
            let next = self.batch().await?;
            self.take(next);
        }
        let most = (self.left.min(PIECE as u64) as usize).min(self.found.len() - self.done);
        if most == 0 {
            return Ok(String::new());
        }
        let (found, from) = (Arc::clone(&self.found), self.done);
        let (left, form) = (self.left, self.form.clone());
        let made = self.log.told(Matter::Sums, None, move |told, desk| {
            let mut words = Words::new(told, desk.frames(memlog_answers::Of::Blocks)?, &form);
            let (mut text, mut count) = (String::new(), 0);
            for one in &found[from..from + most] {
                words.add(&mut text, one)?;
                count += 1;
                if count < left {
                    text.push(',');
                }
                if text.len() >= FULL {
                    break;
                }
            }
            Ok((text, count))
        });
        let (text, count) = made.await?;
        self.done += count as usize;
        self.left -= count;
        Ok(text)
    }

    /// All pieces that are left, and what stands behind them.
    async fn rest(mut self, sink: Sink, end: String) -> Result<(), Refusal> {
        loop {
            let piece = self.piece().await?;
            if piece.is_empty() {
                let _ = sink.put(end).await;
                return Ok(());
            }
            if sink.put(piece).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// What blocks are put into words with.
struct Words<'w, 't, 'b, 'f> {
    told: &'w Told<'w, 't, 'b>,
    frames: &'f memlog_pages::blocks::Frames,
    form: &'w Form,
    stacks: Stacks<'f>,
    ids: Vec<Option<u32>>,
    clock: Clock,
}

impl<'w, 't, 'b, 'f> Words<'w, 't, 'b, 'f> {
    fn new(
        told: &'w Told<'w, 't, 'b>,
        frames: &'f memlog_pages::blocks::Frames,
        form: &'w Form,
    ) -> Self {
        let strips = matches!(form, Form::Whole { strips: true, .. });
        Self {
            told,
            frames,
            form,
            stacks: Stacks::new(frames, strips),
            ids: ids(told.world),
            clock: Clock::of(told),
        }
    }

    fn add(&mut self, text: &mut String, one: &Found) -> Result<(), Failure> {
        match self.form {
            Form::Whole { chains, .. } => {
                let whole = self.whole(one, chains);
                text.push_str(&whole);
            }
            Form::Addresses => {
                let addresses = self.frames.addresses(one.stack).collect::<Vec<_>>();
                let addresses = addresses.iter().rev().map(|at| format!("{at:016X}"));
                let object = json!({ "backtrace": addresses.collect::<Vec<_>>() });
                text.push_str(&object.to_string());
            }
        }
        Ok(())
    }

    fn whole(&mut self, one: &Found, chains: &Chains) -> String {
        let world = self.told.world;
        let chain = chains.get(&one.chain);
        let mut object = Map::new();
        for (name, value) in [
            ("id", one.born.into()),
            ("address", one.address.into()),
            ("address_s", format!("{:016X}", one.address).into()),
            ("thread", self.thread(one.thread)),
            ("size", one.size.into()),
            ("backtrace_id", id(&self.ids, one.stack).into()),
            ("is_mmaped", one.is_mmapped().into()),
            // No log knows those.
            ("is_jemalloc", Value::Null),
            ("in_main_arena", Value::Null),
            ("extra_space", one.waste.into()),
            ("position_in_chain", one.chain_place.into()),
            ("chain_length", chain.map_or(1, |chain| chain.length).into()),
        ] {
            object.insert(name.to_owned(), value);
        }
        let came_ns = self.clock.ns_of(world, one.born);
        self.clock.add(&mut object, "timestamp", came_ns);
        let last = match chain {
            Some(chain) => chain.last_release(),
            None => one.died,
        };
        if let Some(last) = last {
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

/// All that is known of each.
pub async fn allocations(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = Asked::of(query.as_deref(), Of::Blocks)?;
    let strips = asked.flag("strip_template_args")?;
    let chains = log.told(Matter::Blocks, None, |told, _| Ok(chain_facts(told.world)?));
    let chains = Arc::new(chains.await?);
    let form = Form::Whole { strips, chains };
    let mut listing = Listing::new(log, asked, form).await?;
    let total = listing.total;
    let first = format!("{{\"allocations\":[{}", listing.piece().await?);
    let end = format!("],\"total_count\":{total}}}");
    Ok(streamed(JSON, first, |sink| listing.rest(sink, end)))
}

/// The addresses on the stack of each, the outermost first.
pub async fn raw(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = Asked::of(query.as_deref(), Of::Blocks)?;
    let mut listing = Listing::new(log, asked, Form::Addresses).await?;
    let first = format!("[{}", listing.piece().await?);
    Ok(streamed(JSON, first, |sink| {
        listing.rest(sink, "]".to_owned())
    }))
}
