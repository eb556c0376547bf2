//! A log with fine time, in which each event has a tick of its own: its table says when
//! each was, and no memory grows with the events.
//!
//! # Safety
//! The allocator hands every call on to the system's, unchanged, and counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::table::StackId;
use memlog_read::{Place, Taker};
use memlog_table::{Builder, Table};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting what is live.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: as the system's; see the head of this file. What is not here calls these.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(live, Relaxed);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

const KEY: &[u8] = b"a fine log";

/// When an event was: so unevenly that no packing makes it small.
fn tick(event: u64) -> u64 {
    event << 30 | event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34
}

/// A block comes and goes, again and again.
fn build<W: Write + Send + 'static>(out: W, events: u64) -> W {
    let mut builder = Builder::new(out, KEY);
    builder.log(0, 1 << 20);
    builder.start(0);
    let place = |event| Place {
        stream: 0,
        tid: 1,
        tick: tick(event),
    };
    for event in (1..events).step_by(2) {
        let alloc = Alloc {
            api: Api::Malloc,
            address: 64,
            size: 7,
            usable: 24,
            alignment_log2: 0,
            stack: StackId(9),
            order: None,
        };
        let release = Release {
            api: Api::Free,
            address: 64,
            announced: false,
            stack: None,
            order: None,
        };
        builder.alloc(place(event), &alloc);
        builder.release(place(event + 1), &release);
    }
    builder.finish(None, b"").expect("a sink takes all")
}

/// What was live at most beyond what was before.
fn most<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = work();
    (MOST.load(Relaxed) - before, result)
}

/// One test, for others would count too.
#[test]
fn steps_are_not_held_in_memory() {
    const EVENTS: u64 = 3_000_000;
    // Rows that wait for the thread that packs them.
    let (to_build, _) = most(|| build(std::io::sink(), EVENTS));
    assert!(to_build < 8 << 20, "{to_build} bytes to build it");
    let file = build(Vec::new(), EVENTS);
    let (to_read, table) = most(|| Table::open(&file, KEY, u64::MAX).expect("what was made"));
    assert!(to_read < 1 << 20, "{to_read} bytes to read it");
    let steps = table.steps();
    assert_eq!((steps.len() as u64, table.events()), (EVENTS, EVENTS));
    for event in 1..=EVENTS {
        assert_eq!(steps.tick_of(event), tick(event), "{event}");
    }
    for event in (1..=EVENTS).step_by(99) {
        assert_eq!(steps.event_at(tick(event)), event);
        assert_eq!(steps.step_of(event) as u64, event - 1);
    }
    assert_eq!((steps.tick_of(0), steps.event_at(0)), (0, 0));
    assert_eq!(steps.event_at(tick(EVENTS)), u64::MAX - 1);
}
