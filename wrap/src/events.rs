//! Recording one event: number, stack, bytes. The hot path of the project.
//!
//! Nothing here locks, allocates, or calls the kernel, libc or ld.so in steady
//! state; what does is behind `#[cold]`: a new chunk, an unknown address, a
//! reading of resident memory.

use crate::arch::DoorFrame;
use crate::child;
use crate::clock;
use crate::codemap::Asking;
use crate::lock::Patience;
use crate::recorder::{NodeMemory, RECORDER};
use crate::rss;
use crate::session::Session;
use crate::stream::Stream;
use crate::unwind::walk::{self, Resolver};
use core::sync::atomic::Ordering;
use memlog_format::api::Api;
use memlog_format::counter::Counter;
use memlog_format::event::{Alloc, Release};
use memlog_format::ext::{Ext, Ledger, Mapping};
use memlog_format::table::{CodeId, Node, StackId};

/// The clock is read once in this many events.
const CLOCK_EVERY: u32 = 16;
/// The same where threads run beside each other, who are ordered by it too.
const CLOCK_EVERY_SHARED: u32 = 4;
/// A block this large is worth a look at the clock, and a thread that moved
/// this much takes a stamp.
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

/// Records a block that the allocator gave, and what it has in truth.
#[inline]
pub fn allocated(
    session: &Session,
    frame: &DoorFrame,
    block: *mut u8,
    request: Request,
    usable: Option<u64>,
) {
    let stream = session.stream();
    let address = block as u64;
    let order = RECORDER.cells().number(address, stream.number);
    let size = request.size as u64;
    let usable = usable.unwrap_or(size);
    keep_time(stream, size);
    let stack = capture(stream, frame, session.patience());
    let event = Alloc {
        api: request.api,
        address,
        size,
        usable,
        alignment_log2: request.alignment_log2,
        stack,
        order,
    };
    pin(stream, usable);
    stream.write(|deltas, out| deltas.put_alloc(out, &event));
    stream.announced = false;
    stream.last_block = address;
    moved(stream, usable as i64);
    stream.grown = stream.grown.wrapping_add(usable);
    if stream.grown >= RECORDER.rss.step() {
        rss::poll(stream);
    }
}

/// Records that a block is about to go. `announced`: it may stay after all.
#[inline]
pub fn releasing(
    session: &Session,
    frame: &DoorFrame,
    block: *mut u8,
    usable: Option<u64>,
    api: Api,
    announced: bool,
) {
    let stream = session.stream();
    let usable = usable.unwrap_or(0);
    if stream.last_block == block as u64 {
        stream.last_block = 0;
    }
    stream.shrunk = stream.shrunk.wrapping_add(usable);
    // Before the memory goes, or a peak that ends here is never seen.
    if stream.shrunk >= RECORDER.rss.step() {
        rss::poll(stream);
    }
    keep_time(stream, usable);
    let stack = match RECORDER.free_stacks.load(Ordering::Relaxed) {
        true => Some(capture(stream, frame, session.patience())),
        false => None,
    };
    pin(stream, usable);
    let event = Release {
        api,
        address: block as u64,
        announced,
        stack,
        // Last: between number and event as little as can be.
        order: RECORDER.cells().number(block as u64, stream.number),
    };
    stream.write(|deltas, out| deltas.put_release(out, &event));
    stream.announced = announced;
    moved(stream, -(usable as i64));
}

/// Records that an announced release did not happen.
pub fn revoked(session: &Session, usable: Option<u64>) {
    let stream = session.stream();
    stream.write(|deltas, out| deltas.put_revoke(out));
    stream.announced = false;
    moved(stream, usable.unwrap_or(0) as i64);
}

/// Records a change of the address space.
#[cold]
pub fn mapped(session: &Session, frame: &DoorFrame, mapping: Mapping, backing: bool, order: u64) {
    let stream = session.stream();
    keep_time(stream, LARGE);
    let stack = capture(stream, frame, session.patience());
    stream.write_ext(&Ext::Ledger(Ledger {
        mapping,
        backing,
        order,
        stack,
    }));
}

/// Moves the stream's time now and then, and always for large blocks.
#[inline]
fn keep_time(stream: &mut Stream, bytes: u64) {
    let left = stream.until_clock;
    if left == 0 || bytes >= LARGE {
        look_at_clock(stream);
    } else {
        stream.until_clock = left - 1;
    }
}

#[inline(never)]
fn look_at_clock(stream: &mut Stream) {
    stream.until_clock = match RECORDER.streams.count() {
        0 | 1 => CLOCK_EVERY,
        _ => CLOCK_EVERY_SHARED,
    };
    let tick = clock::tick();
    if child::is_deferred()
        && !RECORDER.is_quiet()
        && (tick >= CHILD_TICKS || stream.committed() >= CHILD_BYTES)
    {
        child::materialize();
        stream.leave_private_chunk();
    }
    if tick != stream.tick() {
        stream.set_tick(tick);
        if RECORDER.rss.is_due(tick) && !RECORDER.is_quiet() {
            rss::poll(stream);
            stream.look_at_name();
        }
    }
}

/// Notes bytes that came or went; enough of them and the stream takes a place
/// in the order of all threads, so that the heap's peak has an error bound.
#[inline]
fn moved(stream: &mut Stream, bytes: i64) {
    stream.unstamped = stream.unstamped.wrapping_add(bytes);
    if stream.unstamped.unsigned_abs() >= LARGE {
        take_stamp(stream);
    }
}

#[cold]
fn take_stamp(stream: &mut Stream) {
    stream.unstamped = 0;
    if stream.reserve() {
        let stamp = RECORDER.stamp();
        stream.put(|deltas, out| deltas.put_stamp(out, stamp));
    }
}

/// A large block is pinned between two stamps, or it could stand anywhere
/// among what other threads did since this one's last.
#[inline]
fn pin(stream: &mut Stream, bytes: u64) {
    if bytes >= PINNED {
        take_stamp(stream);
    }
}

/// The id of the caller's stack.
#[inline]
pub fn capture(stream: &mut Stream, frame: &DoorFrame, patience: Patience) -> StackId {
    let generation = RECORDER.generation.load(Ordering::Acquire);
    if stream.generation != generation {
        stream.clear_cache(generation);
        stream.leave_private_chunk();
    }
    let mut asking = Asking {
        patience,
        crossed: false,
    };
    let sp = frame.sp();
    let mut bounds = stream.stack;
    if !(bounds.low..bounds.high).contains(&sp) {
        bounds = elsewhere(stream, sp, &mut asking);
    }
    bounds.low = sp;
    let mut space = stream.workspace();
    let (count, root) = walk::walk(frame, bounds, &mut space, &mut asking);
    if asking.crossed {
        RECORDER.counters.add(Counter::FramePointerStacks, 1);
    }
    descend(space.codes.get(..count).unwrap_or(&[]), root, patience)
}

/// The bounds of a stack that is not the thread's own.
#[cold]
fn elsewhere(stream: &mut Stream, sp: u64, asking: &mut Asking) -> crate::unwind::full::Bounds {
    if !(stream.other_stack.low..stream.other_stack.high).contains(&sp) {
        let found = asking.bounds_of(sp);
        if sp < stream.stack.low && found.high > stream.stack.low {
            // The thread's own, further down than was known.
            stream.stack.low = sp.saturating_sub(LARGE);
            return stream.stack;
        }
        stream.other_stack = found;
    }
    stream.other_stack
}

/// From the root through the trie, outermost frame first.
#[inline]
fn descend(codes: &[u32], root: StackId, patience: Patience) -> StackId {
    let memory = NodeMemory(patience);
    let mut id = root;
    for &code in codes.iter().rev() {
        let node = Node {
            parent: id,
            code: CodeId(code),
        };
        match RECORDER.nodes.intern(&[node.to_word()], &memory) {
            0 => return StackId::CUT_FULL,
            next => id = StackId(next),
        }
    }
    id
}
