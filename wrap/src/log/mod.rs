//! The log: how an event reaches the file, and what bounds it. It is told what
//! to write and does not know why: no hook and no setting is read here.
//!
//! * [`stream`], [`streams`] a thread's ring of the log, and who holds which
//! * [`sink`] where chunks come from and how they reach the disk
//! * [`tables`] the chunks of stacks and code addresses
//! * [`metalog`] the chunks of rare records: modules, notes, limits
//! * [`flight`] the flight recorder: a log of bounded size
//! * [`cull`] a log without blocks that lived shortly
#![allow(unsafe_code)]
//! # Safety
//! The order cells are mapped once and never given back, so slices over them
//! are `'static`.

pub mod cull;
pub mod flight;
pub mod metalog;
pub mod sink;
pub mod stream;
pub mod streams;
pub mod tables;

use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use cull::Cull;
use flight::Flight;
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::counter::Counter;
use memlog_format::order::CELLS;
use memlog_lockfree::order::Cells;
use memlog_lockfree::sync::AtomicU64 as Word;
use metalog::MetaLog;
use sink::{Chunk, Mode, Room, Sink, Use};
use streams::{Slots, Streams};
use tables::{Codes, Nodes, Ready};

/// Looks at a log that another thread is giving its file.
const PATIENCE: u32 = 4096;

/// What the user wants of the log.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Its size at most.
    pub max_bytes: u64,
    /// What its events may take before the oldest are folded; 0 for no bound.
    pub flight_bytes: u64,
    /// Whether chunks go out by writes, not by mappings.
    pub is_written: bool,
}

/// How many readings of resident memory were begun, to be compared only. Looked
/// at by each event, so that nothing else that is written may share its line.
#[repr(align(128))]
pub struct Readings(AtomicU32);

impl Readings {
    /// So many.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Another begins; how many there are with it.
    pub fn begin(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The log of this process.
pub struct Log {
    /// What all storeys stand on.
    pub ground: &'static Ground,
    /// What the log may take.
    pub room: Room,
    /// Where chunks come from.
    pub sink: Sink,
    /// The streams.
    pub streams: Streams,
    /// Stack nodes.
    pub nodes: Nodes,
    /// Code addresses.
    pub codes: Codes,
    ready: Ready,
    /// The meta chunks.
    pub meta: Bounded<MetaLog>,
    /// The bound of the log, where it has one.
    pub flight: Flight,
    /// What is left out of it.
    pub cull: Cull,
    /// Global order numbers.
    stamps: AtomicU64,
    /// Readings of resident memory so far.
    pub readings: Readings,
    /// Whether releases carry stacks.
    pub free_stacks: AtomicBool,
    /// Whether each event goes through at once: the end is near.
    pub draining: AtomicBool,
    /// Whether chunks go out by writes.
    written: AtomicBool,
    /// Whether the log, a child's, is still private memory.
    deferred: AtomicBool,
    /// Gives it its file, from above.
    materialize: fn() -> bool,
    cells: AtomicPtr<Word>,
    mapped_bytes: AtomicI64,
}

impl Log {
    /// No log yet. `room` is its own, which its parts refer to; `materialize`
    /// makes the file of a deferred one.
    pub const fn new(
        ground: &'static Ground,
        room: &'static Room,
        slots: &'static Slots,
        materialize: fn() -> bool,
    ) -> Self {
        Self {
            ground,
            room: Room::new(),
            sink: Sink::new(ground, room),
            streams: Streams::new(slots),
            nodes: Nodes::new(),
            codes: Codes::new(),
            ready: Ready::new(),
            meta: Bounded::new(MetaLog::new(), ground),
            flight: Flight::new(ground),
            cull: Cull::new(ground),
            stamps: AtomicU64::new(0),
            readings: Readings(AtomicU32::new(0)),
            free_stacks: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            written: AtomicBool::new(false),
            deferred: AtomicBool::new(false),
            materialize,
            cells: AtomicPtr::new(core::ptr::null_mut()),
            mapped_bytes: AtomicI64::new(0),
        }
    }

    /// The order cells.
    #[inline]
    pub fn cells(&self) -> Cells {
        let words = self.cells.load(Ordering::Relaxed);
        if words.is_null() {
            return Cells::new(&[]);
        }
        // SAFETY: set at start to CELLS zeroed words that stay for ever.
        Cells::new(unsafe { core::slice::from_raw_parts(words, CELLS) })
    }

    /// Maps the order cells; false if memory is refused.
    pub fn map_cells(&self) -> bool {
        if !self.cells.load(Ordering::Relaxed).is_null() {
            // A forked child finds them wiped.
            return true;
        }
        let words = Os::memory_wiped_on_fork(Cells::BYTES);
        self.cells.store(words.cast(), Ordering::Relaxed);
        self.ground.note_own(Cells::BYTES as u64);
        !words.is_null()
    }

    /// The next global order number.
    pub fn stamp(&self) -> u64 {
        self.stamps.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Notes how chunks reach the file.
    pub fn set_written(&self, written: bool) {
        self.written.store(written, Ordering::Relaxed);
    }

    /// Whether chunks go out by writes.
    pub fn writes_out(&self) -> bool {
        self.written.load(Ordering::Relaxed)
    }

    /// The next chunk of the log.
    pub fn carve(&self, patience: Patience, usage: Use) -> Option<Chunk> {
        if !self.sink.may_have_room() {
            return None;
        }
        if patience == Patience::Bounded {
            self.ground.must_be_quiet();
        }
        let streams = self.streams.in_use();
        let chunk = self.sink.carve(patience, usage, streams, |chunk| {
            let chunks = u64::from(chunk.index) + 1;
            self.ground.counters.set(Counter::Chunks, chunks);
        })?;
        self.note_mapped(i64::from(chunk.ready));
        Some(chunk)
    }

    /// The next chunk of events, also where another thread is just giving the
    /// log its file.
    pub fn carve_when_ready(&'static self, usage: Use) -> Option<Chunk> {
        for _ in 0..PATIENCE {
            if self.sink.mode() != Mode::Deferred {
                break;
            }
            if let Some(chunk) = self.flight.carve(self, Patience::Bounded, usage) {
                return Some(chunk);
            }
            if self.ground.is_quiet() {
                return None;
            }
            self.materialize();
            Os::relax();
        }
        self.flight.carve(self, Patience::Bounded, usage)
    }

    /// Whether a child's log is still to be made.
    #[inline]
    pub fn is_deferred(&self) -> bool {
        self.deferred.load(Ordering::Relaxed)
    }

    /// A child's log begins as private memory.
    pub fn defer(&self, wanted: &Wanted) -> bool {
        let is_deferred = self.sink.defer(wanted);
        self.deferred.store(is_deferred, Ordering::Relaxed);
        is_deferred
    }

    /// Takes it upon the caller to make the log's file; false if another has.
    pub fn take_deferred(&self) -> bool {
        self.deferred.swap(false, Ordering::AcqRel)
    }

    /// Gives a deferred log its file.
    #[cold]
    pub fn materialize(&self) -> bool {
        (self.materialize)()
    }

    /// Makes more of a chunk ready, at least so many bytes; how many are, or
    /// nothing where there is no room, or a filter may kill who asks for it. Its
    /// holder may be anybody: nothing is written.
    #[cold]
    pub fn make_ready(&self, chunk: Chunk, least: usize) -> Option<u32> {
        let mut ready = chunk.ready as usize;
        while ready < least.min(CHUNK_SIZE) {
            ready = sink::ready_next(ready);
        }
        let more = ready
            .checked_sub(chunk.ready as usize)
            .filter(|&more| more > 0)?;
        let ground = self.ground;
        if ground.is_quiet() || !self.sink.may_have_room() || ground.must_be_quiet() {
            return None;
        }
        let at = chunk.at.wrapping_add(chunk.ready as usize);
        let is_ready = self.sink.make_ready(at, more);
        if is_ready {
            self.note_mapped(more as i64);
        }
        is_ready.then_some(ready as u32)
    }

    /// A chunk of the log went out of memory, of which so much was ready.
    pub fn note_sealed(&self, ready: u32) {
        self.note_mapped(-i64::from(ready));
    }

    fn note_mapped(&self, bytes: i64) {
        let now = self.mapped_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let now = now.max(0) as u64;
        self.ground.counters.set(Counter::MappedLogBytes, now);
    }

    /// The recorder's own part of resident memory, in kilobytes.
    pub fn own_kb(&self) -> u64 {
        if Os::FIXED_BYTES != 0 {
            // Chunks lie in it as well.
            return Os::FIXED_BYTES / 1024;
        }
        let counters = &self.ground.counters;
        let private = counters.get(Counter::OwnBytes);
        let mapped = counters.get(Counter::MappedLogBytes);
        (private + mapped + self.room.unused_bytes()) / 1024
    }

    /// Writes out what all streams have in their chunks so far.
    pub fn write_held(&self) {
        self.sink.write_held(self.streams.count());
    }

    /// Maps windows and streams ahead while it is allowed.
    pub fn stock_up(&'static self, stock: sink::Stock) {
        self.sink.stock_up(stock, self.streams.in_use());
        self.streams.stock(self);
    }

    /// Whether somebody is at work on what several threads share.
    pub fn has_held_lock(&self) -> bool {
        self.meta.is_held() || self.sink.is_held()
    }

    /// A forked child's: nothing of the parent's log is its own.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    pub unsafe fn reset_in_child(&self) {
        // SAFETY: by the caller, for each.
        unsafe {
            self.flight.reset_in_child(&self.sink);
            self.cull.reset_in_child();
            self.sink.reset_in_child();
            self.meta.force_open();
            self.streams.reset(self.ground);
        }
        self.nodes.reset();
        self.codes.reset();
        self.ready.reset();
        self.stamps.store(0, Ordering::Relaxed);
        self.mapped_bytes.store(0, Ordering::Relaxed);
        self.draining.store(false, Ordering::Relaxed);
    }
}
