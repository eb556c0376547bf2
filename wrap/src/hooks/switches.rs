//! Recording goes on or off while the program runs, and what else `memlog ctl` and
//! signals ask for.
//!
//! Off is a life in which the doors hand all calls on. What the program does then nobody
//! sees, so the log says when it was, and readers forget at the next "on" what they held
//! for live. A call that was begun before may still write its record after "off", but no
//! block that comes while recording is off is told (`events::came_late`).
#![allow(unsafe_code)]
//! # Safety
//! A handler of signals stores words alone.

use crate::hooks::events::{CHILD_MS, take_stamp};
use crate::hooks::header;
use crate::hooks::named::slabs;
use crate::hooks::session::{self, Admission};
use crate::log::stream::Stream;
use crate::platform::early;
use crate::platform::lock::Patience;
use crate::platform::quick;
use crate::platform::sys::{Os, Sys};
use crate::process::attached;
use crate::process::control::{Act, Request};
use crate::process::recorder::RECORDER;
use crate::process::rss;
use crate::process::settings;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use memlog_format::control::{Answer, Verb};
use memlog_format::ext::Ext;
use memlog_format::meta::{Key, Record};
use memlog_format::switch::{By, Switch};
use memlog_lockfree::life::Life;

/// A call comes while recording is not on. Whether it is by now, for this call.
#[cold]
pub fn wake(sp: u64) -> bool {
    let (control, ground) = (&RECORDER.control, &RECORDER.ground);
    match ground.life().get() {
        Life::Paused => {}
        Life::Stopped => {
            rest(quick::begin);
            return false;
        }
        _ => return false,
    }
    if RECORDER.log.is_deferred() {
        if is_grown() {
            RECORDER.log.materialize();
        }
    } else if !control.is_time() && !control.is_asked(&ground.counters) {
        rest(|| control.rest(&ground.counters));
        return false;
    }
    let is_time = control.is_time();
    (is_time || control.is_asked(&ground.counters)) && obey_paused(sp, is_time)
}

/// Lets doors hand calls on by themselves, if no release has to be looked at whatever the
/// life.
fn rest(aim: impl FnOnce()) {
    let may = || !early::is_used() && !slabs::is_on();
    if may() {
        aim();
        // Who has one since may have found nothing to clear.
        fence(Ordering::SeqCst);
        if !may() {
            quick::clear();
        }
    }
}

/// Whether a child without a log has lived for a while: then it gets one, to be asked by.
fn is_grown() -> bool {
    crate::platform::clock::ms() >= CHILD_MS && is_ours()
}

/// Whether this is the process that records, and not a vfork's child in its memory. Under
/// a filter that question may kill, and is not asked.
fn is_ours() -> bool {
    RECORDER.ground.is_quiet_by_now() || Os::pid() == RECORDER.ground.pid.load(Ordering::Relaxed)
}

#[inline(never)]
fn obey_paused(sp: u64, is_time: bool) -> bool {
    let (control, ground) = (&RECORDER.control, &RECORDER.ground);
    if !is_ours() {
        return false;
    }
    for act in control.take_signals() {
        match act {
            Act::Start | Act::Toggle => {
                if turn_on(sp, By::Signal) == Answer::NoRoom {
                    control.signal(act);
                }
            }
            Act::Stop | Act::Snapshot => {}
        }
    }
    if is_time {
        // A filter that is only coming may not come.
        let by = match attached::is_beginning() {
            true => By::Attach,
            false => By::Time,
        };
        let cannot = match turn_on(sp, by) {
            Answer::Filtered => ground.is_filtered(),
            answer => answer == Answer::Flight,
        };
        if cannot {
            control.give_up_time();
        }
    }
    if let Some(request) = control.take(&ground.counters) {
        let answer = match request.asked.verb() {
            Some(Verb::Start) => turn_on(sp, By::Control),
            Some(Verb::Stop) => Answer::Already,
            Some(Verb::Mark | Verb::Snapshot) => Answer::IsOff,
            Some(Verb::Flush) => {
                let log = &RECORDER.log;
                match log.meta.with(Patience::None, |meta| meta.flush(log)) {
                    Some(_) => Answer::Done,
                    None => Answer::NoRoom,
                }
            }
            Some(Verb::Limit) => limit(&request),
            None => Answer::Unknown,
        };
        control.answer(&ground.counters, request.asked, answer);
    }
    session::is_on()
}

/// What is asked for while recording is on: by the clock, a signal, or from outside.
#[cold]
pub fn obey(stream: &mut Stream) {
    let control = &RECORDER.control;
    if !is_ours() {
        return;
    }
    for act in control.take_signals() {
        match act {
            Act::Stop | Act::Toggle => {
                if stop(stream, By::Signal) == Answer::NoRoom {
                    control.signal(act);
                }
            }
            Act::Snapshot => header::write_mark(stream, header::next_snapshot().get()),
            Act::Start => {}
        }
    }
    let counters = &RECORDER.ground.counters;
    if let Some(request) = control.take(counters) {
        let answer = answer(stream, &request);
        control.answer(counters, request.asked, answer);
    }
    if control.is_over() {
        stop(stream, By::Time);
    }
}

fn answer(stream: &mut Stream, request: &Request) -> Answer {
    let is_off = RECORDER.control.is_off();
    match request.asked.verb() {
        Some(Verb::Start) if !is_off => Answer::Already,
        // By another thread, amid this call.
        Some(Verb::Start) => Answer::NoRoom,
        Some(Verb::Stop) => stop(stream, By::Control),
        Some(Verb::Mark | Verb::Snapshot) if is_off => Answer::IsOff,
        Some(Verb::Mark) => {
            let length = usize::try_from(request.argument).unwrap_or(usize::MAX);
            let name = request.text.get(..length).unwrap_or(&request.text);
            header::write_mark(stream, name);
            Answer::Done
        }
        Some(Verb::Snapshot) => {
            header::write_mark(stream, header::next_snapshot().get());
            Answer::Done
        }
        Some(Verb::Flush) => {
            header::flush(stream);
            Answer::Done
        }
        Some(Verb::Limit) => limit(request),
        None => Answer::Unknown,
    }
}

/// The log may take as much as the request says.
fn limit(request: &Request) -> Answer {
    if RECORDER.log.sink.limit(request.argument) {
        Answer::Done
    } else {
        Answer::NoRoom
    }
}

/// The program asks for recording, which is off.
pub fn start(sp: u64) {
    if RECORDER.ground.life().get() == Life::Paused && is_ours() {
        turn_on(sp, By::Program);
    }
}

/// Recording goes on: first the log says so, then the doors may know.
fn turn_on(sp: u64, by: By) -> Answer {
    let control = &RECORDER.control;
    if RECORDER.ground.must_be_quiet() {
        return Answer::Filtered;
    }
    if control.was_on() && RECORDER.log.flight.is_on() {
        return Answer::Flight;
    }
    let switched = control.switching.with(Patience::Bounded, |()| {
        if !control.is_off() {
            return Answer::Already;
        }
        let Admission::Record(mut session) = session::admit_awake(sp) else {
            return Answer::NoRoom;
        };
        session.in_recorder(None);
        let is_on = begin(session.stream(), by);
        session.end();
        if is_on { Answer::Done } else { Answer::NoRoom }
    });
    switched.unwrap_or(Answer::NoRoom)
}

/// False if there is no room for events, or no log.
fn begin(stream: &mut Stream, by: By) -> bool {
    if RECORDER.log.is_deferred() && !RECORDER.log.materialize() {
        return false;
    }
    stream.leave_private_chunk();
    if !stream.reserve() {
        return false;
    }
    // What was loaded meanwhile, and where it went.
    RECORDER.code.with(Patience::Bounded, |map| map.refresh());
    RECORDER.next_generation();
    if !RECORDER.control.was_on() {
        RECORDER.rss.note_beginning();
    }
    RECORDER.rss.start_anew();
    write(stream, true, by);
    rss::poll(stream);
    RECORDER.control.turned(&RECORDER.ground, true)
}

/// Recording goes off, in a stream of this thread.
pub fn stop(stream: &mut Stream, by: By) -> Answer {
    let control = &RECORDER.control;
    if !is_ours() {
        return Answer::NoRoom;
    }
    let switched = control.switching.with(Patience::Bounded, |()| {
        if control.is_off() {
            return Answer::Already;
        }
        if RECORDER.log.is_deferred() && !RECORDER.log.materialize() {
            return Answer::NoRoom;
        }
        stream.leave_private_chunk();
        rss::read_exactly(stream);
        if !session::is_on() {
            return Answer::NoRoom;
        }
        // First, or a block that goes unseen and is given out again to a call of before
        // would be there twice.
        write(stream, false, by);
        if !control.turned(&RECORDER.ground, false) {
            return Answer::NoRoom;
        }
        if RECORDER.log.writes_out() {
            // There may be no other call for long.
            header::flush(stream);
        }
        Answer::Done
    });
    switched.unwrap_or(Answer::NoRoom)
}

/// The switch, at its place among what all threads do, and a mark for people.
fn write(stream: &mut Stream, on: bool, by: By) {
    stream.look_at_time();
    stream.readings_seen = RECORDER.log.readings.begin();
    let stamp = RECORDER.log.stamp();
    stream.write_ext(&Ext::Switch(Switch { on, by, stamp }));
    let name: &[u8] = if on {
        b"recording on"
    } else {
        b"recording off"
    };
    stream.write_ext(&Ext::Mark(name));
    take_stamp(stream);
    stream.readings_seen = RECORDER.log.readings.begin();
}

/// The program ends, and the time to record is over: nobody has seen that yet.
pub fn finish(stream: &mut Stream) {
    if RECORDER.control.is_over() && session::is_on() {
        let _ = stop(stream, By::Time);
    }
}

/// What each signal does, where it does something.
static ACTS: [AtomicU32; 65] = [const { AtomicU32::new(0) }; 65];

extern "C" fn on_signal(number: i32) {
    let act = ACTS
        .get(number as usize)
        .map_or(0, |act| act.load(Ordering::Relaxed));
    if let Some(&act) = Act::ALL.get((act as usize).wrapping_sub(1)) {
        RECORDER.control.signal(act);
    }
}

/// Signals that the user chose come to us, where the program has not taken them already.
/// Once all of the C library stands.
#[cold]
pub fn watch_signals() {
    if !session::is_alive() {
        return;
    }
    RECORDER.settings.with(Patience::Bounded, |settings| {
        settings::signals(settings.signals.get(), |number, act| {
            if let Some(place) = ACTS.get(number as usize) {
                place.store(act as u32 + 1, Ordering::Relaxed);
                watch(number);
            }
        });
    });
}

type Sigaction = unsafe extern "C" fn(i32, *const libc::sigaction, *mut libc::sigaction) -> i32;

/// Leaves to the program what it handles or has been told to ignore.
fn watch(number: i32) {
    // SAFETY: the C library's own function, if there is one, with structures of its
    // making; the handler stores words alone.
    unsafe {
        let address = crate::platform::arch::memlog_sigaction();
        let Some(sigaction) = core::mem::transmute::<usize, Option<Sigaction>>(address) else {
            let why = b"MEMLOG_SIGNALS does nothing: this program has no sigaction";
            return RECORDER.note(Patience::Bounded, &Record::Text(Key::Note, why));
        };
        let mut before = core::mem::zeroed::<libc::sigaction>();
        if sigaction(number, core::ptr::null(), &raw mut before) != 0
            || before.sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut ours = core::mem::zeroed::<libc::sigaction>();
        ours.sa_sigaction = on_signal as *const () as usize;
        // A coroutine's stack may be small.
        ours.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        sigaction(number, &raw const ours, core::ptr::null_mut());
    }
}
