//! The meta chunks: the first with the counters, which is written last, and those behind it.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::meta::{Record, Start};

use crate::out::{Out, empty};

/// No record is longer.
const MAX_RECORD: usize = 8448;
/// START is known last and stands first.
const START_ROOM: usize = 128;

/// The records that are no events.
pub(crate) struct Metas {
    /// The records of the first chunk behind START.
    first: Vec<u8>,
    /// The chunk behind it that is being filled, and up to where.
    chunk: Box<[u8]>,
    at: usize,
    sequence: u32,
}

impl Metas {
    pub(crate) fn new() -> Self {
        Self {
            first: Vec::new(),
            chunk: empty(),
            at: HEADER_SIZE,
            sequence: 0,
        }
    }

    pub(crate) fn push(&mut self, out: &mut Out, record: &Record) {
        let mut room = [0; MAX_RECORD];
        let length = record.encode(&mut room).unwrap_or(0);
        let bytes = &room[..length];
        if self.sequence == 0 {
            if AREA_END + START_ROOM + self.first.len() + length <= CHUNK_SIZE {
                self.first.extend_from_slice(bytes);
                return;
            }
            self.sequence = 1;
        }
        if self.at + length > CHUNK_SIZE {
            self.flush(out);
            self.sequence += 1;
        }
        self.chunk[self.at..][..length].copy_from_slice(bytes);
        self.at += length;
    }

    fn flush(&mut self, out: &mut Out) {
        if self.at == HEADER_SIZE {
            return;
        }
        let header = sealed(self.sequence, &self.chunk[..self.at]);
        out.put(&header, &mut self.chunk);
        self.chunk.fill(0);
        self.at = HEADER_SIZE;
    }

    /// Writes the last chunk, and then the first.
    pub(crate) fn finish(&mut self, out: &mut Out, start: Start, counters: &[(Counter, u64)]) {
        self.flush(out);
        let mut chunk = empty();
        let count = (Counter::Chunks, u64::from(out.count()));
        for (counter, value) in counters.iter().chain([&count]) {
            counter.write(&mut chunk, *value);
        }
        let room = &mut chunk[AREA_END..];
        let length = Record::Start(start).encode(room).unwrap_or(0);
        room[length..][..self.first.len()].copy_from_slice(&self.first);
        let end = AREA_END + length + self.first.len();
        let header = sealed(0, &chunk[..end]);
        out.put_at(0, &header, &mut chunk);
    }
}

fn sealed(sequence: u32, chunk: &[u8]) -> Header {
    Header::new(Kind::Meta, 0, sequence).over(&chunk[HEADER_SIZE..], true)
}
