//! Blocks that lived shortly are left out while the program runs: they are in the
//! sums of the log, and their events are not.
//!
//! An event is written as ever. When its thread's chunk is full, the chunk is written
//! anew into a spare one, without the allocations and releases of blocks that came and
//! went in it, and the thread goes on behind what is left. So it costs nothing on the
//! hot path, and what is held back is bounded by the chunk.
//!
//! ```text
//! the spare one := header            its `culled` is higher: its bytes change from here on
//! the spare one := records
//! the spare one's committed := n     from here on it counts
//! the chunk's committed := 0         from here on the chunk is the spare one
//! ```
//!
//! * `pairs`: which blocks go
//! * `rewrite`: the chunk without them
//! * `scratch`: the memory that this takes
//!
//! A forked child's log says where its parent's streams stood at the fork, by an offset
//! in a chunk. So nothing of before a fork is written anew: a fork is counted before it
//! is made and behind it, in between nobody is amid the last two steps, and whoever finds
//! that another was counted, or is under way, leaves his chunk as it is.
#![allow(unsafe_code)]
//! # Safety
//! The memory of a room is mapped once, is of its size, and is used under its lock.

mod chunk;
mod pairs;
mod rewrite;
mod scratch;

pub use chunk::{Anew, Step};
pub use pairs::{LARGE, Rule, find};
pub use rewrite::{Written, rewrite};
pub use scratch::Scratch;

use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience, give_way};
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// So many threads can be at it at the same time; the chunk of another stays as it is.
const ROOMS: usize = 4;
/// Looks at whether somebody is amid the last two steps, which are a microsecond.
const LOOKS: u32 = 20_000;

/// What all threads share of it.
pub struct Cull {
    ground: &'static Ground,
    /// The threshold; 0 where nothing is left out.
    below_ticks: AtomicU64,
    forks: AtomicU32,
    /// Forks that are under way: a chunk that begins meanwhile may be one of before them.
    under_way: AtomicU32,
    /// Threads amid the last two steps.
    changing: AtomicU32,
    /// In a process that forks, and in its child: the fork was counted, and nobody was
    /// amid them.
    is_fork_told: AtomicBool,
    rooms: [Bounded<Room>; ROOMS],
}

/// Memory for one chunk at a time.
struct Room {
    memory: *mut Scratch,
    is_counted: bool,
}

// SAFETY: the pointer is memory of the process, used under the lock.
unsafe impl Send for Room {}

impl Room {
    const fn new() -> Self {
        Self {
            memory: core::ptr::null_mut(),
            is_counted: false,
        }
    }

    fn scratch(&mut self, ground: &Ground) -> Option<&mut Scratch> {
        if self.memory.is_null() {
            let memory = Os::memory(Scratch::BYTES);
            if memory.is_null() {
                return None;
            }
            // SAFETY: mapped just now, and zeros. Touched at once, so that it is known what
            // it takes.
            unsafe {
                memory.write_bytes(0, Scratch::BYTES);
                Scratch::begin(memory.cast());
            }
            self.memory = memory.cast();
        }
        if !core::mem::replace(&mut self.is_counted, true) {
            ground.note_own(Scratch::BYTES as u64);
        }
        // SAFETY: see the head of this file.
        Some(unsafe { &mut *self.memory })
    }
}

impl Cull {
    /// Nothing is left out.
    pub const fn new(ground: &'static Ground) -> Self {
        Self {
            ground,
            below_ticks: AtomicU64::new(0),
            forks: AtomicU32::new(0),
            under_way: AtomicU32::new(0),
            changing: AtomicU32::new(0),
            is_fork_told: AtomicBool::new(false),
            rooms: [
                Bounded::new(Room::new(), ground),
                Bounded::new(Room::new(), ground),
                Bounded::new(Room::new(), ground),
                Bounded::new(Room::new(), ground),
            ],
        }
    }

    /// Blocks that live less than so many ticks are left out from now on; 0: none.
    pub fn begin(&self, below_ticks: u64) {
        self.below_ticks.store(below_ticks, Ordering::Relaxed);
    }

    /// The threshold; 0 where nothing is left out.
    pub fn below_ticks(&self) -> u64 {
        self.below_ticks.load(Ordering::Relaxed)
    }

    /// Forks that began or ended so far.
    pub fn forks(&self) -> u32 {
        self.forks.load(Ordering::SeqCst)
    }

    /// This process is about to fork.
    pub fn expect_fork(&self) {
        if self.below_ticks() == 0 {
            return;
        }
        // Before the others are looked at: whoever changes a chunk does it the other way
        // round.
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.forks.fetch_add(1, Ordering::SeqCst);
        let mut is_told = false;
        for _ in 0..LOOKS {
            is_told = self.changing.load(Ordering::SeqCst) == 0;
            if is_told {
                break;
            }
            give_way(self.ground);
        }
        self.is_fork_told.store(is_told, Ordering::Relaxed);
    }

    /// It has forked. Nobody says so of a fork of libc's own: nothing is left out behind one.
    pub fn end_fork(&self) {
        self.is_fork_told.store(false, Ordering::Relaxed);
        self.forks.fetch_add(1, Ordering::SeqCst);
        let less = |forks: u32| forks.checked_sub(1);
        let order = Ordering::SeqCst;
        let _ = self.under_way.fetch_update(order, order, less);
    }

    /// In a forked child: whether it is known where its parent's streams stood.
    pub fn is_fork_known(&self) -> bool {
        self.below_ticks() == 0 || self.is_fork_told.load(Ordering::Relaxed)
    }

    /// Does the last two steps, unless there was another fork than those.
    fn change(&self, forks: u32, steps: impl FnOnce()) -> bool {
        self.changing.fetch_add(1, Ordering::SeqCst);
        let may = self.forks() == forks && self.under_way.load(Ordering::SeqCst) == 0;
        if may {
            steps();
        }
        self.changing.fetch_sub(1, Ordering::SeqCst);
        may
    }

    /// Runs `work` in some room; nothing where all are taken. Signals wait meanwhile.
    fn in_room<R>(&self, mut work: impl FnMut(&mut Scratch) -> Option<R>) -> Option<R> {
        for room in &self.rooms {
            let done = room.with(Patience::None, |room| {
                Some(work(room.scratch(self.ground)?))
            });
            if let Some(done) = done {
                return done?;
            }
        }
        None
    }

    /// A forked child's.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    pub unsafe fn reset_in_child(&self) {
        for room in &self.rooms {
            // SAFETY: by the caller.
            unsafe { room.force_open() };
            room.with(Patience::None, |room| room.is_counted = false);
        }
        self.changing.store(0, Ordering::Relaxed);
        self.under_way.store(0, Ordering::Relaxed);
        self.is_fork_told.store(false, Ordering::Relaxed);
    }
}
