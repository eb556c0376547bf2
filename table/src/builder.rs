//! Events to rows.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use memlog_analysis::{Scopes, Temporary};
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release, Usual};
use memlog_format::ext::{Rss, RssSource};
use memlog_format::live::LiveEntry;
use memlog_format::passed::Passed;
use memlog_read::{Item, Kind, Place, Taker};

use crate::chunk::{CHUNK_ROWS, Rows};
use crate::column::{COUNT, Column, Flags};
use crate::layout;
use crate::live::{Block, Chain, Live};
use crate::mappings::Mappings;
use crate::pack::put_text;
use crate::places::{Stacks, Threads};
use crate::steps::{self, Gatherer};
use crate::table::{Mark, NEVER, Reading, Tail};
use crate::writer::Writing;

/// Makes a table. The events of the log's parents come first, the oldest parent's
/// before the others, each behind [`Builder::log`]; then [`Builder::start`], and the
/// events of the log itself.
pub struct Builder<W> {
    writing: Writing<W>,
    tail: Tail,
    rows: Rows,
    live: Live,
    steps: Gatherer,
    temporary: Temporary,
    pub(crate) stacks: Stacks,
    pub(crate) threads: Threads,
    pub(crate) scopes: Scopes,
    /// The blocks that reallocs took, by stream, until their next one comes.
    moving: HashMap<u32, Chain>,
    /// Addresses of reallocs that the log does not finish.
    unfinished: HashSet<u64>,
    event: u64,
    tick: u64,
    /// The last moment that is no event; events behind it may be of an earlier tick, for
    /// others go on while it is looked at.
    moment_tick: u64,
    /// What the program mapped, unless that is what this is of.
    mappings: Option<Box<Mappings>>,
}

impl Builder<Vec<u8>> {
    /// Of what the program mapped.
    pub(crate) fn of_mappings(key: &[u8]) -> Self {
        Self::with(Vec::new(), key, None)
    }
}

impl<W: Write + Send + 'static> Builder<W> {
    /// Of the log that has this key.
    pub fn new(out: W, key: &[u8]) -> Self {
        Self::with(out, key, Some(Box::new(Mappings::new(key))))
    }

    fn with(out: W, key: &[u8], mappings: Option<Box<Mappings>>) -> Self {
        Self {
            mappings,
            writing: Writing::new(out, &layout::head(key)),
            tail: Tail::default(),
            rows: Rows::default(),
            live: Live::default(),
            steps: Gatherer::default(),
            temporary: Temporary::default(),
            stacks: Stacks::default(),
            threads: Threads::default(),
            scopes: Scopes::default(),
            moving: HashMap::new(),
            unfinished: HashSet::new(),
            event: 0,
            tick: 0,
            moment_tick: 0,
        }
    }

    /// What comes now is of this log of the family, which is so long.
    pub fn log(&mut self, log: u32, file_bytes: usize) {
        self.stacks.change_log(log, file_bytes);
        self.scopes.leave_all();
        if let Some(mappings) = &mut self.mappings {
            mappings.table.log(log, file_bytes);
        }
    }

    /// A parent's allocation.
    pub fn inherit_alloc(&mut self, place: Place, alloc: &Alloc) {
        let block = self.block(place.tid, self.scopes.of(place.stream), alloc);
        self.live.insert(alloc.address, block, None);
    }

    /// A parent's thread has other scopes from here on.
    pub fn inherit_scope(&mut self, item: &Item) {
        self.scoped(item);
    }

    /// A parent's release.
    pub fn inherit_release(&mut self, release: &Release) {
        self.live.remove(release.address);
    }

    /// The same of all that there was: recording was off in between.
    pub fn inherit_forget(&mut self) {
        for (address, ..) in self.live.sorted() {
            self.live.remove(address);
        }
    }

    /// A block that events which are gone left live.
    pub fn seed(&mut self, entry: &LiveEntry) {
        let alloc = Alloc {
            api: entry.api,
            address: entry.address,
            size: entry.size,
            usable: entry.usable,
            alignment_log2: 0,
            stack: entry.stack,
            order: None,
        };
        let block = self.block(entry.tid, Scopes::UNKNOWN, &alloc);
        self.live.insert(entry.address, block, None);
    }

    /// The log's own events come now, the first not before this tick.
    pub fn start(&mut self, tick: u64) {
        self.tick = tick;
        let blocks = self.live.sorted();
        for (_, block, _) in &blocks {
            self.stacks.came(block.stack, block.size, 0);
        }
    }

    fn block(&mut self, tid: u32, scope: u16, alloc: &Alloc) -> Block {
        let spare = alloc.usable.saturating_sub(alloc.size);
        let block = Block {
            born: self.event,
            size: alloc.size,
            waste: spare.min(u32::MAX.into()) as u32,
            stack: self.stacks.place(alloc.stack),
            thread: self.threads.place(tid),
            scope,
            ..Block::default()
        };
        block.with_flags(Flags::of(alloc.api, alloc.alignment_log2))
    }

    #[inline]
    pub(crate) fn next_event(&mut self, tick: u64) {
        self.event += 1;
        self.tick = self.tick.max(tick);
        if let Some(full) = self.steps.at(self.event, self.tick) {
            self.writing.steps(full);
        }
    }

    /// A block went, and its row is whole.
    #[inline]
    pub(crate) fn went(
        &mut self,
        address: u64,
        (block, chain): (Block, Option<Chain>),
        flags: Flags,
        (releaser, stack): (u32, u64),
    ) {
        self.stacks.went(block.stack, block.size);
        self.row(address, &block, chain, self.event, flags, (releaser, stack));
        if self.is_full() {
            self.flush(false);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() == CHUNK_ROWS
    }

    #[inline]
    pub(crate) fn row(
        &mut self,
        address: u64,
        block: &Block,
        chain: Option<Chain>,
        died: u64,
        flags: Flags,
        (releaser, release_stack): (u32, u64),
    ) {
        let mut row = [0; COUNT];
        let mut put = |column: Column, value: u64| row[column as usize] = value;
        put(Column::Died, died);
        put(Column::Born, block.born);
        put(Column::Address, address);
        put(Column::Size, block.size);
        put(Column::Waste, block.waste.into());
        put(Column::Stack, block.stack.into());
        put(Column::Thread, block.thread.into());
        put(Column::Releaser, releaser.into());
        put(Column::ReleaseStack, release_stack);
        put(Column::Flags, flags.0);
        put(Column::Scope, block.scope.into());
        if let Some(chain) = chain {
            put(Column::ChainAge, block.born - chain.first);
            put(Column::ChainPlace, chain.place);
        }
        self.rows.push(&row);
    }

    #[cold]
    pub(crate) fn flush(&mut self, is_live: bool) {
        if self.rows.is_empty() {
            return;
        }
        // What the program mapped is little.
        if self.is_full() && self.mappings.is_some() {
            self.writing.go_beside();
        }
        self.writing.chunk(&mut self.rows, is_live);
    }

    fn release_of(&mut self, place: Place, release: &Release) {
        self.next_event(place.tick);
        let is_temporary = self.temporary.went(place.stream, release.address);
        if release.announced {
            self.moving.remove(&place.stream);
        }
        let Some((block, chain)) = self.live.remove(release.address) else {
            return;
        };
        let mut flags = block.flags();
        if is_temporary {
            flags = flags.temporary();
        }
        if release.api == Api::Pool {
            flags = flags.pool();
        }
        if release.announced {
            flags = flags.moved();
            let next = Chain {
                first: chain.map_or(block.born, |chain| chain.first),
                place: chain.map_or(0, |chain| chain.place) + 1,
            };
            // A block of before the log has no event that would tell its chain from
            // others: the next begins one.
            if next.first > 0 {
                self.moving.insert(place.stream, next);
            }
        }
        let releaser = self.threads.place(place.tid);
        let stack = release
            .stack
            .map_or(0, |stack| u64::from(self.stacks.place(stack)) + 1);
        self.went(release.address, (block, chain), flags, (releaser, stack));
    }

    fn alloc_of(&mut self, place: Place, alloc: &Alloc) {
        self.next_event(place.tick);
        let chain = match alloc.api.is_realloc() && !self.moving.is_empty() {
            true => self.moving.remove(&place.stream),
            false => None,
        };
        let block = self.block(place.tid, self.scopes.of(place.stream), alloc);
        if let Some((other, other_chain)) = self.live.insert(alloc.address, block, chain) {
            let flags = match self.unfinished.remove(&alloc.address) {
                true => other.flags(),
                false => other.flags().lost_sight(),
            };
            self.went(
                alloc.address,
                (other, other_chain),
                flags,
                (block.thread, 0),
            );
        }
        self.temporary.came(place.stream, alloc.address);
        self.stacks.came(block.stack, block.size, self.event);
    }

    /// Recording was off, and is on again: what became of the blocks of before nobody saw.
    #[cold]
    fn forget(&mut self, tick: u64) {
        // Of its own, as it is in the tally.
        self.next_event(tick);
        for (address, block, chain) in self.live.sorted() {
            self.live.remove(address);
            let flags = match self.unfinished.remove(&address) {
                true => block.flags(),
                false => block.flags().lost_sight(),
            };
            self.went(address, (block, chain), flags, (block.thread, 0));
        }
        self.moving.clear();
    }

    /// Rows of blocks of which nobody knows when they were live: they never are.
    fn passed(&mut self, place: Place, passed: &Passed) {
        self.temporary.came(place.stream, 0);
        let alloc = Alloc {
            api: passed.api,
            address: 0,
            size: passed.size,
            usable: passed.usable,
            alignment_log2: passed.alignment_log2,
            stack: passed.stack,
            order: None,
        };
        for _ in 0..passed.blocks {
            self.next_event(place.tick);
            let block = self.block(passed.tid, Scopes::UNKNOWN, &alloc);
            let mut flags = block.flags();
            if passed.temporary {
                flags = flags.temporary();
            }
            if passed.moved {
                flags = flags.moved();
            }
            let releaser = self.threads.place(passed.releaser);
            let stack = passed.release_stack;
            let stack = stack.map_or(0, |stack| u64::from(self.stacks.place(stack)) + 1);
            self.row(0, &block, None, self.event, flags, (releaser, stack));
            if self.is_full() {
                self.flush(false);
            }
        }
    }

    fn moment(&mut self, tick: u64) {
        self.moment_tick = self.moment_tick.max(self.tick).max(tick);
    }

    fn read(&mut self, tick: u64, rss: &Rss) {
        self.moment(tick);
        if let Some(mappings) = &mut self.mappings {
            mappings.table.read(tick, rss);
        }
        let (kb, is_mark) = match rss.now_kb {
            0 => (rss.peak_kb, rss.source != RssSource::Statm),
            now => (now, false),
        };
        if kb > 0 {
            self.tail.readings.push(Reading {
                event: self.event,
                tick: self.moment_tick,
                kb,
                own_kb: rss.own_kb,
                is_mark,
                stamp: rss.stamp,
            });
        }
    }

    /// A thread or a moment has a name.
    fn named(&mut self, item: &Item) {
        match &item.kind {
            Kind::Thread { tid, name } => {
                self.threads.name(*tid, name);
                self.scoped(item);
            }
            Kind::Scope(_) => self.scoped(item),
            Kind::Mark(name) => {
                self.moment(item.tick);
                self.tail.marks.push(Mark {
                    event: self.event,
                    tick: self.moment_tick,
                    name: name.to_vec(),
                });
            }
            _ => {}
        }
        if let Some(mappings) = &mut self.mappings {
            mappings.table.named(item);
        }
    }

    /// A stream's thread has other scopes from here on.
    fn scoped(&mut self, item: &Item) {
        match item.kind {
            Kind::Scope(scope) => self.scopes.enter(item.stream, scope),
            Kind::Thread { .. } => self.scopes.enter(item.stream, &[]),
            _ => {}
        }
    }

    /// How many events there were so far.
    pub fn events(&self) -> u64 {
        self.event
    }

    /// All events are through; `end_tick` is the log's end where it says, `figures`
    /// what is to be found again in [`crate::Table::figures`]. What was written is a
    /// table only if this succeeds.
    pub fn finish(mut self, end_tick: Option<u64>, figures: &[u8]) -> io::Result<W> {
        self.flush(false);
        for (address, block, chain) in self.live.sorted() {
            let releaser = block.thread;
            self.row(address, &block, chain, NEVER, block.flags(), (releaser, 0));
            if self.is_full() {
                self.flush(true);
            }
        }
        self.flush(true);
        let steps = self.steps.rest();
        if !steps.is_empty() {
            self.writing.steps(steps);
        }
        let mut writer = self.writing.end()?;
        (self.tail.extents, self.tail.rows) = (writer.extents, writer.rows);
        self.tail.events = self.event;
        self.tail.end_tick = end_tick.unwrap_or(0).max(self.tick).max(self.moment_tick);
        self.tail.stacks = self.stacks.keys;
        self.tail.held = self.stacks.held;
        self.tail.threads = self.threads.list;
        self.tail.scopes = self.scopes.into_list();
        let mut tail = Vec::new();
        self.tail.put(&mut tail);
        steps::put_list(&writer.steps, &mut tail);
        put_text(&mut tail, figures);
        let mappings = self.mappings.take();
        let mappings = mappings.map(|mappings| mappings.finish(self.tail.end_tick));
        put_text(&mut tail, &mappings.transpose()?.unwrap_or_default());
        let footer = layout::footer(writer.offset, &tail);
        if let Some(error) = writer.failed {
            return Err(error);
        }
        writer.out.write_all(&tail)?;
        writer.out.write_all(&footer)?;
        writer.out.flush()?;
        Ok(writer.out)
    }
}

impl<'a, W: Write + Send + 'static> Taker<'a> for Builder<W> {
    fn soon(&mut self, events: &[(Place, Usual)]) {
        for (_, event) in events {
            self.live.soon(match event {
                Usual::Alloc(alloc) => alloc.address,
                Usual::Release(release) => release.address,
            });
        }
    }

    #[inline]
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.alloc_of(place, alloc);
    }

    #[inline]
    fn release(&mut self, place: Place, release: &Release) {
        self.release_of(place, release);
    }

    fn item(&mut self, item: &Item<'a>) {
        let place = item.place();
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc_of(place, alloc),
            Kind::Release(release) => self.release_of(place, release),
            Kind::Unfinished(release) => {
                self.unfinished.insert(release.address);
            }
            Kind::Rss(rss) => self.read(item.tick, rss),
            Kind::Thread { .. } | Kind::Scope(_) | Kind::Mark(_) => self.named(item),
            Kind::Ledger(entry) => {
                if let Some(mappings) = &mut self.mappings {
                    mappings.take(place, entry);
                }
            }
            Kind::Passed(passed) => self.passed(place, passed),
            Kind::Switch(switch) => {
                if switch.on {
                    self.forget(item.tick);
                    if let Some(mappings) = &mut self.mappings {
                        mappings.forget(item.tick);
                    }
                }
            }
            // They are in the log's totals, and no block's.
            Kind::PriorAlloc(_) | Kind::PriorRelease(_) => {}
            Kind::Fork { .. }
            | Kind::Loss { .. }
            | Kind::Limit(_)
            | Kind::Failed(_)
            | Kind::Stamp(_) => {}
        }
    }
}
