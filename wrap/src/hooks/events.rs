//! The events that are not what nearly all are (those are in `malloc`): other
//! functions, large blocks, a realloc's two halves, a look at the clock that is
//! due and what it leads to.

use crate::hooks::capture::capture_apart;
use crate::hooks::failed;
use crate::hooks::malloc::{capture, goes, is_behind, is_own, moved};
use crate::hooks::named::slabs::SLAB;
use crate::hooks::session::Recording;
use crate::hooks::switches;
use crate::log::stream::{Of, Stream};
use crate::platform::arch::DoorFrame;
use crate::platform::clock;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use core::sync::atomic::Ordering;
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::ext::Ext;
use memlog_format::table::StackId;
use memlog_lockfree::life::Life;

/// After a tick the clock is read at once, for the thread may be one that
/// seldom allocates ...
const CLOCK_AT_FIRST: u32 = 1;
/// ... and, twice as seldom each time that no tick has passed, once in so many.
const CLOCK_AT_LAST: u32 = 32;
/// A block this large is worth a look at the clock, and so is what comes after
/// so many bytes: no more are ever told as from before a pause.
pub(super) const TIMED: u64 = 4096;
/// A block this large is worth more, see `note_large`, and a thread whose bytes
/// grew or shrank by this much takes a stamp.
pub(super) const LARGE: u64 = 64 * 1024;

/// A forked child that records this much, or lives this long, gets its log.
const CHILD_BYTES: u32 = 1024;
/// See `CHILD_BYTES`.
pub(super) const CHILD_MS: u64 = 5;

/// A block this large is pinned in the order of all threads. Smaller ones are
/// not, for two stamps cost as much as the event.
const PINNED: u64 = 256 * 1024;

/// What was asked for.
#[derive(Clone, Copy)]
pub struct Request {
    /// The function called.
    pub api: Api,
    /// Bytes.
    pub size: usize,
    /// Logarithm of the alignment, 0 where none was asked for.
    pub alignment_log2: u8,
}

impl Request {
    /// The logarithm of what is no alignment.
    pub const NO_ALIGNMENT: u8 = 63;

    /// The event of a request that was met.
    pub(super) fn got(
        self,
        address: u64,
        usable: u64,
        stack: StackId,
        order: Option<u64>,
    ) -> Alloc {
        Alloc {
            api: self.api,
            address,
            size: self.size as u64,
            usable,
            alignment_log2: self.alignment_log2,
            stack,
            order,
        }
    }
}

/// Records any block that the allocator gave, or that it gave none: what it has
/// in truth, and how much of that was there before, in the block that realloc
/// took.
#[inline(never)]
pub fn allocated_apart(
    recording: Recording,
    frame: &DoorFrame,
    block: *mut u8,
    request: Request,
    (usable, stayed): (Option<u64>, u64),
) {
    if block.is_null() {
        return failed::allocation(recording, frame, request);
    }
    let Recording { stream, patience } = recording;
    let address = block as u64;
    let usable = usable.unwrap_or(request.size as u64);
    let is_shared = !is_own(stream, address);
    keep_time(stream, is_shared || usable >= TIMED);
    if usable >= LARGE {
        note_large(stream, usable, usable.saturating_sub(stayed), rss::poll);
    }
    if RECORDER.ground.life().get() == Life::Paused {
        return came_late(stream, address);
    }
    let stack = capture(Recording { stream, patience }, frame, Of::Allocation);
    // Last, as for releases: a stamp in between would stand before the event
    // and come after its number. Nobody else has the block yet.
    let order = RECORDER.log.cells().number(address, stream.number);
    stream.write_alloc(&request.got(address, usable, stack, order));
    stream.settle_announced();
    stream.last_block = address;
    moved(stream, usable.saturating_sub(stayed), usable as i64);
}

/// A block came by a call that recording went off over. It may go before recording is
/// on again, and nobody would see that, so it is not told. Until then the block that a
/// realloc took is live, unless its address is given out again.
///
/// Looked at behind the stamp that the event would have: who finds recording on there is
/// seen to give the block back, or stands before the switch that forgets it.
#[cold]
#[inline(never)]
fn came_late(stream: &mut Stream, address: u64) {
    stream.last_block = address;
    if stream.announced {
        stream.write_ext(&Ext::Unseen);
        stream.settle_announced();
    }
}

/// How a block goes.
#[derive(Clone, Copy)]
pub struct How {
    /// By which function.
    pub api: Api,
    /// The bytes that realloc is to keep of it: it is announced, and may stay
    /// after all. What does not go is no reason to ask for resident memory,
    /// or a block of megabytes that grows by a few bytes would ask each time.
    pub may_stay: Option<u64>,
}

impl How {
    /// It goes, whatever happens.
    pub const fn by(api: Api) -> Self {
        Self {
            api,
            may_stay: None,
        }
    }
}

/// Records any block that is about to go.
#[inline(never)]
pub fn releasing_apart(
    recording: Recording,
    frame: &DoorFrame,
    block: *mut u8,
    usable: Option<u64>,
    how: How,
) {
    let Recording { stream, patience } = recording;
    let usable = usable.unwrap_or(0);
    let announced = how.may_stay.is_some();
    let bytes = usable.saturating_sub(how.may_stay.unwrap_or(0));
    let is_shared = !is_own(stream, block as u64);
    keep_time(stream, is_shared || usable >= TIMED);
    if usable >= LARGE {
        if usable == SLAB {
            // Nothing of the log's goes. Said here, where it costs the usual none.
            return;
        }
        // Before the memory goes, or a peak that ends here is never seen.
        note_large(stream, usable, bytes, rss::poll_before_fall);
    }
    let stack = match RECORDER.log.free_stacks.load(Ordering::Relaxed) {
        true => Some(capture(Recording { stream, patience }, frame, Of::Release)),
        false => None,
    };
    let event = Release {
        api: how.api,
        address: block as u64,
        announced,
        stack,
        // Last: between number and event as little as can be, and no stamp.
        order: RECORDER.log.cells().number(block as u64, stream.number),
    };
    stream.write_release(&event);
    stream.announced = announced;
    goes(stream, block as u64, usable, bytes);
}

/// Records that an announced release did not happen.
#[cold]
pub fn revoked(stream: &mut Stream, usable: Option<u64>) {
    stream.write_revoke();
    stream.settle_announced();
    let usable = usable.unwrap_or(0);
    moved(stream, usable, usable as i64);
}

/// All that a change of the address space needs before it takes its number, and
/// what came to nothing.
#[cold]
pub fn before_mapping(recording: Recording, frame: &DoorFrame) -> StackId {
    look_at_clock(recording.stream);
    capture_apart(recording, frame, Of::Allocation)
}

/// A look at the clock that finds the time as it was.
#[inline(never)]
pub(super) fn is_same_tick(stream: &mut Stream) -> bool {
    let looks_each_time = clock::is_fine() || RECORDER.log.is_deferred();
    if looks_each_time || is_behind(stream) || clock::ms() != stream.tick() {
        return false;
    }
    look_again_later(stream);
    true
}

/// No tick has passed since the last look at the clock.
fn look_again_later(stream: &mut Stream) {
    stream.clock_every = (2 * stream.clock_every).clamp(CLOCK_AT_FIRST, CLOCK_AT_LAST);
    stream.until_clock = stream.clock_every;
}

/// Moves the stream's time now and then, and always where it matters: where
/// threads share what the event is on, or a block would go before it came.
#[inline]
fn keep_time(stream: &mut Stream, matters: bool) {
    if (matters || is_behind(stream)) && !is_same_tick(stream) {
        stream.until_clock = 0;
    }
    match stream.until_clock.checked_sub(1) {
        Some(left) => stream.until_clock = left,
        None => look_at_clock(stream),
    }
}

/// What a large block is worth: its own time, a reading of resident memory, and
/// a place in the order of all threads, or it could stand anywhere among what
/// others did since this one's last. Read before it goes, by what it has; and
/// before it came to mean something, for it may stay untouched, and what was
/// touched before it is no work of its.
#[cold]
fn note_large(stream: &mut Stream, usable: u64, moves: u64, poll: fn(&mut Stream)) {
    look_at_clock(stream);
    if moves > 0 && stream.moved_since_reading().saturating_add(moves) >= RECORDER.rss.step() {
        poll(stream);
    }
    if usable >= PINNED {
        take_stamp(stream);
    }
}

#[inline(never)]
fn look_at_clock(stream: &mut Stream) {
    let tick = clock::tick();
    look_again_later(stream);
    if RECORDER.log.is_deferred()
        && (clock::ms_of(tick) >= CHILD_MS || stream.committed() >= CHILD_BYTES)
    {
        RECORDER.log.materialize();
        stream.leave_private_chunk();
    }
    if tick != stream.tick() {
        (stream.clock_every, stream.until_clock) = (CLOCK_AT_FIRST, CLOCK_AT_FIRST);
        stream.set_tick(tick);
        let now_ms = clock::ms_of(tick);
        if RECORDER.rss.is_due(now_ms) && !RECORDER.ground.is_quiet() {
            rss::poll(stream);
        }
        stream.look_again(now_ms);
    }
    let now_ms = clock::ms_of(tick);
    if now_ms != stream.asked_ms {
        stream.asked_ms = now_ms;
        if RECORDER.control.is_due(&RECORDER.ground.counters) {
            switches::obey(stream);
        }
    }
    if is_behind(stream) {
        // First, or a reading that begins in between is never seen.
        stream.readings_seen = RECORDER.log.readings.count();
        take_stamp(stream);
    }
    if clock::is_fine() {
        // The next event has a time of its own too, and so takes the general path.
        stream.until_clock = 0;
    }
}

/// Enough bytes that came or went are worth a look at the clock, and a reading
/// of resident memory; enough that stayed a place in the order of all threads,
/// so that the heap's peak has an error bound.
#[cold]
pub(super) fn settle(stream: &mut Stream) {
    stream.until_clock = 0;
    if stream.moved_since_reading() >= RECORDER.rss.step() {
        rss::poll(stream);
    }
    if stream.unstamped.unsigned_abs() >= LARGE {
        take_stamp(stream);
    }
    stream.allow((LARGE as i64 - stream.unstamped.abs()).min(TIMED as i64));
}

/// Gives the stream a place in the order of all threads.
#[cold]
pub fn take_stamp(stream: &mut Stream) {
    stream.unstamped = 0;
    if stream.reserve() {
        let stamp = RECORDER.log.stamp();
        stream.put(|deltas, out| deltas.put_stamp(out, stamp));
    }
}
