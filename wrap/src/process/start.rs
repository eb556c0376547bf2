//! From the first call of the program to the first event in the log.
//!
//! It happens inside that first call, wherever it comes from: ld.so may hold
//! its locks, constructors have not run. So nothing but raw system calls, and
//! what the kernel tells every process under /proc/self.
#![allow(unsafe_code)]
//! # Safety
//! What the auxiliary vector says of addresses is the kernel's word.

use crate::log::sink::Mode;
use crate::platform::arch;
use crate::platform::clock;
use crate::platform::doors::Door;
use crate::platform::elf::auxiliary::{Auxiliary, program_headers};
use crate::platform::elf::initial;
use crate::platform::elf::initial::Initial;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::{Errno, Os, Sys};
use crate::platform::text::MAX_PATH;
use crate::process::launcher::{Other, rank_parent};
use crate::process::naming::{self, Facts, Path};
use crate::process::real::{self, Rival};
use crate::process::recorder::{Here, RECORDER};
use crate::process::settings::Settings;
use crate::unwind::codemap::CodeMap;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use memlog_format::counter::Counter;
use memlog_format::meta::{Key, Record, Start};
use memlog_lockfree::life::Life;

/// Room for names and texts, off every stack.
pub(crate) struct Scratch {
    pub(crate) buffer: [u8; MAX_PATH],
    pub(crate) path: Path,
    line: crate::platform::text::Text<1024>,
    pub(crate) host: [u8; 128],
    pub(crate) host_length: usize,
}

pub(crate) static SCRATCH: Bounded<Scratch> = Bounded::new(
    Scratch {
        buffer: [0; MAX_PATH],
        path: Path::new(),
        line: crate::platform::text::Text::new(),
        host: [0; 128],
        host_length: 0,
    },
    &RECORDER.ground,
);

/// Set once this image's recorder was set up, in memory that a fork keeps: a
/// life of 0 then means a forked child.
static WAS_STARTED: AtomicBool = AtomicBool::new(false);
/// Set once the real functions were looked for.
static LOOKED: AtomicBool = AtomicBool::new(false);

static ANCHOR: AtomicUsize = AtomicUsize::new(0);
/// Holds the anchor's address only after our relocations were done.
static RELOCATED: &AtomicUsize = &ANCHOR;

/// Whether data of ours that holds addresses can be relied on.
fn is_relocated() -> bool {
    let place = &raw const RELOCATED;
    // SAFETY: a static, read as the integer it holds; volatile, for the
    // compiler knows what it will be and not when.
    let held = unsafe { place.cast::<usize>().read_volatile() };
    held == &raw const ANCHOR as usize
}

/// Looks for the real functions, once they can be found.
#[cold]
#[inline(never)]
pub fn find_reals() {
    if LOOKED.load(Ordering::Acquire) || !is_relocated() {
        return;
    }
    find_reals_again();
    // malloc comes with every allocator: without it this was too early.
    if real::real(Door::Malloc as usize) != 0 {
        LOOKED.store(true, Ordering::Release);
    }
}

/// Looks for those that were not there before: a library may have come.
#[cold]
pub fn find_reals_again() {
    // SAFETY: a function of the doors, or the stand-in without them.
    let own = unsafe { arch::memlog_own_dynamic() };
    if own == 0 || !is_relocated() {
        return;
    }
    let (headers, count) = program_headers();
    // SAFETY: our relocations are done, so the loader's list stands.
    unsafe { real::resolve_all(own, headers, count) };
}

/// Notes in the log who serves calls of the program that do not come to us.
fn note_rivals() {
    // SAFETY: a function of the doors, or the stand-in without them.
    let own = unsafe { arch::memlog_own_dynamic() };
    if own == 0 {
        return crate::process::linked::note();
    }
    let (headers, count) = program_headers();
    SCRATCH.with(Patience::Bounded, |scratch| {
        let Scratch { buffer, line, .. } = scratch;
        let tell = |rival, name: &[u8]| {
            let (before, after): (&[u8], &[u8]) = match rival {
                Rival::TheProgram => (
                    b"malloc is that of the program itself, and so is operator new if it has one",
                    b": no library sees its calls, and they are not recorded. Build it without \
                      an allocator of its own, or link it by `memlog ldflags --static`",
                ),
                Rival::InFront => (
                    b"malloc is that of ",
                    b", which comes before libmemlog.so: calls that reach it are not recorded. \
                      Preload libmemlog.so, or link it before that",
                ),
                Rival::OwnOperators => (
                    b"operator new is that of ",
                    b", and does not end in malloc: what C++ allocates by it is not recorded. \
                      Use `memlog record --cxx-operators`, or preload libmemlog_new.so right \
                      behind libmemlog.so",
                ),
            };
            line.clear();
            [before, name, after]
                .into_iter()
                .for_each(|part| line.push(part));
            RECORDER.log.meta.with(Patience::Bounded, |meta| {
                meta.append(&RECORDER.log, &Record::Text(Key::Note, line.get()));
            });
        };
        // SAFETY: our relocations are done, so the loader's list stands.
        unsafe { real::each_rival(own, headers, count, buffer, tell) };
    });
}

/// Life is not On, or was not a moment ago. True if it is now.
#[cold]
#[inline(never)]
pub fn wake() -> bool {
    match RECORDER.ground.life().get() {
        Life::On => true,
        Life::Starting => {
            RECORDER.ground.counters.add(Counter::LostNotReady, 1);
            false
        }
        Life::Stopped => false,
        Life::Off if WAS_STARTED.load(Ordering::Acquire) => crate::process::child::wake(),
        Life::Off => is_relocated() && RECORDER.ground.life().begin() && start(),
    }
}

fn start() -> bool {
    // SAFETY: a function of the doors, or the stand-in without them.
    let is_static = unsafe { arch::memlog_own_dynamic() } == 0;
    find_reals();
    if !is_static && real::real(Door::Malloc as usize) == 0 {
        // Too early; the next call will try again.
        RECORDER.ground.life().turn(Life::Off);
        return false;
    }
    let told = Auxiliary::read();
    // SAFETY: the address is the kernel's own.
    unsafe { crate::platform::sys::set_facts(told.vdso, told.page_bytes) };
    clock::start();
    crate::process::overhead::start();
    RECORDER.ground.pid.store(Os::pid(), Ordering::Relaxed);
    let usable = match is_static {
        // SAFETY: as above.
        true => unsafe { arch::memlog_static_usable() },
        false if !real::usable_is_of_malloc() => 0,
        false => real::real(Door::MallocUsableSize as usize),
    };
    real::set_usable(usable);
    if is_static {
        real::learn_headers();
    }
    // Kept: one that comes later must have been seen coming, or is found.
    let _ = Os::is_filtered();
    WAS_STARTED.store(true, Ordering::Release);
    // A program with another's rights obeys no environment and writes nothing.
    let is_anothers = told.secure.unwrap_or_else(Os::has_others_rights);
    let wanted = !is_anothers && !crate::process::linked::is_beside_another() && read_settings();
    if !wanted {
        RECORDER.ground.life().turn(Life::Stopped);
        return false;
    }
    if !set_up() {
        RECORDER.stop();
        return false;
    }
    RECORDER.ground.life().turn(Life::On);
    true
}

/// Reads the settings; false if this process is not to be recorded.
fn read_settings() -> bool {
    let read = SCRATCH.with(Patience::Bounded, |scratch| {
        scratch.host_length = Os::host(&mut scratch.host);
        RECORDER.settings.with(Patience::Bounded, |settings| {
            settings.read(&mut scratch.buffer);
            let length = initial::executable(&mut scratch.buffer);
            let path = scratch.buffer.get(..length).unwrap_or(&[]);
            let name = path.rsplit(|&byte| byte == b'/').next();
            settings.program.set(name.unwrap_or(&[]));
            settings.off |= !settings.only.is_empty() && !settings.wants(path);
            if !settings.follow_exec {
                crate::process::exec::hide_from_children(&mut scratch.buffer);
            }
            let free_stacks = settings.free_stacks;
            RECORDER
                .log
                .free_stacks
                .store(free_stacks, Ordering::Relaxed);
            RECORDER.guard.obey(settings);
            if settings.verify {
                RECORDER.verify();
            }
            !settings.off
        })
    });
    read.flatten().unwrap_or(false)
}

fn set_up() -> bool {
    // SAFETY: the life word has a page of its own.
    let wiped = unsafe {
        let page = &raw const arch::memlog_life as *mut u8;
        Os::wipe_on_fork(page, arch::LIFE_BYTES)
    };
    // The log after the memory: then there is none that says nothing.
    let code = |take: fn(&mut CodeMap<Here>) -> bool| RECORDER.code.with(Patience::Bounded, take);
    if !RECORDER.log.map_cells() || code(CodeMap::take_memory) != Some(true) {
        complain(Trouble::Memory, libc::ENOMEM);
        return false;
    }
    if !make_log() {
        return false;
    }
    begin_log(wiped);
    note_rank_parent();
    note_rivals();
    if !keep_beginning() {
        return false;
    }
    RECORDER.rss.start();
    RECORDER.rss.note_beginning();
    code(CodeMap::begin) == Some(true)
}

/// Where chunks go out by writes, the header goes first: without it nothing
/// that follows can be read.
fn keep_beginning() -> bool {
    let written = RECORDER.log.sink.mode() == Mode::Written;
    RECORDER.log.set_written(written);
    if !written {
        return true;
    }
    let has_room = RECORDER.log.sink.take_room();
    let kept = RECORDER.log.meta.with(Patience::Bounded, |meta| {
        meta.flush(&RECORDER.log) && has_room
    });
    if kept != Some(true) {
        SCRATCH.with(Patience::Bounded, |scratch| Os::unlink(scratch.path.get()));
        complain(Trouble::File, libc::ENOSPC);
    }
    kept == Some(true)
}

/// Makes the log's file under the first name that is free.
fn make_log() -> bool {
    bound_all_logs();
    if !RECORDER.log.room.total.admits_log() {
        return false;
    }
    let create = || with_names(|path, settings| RECORDER.log.sink.create(path, &settings.of_log()));
    let mut made = create();
    if made == Err(Errno(libc::ENOENT)) {
        make_folder();
        // Also for the name: the folder's stands in its place now.
        made = create();
    }
    if let Err(Errno(error)) = made
        && !parent_is_recorded()
    {
        complain(Trouble::File, error);
    }
    made.is_ok()
}

/// Finds the page by which the tree bounds its logs.
fn bound_all_logs() {
    SCRATCH.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            if settings.max_logs_total == 0 || settings.total_page.is_empty() {
                return;
            }
            let (path, length) = (settings.total_page.get(), settings.total_page.get().len());
            // A C string: the buffer is longer than any setting.
            for (place, &byte) in scratch.buffer.iter_mut().zip(path.iter().chain(&[0])) {
                *place = byte;
            }
            if let Some(path) = scratch.buffer.get(..=length) {
                RECORDER.log.room.total.begin(path);
            }
        })
    });
}

/// Makes the folder of logs, where only that is missing: on the disk of a node
/// nobody may have been before. Others of the job may make it at the same time.
fn make_folder() {
    SCRATCH.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            if naming::folder(&mut scratch.path, settings, &mut scratch.buffer) {
                // Why it cannot be made the log's own creation says.
                let _ = Os::make_folder(scratch.path.get());
            }
        })
    });
}

/// Tries names until one is free, or the trouble is another.
pub(crate) fn with_names(
    mut make: impl FnMut(&[u8], &Settings) -> Result<Mode, Errno>,
) -> Result<Mode, Errno> {
    let tried = SCRATCH.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            let facts = Facts {
                host: scratch.host.get(..scratch.host_length).unwrap_or(&[]),
                pid: RECORDER.ground.pid.load(Ordering::Relaxed),
                seconds: Os::wall_ns() / 1_000_000_000,
            };
            let mut result = Err(Errno(0));
            for attempt in 1..=naming::MAX_ATTEMPTS {
                naming::make(
                    &mut scratch.path,
                    settings,
                    &facts,
                    attempt,
                    &mut scratch.buffer,
                );
                result = match scratch.path.get() {
                    path if naming::is_among_devices(path) => Err(Errno(libc::EINVAL)),
                    path => make(path, settings),
                };
                if result != Err(Errno(libc::EEXIST)) {
                    break;
                }
            }
            result
        })
    });
    tried.flatten().unwrap_or(Err(Errno(0)))
}

/// Whether the parent runs under the recorder as well: then it has said what
/// there is to say, and this image may have its standard error read.
fn parent_is_recorded() -> bool {
    let parent = SCRATCH.with(Patience::Bounded, |scratch| {
        Other::of(Os::parent_pid(), &[], &mut scratch.buffer).is_recorded
    });
    parent.unwrap_or(false)
}

/// Notes in the log where the rank is not this process but one further up.
fn note_rank_parent() {
    SCRATCH.with(Patience::Bounded, |scratch| {
        let of = |settings: &mut Settings| {
            rank_parent(settings.rank.get(), settings.rank_by, &mut scratch.buffer)
        };
        if let Some(parent) = RECORDER.settings.with(Patience::Bounded, of).flatten() {
            let mut pid = crate::platform::text::Text::<20>::new();
            pid.push_number(u64::from(parent));
            RECORDER.log.meta.with(Patience::Bounded, |meta| {
                meta.append(&RECORDER.log, &Record::Text(Key::RankParent, pid.get()));
            });
        }
    });
}

/// Why there is no log.
enum Trouble {
    Memory,
    File,
}

/// The one line that the recorder ever prints.
fn complain(trouble: Trouble, error: i32) {
    SCRATCH.with(Patience::Bounded, |scratch| {
        let mut path = scratch.path.get();
        path = path.strip_suffix(&[0]).unwrap_or(path);
        let line = &mut scratch.line;
        line.clear();
        line.push(b"memlog: no log of process ");
        line.push_number(u64::from(Os::pid()));
        if let Trouble::File = trouble {
            line.push(b": cannot write ");
            line.push(path.get(..512).unwrap_or(path));
        } else {
            line.push(b": there is no memory for it");
        }
        line.push(b" (error ");
        line.push_number(error.unsigned_abs().into());
        line.push(b")");
        if let Trouble::File = trouble {
            line.push(b"; choose a folder that this user can write to: record -o, or MEMLOG_DIR");
        }
        line.push(b"\n");
        Os::complain(line.get());
    });
}

/// Writes what the log is of.
pub(crate) fn begin_log(wiped: bool) {
    let start = Start {
        pointer_bytes: size_of::<usize>() as u8,
        big_endian: u16::from_ne_bytes([0, 1]) == 1,
        machine: arch::MACHINE,
        pid: RECORDER.ground.pid.load(Ordering::Relaxed),
        parent_pid: Os::parent_pid(),
        wall_ns: Os::wall_ns(),
        tick_ns: clock::TICK_NS,
        page_bytes: crate::platform::sys::page_bytes() as u32,
        cell_bits: memlog_format::order::CELL_BITS as u8,
        has_usable: real::has_usable(),
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
        SCRATCH.with(Patience::Bounded, |scratch| {
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
            if !settings.run.is_empty() {
                let mut value = crate::platform::text::Text::<64>::new();
                value.push(b"MEMLOG_RUN=");
                value.push(settings.run.get());
                text(Key::Setting, value.get());
            }
            if settings.guard_percent > 0 {
                let mut value = crate::platform::text::Text::<64>::new();
                value.push(b"MEMLOG_OOM_GUARD=");
                value.push_number(settings.guard_percent.into());
                value.push(if settings.guard_ends { b",stop" } else { b"" });
                text(Key::Setting, value.get());
            }
            if settings.max_log != u64::MAX {
                // Less than its first window no log can have.
                let mut value = crate::platform::text::Text::<64>::new();
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
                let mut value = crate::platform::text::Text::<64>::new();
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
    let mut value = crate::platform::text::Text::<64>::new();
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
        let mut value = crate::platform::text::Text::<128>::new();
        value.push(b"MEMLOG_MAX_LOGS_TOTAL does not bound this log: MEMLOG_TOTAL_PAGE, error ");
        value.push_number(error.unsigned_abs().into());
        text(Key::Note, value.get());
    }
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
