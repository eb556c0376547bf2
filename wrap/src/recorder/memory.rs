//! Where the tables of stacks and code addresses get their memory, and how much
//! of it may be written to.
#![allow(unsafe_code)]
//! # Safety
//! Memory for tables is mapped once and never given back, so slices over it
//! are `'static`.

use super::RECORDER;
use crate::lock::Patience;
use crate::sink::{self, Chunk, Use};
use crate::sync::AtomicU64 as Word;
use crate::sys::{Os, Sys};
use crate::table::Memory;
use core::sync::atomic::{AtomicU32, Ordering};
use memlog_format::chunk::{CHUNK_SIZE, Kind};
use memlog_format::counter::Counter;

/// Memory of the stack nodes.
pub struct NodeMemory(pub Patience);
/// Memory of the code addresses.
pub struct CodeMemory(pub Patience);

fn index_words(words: usize) -> Option<&'static [Word]> {
    if RECORDER.is_quiet() {
        return None;
    }
    let memory = Os::memory_wiped_on_fork(words * 8).cast::<Word>();
    if memory.is_null() {
        RECORDER.counters.add(Counter::Refused, 1);
        return None;
    }
    RECORDER.note_own(words as u64 * 8);
    // SAFETY: fresh zeroed memory of that size, never given back.
    Some(unsafe { core::slice::from_raw_parts(memory, words) })
}

fn retire_words(index: &'static [Word]) {
    let bytes = size_of_val(index);
    // SAFETY: memory of `index_words`; whoever still reads it finds it empty,
    // which costs him a second id and nothing else.
    unsafe { Os::zero(index.as_ptr() as *mut u8, bytes) };
    RECORDER.note_gone(bytes as u64);
}

/// How much of the first chunks of a table is ready, as far as they are not
/// ready as a whole.
struct Ready([AtomicU32; LITTLE_CHUNKS]);

/// Chunks of a table that are made ready by the page: the first, and in a forked
/// child also the one that follows when it gets a file.
const LITTLE_CHUNKS: usize = 2;

impl Ready {
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
    fn reach(&self, ordinal: u32, at: usize, bytes: usize) -> bool {
        let Some(place) = self.0.get(ordinal as usize) else {
            return true;
        };
        let ready = place.load(Ordering::Acquire);
        bytes <= ready as usize || Self::reach_further(place, ready, at, bytes)
    }

    #[cold]
    fn reach_further(place: &AtomicU32, ready: u32, at: usize, bytes: usize) -> bool {
        let chunk = Chunk {
            at: at as *mut u8,
            index: 0,
            ready,
        };
        let Some(further) = RECORDER.make_ready(chunk, bytes) else {
            return false;
        };
        // If others were faster, theirs is right as well.
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let _ = place.compare_exchange(ready, further, order.0, order.1);
        true
    }
}

static READY_NODES: Ready = Ready::new();
static READY_CODES: Ready = Ready::new();

/// A forked child's: its tables are its own.
pub(super) fn reset() {
    READY_NODES.reset();
    READY_CODES.reset();
}

fn table_chunk(
    kind: Kind,
    ordinal: u32,
    patience: Patience,
    ready: &Ready,
) -> Option<&'static [Word]> {
    let usage = match (ordinal as usize) < LITTLE_CHUNKS {
        true => Use::Little,
        false => Use::Much,
    };
    let chunk = RECORDER.carve(patience, usage)?;
    ready.begin(ordinal, &chunk);
    // SAFETY: carved just now; a table's chunk stays mapped for ever.
    unsafe { sink::begin(chunk, &sink::table_header(kind, ordinal)) };
    RECORDER
        .meta
        .with(patience, |meta| meta.note_table_chunk(chunk));
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
        index_words(words)
    }
    fn retire(&self, index: &'static [Word]) {
        retire_words(index);
    }
    fn chunk(&self, ordinal: u32) -> Option<&'static [Word]> {
        table_chunk(Kind::Nodes, ordinal, self.0, &READY_NODES)
    }
    fn reach(&self, ordinal: u32, chunk: usize, bytes: usize) -> bool {
        READY_NODES.reach(ordinal, chunk, bytes)
    }
    fn leaves_unready(&self) -> bool {
        RECORDER.is_quiet()
    }
    fn give_back(&self, _: u32, chunk: &'static [Word]) {
        abandon_chunk(chunk);
    }
    fn raced(&self) {
        RECORDER.counters.add(Counter::TableRaces, 1);
    }
}

impl Memory for CodeMemory {
    fn index(&self, words: usize) -> Option<&'static [Word]> {
        index_words(words)
    }
    fn retire(&self, index: &'static [Word]) {
        retire_words(index);
    }
    fn chunk(&self, ordinal: u32) -> Option<&'static [Word]> {
        table_chunk(Kind::Codes, ordinal, self.0, &READY_CODES)
    }
    fn reach(&self, ordinal: u32, chunk: usize, bytes: usize) -> bool {
        READY_CODES.reach(ordinal, chunk, bytes)
    }
    fn leaves_unready(&self) -> bool {
        RECORDER.is_quiet()
    }
    fn give_back(&self, _: u32, chunk: &'static [Word]) {
        abandon_chunk(chunk);
    }
    fn raced(&self) {
        RECORDER.counters.add(Counter::TableRaces, 1);
    }
}
