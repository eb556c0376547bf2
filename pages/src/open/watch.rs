//! Looks after work that may take long: says how far it is, and lets Ctrl-C
//! end it early.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memlog_format::meta::ForkPoint;
use memlog_read::{EventStream, Log};

use super::interrupt::Interrupt;
use super::progress::Progress;

/// Events between two looks.
pub const STRIDE: u64 = 1 << 13;

/// Whether Ctrl-C came.
#[derive(Clone, Default)]
pub struct Over(Arc<AtomicBool>);

impl Over {
    /// By now.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Looks after one reading.
pub struct Watch {
    progress: Option<Progress>,
    interrupt: Option<Interrupt>,
    whole_bytes: Cell<u64>,
    events: Cell<u64>,
}

impl Watch {
    /// Says how far the work is.
    pub fn begin() -> Self {
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
            ..Self::begin()
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

    /// The events of this log are read next; none where Ctrl-C came in the
    /// pass that puts its threads in order.
    pub fn events<'a>(&self, log: &Log<'a>) -> EventStream<'a> {
        self.open(log);
        log.events_while(&mut |bytes| self.survey(bytes))
    }

    /// The same of those before a fork.
    pub fn events_until<'a>(&self, log: &Log<'a>, fork_points: &[ForkPoint]) -> EventStream<'a> {
        self.open(log);
        log.events_until_while(fork_points, &mut |bytes| self.survey(bytes))
    }

    fn open(&self, log: &Log) {
        self.whole_bytes.set(log.size().event_bytes);
    }

    fn survey(&self, bytes: u64) -> bool {
        if let Some(progress) = &self.progress {
            progress.survey(bytes, self.whole_bytes.get());
        }
        !self.is_over()
    }

    /// An event was read; false if that was to be the last.
    #[inline]
    pub fn goes_on(&self, events: &EventStream) -> bool {
        let count = self.events.get() + 1;
        self.events.set(count);
        !count.is_multiple_of(STRIDE) || self.look(count, events)
    }

    /// So many events were read; false if they were to be the last.
    pub fn goes_on_after(&self, events: u64, stream: &EventStream) -> bool {
        let count = self.events.get() + events;
        self.events.set(count);
        self.look(count, stream)
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

    /// The events are through; names come next.
    pub fn through(&self) {
        if let Some(progress) = &self.progress {
            progress.names();
        }
    }

    /// What tells at any later time whether Ctrl-C came.
    pub fn over(&self) -> Over {
        let came = self.interrupt.as_ref().map(Interrupt::flag);
        Over(came.unwrap_or_default())
    }

    /// All is done: nothing is left that could be shown early.
    pub fn end(self) -> Option<Interrupt> {
        if let Some(interrupt) = &self.interrupt {
            interrupt.let_kill();
        }
        self.interrupt
    }
}
