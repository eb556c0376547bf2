//! The census: what is resident, mapping by mapping, near each new peak and at the end.
//!
//! It is taken with a reading of resident memory (see `rss`), seldom, and within a
//! budget of processor time:
//!
//! ```text
//! grown  resident memory is a 16th above the last census         1 % of all so far
//!        (a quarter after the 64th)
//! full   it is a 64th above the last census, and much is about   3 %, and 2 ms where
//!        to go, or it did not grow over two readings             it is 16 MiB or more
//! end    the program ends, and it is so much above; or anyhow    3 %, or 1 %; the same
//! ```
//!
//! The kernel's own count takes tens of milliseconds a gigabyte, in the midst of
//! somebody's malloc: it is asked for where that is little, or a program of up to 2 GiB
//! ends. Else pages are counted here, which takes .7 ms a gigabyte. There may be more of
//! these than the kernel counts, of zeros that were only read: then it is asked after all,
//! where that takes up to 20 ms.

pub mod pages;
pub mod taking;

use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use memlog_format::meta::Record;
use memlog_format::resident::{self, CensusWhy};
use taking::{How, Place, Taker};

/// What the user wants of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Detail {
    /// None.
    Never,
    /// What it costs is bounded.
    #[default]
    Cheap,
    /// Whenever there is more than at the last.
    Always,
}

/// A reading of resident memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Its stamp.
    pub stamp: u64,
    /// When.
    pub tick: u64,
    /// The most that the program had so far, or has now where only that is known,
    /// without the recorder's own.
    pub kb: u64,
    /// Processor time that the process has used.
    pub cpu_us: u64,
    /// When it was taken.
    pub occasion: Occasion,
}

/// At what a reading was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// Any time.
    #[default]
    Usual,
    /// Much memory is about to go.
    Fall,
    /// The program ends.
    End,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// Resident memory at the last census.
    pub taken_kb: u64,
    /// The most at any reading.
    pub seen_kb: u64,
    /// Readings since, before this one.
    pub still: u64,
    /// How many were taken.
    pub count: u64,
    /// What all of them cost.
    pub spent_us: u64,
    /// What the last one cost that counted pages: more where there are many mappings.
    pub last_us: u64,
}

/// With so much a short program too may spend ...
const LARGE_KB: u64 = 16 << 10;
/// ... so long near its peak, and at its end.
const ALLOWED_US: u64 = 2_000;
/// After so many readings without growth it grows no more.
const STILL: u64 = 2;
/// So many are taken often.
const OFTEN: u64 = 64;
/// The kernel may count for so long amid a call.
const SHORT_US: u64 = 1_000;
/// ... and for so long where there are more pages than it has counted.
const AGAIN_US: u64 = 20_000;
/// No more is begun at the end: half of what a census may take.
const LONG_US: u64 = taking::MOST_NS / 2_000;
/// A 64th of the last census, as a power of two.
const A_64TH: u32 = 6;
const A_16TH: u32 = 4;
const A_QUARTER: u32 = 2;
/// Less than this is no growth.
const LEAST_KB: u64 = 256;

impl Past {
    /// Whether one is due, and why.
    pub fn why(&self, reading: &Reading, detail: Detail) -> Option<(CensusWhy, How)> {
        let is_last = reading.occasion == Occasion::End;
        let is_still = reading.kb <= self.seen_kb && self.still >= STILL;
        let is_full = is_still || reading.occasion == Occasion::Fall;
        let part = if self.count < OFTEN {
            A_16TH
        } else {
            A_QUARTER
        };
        let why = match () {
            _ if detail == Detail::Never => return None,
            _ if is_last => CensusWhy::End,
            _ if is_full && self.is_below(reading, A_64TH) => CensusWhy::Full,
            _ if self.is_below(reading, part) => CensusWhy::Grown,
            _ => return None,
        };
        let left_us = self.left_us(reading, why);
        let is_free = detail == Detail::Always;
        let counted_us = How::Counted.expected_us(reading.kb);
        // At the end nobody waits, but it has to come to an end.
        let is_short = counted_us <= SHORT_US || is_last && counted_us <= LONG_US;
        if is_short && (is_free || counted_us <= left_us) {
            return Some((why, How::Counted));
        }
        let by_pages_us = How::ByPages.expected_us(reading.kb).max(self.last_us);
        let is_cheap = by_pages_us <= left_us;
        (is_free || is_cheap).then_some((why, How::ByPages))
    }

    /// Whether the kernel may be asked as well, after a census that cost so much.
    pub fn may_count(
        &self,
        reading: &Reading,
        (why, cost_us): (CensusWhy, u64),
        detail: Detail,
    ) -> bool {
        let expected_us = How::Counted.expected_us(reading.kb);
        let is_cheap = cost_us.saturating_add(expected_us) <= self.left_us(reading, why);
        expected_us <= AGAIN_US && (is_cheap || detail == Detail::Always)
    }

    /// Whether the last census had less, by a part of 2 to the power of `bits`.
    fn is_below(&self, reading: &Reading, bits: u32) -> bool {
        let step = (self.taken_kb >> bits).max(LEAST_KB);
        reading.kb >= self.taken_kb.saturating_add(step)
    }

    /// Processor time that one may take.
    fn left_us(&self, reading: &Reading, why: CensusWhy) -> u64 {
        let percent = match why {
            CensusWhy::Grown => 1,
            CensusWhy::End if !self.is_below(reading, A_64TH) => 1,
            CensusWhy::Full | CensusWhy::End => 3,
        };
        let is_large = why != CensusWhy::Grown && reading.kb >= LARGE_KB;
        let allowed_us = if is_large { ALLOWED_US } else { 0 };
        let budget_us = reading.cpu_us / 100 * percent + allowed_us;
        budget_us.saturating_sub(self.spent_us)
    }
}

/// What all threads share of it.
pub struct Censuses {
    detail: AtomicU8,
    taken_kb: AtomicU64,
    seen_kb: AtomicU64,
    still: AtomicU64,
    count: AtomicU64,
    spent_us: AtomicU64,
    last_us: AtomicU64,
    place: &'static Place,
}

impl Censuses {
    /// None so far.
    pub const fn new(place: &'static Place) -> Self {
        Self {
            detail: AtomicU8::new(Detail::Cheap as u8),
            taken_kb: AtomicU64::new(0),
            seen_kb: AtomicU64::new(0),
            still: AtomicU64::new(0),
            count: AtomicU64::new(0),
            spent_us: AtomicU64::new(0),
            last_us: AtomicU64::new(0),
            place,
        }
    }

    /// Takes what the user wants.
    pub fn obey(&self, detail: Detail) {
        self.detail.store(detail as u8, Ordering::Relaxed);
    }

    /// A forked child's: it has taken none.
    pub fn reset(&self) {
        let all = [&self.taken_kb, &self.seen_kb, &self.still, &self.count];
        for one in all.into_iter().chain([&self.spent_us, &self.last_us]) {
            one.store(0, Ordering::Relaxed);
        }
    }

    /// Resident memory was read: takes a census if one is due.
    #[cold]
    pub fn look(&self, reading: &Reading) {
        let past = self.past();
        match reading.kb > past.seen_kb {
            true => self.still.store(0, Ordering::Relaxed),
            false => self.still.store(past.still + 1, Ordering::Relaxed),
        }
        self.seen_kb.fetch_max(reading.kb, Ordering::Relaxed);
        let Some((why, how)) = past.why(reading, self.detail()) else {
            return;
        };
        // A vfork's child shares our memory, and a private log is to stay small.
        let ground = &RECORDER.ground;
        if RECORDER.log.is_deferred() || Os::pid() != ground.pid.load(Ordering::Relaxed) {
            return;
        }
        // Before, so that a failure is not tried again at once.
        self.taken_kb.store(reading.kb, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        let began_us = Os::usage().cpu_us;
        let is_odd = self.take(reading, (why, how), began_us);
        let mut cost_us = Os::usage().cpu_us.saturating_sub(began_us);
        if how == How::ByPages {
            self.last_us.store(cost_us, Ordering::Relaxed);
        }
        if is_odd && past.may_count(reading, (why, cost_us), self.detail()) {
            self.take(reading, (why, How::Counted), began_us);
            cost_us = Os::usage().cpu_us.saturating_sub(began_us);
        }
        self.spent_us.fetch_add(cost_us, Ordering::Relaxed);
    }

    fn past(&self) -> Past {
        let get = |word: &AtomicU64| word.load(Ordering::Relaxed);
        Past {
            taken_kb: get(&self.taken_kb),
            seen_kb: get(&self.seen_kb),
            still: get(&self.still),
            count: get(&self.count),
            spent_us: get(&self.spent_us),
            last_us: get(&self.last_us),
        }
    }

    fn detail(&self) -> Detail {
        let detail = self.detail.load(Ordering::Relaxed);
        let all = [Detail::Never, Detail::Cheap, Detail::Always];
        let known = all.into_iter().find(|&one| one as u8 == detail);
        known.unwrap_or_default()
    }

    /// Takes it. The lock of the header chunks makes it the only one. True if there were
    /// more pages than the kernel counts: pages of zeros that were only read.
    fn take(&self, reading: &Reading, (why, how): (CensusWhy, How), began_us: u64) -> bool {
        let log = &RECORDER.log;
        // The last one does not come again.
        let patience = match why {
            CensusWhy::End => Patience::Bounded,
            _ => Patience::None,
        };
        let taken = log.meta.with(patience, |meta| {
            let (resident_kb, own_kb) = (Os::rss_now_kb(), log.own_kb());
            let taker = Taker::begin(how, self.place, &RECORDER.ground)?;
            let mut is_written = true;
            let outcome = taker.run(|mapped| {
                is_written &= meta.append(log, &Record::Mapped(*mapped));
            });
            let is_odd = outcome.resident_kb > resident_kb + resident_kb / 32 + 1024;
            let census = resident::Census {
                stamp: reading.stamp,
                tick: reading.tick,
                resident_kb,
                own_kb,
                cost_us: Os::usage().cpu_us.saturating_sub(began_us),
                why,
                is_whole: outcome.is_whole && is_written,
                is_counted: how == How::Counted,
            };
            meta.append(log, &Record::Census(census));
            Some(is_odd && how == How::ByPages)
        });
        taken.flatten() == Some(true)
    }
}

impl How {
    /// What it costs: a part for the mappings, and one for each page.
    fn expected_us(self, kb: u64) -> u64 {
        match self {
            How::Counted => 250 + kb / 48,
            How::ByPages => 250 + kb / 1500,
        }
    }
}
