//! A log in short. A real one is mostly holes: chunks of 64 KiB of which a few
//! hundred bytes are used. Here only those are written down, so that a change
//! of a byte is a change of something that is read; magic, version, lengths and
//! checksums are put in as the recorder would, unless the input says otherwise.
//!
//! ```text
//! cut      u8    so many 256ths of the log are missing at its end
//! place    u8    low three bits: 0 unused, 1 to 4 a kind of chunk, 5 the whole
//!                chunk's first bytes as they stand; 8: sealed; 16: the
//!                checksum is wrong; 32: committed is less than the body
//!          u8    stream, or index of a table's chunk
//!          u8    sequence
//!          u16   length of the body that follows, little-endian
//! ```
//! The body of the first place stands behind the counters, of which it brings
//! some along: a count, then for each its number and two bytes of its value. A
//! record of the start comes first, with as many bits of cells as the stream
//! says, eight at most: the tables of sixteen would take most of the time. A
//! sequence of 255 leaves that record to the input.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, SEALED, checksum};
use memlog_format::counter::{AREA_AT, AREA_COUNT, AREA_END};
use memlog_format::meta::{Record, Start};

/// Chunks of a log at most.
pub const MAX_PLACES: usize = 6;
/// What stands before a body.
const PLACE_HEAD: usize = 5;

/// A log, and what of it is to be zeroed before the next.
#[derive(Default)]
pub struct Brief {
    bytes: Vec<u8>,
    used: Vec<(usize, usize)>,
    length: usize,
    /// Where each event chunk lies, by stream.
    pub streams: Vec<(u32, usize)>,
}

impl Brief {
    /// The log that an input stands for.
    pub fn log(&mut self, input: &[u8]) -> &[u8] {
        for (from, to) in self.used.drain(..) {
            self.bytes[from..to].fill(0);
        }
        self.streams.clear();
        self.bytes.resize(MAX_PLACES * CHUNK_SIZE, 0);
        let (&cut, mut rest) = input.split_first().unwrap_or((&0, &[]));
        let mut places = 0;
        while places < MAX_PLACES && rest.len() >= PLACE_HEAD {
            let (head, after) = rest.split_at(PLACE_HEAD);
            let length = usize::from(u16::from_le_bytes([head[3], head[4]]));
            let (body, after) = after.split_at(length.min(after.len()));
            self.place(places, head, body);
            places += 1;
            rest = after;
        }
        let whole = places * CHUNK_SIZE;
        self.length = whole - whole * usize::from(cut) / 256;
        &self.bytes[..self.length]
    }

    /// The log again.
    pub fn whole(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Calls with the log in which the chunks of but one stream of events are.
    pub fn only<T>(&mut self, stream: u32, call: impl FnOnce(&[u8]) -> T) -> T {
        let mut kept = Vec::new();
        for &(_, at) in self.streams.iter().filter(|(other, _)| *other != stream) {
            let header = &mut self.bytes[at..at + HEADER_SIZE];
            kept.push((at, header.to_vec()));
            header.fill(0);
        }
        let result = call(&self.bytes[..self.length]);
        for (at, header) in kept {
            self.bytes[at..at + HEADER_SIZE].copy_from_slice(&header);
        }
        result
    }

    fn place(&mut self, index: usize, head: &[u8], body: &[u8]) {
        let at = index * CHUNK_SIZE;
        let kind = match head[0] & 7 {
            5 => {
                let count = body.len().min(CHUNK_SIZE);
                self.put(at, &body[..count]);
                return;
            }
            _ if index == 0 => Kind::Meta,
            1 => Kind::Meta,
            2 => Kind::Events,
            3 => Kind::Nodes,
            4 => Kind::Codes,
            _ => return,
        };
        let stream = u32::from(head[1]);
        if kind == Kind::Events {
            self.streams.push((stream, at));
        }
        let (start, body) = match index {
            0 => {
                let body = self.counters(body);
                let began = match head[2] {
                    255 => 0,
                    _ => self.begin(head[1] % 8 + 1),
                };
                (AREA_END + began, body)
            }
            _ => (HEADER_SIZE, body),
        };
        let count = body.len().min(CHUNK_SIZE - start);
        self.put(at + start, &body[..count]);
        let mut header = Header::new(kind, stream, u32::from(head[2]));
        header.committed = (start + count) as u32;
        header.thread = stream;
        if head[0] & 8 != 0 {
            let committed = &self.bytes[at + HEADER_SIZE..at + header.committed as usize];
            header.flags = SEALED;
            header.checksum = checksum(committed) ^ u64::from(head[0] >> 4 & 1);
        }
        if head[0] & 32 != 0 {
            header.committed = (header.committed / 2).max(HEADER_SIZE as u32);
        }
        self.put(at, &header.encode());
    }

    /// Writes the counters at a body's beginning; what follows them.
    fn counters<'b>(&mut self, body: &'b [u8]) -> &'b [u8] {
        let (&count, mut rest) = body.split_first().unwrap_or((&0, &[]));
        for _ in 0..count.min(8) {
            let Some((&[number, low, high], after)) = rest.split_first_chunk::<3>() else {
                break;
            };
            let place = AREA_AT + 8 * (usize::from(number) % AREA_COUNT);
            self.put(
                place,
                &u64::from(u16::from_le_bytes([low, high])).to_le_bytes(),
            );
            rest = after;
        }
        rest
    }

    /// Writes the record of the start; how many bytes it is.
    fn begin(&mut self, cell_bits: u8) -> usize {
        let record = Record::Start(Start {
            pointer_bytes: 8,
            big_endian: false,
            machine: 62,
            pid: 100,
            parent_pid: 1,
            wall_ns: 1_000_000_000_000_000_000,
            tick_ns: 1000,
            page_bytes: 4096,
            cell_bits,
            has_usable: true,
        });
        let mut room = [0; 64];
        let length = record.encode(&mut room).unwrap_or(0);
        self.put(AREA_END, &room[..length]);
        length
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        self.bytes[at..end].copy_from_slice(bytes);
        self.used.push((at, end));
    }
}
