//! Recording one event: number, stack, bytes. The hot path of the project.
//!
//! Nothing here locks, allocates, or calls the kernel, libc or ld.so in steady
//! state; what does is behind `#[cold]`: a new chunk, an unknown address, a
//! reading of resident memory.

use crate::hooks::capture::{capture, capture_apart};
use crate::hooks::failed;
use crate::hooks::named::slabs::SLAB;
use crate::log::stream::{Of, Stream};
use crate::platform::arch::DoorFrame;
use crate::platform::clock;
use crate::platform::lock::Patience;
use crate::process::overhead::Timing;
use crate::process::real;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use core::sync::atomic::Ordering;
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::table::StackId;

/// After a tick the clock is read at once, for the thread may be one that
/// seldom allocates ...
const CLOCK_AT_FIRST: u32 = 1;
/// ... and, twice as seldom each time that no tick has passed, once in so many.
const CLOCK_AT_LAST: u32 = 32;
/// A block this large is worth a look at the clock, and so is what comes after
/// so many bytes: no more are ever told as from before a pause.
const TIMED: u64 = 4096;
/// A block this large is worth more, see `attend`, and a thread whose bytes
/// grew or shrank by this much takes a stamp.
const LARGE: u64 = 64 * 1024;

/// A forked child that records this much, or lives this long, gets its log.
const CHILD_BYTES: u32 = 1024;
/// See `CHILD_BYTES`.
const CHILD_TICKS: u64 = 5;

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
    fn got(self, address: u64, usable: u64, stack: StackId, order: Option<u64>) -> Alloc {
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

/// Records a block that the allocator gave, and what it has in truth: here if
/// it is what nearly all are, else apart. Of no block there is no such figure.
#[inline(always)]
pub fn allocated(
    stream: &mut Stream,
    patience: Patience,
    frame: &DoorFrame,
    block: *mut u8,
    request: Request,
    usable: Option<u64>,
) {
    let (address, size) = (block as u64, request.size as u64);
    let usual = usable.filter(|&usable| {
        matches!(request.api, Api::Malloc) && is_timely(stream, usable) && is_own(stream, address)
    });
    let Some(usable) = usual else {
        let usable = real::checked(block, usable);
        return allocated_apart(stream, patience, frame, block, request, (usable, 0));
    };
    stream.until_clock -= 1;
    let stack = capture(stream, frame, patience, Of::Allocation);
    if !stream.write_malloc(address, (size, usable), stack) {
        write_apart(stream, address, request, usable, stack);
    }
    came(stream, address, usable);
}

/// Records any block that the allocator gave, or that it gave none: what it has
/// in truth, and how much of that was there before, in the block that realloc
/// took.
#[inline(never)]
pub fn allocated_apart(
    stream: &mut Stream,
    patience: Patience,
    frame: &DoorFrame,
    block: *mut u8,
    request: Request,
    (usable, stayed): (Option<u64>, u64),
) {
    if block.is_null() {
        return failed::allocation(stream, patience, frame, request);
    }
    let address = block as u64;
    let usable = usable.unwrap_or(request.size as u64);
    let is_shared = !is_own(stream, address);
    let timing = keep_time(stream, is_shared || usable >= TIMED);
    if usable >= LARGE {
        attend(stream, usable, usable.saturating_sub(stayed));
    }
    let stack = capture(stream, frame, patience, Of::Allocation);
    // Last, as for releases: a stamp in between would stand before the event
    // and come after its number. Nobody else has the block yet.
    let order = RECORDER.log.cells().number(address, stream.number);
    stream.write_alloc(&request.got(address, usable, stack, order));
    stream.settle_announced();
    stream.last_block = address;
    moved(stream, usable.saturating_sub(stayed), usable as i64);
    timing.end();
}

/// An allocation that is unusual only in its bytes, or fills the chunk.
#[inline(never)]
fn write_apart(stream: &mut Stream, address: u64, request: Request, usable: u64, stack: StackId) {
    stream.write_alloc(&request.got(address, usable, stack, None));
}

#[inline(always)]
fn came(stream: &mut Stream, address: u64, usable: u64) {
    stream.last_block = address;
    moved(stream, usable, usable as i64);
}

/// Records that a block is about to go: here if it does as nearly all do, else
/// apart.
#[inline(always)]
pub fn releasing(
    stream: &mut Stream,
    patience: Patience,
    frame: &DoorFrame,
    block: *mut u8,
    usable: Option<u64>,
    how: How,
) {
    let address = block as u64;
    let is_usual = matches!((how.api, how.may_stay), (Api::Free, None))
        && !RECORDER.log.free_stacks.load(Ordering::Relaxed)
        && is_timely(stream, usable.unwrap_or(0))
        && is_own(stream, address);
    if !is_usual || !stream.write_free(address) {
        return releasing_apart(stream, patience, frame, block, usable, how);
    }
    stream.until_clock -= 1;
    let usable = usable.unwrap_or(0);
    goes(stream, address, usable, usable);
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
    stream: &mut Stream,
    patience: Patience,
    frame: &DoorFrame,
    block: *mut u8,
    usable: Option<u64>,
    how: How,
) {
    let usable = usable.unwrap_or(0);
    let announced = how.may_stay.is_some();
    let bytes = usable.saturating_sub(how.may_stay.unwrap_or(0));
    let is_shared = !is_own(stream, block as u64);
    let timing = keep_time(stream, is_shared || usable >= TIMED);
    if usable >= LARGE {
        if usable == SLAB {
            // Nothing of the log's goes. Said here, where it costs the usual none.
            return timing.end();
        }
        // Before the memory goes, or a peak that ends here is never seen.
        attend(stream, usable, bytes);
    }
    let stack = match RECORDER.log.free_stacks.load(Ordering::Relaxed) {
        true => Some(capture(stream, frame, patience, Of::Release)),
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
    timing.end();
}

#[inline(always)]
fn goes(stream: &mut Stream, address: u64, usable: u64, bytes: u64) {
    if stream.last_block == address {
        stream.last_block = 0;
    }
    moved(stream, bytes, -(usable as i64));
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
pub fn before_mapping(stream: &mut Stream, patience: Patience, frame: &DoorFrame) -> StackId {
    look_at_clock(stream);
    capture_apart(stream, frame, patience, Of::Allocation)
}

/// Whether all on an address's page was this stream's.
#[inline(always)]
fn is_own(stream: &Stream, address: u64) -> bool {
    RECORDER.log.cells().is_own(address, stream.number)
}

/// Whether no tick has passed, or no look at the clock is due; nor what a block
/// this large is worth besides.
#[inline(always)]
fn is_timely(stream: &mut Stream, bytes: u64) -> bool {
    let is_due = stream.until_clock == 0 || bytes >= TIMED || is_behind(stream);
    !is_due || bytes < LARGE && glance(stream)
}

/// Whether resident memory was read since this thread last stamped: what it
/// does now is to stand after that. So a thread that pauses while others go on
/// comes to know the time as well, however seldom it looks at the clock.
#[inline(always)]
fn is_behind(stream: &Stream) -> bool {
    stream.readings_seen != RECORDER.log.readings.count()
}

/// A look at the clock that finds the time as it was.
#[inline(never)]
fn glance(stream: &mut Stream) -> bool {
    let Some(until_timed) = stream.until_timed.checked_sub(1) else {
        return false;
    };
    if RECORDER.log.is_deferred() || is_behind(stream) || clock::tick() != stream.tick() {
        return false;
    }
    stream.until_timed = until_timed;
    look_again_later(stream);
    true
}

/// No tick has passed since the last look at the clock.
fn look_again_later(stream: &mut Stream) {
    stream.clock_every = (2 * stream.clock_every).clamp(CLOCK_AT_FIRST, CLOCK_AT_LAST);
    stream.until_clock = stream.clock_every;
}

/// Moves the stream's time now and then, and always where it matters: where
/// threads share what the event is on, or a block would go before it came. At
/// times begins to time the event.
#[inline]
fn keep_time(stream: &mut Stream, matters: bool) -> Timing {
    if (matters || is_behind(stream)) && !glance(stream) {
        stream.until_clock = 0;
    }
    match stream.until_clock.checked_sub(1) {
        Some(left) => {
            stream.until_clock = left;
            Timing::default()
        }
        None => {
            look_at_clock(stream);
            Timing::begin(stream)
        }
    }
}

/// What a large block is worth: its own time, a reading of resident memory, and
/// a place in the order of all threads, or it could stand anywhere among what
/// others did since this one's last. Read before it goes, by what it has; and
/// before it came to mean something, for it may stay untouched, and what was
/// touched before it is no work of its.
#[cold]
fn attend(stream: &mut Stream, usable: u64, moves: u64) {
    look_at_clock(stream);
    if moves > 0 && stream.moved_since_reading().saturating_add(moves) >= RECORDER.rss.step() {
        rss::poll(stream);
    }
    if usable >= PINNED {
        take_stamp(stream);
    }
}

#[inline(never)]
fn look_at_clock(stream: &mut Stream) {
    let tick = clock::tick();
    look_again_later(stream);
    if RECORDER.log.is_deferred() && (tick >= CHILD_TICKS || stream.committed() >= CHILD_BYTES) {
        RECORDER.log.materialize();
        stream.leave_private_chunk();
    }
    if tick != stream.tick() {
        (stream.clock_every, stream.until_clock) = (CLOCK_AT_FIRST, CLOCK_AT_FIRST);
        stream.set_tick(tick);
        if RECORDER.rss.is_due(tick) && !RECORDER.ground.is_quiet() {
            rss::poll(stream);
        }
        stream.look_again(tick);
    }
    if is_behind(stream) {
        // First, or a reading that begins in between is never seen.
        stream.readings_seen = RECORDER.log.readings.count();
        take_stamp(stream);
    }
}

/// Notes bytes that came or went. Nothing is due while the allowance lasts.
#[inline]
fn moved(stream: &mut Stream, bytes: u64, net: i64) {
    stream.unstamped = stream.unstamped.wrapping_add(net);
    stream.allowance = stream.allowance.wrapping_sub(bytes as i64);
    if stream.allowance < 0 {
        settle(stream);
    }
}

/// Enough bytes that came or went are worth a look at the clock, and a reading
/// of resident memory; enough that stayed a place in the order of all threads,
/// so that the heap's peak has an error bound.
#[cold]
fn settle(stream: &mut Stream) {
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
