//! What every storey asks of this process: what is counted, whether system
//! calls are out of the question, and whether the log is this process's. The
//! storeys get it by reference; its owner is the recorder.
#![allow(unsafe_code)]
//! # Safety
//! The life word is a static of the assembly, at home on a page of its own.

use super::arch;
use super::clock;
use super::counters::Counters;
use super::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use memlog_format::counter::Counter;
use memlog_lockfree::life::{Life, LifeWord};

/// In `quiet`: a filter is there.
const THERE: u32 = 1;
/// One may come by a call that no door sees, for the process has given up
/// privileges.
const HERALDED: u32 = 2;
/// One is coming: this once for each call that may set it.
const COMING: u32 = 4;

/// The ground that all storeys stand on.
pub struct Ground {
    /// What is counted.
    pub counters: Counters,
    /// The process that the recorder was started in.
    pub pid: AtomicU32,
    quiet: AtomicU32,
    parted: AtomicBool,
}

impl Ground {
    /// Of a process in which nothing has happened.
    pub const fn new() -> Self {
        Self {
            counters: Counters::new(),
            pid: AtomicU32::new(0),
            quiet: AtomicU32::new(0),
            parted: AtomicBool::new(false),
        }
    }

    /// The life word.
    #[inline]
    pub fn life(&self) -> LifeWord<'static> {
        // SAFETY: see the head of this file.
        LifeWord(unsafe { &arch::memlog_life })
    }

    /// A filter is there: no more unusual system calls, for good.
    #[cold]
    fn be_quiet(&self) {
        let before = self.quiet.fetch_or(THERE, Ordering::AcqRel);
        if before & THERE == 0 {
            self.counters.set(Counter::QuietSince, clock::tick() + 1);
        }
    }

    /// A call that may set a filter is about to be made: none till it is known
    /// what came of it.
    pub fn expect_filter(&self) {
        self.quiet.fetch_add(COMING, Ordering::AcqRel);
    }

    /// That call is through.
    pub fn end_expecting(&self, is_there: bool) {
        if is_there {
            self.be_quiet();
        }
        self.quiet.fetch_sub(COMING, Ordering::AcqRel);
    }

    /// In a forked child: a call of the parent's other threads is none of its.
    /// Whether there was one.
    pub fn expect_no_filter(&self) -> bool {
        self.quiet.fetch_and(THERE | HERALDED, Ordering::AcqRel) >= COMING
    }

    /// Whether a filter is there, for good.
    pub fn is_filtered(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & THERE != 0
    }

    /// A filter may come by a call that no door sees.
    pub fn note_herald(&self) {
        self.quiet.fetch_or(HERALDED, Ordering::AcqRel);
    }

    /// Whether that is so.
    pub fn is_heralded(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & HERALDED != 0
    }

    /// Whether unusual system calls are out of the question.
    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed) & !HERALDED != 0
    }

    /// The same on the way to what takes system calls: where a filter may have
    /// come unseen, that is asked.
    #[inline]
    pub fn is_quiet_by_now(&self) -> bool {
        match self.quiet.load(Ordering::Relaxed) {
            0 => false,
            HERALDED => self.must_be_quiet(),
            _ => true,
        }
    }

    /// Before files are opened: whether that is out of the question, for a
    /// filter came that no door has seen. The question itself kills only where
    /// what follows would as well: hardly a filter lets files be opened and
    /// forbids a process to ask for its filter.
    #[cold]
    pub fn must_be_quiet(&self) -> bool {
        if !self.is_quiet() && !Os::was_filtered() && Os::is_filtered() {
            self.be_quiet();
        }
        self.is_quiet()
    }

    /// In a child that has just forked: the log is the parent's from now on.
    pub fn part(&self) {
        self.parted.store(true, Ordering::Relaxed);
    }

    /// Whether the log is the parent's, and not this process's: its file is not
    /// to be touched, and no chunk of it is given out. A fork that no door has
    /// seen wipes the life word all the same.
    pub fn is_parted(&self) -> bool {
        self.was_parted() || self.life().get() == Life::Off
    }

    /// Whether a door saw it part from its parent: who holds a lock is not here.
    pub fn was_parted(&self) -> bool {
        self.parted.load(Ordering::Relaxed)
    }

    /// Notes private memory of ours.
    pub fn note_own(&self, bytes: u64) {
        if Os::FIXED_BYTES == 0 {
            self.counters.add(Counter::OwnBytes, bytes);
        } else {
            self.counters.set(Counter::OwnBytes, Os::FIXED_BYTES);
        }
    }

    /// Private memory of ours went, or is counted elsewhere from now on.
    pub fn note_gone(&self, bytes: u64) {
        if Os::FIXED_BYTES == 0 {
            self.counters.sub(Counter::OwnBytes, bytes);
        }
    }

    /// A forked child's: it is a process of its own, and counts from zero.
    pub fn reset_in_child(&self) {
        self.counters.reset();
        self.parted.store(false, Ordering::Relaxed);
    }
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}
