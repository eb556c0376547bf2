//! How much time and memory an input may take. What takes more ends the target
//! with a sentence, which libFuzzer keeps with the input as a crash.
#![allow(unsafe_code)]
//! # Safety
//! The allocator hands every call on to the system's, unchanged, and counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Processor time that no input of the sizes used here may take.
const MOST_TIME: Duration = Duration::from_secs(1);
/// A look at the wall clock costs little; it is believed only when the
/// processor's time says the same, for other programs run here as well.
const SUSPICIOUS: Duration = Duration::from_millis(500);

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// The system's allocator, counting what is live.
pub struct Counting;

impl Counting {
    fn grow(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        if live > MOST.load(Relaxed) {
            MOST.store(live, Relaxed);
            if live > LIMIT.load(Relaxed) {
                IS_OVER.store(true, Relaxed);
            }
        }
    }
}

// SAFETY: as the system's; see the head of this file.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::grow(layout.size());
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::grow(layout.size());
        // SAFETY: by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may exist side by side for a moment.
        Self::grow(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Memory that an input may take: a multiple of its length, and something
/// whatever its length.
#[derive(Clone, Copy)]
pub struct Limit {
    /// Bytes for each byte of input.
    pub per_byte: usize,
    /// Bytes besides.
    pub besides: usize,
}

/// Runs what is attacked on an input of so many bytes, twice if it seemed slow.
pub fn limited<T>(length: usize, limit: Limit, mut run: impl FnMut() -> T) -> T {
    let before = LIVE.load(Relaxed);
    let most = length
        .saturating_mul(limit.per_byte)
        .saturating_add(limit.besides);
    MOST.store(before, Relaxed);
    LIMIT.store(before.saturating_add(most), Relaxed);
    let began = std::time::Instant::now();
    let result = run();
    let lasted = began.elapsed();
    LIMIT.store(usize::MAX, Relaxed);
    if IS_OVER.load(Relaxed) {
        let taken = MOST.load(Relaxed) - before;
        panic!("{taken} bytes of memory for {length} of input: more than {most}");
    }
    if lasted > SUSPICIOUS {
        let before = processor_time();
        drop(run());
        let lasted = processor_time() - before;
        assert!(
            lasted < MOST_TIME,
            "{lasted:?} of processor time for {length} bytes"
        );
    }
    result
}

fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills a struct of ours.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(code, 0, "the thread's clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
