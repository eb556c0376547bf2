//! The tables of nodes and of codes: records in the order of their numbers.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::table::id_of;

use crate::error::Error;
use crate::out::{Out, empty};

/// One table, of which the last chunk is in memory.
pub(crate) struct Table {
    kind: Kind,
    record: usize,
    what: &'static str,
    count: u32,
    chunk: Box<[u8]>,
    at: usize,
    index: u32,
}

impl Table {
    /// Of records of so many bytes.
    pub(crate) fn new(kind: Kind, record: usize, what: &'static str) -> Self {
        Self {
            kind,
            record,
            what,
            count: 0,
            chunk: empty(),
            at: HEADER_SIZE,
            index: 0,
        }
    }

    /// Appends a record: its number, or 0 where there are no more numbers.
    pub(crate) fn push(&mut self, out: &mut Out, record: &[u8]) -> u32 {
        let (per_chunk, first) = (CHUNK_SIZE / self.record, HEADER_SIZE / self.record);
        let id = id_of(self.count, per_chunk as u32, first as u32);
        let (Some(id), Some(count)) = (id, self.count.checked_add(1)) else {
            out.fail(Error::TooMany(self.what));
            return 0;
        };
        if self.at == CHUNK_SIZE {
            self.flush(out);
        }
        self.chunk[self.at..][..self.record].copy_from_slice(record);
        self.at += self.record;
        self.count = count;
        id
    }

    /// Writes what there is of the last chunk.
    pub(crate) fn flush(&mut self, out: &mut Out) {
        if self.at == HEADER_SIZE {
            return;
        }
        let mut header = Header::new(self.kind, self.index, self.index);
        // Its records are valid one by one.
        header.committed = CHUNK_SIZE as u32;
        out.put(&header, &mut self.chunk);
        self.chunk.fill(0);
        (self.at, self.index) = (HEADER_SIZE, self.index + 1);
    }
}
