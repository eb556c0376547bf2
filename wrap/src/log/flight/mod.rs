//! The flight recorder: a log of bounded size. When its events chunks have
//! taken their bound, the oldest is folded into a table of what is live, which
//! lies in the log too, and is given out again. So the log says what is live
//! with its stacks, and all events of the last while.
//!
//! Nothing of this is on the hot path: a fold is the price of a new chunk, once
//! in some ten thousand events, and takes about as long as these did.
//!
//! * `ring`: which chunk is the oldest, and what nothing waits for any more
//! * `folder`: one fold after the other, and what a death leaves of one
//! * `apply`: a chunk's records, into the table and the sums
//! * `table`: the table
#![allow(unsafe_code)]
//! # Safety
//! The state is used under its lock. Slots and directory are memory of the
//! process that stays for ever; pages and the chunk of the folds stay mapped.

pub mod apply;
pub mod folder;
pub mod ring;
pub mod table;

use super::sink::{self, Chunk, Mode, Sink, Use};
use super::streams::MAX_STREAMS;
use super::{Log, Wanted};
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicU32};
use folder::Folder;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::Counter;
use memlog_format::live::folds;
use memlog_lockfree::sync::{AtomicU64, Ordering};
use ring::Slot;
use table::{MAX_DEPTH, Pages};

/// No recorder goes round in fewer chunks.
const LEAST_CHUNKS: usize = 8;
/// Chunks that were forked children's private memory are folded and not given
/// out again: no more than these in a row.
const PRIVATE: usize = 8;

/// The flight recorder of the process.
pub struct Flight {
    on: AtomicBool,
    /// The number of the last seal.
    seals: AtomicU64,
    /// The thread that folds, 0 for none.
    folder: AtomicU32,
    state: Bounded<State>,
}

impl Flight {
    /// Off.
    pub const fn new(ground: &'static Ground) -> Self {
        Self {
            on: AtomicBool::new(false),
            seals: AtomicU64::new(0),
            folder: AtomicU32::new(0),
            state: Bounded::new(State::new(), ground),
        }
    }

    /// Whether sealed chunks are kept to be folded.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Begins with a new log, if that is wanted and chunks lie in its file.
    pub fn begin(&self, log: &'static Log, wanted: &Wanted) {
        if wanted.flight_bytes == 0 || log.sink.mode() == Mode::Written {
            return;
        }
        // The table and the stacks need room as well.
        let bytes = wanted.flight_bytes.min(wanted.max_bytes / 2);
        let chunks = usize::try_from(bytes / CHUNK_SIZE as u64).unwrap_or(usize::MAX);
        let is_ready = self
            .state
            .with(Patience::Bounded, |state| state.begin(log, chunks));
        self.on.store(is_ready == Some(true), Ordering::Relaxed);
    }

    /// Goes on without: chunks go out by writes.
    pub fn stop(&self) {
        self.on.store(false, Ordering::Relaxed);
    }

    /// The next chunk of events; nothing if there is none.
    pub fn carve(&self, log: &Log, patience: Patience, usage: Use) -> Option<Chunk> {
        if !self.is_on() {
            return log.carve(patience, usage);
        }
        if log.ground.is_parted() {
            return None;
        }
        let tid = Os::tid();
        // A signal handler that interrupted this very thread's fold.
        if self.folder.load(Ordering::Relaxed) == tid {
            return None;
        }
        self.state.with(patience, |state| {
            self.folder.store(tid, Ordering::Relaxed);
            let chunk = state.next_chunk(log, (patience, usage), &self.seals);
            self.folder.store(0, Ordering::Relaxed);
            chunk
        })?
    }

    /// Takes a chunk that was sealed; false if it is not kept.
    ///
    /// # Safety
    /// The caller held the chunk and has forgotten it.
    pub unsafe fn take_sealed(&self, ground: &Ground, chunk: Chunk) -> bool {
        if self.is_on() && !ground.is_parted() {
            let seal = self.seals.fetch_add(1, Ordering::AcqRel) + 1;
            // SAFETY: by the caller; sealed chunks stay mapped where this is on.
            unsafe { ring::mark_sealed(chunk, seal) };
        }
        self.is_on()
    }

    /// A forked child's copy: chunks and table are the parent's.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    pub unsafe fn reset_in_child(&self, sink: &Sink) {
        let is_torn = self.state.is_held();
        // SAFETY: by the caller.
        unsafe { self.state.force_open() };
        self.state
            .with(Patience::Bounded, |state| state.leave_parent(sink, is_torn));
        self.on.store(false, Ordering::Relaxed);
        self.seals.store(0, Ordering::Relaxed);
        self.folder.store(0, Ordering::Relaxed);
    }
}

/// What the lock guards.
struct State {
    slots: *mut Slot,
    count: usize,
    capacity: usize,
    /// Chunks that are taken before the first is folded.
    bound: usize,
    folder: Folder<LogPages>,
}

// SAFETY: the raw pointers are memory of the process, used under the lock.
unsafe impl Send for State {}

impl State {
    const fn new() -> Self {
        Self {
            slots: core::ptr::null_mut(),
            count: 0,
            capacity: 0,
            bound: 0,
            folder: Folder::new(LogPages::new()),
        }
    }

    fn begin(&mut self, log: &'static Log, chunks: usize) -> bool {
        self.folder.table.pages.log = Some(log);
        self.bound = chunks.clamp(LEAST_CHUNKS, 1 << 24);
        let capacity = self.bound + MAX_STREAMS + PRIVATE;
        if self.capacity < capacity {
            let bytes = capacity * size_of::<Slot>();
            self.slots = Os::memory(bytes.next_multiple_of(4096)).cast();
            self.capacity = if self.slots.is_null() { 0 } else { capacity };
            log.ground.note_own((self.bound * size_of::<Slot>()) as u64);
        }
        self.capacity >= capacity && self.folder.table.pages.take_directory()
    }

    fn slots(&mut self) -> &'static mut [Slot] {
        if self.slots.is_null() {
            return &mut [];
        }
        // SAFETY: `add` wrote so many, and memory of slots is never given back.
        unsafe { core::slice::from_raw_parts_mut(self.slots, self.count) }
    }

    fn next_chunk(
        &mut self,
        log: &Log,
        (patience, usage): (Patience, Use),
        seals: &AtomicU64,
    ) -> Option<Chunk> {
        let is_full = self.count >= self.bound;
        if !is_full && let Some(chunk) = log.carve(patience, usage) {
            return self.add(chunk);
        }
        if let Some(chunk) = self.fold_oldest(log, seals) {
            return Some(chunk);
        }
        // Every chunk is some thread's: each may have one, whatever the bound.
        match is_full {
            true => log.carve(patience, usage).and_then(|chunk| self.add(chunk)),
            false => None,
        }
    }

    fn add(&mut self, chunk: Chunk) -> Option<Chunk> {
        if self.count >= self.capacity {
            return None;
        }
        // SAFETY: the memory has room for `capacity` slots.
        unsafe { self.slots.add(self.count).write(Slot::new(chunk)) };
        self.count += 1;
        Some(chunk)
    }

    /// Folds the chunk that was sealed first, and gives it out again.
    fn fold_oldest(&mut self, log: &Log, seals: &AtomicU64) -> Option<Chunk> {
        if log.sink.mode() != Mode::Mapped || !self.open_table(log) {
            return None;
        }
        for _ in 0..PRIVATE {
            let index = ring::oldest(self.slots())?;
            let slot = self.slots().get_mut(index)?;
            let until = slot.committed();
            let chunk = slot.chunk;
            let mut is_private = false;
            let lost = self.folder.fold(slot, until, true, |slot| {
                is_private = log.sink.void_private(chunk);
                slot.clear();
            });
            if is_private {
                self.count -= 1;
                // SAFETY: the last one, which the others go on without.
                *slot = unsafe { self.slots.add(self.count).read() };
                self.folder.give_up_round();
                count_lost(log, lost);
                continue;
            }
            slot.recycle();
            slot.note_ready(until);
            let chunk = slot.chunk;
            let last = seals.load(Ordering::Acquire);
            let is_private = |slot: &Slot| log.sink.is_private(slot.chunk);
            let slots = self.slots();
            count_lost(log, lost + self.folder.go_on(slots, last, is_private));
            return Some(chunk);
        }
        None
    }

    /// Takes the chunks that the first fold needs.
    fn open_table(&mut self, log: &Log) -> bool {
        if self.folder.page.is_none() {
            // Before there is a chunk that older readers do not know.
            log.ground.counters.raise_version();
            let Some(chunk) = log.carve(Patience::Bounded, Use::Much) else {
                return false;
            };
            let header = Header {
                committed: (HEADER_SIZE + 8 * (folds::sums(1) + 16)) as u32,
                ..Header::new(Kind::Folds, 0, 0)
            };
            // SAFETY: carved just now.
            unsafe { sink::begin(chunk, &header) };
            self.folder.page = Some(chunk.at as usize);
            let bound_bytes = (self.bound * CHUNK_SIZE) as u64;
            self.folder.say(folds::BOUND, bound_bytes);
        }
        self.folder.table.begin()
    }

    /// In a forked child: gives up the mappings of the parent's chunks, unless
    /// another thread was amid changing what they are.
    fn leave_parent(&mut self, sink: &Sink, is_torn: bool) {
        let is_mapped = sink.mode() == Mode::Mapped;
        let give_up = |page: usize| {
            // SAFETY: this process's mapping of a chunk of its parent's.
            unsafe { Os::unmap(page as *mut u8, CHUNK_SIZE) };
        };
        if !is_torn {
            for slot in self.slots() {
                if is_mapped && !sink.is_private(slot.chunk) {
                    give_up(slot.chunk.at as usize);
                }
            }
            self.folder.table.each_page_last(give_up);
            self.folder.page.into_iter().for_each(give_up);
        }
        self.count = 0;
        self.folder.forget();
        self.folder.table.pages.count = 0;
    }
}

/// Blocks that the table had no room for are not among what is live.
fn count_lost(log: &Log, lost: u64) {
    if lost > 0 {
        log.ground.counters.add(Counter::LostNoRoom, lost);
    }
}

/// A word of a mapped chunk.
fn word_at(chunk: usize, word: usize) -> &'static AtomicU64 {
    // SAFETY: chunks of the table stay mapped, are aligned, and have as many
    // words as their users ask for.
    unsafe { &*(chunk as *const AtomicU64).wrapping_add(word) }
}

/// Release: a reader of the file, after a death, sees the stores before it.
fn store(chunk: usize, word: usize, value: u64) {
    word_at(chunk, word).store(value.to_le(), Ordering::Release);
}

/// Pages in chunks of the log: a page is its address.
struct LogPages {
    log: Option<&'static Log>,
    directory: *mut usize,
    count: u32,
}

impl LogPages {
    const fn new() -> Self {
        Self {
            log: None,
            directory: core::ptr::null_mut(),
            count: 0,
        }
    }

    /// Memory of which only what is used is touched.
    fn take_directory(&mut self) -> bool {
        if self.directory.is_null() {
            self.directory = Os::memory(size_of::<usize>() << MAX_DEPTH).cast();
        }
        !self.directory.is_null()
    }
}

impl Pages for LogPages {
    fn load(&self, page: usize, word: usize) -> u64 {
        u64::from_le(word_at(page, word).load(Ordering::Relaxed))
    }

    fn store(&mut self, page: usize, word: usize, value: u64) {
        store(page, word, value);
    }

    fn page(&mut self) -> Option<usize> {
        let chunk = self.log?.carve(Patience::Bounded, Use::Much)?;
        let header = sink::table_header(Kind::Live, self.count);
        // SAFETY: carved just now; pages stay mapped for ever.
        unsafe { sink::begin(chunk, &header) };
        self.count += 1;
        Some(chunk.at as usize)
    }

    fn directory(&self, place: usize) -> usize {
        // SAFETY: the memory has 2^MAX_DEPTH places.
        unsafe { self.directory.add(place).read() }
    }

    fn set_directory(&mut self, place: usize, page: usize) {
        // SAFETY: as above.
        unsafe { self.directory.add(place).write(page) };
    }
}
