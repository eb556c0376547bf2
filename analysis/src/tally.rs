//! Takes each event to whom it concerns.

mod before;
mod switched;
mod told;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use memlog_format::event::{Alloc, Release, Usual};
use memlog_format::ext::{Ledger, Rss};
use memlog_format::failure::Failure;
use memlog_format::passed::Passed;

use crate::counts::Instant;
use crate::failed::Failures;
use crate::flight_window::FlightWindow;
use crate::history::History;
use crate::holders::Holders;
use crate::ledger::Regions;
use crate::live::{Block, Blocks};
use crate::owners::Owners;
use crate::rss::{Figures, Heap, RssTracker};
use crate::segments::Segments;
use crate::stacks::{StackTable, Tables};
use crate::temporary::Temporary;
use crate::threads::Threads;
use crate::totals::{Anomalies, At, PeakFigures, Totals};
use crate::unknown::UnknownReleases;
pub use switched::Switched;

/// What has to be known before the first event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// When [`crate::Moment::Chosen`] is.
    pub chosen: Option<Instant>,
    /// What ru_maxrss was at the start, inherited through exec, in kilobytes.
    pub maxrss_floor_kb: u64,
    /// The reading behind the peak of resident memory, where the log says which it is.
    pub peak_reading: Option<u64>,
    /// The process was forked: blocks that are not known may be its parent's.
    pub forked: bool,
}

/// What the log says besides its events, wanted at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// The kernel's last words on resident memory.
    pub rss: Figures,
    /// What was resident when recording began, in kilobytes, 0: unknown.
    pub start_rss_kb: u64,
    /// Tick of the end, where it is known.
    pub end_tick: Option<u64>,
    /// Events that the recorder counted as lost.
    pub lost_events: u64,
    /// The recorder's own memory at the end.
    pub own_bytes: u64,
    /// Processor time of the process in microseconds, 0: unknown.
    pub cpu_us: u64,
}

/// Everything that is known about the events so far.
pub struct Tally {
    pub(crate) stacks: StackTable,
    pub(crate) blocks: Blocks,
    pub(crate) holders: Holders,
    pub(crate) owners: Owners,
    pub(crate) rss: RssTracker,
    pub(crate) heap: Heap,
    pub(crate) heap_peak: PeakFigures,
    pub(crate) totals: Totals,
    pub(crate) anomalies: Anomalies,
    /// Addresses whose realloc the log does not finish: one a thread at most.
    unfinished: HashSet<u64, RandomState>,
    pub(crate) segments: Segments,
    pub(crate) threads: u64,
    pub(crate) lost_in_place: u64,
    pub(crate) window: Option<FlightWindow>,
    regions: Regions,
    history: History,
    failures: Failures,
    named: Threads,
    unknown: UnknownReleases,
    temporary: Temporary,
    options: Options,
    chosen: bool,
    /// How many marks the program set so far.
    marks: u64,
    switches: Vec<Switched>,
    tids: HashMap<u32, u32, RandomState>,
    inherited: HashSet<u64, RandomState>,
}

impl Tally {
    /// Knows nothing yet.
    pub fn new(options: Options) -> Self {
        let mut rss = RssTracker::new(options.maxrss_floor_kb);
        rss.known = options.peak_reading;
        Self {
            stacks: StackTable::default(),
            blocks: Blocks::default(),
            holders: Holders::default(),
            owners: Owners::default(),
            rss,
            heap: Heap::default(),
            heap_peak: PeakFigures::default(),
            totals: Totals::default(),
            anomalies: Anomalies::default(),
            unfinished: HashSet::default(),
            segments: Segments::default(),
            threads: 0,
            lost_in_place: 0,
            window: None,
            regions: Regions::default(),
            history: History::default(),
            failures: Failures::default(),
            named: Threads::default(),
            unknown: UnknownReleases::default(),
            temporary: Temporary::default(),
            options,
            chosen: false,
            marks: 0,
            switches: Vec::new(),
            tids: HashMap::default(),
            inherited: HashSet::default(),
        }
    }

    /// Memory came before what is known of its address: it is in the totals.
    pub fn prior_alloc(&mut self, alloc: &Alloc) {
        self.totals.allocations += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(alloc.size);
        self.totals.usable_bytes = self.totals.usable_bytes.saturating_add(alloc.usable);
        self.totals.with_header += u64::from(alloc.usable % 16 == 8);
    }

    /// Memory went before that.
    pub fn prior_release(&mut self) {
        self.totals.releases += 1;
    }

    /// Time passes for everybody.
    #[inline]
    fn come_to(&mut self, at: At) {
        if at.tick > self.heap.tick {
            if let Some(Instant::Tick(chosen)) = self.options.chosen
                && at.tick > chosen
            {
                self.choose_now();
            }
            self.heap.tick = at.tick;
        }
    }

    /// This event comes soon. What it needs may lie anywhere in memory; asked for ahead,
    /// many such places come at the same time.
    #[inline]
    pub fn soon(&self, event: &Usual) {
        match event {
            Usual::Alloc(alloc) => {
                self.blocks.soon(alloc.address);
                self.stacks.soon(alloc.stack);
            }
            Usual::Release(release) => self.blocks.soon(release.address),
        }
    }

    /// The program set a mark.
    pub fn mark(&mut self) {
        if matches!(self.options.chosen, Some(Instant::Mark { number, .. }) if number == self.marks)
        {
            self.choose_now();
        }
        self.marks += 1;
    }

    #[cold]
    fn choose_now(&mut self) {
        if !self.chosen {
            self.chosen = true;
            self.holders.mark_chosen();
            self.regions.held.counts.mark_chosen();
        }
    }

    /// Memory came.
    #[inline]
    pub fn alloc(&mut self, at: At, alloc: &Alloc, tables: &impl Tables) {
        self.come_to(at);
        self.heap.event += 1;
        let stack = self.stacks.stack(alloc.stack, tables);
        let (size, tick, owner) = (alloc.size, self.heap.tick, self.owners.at(at));
        let block = Block::new(size, alloc.usable, stack, tick, owner, alloc.api);
        if let Some(other) = self.blocks.insert(alloc.address, block) {
            match self.unfinished.remove(&alloc.address) {
                true => self.totals.releases += 1,
                // A call that was amid its record as recording went off ends behind that.
                false if self.is_off() => {}
                false => self.anomalies.alive_twice += 1,
            }
            self.inherited.remove(&alloc.address);
            self.left_behind(at.stream, &other);
        }
        self.temporary.came(at.stream, alloc.address);
        self.holders.add(stack, owner, size);
        self.heap.bytes = self.heap.bytes.saturating_add(size);
        self.heap.usable = self.heap.usable.saturating_add(block.usable());
        self.heap.blocks += 1;
        self.history.heap(tick, self.heap.bytes);
        self.totals.allocations += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(size);
        self.totals.usable_bytes = self.totals.usable_bytes.saturating_add(block.usable());
        self.totals.with_header += u64::from(alloc.usable % 16 == 8);
        self.moved(at.stream, size as i64);
        let peak = &self.heap_peak;
        if self.heap.is_larger(peak.bytes, peak.usable_bytes) {
            self.mark_heap_peak();
        }
        if self.rss.changed(&self.heap) {
            self.holders.mark_candidate();
        }
    }

    /// Memory may have gone: the process ended inside a realloc of it. If the
    /// address is given out again, it did.
    pub fn unfinished(&mut self, release: &Release) {
        self.unfinished.insert(release.address);
    }

    /// Memory went.
    #[inline]
    pub fn release(&mut self, at: At, release: &Release) {
        self.come_to(at);
        self.heap.event += 1;
        self.totals.releases += 1;
        let is_temporary = self.temporary.went(at.stream, release.address);
        let Some(block) = self.blocks.remove(release.address) else {
            self.unknown.note(release.address);
            return;
        };
        if is_temporary {
            self.totals.temporary += 1;
            self.holders.stacks.temporary(block.stack, block.size);
        }
        if !self.inherited.is_empty() && self.inherited.remove(&release.address) {
            self.totals.inherited_released += 1;
        }
        self.leave(at.stream, &block);
        self.rss.changed(&self.heap);
    }

    /// The same of a block that nobody saw go.
    #[cold]
    fn left_behind(&mut self, stream: u32, block: &Block) {
        self.leave(stream, block);
    }

    #[inline(always)]
    fn leave(&mut self, stream: u32, block: &Block) {
        self.holders.subtract(block.stack, block.owner, block.size);
        self.heap.bytes = self.heap.bytes.saturating_sub(block.size);
        self.heap.usable = self.heap.usable.saturating_sub(block.usable());
        self.heap.blocks = self.heap.blocks.saturating_sub(1);
        self.history.heap(self.heap.tick, self.heap.bytes);
        self.moved(stream, (block.size as i64).wrapping_neg());
    }

    #[inline]
    fn moved(&mut self, stream: u32, bytes: i64) {
        self.segments.moved(stream, bytes);
    }

    fn mark_heap_peak(&mut self) {
        self.heap_peak = PeakFigures {
            bytes: self.heap.bytes,
            usable_bytes: self.heap.usable,
            blocks: self.heap.blocks,
            event: self.heap.event,
            tick: self.heap.tick,
            error_bytes: 0,
        };
        self.holders.mark_heap_peak();
        self.regions.mark_heap_peak();
    }

    /// The releases so far that met nothing. Who reads the log again with them gives
    /// them back to [`Tally::tell_apart`].
    pub fn take_unknown(&mut self) -> UnknownReleases {
        std::mem::take(&mut self.unknown)
    }

    /// Which of them are of what was allocated before.
    pub fn tell_apart(&mut self, unknown: UnknownReleases) {
        self.unknown = unknown;
    }

    /// The stream took a stamp.
    pub fn stamp(&mut self, at: At, stamp: u64) {
        self.segments.stamped(at.stream, stamp);
    }

    /// A call asked for memory and got none.
    pub fn failed(&mut self, at: At, failure: &Failure, tables: &impl Tables) {
        self.come_to(at);
        let stack = self.stacks.stack(failure.stack, tables);
        self.failures.take(at, failure, stack);
    }

    /// Blocks came and went; of what was live when, they change nothing.
    pub fn passed(&mut self, at: At, passed: &Passed, tables: &impl Tables) {
        self.come_to(at);
        self.temporary.came(at.stream, 0);
        let blocks = passed.blocks;
        if blocks == 0 {
            self.rss.passed();
            return;
        }
        let stack = self.stacks.stack(passed.stack, tables);
        let bytes = passed.size.saturating_mul(blocks);
        let usable = passed.usable.saturating_mul(blocks);
        self.heap.event += blocks;
        self.holders
            .stacks
            .passed(stack, bytes, blocks, passed.temporary);
        let totals = &mut self.totals;
        totals.passed.blocks += blocks;
        totals.passed.bytes = totals.passed.bytes.saturating_add(bytes);
        totals.allocations += blocks;
        totals.releases += blocks;
        totals.bytes = totals.bytes.saturating_add(bytes);
        totals.usable_bytes = totals.usable_bytes.saturating_add(usable);
        totals.with_header += if passed.usable % 16 == 8 { blocks } else { 0 };
        totals.temporary += if passed.temporary { blocks } else { 0 };
    }

    /// Resident memory was read.
    pub fn rss(&mut self, at: At, rss: &Rss) {
        self.come_to(at);
        self.stamp(at, rss.stamp);
        let resident_kb = match rss.now_kb {
            0 => rss.peak_kb,
            now => now,
        };
        self.failures.resident_kb = resident_kb;
        self.history
            .resident(self.heap.tick, resident_kb.saturating_mul(1024));
        let Some(keeps) = self.rss.read(rss, &self.heap) else {
            return;
        };
        match keeps {
            true => self.holders.keep_candidate(),
            false => self.holders.mark_candidate(),
        }
        self.regions.read(keeps);
    }

    /// An entry of the second ledger.
    pub fn ledger(&mut self, at: At, entry: &Ledger, tables: &impl Tables) {
        self.come_to(at);
        // Of what the allocator maps for others nobody asks who did it.
        let stack = match entry.backing {
            true => 0,
            false => self.stacks.stack(entry.stack, tables),
        };
        self.regions.take(at.stream, entry, stack);
    }

    /// The parts of a stretch of addresses that no call ever mapped, nor gave a block in
    /// the neighbourhood of.
    pub fn unreached(&self, low: u64, high: u64) -> Vec<(u64, u64)> {
        let parts = self.blocks.untouched(low, high).into_iter();
        let parts = parts.flat_map(|(low, high)| self.regions.reached.gaps(low, high));
        parts.collect()
    }

    /// The stream belongs to this thread now. A thread may have another one, for
    /// what its allocator maps in the middle of a call.
    pub fn thread(&mut self, at: At, tid: u32, name: &[u8]) {
        self.scope(at.stream, &[]);
        self.named.take(at.tick, tid, name);
        let is_known = self.tids.values().any(|&known| known == tid);
        self.tids.insert(at.stream, tid);
        self.threads += u64::from(!is_known);
    }

    /// The stream's thread is in these scopes from here on, also in a parent's log.
    pub fn scope(&mut self, stream: u32, names: &[u8]) {
        self.owners.scopes.enter(stream, names);
    }

    /// Events are missing here.
    pub fn loss(&mut self, events: u64) {
        self.lost_in_place = self.lost_in_place.saturating_add(events);
    }

    /// The log is through.
    pub(crate) fn end(&mut self, facts: &Facts) {
        if let Some(tick) = facts.end_tick {
            self.heap.tick = self.heap.tick.max(tick);
        }
        self.history.end(self.heap.tick);
        self.choose_now();
        if self.rss.finish(&facts.rss, &self.heap) {
            self.holders.keep_candidate();
            self.regions.read(true);
        }
        if let Some(window) = &mut self.window {
            window.is_rss_peak_before = self.rss.is_before();
            window.is_heap_peak_before = window.folded_peak_bytes > self.heap_peak.bytes;
        }
        self.heap_peak.error_bytes = self.segments.bound();
        let UnknownReleases { count, twice, .. } = self.unknown;
        self.anomalies.released_twice = twice;
        let others = match self.options.forked {
            true => &mut self.anomalies.released_of_parent,
            false => &mut self.anomalies.released_from_before,
        };
        *others = count.saturating_sub(twice);
        let nameless = self
            .segments
            .streams()
            .filter(|&stream| !self.tids.contains_key(stream));
        self.threads += nameless.count() as u64;
    }
}
