//! What the program says by itself: the functions of `include/memlog.h`, and
//! those of memtrail's and bytehound's headers under their own names.
//!
//! They may be called from any thread, from a signal handler and before main.
//! None changes errno, and none does anything where nothing is recorded.
#![allow(unsafe_code)]
//! # Safety
//! Called by the program alone, with C strings or null.

use crate::hooks::events::take_stamp;
use crate::hooks::notices::make_deferred_log;
use crate::hooks::session::{self, Admission};
use crate::hooks::switches;
use crate::log::stream::Stream;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::Text;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use crate::process::start;
use core::ffi::{c_char, c_int, c_void};
use memlog_format::ext::{Ext, MAX_TEXT};
use memlog_format::switch::By;

/// Work in this thread's stream.
fn record(work: impl FnOnce(&mut Stream)) {
    let here = 0u8;
    record_in(session::admit_cold(&raw const here as u64), work);
}

fn record_in(mut admission: Admission, work: impl FnOnce(&mut Stream)) {
    if matches!(admission, Admission::Backing) {
        // Out of an allocator's own hook.
        admission = session::aside().map_or(Admission::Pass, Admission::Record);
    }
    if let Admission::Record(mut session) = admission {
        session.in_recorder(None);
        work(session.stream());
        session.end();
    }
}

/// The bytes of a name, as many as a record holds; a letter is not cut in half.
///
/// # Safety
/// Null or a C string.
unsafe fn text<'a>(name: *const c_char, most: usize) -> &'a [u8] {
    if name.is_null() {
        return &[];
    }
    // SAFETY: by the caller; no byte behind the zero is read.
    let byte = |at: usize| unsafe { *name.cast::<u8>().add(at) };
    let mut length = 0;
    while length < most && byte(length) != 0 {
        length += 1;
    }
    // Where the name goes on: not in the middle of a letter.
    while length > 0 && byte(length) & 0xc0 == 0x80 {
        length -= 1;
    }
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(name.cast(), length) }
}

/// A moment of all threads gets a name. What others did before this call is told as
/// done before the mark, by their clocks, and what they do after it as done after,
/// by the stamp that they take then. Resident memory is read with it, once in a
/// millisecond.
fn mark(name: &[u8]) {
    if !start::wake() {
        return;
    }
    make_deferred_log();
    record(|stream| {
        stream.leave_private_chunk();
        write_mark(stream, name);
    });
}

/// The same in a thread's stream.
pub(super) fn write_mark(stream: &mut Stream, name: &[u8]) {
    stream.look_at_time();
    stream.readings_seen = RECORDER.log.readings.begin();
    take_stamp(stream);
    if RECORDER.rss.is_old(stream.tick()) {
        rss::poll(stream);
    }
    stream.write_ext(&Ext::Mark(name));
    take_stamp(stream);
    stream.readings_seen = RECORDER.log.readings.begin();
}

/// Gives this moment a name.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_mark(name: *const c_char) {
    // SAFETY: by the caller.
    mark(unsafe { text(name, MAX_TEXT) });
}

/// A name that ends in a number.
fn numbered(before: &[u8], number: u32) -> Text<32> {
    let mut name = Text::new();
    name.push(before);
    name.push_number(u64::from(number));
    name
}

/// The name of a snapshot that is taken now.
pub(super) fn next_snapshot() -> Text<32> {
    numbered(b"snapshot ", RECORDER.next_snapshot())
}

/// A moment to be reported, called by its number.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_snapshot() {
    if start::wake() {
        mark(next_snapshot().get());
    }
}

/// memtrail's.
#[unsafe(no_mangle)]
pub extern "C" fn memtrail_snapshot() {
    memlog_snapshot();
}

/// bytehound's: the number is the name.
#[unsafe(no_mangle)]
pub extern "C" fn memory_profiler_set_marker(number: u32) {
    mark(numbered(b"", number).get());
}

/// What was recorded until now is in the log's file when this returns.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_sync() {
    if !session::is_alive() || !make_deferred_log() || RECORDER.ground.must_be_quiet() {
        return;
    }
    // Also while recording is off.
    let here = 0u8;
    record_in(session::admit_awake(&raw const here as u64), |stream| {
        stream.leave_private_chunk();
        flush(stream);
    });
}

/// What was recorded until now goes out.
pub(super) fn flush(stream: &mut Stream) {
    let log = &RECORDER.log;
    log.meta.with(Patience::Bounded, |meta| meta.flush(log));
    if log.writes_out() {
        stream.flush();
        log.write_held();
    }
}

/// Events are recorded from here on.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_start() {
    let here = 0u8;
    if !start::wake() {
        switches::start(&raw const here as u64);
    }
}

/// bytehound's.
#[unsafe(no_mangle)]
pub extern "C" fn memory_profiler_start() {
    memlog_start();
}

/// No events are recorded from here on, and malloc costs next to nothing.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_stop() {
    if start::wake() {
        record(|stream| {
            switches::stop(stream, By::Program);
        });
    }
}

/// bytehound's.
#[unsafe(no_mangle)]
pub extern "C" fn memory_profiler_stop() {
    memlog_stop();
}

/// bytehound's.
#[unsafe(no_mangle)]
pub extern "C" fn memory_profiler_sync() {
    memlog_sync();
}

/// bytehound's, for programs that are linked against it. It does nothing: a time that the
/// program makes up has no place among those of other threads, by which events are in order.
#[unsafe(no_mangle)]
pub extern "C" fn memory_profiler_override_next_timestamp(_usec: u64) {}

/// The calling thread has this name from now on.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_name_thread(name: *const c_char) {
    // SAFETY: by the caller.
    let name = unsafe { text(name, crate::log::stream::LONGEST_NAME) };
    if !name.is_empty() {
        record(|stream| stream.be_named(name));
    }
}

/// Work on the scopes that this thread is in, also while recording is off: what is left
/// then has to be left when it is on. In a handler that came amid the recorder's own work
/// nothing is done: what it asks for is of the scope that the thread is in.
fn rescope(work: impl FnOnce(&mut Stream)) {
    if !start::wake() && !session::is_alive() {
        return;
    }
    let here = 0u8;
    if let Admission::Record(mut session) = session::admit_awake(&raw const here as u64) {
        session.in_recorder(None);
        if session.is_own() {
            work(session.stream());
        }
        session.end();
    }
}

/// What the calling thread allocates from here on has this tag, within those that it has.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memlog_scope_begin(name: *const c_char) {
    // SAFETY: by the caller.
    let name = unsafe { text(name, MAX_TEXT) };
    rescope(|stream| stream.enter_scope(name));
}

/// The scope that the calling thread began last ends.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_scope_end() {
    rescope(Stream::leave_scope);
}

/// Tells on standard error how to ask who allocated an address: the recorder keeps no
/// blocks, the log has them. For a debugger, and for a program in trouble.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_print_trace(address: *const c_void) {
    /// At a time, so that it needs little stack.
    const PIECE: usize = 64;
    memlog_sync();
    if RECORDER.ground.must_be_quiet() {
        return;
    }
    let mut head: Text<PIECE> = Text::new();
    head.push(b"PID: ");
    head.push_number(Os::pid().into());
    head.push(b"\nmemlog where ");
    let told = start::with_log_path(|path| {
        if path.is_empty() || !session::is_alive() {
            return false;
        }
        Os::say(head.get());
        for piece in path.chunks(PIECE) {
            let mut text: Text<PIECE> = Text::new();
            for &byte in piece {
                // A terminal would obey some.
                text.push(&[if byte.is_ascii_control() { b'?' } else { byte }]);
            }
            Os::say(text.get());
        }
        true
    });
    let mut end: Text<PIECE> = Text::new();
    if told == Some(true) {
        end.push(b" 0x");
        end.push_hex(address as u64);
        end.push(b"\n");
    } else {
        end.push(b"memlog has no log of this process\n");
    }
    Os::say(end.get());
}

/// Whether events are recorded now.
#[unsafe(no_mangle)]
pub extern "C" fn memlog_is_recording() -> c_int {
    session::is_on().into()
}
