//! The ownership cells: from what the streams wrote down, a reader finds the
//! true order of the events on each address.
//!
//! The model is an allocator of a few blocks. A block is handed over as every
//! allocator does it, by a release that its next allocation acquires. While a
//! thread has the block it alone may touch the block's `truth`, so loom would
//! report any order that the hand-over does not force.

use super::with_preemptions;
use crate::claims::{Claim, FREE};
use crate::order::Cells;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// An event as a log has it: its stream's own order is the vector's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    block: usize,
    is_release: bool,
    number: Option<u64>,
    /// Which of all events it is; no log has this, only the judge.
    name: u32,
}

/// One address that the allocator can give out.
struct Block {
    address: u64,
    is_free: AtomicU32,
    /// The names of the events on it in true order, for who has the block.
    truth: UnsafeCell<Vec<u32>>,
}

struct Process {
    cell: Box<[AtomicU64; 1]>,
    blocks: Vec<Block>,
}

/// What one thread writes, and in whose stream.
struct Thread {
    process: Arc<Process>,
    stream: u32,
    first_name: u32,
    events: Vec<Event>,
}

impl Process {
    /// Blocks on one page: they share the cell.
    fn new(blocks: u64) -> Arc<Self> {
        let block = |index| Block {
            address: 0x7000_0000 + 64 * index,
            is_free: AtomicU32::new(1),
            truth: UnsafeCell::new(Vec::new()),
        };
        Arc::new(Self {
            cell: Box::new([AtomicU64::new(0)]),
            blocks: (0..blocks).map(block).collect(),
        })
    }

    #[allow(unsafe_code)]
    fn cells(&self) -> Cells {
        let words: *const [AtomicU64] = &*self.cell;
        // SAFETY: the threads of the model, which alone use it, hold the box.
        Cells::new(unsafe { &*words })
    }

    fn thread(self: &Arc<Self>, stream: u32, first_name: u32) -> Thread {
        Thread {
            process: self.clone(),
            stream,
            first_name,
            events: Vec::new(),
        }
    }
}

impl Thread {
    #[allow(unsafe_code)]
    fn record(&mut self, block: usize, is_release: bool) {
        let place = &self.process.blocks[block];
        let number = self.process.cells().number(place.address, self.stream);
        let name = self.first_name + self.events.len() as u32;
        // SAFETY: this thread has the block; loom checks it.
        place.truth.with_mut(|truth| unsafe { (*truth).push(name) });
        self.events.push(Event {
            block,
            is_release,
            number,
            name,
        });
    }

    /// malloc: the real call first; false if the block is in use.
    fn allocate(&mut self, block: usize) -> bool {
        let place = &self.process.blocks[block].is_free;
        let won = place
            .compare_exchange(1, 0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if won {
            self.record(block, false);
        }
        won
    }

    /// free: recorded first, for then the block is anybody's.
    fn free(&mut self, block: usize) {
        self.record(block, true);
        self.process.blocks[block]
            .is_free
            .store(1, Ordering::Release);
    }

    /// A pair, if the block was to be had.
    fn pair(&mut self, block: usize) {
        if self.allocate(block) {
            self.free(block);
        }
    }
}

/// What a reader does with the streams of a cell, and whether it is the truth.
#[allow(unsafe_code)]
fn judge(process: &Process, streams: &[Vec<Event>]) {
    let unnumbered = |stream: &&Vec<Event>| stream.iter().any(|event| event.number.is_none());
    assert!(
        streams.iter().filter(unnumbered).count() <= 1,
        "one owner: {streams:?}"
    );
    let mut numbers: Vec<_> = streams
        .iter()
        .flatten()
        .filter_map(|event| event.number)
        .collect();
    numbers.sort_unstable();
    assert!(
        numbers.iter().copied().eq(0..numbers.len() as u64),
        "no gaps: {streams:?}"
    );

    // The sort is stable: a stream's own order holds among the unnumbered.
    let mut found: Vec<Event> = streams.iter().flatten().copied().collect();
    found.sort_by_key(|event| event.number.map_or(0, |number| number + 1));
    for (index, block) in process.blocks.iter().enumerate() {
        let on_block = || found.iter().filter(|event| event.block == index);
        let names: Vec<u32> = on_block().map(|event| event.name).collect();
        // SAFETY: all threads were joined.
        let truth = block.truth.with(|truth| unsafe { (*truth).clone() });
        assert_eq!(names, truth, "{streams:?}");
        let alternate = on_block().enumerate();
        assert!(
            alternate
                .into_iter()
                .all(|(at, event)| event.is_release == (at % 2 == 1))
        );
    }
}

/// Runs the bodies as threads with streams of their own, and judges.
fn race(process: &Arc<Process>, bodies: &[fn(&mut Thread)]) {
    let threads: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(index, &body)| {
            let mut thread = process.thread(index as u32, 100 * index as u32);
            thread::spawn(move || {
                body(&mut thread);
                thread.events
            })
        })
        .collect();
    let streams: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    judge(process, &streams);
}

#[test]
fn two_threads_on_one_address() {
    loom::model(|| {
        let body: fn(&mut Thread) = |thread| {
            thread.pair(0);
            thread.pair(0);
        };
        race(&Process::new(1), &[body, body]);
    });
}

#[test]
fn three_threads_on_one_address() {
    with_preemptions(3, || {
        let body: fn(&mut Thread) = |thread| thread.pair(0);
        race(&Process::new(1), &[body, body, body]);
    });
}

/// One thread has the page to itself when two others come.
#[test]
fn an_owner_and_two_others() {
    with_preemptions(3, || {
        let process = Process::new(1);
        let mut owner = process.thread(0, 0);
        owner.pair(0);
        let others: Vec<_> = [1, 2]
            .into_iter()
            .map(|stream| {
                let mut other = process.thread(stream, 100 * stream);
                thread::spawn(move || {
                    other.pair(0);
                    other.events
                })
            })
            .collect();
        owner.pair(0);
        owner.pair(0);
        let mut streams = vec![owner.events];
        streams.extend(others.into_iter().map(|other| other.join().unwrap()));
        judge(&process, &streams);
    });
}

/// The owner may not have seen that the cell is shared while it works on
/// another address of the page; on the address that moved it must have.
#[test]
fn an_owner_busy_with_a_neighbour() {
    with_preemptions(3, || {
        let owner: fn(&mut Thread) = |thread| {
            if thread.allocate(0) {
                thread.pair(1);
                thread.free(0);
            }
            thread.pair(1);
        };
        let other: fn(&mut Thread) = |thread| {
            thread.pair(1);
            thread.pair(0);
        };
        race(&Process::new(2), &[owner, other]);
    });
}

/// The block goes from hand to hand without the allocator: one thread
/// allocates, another releases, a third allocates again.
#[test]
fn a_block_released_by_another_thread() {
    with_preemptions(3, || {
        let process = Process::new(1);
        let sent = Arc::new(AtomicU32::new(0));
        let mut first = process.thread(0, 0);
        assert!(first.allocate(0));
        let releaser = {
            let (sent, mut thread) = (sent.clone(), process.thread(1, 100));
            thread::spawn(move || {
                let received = sent.load(Ordering::Acquire) == 1;
                if received {
                    thread.free(0);
                    thread.pair(0);
                }
                (received, thread.events)
            })
        };
        let third = {
            let mut thread = process.thread(2, 200);
            thread::spawn(move || {
                thread.pair(0);
                thread.events
            })
        };
        sent.store(1, Ordering::Release);
        first.pair(0);
        let (received, second) = releaser.join().unwrap();
        let third = third.join().unwrap();
        if !received {
            first.free(0);
        }
        judge(&process, &[first.events, second, third]);
    });
}

/// A stream that ends with one thread and goes on with another is one stream:
/// what the first owned, the second owns.
#[test]
fn a_stream_that_changes_hands() {
    with_preemptions(3, || {
        let process = Process::new(1);
        let holder = Arc::new(AtomicU32::new(1));
        let other = {
            let mut thread = process.thread(1, 100);
            thread::spawn(move || {
                thread.pair(0);
                thread.events
            })
        };
        let heir = {
            let (holder, mut thread) = (holder.clone(), process.thread(0, 200));
            thread::spawn(move || {
                if Claim(&holder).take(FREE, 2) {
                    thread.pair(0);
                    thread.pair(0);
                }
                thread.events
            })
        };
        let mut first = process.thread(0, 0);
        first.pair(0);
        Claim(&holder).release();
        let mut stream = first.events;
        stream.extend(heir.join().unwrap());
        judge(&process, &[stream, other.join().unwrap()]);
    });
}
