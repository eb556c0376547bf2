//! The meta chunks: header, texts, modules, the fork's cut, the end.
#![allow(unsafe_code)]
//! # Safety
//! The meta chunk is held by this log, behind its lock.

use super::Log;
use super::sink::{self, Chunk, Use};
use crate::platform::lock::Patience;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::AREA_END;
use memlog_format::meta::Record;

/// Table chunks that a written sink writes at the end, at most.
const MAX_TABLE_CHUNKS: usize = 1024;

/// Table chunks that may still change: the last of each table, and as many
/// again that a slow thread may not have finished.
const GROWING: usize = 4;

/// The writer of the meta chunks.
pub struct MetaLog {
    chunk: Option<Chunk>,
    /// Chunk 0, where the counters stand.
    first: Option<Chunk>,
    committed: u32,
    sequence: u32,
    tables: [Option<Chunk>; MAX_TABLE_CHUNKS],
    table_count: usize,
    /// Table chunks that a written sink has whole.
    tables_written: usize,
}

// SAFETY: the chunk pointers are memory of the process, used under the lock.
unsafe impl Send for MetaLog {}

impl MetaLog {
    /// No chunk yet.
    pub const fn new() -> Self {
        Self {
            chunk: None,
            first: None,
            committed: 0,
            sequence: 0,
            tables: [None; MAX_TABLE_CHUNKS],
            table_count: 0,
            tables_written: 0,
        }
    }

    /// Takes chunk 0 of a fresh log; false if there is none.
    pub fn begin(&mut self, log: &Log, patience: Patience) -> bool {
        self.chunk = None;
        (self.sequence, self.table_count, self.tables_written) = (0, 0, 0);
        if !self.next_chunk(log, patience) {
            return false;
        }
        self.first = self.chunk;
        if let Some(chunk) = self.chunk {
            self.committed = AREA_END as u32;
            // SAFETY: chunk 0 is held here and stays mapped for ever.
            unsafe {
                sink::commit(chunk.at, self.committed);
                log.ground.counters.mirror_into(chunk.at);
            }
        }
        true
    }

    fn next_chunk(&mut self, log: &Log, patience: Patience) -> bool {
        let Some(chunk) = log.carve(patience, Use::Little) else {
            return false;
        };
        self.flush(log);
        let header = Header::new(Kind::Meta, 0, self.sequence);
        // SAFETY: carved for this log just now.
        unsafe { sink::begin(chunk, &header) };
        self.chunk = Some(chunk);
        self.committed = HEADER_SIZE as u32;
        self.sequence += 1;
        true
    }

    /// Appends a record; what cannot be written is left out. Whether it was.
    pub fn append(&mut self, log: &Log, record: &Record) -> bool {
        while !self.try_append(record) {
            if !self.reach_further(log) {
                return self.next_chunk(log, Patience::Bounded) && self.try_append(record);
            }
        }
        true
    }

    /// Makes more of the chunk ready, if not all of it is.
    fn reach_further(&mut self, log: &Log) -> bool {
        let more = |chunk: &mut Chunk| {
            let ready = log.make_ready(*chunk, chunk.ready as usize + 1)?;
            chunk.ready = ready;
            Some(())
        };
        self.chunk.as_mut().and_then(more).is_some()
    }

    /// Chunk 0 lies in the file from now on, and only what is in it has room.
    pub fn note_mapped(&mut self) {
        if let Some(chunk) = self.chunk.as_mut().filter(|chunk| chunk.index == 0) {
            let page = sink::ready_next(0) - 1;
            chunk.ready = ((self.committed as usize + page) & !page).min(CHUNK_SIZE) as u32;
        }
    }

    fn try_append(&mut self, record: &Record) -> bool {
        let Some(chunk) = self.chunk else {
            return false;
        };
        let room = (chunk.ready as usize).saturating_sub(self.committed as usize);
        // SAFETY: the chunk is held here and `committed` is inside.
        let out =
            unsafe { core::slice::from_raw_parts_mut(chunk.at.add(self.committed as usize), room) };
        let Some(count) = record.encode(out) else {
            return false;
        };
        self.committed += count as u32;
        // SAFETY: the chunk is held here.
        unsafe { sink::commit(chunk.at, self.committed) };
        true
    }

    /// Remembers a table's chunk for sinks that write at the end.
    pub fn note_table_chunk(&mut self, chunk: Chunk) {
        if let Some(place) = self.tables.get_mut(self.table_count) {
            *place = Some(chunk);
            self.table_count += 1;
        }
    }

    /// Writes out what a written sink does not have yet, so that the events
    /// that follow can be read whatever happens next; false if it cannot.
    pub fn flush(&mut self, log: &Log) -> bool {
        // The newest chunks of the tables are still being added to.
        let from = self.tables_written.saturating_sub(GROWING);
        let tables = self.tables.iter().take(self.table_count).skip(from);
        let is_first = |one: &Chunk| self.chunk.is_some_and(|chunk| chunk.index == one.index);
        let first = self.first.filter(|one| !is_first(one));
        let chunks = tables.chain([&first, &self.chunk]).flatten();
        let mut written = true;
        for chunk in chunks {
            written &= log.sink.write(*chunk);
        }
        self.tables_written = self.table_count;
        written
    }
}

impl Default for MetaLog {
    fn default() -> Self {
        Self::new()
    }
}
