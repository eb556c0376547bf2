//! The next definitions in link order, found in the link map's ELF tables by
//! ourselves: dlsym allocates, locks, and is newer than our oldest glibc. So
//! jemalloc, tcmalloc, mimalloc or another recorder below keeps working.
#![allow(unsafe_code)]
//! # Safety
//! The link map and the dynamic sections behind it are the loader's own data;
//! they are read after the loader made them consistent, and the objects looked
//! at are those of program start, which are never unloaded.

use super::recorder::RECORDER;
use super::usable;
use crate::platform::doors::Door;
use crate::platform::elf::linkmap::{
    LinkMap, copy_name, first_map, known_first_map, look_up, tables_of,
};
use crate::process::absent;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

unsafe extern "C" {
    /// The real functions by the doors' order; only the dynamic shape uses it.
    static memlog_reals: [AtomicUsize; 64];
}

/// Fills the table of real functions: for each name the first definition in
/// the objects behind ours, whose dynamic section is at `own_dynamic`. What is
/// only in front of us is better than nothing: who was linked behind libc may
/// still be called.
///
/// # Safety
/// The loader has set up the link map: true from the first call on that finds
/// our own relocations done.
pub unsafe fn resolve_all(own_dynamic: u64, program_headers: u64, count: u64) {
    // SAFETY: by the caller.
    let Some(first) = (unsafe { first_map(program_headers, count) }) else {
        return;
    };
    let mut map = first;
    let mut behind_us = false;
    while !map.is_null() {
        // SAFETY: a live node of the loader's list.
        let object = unsafe { &*map };
        if object.next.is_null()
            && RECORDER
                .reals
                .last_at_start
                .load(Ordering::Relaxed)
                .is_null()
        {
            RECORDER
                .reals
                .last_at_start
                .store(map.cast_mut(), Ordering::Relaxed);
        }
        if behind_us {
            // SAFETY: as above.
            unsafe { offer(object) };
        } else {
            behind_us = object.dynamic as u64 == own_dynamic;
        }
        map = object.next;
    }
    map = first;
    while !map.is_null() {
        // SAFETY: a live node of the loader's list.
        let object = unsafe { &*map };
        if object.dynamic as u64 == own_dynamic {
            if real(Door::Malloc as usize) != 0 {
                // SAFETY: this object is ours.
                unsafe { absent::hide(object, first) };
            }
            return;
        }
        // SAFETY: as above.
        unsafe { offer(object) };
        map = object.next;
    }
}

/// What was found of the functions behind the hooks, but for those themselves,
/// which the assembly has.
pub struct Reals {
    /// The last of the objects of program start: those are never unloaded.
    last_at_start: AtomicPtr<LinkMap>,
    /// The C library's function that says where the calling thread's errno is; 0
    /// where it is not known, as in a static program.
    errno: AtomicUsize,
    /// The objects that malloc and malloc_usable_size come from.
    homes: [AtomicUsize; 2],
    /// Whether malloc is a sanitizer's. It sets itself up in its first call, in
    /// which it allocates, and must not be asked for usable sizes meanwhile.
    is_sanitizer: AtomicBool,
}

impl Reals {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self {
            last_at_start: AtomicPtr::new(core::ptr::null_mut()),
            errno: AtomicUsize::new(0),
            homes: [const { AtomicUsize::new(0) }; 2],
            is_sanitizer: AtomicBool::new(false),
        }
    }
}

impl Default for Reals {
    fn default() -> Self {
        Self::new()
    }
}

/// operator new, by what size_t is.
const OPERATOR_NEW: &[u8] = match size_of::<usize>() {
    8 => b"_Znwm",
    _ => b"_Znwj",
};

/// Runs over the objects of program start in the loader's order.
///
/// # Safety
/// As for [`resolve_all`], which was called.
pub unsafe fn each_at_start(mut see: impl FnMut(&LinkMap)) {
    let last = RECORDER
        .reals
        .last_at_start
        .load(Ordering::Relaxed)
        .cast_const();
    let mut map = known_first_map();
    while !map.is_null() {
        // SAFETY: a live node of the loader's list, of an object that stays.
        let object = unsafe { &*map };
        see(object);
        if map == last {
            return;
        }
        map = object.next;
    }
}

/// A definition, and of which kind the object is that it lies in.
pub struct Definition {
    /// The function.
    pub address: usize,
    /// The object defines malloc as well.
    pub beside_malloc: bool,
    /// It is the one whose malloc is called.
    pub is_where_malloc_is: bool,
    /// It came after program start and may be unloaded.
    pub may_go: bool,
}

/// The first definition of a name behind the object whose dynamic section is at
/// `dynamic`: what the loader would bind to without that object.
///
/// Objects that came after program start may have been loaded for one plugin
/// alone, but all their calls come to us. Of those the first that ends in malloc
/// serves them all: its blocks can be given back by any other such, whichever
/// is unloaded. An allocator's own serves where there is nothing else.
///
/// # Safety
/// As for [`resolve_all`], and nobody unloads an object meanwhile.
pub unsafe fn definition_behind(dynamic: u64, name: &[u8]) -> Option<Definition> {
    let mut map = known_first_map();
    let last_at_start = RECORDER
        .reals
        .last_at_start
        .load(Ordering::Relaxed)
        .cast_const();
    let (mut behind, mut may_go) = (false, false);
    let mut last_resort = None;
    while !map.is_null() {
        // SAFETY: a live node of the loader's list.
        let object = unsafe { &*map };
        // SAFETY: by the caller, and the object's own tables.
        let of = |name: &[u8]| unsafe { look_up(&tables_of(object)?, name) };
        if behind && let Some(value) = of(name) {
            let found = Definition {
                address: object.bias().wrapping_add(value) as usize,
                beside_malloc: of(b"malloc").is_some(),
                is_where_malloc_is: is_home_of_malloc(object),
                may_go,
            };
            if !may_go || !found.beside_malloc {
                return Some(found);
            }
            last_resort = last_resort.or(Some(found));
        }
        behind |= object.dynamic as u64 == dynamic;
        may_go |= map == last_at_start;
        map = object.next;
    }
    last_resort
}

/// Whether some object defines the name at this address.
///
/// # Safety
/// As for [`definition_behind`].
pub unsafe fn is_defined_at(name: &[u8], address: usize) -> bool {
    let mut map = known_first_map();
    while !map.is_null() {
        // SAFETY: a live node of the loader's list, and the object's own tables.
        let (object, found) = unsafe {
            let object = &*map;
            let tables = tables_of(object);
            (object, tables.and_then(|tables| look_up(&tables, name)))
        };
        if found.is_some_and(|value| object.bias().wrapping_add(value) as usize == address) {
            return true;
        }
        map = object.next;
    }
    false
}

/// What the objects of the program mean for what can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// The program's own file defines malloc, and calls it without asking
    /// anybody.
    TheProgram,
    /// Comes before us and defines malloc: calls do not come to us.
    InFront,
    /// An allocator whose C++ operators do not end in malloc, and are not
    /// hooked.
    OwnOperators,
}

/// The doors of C++'s operators; see `operators`.
const OPERATORS_LIBRARY: &[u8] = b"/libmemlog_new.so";

/// Tells the rivals among the objects of program start, by name: empty for the
/// program's own file.
///
/// # Safety
/// As for [`resolve_all`].
pub unsafe fn each_rival(
    own_dynamic: u64,
    program_headers: u64,
    count: u64,
    name: &mut [u8],
    mut tell: impl FnMut(Rival, &[u8]),
) {
    // SAFETY: by the caller.
    let mut map = unsafe { first_map(program_headers, count) }.unwrap_or(core::ptr::null());
    let (mut in_front, mut operators_hooked) = (true, false);
    while !map.is_null() {
        // SAFETY: a live node of the loader's list.
        let object = unsafe { &*map };
        map = object.next;
        if object.dynamic as u64 == own_dynamic {
            in_front = false;
            continue;
        }
        // SAFETY: the loader's name of the object, a C string.
        let length = unsafe { copy_name(object.name, name) };
        let name = name.get(..length).unwrap_or(&[]);
        operators_hooked |= name.ends_with(OPERATORS_LIBRARY);
        // SAFETY: a live object of program start, and its own tables.
        let defines = |function: &[u8]| unsafe {
            tables_of(object).is_some_and(|tables| look_up(&tables, function).is_some())
        };
        if !defines(b"malloc") {
            continue;
        }
        match (core::mem::take(&mut in_front), name) {
            // It comes before whatever is preloaded, its operators too.
            (true, []) => {
                tell(Rival::TheProgram, name);
                continue;
            }
            (true, _) => tell(Rival::InFront, name),
            (false, _) => {}
        }
        if !operators_hooked && defines(OPERATOR_NEW) {
            tell(Rival::OwnOperators, name);
        }
    }
}

/// The real function of a door, 0 if there is none.
pub fn real(index: usize) -> usize {
    // SAFETY: a static table of the assembly; atomics all the way.
    let table = unsafe { &memlog_reals };
    table
        .get(index)
        .map_or(0, |place| place.load(Ordering::Relaxed))
}

/// Offers an object's definitions for the names that have none yet.
unsafe fn offer(object: &LinkMap) {
    // SAFETY: by the caller: a live object of program start.
    let Some(tables) = (unsafe { tables_of(object) }) else {
        return;
    };
    if RECORDER.reals.errno.load(Ordering::Relaxed) == 0
        // SAFETY: the tables are the object's own.
        && let Some(value) = unsafe { look_up(&tables, b"__errno_location") }
    {
        let address = object.bias().wrapping_add(value) as usize;
        RECORDER.reals.errno.store(address, Ordering::Relaxed);
    }
    // SAFETY: a static table of the assembly.
    let reals = unsafe { &memlog_reals };
    for (place, name) in reals.iter().zip(crate::platform::doors::NAMES) {
        if place.load(Ordering::Relaxed) == 0 {
            // SAFETY: the tables are the object's own.
            if let Some(value) = unsafe { look_up(&tables, name) } {
                place.store(
                    object.bias().wrapping_add(value) as usize,
                    Ordering::Relaxed,
                );
                note_home(name, object);
            }
        }
    }
}

/// Where errno is asked for, of a program that was attached to.
pub(super) fn set_errno(function: usize) {
    RECORDER.reals.errno.store(function, Ordering::Relaxed);
}

/// The program's errno, 0 where it is not known.
#[cold]
pub fn errno() -> u32 {
    match RECORDER.reals.errno.load(Ordering::Relaxed) {
        0 => 0,
        address => {
            // SAFETY: the function of that name, which gives the address of a
            // word of the calling thread.
            let errno = unsafe {
                let place: extern "C" fn() -> *const i32 = core::mem::transmute(address);
                place().read()
            };
            errno as u32
        }
    }
}

fn note_home(name: &[u8], object: &LinkMap) {
    let which = match name {
        b"malloc" => 0,
        b"malloc_usable_size" => 1,
        _ => return,
    };
    if let Some(home) = RECORDER.reals.homes.get(which) {
        home.store(object as *const LinkMap as usize, Ordering::Relaxed);
    }
    if which == 0 {
        // SAFETY: a live object of program start, and its own tables.
        let tables = unsafe { tables_of(object) };
        let defines = |name| {
            let tables = tables.as_ref();
            // SAFETY: as above.
            tables.is_some_and(|tables| unsafe { look_up(tables, name) }.is_some())
        };
        usable::set_headers(defines(b"gnu_get_libc_version"));
        RECORDER.reals.is_sanitizer.store(
            defines(b"__sanitizer_get_allocated_size"),
            Ordering::Relaxed,
        );
    }
}

fn is_home_of_malloc(object: &LinkMap) -> bool {
    let [malloc, _] = &RECORDER.reals.homes;
    malloc.load(Ordering::Relaxed) == object as *const LinkMap as usize
}

/// Whether malloc_usable_size is that of the allocator in use, and may be asked:
/// another's would read what it never wrote.
pub fn usable_is_of_malloc() -> bool {
    let [malloc, usable] = &RECORDER.reals.homes;
    !RECORDER.reals.is_sanitizer.load(Ordering::Relaxed)
        && malloc.load(Ordering::Relaxed) == usable.load(Ordering::Relaxed)
}
