//! Time in ticks since the start: coarse, monotonic, without a system call.

use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of a tick.
pub const TICK_NS: u64 = 1_000_000;

static START_NS: AtomicU64 = AtomicU64::new(0);

/// Time starts now.
pub fn start() {
    START_NS.store(Os::ticks_ns(), Ordering::Relaxed);
}

/// Ticks since the start.
#[inline]
pub fn tick() -> u64 {
    Os::ticks_ns().saturating_sub(START_NS.load(Ordering::Relaxed)) / TICK_NS
}
