//! A full chunk of which blocks are left out that lived shortly: see `cull`.
#![allow(unsafe_code)]
//! # Safety
//! As in `stream`.

use super::Stream;
use crate::log::cull::{Anew, Rule, Step, Written};
use crate::log::sink::{self, Chunk, Use};
use crate::platform::lock::Patience;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::Counter;

/// A chunk of which more is left is full for good.
const MOST_LEFT: usize = CHUNK_SIZE / 4 * 3;
/// And so is one of which less may be changed.
const LEAST_NEW: usize = CHUNK_SIZE / 8;

/// What a stream knows of it.
pub struct Culled {
    /// Another chunk, for what is left.
    spare: Chunk,
    /// From where on the chunk may be changed; 0 where there is none.
    from: u32,
    /// Forks of before that.
    forks: u32,
    /// Bytes that may be missing of the heap at one moment, of the chunk.
    bytes: u64,
    /// The most that any chunk of the stream had.
    most_bytes: u64,
}

impl Culled {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        spare: Chunk::NONE,
        from: 0,
        forks: 0,
        bytes: 0,
        most_bytes: 0,
    };

    /// A chunk is about to begin.
    pub(super) fn begin(&mut self, forks: u32) {
        (self.from, self.forks, self.bytes) = (HEADER_SIZE as u32, forks, 0);
    }
}

impl Stream {
    /// Whether there is room in the chunk again, because blocks were left out.
    #[inline(never)]
    pub(super) fn cull(&mut self) -> bool {
        let log = self.log();
        let below_ticks = log.cull.below_ticks();
        if below_ticks == 0 || !self.may_change() || log.cull.forks() != self.culled.forks {
            return false;
        }
        if self.culled.spare.at.is_null() {
            match log.carve(Patience::Bounded, Use::Much) {
                Some(chunk) if chunk.ready as usize == CHUNK_SIZE => {
                    let unused = Header {
                        committed: 0,
                        ..Header::new(Kind::Events, self.number, 0)
                    };
                    // SAFETY: carved just now. Whatever comes to lie in it is not damage.
                    unsafe { sink::begin(chunk, &unused) };
                    self.culled.spare = chunk;
                }
                _ => return false,
            }
        }
        let is_alone = log.streams.in_use() <= 1;
        let anew = Anew {
            full: self.held(),
            committed: self.committed as usize,
            from: self.culled.from as usize,
            forks: self.culled.forks,
            spare: self.culled.spare,
        };
        let rule = Rule {
            below_ticks,
            is_alone,
        };
        let tell = |step, written: &Written| match step {
            Step::Before => {
                log.ground.counters.add(Counter::CulledChunks, 1);
                if !is_alone {
                    self.culled.note(written.most_bytes, |more| {
                        log.ground.counters.add(Counter::CulledBytes, more);
                    });
                }
            }
            Step::Done => self.go_on_in(anew, written),
        };
        // SAFETY: both chunks are this stream's, and all of them is ready.
        let written = unsafe { log.cull.write_anew(anew, rule, tell) };
        written.is_some_and(|written| written.committed as usize <= MOST_LEFT)
    }

    fn go_on_in(&mut self, anew: Anew, written: &Written) {
        (self.chunk, self.chunk_index) = (anew.spare.at, anew.spare.index);
        self.culled.spare = anew.full;
        (self.committed, self.deltas) = (written.committed, written.deltas);
        self.set_ready(anew.spare.ready);
    }

    /// Whether the chunk is one that can be written anew, and worth it.
    fn may_change(&self) -> bool {
        let log = self.log();
        let new = (self.committed as usize).saturating_sub(self.culled.from as usize);
        !self.chunk.is_null()
            && self.ready as usize == CHUNK_SIZE
            && new >= LEAST_NEW
            && !self.announced
            && !self.is_private
            && !log.writes_out()
            && !log.is_deferred()
            && !log.ground.is_quiet()
            && !log.ground.is_parted()
    }

    /// This thread's process has forked: what was written before has to stay where it is.
    pub fn note_fork(&mut self) {
        let forks = self.log().cull.forks();
        // Of one that another thread has made it is not known where this one stood.
        if forks == self.culled.forks.wrapping_add(2) {
            (self.culled.from, self.culled.forks) = (self.committed, forks);
        }
    }
}

impl Culled {
    fn note(&mut self, bytes: u64, add: impl FnOnce(u64)) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.most_bytes {
            add(self.bytes - self.most_bytes);
            self.most_bytes = self.bytes;
        }
    }
}
