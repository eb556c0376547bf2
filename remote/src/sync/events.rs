//! Chunks of events: what is new of one goes behind what is there of it, and one that was moved
//! comes to another place.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header};

use super::chunk::Chunk;
use super::newest::{counts, is_same, nothing_of};
use super::uplink::{Stop, Uplink};
use super::{Commit, Found, Sync, read_up_to};
use crate::look::place;

/// What the receiver has of a chunk, where it has a place.
#[derive(Clone, Copy)]
enum There<'c> {
    /// Nothing that counts.
    Nothing,
    /// The beginning of it, if anything.
    Part(&'c Chunk),
    /// Another one, or who knows what.
    Other,
}

impl Sync {
    /// Whether something was new.
    pub(super) fn send_events(
        &mut self,
        found: &Found,
        header: Header,
        commit: &mut Commit,
        link: &mut Uplink,
    ) -> Result<bool, Stop> {
        if self.moves && !self.may_come(found, &header) {
            return Ok(false);
        }
        let committed = header.committed as usize;
        let told = self.newest.told(&header, found.bytes);
        let (start, is_begun, is_taken) = match self.there(found) {
            There::Part(chunk) => (chunk.sent.max(HEADER_SIZE), true, false),
            There::Nothing => (HEADER_SIZE, false, false),
            There::Other => (HEADER_SIZE, false, true),
        };
        // The rest of a sealed chunk is as it will stay.
        let end = match header.is_sealed() {
            true => CHUNK_SIZE,
            false => committed,
        };
        let length = self.read_range(found.index, start, end, committed)?;
        // The place may have another chunk meanwhile; then what was read is of no chunk.
        let mut now = [0; HEADER_SIZE];
        read_up_to(&self.file, &mut now, place(found.index))?;
        if !is_same(&now, &found.bytes) {
            return Ok(false);
        }
        let (at, records) = (place(found.index), &self.buffer[..length]);
        // What was moved from a place is to be there before that has another chunk, and what
        // counted there is lacking for as short a time as can be.
        if is_taken {
            commit.end(link)?;
        }
        if !is_begun {
            link.write(at, &nothing_of(header))?;
        }
        if length > 0 {
            link.write(at + start as u64, records)?;
        }
        commit.0.push((at, told.to_vec()));
        if is_taken {
            commit.end(link)?;
        }
        self.newest.note(&header);
        if header.is_sealed() && told == found.bytes {
            self.settled.set(found.index);
            self.open.remove(&found.index);
        } else {
            let chunk = self.open.entry(found.index).or_default();
            (chunk.sent, chunk.header) = (committed, told);
        }
        Ok(true)
    }

    /// Whether the receiver has all that is to be there before a chunk.
    fn may_come(&self, found: &Found, header: &Header) -> bool {
        let known = self.open.get(&found.index).map(|chunk| &chunk.header);
        self.newest.has_before(header)
            && known.is_none_or(|known| self.newest.gives_way(known, header))
    }

    /// What the receiver has where a chunk of events is to be.
    fn there(&self, found: &Found) -> There<'_> {
        match self.open.get(&found.index) {
            Some(chunk) if is_same(&chunk.header, &found.bytes) => There::Part(chunk),
            // Where nothing is moved a place has the same chunk for ever.
            Some(chunk) if chunk.is_unknown() && !self.moves => There::Part(chunk),
            Some(chunk) if chunk.is_unknown() || counts(&chunk.header) => There::Other,
            _ => There::Nothing,
        }
    }

    /// A place that has no chunk any more. `has_more`: there are chunks that were not sent.
    pub(super) fn send_emptied(&mut self, found: &Found, has_more: bool, commit: &mut Commit) {
        let Some(chunk) = self.open.get_mut(&found.index) else {
            return;
        };
        let may = match chunk.is_unknown() {
            true => !has_more,
            false => counts(&chunk.header) && self.newest.has_passed(&chunk.header),
        };
        if may {
            commit.0.push((place(found.index), found.bytes.to_vec()));
            (chunk.header, chunk.sent) = (found.bytes, HEADER_SIZE);
        }
    }
}
