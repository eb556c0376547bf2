//! The one stream of events: its order is the order of everything, so that nothing needs a
//! number.

use memlog_format::chunk::{HEADER_SIZE, Header, Kind, SEALED, checksum};
use memlog_format::event::{Deltas, MAX_EVENT};
use memlog_format::ext::MAX_EXT;
use memlog_format::varint::Writer;

use crate::out::{Out, empty};

/// Room for what is written at once: a tick, and what has to stand in one chunk.
const ROOM: usize = MAX_EXT + 3 * MAX_EVENT;

pub(crate) struct Events {
    chunk: Box<[u8]>,
    at: usize,
    sequence: u32,
    /// The thread of what comes next.
    pub(crate) thread: u32,
    /// The time of what comes next.
    pub(crate) tick: u64,
    header: Header,
    deltas: Deltas,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            chunk: empty(),
            at: HEADER_SIZE,
            sequence: 0,
            thread: 0,
            tick: 0,
            header: Header::new(Kind::Events, 0, 0),
            deltas: Deltas::default(),
        }
    }

    /// Writes records that are to stand in one chunk.
    pub(crate) fn put(&mut self, out: &mut Out, records: impl Fn(&mut Deltas, &mut Writer)) {
        loop {
            if self.at == HEADER_SIZE {
                self.begin();
            }
            let mut deltas = self.deltas;
            let mut room = [0; ROOM];
            let mut writer = Writer::new(&mut room);
            deltas.put_tick(&mut writer, self.tick);
            records(&mut deltas, &mut writer);
            let length = writer.finish().unwrap_or(0);
            if let Some(place) = self.chunk.get_mut(self.at..self.at + length) {
                place.copy_from_slice(&room[..length]);
                (self.at, self.deltas) = (self.at + length, deltas);
                return;
            }
            self.header.flags = SEALED;
            self.header.checksum = checksum(&self.chunk[HEADER_SIZE..self.at]);
            self.flush(out);
        }
    }

    fn begin(&mut self) {
        let stamp = self.deltas.stamp;
        self.header = Header::new(Kind::Events, 0, self.sequence);
        self.header.thread = self.thread;
        (self.header.base_tick, self.header.base_stamp) = (self.tick, stamp);
        self.deltas = Deltas::at_start(self.tick, stamp);
    }

    /// Whether there are any.
    pub(crate) fn are_some(&self) -> bool {
        self.sequence > 0 || self.at > HEADER_SIZE
    }

    /// Writes what there is of the last chunk. A seal would be a sign of a next one.
    pub(crate) fn flush(&mut self, out: &mut Out) {
        if self.at == HEADER_SIZE {
            return;
        }
        self.header.committed = self.at as u32;
        out.put(&self.header, &mut self.chunk);
        self.chunk.fill(0);
        (self.at, self.sequence) = (HEADER_SIZE, self.sequence + 1);
    }
}
