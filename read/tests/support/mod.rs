//! Makes logs: the parts of a recorder that a reader can see.
#![allow(dead_code)] // each test uses its own part

pub mod bulk;
pub mod history;
pub mod naive;

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, SEALED, checksum};
use memlog_format::counter::AREA_END;
use memlog_format::event::{Alloc, Deltas, Release, predicted_usable};
use memlog_format::ext::Ext;
use memlog_format::meta::{Record, Start};
use memlog_format::order::cell;
use memlog_format::table::StackId;
use memlog_format::varint::Writer;

pub const START: Start = Start {
    pointer_bytes: 8,
    big_endian: false,
    machine: 62,
    pid: 4711,
    parent_pid: 1,
    wall_ns: 1_700_000_000_000_000_000,
    tick_ns: 1_000_000,
    page_bytes: 4096,
    cell_bits: 16,
    has_usable: true,
};

/// A chunk of this kind around a body.
pub fn chunk(mut header: Header, body: &[u8], sealed: bool) -> Vec<u8> {
    assert!(HEADER_SIZE + body.len() <= CHUNK_SIZE);
    header.committed = (HEADER_SIZE + body.len()) as u32;
    if sealed {
        header.flags |= SEALED;
        header.checksum = checksum(body);
    }
    let mut out = header.encode().to_vec();
    out.extend_from_slice(body);
    out.resize(CHUNK_SIZE, 0);
    out
}

/// Chunk 0 with these records.
pub fn meta_chunk(records: &[Record]) -> Vec<u8> {
    let mut body = vec![0; AREA_END - HEADER_SIZE];
    for record in records {
        let mut scratch = vec![0; 8192];
        let length = record.encode(&mut scratch).expect("fits");
        body.extend_from_slice(&scratch[..length]);
    }
    chunk(Header::new(Kind::Meta, 0, 0), &body, false)
}

/// A stream being written.
pub struct Stream {
    id: u32,
    tid: u32,
    room: usize,
    header: Header,
    deltas: Deltas,
    body: Vec<u8>,
    /// Where the records of the open chunk end.
    pub ends: Vec<usize>,
    done: Vec<Vec<u8>>,
    in_realloc: bool,
}

impl Stream {
    pub fn new(id: u32, tid: u32, room: usize) -> Self {
        let mut header = Header::new(Kind::Events, id, 0);
        header.thread = tid;
        Self {
            id,
            tid,
            room,
            header,
            deltas: Deltas::at_start(0, 0),
            body: Vec::new(),
            ends: vec![0],
            done: Vec::new(),
            in_realloc: false,
        }
    }

    fn write(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        if self.body.len() + 512 > self.room && !self.in_realloc {
            self.seal();
        }
        let mut scratch = [0; 256];
        let mut out = Writer::new(&mut scratch);
        put(&mut self.deltas, &mut out);
        let length = out.finish().expect("fits");
        self.body.extend_from_slice(&scratch[..length]);
        self.ends.push(self.body.len());
    }

    fn seal(&mut self) {
        self.done.push(chunk(self.header, &self.body, true));
        self.body.clear();
        self.ends = vec![0];
        let mut header = Header::new(Kind::Events, self.id, self.header.sequence + 1);
        header.thread = self.tid;
        header.base_tick = self.deltas.tick;
        header.base_stamp = self.deltas.stamp;
        self.header = header;
        self.deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    }

    pub fn tick(&mut self, tick: u64) {
        if tick > self.deltas.tick {
            self.write(|deltas, out| deltas.put_tick(out, tick));
        }
    }

    pub fn now(&self) -> u64 {
        self.deltas.tick
    }

    pub fn alloc(&mut self, alloc: &Alloc) {
        self.write(|deltas, out| deltas.put_alloc(out, alloc));
        self.in_realloc = false;
    }

    pub fn release(&mut self, release: &Release) {
        self.write(|deltas, out| deltas.put_release(out, release));
        self.in_realloc = release.announced;
    }

    pub fn revoke(&mut self) {
        self.write(|deltas, out| deltas.put_revoke(out));
        self.in_realloc = false;
    }

    pub fn stamp(&mut self, stamp: u64) {
        self.write(|deltas, out| deltas.put_stamp(out, stamp));
    }

    pub fn ext(&mut self, ext: &Ext) {
        self.write(|deltas, out| deltas.put_ext(out, ext));
    }

    /// The stream's chunks, the last cut back to `keep` of its records.
    pub fn finish(mut self, keep: Option<usize>) -> Vec<Vec<u8>> {
        let keep = keep.unwrap_or(usize::MAX).min(self.ends.len() - 1);
        self.body.truncate(self.ends[keep]);
        self.done.push(chunk(self.header, &self.body, false));
        self.done
    }
}

enum Owner {
    One(usize),
    Shared(u64),
}

/// A recorder: streams, order cells, stamps.
pub struct Recorder {
    pub streams: Vec<Stream>,
    cells: HashMap<usize, Owner>,
    stamps: u64,
}

impl Recorder {
    pub fn new(threads: usize, room: usize) -> Self {
        let stream = |id| Stream::new(id as u32, 100 + id as u32, room);
        Self {
            streams: (0..threads).map(stream).collect(),
            cells: HashMap::new(),
            stamps: 0,
        }
    }

    pub fn number(&mut self, thread: usize, address: u64) -> Option<u64> {
        let owner = self
            .cells
            .entry(cell(address))
            .or_insert(Owner::One(thread));
        match owner {
            Owner::One(one) if *one == thread => None,
            Owner::One(_) => {
                *owner = Owner::Shared(1);
                Some(0)
            }
            Owner::Shared(next) => {
                *next += 1;
                Some(*next - 1)
            }
        }
    }

    pub fn alloc(&mut self, thread: usize, api: Api, address: u64, size: u64, stack: u32) {
        let order = self.number(thread, address);
        self.streams[thread].alloc(&Alloc {
            api,
            address,
            size,
            usable: predicted_usable(size),
            alignment_log2: 0,
            stack: StackId(stack),
            order,
        });
    }

    pub fn release(&mut self, thread: usize, address: u64) {
        let order = self.number(thread, address);
        self.streams[thread].release(&Release {
            api: Api::Free,
            address,
            announced: false,
            stack: None,
            order,
        });
    }

    pub fn announce(&mut self, thread: usize, address: u64) {
        let order = self.number(thread, address);
        self.streams[thread].release(&Release {
            api: Api::Realloc,
            address,
            announced: true,
            stack: None,
            order,
        });
    }

    pub fn take_stamp(&mut self) -> u64 {
        self.stamps += 1;
        self.stamps - 1
    }

    pub fn stamp(&mut self, thread: usize) {
        let stamp = self.take_stamp();
        self.streams[thread].stamp(stamp);
    }

    /// The whole log; of each stream's last chunk only so many records.
    pub fn finish(self, keep: &[Option<usize>]) -> Vec<u8> {
        let mut log = meta_chunk(&[Record::Start(START)]);
        let mut streams: Vec<_> = self
            .streams
            .into_iter()
            .enumerate()
            .map(|(index, stream)| {
                let keep = keep.get(index).copied().flatten();
                stream.finish(keep).into_iter()
            })
            .collect();
        // Chunks of different streams lie mixed in a file.
        loop {
            let before = log.len();
            for stream in &mut streams {
                log.extend(stream.next().into_iter().flatten());
            }
            if log.len() == before {
                return log;
            }
        }
    }
}
