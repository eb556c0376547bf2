//! A forked child: its life word was wiped, so its first call lands here.
//!
//! It begins anew: other streams, other tables, another log, which names the
//! parent's log and where each of the parent's streams stood, so that a reader
//! knows what was inherited. The log is private memory at first; a child that
//! only execs leaves nothing behind.
#![allow(unsafe_code)]
//! # Safety
//! The first thread to call is the only one of the process, or the others are
//! so young that they find life Starting and pass.

use crate::log::sink::Mode;
use crate::log::stream::Slot;
use crate::platform::counters::Counters;
use crate::platform::lock::Patience;
use crate::platform::sys::{Errno, Os, Sys};
use crate::process::fork;
use crate::process::recorder::RECORDER;
use crate::process::token::CLAIMING;
use crate::process::token::{self, Phase};
use crate::process::{begin_log, make_log};
use core::sync::atomic::Ordering;
use memlog_format::counter::Counter;
use memlog_format::meta::{ForkPoint, Key, Record};
use memlog_format::refusal::{Refusal, Step};
use memlog_lockfree::life::Life;

/// A call found the life word wiped: this is a forked child's first.
#[cold]
pub fn wake() -> bool {
    RECORDER.expect_no_filter();
    // Of a process under a filter: what it takes to begin may kill.
    if RECORDER.ground.must_be_quiet() {
        remember_ancestor();
        tell_ancestor(Step::Filter, Errno(0));
        RECORDER.ground.life().turn(Life::Stopped);
        return false;
    }
    if !RECORDER.ground.life().begin() {
        return false;
    }
    if !become_child() {
        RECORDER.ground.life().turn(Life::Stopped);
        return false;
    }
    RECORDER.control.begin(&RECORDER.ground) == Life::On
}

/// Whether this thread was in the recorder when it forked: a signal handler
/// interrupted it there, and what it interrupted will go on.
fn is_inside() -> bool {
    // SAFETY: this image was started, so the thread pointer is set up.
    let word = unsafe { *crate::platform::arch::memlog_tls_word() };
    if word <= CLAIMING {
        return word == CLAIMING;
    }
    // SAFETY: the slot of this thread's stream, in memory that a fork keeps.
    let busy = unsafe { (*(word as *const Slot)).busy.load(Ordering::Relaxed) };
    token::phase(busy) == Some(Phase::InRecorder)
}

/// In a child that has just forked: whose log its parent's is.
pub fn remember_ancestor() {
    let chunk0 = RECORDER.ground.counters.mirrored_into();
    if !chunk0.is_null() && RECORDER.log.sink.mode() == Mode::Mapped {
        RECORDER.fork.ancestor.store(chunk0, Ordering::Relaxed);
    }
}

/// Tells of a child without a log where it can be told.
fn tell_ancestor(step: Step, error: Errno) {
    let chunk0 = RECORDER.fork.ancestor.load(Ordering::Relaxed);
    if chunk0.is_null() {
        return;
    }
    let refusal = Refusal {
        step,
        errno: error.0 as u32,
    };
    let why = (Counter::ChildRefused, refusal.encode());
    // SAFETY: an ancestor's chunk 0, which no child unmaps.
    unsafe { Counters::count_in(chunk0, Counter::ChildrenUnlogged, why) };
}

fn become_child() -> bool {
    remember_ancestor();
    // What was interrupted holds a chunk, perhaps a lock: this child records
    // nothing rather than pull them from under it.
    if is_inside() {
        return false;
    }
    // SAFETY: see the head of this file.
    unsafe {
        RECORDER.start.scratch.force_open();
        RECORDER.fork.parent_log.force_open();
        RECORDER.deep.force_open();
        RECORDER.looking.force_open();
    }
    let parent = RECORDER.ground.pid.load(Ordering::Relaxed);
    // SAFETY: as above; the parent's lock may be held by nobody here.
    unsafe { RECORDER.log.sink.force_open() };
    RECORDER.fork.parent_log.with(Patience::Bounded, |log| {
        log.length = RECORDER.log.sink.path(&mut log.path);
    });
    let is_known = RECORDER.log.cull.is_fork_known();
    let (points, lost) = ForkPoints::take();
    // SAFETY: as above; the word is nothing or the slot of this thread's stream.
    unsafe {
        let own = *crate::platform::arch::memlog_tls_word();
        fork::keep_scopes((own > CLAIMING).then(|| &*(own as *const Slot)));
        RECORDER.reset_in_child();
        *crate::platform::arch::memlog_tls_word() = 0;
    }
    RECORDER.ground.counters.add(Counter::LostAbandoned, lost);
    RECORDER.ground.pid.store(Os::pid(), Ordering::Relaxed);
    crate::platform::clock::start();
    let deferred = RECORDER.settings.with(Patience::Bounded, |settings| {
        RECORDER.log.defer(&settings.of_log())
    });
    if deferred != Some(true) {
        return false;
    }
    begin_log::begin_log(true);
    RECORDER.log.meta.with(Patience::Bounded, |meta| {
        meta.append(&RECORDER.log, &Record::Parent { pid: parent });
        RECORDER.fork.parent_log.with(Patience::Bounded, |log| {
            // Empty, where it had no file, or was just being given one.
            if let Some(path @ [_, ..]) = log.path.get(..log.length) {
                meta.append(&RECORDER.log, &Record::Text(Key::ParentLog, path));
            }
        });
        if is_known {
            points.write(|point| {
                meta.append(&RECORDER.log, &Record::ForkPoint(point));
            });
        } else {
            let note = b"it was forked by a call that memlog does not see while its parent's log \
                was culled: memory that it inherited is not known";
            meta.append(&RECORDER.log, &Record::Text(Key::Note, note));
        }
    });
    RECORDER.rss.start();
    RECORDER
        .code
        .with(Patience::Bounded, |map| map.take_memory() && map.begin())
        .unwrap_or(false)
}

/// Where the parent's streams stood at the fork. Kept in fresh memory: there
/// may be thousands, and the stack is the program's.
struct ForkPoints {
    points: *mut ForkPoint,
    count: usize,
}

impl ForkPoints {
    /// And how many events this thread has had since: of a call that the fork
    /// interrupted, which the parent has in a place of its own.
    fn take() -> (Self, u64) {
        // SAFETY: this image was started, so the thread pointer is set up.
        let own = unsafe { *crate::platform::arch::memlog_tls_word() };
        let (mut forked_at, mut lost) = (fork::take_forked_at(), 0);
        let capacity = RECORDER.log.streams.count() as usize;
        let bytes = (capacity * size_of::<ForkPoint>()).next_multiple_of(4096);
        let points = Os::memory(bytes.max(4096)).cast::<ForkPoint>();
        let mut count = 0;
        if points.is_null() {
            return (Self { points, count }, lost);
        }
        // SAFETY: the only thread of the process.
        unsafe {
            RECORDER.log.streams.each(|slot, stream| {
                let mut place = stream.position();
                if core::ptr::from_ref(slot) as u64 == own
                    && let Some(then) = forked_at.take()
                {
                    lost = stream.lost + u64::from(place != then);
                    place = then;
                }
                let (sequence, committed) = place;
                if committed > 0 && count < capacity {
                    points.add(count).write(ForkPoint {
                        stream: slot.number,
                        sequence,
                        committed,
                    });
                    count += 1;
                }
            });
        }
        (Self { points, count }, lost)
    }

    fn write(&self, mut see: impl FnMut(ForkPoint)) {
        for index in 0..self.count {
            // SAFETY: `take` wrote that many.
            see(unsafe { self.points.add(index).read() });
        }
    }
}

/// Makes the log of a child that turned out to live. Nobody is stopped for
/// it: who writes to a private chunk goes on and leaves it at his next
/// allocation, and the tables go on in new chunks.
#[cold]
pub fn materialize() -> bool {
    let is_quiet = RECORDER.ground.must_be_quiet();
    if is_quiet && !RECORDER.ground.is_filtered() || !RECORDER.log.take_deferred() {
        return RECORDER.log.sink.mode() != Mode::Closed;
    }
    // A filter came that nobody saw: what was recorded so far lies nowhere.
    if is_quiet {
        tell_ancestor(Step::Filter, Errno(0));
        RECORDER.stop();
        return false;
    }
    if !RECORDER.log.room.total.admits_log() {
        tell_ancestor(Step::LogsTotal, Errno(libc::EFBIG));
        RECORDER.stop();
        return false;
    }
    RECORDER.log.nodes.begin_new_chunk();
    RECORDER.log.codes.begin_new_chunk();
    let mode = make_log::with_names(|path, _| {
        let mode = RECORDER.log.meta.with(Patience::Bounded, |meta| {
            let mode = RECORDER.log.sink.materialize(path);
            if mode == Ok(Mode::Mapped) {
                meta.note_mapped();
            }
            mode
        });
        mode.unwrap_or(Err(Errno(0)))
    });
    match mode {
        Ok(mode) => {
            RECORDER.log.set_written(mode == Mode::Written);
            if mode == Mode::Written {
                RECORDER.log.flight.stop();
            }
            RECORDER.next_generation();
            // In the file, if it was told amid the change.
            RECORDER.control.tell(&RECORDER.ground);
            note_path();
            true
        }
        Err(error) => {
            RECORDER.ground.counters.add(Counter::Refused, 1);
            tell_ancestor(Step::Create, error);
            RECORDER.stop();
            false
        }
    }
}

fn note_path() {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        let length = RECORDER.log.sink.path(&mut scratch.buffer);
        let path = scratch.buffer.get(..length).unwrap_or(&[]);
        RECORDER.log.meta.with(Patience::Bounded, |meta| {
            meta.append(&RECORDER.log, &Record::Text(Key::LogPath, path));
        });
    });
}
