//! Who writes which stream. A stream has one writer at a time: the thread
//! whose id stands in its claim. Nobody has to say goodbye: a claim whose
//! thread the kernel no longer knows can be taken over, so threads may end in
//! any way they like, and no destructor of ours runs in them.

use crate::sync::{AtomicU32, Ordering};

/// The claim of one stream.
pub struct Claim<'a>(pub &'a AtomicU32);

/// Nobody's.
pub const FREE: u32 = 0;
/// A guest's in this memory, whom the kernel counts to another process: never
/// taken over, for he gives the stream back before he goes.
pub const GUEST: u32 = u32::MAX;
/// From here on, and below [`GUEST`]: of threads whose ids could not be asked
/// for. The kernel knows none of them.
pub const UNKNOWN_TID: u32 = 1 << 31;

impl Claim<'_> {
    /// The holder, or [`FREE`].
    pub fn holder(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Takes the stream from `from`, which is [`FREE`] or a thread that is
    /// gone. Acquire pairs with `release`; a dead thread's writes were ordered
    /// before its end by the kernel that told us of it.
    pub fn take(&self, from: u32, tid: u32) -> bool {
        let order = (Ordering::AcqRel, Ordering::Acquire);
        self.0.compare_exchange(from, tid, order.0, order.1).is_ok()
    }

    /// Gives the stream up.
    pub fn release(&self) {
        self.0.store(FREE, Ordering::Release);
    }
}
