//! The next definitions in link order, found in the link map's ELF tables by
//! ourselves: dlsym allocates, locks, and is newer than our oldest glibc. So
//! jemalloc, tcmalloc, mimalloc or another recorder below keeps working.
#![allow(unsafe_code)]
//! # Safety
//! The link map and the dynamic sections behind it are the loader's own data;
//! they are read after the loader made them consistent, and the objects looked
//! at are those of program start, which are never unloaded.

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
        if object.next.is_null() && LAST_AT_START.load(Ordering::Relaxed).is_null() {
            LAST_AT_START.store(map.cast_mut(), Ordering::Relaxed);
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

/// operator new, by what size_t is.
const OPERATOR_NEW: &[u8] = match size_of::<usize>() {
    8 => b"_Znwm",
    _ => b"_Znwj",
};

/// The last of the objects of program start: those are never unloaded.
static LAST_AT_START: AtomicPtr<LinkMap> = AtomicPtr::new(core::ptr::null_mut());

/// Runs over the objects of program start in the loader's order.
///
/// # Safety
/// As for [`resolve_all`], which was called.
pub unsafe fn each_at_start(mut see: impl FnMut(&LinkMap)) {
    let last = LAST_AT_START.load(Ordering::Relaxed).cast_const();
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
    pub of_malloc_s_home: bool,
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
    let last_at_start = LAST_AT_START.load(Ordering::Relaxed).cast_const();
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
                of_malloc_s_home: is_home_of_malloc(object),
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
    if ERRNO.load(Ordering::Relaxed) == 0
        // SAFETY: the tables are the object's own.
        && let Some(value) = unsafe { look_up(&tables, b"__errno_location") }
    {
        let address = object.bias().wrapping_add(value) as usize;
        ERRNO.store(address, Ordering::Relaxed);
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

/// The C library's function that says where the calling thread's errno is; 0
/// where it is not known, as in a static program.
static ERRNO: AtomicUsize = AtomicUsize::new(0);

/// The program's errno, 0 where it is not known.
#[cold]
pub fn errno() -> u32 {
    match ERRNO.load(Ordering::Relaxed) {
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

/// The objects that malloc and malloc_usable_size come from.
static HOMES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn note_home(name: &[u8], object: &LinkMap) {
    let which = match name {
        b"malloc" => 0,
        b"malloc_usable_size" => 1,
        _ => return,
    };
    if let Some(home) = HOMES.get(which) {
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
        HAS_HEADERS.store(defines(b"gnu_get_libc_version"), Ordering::Relaxed);
        IS_SANITIZER.store(
            defines(b"__sanitizer_get_allocated_size"),
            Ordering::Relaxed,
        );
    }
}

/// Whether malloc is glibc's, whose blocks have their size in the word before
/// them.
static HAS_HEADERS: AtomicBool = AtomicBool::new(false);

/// Whether malloc is a sanitizer's. It sets itself up in its first call, in which
/// it allocates, and must not be asked for usable sizes meanwhile.
static IS_SANITIZER: AtomicBool = AtomicBool::new(false);

/// Whether the first block is to show that.
static LEARNS: AtomicBool = AtomicBool::new(false);

/// A static program does not say whose its malloc is; its first block does.
pub fn learn_headers() {
    LEARNS.store(true, Ordering::Relaxed);
}

#[cold]
fn learn(block: *mut u8, told: Option<u64>) {
    const PAGE: usize = 4096;
    // Another allocator may have nothing before a page.
    let (Some(told), false) = (told, (block as usize).is_multiple_of(PAGE)) else {
        return;
    };
    if !LEARNS.swap(false, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the word before lies in the block's own page.
    let header = unsafe { usable_of_header(block) };
    HAS_HEADERS.store(header == told, Ordering::Relaxed);
}

/// Bytes that a block of glibc really has, without a call; nothing of another
/// allocator's.
///
/// # Safety
/// The block is null or one of the allocator in use.
#[inline(always)]
pub unsafe fn usable_by_header(block: *mut u8) -> Option<u64> {
    if block.is_null() || !HAS_HEADERS.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: by the caller, and glibc's since ever.
    Some(unsafe { usable_of_header(block) })
}

/// # Safety
/// The word before the block can be read.
#[inline(always)]
unsafe fn usable_of_header(block: *mut u8) -> u64 {
    const FLAGS: usize = 7;
    const IS_MAPPED: usize = 2;
    const WORD: usize = size_of::<usize>();
    // SAFETY: by the caller.
    let header = unsafe { block.cast::<usize>().sub(1).read() };
    // The word after a block is its own too, but for blocks mapped by themselves.
    let beside = if header & IS_MAPPED == 0 {
        WORD
    } else {
        2 * WORD
    };
    (header & !FLAGS).wrapping_sub(beside) as u64
}

/// What malloc_usable_size says of a block whose header said `usable`: from
/// the first block on of which it says another thing headers are not read.
pub fn checked(block: *mut u8, usable: Option<u64>) -> Option<u64> {
    if !HAS_HEADERS.load(Ordering::Relaxed) {
        return usable;
    }
    let told = told(block);
    if told.is_some() && told != usable {
        HAS_HEADERS.store(false, Ordering::Relaxed);
        return told;
    }
    usable
}

fn is_home_of_malloc(object: &LinkMap) -> bool {
    let [malloc, _] = &HOMES;
    malloc.load(Ordering::Relaxed) == object as *const LinkMap as usize
}

/// Whether malloc_usable_size is that of the allocator in use, and may be asked:
/// another's would read what it never wrote.
pub fn usable_is_of_malloc() -> bool {
    let [malloc, usable] = &HOMES;
    !IS_SANITIZER.load(Ordering::Relaxed)
        && malloc.load(Ordering::Relaxed) == usable.load(Ordering::Relaxed)
}

/// malloc_usable_size of the allocator in use; 0 where it has none.
static USABLE: AtomicUsize = AtomicUsize::new(0);

/// Whom releases ask: the same, or [`ask_of_releases`].
static USABLE_OF_OLD: AtomicUsize = AtomicUsize::new(0);

/// Sets who tells usable sizes.
pub fn set_usable(function: usize) {
    USABLE.store(function, Ordering::Relaxed);
    USABLE_OF_OLD.store(function, Ordering::Relaxed);
}

/// Has every release ask this function for the usable size, and no header.
pub fn ask_of_releases(function: extern "C" fn(*mut u8) -> usize) {
    USABLE_OF_OLD.store(function as *const () as usize, Ordering::Release);
    LEARNS.store(false, Ordering::Relaxed);
    HAS_HEADERS.store(false, Ordering::Release);
}

#[cfg(test)]
pub(crate) fn ask_of_releases_as_ever() {
    set_usable(USABLE.load(Ordering::Relaxed));
}

/// Whether the allocator tells usable sizes.
pub fn has_usable() -> bool {
    USABLE.load(Ordering::Relaxed) != 0
}

/// Bytes that a block really has which the allocator has just given.
#[inline]
pub(crate) fn usable_of_new(block: *mut u8) -> Option<u64> {
    let told = told(block);
    if LEARNS.load(Ordering::Relaxed) {
        learn(block, told);
    }
    told
}

/// Bytes that a block really has. The header is asked first: of a block that is
/// freed twice the function reads what lies behind it too, which may be nothing.
#[inline]
pub(crate) fn usable(block: *mut u8) -> Option<u64> {
    // SAFETY: the program passed the block to its free, or just got it.
    unsafe { usable_by_header(block) }.or_else(|| told_by(&USABLE_OF_OLD, block))
}

fn told(block: *mut u8) -> Option<u64> {
    told_by(&USABLE, block)
}

#[inline]
fn told_by(function: &AtomicUsize, block: *mut u8) -> Option<u64> {
    let function = function.load(Ordering::Relaxed);
    if function == 0 || block.is_null() {
        return None;
    }
    // SAFETY: malloc_usable_size of the allocator that the blocks come from;
    // the program passed the block to its free, or just got it.
    let size_of: extern "C" fn(*mut u8) -> usize = unsafe { core::mem::transmute(function) };
    Some(size_of(block) as u64)
}

#[cfg(test)]
mod tests {
    use super::{HAS_HEADERS, checked, learn_headers, set_usable, usable_by_header, usable_of_new};
    use core::sync::atomic::Ordering;

    /// With the allocator of the tests, which is glibc's.
    #[test]
    fn headers_say_what_the_allocator_says() {
        set_usable(libc::malloc_usable_size as *const () as usize);
        HAS_HEADERS.store(true, Ordering::Relaxed);
        // The last is mapped by itself.
        for size in (0..5000).chain([100_000, 1 << 20, 64 << 20]) {
            // SAFETY: a block of malloc, used until it is freed.
            let (by_header, told, after) = unsafe {
                let block = libc::malloc(size);
                let told = libc::malloc_usable_size(block) as u64;
                let by_header = usable_by_header(block.cast());
                let after = checked(block.cast(), by_header);
                libc::free(block);
                (by_header, told, after)
            };
            assert_eq!((by_header, after), (Some(told), Some(told)), "{size} bytes");
        }
        // SAFETY: null is no block.
        assert_eq!(unsafe { usable_by_header(core::ptr::null_mut()) }, None);
        // A header that lies is believed no more.
        // SAFETY: as above.
        unsafe {
            let block = libc::malloc(100);
            let told = libc::malloc_usable_size(block) as u64;
            assert_eq!(checked(block.cast(), Some(told + 8)), Some(told));
            assert_eq!(usable_by_header(block.cast()), None);
            // Till a block shows that they are there.
            learn_headers();
            assert_eq!(usable_of_new(block.cast()), Some(told));
            assert_eq!(usable_by_header(block.cast()), Some(told));
            libc::free(block);
        }
    }
}
