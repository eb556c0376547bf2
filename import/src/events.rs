//! The one stream of events: its order is the order of everything, so that nothing needs a
//! number.

use memlog_format::event::Deltas;
use memlog_format::filling::Filling;
use memlog_format::varint::Writer;

use crate::out::{Out, empty};

pub(crate) struct Events {
    chunk: Box<[u8]>,
    filling: Filling,
    /// The thread of what comes next.
    pub(crate) thread: u32,
    /// The time of what comes next.
    pub(crate) tick: u64,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            chunk: empty(),
            filling: Filling::new(0),
            thread: 0,
            tick: 0,
        }
    }

    /// Writes records that are to stand in one chunk.
    pub(crate) fn put(&mut self, out: &mut Out, records: impl Fn(&mut Deltas, &mut Writer)) {
        let now = (self.thread, self.tick);
        while !self.filling.put(&mut self.chunk, now, 0, &records) {
            self.close(out, true);
        }
    }

    /// Whether there are any.
    pub(crate) fn are_some(&self) -> bool {
        self.filling.is_begun() || self.filling.place().0 > 0
    }

    /// Writes what there is of the last chunk. A seal would be a sign of a next one.
    pub(crate) fn flush(&mut self, out: &mut Out) {
        if self.filling.is_begun() {
            self.close(out, false);
        }
    }

    fn close(&mut self, out: &mut Out, is_complete: bool) {
        let header = self.filling.close(&self.chunk, is_complete);
        out.put(&header, &mut self.chunk);
        self.chunk.fill(0);
    }
}
