//! A stream beside a fork: the chunk of a child before it has a log, and of a
//! parent in its child.
#![allow(unsafe_code)]
//! # Safety
//! As in `stream`.

use super::{Scopes, Stream, culled::Culled};
use crate::platform::sys::{Os, Sys};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::event::Deltas;

impl Stream {
    /// An announced release was completed or revoked: the chunk may end.
    #[inline]
    pub fn settle_announced(&mut self) {
        self.announced = false;
        if self.is_private {
            self.leave_private_chunk();
        }
    }

    /// Leaves a chunk that a forked child began before it had a file.
    #[cold]
    pub fn leave_private_chunk(&mut self) {
        if self.is_private && !self.announced && !self.log().is_deferred() {
            self.next_chunk();
        }
    }

    /// In a child that has just forked: where the parent's stream stands. What is
    /// still written to its chunk goes into memory of the child's own.
    #[cold]
    pub fn part(&mut self) -> (u32, u32) {
        self.lost = 0;
        if self.log().ground.is_quiet() {
            // A filter may kill for the call that it takes.
            (self.chunk, self.full_at) = (core::ptr::null_mut(), 0);
        } else if !self.chunk.is_null() {
            // SAFETY: the chunk is held by this stream, and is only written to.
            unsafe { Os::memory_over(self.chunk, CHUNK_SIZE) };
        }
        self.position()
    }

    /// Back to a stream that has written nothing: a forked child's.
    pub fn reset(&mut self) {
        (self.chunk, self.full_at) = (core::ptr::null_mut(), 0);
        (self.committed, self.sequence, self.tid) = (0, 0, 0);
        self.deltas = Deltas::at_start(0, 0);
        (self.allowance, self.allowed, self.settled) = (0, 0, 0);
        (self.unstamped, self.lost) = (0, 0);
        self.scopes = Scopes::NONE;
        self.culled = Culled::NONE;
    }
}
