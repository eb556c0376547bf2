//! The chunks of events that a flight recorder goes round in.
//!
//! ```text
//! take:    the sealed chunk of the lowest seal is folded and given out again
//! round:   notes how far every chunk is written now; it is through when all
//!          of that was folded: first the chunks that were sealed by then, in
//!          their order; then, one a time, what others had written by then
//! ```
//!
//! A dead entry waits for allocations that happened before it and are folded
//! after it. Whatever happened before it had been written down when it was
//! folded. So when a round is through, those of before it have nothing to wait
//! for. Without rounds the chunk of a thread that sleeps would hold them all.
#![allow(unsafe_code)]
//! # Safety
//! A slot's chunk stays mapped while it is in the ring. Its bytes before what
//! is committed do not change; its header's flight words are written by atomic
//! stores, the seal by its holder, the rest by the folder.

use super::apply::Folded;
use crate::log::sink::{self, Chunk};
use memlog_format::chunk::{CHUNK_SIZE, COMMITTED_AT, FLIGHT_AT, HEADER_SIZE, Header, SEAL_AT};
use memlog_lockfree::sync::{AtomicU32, AtomicU64, Ordering};

/// One chunk of the ring.
#[derive(Clone, Copy)]
pub struct Slot {
    /// The chunk.
    pub chunk: Chunk,
    /// How far it was folded.
    pub folded: Folded,
    /// How far it was written when the round began.
    pub noted: u32,
    /// The number of its seal once that is known.
    pub seal: u64,
}

impl Slot {
    /// A chunk that was just begun.
    pub const fn new(chunk: Chunk) -> Self {
        Self {
            chunk,
            folded: Folded::start(&Header::new(memlog_format::chunk::Kind::Events, 0, 0)),
            noted: 0,
            seal: 0,
        }
    }

    fn word32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: a word of the header of a mapped chunk, which is aligned.
        unsafe { &*self.chunk.at.add(at).cast::<AtomicU32>() }
    }

    /// How far the chunk is written. Acquire: what is before that is there.
    pub fn committed(&self) -> usize {
        let word = self.word32(COMMITTED_AT).load(Ordering::Acquire);
        (u32::from_le(word) as usize).min(CHUNK_SIZE)
    }

    /// Says in the chunk how far it was folded.
    pub fn mark_folded(&self) {
        let offset = self.folded.offset as u32;
        self.word32(FLIGHT_AT)
            .store(offset.to_le(), Ordering::Release);
    }

    /// Ends the chunk: whoever reads the log from here on finds it unused.
    pub fn clear(&self) {
        self.word32(COMMITTED_AT).store(0, Ordering::Release);
    }

    /// Begins anew: the chunk is given out again.
    pub fn recycle(&mut self) {
        // Or whoever looks before it is begun takes the old seal for its own.
        self.word32(SEAL_AT).store(0, Ordering::Release);
        self.word32(SEAL_AT + 4).store(0, Ordering::Release);
        self.word32(FLIGHT_AT).store(0, Ordering::Release);
        *self = Self::new(self.chunk);
    }

    /// What was written to is ready still.
    pub fn note_ready(&mut self, written: usize) {
        let pages = written.next_multiple_of(sink::ready_next(0));
        self.chunk.ready = self.chunk.ready.max(pages as u32);
    }

    /// The chunk's bytes as far as they are written.
    pub fn bytes(&self) -> &'static [u8] {
        // SAFETY: mapped, and no longer written to before what is committed.
        unsafe { core::slice::from_raw_parts(self.chunk.at, self.committed()) }
    }

    /// The number of the chunk's seal, 0 while it is written to.
    fn look_at_seal(&mut self) -> u64 {
        if self.seal == 0 {
            // SAFETY: as in `word32`. Acquire pairs with `mark_sealed`.
            let word = unsafe { &*self.chunk.at.add(SEAL_AT).cast::<AtomicU64>() };
            self.seal = u64::from_le(word.load(Ordering::Acquire));
        }
        self.seal
    }

    /// Where to go on.
    pub fn resume(&mut self) {
        if self.folded.offset == HEADER_SIZE
            && let Ok(Some(header)) = Header::decode(self.bytes())
        {
            self.folded = Folded::start(&header);
        }
    }
}

/// Numbers a sealed chunk.
///
/// # Safety
/// The caller holds the chunk and writes to it no more.
pub unsafe fn mark_sealed(chunk: Chunk, seal: u64) {
    // SAFETY: a word of the held chunk's header.
    let word = unsafe { &*chunk.at.add(SEAL_AT).cast::<AtomicU64>() };
    word.store(seal.to_le(), Ordering::Release);
}

/// Where a round is.
#[derive(Clone, Copy)]
enum Stage {
    /// Chunks with a seal up to this are folded.
    Sealed(u64),
    /// The slots from this one on are looked at.
    Rest(usize),
}

/// A round.
pub struct Round {
    stage: Stage,
    /// The first fold after it began.
    since: u64,
    /// Set while every chunk could be folded as far as was noted.
    is_whole: bool,
}

impl Round {
    /// One that will be through at once.
    pub const fn new() -> Self {
        Self {
            stage: Stage::Sealed(0),
            since: 1,
            is_whole: true,
        }
    }

    /// Begins: the last seal so far, and the fold that comes next.
    pub fn begin(&mut self, slots: &mut [Slot], last_seal: u64, next_fold: u64) {
        for slot in slots {
            slot.noted = slot.committed() as u32;
        }
        *self = Self {
            stage: Stage::Sealed(last_seal),
            since: next_fold,
            is_whole: true,
        };
    }

    /// The next chunk to be folded in part. An error is the end of the round:
    /// the fold before which all is folded, where that is known.
    pub fn next_part(&mut self, slots: &mut [Slot]) -> Result<Option<usize>, Option<u64>> {
        if let Stage::Sealed(last) = self.stage {
            let is_older = |slot: &mut Slot| (1..=last).contains(&slot.look_at_seal());
            if slots.iter_mut().any(is_older) {
                return Ok(None);
            }
            self.stage = Stage::Rest(0);
        }
        let Stage::Rest(from) = self.stage else {
            return Ok(None);
        };
        let lags = |slot: &Slot| slot.folded.offset < slot.noted as usize;
        let rest = slots.iter().enumerate().skip(from);
        match rest.into_iter().find(|(_, slot)| lags(slot)) {
            Some((index, _)) => {
                self.stage = Stage::Rest(index + 1);
                Ok(Some(index))
            }
            None => Err(self.is_whole.then_some(self.since)),
        }
    }

    /// A chunk could not be folded as far as was noted.
    pub fn give_up(&mut self) {
        self.is_whole = false;
    }
}

impl Default for Round {
    fn default() -> Self {
        Self::new()
    }
}

/// The sealed chunk of the lowest seal.
pub fn oldest(slots: &mut [Slot]) -> Option<usize> {
    let sealed = slots.iter_mut().enumerate();
    let sealed = sealed.filter_map(|(index, slot)| match slot.look_at_seal() {
        0 => None,
        seal => Some((seal, index)),
    });
    sealed.min().map(|(_, index)| index)
}
