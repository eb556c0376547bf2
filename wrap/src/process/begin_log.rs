//! The first words of a log: of what process it is, and how it was recorded.

use crate::log::sink::Mode;
use crate::platform::arch;
use crate::platform::clock;
use crate::platform::elf::initial;
use crate::platform::elf::initial::Initial;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::Text;
use crate::process::census::Detail;
use crate::process::cull;
use crate::process::fine_time;
use crate::process::launcher::rank_parent;
use crate::process::recorder::RECORDER;
use crate::process::settings::{Settings, each_variable};
use crate::process::usable;
use core::sync::atomic::Ordering;
use memlog_format::meta::{Key, Record, Start};

/// Writes what the log is of.
pub(crate) fn begin_log(wiped: bool) {
    let start = Start {
        pointer_bytes: size_of::<usize>() as u8,
        big_endian: u16::from_ne_bytes([0, 1]) == 1,
        machine: arch::MACHINE,
        pid: RECORDER.ground.pid.load(Ordering::Relaxed),
        parent_pid: Os::parent_pid(),
        wall_ns: Os::wall_ns(),
        tick_ns: clock::tick_ns(),
        page_bytes: crate::platform::sys::page_bytes() as u32,
        cell_bits: memlog_format::order::CELL_BITS as u8,
        has_usable: usable::has_usable(),
    };
    let has_proc = Os::is_folder(b"/proc/self\0");
    RECORDER.log.meta.with(Patience::Bounded, |meta| {
        meta.begin(&RECORDER.log, Patience::Bounded);
        meta.append(&RECORDER.log, &Record::Start(start));
        let mut text = |key, text: &[u8]| {
            if !text.is_empty() {
                meta.append(&RECORDER.log, &Record::Text(key, text));
            }
        };
        text(Key::Recorder, env!("CARGO_PKG_VERSION").as_bytes());
        RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
            text(
                Key::Host,
                scratch.host.get(..scratch.host_length).unwrap_or(&[]),
            );
            let buffer = &mut scratch.buffer;
            let length = initial::executable(buffer);
            text(Key::Executable, buffer.get(..length).unwrap_or(&[]));
            let length = Os::working_directory(buffer);
            text(Key::WorkingDirectory, buffer.get(..length).unwrap_or(&[]));
            let length = RECORDER.log.sink.path(buffer);
            text(Key::LogPath, buffer.get(..length).unwrap_or(&[]));
            let length = command_line(buffer);
            text(Key::CommandLine, buffer.get(..length).unwrap_or(&[]));
        });
        RECORDER.settings.with(Patience::Bounded, |settings| {
            text(Key::Job, settings.job.get());
            text(Key::Rank, settings.rank.get());
            text(Key::Note, settings.nonsense.get());
            if settings.free_stacks {
                text(Key::Setting, b"MEMLOG_FREE_STACKS=1");
            }
            match settings.rss_detail {
                Detail::Never => text(Key::Setting, b"MEMLOG_RSS_DETAIL=off"),
                Detail::Cheap => {}
                Detail::Always => text(Key::Setting, b"MEMLOG_RSS_DETAIL=always"),
            }
            fine_time::tell(settings, &mut text);
            if !settings.run.is_empty() {
                let mut value = Text::<64>::new();
                value.push(b"MEMLOG_RUN=");
                value.push(settings.run.get());
                text(Key::Setting, value.get());
            }
            if RECORDER.control.is_off() {
                text(Key::Setting, b"MEMLOG_START_DISABLED=1");
            }
            if settings.guard_percent > 0 {
                let mut value = Text::<64>::new();
                value.push(b"MEMLOG_OOM_GUARD=");
                value.push_number(settings.guard_percent.into());
                value.push(if settings.guard_may_end {
                    b",stop"
                } else {
                    b""
                });
                text(Key::Setting, value.get());
            }
            if settings.max_log != u64::MAX {
                // Less than its first window no log can have.
                let mut value = Text::<64>::new();
                value.push(b"MEMLOG_MAX_LOG=");
                value.push_number(settings.max_log);
                text(Key::Setting, value.get());
            }
        });
        RECORDER.settings.with(Patience::Bounded, |settings| {
            note_total(settings, &mut text);
        });
        if RECORDER.log.sink.mode() == Mode::Written {
            text(Key::Setting, b"MEMLOG_SINK=written");
        }
        if !has_proc {
            text(
                Key::Note,
                b"there is no /proc: of code only the program's own is known",
            );
        }
        RECORDER.settings.with(Patience::Bounded, |settings| {
            RECORDER.log.flight.begin(&RECORDER.log, &settings.of_log());
            if RECORDER.log.flight.is_on() {
                let mut value = Text::<64>::new();
                value.push(b"MEMLOG_FLIGHT_RECORDER=");
                value.push_number(settings.flight_recorder);
                text(Key::Setting, value.get());
            } else if settings.flight_recorder > 0 {
                text(
                    Key::Note,
                    b"no flight recorder: it needs a log that is mapped; MEMLOG_MAX_LOG bounds \
                      one that is written",
                );
            }
            cull::begin(settings, &mut text);
        });
        if !wiped {
            text(
                Key::Note,
                b"this kernel cannot wipe memory on fork: forked children go unseen",
            );
        }
    });
}

/// What all logs of the tree may take, or why that is not known here.
fn note_total(settings: &Settings, text: &mut impl FnMut(Key, &[u8])) {
    if settings.max_logs_total == 0 {
        return;
    }
    let mut value = Text::<64>::new();
    value.push(b"MEMLOG_MAX_LOGS_TOTAL=");
    value.push_number(settings.max_logs_total);
    text(Key::Setting, value.get());
    let error = RECORDER.log.room.total.error();
    if settings.total_page.is_empty() {
        text(
            Key::Note,
            b"MEMLOG_MAX_LOGS_TOTAL bounds nothing: only `memlog record` makes what that takes",
        );
    } else if error != 0 {
        let mut value = Text::<128>::new();
        value.push(b"MEMLOG_MAX_LOGS_TOTAL does not bound this log: MEMLOG_TOTAL_PAGE, error ");
        value.push_number(error.unsigned_abs().into());
        text(Key::Note, value.get());
    }
}

/// The variables that the program began with, if they are wanted: they may be secret. A
/// forked child's log begins small, and its parent's has them.
pub(crate) fn keep_environment() {
    let is_wanted = |settings: &mut Settings| settings.keep_environment;
    if RECORDER.settings.with(Patience::Bounded, is_wanted) != Some(true) {
        return;
    }
    let text = |key, text: &[u8]| RECORDER.note(Patience::Bounded, &Record::Text(key, text));
    text(Key::Setting, b"MEMLOG_KEEP_ENVIRONMENT=1");
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        each_variable(&mut scratch.buffer, |variable| {
            text(Key::Variable, variable)
        });
    });
}

/// The program's arguments, each ended by a zero byte.
fn command_line(into: &mut [u8]) -> usize {
    let Ok(fd) = Os::open(b"/proc/self/cmdline\0") else {
        return Initial::find().map_or(0, |initial| initial.command_line(into));
    };
    let length = Os::read(fd, into).unwrap_or(0);
    Os::close(fd);
    length
}

/// Notes in the log where the rank is not this process but one further up.
pub(super) fn note_rank_parent() {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        let of = |settings: &mut Settings| {
            rank_parent(settings.rank.get(), settings.rank_by, &mut scratch.buffer)
        };
        if let Some(parent) = RECORDER.settings.with(Patience::Bounded, of).flatten() {
            let mut pid = Text::<20>::new();
            pid.push_number(u64::from(parent));
            RECORDER.log.meta.with(Patience::Bounded, |meta| {
                meta.append(&RECORDER.log, &Record::Text(Key::RankParent, pid.get()));
            });
        }
    });
}
