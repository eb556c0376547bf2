//! One chunk that is written anew into another.
#![allow(unsafe_code)]
//! # Safety
//! Both chunks are whole, mapped, and held by the caller alone.

use super::{Cull, Rule, Written, find, rewrite};
use crate::log::sink::{self, Chunk};
use memlog_format::chunk::{CHUNK_SIZE, Header};

/// Where nearly all stays the chunk stays as it is.
const ROOM: usize = CHUNK_SIZE - CHUNK_SIZE / 16;

/// A chunk that is full, and one to write it into.
#[derive(Clone, Copy)]
pub struct Anew {
    /// The chunk.
    pub full: Chunk,
    /// How much of it is valid.
    pub committed: usize,
    /// From where on it may be changed.
    pub from: usize,
    /// Forks of before that.
    pub forks: u32,
    /// The other chunk.
    pub spare: Chunk,
}

/// How far it is.
#[derive(Clone, Copy)]
pub enum Step {
    /// What is in the other chunk is about to count.
    Before,
    /// It counts.
    Done,
}

impl Cull {
    /// Writes a chunk anew; `tell` is told what is in the other one right before that counts,
    /// and when it does. Nothing where the chunk stays as it is.
    ///
    /// # Safety
    /// The caller holds both chunks, and they are mapped as a whole.
    pub unsafe fn write_anew(
        &self,
        anew: Anew,
        rule: Rule,
        mut tell: impl FnMut(Step, &Written),
    ) -> Option<Written> {
        // SAFETY: by the caller.
        let (bytes, out) = unsafe {
            let bytes = core::slice::from_raw_parts(anew.full.at, anew.committed.min(CHUNK_SIZE));
            (bytes, core::slice::from_raw_parts_mut(anew.spare.at, ROOM))
        };
        let header = Header::decode(bytes).ok().flatten()?;
        self.in_room(|scratch| {
            let blocks = find(scratch, &header, (bytes, anew.from), rule)?;
            if blocks == 0 {
                return None;
            }
            let unborn = Header {
                committed: 0,
                culled: header.culled.wrapping_add(1),
                ..header
            };
            // SAFETY: by the caller. What lies in it does not count.
            unsafe { sink::renew(anew.spare, &unborn) };
            let written = rewrite(scratch, &header, (bytes, anew.from), out)?;
            tell(Step::Before, &written);
            let is_done = self.change(anew.forks, || {
                // SAFETY: by the caller.
                unsafe {
                    sink::commit(anew.spare.at, written.committed);
                    sink::commit(anew.full.at, 0);
                }
                // Before signals come and forks go on: nobody finds the stream amid this.
                tell(Step::Done, &written);
            });
            is_done.then_some(written)
        })
    }
}
