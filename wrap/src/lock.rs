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
use spin::RelaxStrategy;

/// Yields between two tries.
const PATIENCE: u32 = 4096;

/// How much the caller can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the holder had every chance.
    Bounded,
    /// Not at all: the holder may be below us on this very stack.
    None,
}

/// A lock that can be given up on.
pub struct Bounded<T>(spin::mutex::SpinMutex<T, Yield>);

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
        Self(spin::mutex::SpinMutex::new(value))
    }

    /// Runs `work` with the value, or gives up.
    pub fn with<R>(&self, patience: Patience, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let tries = match patience {
            Patience::Bounded => PATIENCE,
            Patience::None => 1,
        };
        for attempt in 0..tries {
            if attempt > 0 {
                Yield::relax();
            }
            if let Some(mut guard) = self.0.try_lock() {
                return Some(work(&mut guard));
            }
        }
        None
    }

    /// Opens the lock for a forked child, in which the holder does not exist.
    ///
    /// # Safety
    /// No other thread of this process can be inside.
    pub unsafe fn force_open(&self) {
        // SAFETY: by the caller.
        unsafe { self.0.force_unlock() };
    }
}
