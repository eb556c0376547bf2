//! The next definitions in link order, found in the link map's ELF tables by
//! ourselves: dlsym allocates, locks, and is newer than our oldest glibc. So
//! jemalloc, tcmalloc, mimalloc or another recorder below keeps working.
#![allow(unsafe_code)]
//! # Safety
//! The link map and the dynamic sections behind it are the loader's own data;
//! they are read after the loader made them consistent, and the objects looked
//! at are those of program start, which are never unloaded.

use core::ffi::c_char;
use core::sync::atomic::{AtomicUsize, Ordering};
use goblin::elf64::dynamic::{
    DT_DEBUG, DT_GNU_HASH, DT_HASH, DT_NULL, DT_STRTAB, DT_SYMTAB, DT_VERSYM, Dyn,
};
use goblin::elf64::program_header::{PT_DYNAMIC, PT_PHDR, ProgramHeader};
use goblin::elf64::sym::Sym;

unsafe extern "C" {
    /// The real functions by the doors' order; only the dynamic shape uses it.
    static memlog_reals: [AtomicUsize; 64];
}

/// `struct r_debug` of the loader's interface to debuggers.
#[repr(C)]
struct Debug {
    version: i32,
    map: *const LinkMap,
}

/// The public beginning of `struct link_map`.
#[repr(C)]
struct LinkMap {
    bias: u64,
    name: *const c_char,
    dynamic: *const Dyn,
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// The tables of one object.
#[derive(Clone, Copy, Default)]
struct Tables {
    gnu_hash: u64,
    sysv_hash: u64,
    strings: u64,
    symbols: u64,
    versions: u64,
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
            return;
        }
        // SAFETY: as above.
        unsafe { offer(object) };
        map = object.next;
    }
}

/// What the objects of the program mean for what can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Comes before us and defines malloc: calls do not come to us.
    InFront,
    /// An allocator whose C++ operators do not end in malloc.
    OwnOperators,
}

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
    let mut in_front = true;
    while !map.is_null() {
        // SAFETY: a live node of the loader's list.
        let object = unsafe { &*map };
        map = object.next;
        if object.dynamic as u64 == own_dynamic {
            in_front = false;
            continue;
        }
        // SAFETY: a live object of program start, and its own tables.
        let defines = |function: &[u8]| unsafe {
            tables_of(object).is_some_and(|tables| look_up(&tables, function).is_some())
        };
        if !defines(b"malloc") {
            continue;
        }
        // SAFETY: the loader's name of the object, a C string.
        let length = unsafe { copy_name(object.name, name) };
        let name = name.get(..length).unwrap_or(&[]);
        if core::mem::take(&mut in_front) {
            tell(Rival::InFront, name);
        }
        if defines(b"_Znwm") {
            tell(Rival::OwnOperators, name);
        }
    }
}

unsafe fn copy_name(from: *const c_char, into: &mut [u8]) -> usize {
    for (index, place) in into.iter_mut().enumerate() {
        // SAFETY: by the caller a C string, of which no zero was met so far.
        match unsafe { *from.add(index) } as u8 {
            0 => return index,
            byte => *place = byte,
        }
    }
    into.len()
}

/// The real function of a door, 0 if there is none.
pub fn real(index: usize) -> usize {
    // SAFETY: a static table of the assembly; atomics all the way.
    let table = unsafe { &memlog_reals };
    table
        .get(index)
        .map_or(0, |place| place.load(Ordering::Relaxed))
}

/// The loader's list, found from the program's own dynamic section.
unsafe fn first_map(program_headers: u64, count: u64) -> Option<*const LinkMap> {
    let headers = program_headers as *const ProgramHeader;
    let mut bias = 0u64;
    let mut dynamic = 0u64;
    for index in 0..count {
        // SAFETY: the kernel told us where the program's headers are.
        let header = unsafe { &*headers.add(index as usize) };
        match header.p_type {
            PT_PHDR => bias = program_headers.wrapping_sub(header.p_vaddr),
            PT_DYNAMIC => dynamic = header.p_vaddr,
            _ => {}
        }
    }
    if dynamic == 0 {
        return None;
    }
    let mut entry = bias.wrapping_add(dynamic) as *const Dyn;
    loop {
        // SAFETY: the section ends with DT_NULL.
        let Dyn { d_tag, d_val } = unsafe { *entry };
        match d_tag {
            DT_NULL => return None,
            DT_DEBUG if d_val != 0 => {
                // SAFETY: the loader put its r_debug there.
                let debug = unsafe { &*(d_val as *const Debug) };
                return (debug.version > 0 && !debug.map.is_null()).then_some(debug.map);
            }
            // SAFETY: not the last entry.
            _ => entry = unsafe { entry.add(1) },
        }
    }
}

/// Offers an object's definitions for the names that have none yet.
unsafe fn offer(object: &LinkMap) {
    // SAFETY: by the caller: a live object of program start.
    let Some(tables) = (unsafe { tables_of(object) }) else {
        return;
    };
    // SAFETY: a static table of the assembly.
    let reals = unsafe { &memlog_reals };
    for (place, name) in reals.iter().zip(crate::doors::NAMES) {
        if place.load(Ordering::Relaxed) == 0 {
            // SAFETY: the tables are the object's own.
            if let Some(value) = unsafe { look_up(&tables, name) } {
                place.store(object.bias.wrapping_add(value) as usize, Ordering::Relaxed);
                note_home(name, object);
            }
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
}

/// Whether malloc_usable_size is that of the allocator in use: another's would
/// read what it never wrote.
pub fn usable_is_of_malloc() -> bool {
    let [malloc, usable] = &HOMES;
    malloc.load(Ordering::Relaxed) == usable.load(Ordering::Relaxed)
}

unsafe fn tables_of(object: &LinkMap) -> Option<Tables> {
    let mut tables = Tables::default();
    let mut entry = object.dynamic;
    if entry.is_null() {
        return None;
    }
    loop {
        // SAFETY: the section ends with DT_NULL.
        let Dyn { d_tag, d_val } = unsafe { *entry };
        // glibc relocates these pointers in place, musl and the vDSO do not.
        let at = if d_val < object.bias {
            d_val.wrapping_add(object.bias)
        } else {
            d_val
        };
        match d_tag {
            DT_NULL => break,
            DT_GNU_HASH => tables.gnu_hash = at,
            DT_HASH => tables.sysv_hash = at,
            DT_STRTAB => tables.strings = at,
            DT_SYMTAB => tables.symbols = at,
            DT_VERSYM => tables.versions = at,
            _ => {}
        }
        // SAFETY: not the last entry.
        entry = unsafe { entry.add(1) };
    }
    (tables.strings != 0 && tables.symbols != 0).then_some(tables)
}

/// The value of a symbol that the object defines for everybody.
unsafe fn look_up(tables: &Tables, name: &[u8]) -> Option<u64> {
    // SAFETY: by the caller, the tables belong to a live object.
    unsafe {
        if tables.gnu_hash != 0 {
            look_up_gnu(tables, name)
        } else if tables.sysv_hash != 0 {
            look_up_sysv(tables, name)
        } else {
            None
        }
    }
}

unsafe fn look_up_gnu(tables: &Tables, name: &[u8]) -> Option<u64> {
    let base = tables.gnu_hash as *const u32;
    // SAFETY: the layout of a GNU hash table: four words, a bloom filter of
    // 64-bit words, buckets, chains.
    unsafe {
        let (buckets, first, bloom) = (*base, *base.add(1), *base.add(2));
        if buckets == 0 {
            return None;
        }
        let bucket_table = base.add(4 + 2 * bloom as usize);
        let chains = bucket_table.add(buckets as usize);
        let hash = name.iter().fold(5381u32, |hash, &byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(byte))
        });
        let mut index = *bucket_table.add((hash % buckets) as usize);
        if index < first {
            return None;
        }
        loop {
            let chained = *chains.add((index - first) as usize);
            if chained | 1 == hash | 1
                && let Some(value) = matching(tables, index, name)
            {
                return Some(value);
            }
            if chained & 1 != 0 {
                return None;
            }
            index += 1;
        }
    }
}

unsafe fn look_up_sysv(tables: &Tables, name: &[u8]) -> Option<u64> {
    let base = tables.sysv_hash as *const u32;
    // SAFETY: a System V hash table's second word is the number of symbols.
    unsafe {
        let count = *base.add(1);
        (0..count).find_map(|index| matching(tables, index, name))
    }
}

/// The symbol's value if it is a defined function of that name, in the version
/// that a plain reference gets.
unsafe fn matching(tables: &Tables, index: u32, name: &[u8]) -> Option<u64> {
    // SAFETY: an index out of the object's own hash table.
    unsafe {
        let symbol = &*(tables.symbols as *const Sym).add(index as usize);
        let kind = symbol.st_info & 15;
        if symbol.st_shndx == 0 || symbol.st_value == 0 || kind != 2 {
            return None;
        }
        if tables.versions != 0 {
            let version = *(tables.versions as *const u16).add(index as usize);
            if version & 0x8000 != 0 || version == 0 {
                return None;
            }
        }
        let text = (tables.strings + u64::from(symbol.st_name)) as *const u8;
        for (at, &byte) in name.iter().chain(&[0]).enumerate() {
            if *text.add(at) != byte {
                return None;
            }
        }
        Some(symbol.st_value)
    }
}

/// The address of a function in the kernel's own object, for the clock.
///
/// # Safety
/// `base` is 0 or where the kernel mapped the vDSO.
pub unsafe fn vdso_function(base: u64, name: &[u8]) -> usize {
    if base == 0 || name.is_empty() {
        return 0;
    }
    // SAFETY: by the caller; the vDSO is a complete ELF image in memory.
    unsafe {
        let header = &*(base as *const goblin::elf64::header::Header);
        let headers = (base + header.e_phoff) as *const ProgramHeader;
        let mut bias = base;
        let mut dynamic = 0;
        for index in 0..usize::from(header.e_phnum) {
            let part = &*headers.add(index);
            match part.p_type {
                goblin::elf64::program_header::PT_LOAD if part.p_offset == 0 => {
                    bias = base.wrapping_sub(part.p_vaddr);
                }
                PT_DYNAMIC => dynamic = part.p_vaddr,
                _ => {}
            }
        }
        let object = LinkMap {
            bias,
            name: core::ptr::null(),
            dynamic: bias.wrapping_add(dynamic) as *const Dyn,
            next: core::ptr::null(),
            previous: core::ptr::null(),
        };
        if dynamic == 0 {
            return 0;
        }
        let found = tables_of(&object).and_then(|tables| look_up(&tables, name));
        found.map_or(0, |value| bias.wrapping_add(value) as usize)
    }
}

/// malloc_usable_size of the allocator in use; 0 where it has none.
static USABLE: AtomicUsize = AtomicUsize::new(0);

/// Sets who tells usable sizes.
pub fn set_usable(function: usize) {
    USABLE.store(function, Ordering::Relaxed);
}

/// Whether the allocator tells usable sizes.
pub fn has_usable() -> bool {
    USABLE.load(Ordering::Relaxed) != 0
}

/// Bytes that a block really has.
#[inline]
pub fn usable(block: *mut u8) -> Option<u64> {
    let function = USABLE.load(Ordering::Relaxed);
    if function == 0 {
        return None;
    }
    // SAFETY: malloc_usable_size of the allocator that the blocks come from;
    // the program passed the block to its free, or just got it.
    let size_of: extern "C" fn(*mut u8) -> usize = unsafe { core::mem::transmute(function) };
    Some(size_of(block) as u64)
}
