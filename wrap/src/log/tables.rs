//! Where the tables of stacks and code addresses get their memory, and how much
//! of it may be written to.
#![allow(unsafe_code)]
//! # Safety
//! Memory for tables is mapped once and never given back, so slices over it
//! are `'static`.

use super::Log;
use super::sink::{self, Chunk, Use};
use crate::platform::ground::Ground;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicU32, Ordering};
use memlog_format::chunk::{CHUNK_SIZE, Kind};
use memlog_format::counter::Counter;
use memlog_format::table::{CODES_PER_CHUNK, FIRST_CODE, FIRST_NODE, NODES_PER_CHUNK};
use memlog_lockfree::sync::AtomicU64 as Word;
use memlog_lockfree::table::{IdTable, Memory};

/// Stack nodes: on Linux 64 million of them.
pub type Nodes = IdTable<1, NODES_PER_CHUNK, FIRST_NODE, { Os::SIZES.node_chunks }>;
/// Code addresses: on Linux 8 million of them.
pub type Codes = IdTable<2, CODES_PER_CHUNK, FIRST_CODE, { Os::SIZES.code_chunks }>;

/// Memory of the stack nodes.
pub struct NodeMemory(pub &'static Log, pub Patience);
/// Memory of the code addresses.
pub struct CodeMemory(pub &'static Log, pub Patience);

impl Log {
    /// Maps the tables' first indexes, before the program's main: they are small, and where
    /// recording goes on later they would come to lie in a hole that the program made, and may
    /// unmap once more.
    pub fn take_first_indexes(&'static self) {
        self.nodes.make_room(&NodeMemory(self, Patience::Bounded));
        self.codes.make_room(&CodeMemory(self, Patience::Bounded));
    }
}

fn index_words(ground: &Ground, words: usize) -> Option<&'static [Word]> {
    if ground.is_quiet_by_now() {
        return None;
    }
    let memory = Os::memory_wiped_on_fork(words * 8).cast::<Word>();
    if memory.is_null() {
        ground.counters.add(Counter::Refused, 1);
        return None;
    }
    ground.note_own(words as u64 * 8);
    // SAFETY: fresh zeroed memory of that size, never given back.
    Some(unsafe { core::slice::from_raw_parts(memory, words) })
}

fn retire_words(ground: &Ground, index: &'static [Word]) {
    let bytes = size_of_val(index);
    // SAFETY: memory of `index_words`; whoever still reads it finds it empty,
    // which costs him a second id and nothing else.
    unsafe { Os::zero(index.as_ptr() as *mut u8, bytes) };
    ground.note_gone(bytes as u64);
}

/// How much of the tables' first chunks is ready.
pub struct Ready {
    nodes: Few,
    codes: Few,
}

impl Ready {
    /// All of them, as there is none.
    pub const fn new() -> Self {
        Self {
            nodes: Few::new(),
            codes: Few::new(),
        }
    }

    /// A forked child's: its tables are its own.
    pub fn reset(&self) {
        self.nodes.reset();
        self.codes.reset();
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self::new()
    }
}

/// The same of one table, as far as its chunks are not ready as a whole.
struct Few([AtomicU32; LITTLE_CHUNKS]);

/// Chunks of a table that are made ready by the page: the first, and in a forked
/// child also the one that follows when it gets a file.
const LITTLE_CHUNKS: usize = 2;

impl Few {
    const fn new() -> Self {
        Self([const { AtomicU32::new(CHUNK_SIZE as u32) }; LITTLE_CHUNKS])
    }

    fn reset(&self) {
        for ready in &self.0 {
            ready.store(CHUNK_SIZE as u32, Ordering::Relaxed);
        }
    }

    /// Notes a chunk; where two threads each made one, the smaller counts.
    fn begin(&self, ordinal: u32, chunk: &Chunk) {
        if let Some(ready) = self.0.get(ordinal as usize) {
            ready.fetch_min(chunk.ready, Ordering::AcqRel);
        }
    }

    /// Makes sure of a chunk's first bytes; false if there is no room for them.
    #[inline]
    fn reach(&self, log: &Log, ordinal: u32, at: usize, bytes: usize) -> bool {
        let Some(place) = self.0.get(ordinal as usize) else {
            return true;
        };
        let ready = place.load(Ordering::Acquire);
        bytes <= ready as usize || Self::reach_further(log, place, ready, at, bytes)
    }

    #[cold]
    fn reach_further(log: &Log, place: &AtomicU32, ready: u32, at: usize, bytes: usize) -> bool {
        let chunk = Chunk {
            at: at as *mut u8,
            index: 0,
            ready,
        };
        let Some(further) = log.make_ready(chunk, bytes) else {
            return false;
        };
        // If others were faster, theirs is right as well.
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let _ = place.compare_exchange(ready, further, order.0, order.1);
        true
    }
}

fn table_chunk(
    log: &Log,
    kind: Kind,
    ordinal: u32,
    patience: Patience,
    ready: &Few,
) -> Option<&'static [Word]> {
    let usage = match (ordinal as usize) < LITTLE_CHUNKS {
        true => Use::Little,
        false => Use::Much,
    };
    let chunk = log.carve(patience, usage)?;
    ready.begin(ordinal, &chunk);
    // SAFETY: carved just now; a table's chunk stays mapped for ever.
    unsafe { sink::begin(chunk, &sink::table_header(kind, ordinal)) };
    log.meta.with(patience, |meta| meta.note_table_chunk(chunk));
    // SAFETY: as above; chunks are far better aligned than words.
    Some(unsafe { core::slice::from_raw_parts(chunk.at.cast::<Word>(), CHUNK_SIZE / 8) })
}

/// A table's chunk that a race left over: empty for ever, which readers skip.
fn abandon_chunk(chunk: &'static [Word]) {
    for word in chunk.iter().take(8) {
        word.store(0, Ordering::Relaxed);
    }
}

impl Memory for NodeMemory {
    fn index(&self, words: usize) -> Option<&'static [Word]> {
        index_words(self.0.ground, words)
    }
    fn retire(&self, index: &'static [Word]) {
        retire_words(self.0.ground, index);
    }
    fn chunk(&self, ordinal: u32) -> Option<&'static [Word]> {
        table_chunk(self.0, Kind::Nodes, ordinal, self.1, &self.0.ready.nodes)
    }
    fn reach(&self, ordinal: u32, chunk: usize, bytes: usize) -> bool {
        self.0.ready.nodes.reach(self.0, ordinal, chunk, bytes)
    }
    fn leaves_unready(&self) -> bool {
        self.0.ground.is_quiet()
    }
    fn give_back(&self, _: u32, chunk: &'static [Word]) {
        abandon_chunk(chunk);
    }
    fn raced(&self) {
        self.0.ground.counters.add(Counter::TableRaces, 1);
    }
}

impl Memory for CodeMemory {
    fn index(&self, words: usize) -> Option<&'static [Word]> {
        index_words(self.0.ground, words)
    }
    fn retire(&self, index: &'static [Word]) {
        retire_words(self.0.ground, index);
    }
    fn chunk(&self, ordinal: u32) -> Option<&'static [Word]> {
        table_chunk(self.0, Kind::Codes, ordinal, self.1, &self.0.ready.codes)
    }
    fn reach(&self, ordinal: u32, chunk: usize, bytes: usize) -> bool {
        self.0.ready.codes.reach(self.0, ordinal, chunk, bytes)
    }
    fn leaves_unready(&self) -> bool {
        self.0.ground.is_quiet()
    }
    fn give_back(&self, _: u32, chunk: &'static [Word]) {
        abandon_chunk(chunk);
    }
    fn raced(&self) {
        self.0.ground.counters.add(Counter::TableRaces, 1);
    }
}
