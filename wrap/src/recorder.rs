//! The one global of the recorder, and who may touch which part of it.
//!
//! ```text
//! life       any thread, first of all             life.rs
//! streams    claimed by one thread at a time      streams.rs, claims.rs
//! nodes codes cells   lock-free, all threads      table.rs, order.rs
//! code       slow path, bounded lock              codemap.rs
//! flight     slow path, bounded lock              flight/
//! sink meta  slow path, bounded lock              sink.rs, metalog.rs
//! settings   written by the starter, read after On
//! ```
#![allow(unsafe_code)]
//! # Safety
//! The order cells are mapped once and never given back, so slices over them
//! are `'static`.

mod memory;

pub use memory::{CodeMemory, NodeMemory};

use crate::arch;
use crate::clock;
use crate::codemap::CodeMap;
use crate::counters::Counters;
use crate::flight::Flight;
use crate::life::{Life, LifeWord};
use crate::lock::{Bounded, Patience};
use crate::metalog::MetaLog;
use crate::order::Cells;
use crate::settings::Settings;
use crate::sink::{self, Chunk, Sink, Use};
use crate::streams::{DOORS, Streams};
use crate::sync::AtomicU64 as Word;
use crate::sys::{Os, Sys};
use crate::table::Table;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::counter::Counter;
use memlog_format::order::CELLS;
use memlog_format::table::{CODES_PER_CHUNK, FIRST_CODE, FIRST_NODE, NODES_PER_CHUNK};

/// Stack nodes: on Linux 64 million of them.
pub type Nodes = Table<1, NODES_PER_CHUNK, FIRST_NODE, { Os::SIZES.node_chunks }>;
/// Code addresses: on Linux 8 million of them.
pub type Codes = Table<2, CODES_PER_CHUNK, FIRST_CODE, { Os::SIZES.code_chunks }>;

/// In a generation: every capture is verified, so none takes the short way.
pub const VERIFYING: u64 = 1 << 63;

/// Everything.
pub struct Recorder {
    /// What is counted.
    pub counters: Counters,
    /// Where chunks come from.
    pub sink: Sink,
    /// The streams.
    pub streams: Streams,
    /// Stack nodes.
    pub nodes: Nodes,
    /// Code addresses.
    pub codes: Codes,
    /// Modules and rules.
    pub code: Bounded<CodeMap>,
    /// The meta chunks.
    pub meta: Bounded<MetaLog>,
    /// What the user wants.
    pub settings: Bounded<Settings>,
    /// The generation of the rules; a change empties every cache. With
    /// [`VERIFYING`], that of no stream.
    pub generation: AtomicU64,
    /// Global order numbers.
    pub stamps: AtomicU64,
    /// The second ledger's order numbers.
    pub ledger: AtomicU64,
    /// The bound of the log, where it has one.
    pub flight: Flight,
    /// Resident memory, as last seen.
    pub rss: crate::rss::Shared,
    /// How near the limits of memory are.
    pub guard: crate::guard::Guard,
    /// Whether releases carry stacks.
    pub free_stacks: AtomicBool,
    /// Whether chunks go out by writes.
    written: AtomicBool,
    /// Whether each event goes through at once: the end is near.
    pub draining: AtomicBool,
    /// The process that the recorder was started in.
    pub pid: AtomicU32,
    cells: AtomicPtr<Word>,
    log_bytes: AtomicI64,
    quiet: AtomicU32,
    parted: AtomicBool,
}

/// In `quiet`: a filter is there.
const THERE: u32 = 1;
/// One may come by a call that no door sees, for the process has given up
/// privileges.
const HERALDED: u32 = 2;
/// One is coming: this once for each call that may set it.
const COMING: u32 = 4;

/// The recorder of this process.
pub static RECORDER: Recorder = Recorder::new();

impl Recorder {
    const fn new() -> Self {
        Self {
            counters: Counters::new(),
            sink: Sink::new(),
            streams: Streams::new(&DOORS),
            nodes: Nodes::new(),
            codes: Codes::new(),
            code: Bounded::new(CodeMap::new()),
            meta: Bounded::new(MetaLog::new()),
            settings: Bounded::new(Settings::new()),
            generation: AtomicU64::new(1),
            stamps: AtomicU64::new(0),
            ledger: AtomicU64::new(0),
            flight: Flight::new(),
            rss: crate::rss::Shared::new(),
            guard: crate::guard::Guard::new(),
            parted: AtomicBool::new(false),
            free_stacks: AtomicBool::new(false),
            written: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            pid: AtomicU32::new(0),
            cells: AtomicPtr::new(core::ptr::null_mut()),
            log_bytes: AtomicI64::new(0),
            quiet: AtomicU32::new(0),
        }
    }

    /// The life word.
    #[inline]
    pub fn life(&self) -> LifeWord<'static> {
        // SAFETY: a static word of the assembly, at home on its own page.
        LifeWord(unsafe { &arch::memlog_life })
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

    /// Maps the tables; false if memory is refused.
    pub fn map_tables(&self) -> bool {
        if !self.cells.load(Ordering::Relaxed).is_null() {
            // A forked child finds them wiped.
            return true;
        }
        let words = Os::memory_wiped_on_fork(Cells::BYTES);
        self.cells.store(words.cast(), Ordering::Relaxed);
        self.note_own(Cells::BYTES as u64);
        !words.is_null()
    }

    /// The next global order number.
    pub fn stamp(&self) -> u64 {
        self.stamps.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Stops recording for good.
    #[cold]
    pub fn stop(&self) {
        self.counters.set(Counter::Stopped, 1);
        self.life().turn(Life::Stopped);
    }

    /// A filter is there: no more unusual system calls, for good.
    #[cold]
    fn be_quiet(&self) {
        let before = self.quiet.fetch_or(THERE, Ordering::AcqRel);
        if before & THERE == 0 {
            self.counters.set(Counter::QuietSince, clock::tick() + 1);
        }
        self.sink.heed_quiet();
    }

    /// A call that may set a filter is about to be made: none till it is known
    /// what came of it.
    pub fn expect_filter(&self) {
        self.quiet.fetch_add(COMING, Ordering::AcqRel);
        self.sink.heed_quiet();
    }

    /// That call is through.
    pub fn end_expecting(&self, is_there: bool) {
        if is_there {
            self.be_quiet();
        }
        self.quiet.fetch_sub(COMING, Ordering::AcqRel);
        self.sink.heed_quiet();
    }

    /// In a forked child: a call of the parent's other threads is none of its.
    pub fn expect_no_filter(&self) {
        let before = self.quiet.fetch_and(THERE | HERALDED, Ordering::AcqRel);
        if before >= COMING {
            self.sink.heed_quiet();
        }
    }

    /// Whether a filter is there, for good.
    pub fn is_filtered(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & THERE != 0
    }

    /// A filter may come by a call that no door sees.
    pub fn note_herald(&self) {
        self.quiet.fetch_or(HERALDED, Ordering::AcqRel);
    }

    /// Whether that is so.
    pub fn is_heralded(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & HERALDED != 0
    }

    /// Notes how chunks reach the file.
    pub fn set_written(&self, written: bool) {
        self.written.store(written, Ordering::Relaxed);
    }

    /// Whether chunks go out by writes.
    pub fn writes_out(&self) -> bool {
        self.written.load(Ordering::Relaxed)
    }

    /// Whether unusual system calls are out of the question.
    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & !HERALDED != 0
    }

    /// The same on the way to what takes system calls: where a filter may have
    /// come unseen, that is asked.
    #[inline]
    pub fn is_quiet_by_now(&self) -> bool {
        match self.quiet.load(Ordering::Relaxed) {
            0 => false,
            HERALDED => self.must_be_quiet(),
            _ => true,
        }
    }

    /// In a child that has just forked: the log is the parent's from now on.
    pub fn part(&self) {
        self.parted.store(true, Ordering::Relaxed);
    }

    /// Whether the log is the parent's, and not this process's: its file is not
    /// to be touched, and no chunk of it is given out. A fork that no door has
    /// seen wipes the life word all the same.
    pub fn is_parted(&self) -> bool {
        self.was_parted() || self.life().get() == Life::Off
    }

    /// Whether a door saw it part from its parent: who holds a lock is not here.
    pub fn was_parted(&self) -> bool {
        self.parted.load(Ordering::Relaxed)
    }

    /// Whether somebody was at work on what several threads share.
    pub fn has_held_lock(&self) -> bool {
        self.meta.is_held() || self.code.is_held() || self.settings.is_held() || self.sink.is_held()
    }

    /// Before files are opened: whether that is out of the question, for a
    /// filter came that no door has seen. The question itself kills only where
    /// what follows would as well: hardly a filter lets files be opened and
    /// forbids a process to ask for its filter.
    #[cold]
    pub fn must_be_quiet(&self) -> bool {
        if !self.is_quiet() && !Os::was_filtered() && Os::is_filtered() {
            self.be_quiet();
        }
        self.is_quiet()
    }

    /// Notes private memory of ours.
    pub fn note_own(&self, bytes: u64) {
        if Os::FIXED_BYTES == 0 {
            self.counters.add(Counter::OwnBytes, bytes);
        } else {
            self.counters.set(Counter::OwnBytes, Os::FIXED_BYTES);
        }
    }

    /// Private memory of ours went, or is counted elsewhere from now on.
    pub fn note_gone(&self, bytes: u64) {
        if Os::FIXED_BYTES == 0 {
            self.counters.sub(Counter::OwnBytes, bytes);
        }
    }

    /// The next chunk of the log.
    pub fn carve(&self, patience: Patience, usage: Use) -> Option<Chunk> {
        if !self.sink.may_have_room() {
            return None;
        }
        if patience == Patience::Bounded {
            self.must_be_quiet();
        }
        let chunk = self.sink.carve(patience, usage, |chunk| {
            let chunks = u64::from(chunk.index) + 1;
            self.counters.set(Counter::Chunks, chunks);
        })?;
        self.note_log_bytes(i64::from(chunk.ready));
        Some(chunk)
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
        if self.is_quiet() || !self.sink.may_have_room() || self.must_be_quiet() {
            return None;
        }
        let at = chunk.at.wrapping_add(chunk.ready as usize);
        let is_ready = self.sink.make_ready(at, more);
        if is_ready {
            self.note_log_bytes(more as i64);
        }
        is_ready.then_some(ready as u32)
    }

    /// A chunk of the log went out of memory, of which so much was ready.
    pub fn note_sealed(&self, ready: u32) {
        self.note_log_bytes(-i64::from(ready));
    }

    fn note_log_bytes(&self, bytes: i64) {
        let now = self.log_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.counters
            .set(Counter::MappedLogBytes, now.max(0) as u64);
    }

    /// The recorder's own part of resident memory, in kilobytes.
    pub fn own_kb(&self) -> u64 {
        if Os::FIXED_BYTES != 0 {
            // Chunks lie in it as well.
            return Os::FIXED_BYTES / 1024;
        }
        let private = self.counters.get(Counter::OwnBytes);
        let mapped = self.counters.get(Counter::MappedLogBytes);
        (private + mapped + self.sink.unused_window_bytes()) / 1024
    }

    /// From here on every capture is verified.
    pub fn verify(&self) {
        self.generation.fetch_or(VERIFYING, Ordering::AcqRel);
    }

    /// Rules have changed: every cache is to be emptied.
    pub fn next_generation(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// A forked child's: nothing of the parent's recording is its own.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    pub unsafe fn reset_in_child(&self) {
        // SAFETY: by the caller, for each.
        unsafe {
            self.counters.reset();
            self.flight.reset_in_child();
            self.sink.reset_in_child();
            self.code.force_open();
            self.meta.force_open();
            self.settings.force_open();
            self.guard.reset_in_child();
            self.streams.reset();
        }
        self.nodes.reset();
        self.codes.reset();
        memory::reset();
        self.rss.reset();
        self.stamps.store(0, Ordering::Relaxed);
        self.ledger.store(0, Ordering::Relaxed);
        self.log_bytes.store(0, Ordering::Relaxed);
        self.draining.store(false, Ordering::Relaxed);
        self.parted.store(false, Ordering::Relaxed);
        self.next_generation();
    }
}
