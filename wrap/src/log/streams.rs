//! All streams of the process, and giving one to whoever needs it.
#![allow(unsafe_code)]
//! # Safety
//! Slots live in memory that is never given back, behind pointers that are
//! set once; a stream's body goes to whoever won its claim.

use super::Log;
use crate::log::stream::{RELEASE_BYTES, Slot, Stream, USUAL_BYTES};
use crate::platform::ground::Ground;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use memlog_format::counter::Counter;
use memlog_lockfree::claims::{Claim, FREE, GUEST, UNKNOWN_TID};

/// Streams at most; more threads at the same moment go unrecorded, counted.
pub const MAX_STREAMS: usize = Os::SIZES.streams;
/// Bytes of a stream.
const STREAM_BYTES: usize = size_of::<Slot>().next_multiple_of(LEAST_PAGE);
/// What memory is a multiple of anywhere.
const LEAST_PAGE: usize = 4096;
/// What is touched of a stream that nobody has yet.
const STOCKED_BYTES: u64 = LEAST_PAGE as u64;
/// Threads asked after when a newcomer looks for a stream to take over.
const LOOK_AT: u32 = 16;

/// Places of slots.
pub type Slots = [AtomicPtr<Slot>; MAX_STREAMS];

/// The streams.
pub struct Streams {
    slots: &'static Slots,
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
    pub const fn new(slots: &'static Slots) -> Self {
        Self {
            slots,
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

    /// The slot of a stream.
    pub fn slot(&self, number: u32) -> Option<&'static Slot> {
        let place = self.slots.get(number as usize)?;
        let slot = place.load(Ordering::Acquire);
        // SAFETY: set once, to a door that lives as long as the process.
        (!slot.is_null()).then(|| unsafe { &*slot })
    }

    /// A stream for this thread: a free one; for its `own` use also one whose
    /// thread is gone; or a
    /// new one.
    #[cold]
    pub fn claim(&self, log: &'static Log, tid: u32, own: bool) -> Option<&'static Slot> {
        let tid = match tid {
            UNKNOWN_TID => self.next_unknown(),
            tid => tid,
        };
        let slot = self
            .claim_free(tid)
            .or_else(|| own.then(|| self.claim_abandoned(log.ground, tid))?)
            .or_else(|| self.claim_stocked(log, tid))
            .or_else(|| self.create(log, tid));
        match slot {
            Some(slot) => {
                let home = if own { home() } else { 0 };
                slot.home.store(home, Ordering::Relaxed);
            }
            None => log.ground.counters.add(Counter::LostNoStream, 1),
        }
        slot
    }

    /// A number for a thread whose own is not known.
    fn next_unknown(&self) -> u32 {
        let number = self.unknown.fetch_add(1, Ordering::Relaxed);
        UNKNOWN_TID + number % (GUEST - UNKNOWN_TID)
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

    fn claim_stocked(&self, log: &Log, tid: u32) -> Option<&'static Slot> {
        if self.stocked.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let slots = (0..self.count()).filter_map(|number| self.slot(number));
        let mut stocked = slots.filter(|slot| slot.is_stocked.load(Ordering::Relaxed));
        let slot = stocked.find(|slot| Claim(&slot.holder).take(FREE, tid))?;
        slot.is_stocked.store(false, Ordering::Relaxed);
        self.stocked.fetch_sub(1, Ordering::Relaxed);
        log.ground.note_gone(STOCKED_BYTES);
        note_use(log);
        Some(slot)
    }

    /// Gives a stream back.
    pub fn release(&self, slot: &Slot) {
        self.free.fetch_add(1, Ordering::Relaxed);
        Claim(&slot.holder).release();
    }

    fn claim_free(&self, tid: u32) -> Option<&'static Slot> {
        if self.free.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let slot = (0..self.count())
            .filter_map(|number| self.slot(number))
            .filter(|slot| !slot.is_stocked.load(Ordering::Relaxed))
            .find(|slot| Claim(&slot.holder).take(FREE, tid))?;
        self.free.fetch_sub(1, Ordering::Relaxed);
        Some(slot)
    }

    fn claim_abandoned(&self, ground: &Ground, tid: u32) -> Option<&'static Slot> {
        let count = self.count();
        if ground.is_quiet() {
            return self.claim_home(tid);
        }
        if count == 0 {
            return None;
        }
        for _ in 0..LOOK_AT.min(count) {
            let number = self.next_look.fetch_add(1, Ordering::Relaxed) % count;
            let Some(slot) = self.slot(number) else {
                continue;
            };
            let holder = Claim(&slot.holder).holder();
            let owner = ground.pid.load(Ordering::Relaxed);
            let known = holder != FREE && holder < UNKNOWN_TID;
            let gone = known && Os::is_gone(owner, holder);
            if gone && Claim(&slot.holder).take(holder, tid) {
                slot.busy.store(0, Ordering::Relaxed);
                return Some(slot);
            }
        }
        None
    }

    /// That of a thread whose own data was where this thread's is: it is gone.
    fn claim_home(&self, tid: u32) -> Option<&'static Slot> {
        let home = home();
        let slots = (0..self.count()).filter_map(|number| self.slot(number));
        let slot = slots
            .filter(|slot| slot.home.load(Ordering::Relaxed) == home)
            .find(|slot| {
                let holder = Claim(&slot.holder).holder();
                holder != FREE && Claim(&slot.holder).take(holder, tid)
            })?;
        slot.busy.store(0, Ordering::Relaxed);
        Some(slot)
    }

    fn create(&self, log: &'static Log, tid: u32) -> Option<&'static Slot> {
        if log.ground.is_quiet() {
            return None;
        }
        let slot = self.make(log, tid, false);
        if slot.is_some() {
            note_use(log);
        }
        slot
    }

    fn make(&self, log: &'static Log, holder: u32, is_stocked: bool) -> Option<&'static Slot> {
        if self.count() as usize >= MAX_STREAMS {
            return None;
        }
        let memory = self.take_memory().cast::<Slot>();
        if memory.is_null() {
            return None;
        }
        let number = self.count.fetch_add(1, Ordering::AcqRel);
        let Some(place) = self.slots.get(number as usize) else {
            self.count.fetch_sub(1, Ordering::AcqRel);
            return None;
        };
        // SAFETY: fresh zeroed memory of the slot's size; all zeros is a valid
        // slot, and nobody else knows of it.
        let slot = unsafe { &mut *memory };
        slot.number = number;
        let stream = slot.body.get_mut();
        (stream.number, stream.log) = (number, Some(log));
        slot.holder.store(holder, Ordering::Relaxed);
        slot.is_stocked.store(is_stocked, Ordering::Relaxed);
        place.store(memory, Ordering::Release);
        self.slot(number)
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
    pub unsafe fn each(&self, mut see: impl FnMut(&'static Slot, &mut Stream)) {
        for number in 0..self.count() {
            if let Some(slot) = self.slot(number) {
                // SAFETY: by the caller.
                see(slot, unsafe { &mut *slot.body.get() });
            }
        }
    }

    /// Whether a thread is in a call through another stream than its own.
    pub fn is_lent_to(&self, tid: u32, own: &Slot) -> bool {
        (0..self.count())
            .filter_map(|number| self.slot(number))
            .any(|slot| {
                // SAFETY: a word that is written when a stream is claimed.
                let holder = unsafe { (&raw const (*slot.body.get()).tid).read_volatile() };
                let is_busy = slot.busy.load(Ordering::Relaxed) != 0;
                is_busy && holder == tid && !core::ptr::eq(slot, own)
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
            self.each(|slot, stream| {
                // Nobody ever wrote to it: its page stays one with the parent's.
                if slot.is_stocked.load(Ordering::Relaxed) {
                    return;
                }
                stream.reset();
                slot.busy.store(0, Ordering::Relaxed);
                slot.holder.store(FREE, Ordering::Relaxed);
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
