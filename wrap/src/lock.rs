//! Locks for the slow paths only, and never for long.
//!
//! The recorder must not wait for a thread that may never come back: one that
//! was cancelled or jumped away inside the recorder, or the very thread that a
//! signal handler interrupts. So every acquisition is bounded, and giving up
//! means losing something that is counted.
#![allow(unsafe_code)]
//! # Safety
//! One unsafe call: a forked child opens a lock whose holder does not exist.

use crate::recorder::RECORDER;
use crate::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, Ordering};
use spin::RelaxStrategy;

/// How long a holder may take: to grow the log by eight megabytes on a slow
/// and busy disk is slow.
const PATIENCE_NS: u64 = 2_000_000_000;
/// Tries between two looks at the clock.
const TRIES: u32 = 16;

/// How much the caller can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the holder had every chance.
    Bounded,
    /// Not at all: the holder may be below us on this very stack.
    None,
}

/// A lock that can be given up on.
pub struct Bounded<T> {
    lock: spin::mutex::SpinMutex<T, Yield>,
    /// Set after a wait in vain: the holder may never come back, and nobody
    /// else waits for him until somebody gets in.
    stuck: AtomicBool,
}

/// spin's own strategies burn the processor or need std.
pub struct Yield;

impl RelaxStrategy for Yield {
    fn relax() {
        // Under a filter even giving way may kill.
        if RECORDER.is_quiet() {
            core::hint::spin_loop();
        } else {
            Os::relax();
        }
    }
}

impl<T> Bounded<T> {
    /// An open lock.
    pub const fn new(value: T) -> Self {
        Self {
            lock: spin::mutex::SpinMutex::new(value),
            stuck: AtomicBool::new(false),
        }
    }

    /// Runs `work` with the value, or gives up.
    pub fn with<R>(&self, patience: Patience, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let may_wait = patience == Patience::Bounded && !self.stuck.load(Ordering::Relaxed);
        let mut since = 0;
        for attempt in 0.. {
            if let Some(mut guard) = self.lock.try_lock() {
                if self.stuck.load(Ordering::Relaxed) {
                    self.stuck.store(false, Ordering::Relaxed);
                }
                return Some(work(&mut guard));
            }
            if !may_wait {
                return None;
            }
            if attempt % TRIES == 0 {
                let now = Os::ticks_ns();
                since = if since == 0 { now } else { since };
                if now.wrapping_sub(since) > PATIENCE_NS {
                    break;
                }
            }
            Yield::relax();
        }
        self.stuck.store(true, Ordering::Relaxed);
        None
    }

    /// Opens the lock for a forked child, in which the holder does not exist.
    ///
    /// # Safety
    /// No other thread of this process can be inside.
    pub unsafe fn force_open(&self) {
        // SAFETY: by the caller.
        unsafe { self.lock.force_unlock() };
        self.stuck.store(false, Ordering::Relaxed);
    }
}
