//! Looks after work that may take long: says how far it is, and lets Ctrl-C
//! end it early.

use std::cell::Cell;

use memlog_read::{EventStream, Log};

use super::interrupt::Interrupt;
use super::progress::Progress;

/// Events between two looks.
const STRIDE: u64 = 1 << 13;

/// Looks after one reading.
pub struct Watch {
    progress: Option<Progress>,
    interrupt: Option<Interrupt>,
    whole_bytes: Cell<u64>,
    events: Cell<u64>,
}

impl Watch {
    /// Says how far the work is.
    pub fn new() -> Self {
        Self {
            progress: Progress::start(),
            interrupt: None,
            whole_bytes: Cell::new(0),
            events: Cell::new(0),
        }
    }

    /// Says it, and ends the reading at Ctrl-C.
    pub fn interruptible() -> Self {
        Self {
            interrupt: Interrupt::catch(),
            ..Self::new()
        }
    }

    /// For those who print while they read.
    pub fn silent() -> Self {
        Self {
            progress: None,
            interrupt: None,
            whole_bytes: Cell::new(0),
            events: Cell::new(0),
        }
    }

    /// The events of this log are read next.
    pub fn open(&self, log: &Log) {
        self.whole_bytes.set(log.size().event_bytes);
    }

    /// An event was read; false if that was to be the last.
    #[inline]
    pub fn goes_on(&self, events: &EventStream) -> bool {
        let count = self.events.get() + 1;
        self.events.set(count);
        !count.is_multiple_of(STRIDE) || self.look(count, events)
    }

    #[cold]
    fn look(&self, count: u64, events: &EventStream) -> bool {
        if let Some(progress) = &self.progress {
            progress.read(events.bytes_read(), self.whole_bytes.get(), count);
        }
        !self.is_over()
    }

    /// Whether Ctrl-C came.
    pub fn is_over(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::came)
    }

    /// The events are through: what is left is not done by halves.
    pub fn through(&self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.let_kill();
        }
        if let Some(progress) = &self.progress {
            progress.names();
        }
    }

    /// All is done.
    pub fn end(self) -> Option<Interrupt> {
        self.interrupt
    }
}
