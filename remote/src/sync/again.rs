//! What the receiver has already: found by comparing checksums of all chunks, when a log is
//! taken up again and when it is over.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};

use super::chunk::{Chunk, is_full_table, without_zeros};
use super::newest::Newest;
use super::uplink::{Stop, Uplink, answer_of, unexpected};
use super::{Sync, read_up_to};
use crate::limits::MOST_SUMS;
use crate::look::{chunks, place, sum};
use crate::wire::{Answer, Ask, SUM};

/// A log that is over is compared so often until nothing differs: somebody may add to it.
const MOST_ROUNDS: usize = 5;

impl Sync {
    /// Takes a log up of which the receiver has something.
    pub fn resume(&mut self, bytes: u64, link: &mut Uplink) -> Result<(), Stop> {
        self.with_room(link, |sync, link| sync.compare_all(bytes, link))
    }

    /// Finds out what the receiver has.
    pub(super) fn compare_all(&mut self, bytes: u64, link: &mut Uplink) -> Result<(), Stop> {
        self.settled.clear();
        self.open.clear();
        self.counters.clear();
        self.newest = Newest::default();
        let is_mutable = self.is_mutable;
        self.compare(bytes, link, |sync, index, is_same, _| {
            let chunk = &sync.buffer;
            let header = Header::decode(chunk).ok().flatten();
            match (is_same, header) {
                (false, _) => drop(sync.open.insert(index, Chunk::unknown())),
                (true, None) => {}
                (true, Some(header)) => {
                    if header.kind == Kind::Events {
                        sync.newest.note(&header);
                    }
                    let is_settled = match header.kind {
                        Kind::Events => header.is_sealed() && !is_mutable,
                        kind => is_full_table(Some(kind), chunk),
                    };
                    match is_settled {
                        true => sync.settled.set(index),
                        false => {
                            let known = Chunk::holding(chunk, header.committed as usize);
                            sync.open.insert(index, known);
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Sees to it that all of a log is there that is over, byte for byte. False if it still
    /// changes.
    pub fn complete(&mut self, bytes: u64, link: &mut Uplink) -> Result<bool, Stop> {
        self.with_room(link, |sync, link| sync.complete_all(bytes, link))
    }

    fn complete_all(&mut self, bytes: u64, link: &mut Uplink) -> Result<bool, Stop> {
        for _ in 0..MOST_ROUNDS {
            let mut differ = 0;
            self.compare(bytes, link, |sync, index, is_same, link| {
                if is_same {
                    return Ok(());
                }
                differ += 1;
                // The header last, as always.
                let at = place(index);
                link.write(at + HEADER_SIZE as u64, &sync.buffer[HEADER_SIZE..])?;
                link.write(at, &sync.buffer[..HEADER_SIZE])
            })?;
            if differ == 0 {
                let log = link.log;
                let frame = link.ask(&Ask::Finish { log, bytes })?;
                link.done(frame)?;
                return Ok(true);
            }
            link.commit(&[])?;
        }
        Ok(false)
    }

    /// Hands each chunk on, in the buffer, and whether the receiver has the same.
    fn compare(
        &mut self,
        bytes: u64,
        link: &mut Uplink,
        mut each: impl FnMut(&mut Self, u32, bool, &mut Uplink) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let count = chunks(bytes);
        let zeros = sum(&[0; CHUNK_SIZE]);
        for first in (0..count).step_by(MOST_SUMS) {
            let count = (count - first).min(MOST_SUMS as u32);
            let log = link.log;
            let frame = link.ask(&Ask::Sums { log, first, count })?;
            let Answer::Sums(there) = answer_of(&frame)? else {
                return Err(unexpected());
            };
            if there.len() != count as usize * SUM {
                return Err(unexpected());
            }
            for (index, there) in (first..).zip(there.chunks_exact(SUM)) {
                // A log of so many bytes may be shorter by now.
                let read = read_up_to(&self.file, &mut self.buffer, place(index))?;
                self.buffer[read..].fill(0);
                let here = match without_zeros(&self.buffer).is_empty() {
                    true => zeros,
                    false => sum(&self.buffer),
                };
                each(self, index, here == there, link)?;
            }
            link.channel.give_back(frame);
        }
        Ok(())
    }
}
