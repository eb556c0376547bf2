//! A stream: one thread's single-producer ring of the log, and all that the
//! thread needs to record without asking anybody.
//!
//! The chunk lies in the file; an event is encoded behind what is committed
//! and published by one release store of the committed length. When a chunk
//! is full it is sealed and the next one carved.
#![allow(unsafe_code)]
//! # Safety
//! A stream's chunk is held by the stream, and the stream by one writer at a
//! time (see `claims`).

mod culled;
mod failures;
mod forked;
mod name;
mod ready;
mod scopes;

pub use failures::Failures;
pub use name::{LONGEST as LONGEST_NAME, TOLD, mark_of};
pub use scopes::Scopes;

use super::Log;
use crate::log::sink::{self, Use};
use crate::platform::bounds::Bounds;
use crate::platform::clock;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::unwind::kept::{self, Kept};
use crate::unwind::walk::{Cache, MAX_FRAMES, Workspace};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::Counter;
use memlog_format::event::{Alloc, Deltas, MAX_EVENT, Release};
use memlog_format::ext::{Ext, MAX_EXT};
use memlog_format::table::StackId;
use memlog_format::varint::Writer;

/// Room that must be left before a group of records begins: a realloc's two
/// halves lie in one chunk, with what may come between them.
const ROOM: usize = 2 * MAX_EVENT + 4 * MAX_EXT;
/// Room that must be left for a record inside a group; no record is longer.
const ROOM_INSIDE: usize = MAX_EXT;

/// What others may look at: who holds the stream, and whether he is at work.
#[repr(C, align(64))]
pub struct Slot {
    /// The claim: the holder's thread id.
    pub holder: AtomicU32,
    /// The stream's number.
    pub number: u32,
    /// The token: see `token`.
    pub busy: AtomicU64,
    /// Where the holder's own data lies, if it is his alone: whoever has it
    /// there comes after him.
    pub home: AtomicUsize,
    /// The number that the C library has the holder under, in a program that was attached
    /// to. In a child by clone(2) alone it stays the parent's.
    pub told: AtomicU32,
    /// By which name its thread was told of last, see [`mark_of`].
    pub named: AtomicU64,
    /// Made ahead, and held by nobody so far.
    pub is_stocked: AtomicBool,
    /// The rest, for the holder alone.
    pub body: core::cell::UnsafeCell<Stream>,
}

/// What a stream takes of memory at first, but for its caches: the first page of
/// each array that is only as long as the deepest stack.
pub const USUAL_BYTES: u64 = (2 * 4096 + kept::USUAL_BYTES) as u64;
/// What it takes besides where releases have stacks.
pub const RELEASE_BYTES: u64 = kept::USUAL_BYTES as u64;

// SAFETY: the body is only touched by the holder of the claim.
unsafe impl Sync for Slot {}

/// The holder's part.
#[repr(C)]
pub struct Stream {
    /// The log it is a part of; there from when the stream is made.
    pub(super) log: Option<&'static Log>,
    /// The stream's number.
    pub number: u32,
    /// The thread it belongs to now.
    pub tid: u32,
    chunk: *mut u8,
    chunk_index: u32,
    /// Bytes of the chunk that may be written to.
    ready: u32,
    committed: u32,
    /// Below this a whole group of records fits into the chunk; 0 without one, and
    /// where something is to be told before the next record.
    full_at: u32,
    sequence: u32,
    /// Events in the chunk, to be counted if it cannot be kept.
    events: u32,
    /// Events left before the clock is read again.
    pub until_clock: u32,
    /// How many there were after the last look.
    pub clock_every: u32,
    /// The millisecond in which it was last asked whether somebody wants something.
    pub asked_ms: u64,
    deltas: Deltas,
    /// Bytes that may still come or go until something is due.
    pub allowance: i64,
    /// What the allowance was.
    allowed: i64,
    /// Bytes that came or went since the last reading of resident memory, but
    /// for those of the present allowance.
    settled: u64,
    /// Readings of resident memory that what follows comes after.
    pub readings_seen: u32,
    /// Bytes allocated minus released since the last stamp.
    pub unstamped: i64,
    /// The generation of the rules in the cache.
    pub generation: u64,
    /// The thread's own stack.
    pub stack: Bounds,
    /// Another stack it was lately seen on.
    pub other_stack: Bounds,
    /// The end of such a stack that was asked for once more, and when.
    pub confirmed: (u64, u64),
    /// The block that was recorded last, as long as it lives; an operator new
    /// looks there for its own.
    pub last_block: u64,
    /// The caller's sp of the operator new that this thread is in, or was
    /// thrown out of; 0 for none.
    pub operator: u64,
    /// The same of a named function, by which the token is held.
    pub named: u64,
    /// Between the two halves of a realloc: the chunk must not end.
    pub announced: bool,
    /// Whether the chunk was taken before the log had a file.
    is_private: bool,
    /// Whether a call got no memory since an operator new was called.
    pub has_failed: bool,
    /// The thread's.
    name: name::Name,
    pub(crate) lost: u64,
    culled: culled::Culled,
    cache: Cache,
    codes: [u32; MAX_FRAMES],
    kept: Kept,
    /// The same of releases, whose stacks are others; only touched where those
    /// are recorded.
    kept_of_releases: [Kept; Os::SIZES.release_stacks],
    /// Calls that got no memory; only touched where there are such.
    pub failures: Failures,
    scopes: Scopes,
}

/// What a stack is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Memory that came, or the address space.
    Allocation,
    /// Memory that goes.
    Release,
}

impl Stream {
    fn log(&self) -> &'static Log {
        // SAFETY: set when the stream was made, before anybody could have it.
        unsafe { self.log.unwrap_unchecked() }
    }

    /// The memory of a walk.
    #[inline]
    pub fn workspace(&mut self) -> Workspace<'_> {
        Workspace {
            cache: &mut self.cache,
            codes: &mut self.codes,
        }
    }

    /// The last stack.
    #[inline(always)]
    pub fn kept(&self, of: Of) -> &Kept {
        match of {
            Of::Allocation => &self.kept,
            Of::Release => self.kept_of_releases.first().unwrap_or(&self.kept),
        }
    }

    /// The memory of a capture.
    #[inline]
    pub fn capture_space(&mut self, of: Of) -> (&mut Cache, &mut Kept) {
        let kept = match of {
            Of::Allocation => &mut self.kept,
            Of::Release => self.kept_of_releases.first_mut().unwrap_or(&mut self.kept),
        };
        (&mut self.cache, kept)
    }

    /// Forgets what the rules of code were.
    #[cold]
    pub fn clear_cache(&mut self, generation: u64) {
        self.cache.clear();
        self.kept.clear();
        if self.log().free_stacks.load(Ordering::Relaxed) {
            self.kept_of_releases.iter_mut().for_each(Kept::clear);
        }
        self.generation = generation;
    }

    /// Writes what nearly all allocations are; false if it is none of those, or
    /// there is no room.
    #[inline(always)]
    pub fn write_malloc(&mut self, address: u64, sizes: (u64, u64), stack: StackId) -> bool {
        if self.committed >= self.full_at {
            return false;
        }
        let Some(out) = self.room().first_chunk_mut() else {
            return false;
        };
        let bytes = self.deltas.put_malloc(out, address, sizes, stack);
        self.wrote(bytes)
    }

    /// Writes what nearly all releases are; false if it is none of those, or
    /// there is no room.
    #[inline(always)]
    pub fn write_free(&mut self, address: u64) -> bool {
        if self.committed >= self.full_at {
            return false;
        }
        let Some(out) = self.room().first_chunk_mut() else {
            return false;
        };
        let bytes = self.deltas.put_free(out, address);
        self.wrote(bytes)
    }

    #[inline(always)]
    fn wrote(&mut self, bytes: Option<usize>) -> bool {
        let Some(bytes) = bytes else {
            return false;
        };
        self.events = self.events.wrapping_add(1);
        self.commit(bytes);
        true
    }

    /// Writes any event, or counts it as lost.
    pub fn write_alloc(&mut self, event: &Alloc) {
        self.write(|deltas, out| deltas.put_alloc(out, event));
    }

    /// Writes any event, or counts it as lost.
    pub fn write_release(&mut self, event: &Release) {
        self.write(|deltas, out| deltas.put_release(out, event));
    }

    /// Writes that an announced release did not happen.
    pub fn write_revoke(&mut self) {
        self.write(|deltas, out| deltas.put_revoke(out));
    }

    #[inline]
    fn write(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        if self.reserve() {
            self.events = self.events.wrapping_add(1);
            self.put(put);
        } else {
            self.lose(1);
        }
    }

    /// Writes one record behind another that made sure of the room.
    #[inline]
    pub fn put(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        let mut out = Writer::new(self.room());
        put(&mut self.deltas, &mut out);
        match out.finish() {
            Some(bytes) => self.commit(bytes),
            // The deltas have moved on without their record.
            None => self.give_up(),
        }
    }

    /// What lies behind the committed bytes.
    #[inline(always)]
    fn room(&self) -> &'static mut [u8; ROOM_INSIDE] {
        // SAFETY: the chunk is held by this stream, and has at least that much
        // room behind what is committed.
        unsafe { &mut *self.chunk.add(self.committed as usize).cast() }
    }

    /// Publishes a record.
    #[inline(always)]
    fn commit(&mut self, bytes: usize) {
        self.committed = self.committed.wrapping_add(bytes as u32);
        // SAFETY: the chunk is held by this stream.
        unsafe { sink::commit(self.chunk, self.committed) };
    }

    #[cold]
    fn give_up(&mut self) {
        self.lose(1);
        self.finish_chunk();
    }

    /// Bytes that came or went since the last reading of resident memory.
    pub fn moved_since_reading(&self) -> u64 {
        let spent = self.allowed.wrapping_sub(self.allowance);
        self.settled.saturating_add(spent.max(0) as u64)
    }

    /// Allows so many bytes to come or go.
    pub fn allow(&mut self, bytes: i64) {
        self.settled = self.moved_since_reading();
        (self.allowed, self.allowance) = (bytes, bytes);
    }

    /// Resident memory was read.
    pub fn note_reading(&mut self) {
        (self.settled, self.allowed) = (0, self.allowance);
    }

    /// Makes sure that a whole group of records will lie in one chunk.
    #[inline(always)]
    pub fn reserve(&mut self) -> bool {
        self.committed < self.full_at || self.reserve_more()
    }

    #[cold]
    #[inline(never)]
    fn reserve_more(&mut self) -> bool {
        if self.make_room() {
            return true;
        }
        // A group that was begun may use the room kept for it.
        let goes_on = self.announced && !self.chunk.is_null();
        goes_on && self.committed as usize + ROOM_INSIDE <= self.ready as usize || self.next_chunk()
    }

    /// An event that could not be recorded.
    #[cold]
    pub fn lose(&mut self, events: u64) {
        self.lost += events;
        self.log().ground.counters.add(Counter::LostNoRoom, events);
    }

    /// Writes a rarer record, if there is room; it is no event to be missed.
    #[cold]
    pub fn write_ext(&mut self, ext: &Ext) {
        if self.reserve() {
            self.put_ext(ext);
        }
    }

    /// Apart, so that its buffer is not on the stack while a chunk is fetched.
    #[inline(never)]
    fn put_ext(&mut self, ext: &Ext) {
        self.put(|deltas, out| deltas.put_ext(out, ext));
    }

    /// Moves the stream's time.
    pub fn set_tick(&mut self, tick: u64) {
        if self.reserve() {
            self.put(|deltas, out| deltas.put_tick(out, tick));
        } else {
            // What a full log still has to do by time goes on at its pace.
            self.deltas.tick = tick;
        }
    }

    /// Moves the stream's time to now.
    pub fn look_at_time(&mut self) {
        let tick = clock::tick();
        if tick != self.tick() {
            self.set_tick(tick);
        }
    }

    /// The stream's time.
    pub fn tick(&self) -> u64 {
        self.deltas.tick
    }

    /// Seals the chunk and takes the next; false if there is none.
    #[cold]
    pub fn next_chunk(&mut self) -> bool {
        self.cull() || self.begin_chunk()
    }

    /// The same, and nothing is built upon what is in the chunk.
    pub fn begin_chunk(&mut self) -> bool {
        self.finish_chunk();
        (self.announced, self.is_private) = (false, self.log().is_deferred());
        // Who has filled most of a chunk will fill another.
        let usage = match self.committed as usize > CHUNK_SIZE / 2 {
            true => Use::Much,
            false => Use::Little,
        };
        let Some(chunk) = self.log().carve_when_ready(usage) else {
            return false;
        };
        self.culled.begin(self.log().cull.forks());
        let header = Header {
            thread: self.tid,
            base_tick: self.deltas.tick,
            base_stamp: self.deltas.stamp,
            ..Header::new(Kind::Events, self.number, self.sequence)
        };
        // SAFETY: carved for this stream just now.
        unsafe { sink::begin(chunk, &header) };
        self.sequence += 1;
        if self.log().writes_out() {
            self.log().sink.hold(self.number, chunk);
        }
        (self.chunk, self.chunk_index) = (chunk.at, chunk.index);
        self.committed = HEADER_SIZE as u32;
        self.set_ready(chunk.ready);
        self.deltas = Deltas::at_start(header.base_tick, header.base_stamp);
        let lost = core::mem::take(&mut self.lost);
        let (tid, name) = (self.tid, self.name);
        self.put_ext(&name.ext(tid));
        self.tell_scopes_of_chunk();
        if lost > 0 {
            let reason = Counter::LostNoRoom as u8;
            self.put_ext(&Ext::Loss {
                events: lost,
                reason,
            });
        }
        true
    }

    /// Seals the chunk, if there is one.
    pub fn finish_chunk(&mut self) {
        if self.chunk.is_null() {
            return;
        }
        let chunk = self.held();
        (self.chunk, self.full_at) = (core::ptr::null_mut(), 0);
        // SAFETY: the header lies in the held chunk.
        let head = unsafe { core::slice::from_raw_parts(chunk.at, HEADER_SIZE) };
        if let Ok(Some(header)) = Header::decode(head) {
            let header = Header {
                committed: self.committed,
                ..header
            };
            if self.log().writes_out() {
                let log = self.log();
                log.meta.with(Patience::Bounded, |meta| meta.flush(log));
            }
            // SAFETY: the stream held it and has just forgotten it.
            let kept = unsafe { self.log().sink.seal(chunk, &header) };
            if !kept {
                self.lose(u64::from(self.events));
            }
        }
        self.events = 0;
        let log = self.log();
        // SAFETY: as above.
        if !unsafe { log.flight.take_sealed(log.ground, chunk) } {
            log.note_sealed(chunk.ready);
        }
    }

    /// Writes the unfinished chunk out where the file is not the memory.
    pub fn flush(&mut self) {
        if !self.chunk.is_null() {
            self.log().sink.write(self.held());
        }
    }

    /// The stream begins to serve this thread.
    pub fn adopt(&mut self, tid: u32) {
        let same = self.tid == tid;
        self.tid = tid;
        self.forget_scopes();
        (self.until_clock, self.clock_every) = (0, 0);
        (self.last_block, self.operator, self.named) = (0, 0, 0);
        // What this thread does comes after all that others stamped.
        self.readings_seen = self.log().readings.count();
        if self.reserve() {
            let stamp = self.log().stamp();
            self.put(|deltas, out| deltas.put_stamp(out, stamp));
        }
        if !same {
            (self.stack, self.other_stack) = (Bounds::default(), Bounds::default());
        }
        // A number may be a new thread's, with a stack of its own.
        self.kept.forget();
        self.kept_of_releases.iter_mut().for_each(Kept::forget);
        self.take_name(same);
    }

    /// Bytes committed in the chunk.
    pub fn committed(&self) -> u32 {
        self.committed
    }

    /// Where the stream stands, for a child's cut.
    pub fn position(&self) -> (u32, u32) {
        (self.sequence.wrapping_sub(1), self.committed)
    }
}
