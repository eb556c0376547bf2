//! What the recorder is doing, as one word that a fork wipes.
//!
//! ```text
//! Off ──> Starting ──> On <──> Paused
//!              │        │        │
//!              └────────┴────────┴──> Stopped
//! a forked child reads 0; that this image was ever started tells it from Off
//! ```

use crate::sync::{AtomicU32, Ordering};

/// A state. `On` is 2 for the doors' sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Life {
    /// Nothing was done yet, or a fork has just made this process.
    Off = 0,
    /// One thread is setting up.
    Starting = 1,
    /// Events are recorded.
    On = 2,
    /// For good; the program goes on alone.
    Stopped = 3,
    /// Switched off, until somebody switches it on again.
    Paused = 4,
}

impl Life {
    /// Set up, and not stopped for good.
    #[inline]
    pub const fn is_alive(self) -> bool {
        matches!(self, Life::On | Life::Paused)
    }

    const fn from_word(word: u32) -> Self {
        match word {
            0 => Life::Off,
            1 => Life::Starting,
            2 => Life::On,
            4 => Life::Paused,
            _ => Life::Stopped,
        }
    }
}

/// The word, wherever it lies.
pub struct LifeWord<'a>(pub &'a AtomicU32);

impl LifeWord<'_> {
    /// The state now. Acquire: who sees `On` sees all that `turn` published.
    #[inline]
    pub fn get(&self) -> Life {
        Life::from_word(self.0.load(Ordering::Acquire))
    }

    /// Takes the right to set up; exactly one thread gets it.
    pub fn begin(&self) -> bool {
        let (from, to) = (Life::Off as u32, Life::Starting as u32);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        self.0.compare_exchange(from, to, order.0, order.1).is_ok()
    }

    /// Moves to a state. Release: pairs with `get`.
    pub fn turn(&self, to: Life) {
        self.0.store(to as u32, Ordering::Release);
    }

    /// Moves from one state to another, unless it is a third by now.
    pub fn shift(&self, from: Life, to: Life) -> bool {
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let (from, to) = (from as u32, to as u32);
        self.0.compare_exchange(from, to, order.0, order.1).is_ok()
    }
}
