//! All streams of the process, and giving one to whoever needs it.
#![allow(unsafe_code)]
//! # Safety
//! Doors live in memory that is never given back, behind pointers that are
//! set once; a stream's body goes to whoever won its claim.

use super::Log;
use crate::log::stream::{Door, RELEASE_BYTES, Stream, USUAL_BYTES};
use crate::platform::ground::Ground;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use memlog_format::counter::Counter;
use memlog_lockfree::claims::{Claim, FREE, UNKNOWN_TID, VISITOR};

/// Streams at most; more threads at the same moment go unrecorded, counted.
pub const MAX_STREAMS: usize = Os::SIZES.streams;
/// Bytes of a stream.
const STREAM_BYTES: usize = size_of::<Door>().next_multiple_of(LEAST_PAGE);
/// What memory is a multiple of anywhere.
const LEAST_PAGE: usize = 4096;
/// What is touched of a stream that nobody has yet.
const STOCKED_BYTES: u64 = LEAST_PAGE as u64;
/// Threads asked after when a newcomer looks for a stream to take over.
const LOOK_AT: u32 = 16;

/// Places of doors.
pub type Doors = [AtomicPtr<Door>; MAX_STREAMS];

/// The streams.
pub struct Streams {
    doors: &'static Doors,
    count: AtomicU32,
    next_look: AtomicU32,
    free: AtomicU32,
    unknown: AtomicU32,
    /// How many are stocked, for threads that come under a filter.
    stocked: AtomicU32,
    /// The next of those that are mapped, a page's address, and how many there
    /// are, below it.
    mapped: AtomicUsize,
}

impl Streams {
    /// None yet.
    pub const fn new(doors: &'static Doors) -> Self {
        Self {
            doors,
            count: AtomicU32::new(0),
            next_look: AtomicU32::new(0),
            free: AtomicU32::new(0),
            unknown: AtomicU32::new(0),
            stocked: AtomicU32::new(0),
            mapped: AtomicUsize::new(0),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// How many threads have one, or had.
    pub fn in_use(&self) -> u32 {
        let stocked = self.stocked.load(Ordering::Relaxed);
        self.count().saturating_sub(stocked)
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
    pub fn claim(&self, log: &'static Log, tid: u32, own: bool) -> Option<&'static Door> {
        let tid = match tid {
            UNKNOWN_TID => self.next_unknown(),
            tid => tid,
        };
        let door = self
            .claim_free(tid)
            .or_else(|| own.then(|| self.claim_abandoned(log.ground, tid))?)
            .or_else(|| self.claim_stocked(log, tid))
            .or_else(|| self.create(log, tid));
        match door {
            Some(door) => {
                let home = if own { home() } else { 0 };
                door.home.store(home, Ordering::Relaxed);
            }
            None => log.ground.counters.add(Counter::LostNoStream, 1),
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
    pub fn stock(&self, log: &'static Log) {
        const MANY: u32 = if MAX_STREAMS < 8192 {
            MAX_STREAMS as u32 / 64
        } else {
            128
        };
        const FEW: u32 = MANY / 8;
        let has_all = Os::limit(libc::RLIMIT_AS as usize) == u64::MAX;
        let wanted = if has_all { MANY } else { FEW };
        for _ in self.stocked.load(Ordering::Relaxed)..wanted {
            if self.make(log, FREE, true).is_none() {
                break;
            }
            self.stocked.fetch_add(1, Ordering::Relaxed);
            log.ground.note_own(STOCKED_BYTES);
        }
    }

    fn claim_stocked(&self, log: &Log, tid: u32) -> Option<&'static Door> {
        if self.stocked.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let doors = (0..self.count()).filter_map(|number| self.door(number));
        let mut stocked = doors.filter(|door| door.is_stocked.load(Ordering::Relaxed));
        let door = stocked.find(|door| Claim(&door.holder).take(FREE, tid))?;
        door.is_stocked.store(false, Ordering::Relaxed);
        self.stocked.fetch_sub(1, Ordering::Relaxed);
        log.ground.note_gone(STOCKED_BYTES);
        note_use(log);
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

    fn claim_abandoned(&self, ground: &Ground, tid: u32) -> Option<&'static Door> {
        let count = self.count();
        if ground.is_quiet() {
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
            let owner = ground.pid.load(Ordering::Relaxed);
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

    fn create(&self, log: &'static Log, tid: u32) -> Option<&'static Door> {
        if log.ground.is_quiet() {
            return None;
        }
        let door = self.make(log, tid, false);
        if door.is_some() {
            note_use(log);
        }
        door
    }

    fn make(&self, log: &'static Log, holder: u32, is_stocked: bool) -> Option<&'static Door> {
        if self.count() as usize >= MAX_STREAMS {
            return None;
        }
        let memory = self.take_memory().cast::<Door>();
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
        let stream = door.body.get_mut();
        (stream.number, stream.log) = (number, Some(log));
        door.holder.store(holder, Ordering::Relaxed);
        door.is_stocked.store(is_stocked, Ordering::Relaxed);
        place.store(memory, Ordering::Release);
        self.door(number)
    }

    /// Zeroed memory of one stream, or null. Streams lie beside each other in
    /// mappings that grow with their number.
    fn take_memory(&self) -> *mut u8 {
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let mut seen = self.mapped.load(Ordering::Acquire);
        while !seen.is_multiple_of(LEAST_PAGE) {
            // A place is mapped once, so a word that is there again is the same.
            let rest = seen + STREAM_BYTES - 1;
            match self.mapped.compare_exchange(seen, rest, order.0, order.1) {
                Ok(_) => return (seen - seen % LEAST_PAGE) as *mut u8,
                Err(now) => seen = now,
            }
        }
        let count = (self.count() as usize).clamp(1, Os::SIZES.streams_at_once);
        let memory = Os::memory(count * STREAM_BYTES);
        if memory.is_null() || count == 1 {
            // There may still be room for one.
            return match memory.is_null() && count > 1 {
                true => Os::memory(STREAM_BYTES),
                false => memory,
            };
        }
        let rest = memory as usize + STREAM_BYTES + count - 1;
        let shared = self.mapped.compare_exchange(seen, rest, order.0, order.1);
        if shared.is_err() {
            // Another thread has mapped some at the same moment.
            let rest = memory.wrapping_add(STREAM_BYTES);
            // SAFETY: mapped just now, and known to nobody.
            unsafe { Os::unmap(rest, (count - 1) * STREAM_BYTES) };
        }
        memory
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
    pub unsafe fn reset(&self, ground: &Ground) {
        let mut count = 0;
        // SAFETY: by the caller.
        unsafe {
            self.each(|door, stream| {
                // Nobody ever wrote to it: its page stays one with the parent's.
                if door.is_stocked.load(Ordering::Relaxed) {
                    return;
                }
                stream.reset();
                door.busy.store(0, Ordering::Relaxed);
                door.holder.store(FREE, Ordering::Relaxed);
                count += 1;
            });
        }
        self.free.store(count, Ordering::Relaxed);
        let stocked = self.stocked.load(Ordering::Relaxed);
        ground.note_own(u64::from(stocked) * STOCKED_BYTES);
    }
}

/// Where this thread's own data lies.
fn home() -> usize {
    // SAFETY: life is On, so the thread pointer is set up.
    unsafe { crate::platform::arch::memlog_tls_word() as usize }
}

/// A stream is used from now on.
fn note_use(log: &Log) {
    log.ground.counters.add(Counter::Streams, 1);
    log.ground.note_own(USUAL_BYTES);
    if log.free_stacks.load(Ordering::Relaxed) {
        log.ground.note_own(RELEASE_BYTES);
    }
}
