//! How much of a stream's chunk may be written to: little at first, for most
//! threads write little.

use super::{ROOM, Stream};
use crate::log::sink::Chunk;

impl Stream {
    /// Makes more of the chunk ready, if not all of it is and there is room.
    pub(super) fn reach_further(&mut self) -> bool {
        let Some(ready) = self.log().make_ready(self.held(), self.ready as usize + 1) else {
            return false;
        };
        self.set_ready(ready);
        self.committed < self.full_at
    }

    pub(super) fn set_ready(&mut self, ready: u32) {
        self.ready = ready;
        self.full_at = (ready as usize - ROOM + 1) as u32;
    }

    /// The chunk, which there is.
    pub(super) fn held(&self) -> Chunk {
        Chunk {
            at: self.chunk,
            index: self.chunk_index,
            ready: self.ready,
        }
    }
}
