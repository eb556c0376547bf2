//! MEMLOG_OOM_GUARD: what the log says while there is still time, when memory
//! comes near to a limit; and, if that was asked for, the program's end.
//!
//! It is looked at with each reading of resident memory, that is where the
//! program allocates: what is touched later, without an event, comes unseen.
//!
//! ```text
//! far   less than PCT is left:       tell it; ask the program to end, if wanted
//!                                    and it has as much itself
//! near  twice PCT is left:           far again
//!       asked, and half PCT is left: end it
//! ```

use crate::log::stream::Stream;
use crate::platform::clock;
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::limits::Limits;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::Text;
use crate::process::recorder::RECORDER;
use crate::process::settings::Settings;
use core::sync::atomic::{AtomicU8, Ordering};
use memlog_format::ext::{Ext, MAX_TEXT};
use memlog_format::limit::{Limit, LimitAct, LimitKind};
use memlog_format::meta::{Key, Record};

/// Milliseconds between two searches for limits that others may have changed.
const SEARCH_EVERY_MS: u64 = 1000;
/// Times that it is told at most: a program may live near its limit.
const MOST_TOLD: u32 = 32;

/// The guard.
pub struct Guard {
    /// What is to be left, 0 for no guard.
    percent: AtomicU8,
    watch: Bounded<Watch>,
}

/// What is known of the limits, and what was done.
struct Watch {
    limits: Limits,
    may_end: bool,
    searched_at: Option<u64>,
    is_near: bool,
    was_asked: bool,
    told: u32,
    worst: Worst,
    /// Room for a note: the stack belongs to the program.
    line: Text<192>,
}

/// Of the limits that are near the one with least left, as a look found it.
struct Worst {
    kind: LimitKind,
    used_bytes: u64,
    limit_bytes: u64,
    /// What is to be left.
    margin: u64,
    /// The end of a group's folder.
    name: Text<MAX_TEXT>,
}

impl Guard {
    /// It watches nothing.
    pub const fn new(ground: &'static Ground) -> Self {
        Self {
            percent: AtomicU8::new(0),
            watch: Bounded::new(
                Watch {
                    limits: Limits::new(),
                    may_end: false,
                    searched_at: None,
                    is_near: false,
                    was_asked: false,
                    told: 0,
                    worst: Worst {
                        kind: LimitKind::Machine,
                        used_bytes: 0,
                        limit_bytes: 0,
                        margin: 0,
                        name: Text::new(),
                    },
                    line: Text::new(),
                },
                ground,
            ),
        }
    }

    /// Begins to watch what the settings want.
    pub fn obey(&self, settings: &Settings) {
        self.watch.with(Patience::Bounded, |watch| {
            watch.may_end = settings.guard_may_end;
        });
        self.percent
            .store(settings.guard_percent, Ordering::Relaxed);
    }

    /// A forked child's: it has told nothing yet.
    ///
    /// # Safety
    /// The caller is the only thread of the process.
    #[allow(unsafe_code)]
    pub unsafe fn reset_in_child(&self) {
        // SAFETY: by the caller.
        unsafe { self.watch.force_open() };
        self.watch.with(Patience::Bounded, |watch| {
            (watch.searched_at, watch.told) = (None, 0);
            (watch.is_near, watch.was_asked) = (false, false);
        });
    }

    /// Looks how near the limits are, and writes down what is to be done, for
    /// [`carry_out`]. A program that `is_ending` by itself is not kept from that.
    #[cold]
    pub fn look(&self, stream: &mut Stream, is_ending: bool) -> Option<LimitAct> {
        let percent = u64::from(self.percent.load(Ordering::Relaxed));
        // A vfork's child must not be ended in the place of its parent.
        if percent == 0 || Os::pid() != RECORDER.ground.pid.load(Ordering::Relaxed) {
            return None;
        }
        // Whoever else is looking sees the same.
        let told = self.watch.with(Patience::None, |watch| {
            watch.look(stream, percent, is_ending)
        });
        told.flatten()
    }
}

/// Does what a look said. No lock is held: the handler of the signal may never
/// come back here, and where chunks go out by writes there may be no other time.
#[cold]
pub fn carry_out(stream: &mut Stream, act: LimitAct) {
    if RECORDER.log.writes_out() {
        RECORDER
            .log
            .meta
            .with(Patience::None, |meta| meta.flush(&RECORDER.log));
        stream.flush();
    }
    match act {
        LimitAct::Asked => Os::end_process(true),
        LimitAct::Ended => Os::end_process(false),
        LimitAct::Near | LimitAct::Watched => {}
    }
}

impl Watch {
    /// What is to be done, if anything, written down.
    fn look(&mut self, stream: &mut Stream, percent: u64, is_ending: bool) -> Option<LimitAct> {
        self.search(stream);
        let (is_near, is_far) = self.measure(percent);
        self.is_near &= !is_far;
        if !is_near {
            return None;
        }
        let act = self.act(is_ending)?;
        self.is_near = true;
        self.was_asked |= act != LimitAct::Near;
        if RECORDER.log.is_deferred() {
            // There may be no other time for a log.
            RECORDER.log.materialize();
            stream.leave_private_chunk();
        }
        self.told += 1;
        let limit = self.worst.limit(act);
        write(stream, &limit);
        note(&mut self.line, stream, &limit);
        Some(act)
    }

    /// Whether a limit is near, which then is the worst; and whether all are far.
    fn measure(&mut self, percent: u64) -> (bool, bool) {
        let (mut is_near, mut is_far) = (false, true);
        let worst = &mut self.worst;
        self.limits.look(percent, |limit| {
            let margin = limit.limit_bytes / 100 * percent;
            let left = limit.left_bytes();
            is_far &= left > 2 * margin;
            if left < margin && (!is_near || left < worst.left_bytes()) {
                is_near = true;
                worst.take(limit, margin);
            }
        });
        (is_near, is_far)
    }

    /// What is to be done; nothing where it was before.
    fn act(&self, is_ending: bool) -> Option<LimitAct> {
        let worst = &self.worst;
        let may_end = self.may_end && !is_ending;
        if may_end && self.was_asked && worst.left_bytes() < worst.margin / 2 {
            return Some(LimitAct::Ended);
        }
        // Of those who share a limit only who has a part of it that counts.
        let is_mine = || !worst.is_shared() || Os::rss_now_kb() * 1024 >= worst.margin;
        if may_end && !self.was_asked && is_mine() {
            return Some(LimitAct::Asked);
        }
        (!self.is_near && self.told < MOST_TOLD).then_some(LimitAct::Near)
    }

    /// The limits as they are found, once in the log and then quietly: groups
    /// are given other limits while they run.
    fn search(&mut self, stream: &mut Stream) {
        let now_ms = clock::ms_of(stream.tick());
        let is_first = self.searched_at.is_none();
        let since = self.searched_at.map(|then| now_ms.saturating_sub(then));
        if since.is_some_and(|passed_ms| passed_ms < SEARCH_EVERY_MS) {
            return;
        }
        self.searched_at = Some(now_ms);
        self.limits.find();
        if is_first {
            self.limits.look(100, |limit| write(stream, limit));
        }
    }
}

impl Worst {
    fn take(&mut self, limit: &Limit, margin: u64) {
        (self.kind, self.margin) = (limit.kind, margin);
        (self.used_bytes, self.limit_bytes) = (limit.used_bytes, limit.limit_bytes);
        let from = limit.name.len().saturating_sub(MAX_TEXT);
        self.name.set(limit.name.get(from..).unwrap_or(&[]));
    }

    /// As the log has it.
    fn limit(&self, act: LimitAct) -> Limit<'_> {
        Limit {
            kind: self.kind,
            act,
            used_bytes: self.used_bytes,
            limit_bytes: self.limit_bytes,
            name: self.name.get(),
        }
    }

    fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }

    /// Others use it as well.
    fn is_shared(&self) -> bool {
        matches!(self.kind, LimitKind::Group | LimitKind::Machine)
    }
}

#[inline(never)]
fn write(stream: &mut Stream, limit: &Limit) {
    stream.write_ext(&Ext::Limit(*limit));
}

/// The same for people, where it stands in all that is said of the log.
#[inline(never)]
fn note(line: &mut Text<192>, stream: &Stream, limit: &Limit) {
    line.clear();
    let ms = clock::ms_of(stream.tick());
    line.push(b"at ");
    line.push_number(ms / 1000);
    line.push(b".");
    for digit in [ms / 100, ms / 10, ms] {
        line.push_number(digit % 10);
    }
    line.push(b" s ");
    line.push_number(limit.left_bytes() >> 10);
    line.push(b" of ");
    line.push_number(limit.limit_bytes >> 10);
    line.push(match limit.kind {
        LimitKind::Group => b" KiB were left of the group ",
        LimitKind::AddressSpace => b" KiB were left of RLIMIT_AS",
        LimitKind::Data => b" KiB were left of RLIMIT_DATA",
        LimitKind::Machine => b" KiB were left of the machine's memory",
    });
    if limit.kind == LimitKind::Group {
        let from = limit.name.len().saturating_sub(64);
        line.push(
            limit
                .name
                .get(from..)
                .filter(|name| !name.is_empty())
                .unwrap_or(b"/"),
        );
    }
    line.push(match limit.act {
        LimitAct::Asked => b": asked the program to end, as MEMLOG_OOM_GUARD says",
        LimitAct::Ended => b": ended the program, which had been asked to",
        LimitAct::Near | LimitAct::Watched => b"",
    });
    RECORDER.log.meta.with(Patience::None, |meta| {
        meta.append(&RECORDER.log, &Record::Text(Key::Note, line.get()));
    });
}
