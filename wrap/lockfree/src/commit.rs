//! The commit of a chunk: how many of its bytes are valid, in one word of its
//! header. The writer is alone; readers are other processes, or whoever looks
//! at the file after a death.

use crate::sync::{AtomicU32, Ordering};

/// The committed length of one chunk, little-endian as in the file.
pub struct Committed<'a>(pub &'a AtomicU32);

impl Committed<'_> {
    /// Makes the first `bytes` bytes valid: the one release store of an event.
    /// Release pairs with `length`.
    #[inline]
    pub fn publish(&self, bytes: u32) {
        self.0.store(bytes.to_le(), Ordering::Release);
    }

    /// How many bytes are valid. Acquire: who sees a length sees all the bytes
    /// before it.
    pub fn length(&self) -> u32 {
        u32::from_le(self.0.load(Ordering::Acquire))
    }
}
