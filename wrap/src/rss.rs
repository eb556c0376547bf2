//! Resident memory: when to ask the kernel, and what for.
//!
//! A reading costs most of a microsecond, so it is taken by growth, by time,
//! and before a release that would let a peak go unseen. `ru_maxrss` is
//! inherited through exec: at or below its value at the start it says nothing
//! of this image, and then /proc/self/statm is asked.

use crate::guard;
use crate::recorder::RECORDER;
use crate::stream::Stream;
use crate::sys::{Os, Sys};
use core::sync::atomic::{AtomicU64, Ordering};
use memlog_format::counter::Counter;
use memlog_format::ext::{Ext, Rss, RssSource};

/// Bytes that may come or go unasked, at least.
const STEP: u64 = 1 << 20;
/// Ticks that may pass unasked.
const EVERY_TICKS: u64 = 10;

/// What all threads share of it.
pub struct Shared {
    step: AtomicU64,
    asked_at: AtomicU64,
    floor_kb: AtomicU64,
}

impl Shared {
    /// Nothing known.
    pub const fn new() -> Self {
        Self {
            step: AtomicU64::new(STEP),
            asked_at: AtomicU64::new(0),
            floor_kb: AtomicU64::new(0),
        }
    }

    /// Bytes that may come or go before the next reading.
    #[inline]
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Notes what was inherited.
    pub fn start(&self) {
        let floor = Os::usage().max_rss_kb;
        self.floor_kb.store(floor, Ordering::Relaxed);
        RECORDER.counters.set(Counter::MaxRssFloorKb, floor);
    }

    /// A forked child's.
    pub fn reset(&self) {
        self.step.store(STEP, Ordering::Relaxed);
        self.asked_at.store(0, Ordering::Relaxed);
    }

    /// Whether it is time to ask again.
    pub fn is_due(&self, tick: u64) -> bool {
        tick.saturating_sub(self.asked_at.load(Ordering::Relaxed)) >= EVERY_TICKS
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads resident memory and writes it down.
#[cold]
pub fn poll(stream: &mut Stream) {
    read(stream, false);
}

fn read(stream: &mut Stream, ends: bool) {
    stream.note_reading();
    if RECORDER.must_be_quiet() {
        return;
    }
    let shared = &RECORDER.rss;
    shared.asked_at.store(stream.tick(), Ordering::Relaxed);
    let usage = Os::usage();
    RECORDER.counters.set(Counter::CpuUs, usage.cpu_us);
    let peak_kb = usage.max_rss_kb;
    let mut reading = Rss {
        source: RssSource::MaxRss,
        peak_kb,
        now_kb: 0,
        own_kb: RECORDER.own_kb(),
        stamp: RECORDER.stamp(),
    };
    if peak_kb <= shared.floor_kb.load(Ordering::Relaxed) {
        reading.source = RssSource::Statm;
        reading.now_kb = Os::rss_now_kb();
    }
    let known = reading.now_kb.max(reading.peak_kb) * 1024;
    let resident = if reading.now_kb > 0 {
        reading.now_kb * 1024
    } else {
        known
    };
    shared
        .step
        .store((resident / 100).max(STEP), Ordering::Relaxed);
    stream.write_ext(&Ext::Rss(reading));
    if let Some(act) = RECORDER.guard.look(stream, ends) {
        read_high_water(stream);
        guard::carry_out(stream, act);
    }
}

/// The last reading.
#[cold]
pub fn poll_final(stream: &mut Stream) -> u64 {
    read(stream, true);
    match RECORDER.is_quiet() {
        true => 0,
        false => {
            let high = read_high_water(stream);
            RECORDER.counters.set(Counter::VmHwmKb, high);
            high
        }
    }
}

/// Reads the high-water mark of this very image. Its counter is left alone, for
/// readers take that for the last word.
#[cold]
fn read_high_water(stream: &mut Stream) -> u64 {
    let high = Os::high_water_kb();
    stream.write_ext(&Ext::Rss(Rss {
        source: RssSource::VmHwm,
        peak_kb: high,
        now_kb: Os::rss_now_kb(),
        own_kb: RECORDER.own_kb(),
        stamp: RECORDER.stamp(),
    }));
    high
}
