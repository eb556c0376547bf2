//! A log is read on one processor while what it says is taken in on another.
//!
//! ```text
//! reader:  while there are events: fill an empty batch, send it
//! here:    for each full batch: hand its events out, send it back
//! ```
//!
//! There are so many batches and no more, so memory is bound and neither runs away
//! from the other. The events come in their order, whoever reads. A short log is read
//! here: a thread costs more than it saves.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};

use memlog_format::event::{Alloc, Release, Usual};
use memlog_read::{EventStream, Item, Log, Place, Taker};

/// Events of a batch: some 75 kB, so that they lie in the processor's cache.
const BATCH: u64 = 1 << 10;
/// Batches there are.
const BATCHES: usize = 4;
/// A log with fewer bytes of events is short.
const SHORT_BYTES: u64 = 1 << 20;

/// A log that was read.
pub struct Reading<'a> {
    /// What it was read from.
    pub events: EventStream<'a>,
    /// To where.
    pub far: Far,
}

/// How far a log was read.
#[derive(Clone, Copy, Default)]
pub struct Far {
    /// Whether it was to the end.
    pub is_whole: bool,
    /// Events in whole batches.
    pub count: u64,
    /// Bytes of events.
    pub bytes: u64,
}

/// Hands out a log's events until there are no more or `goes_on`, which is told how
/// many more came and how many bytes of the log were read in all, says no.
pub fn hand_out<'a, T: Taker<'a>>(
    log: &Log<'a>,
    mut events: EventStream<'a>,
    taker: &mut T,
    mut goes_on: impl FnMut(&T, u64, u64) -> bool,
) -> Reading<'a> {
    if !goes_on(taker, 0, events.bytes_read()) {
        let far = Far::default();
        return Reading { events, far };
    }
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let is_short = processors < 2 || log.size().event_bytes < SHORT_BYTES;
    let far = match is_short {
        true => None,
        false => hand_out_ahead(&mut events, taker, &mut goes_on),
    };
    let far = far.unwrap_or_else(|| hand_out_here(&mut events, taker, &mut goes_on));
    Reading { events, far }
}

/// The same from another thread; nothing where none may be made.
fn hand_out_ahead<'a, T: Taker<'a>>(
    events: &mut EventStream<'a>,
    taker: &mut T,
    goes_on: &mut impl FnMut(&T, u64, u64) -> bool,
) -> Option<Far> {
    let (full, coming) = sync_channel::<Batch>(BATCHES);
    let (empty, going) = sync_channel::<Batch>(BATCHES);
    thread::scope(|scope| {
        let reader = move || read(events, &going, &full);
        let reader = Builder::new().spawn_scoped(scope, reader).ok()?;
        for _ in 0..BATCHES {
            // There is room for each.
            let _ = empty.send(Batch::default());
        }
        let mut far = Far::default();
        for batch in &coming {
            batch.hand_out(taker);
            far.bytes = batch.bytes;
            if batch.is_last {
                far.is_whole = true;
                break;
            }
            far.count += BATCH;
            if !goes_on(taker, BATCH, far.bytes) {
                break;
            }
            // Who has sent the last one wants none any more.
            let _ = empty.send(batch);
        }
        drop((empty, coming));
        match reader.join() {
            Ok(()) => Some(far),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// The same by who asks.
fn hand_out_here<'a, T: Taker<'a>>(
    events: &mut EventStream<'a>,
    taker: &mut T,
    goes_on: &mut impl FnMut(&T, u64, u64) -> bool,
) -> Far {
    let mut far = Far::default();
    while !far.is_whole {
        far.is_whole = !events.hand_out(BATCH, taker);
        far.bytes = events.bytes_read();
        if !far.is_whole {
            far.count += BATCH;
            if !goes_on(taker, BATCH, far.bytes) {
                break;
            }
        }
    }
    far
}

/// Fills batches until there are no more events, or nobody wants them.
fn read<'a>(
    events: &mut EventStream<'a>,
    empty: &Receiver<Batch<'a>>,
    full: &SyncSender<Batch<'a>>,
) {
    while let Ok(mut batch) = empty.recv() {
        batch.usual.clear();
        batch.items.clear();
        batch.is_last = !events.hand_out(BATCH, &mut batch);
        batch.bytes = events.bytes_read();
        let is_last = batch.is_last;
        if full.send(batch).is_err() || is_last {
            return;
        }
    }
}

/// Events on their way.
#[derive(Default)]
struct Batch<'a> {
    usual: Vec<(Place, Usual)>,
    /// The others, and how many usual ones come before each.
    items: Vec<(usize, Item<'a>)>,
    /// How far the log was read then.
    bytes: u64,
    is_last: bool,
}

impl<'a> Batch<'a> {
    fn hand_out(&self, taker: &mut impl Taker<'a>) {
        let mut from = 0;
        for (to, item) in &self.items {
            self.hand_out_usual(from, *to, taker);
            taker.item(item);
            from = *to;
        }
        self.hand_out_usual(from, self.usual.len(), taker);
    }

    fn hand_out_usual(&self, from: usize, to: usize, taker: &mut impl Taker<'a>) {
        for (place, usual) in &self.usual[from..to] {
            match usual {
                Usual::Alloc(alloc) => taker.alloc(*place, alloc),
                Usual::Release(release) => taker.release(*place, release),
            }
        }
    }
}

impl<'a> Taker<'a> for Batch<'a> {
    #[inline]
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.usual.push((place, Usual::Alloc(*alloc)));
    }

    #[inline]
    fn release(&mut self, place: Place, release: &Release) {
        self.usual.push((place, Usual::Release(*release)));
    }

    fn item(&mut self, item: &Item<'a>) {
        self.items.push((self.usual.len(), *item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what it is given.
    #[derive(Default)]
    struct All(Vec<String>);

    impl<'a> Taker<'a> for All {
        fn alloc(&mut self, place: Place, alloc: &Alloc) {
            self.0.push(format!("{place:?} {alloc:?}"));
        }
        fn release(&mut self, place: Place, release: &Release) {
            self.0.push(format!("{place:?} {release:?}"));
        }
        fn item(&mut self, item: &Item<'a>) {
            self.0.push(format!("{item:?}"));
        }
    }

    #[test]
    fn events_come_in_their_order_whoever_reads() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/cross");
        for entry in std::fs::read_dir(golden).unwrap().flatten() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let Ok(log) = Log::open(&bytes) else {
                continue;
            };
            for batches in [u64::MAX, 3, 1] {
                let far_of = |is_ahead: bool| {
                    let (mut events, mut all) = (log.events(), All::default());
                    let mut left = batches;
                    let mut goes_on = |_: &All, _, _| {
                        left -= 1;
                        left > 0
                    };
                    let far = match is_ahead {
                        true => hand_out_ahead(&mut events, &mut all, &mut goes_on).unwrap(),
                        false => hand_out_here(&mut events, &mut all, &mut goes_on),
                    };
                    (far.is_whole, far.count, far.bytes, all.0)
                };
                assert!(far_of(true) == far_of(false), "{entry:?} {batches}");
            }
        }
    }
}
