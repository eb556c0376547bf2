//! All streams of the process, and giving one to whoever needs it.
#![allow(unsafe_code)]
//! # Safety
//! Doors live in memory that is never given back, behind pointers that are
//! set once; a stream's body goes to whoever won its claim.

use crate::claims::{Claim, FREE, UNKNOWN_TID, VISITOR};
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
    unknown: AtomicU32,
}

impl Streams {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            doors: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_STREAMS],
            count: AtomicU32::new(0),
            next_look: AtomicU32::new(0),
            free: AtomicU32::new(0),
            unknown: AtomicU32::new(0),
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
        let tid = match tid {
            UNKNOWN_TID => self.next_unknown(),
            tid => tid,
        };
        let door = self
            .claim_free(tid)
            .or_else(|| own.then(|| self.claim_abandoned(tid))?)
            .or_else(|| self.claim_stocked(tid))
            .or_else(|| self.create(tid));
        match door {
            Some(door) => {
                let home = if own { home() } else { 0 };
                door.home.store(home, Ordering::Relaxed);
            }
            None => RECORDER.counters.add(Counter::LostNoStream, 1),
        }
        door
    }

    /// A number for a thread whose own is not known.
    fn next_unknown(&self) -> u32 {
        let number = self.unknown.fetch_add(1, Ordering::Relaxed);
        UNKNOWN_TID + number % (VISITOR - UNKNOWN_TID)
    }

    /// Makes streams for threads that come when none can be made. They take
    /// addresses and a page each, so where addresses are few only some.
    pub fn stock(&self) {
        const MANY: usize = MAX_STREAMS / 64;
        const FEW: usize = MANY / 8;
        let has_all = Os::limit(libc::RLIMIT_AS as usize) == u64::MAX;
        let wanted = if has_all { MANY } else { FEW };
        let is_stocked = |door: &&Door| door.is_stocked.load(Ordering::Relaxed);
        let doors = (0..self.count()).filter_map(|number| self.door(number));
        for _ in doors.filter(is_stocked).count()..wanted {
            if self.make(FREE, true).is_none() {
                break;
            }
        }
    }

    fn claim_stocked(&self, tid: u32) -> Option<&'static Door> {
        let doors = (0..self.count()).filter_map(|number| self.door(number));
        let mut stocked = doors.filter(|door| door.is_stocked.load(Ordering::Relaxed));
        let door = stocked.find(|door| Claim(&door.holder).take(FREE, tid))?;
        door.is_stocked.store(false, Ordering::Relaxed);
        note_use();
        Some(door)
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
            .filter(|door| !door.is_stocked.load(Ordering::Relaxed))
            .find(|door| Claim(&door.holder).take(FREE, tid))?;
        self.free.fetch_sub(1, Ordering::Relaxed);
        Some(door)
    }

    fn claim_abandoned(&self, tid: u32) -> Option<&'static Door> {
        let count = self.count();
        if RECORDER.is_quiet() {
            return self.claim_home(tid);
        }
        if count == 0 {
            return None;
        }
        for _ in 0..LOOK_AT.min(count) {
            let number = self.next_look.fetch_add(1, Ordering::Relaxed) % count;
            let Some(door) = self.door(number) else {
                continue;
            };
            let holder = Claim(&door.holder).holder();
            let owner = RECORDER.pid.load(Ordering::Relaxed);
            let known = holder != FREE && holder < UNKNOWN_TID;
            let gone = known && Os::is_gone(owner, holder);
            if gone && Claim(&door.holder).take(holder, tid) {
                door.busy.store(0, Ordering::Relaxed);
                return Some(door);
            }
        }
        None
    }

    /// That of a thread whose own data was where this thread's is: it is gone.
    fn claim_home(&self, tid: u32) -> Option<&'static Door> {
        let home = home();
        let doors = (0..self.count()).filter_map(|number| self.door(number));
        let door = doors
            .filter(|door| door.home.load(Ordering::Relaxed) == home)
            .find(|door| {
                let holder = Claim(&door.holder).holder();
                holder != FREE && Claim(&door.holder).take(holder, tid)
            })?;
        door.busy.store(0, Ordering::Relaxed);
        Some(door)
    }

    fn create(&self, tid: u32) -> Option<&'static Door> {
        if RECORDER.is_quiet() {
            return None;
        }
        let door = self.make(tid, false);
        if door.is_some() {
            note_use();
        }
        door
    }

    fn make(&self, holder: u32, is_stocked: bool) -> Option<&'static Door> {
        if self.count() as usize >= MAX_STREAMS {
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
        door.holder.store(holder, Ordering::Relaxed);
        door.is_stocked.store(is_stocked, Ordering::Relaxed);
        place.store(memory, Ordering::Release);
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
                count += u32::from(!door.is_stocked.load(Ordering::Relaxed));
            });
        }
        self.free.store(count, Ordering::Relaxed);
    }
}

/// Where this thread's own data lies.
fn home() -> usize {
    // SAFETY: life is On, so the thread pointer is set up.
    unsafe { crate::arch::memlog_tls_word() as usize }
}

/// A stream is used from now on.
fn note_use() {
    RECORDER.counters.add(Counter::Streams, 1);
    RECORDER.note_own(USUAL_BYTES);
    if RECORDER.free_stacks.load(Ordering::Relaxed) {
        RECORDER.note_own(RELEASE_BYTES);
    }
}

impl Default for Streams {
    fn default() -> Self {
        Self::new()
    }
}
