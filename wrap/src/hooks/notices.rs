//! Doors that only listen: what the program does that the recorder must know.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use crate::hooks::capture;
use crate::hooks::family::{handler, next};
use crate::hooks::operators;
use crate::hooks::session::{self, Admission, admit};
use crate::hooks::switches;
use crate::hooks::threads;
use crate::log::sink::Mode;
use crate::log::stream::{Of, Stream};
use crate::platform::arch::DoorFrame;
use crate::platform::clock;
use crate::platform::doors::Door;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::Text;
use crate::process::attached;
use crate::process::deep;
use crate::process::fork;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use crate::process::start;
use core::ffi::{c_char, c_void};
use core::sync::atomic::Ordering;
use memlog_format::ext::Ext;
use memlog_format::meta::{End, Key, Past, Record};
use memlog_format::tuned::Tuned;

handler! {
    /// fork: the token is not held across it, for its handlers may allocate
    fn memlog_on_fork() -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn() -> i32>(frame, Door::Fork) else {
            return -1;
        };
        session::tidy_word();
        // A forked child that forks again will live: the grandchild's log has
        // to name one.
        make_deferred_log();
        RECORDER.log.cull.expect_fork();
        let child = real();
        // A handler of pthread_atfork may have begun the child's own log already.
        if child == 0 && !session::is_alive() {
            fork::part_from_parent();
        } else if child == 0 && Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed) {
            fork::stop_in_child();
        }
        if child != 0 {
            RECORDER.log.cull.end_fork();
        }
        if child > 0 {
            note_fork(frame, child as u32);
        }
        child
    }
}

fn note_fork(frame: &DoorFrame, child: u32) {
    if session::is_on()
        && let Admission::Record(mut session) = admit(frame)
    {
        session.in_recorder(Some(frame));
        session.stream().leave_private_chunk();
        session.stream().write_ext(&Ext::Fork { child });
        // Where it stands when libc forks inside of a call is not known.
        if child > 0 {
            session.stream().note_fork();
        }
        session.end();
    }
}

/// By libc's own fork, whose child's number nobody is told.
fn note_inner_fork(frame: &DoorFrame) {
    session::tidy_word();
    make_deferred_log();
    // It forks behind this note, and how it went nobody is told.
    RECORDER.log.cull.expect_fork();
    note_fork(frame, 0);
}

handler! {
    /// _exit: no handler of ours will run
    fn memlog_on__exit(status: i32) -> () = |frame| {
        finish(2);
        if let Some(real) = next::<extern "C" fn(i32)>(frame, Door::ImmediateExit) {
            real(status);
        }
        // Whoever calls this does not expect it to return.
        Os::exit(status)
    }
}

/// What a call that is only told of does first; then it goes on where the
/// result says.
fn on_from(frame: &DoorFrame, door: Door, first: impl FnOnce()) -> usize {
    first();
    next::<usize>(frame, door).unwrap_or(0)
}

handler! {
    /// _Exit: as _exit
    fn memlog_on__Exit(status: i32, _b: usize, _c: usize) -> usize = |frame| {
        match on_from(frame, Door::ExitC, || finish(2)) {
            0 => { Os::exit(status); 0 }
            real => real,
        }
    }
}

handler! {
    /// quick_exit: ends by libc's own _exit
    fn memlog_on_quick_exit(status: i32, _b: usize, _c: usize) -> usize = |frame| {
        match on_from(frame, Door::QuickExit, || finish(2)) {
            0 => { Os::exit(status); 0 }
            real => real,
        }
    }
}

handler! {
    /// abort: a death by signal, but for what a forked child did so far
    fn memlog_on_abort(_a: usize, _b: usize, _c: usize) -> usize = |frame| {
        match on_from(frame, Door::Abort, || { make_deferred_log(); }) {
            0 => { Os::exit(127); 0 }
            real => real,
        }
    }
}

handler! {
    /// daemon: this process ends inside, by libc's own fork and _exit; where it
    /// does not what follows is recorded
    fn memlog_on_daemon(_a: usize, _b: usize, _c: usize) -> usize = |frame| {
        on_from(frame, Door::Daemon, || {
            note_inner_fork(frame);
            finish(2);
        })
    }
}

handler! {
    /// forkpty: by libc's own fork
    fn memlog_on_forkpty(_a: usize, _b: usize, _c: usize) -> usize = |frame| {
        on_from(frame, Door::Forkpty, || note_inner_fork(frame))
    }
}

handler! {
    /// dlopen: a library may come that binds past us. The call goes on by a jump,
    /// for dlopen looks at where it will return to
    fn memlog_on_dlopen(name: *const c_char, flags: i32, _c: usize) -> usize = |frame| {
        on_from(frame, Door::Dlopen, || loading(frame, None, name, flags))
    }
}

handler! {
    /// dlmopen: the same; into another namespace the library brings a heap
    fn memlog_on_dlmopen(space: isize, name: *const c_char, flags: i32) -> usize = |frame| {
        on_from(frame, Door::Dlmopen, || loading(frame, Some(space), name, flags))
    }
}

/// A library may be loaded now, into this namespace if one is asked for.
fn loading(frame: &DoorFrame, space: Option<isize>, name: *const c_char, flags: i32) {
    const BASE: isize = 0;
    let past = match space {
        Some(space) if space != BASE => Some(Past::Namespace),
        _ if flags & crate::platform::sys::DEEP_BIND == 0 => return,
        _ => None,
    };
    // The loader looks at names that are no longer there by itself.
    if !name.is_null() && start::is_up() && !RECORDER.ground.is_quiet() {
        // SAFETY: what the program gives to dlopen is null or a C string.
        as_recorder(frame, || unsafe { deep::loading(past, name) });
    }
}

/// A forked child without a log so far gets it; false if there can be none.
pub(crate) fn make_deferred_log() -> bool {
    let is_ours = || Os::pid() == RECORDER.ground.pid.load(Ordering::Relaxed);
    !(RECORDER.log.is_deferred() && session::is_alive() && is_ours()) || RECORDER.log.materialize()
}

/// Work under a lock of the recorder's, with the token held: a signal handler
/// that interrupts it sees that the holder is below, and does not wait.
pub(super) fn as_recorder(frame: &DoorFrame, work: impl FnOnce()) {
    match admit(frame) {
        Admission::Record(mut session) => {
            session.in_recorder(Some(frame));
            work();
            session.end();
        }
        Admission::Backing | Admission::Pass => work(),
    }
}

handler! {
    /// mallopt: what the allocator is told
    fn memlog_on_mallopt(parameter: i32, value: i32) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(i32, i32) -> i32>(frame, Door::Mallopt) else {
            return 0;
        };
        let result = real(parameter, value);
        note_tuned(frame, (parameter, value), result != 0);
        result
    }
}

#[cold]
fn note_tuned(frame: &DoorFrame, (parameter, value): (i32, i32), is_taken: bool) {
    if RECORDER.ground.must_be_quiet() {
        return;
    }
    if let Admission::Record(mut session) = admit(frame) {
        session.in_recorder(Some(frame));
        if RECORDER.may_note_tuned() {
            let recording = session.recording();
            let patience = recording.patience;
            let stack = capture::capture_apart(recording, frame, Of::Allocation);
            RECORDER.note(
                patience,
                &Record::Tuned(Tuned {
                    tick: clock::tick(),
                    tid: Os::tid(),
                    parameter,
                    value,
                    is_taken,
                    stack,
                }),
            );
        }
        session.end();
    }
}

handler! {
    /// dlclose
    fn memlog_on_dlclose(handle: *mut c_void) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(*mut c_void) -> i32>(frame, Door::Dlclose) else {
            return -1;
        };
        let result = real(handle);
        operators::forget();
        if session::is_alive() && !RECORDER.ground.is_quiet() {
            as_recorder(frame, || {
                RECORDER.code.with(Patience::Bounded, |map| map.refresh());
                RECORDER.next_generation();
            });
        }
        result
    }
}

handler! {
    /// __cxa_finalize: a module's destructors run, and then it may go
    fn memlog_on___cxa_finalize(handle: *mut c_void) -> () = |frame| {
        if let Some(real) = next::<extern "C" fn(*mut c_void)>(frame, Door::CxaFinalize) {
            real(handle);
        }
        if !handle.is_null() && session::is_alive() {
            as_recorder(frame, || {
                // Whether the map's lock can be had or not.
                RECORDER.published.lose_range(handle as u64, 1);
                RECORDER.code.with(Patience::Bounded, |map| map.leaving(handle as u64));
                RECORDER.next_generation();
            });
        }
    }
}

/// The two that tell of unwind tables; the library that has them may come late.
fn tables(frame: &DoorFrame, door: Door, table: *mut c_void, add: bool) {
    let mut real = next::<extern "C" fn(*mut c_void)>(frame, door);
    if real.is_none() {
        start::find_reals_again();
        real = next(frame, door);
    }
    if let Some(real) = real {
        real(table);
    }
    if session::is_alive() {
        as_recorder(frame, || {
            RECORDER
                .code
                .with(Patience::Bounded, |map| map.register(table as u64, add));
            RECORDER.next_generation();
        });
    }
}

handler! {
    /// __register_frame
    fn memlog_on___register_frame(table: *mut c_void) -> () = |frame| {
        tables(frame, Door::RegisterFrame, table, true)
    }
}

handler! {
    /// __deregister_frame
    fn memlog_on___deregister_frame(table: *mut c_void) -> () = |frame| {
        tables(frame, Door::DeregisterFrame, table, false)
    }
}

/// A range is about to become another: the size of before and that of after. If that is
/// much, by itself or with what came and went in this way since, the peak of before must
/// have been seen.
pub fn remapping(frame: &DoorFrame, from: usize, to: usize) {
    if session::is_on() && RECORDER.rss.is_much(from.abs_diff(to) as u64) {
        let poll = if to < from {
            rss::poll_before_fall
        } else {
            rss::poll
        };
        as_read(frame, poll);
    }
}

/// Resident memory is read now.
fn as_read(frame: &DoorFrame, poll: fn(&mut Stream)) {
    if let Admission::Record(mut session) = admit(frame) {
        session.in_recorder(Some(frame));
        poll(session.stream());
        session.end();
    }
}

/// Another image takes this one's place, if it can: what is resident now was not
/// read since the last event. A vfork's child has its parent's memory, and one
/// that has no log yet wants to execute and nothing else.
#[cold]
fn executing(frame: &DoorFrame) {
    if session::is_on()
        && !RECORDER.log.is_deferred()
        && !RECORDER.ground.is_quiet()
        && Os::pid() == RECORDER.ground.pid.load(Ordering::Relaxed)
    {
        as_read(frame, rss::poll_before_fall);
    }
}

macro_rules! executing {
    ($($(#[$doc:meta])* $handler:ident $door:ident;)*) => {$(
        handler! {
            $(#[$doc])*
            fn $handler(_a: usize, _b: usize, _c: usize) -> usize = |frame| {
                on_from(frame, Door::$door, || executing(frame))
            }
        }
    )*};
}

executing! {
    /// execve
    memlog_on_execve Execve;
    /// execv
    memlog_on_execv Execv;
    /// execvp
    memlog_on_execvp Execvp;
    /// execvpe
    memlog_on_execvpe Execvpe;
    /// execl
    memlog_on_execl Execl;
    /// execlp
    memlog_on_execlp Execlp;
    /// execle
    memlog_on_execle Execle;
    /// fexecve
    memlog_on_fexecve Fexecve;
}

/// A program that was attached to ends by exit: stands in its list in place of what is
/// called next.
#[unsafe(no_mangle)]
extern "C" fn memlog_attached_last() {
    finish(1);
    attached::after_last();
}

/// The image ends in an orderly way: `how` is 1 for exit handlers, 2 for
/// _exit. Events may follow and are recorded.
#[cold]
pub fn finish(how: u8) {
    // A vfork's child shares our memory; its end is not ours. Under a filter
    // the end is not told: the log is whole without it.
    if !session::is_alive()
        || RECORDER.ground.must_be_quiet()
        || Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed)
    {
        return;
    }
    // A child in which recording was never on has nothing to say.
    if RECORDER.log.is_deferred() && (RECORDER.control.is_off() || !RECORDER.log.materialize()) {
        return;
    }
    let mut high = 0;
    if let Some(mut session) = session::own_words() {
        session.in_recorder(None);
        session.stream().set_tick(clock::tick());
        switches::finish(session.stream());
        let is_on = session::is_on();
        if is_on {
            high = rss::poll_final(session.stream());
        }
        session.stream().look_at_name();
        session.end();
        threads::tell_others();
    }
    RECORDER.log.meta.with(Patience::Bounded, |meta| {
        let mut words = Text::new();
        Os::last_words(&mut words);
        if !words.is_empty() {
            meta.append(&RECORDER.log, &Record::Text(Key::Note, words.get()));
        }
        meta.append(
            &RECORDER.log,
            &Record::End(End {
                tick: clock::tick(),
                how,
                vm_hwm_kb: high,
                maxrss_kb: RECORDER.rss.known_max_kb(session::is_on()),
            }),
        );
        meta.flush(&RECORDER.log);
    });
    if RECORDER.log.sink.mode() == Mode::Written {
        RECORDER.log.draining.store(true, Ordering::Release);
        RECORDER.log.write_held();
    } else {
        RECORDER.log.sink.trim();
    }
}
