//! What the log may take and what it has taken ahead, known without its lock.

use super::total::Total;
use core::sync::atomic::{AtomicU64, Ordering};

/// Room on the disk and in memory.
pub struct Room {
    /// What all logs of the tree may take.
    pub total: Total,
    /// Bytes of the windows that are ready, or are being made so, and that nobody
    /// holds yet: to make them ready takes milliseconds, in which others read
    /// resident memory.
    unused: AtomicU64,
}

impl Room {
    /// No bound, and nothing taken.
    pub const fn new() -> Self {
        Self {
            total: Total::new(),
            unused: AtomicU64::new(0),
        }
    }

    /// Bytes of the windows that are ready, and that nobody holds yet.
    pub fn unused_bytes(&self) -> u64 {
        self.unused.load(Ordering::Relaxed)
    }

    /// So many are.
    pub(super) fn note_unused(&self, bytes: usize) {
        self.unused.store(bytes as u64, Ordering::Relaxed);
    }

    /// So much is about to be made ready besides.
    pub(super) fn expect_unused(&self, bytes: usize) {
        self.unused.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}
