//! Looks after work that may take long: says how far it is, and lets Ctrl-C
//! end it early.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memlog_format::meta::ForkPoint;
use memlog_read::{EventStream, Log};

use super::interrupt::Interrupt;
use super::progress::{Far, Progress};

/// Events between two looks.
const STRIDE: u64 = 1 << 13;

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
    work: Work,
    events: Cell<u64>,
}

/// How much there is to do, by the bytes of events. To put threads in order takes a
/// pass that does less with each: it counts one for a byte, the other three.
#[derive(Default)]
struct Work {
    whole: Cell<u64>,
    /// With the logs before.
    before: Cell<u64>,
    /// The pass over this log that puts its threads in order, and all of it.
    order: Cell<u64>,
    log: Cell<u64>,
}

const PASS: u64 = 3;

impl Work {
    fn of(log: &Log) -> (u64, u64) {
        let size = log.size();
        let order = if size.streams > 1 {
            size.event_bytes
        } else {
            0
        };
        (order, order + PASS * size.event_bytes)
    }

    fn expect<'l, 'a: 'l>(&self, logs: impl Iterator<Item = &'l Log<'a>>) {
        self.whole.set(logs.map(|log| Self::of(log).1).sum());
    }

    fn open(&self, log: &Log) {
        self.before.set(self.before.get() + self.log.get());
        let (order, all) = Self::of(log);
        self.order.set(order);
        self.log.set(all);
        self.whole
            .set(self.whole.get().max(self.before.get() + all));
    }

    fn ordered(&self, bytes: u64) -> u64 {
        self.before.get() + bytes.min(self.order.get())
    }

    fn read(&self, bytes: u64) -> u64 {
        self.before.get() + self.order.get() + PASS * bytes
    }
}

impl Watch {
    /// Says how far the work is.
    pub fn begin() -> Self {
        Self {
            progress: Progress::start(),
            interrupt: None,
            work: Work::default(),
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

    /// Says it to whoever looks there.
    pub fn told(far: &Arc<Far>) -> Self {
        Self {
            progress: Some(Progress::silent(Arc::clone(far))),
            ..Self::silent()
        }
    }

    /// For those who print while they read.
    pub fn silent() -> Self {
        Self {
            progress: None,
            interrupt: None,
            work: Work::default(),
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

    /// These logs are read, one after the other.
    pub fn expect<'l, 'a: 'l>(&self, logs: impl Iterator<Item = &'l Log<'a>>) {
        self.work.expect(logs);
    }

    fn open(&self, log: &Log) {
        self.work.open(log);
    }

    fn survey(&self, bytes: u64) -> bool {
        if let Some(progress) = &self.progress {
            let (done, whole) = (self.work.ordered(bytes), self.work.whole.get());
            progress.at(done, whole, self.events.get());
        }
        !self.is_over()
    }

    /// So many bytes of another tool's file were read, of all; false if they were to be the
    /// last.
    pub fn imported(&self, done: u64, whole: u64) -> bool {
        if let Some(progress) = &self.progress {
            progress.imported(done, whole);
        }
        !self.is_over()
    }

    /// An event was read; false if that was to be the last.
    #[inline]
    pub fn goes_on(&self, events: &EventStream) -> bool {
        let count = self.events.get() + 1;
        self.events.set(count);
        !count.is_multiple_of(STRIDE) || self.look(count, events.bytes_read())
    }

    /// So many events were read, of so many bytes in all; false if they were to be
    /// the last.
    pub fn goes_on_after(&self, events: u64, bytes: u64) -> bool {
        let count = self.events.get() + events;
        self.events.set(count);
        self.look(count, bytes)
    }

    #[cold]
    fn look(&self, count: u64, bytes: u64) -> bool {
        if let Some(progress) = &self.progress {
            progress.at(self.work.read(bytes), self.work.whole.get(), count);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_one_run_over_all_logs() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/cross");
        let files = std::fs::read_dir(golden).unwrap().flatten();
        let bytes: Vec<_> = files
            .map(|file| std::fs::read(file.path()).unwrap())
            .collect();
        let logs: Vec<_> = bytes.iter().flat_map(|bytes| Log::open(bytes)).collect();
        let work = Work::default();
        work.expect(logs.iter());
        let mut done = 0;
        for log in &logs {
            work.open(log);
            let bytes = log.size().event_bytes;
            let passes = [work.ordered(bytes), work.read(0), work.read(bytes)];
            assert!(done <= passes[0] && passes.is_sorted());
            done = passes[2];
        }
        assert!(logs.len() > 2 && done == work.whole.get());
    }
}
