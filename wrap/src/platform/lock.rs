//! Locks for the slow paths only, and never for long.
//!
//! The recorder must not wait for a thread that may never come back: one that
//! was cancelled or jumped away inside the recorder, or the very thread that a
//! signal handler interrupts. So every acquisition is bounded, and giving up
//! means losing something that is counted. A thread that holds the lock further
//! out on its stack is known, and not waited for at all. While a lock is held
//! signals wait, where that may be asked for: a handler that jumps out of it, or
//! a thread that is cancelled there, would hold it for ever.
#![allow(unsafe_code)]
//! # Safety
//! A forked child opens a lock whose holder does not exist; a thread's word is
//! asked for its address once life is On, so that there is a thread pointer.

use crate::platform::ground::Ground;
use crate::platform::sys::signals::Signals;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How long a holder may take: to grow the log by eight megabytes on a slow
/// and busy disk is slow.
const PATIENCE_NS: u64 = 2_000_000_000;
/// How long a queue may take in which others get in: thousands of threads may
/// begin at the same moment.
const QUEUE_NS: u64 = 30 * PATIENCE_NS;
/// Tries between two looks at the clock.
const TRIES: u32 = 16;

/// How much the caller can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the holder had every chance, if he is another thread.
    Bounded,
    /// Not at all: the holder may be below us on this very stack.
    None,
}

/// A lock that can be given up on.
pub struct Bounded<T> {
    ground: &'static Ground,
    /// Hands the value out, to the holder only: it is never contended. It is not what
    /// is waited for, because to take it and to say who has it are two steps.
    lock: spin::mutex::SpinMutex<T>,
    /// Set after a wait in vain: the holder may never come back, and nobody
    /// else waits for him until somebody gets in.
    stuck: AtomicBool,
    /// Which thread may try the lock. Taken with the thread's name in one step:
    /// a signal comes likeliest right behind it, and its handler must see who.
    holder: AtomicUsize,
    /// How many got in, to be compared only.
    entries: AtomicUsize,
}

/// As a holder: none.
const NOBODY: usize = 0;
/// A thread from before the recorder is on.
const SOMEBODY: usize = 1;

/// What tells this thread from others.
fn this_thread(ground: &Ground) -> usize {
    match ground.life().get().is_alive() {
        // SAFETY: see the head of this file.
        true => unsafe { crate::platform::arch::memlog_tls_word() as usize },
        false => SOMEBODY,
    }
}

/// Gives way to others.
pub fn give_way(ground: &Ground) {
    // Under a filter even giving way may kill.
    if ground.is_quiet() {
        core::hint::spin_loop();
    } else {
        Os::relax();
    }
}

/// Signals wait.
struct HeldSignals(Option<Signals>);

impl HeldSignals {
    /// Under a filter the question may kill.
    fn new(ground: &Ground) -> Self {
        Self((!ground.is_quiet_by_now()).then(Os::hold_signals))
    }

    fn let_go(&mut self) {
        if let Some(before) = self.0.take() {
            Os::let_signals(&before);
        }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl<T> Bounded<T> {
    /// An open lock.
    pub const fn new(value: T, ground: &'static Ground) -> Self {
        Self {
            ground,
            lock: spin::mutex::SpinMutex::new(value),
            stuck: AtomicBool::new(false),
            holder: AtomicUsize::new(NOBODY),
            entries: AtomicUsize::new(0),
        }
    }

    /// Runs `work` with the value, or gives up.
    pub fn with<R>(&self, patience: Patience, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut held = HeldSignals::new(self.ground);
        let is_hopeless = self.stuck.load(Ordering::Relaxed) || self.ground.was_parted();
        let may_wait = patience == Patience::Bounded && !is_hopeless;
        let this_thread = this_thread(self.ground);
        let (mut began, mut since, mut entries) = (0, 0, 0);
        for attempt in 0.. {
            let order = (Ordering::Acquire, Ordering::Relaxed);
            let seen = self
                .holder
                .compare_exchange(NOBODY, this_thread, order.0, order.1);
            let Err(holder) = seen else {
                return self.work(work);
            };
            held.let_go();
            if !may_wait || holder == this_thread && holder != SOMEBODY {
                return None;
            }
            if attempt % TRIES == 0 {
                let now = Os::ticks_ns();
                let seen = self.entries.load(Ordering::Relaxed);
                began = if began == 0 { now } else { began };
                if since == 0 || seen != entries {
                    (since, entries) = (now, seen);
                }
                if now.wrapping_sub(began) > QUEUE_NS {
                    return None;
                }
                if now.wrapping_sub(since) > PATIENCE_NS {
                    break;
                }
            }
            give_way(self.ground);
            held = HeldSignals::new(self.ground);
        }
        self.stuck.store(true, Ordering::Relaxed);
        None
    }

    /// By the holder.
    #[inline(always)]
    fn work<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.stuck.load(Ordering::Relaxed) {
            self.stuck.store(false, Ordering::Relaxed);
        }
        self.entries.fetch_add(1, Ordering::Relaxed);
        let result = self.lock.try_lock().map(|mut guard| work(&mut guard));
        self.holder.store(NOBODY, Ordering::Release);
        result
    }

    /// Whether somebody holds it.
    pub fn is_held(&self) -> bool {
        self.holder.load(Ordering::Relaxed) != NOBODY
    }

    /// Opens the lock for a forked child, in which the holder does not exist.
    ///
    /// # Safety
    /// No other thread of this process can be inside.
    pub unsafe fn force_open(&self) {
        // SAFETY: by the caller.
        unsafe { self.lock.force_unlock() };
        self.stuck.store(false, Ordering::Relaxed);
        self.holder.store(NOBODY, Ordering::Release);
    }
}
