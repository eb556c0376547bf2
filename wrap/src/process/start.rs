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
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::{Os, Sys};
use crate::platform::text::{MAX_PATH, Text};
use crate::process::attached;
use crate::process::begin_log::{begin_log, keep_environment, note_rank_parent};
use crate::process::fine_time;
use crate::process::make_log::{Trouble, complain, make_log};
use crate::process::naming::Path;
use crate::process::real::{self, Rival};
use crate::process::recorder::{Here, RECORDER};
use crate::process::usable;
use crate::unwind::codemap::CodeMap;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use memlog_format::counter::Counter;
use memlog_format::meta::{Key, Record};
use memlog_lockfree::life::Life;

/// What is known of the start, in memory that a fork keeps.
pub struct Began {
    pub(super) scratch: Bounded<Scratch>,
    /// Set once this image's recorder was set up: a life of 0 then means a forked
    /// child.
    was_started: AtomicBool,
    /// Set once the real functions were looked for.
    looked: AtomicBool,
}

impl Began {
    /// Nothing so far.
    pub const fn new(ground: &'static Ground) -> Self {
        let scratch = Scratch {
            buffer: [0; MAX_PATH],
            path: Path::new(),
            line: Text::new(),
            host: [0; 128],
            host_length: 0,
        };
        Self {
            scratch: Bounded::new(scratch, ground),
            was_started: AtomicBool::new(false),
            looked: AtomicBool::new(false),
        }
    }
}

/// Room for names and texts, off every stack.
pub(super) struct Scratch {
    pub(super) buffer: [u8; MAX_PATH],
    pub(super) path: Path,
    pub(super) line: Text<1024>,
    pub(super) host: [u8; 128],
    pub(super) host_length: usize,
}

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
    // Who attaches has looked, while nobody could change the list.
    if attached::is_attached() || RECORDER.start.looked.load(Ordering::Acquire) || !is_relocated() {
        return;
    }
    find_reals_again();
    // malloc comes with every allocator: without it this was too early.
    if real::real(Door::Malloc as usize) != 0 {
        RECORDER.start.looked.store(true, Ordering::Release);
    }
}

/// Looks for those that were not there before: a library may have come.
#[cold]
pub fn find_reals_again() {
    // SAFETY: a function of the doors, or the stand-in without them.
    let own = unsafe { arch::memlog_own_dynamic() };
    if own == 0 || !is_relocated() || attached::is_attached() {
        return;
    }
    let (headers, count) = program_headers();
    // SAFETY: our relocations are done, so the loader's list stands.
    unsafe { real::resolve_all(own, headers, count) };
}

/// Notes in the log who serves calls of the program that do not come to us.
fn note_rivals() {
    if attached::is_attached() {
        return;
    }
    // SAFETY: a function of the doors, or the stand-in without them.
    let own = unsafe { arch::memlog_own_dynamic() };
    if own == 0 {
        return crate::process::linked::note();
    }
    let (headers, count) = program_headers();
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
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
        Life::Starting if attached::is_beginning() => false,
        Life::Starting => {
            RECORDER.ground.counters.add(Counter::LostNotReady, 1);
            false
        }
        Life::Stopped | Life::Paused => false,
        Life::Off if RECORDER.start.was_started.load(Ordering::Acquire) => {
            crate::process::child::wake()
        }
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
    RECORDER.ground.pid.store(Os::pid(), Ordering::Relaxed);
    let usable = match is_static {
        // SAFETY: as above.
        true => unsafe { arch::memlog_static_usable() },
        false if !attached::take_facts() => 0,
        false if !real::usable_is_of_malloc() => 0,
        false => real::real(Door::MallocUsableSize as usize),
    };
    usable::set_usable(usable);
    if is_static {
        usable::learn_headers();
    }
    // Kept: one that comes later must have been seen coming, or is found.
    let _ = Os::is_filtered();
    RECORDER.start.was_started.store(true, Ordering::Release);
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
    RECORDER.log.take_first_indexes();
    RECORDER.control.begin(&RECORDER.ground) == Life::On
}

/// The same, and whether recording is only off for now.
pub fn is_up() -> bool {
    wake() || RECORDER.ground.life().get() == Life::Paused
}

/// Reads the settings; false if this process is not to be recorded.
fn read_settings() -> bool {
    let read = RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
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
            fine_time::begin(settings);
            RECORDER.guard.obey(settings);
            settings.off |= !RECORDER.control.obey(settings);
            RECORDER.census.obey(settings.rss_detail);
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
    keep_environment();
    note_rank_parent();
    note_rivals();
    if !keep_beginning() {
        return false;
    }
    RECORDER.rss.start();
    if !RECORDER.control.is_off() {
        RECORDER.rss.note_beginning();
    }
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
        RECORDER
            .start
            .scratch
            .with(Patience::Bounded, |scratch| Os::unlink(scratch.path.get()));
        complain(Trouble::File, libc::ENOSPC);
    }
    kept == Some(true)
}

/// Works on the path of the log, which is empty where there is none.
pub fn with_log_path<R>(work: impl FnOnce(&[u8]) -> R) -> Option<R> {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        let length = RECORDER.log.sink.path(&mut scratch.buffer);
        work(scratch.buffer.get(..length).unwrap_or(&[]))
    })
}
