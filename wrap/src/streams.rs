//! All streams of the process, and giving one to whoever needs it.
#![allow(unsafe_code)]
//! # Safety
//! Doors live in memory that is never given back, behind pointers that are
//! set once; a stream's body goes to whoever won its claim.

use crate::claims::{Claim, FREE, VISITOR};
use crate::recorder::RECORDER;
use crate::stream::{Door, RELEASE_BYTES, Stream, USUAL_BYTES};
use crate::sys::{Os, Sys};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use memlog_format::counter::Counter;

/// Streams at most; more threads at the same moment go unrecorded, counted.
pub const MAX_STREAMS: usize = Os::SIZES.streams;
/// Threads asked after when a newcomer looks for a stream to take over.
const LOOK_AT: u32 = 16;

/// The streams.
pub struct Streams {
    doors: [AtomicPtr<Door>; MAX_STREAMS],
    count: AtomicU32,
    next_look: AtomicU32,
    free: AtomicU32,
}

impl Streams {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            doors: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_STREAMS],
            count: AtomicU32::new(0),
            next_look: AtomicU32::new(0),
            free: AtomicU32::new(0),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// The door of a stream.
    pub fn door(&self, number: u32) -> Option<&'static Door> {
        let place = self.doors.get(number as usize)?;
        let door = place.load(Ordering::Acquire);
        // SAFETY: set once, to a door that lives as long as the process.
        (!door.is_null()).then(|| unsafe { &*door })
    }

    /// A stream for this thread: a free one; for its `own` use also one whose
    /// thread is gone; or a
    /// new one.
    #[cold]
    pub fn claim(&self, tid: u32, own: bool) -> Option<&'static Door> {
        let door = self
            .claim_free(tid)
            .or_else(|| own.then(|| self.claim_abandoned(tid))?)
            .or_else(|| self.create(tid));
        if door.is_none() {
            RECORDER.counters.add(Counter::LostNoStream, 1);
        }
        door
    }

    /// Gives a stream back.
    pub fn release(&self, door: &Door) {
        self.free.fetch_add(1, Ordering::Relaxed);
        Claim(&door.holder).release();
    }

    fn claim_free(&self, tid: u32) -> Option<&'static Door> {
        if self.free.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let door = (0..self.count())
            .filter_map(|number| self.door(number))
            .find(|door| Claim(&door.holder).take(FREE, tid))?;
        self.free.fetch_sub(1, Ordering::Relaxed);
        Some(door)
    }

    fn claim_abandoned(&self, tid: u32) -> Option<&'static Door> {
        let count = self.count();
        if count == 0 || RECORDER.is_quiet() {
            return None;
        }
        for _ in 0..LOOK_AT.min(count) {
            let number = self.next_look.fetch_add(1, Ordering::Relaxed) % count;
            let Some(door) = self.door(number) else {
                continue;
            };
            let holder = Claim(&door.holder).holder();
            let owner = RECORDER.pid.load(Ordering::Relaxed);
            let known = holder != FREE && holder != VISITOR;
            let gone = known && Os::is_gone(owner, holder);
            if gone && Claim(&door.holder).take(holder, tid) {
                door.busy.store(0, Ordering::Relaxed);
                return Some(door);
            }
        }
        None
    }

    fn create(&self, tid: u32) -> Option<&'static Door> {
        if self.count() as usize >= MAX_STREAMS || RECORDER.is_quiet() {
            return None;
        }
        let memory = Os::memory(size_of::<Door>().next_multiple_of(4096)).cast::<Door>();
        if memory.is_null() {
            return None;
        }
        let number = self.count.fetch_add(1, Ordering::AcqRel);
        let Some(place) = self.doors.get(number as usize) else {
            self.count.fetch_sub(1, Ordering::AcqRel);
            return None;
        };
        // SAFETY: fresh zeroed memory of the door's size; all zeros is a valid
        // door, and nobody else knows of it.
        let door = unsafe { &mut *memory };
        door.number = number;
        door.body.get_mut().number = number;
        door.holder.store(tid, Ordering::Relaxed);
        place.store(memory, Ordering::Release);
        RECORDER.counters.add(Counter::Streams, 1);
        RECORDER.note_own(USUAL_BYTES);
        if RECORDER.free_stacks.load(Ordering::Relaxed) {
            RECORDER.note_own(RELEASE_BYTES);
        }
        self.door(number)
    }

    /// Runs over all streams. Only where no other thread records.
    ///
    /// # Safety
    /// The caller is the only thread in the recorder.
    pub unsafe fn each(&self, mut see: impl FnMut(&'static Door, &mut Stream)) {
        for number in 0..self.count() {
            if let Some(door) = self.door(number) {
                // SAFETY: by the caller.
                see(door, unsafe { &mut *door.body.get() });
            }
        }
    }

    /// Whether a thread is in a call through another stream than its own.
    pub fn is_lent_to(&self, tid: u32, own: &Door) -> bool {
        (0..self.count())
            .filter_map(|number| self.door(number))
            .any(|door| {
                // SAFETY: a word that is written when a stream is claimed.
                let holder = unsafe { (&raw const (*door.body.get()).tid).read_volatile() };
                let is_busy = door.busy.load(Ordering::Relaxed) != 0;
                is_busy && holder == tid && !core::ptr::eq(door, own)
            })
    }

    /// A forked child's: all streams are free and empty.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    pub unsafe fn reset(&self) {
        let mut count = 0;
        // SAFETY: by the caller.
        unsafe {
            self.each(|door, stream| {
                stream.reset();
                door.busy.store(0, Ordering::Relaxed);
                door.holder.store(FREE, Ordering::Relaxed);
                count += 1;
            });
        }
        self.free.store(count, Ordering::Relaxed);
    }
}

impl Default for Streams {
    fn default() -> Self {
        Self::new()
    }
}
