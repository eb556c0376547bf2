//! Time in ticks since the start: monotonic, without a system call. Coarse, in
//! steps of what the kernel's tick is, unless fine time was asked for and can be
//! had; then each look at it costs a reading of the processor's counter.

use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Nanoseconds of a tick where time is coarse.
const COARSE_TICK_NS: u64 = 1_000_000;
/// The same where it is fine: less than any event takes.
const FINE_TICK_NS: u64 = 10;
/// Fine ticks of a millisecond.
const FINE_TICKS: u64 = 1_000_000 / FINE_TICK_NS;

/// Ticks of a millisecond, by the coarse clock.
const COARSE: u8 = 0;
/// Fine ticks, by the fine clock.
const FINE: u8 = 1;
/// Fine ticks, by the coarse clock: the other may not be read any more.
const FINE_BY_COARSE: u8 = 2;

static KIND: AtomicU8 = AtomicU8::new(COARSE);
static START_NS: AtomicU64 = AtomicU64::new(0);

/// Time starts now. Where it could not be fine any more it is coarse, in its ticks
/// as well.
pub fn start() {
    let order = Ordering::Relaxed;
    let _ = KIND.compare_exchange(FINE_BY_COARSE, COARSE, order, order);
    START_NS.store(now_ns(), Ordering::Relaxed);
}

/// Time is fine, and starts now. The caller knows that the fine clock can be read.
pub fn be_fine() {
    KIND.store(FINE, Ordering::Relaxed);
    start();
}

/// From here on the fine clock is not to be read: it would be the end of the
/// program. Whether it was.
pub fn be_coarse() -> bool {
    let order = Ordering::Relaxed;
    KIND.compare_exchange(FINE, FINE_BY_COARSE, order, order)
        .is_ok()
}

/// Whether each event is to have a time of its own.
#[inline]
pub fn is_fine() -> bool {
    KIND.load(Ordering::Relaxed) != COARSE
}

/// Nanoseconds of a tick of the log.
pub fn tick_ns() -> u64 {
    match is_fine() {
        true => FINE_TICK_NS,
        false => COARSE_TICK_NS,
    }
}

/// Ticks of the log since the start.
#[inline]
pub fn tick() -> u64 {
    match is_fine() {
        true => fine_tick(),
        false => ms(),
    }
}

#[inline(never)]
fn fine_tick() -> u64 {
    now_ns().saturating_sub(START_NS.load(Ordering::Relaxed)) / FINE_TICK_NS
}

/// Milliseconds since the start, by the coarse clock: for what is done now and
/// then, and a log's ticks where time is coarse.
#[inline]
pub fn ms() -> u64 {
    Os::ticks_ns().saturating_sub(START_NS.load(Ordering::Relaxed)) / COARSE_TICK_NS
}

/// How many milliseconds a log's ticks are.
#[inline]
pub fn ms_of(tick: u64) -> u64 {
    match is_fine() {
        true => tick / FINE_TICKS,
        false => tick,
    }
}

fn now_ns() -> u64 {
    match KIND.load(Ordering::Relaxed) {
        FINE => Os::fine_ns(),
        _ => Os::ticks_ns(),
    }
}
