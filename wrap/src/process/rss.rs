//! Resident memory: when to ask the kernel, and what for.
//!
//! A reading costs most of a microsecond, so it is taken by growth, by time,
//! and before a release that would let a peak go unseen. `ru_maxrss` is
//! inherited through exec: at or below its value at the start it says nothing
//! of this image, and then /proc/self/statm is asked.

use crate::log::stream::Stream;
use crate::platform::clock;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::process::census::{self, Occasion};
use crate::process::guard;
use crate::process::recorder::RECORDER;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use memlog_format::counter::Counter;
use memlog_format::ext::{Ext, Rss, RssSource};

/// Bytes that may come or go unasked, at least.
const STEP: u64 = 1 << 20;
/// Milliseconds that may pass unasked.
const EVERY_MS: u64 = 10;

/// Where chunks go out by writes, milliseconds that may pass until all that is in
/// them goes out, full or not: so much is lost when the job is ended from outside.
const WRITE_EVERY_MS: u64 = 5000;
/// It goes out as well when memory has grown by this part, for then that end is
/// near; but not more often than this.
const WRITE_GROWTH: u64 = 8;
const WRITE_APART_MS: u64 = 100;

/// What all threads share of it.
pub struct Shared {
    step: AtomicU64,
    remapped: AtomicU64,
    asked_at: AtomicU64,
    floor_kb: AtomicU64,
    high_floor_kb: AtomicU64,
    /// Whether recording was off before.
    was_off: AtomicBool,
    written_at: AtomicU64,
    written_kb: AtomicU64,
}

impl Shared {
    /// Nothing known.
    pub const fn new() -> Self {
        Self {
            step: AtomicU64::new(STEP),
            remapped: AtomicU64::new(0),
            asked_at: AtomicU64::new(0),
            floor_kb: AtomicU64::new(0),
            high_floor_kb: AtomicU64::new(0),
            was_off: AtomicBool::new(false),
            written_at: AtomicU64::new(0),
            written_kb: AtomicU64::new(0),
        }
    }

    /// Bytes that may come or go before the next reading.
    #[inline]
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Whether bytes that are mapped or unmapped are worth a reading, with those since
    /// the last that was.
    pub fn is_much(&self, bytes: u64) -> bool {
        let before = self.remapped.fetch_add(bytes, Ordering::Relaxed);
        let is_much = before.saturating_add(bytes) >= self.step();
        if is_much {
            self.remapped.store(0, Ordering::Relaxed);
        }
        is_much
    }

    /// Notes what was inherited.
    pub fn start(&self) {
        let floor = Os::usage().max_rss_kb;
        self.floor_kb.store(floor, Ordering::Relaxed);
        RECORDER.ground.counters.set(Counter::MaxRssFloorKb, floor);
    }

    /// Recording was off: what the kernel has seen until now says nothing of what is
    /// recorded.
    pub fn start_anew(&self) {
        let order = Ordering::Relaxed;
        self.was_off.store(true, order);
        self.floor_kb.store(Os::usage().max_rss_kb, order);
        self.high_floor_kb.store(Os::high_water_kb(), order);
    }

    /// The kernel's ru_maxrss, unless what was not recorded may have made it.
    pub fn known_max_kb(&self, is_on: bool) -> u64 {
        let max_kb = Os::usage().max_rss_kb;
        let is_seen =
            !self.was_off.load(Ordering::Relaxed) || max_kb > self.floor_kb.load(Ordering::Relaxed);
        if is_on && is_seen { max_kb } else { 0 }
    }

    /// Notes what the program has before its first recorded call.
    pub fn note_beginning(&self) {
        let rest_kb = Os::rss_now_kb().saturating_sub(RECORDER.log.own_kb());
        RECORDER.ground.counters.set(Counter::StartRssKb, rest_kb);
    }

    /// A forked child's.
    pub fn reset(&self) {
        self.step.store(STEP, Ordering::Relaxed);
        self.remapped.store(0, Ordering::Relaxed);
        self.asked_at.store(0, Ordering::Relaxed);
        self.was_off.store(false, Ordering::Relaxed);
        self.written_at.store(0, Ordering::Relaxed);
        self.written_kb.store(0, Ordering::Relaxed);
    }

    /// Whether unfinished chunks are to be written out, and it is for this
    /// thread to do it.
    pub fn takes_writing(&self, now_ms: u64, peak_kb: u64) -> bool {
        let (at, kb) = (&self.written_at, &self.written_kb);
        let before = at.load(Ordering::Relaxed);
        let passed_ms = now_ms.saturating_sub(before);
        let written_kb = kb.load(Ordering::Relaxed);
        let has_grown = peak_kb > written_kb + written_kb / WRITE_GROWTH;
        let is_due = passed_ms >= WRITE_EVERY_MS || has_grown && passed_ms >= WRITE_APART_MS;
        let order = Ordering::Relaxed;
        let taken = is_due && at.compare_exchange(before, now_ms, order, order).is_ok();
        if taken {
            kb.fetch_max(peak_kb, Ordering::Relaxed);
        }
        taken
    }

    /// Whether the last reading is of another millisecond than this tick.
    pub fn is_old(&self, tick: u64) -> bool {
        self.asked_at.load(Ordering::Relaxed) != clock::ms_of(tick)
    }

    /// Whether it is time to ask again.
    pub fn is_due(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.asked_at.load(Ordering::Relaxed)) >= EVERY_MS
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
    read(stream, Occasion::Usual);
}

/// The same where much is about to go.
#[cold]
pub fn poll_before_fall(stream: &mut Stream) {
    read(stream, Occasion::Fall);
}

fn read(stream: &mut Stream, occasion: Occasion) {
    stream.note_reading();
    if RECORDER.ground.must_be_quiet() {
        return;
    }
    let shared = &RECORDER.rss;
    stream.look_at_time();
    // Before the kernel is asked: what others do from now on they stamp, and so
    // it comes after. What they do without knowing is from before, by their
    // clocks, which are the same.
    stream.readings_seen = RECORDER.log.readings.begin();
    let now_ms = clock::ms_of(stream.tick());
    shared.asked_at.store(now_ms, Ordering::Relaxed);
    let usage = Os::usage();
    if clock::is_fine() {
        // Times of others are as fine: what is of this one or before, and has no
        // stamp since, was done before the kernel was asked.
        stream.look_at_time();
    }
    RECORDER.ground.counters.set(Counter::CpuUs, usage.cpu_us);
    let peak_kb = usage.max_rss_kb;
    let mut reading = Rss {
        source: RssSource::MaxRss,
        peak_kb,
        now_kb: 0,
        own_kb: RECORDER.log.own_kb(),
        stamp: RECORDER.log.stamp(),
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
    RECORDER.census.look(&census::Reading {
        stamp: reading.stamp,
        tick: stream.tick(),
        kb: (known / 1024).saturating_sub(reading.own_kb),
        cpu_us: usage.cpu_us,
        occasion,
    });
    if RECORDER.log.writes_out() && shared.takes_writing(now_ms, known / 1024) {
        // What they name goes first.
        RECORDER
            .log
            .meta
            .with(Patience::None, |meta| meta.flush(&RECORDER.log));
        RECORDER.log.write_held();
    }
    if let Some(act) = RECORDER.guard.look(stream, occasion == Occasion::End) {
        read_high_water(stream);
        guard::carry_out(stream, act);
    }
}

/// The same, and what is resident at this very moment besides the high-water
/// mark.
#[cold]
pub fn read_exactly(stream: &mut Stream) {
    poll(stream);
    if !RECORDER.ground.is_quiet() {
        read_high_water(stream);
    }
}

/// The last reading.
#[cold]
pub fn poll_final(stream: &mut Stream) -> u64 {
    read(stream, Occasion::End);
    match RECORDER.ground.is_quiet() {
        true => 0,
        false => {
            let high = read_high_water(stream);
            RECORDER.ground.counters.set(Counter::VmHwmKb, high);
            high
        }
    }
}

/// Reads the high-water mark of this very image. Its counter is left alone, for
/// readers take that for the last word.
#[cold]
fn read_high_water(stream: &mut Stream) -> u64 {
    let high = Os::high_water_kb();
    let shared = &RECORDER.rss;
    if shared.was_off.load(Ordering::Relaxed)
        && high <= shared.high_floor_kb.load(Ordering::Relaxed)
    {
        // It was reached while recording was off.
        stream.write_ext(&Ext::Rss(Rss {
            source: RssSource::Statm,
            peak_kb: high,
            now_kb: Os::rss_now_kb(),
            own_kb: RECORDER.log.own_kb(),
            stamp: RECORDER.log.stamp(),
        }));
        return 0;
    }
    stream.write_ext(&Ext::Rss(Rss {
        source: RssSource::VmHwm,
        peak_kb: high,
        now_kb: Os::rss_now_kb(),
        own_kb: RECORDER.log.own_kb(),
        stamp: RECORDER.log.stamp(),
    }));
    high
}
