//! An events chunk that is being filled outside of a recorder: from a log's events, or from
//! another tool's. The memory is that of whoever fills it.

use crate::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use crate::event::{Deltas, MAX_EVENT};
use crate::ext::MAX_EXT;
use crate::varint::Writer;

/// Room for what is written at once: a tick, and what has to stand in one chunk with it.
pub const ROOM: usize = MAX_EXT + 3 * MAX_EVENT;

/// Of one stream the chunk that is filled now, and which that is.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    header: Header,
    deltas: Deltas,
    /// Where the next record goes; 0 where none is yet.
    at: usize,
}

impl Filling {
    /// Nothing of this stream yet.
    pub const fn new(stream: u32) -> Self {
        Self {
            header: Header::new(Kind::Events, stream, 0),
            deltas: Deltas::at_start(0, 0),
            at: 0,
        }
    }

    /// The chunk's number in the stream, and how much of it is written.
    pub fn place(&self) -> (u32, usize) {
        (self.header.sequence, self.at.max(HEADER_SIZE))
    }

    /// Whether anything is in the chunk.
    pub const fn is_begun(&self) -> bool {
        self.at > 0
    }

    /// Begins the chunk: this thread does, at this time.
    pub fn begin(&mut self, thread: u32, tick: u64) {
        let stamp = self.deltas.stamp;
        self.header = Header {
            thread,
            base_tick: tick,
            base_stamp: stamp,
            ..Header::new(Kind::Events, self.header.stream, self.header.sequence)
        };
        self.deltas = Deltas::at_start(tick, stamp);
        self.at = HEADER_SIZE;
    }

    /// Writes records of this thread and time into the chunk, which begins with them if it has
    /// not yet. False where it has no room for them and for so much behind them; a chunk that
    /// has nothing else takes them without that.
    pub fn put(
        &mut self,
        chunk: &mut [u8],
        (thread, tick): (u32, u64),
        behind: usize,
        records: impl Fn(&mut Deltas, &mut Writer),
    ) -> bool {
        if !self.is_begun() {
            self.begin(thread, tick);
        }
        let mut deltas = self.deltas;
        let mut room = [0; ROOM];
        let mut writer = Writer::new(&mut room);
        deltas.put_tick(&mut writer, tick);
        records(&mut deltas, &mut writer);
        let length = writer.finish().unwrap_or(0);
        let bytes = room.get(..length).unwrap_or(&[]);
        let end = self.at.saturating_add(bytes.len());
        let has_room = end.saturating_add(behind) <= CHUNK_SIZE || self.at == HEADER_SIZE;
        match chunk.get_mut(self.at..end).filter(|_| has_room) {
            Some(place) => place.copy_from_slice(bytes),
            None => return false,
        }
        (self.at, self.deltas) = (end, deltas);
        true
    }

    /// The chunk is done, and the next one is not begun: its header. One that is not complete
    /// is the stream's last.
    pub fn close(&mut self, chunk: &[u8], is_complete: bool) -> Header {
        let body = chunk.get(HEADER_SIZE..self.at).unwrap_or(&[]);
        let header = self.header.over(body, is_complete);
        self.at = 0;
        self.header.sequence = self.header.sequence.wrapping_add(1);
        header
    }
}
