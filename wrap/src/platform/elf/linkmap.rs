//! The loader's list of objects and their ELF tables, read in memory.
#![allow(unsafe_code)]
//! # Safety
//! The link map and the dynamic sections behind it are the loader's own data;
//! they are read after the loader made them consistent, and while nobody
//! unloads the object looked at: those of program start never are.

use crate::platform::arch;
use crate::platform::sys::width::elf::dynamic::{
    DT_DEBUG, DT_GNU_HASH, DT_HASH, DT_NULL, DT_STRTAB, DT_SYMTAB, DT_VERDEF, DT_VERSYM, Dyn,
};
use crate::platform::sys::width::elf::header::Header;
use crate::platform::sys::width::elf::program_header::{
    PT_DYNAMIC, PT_LOAD, PT_PHDR, ProgramHeader,
};
use crate::platform::sys::width::elf::sym::Sym;
use crate::platform::sys::width::wide;
use core::ffi::c_char;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// `struct r_debug` of the loader's interface to debuggers.
#[repr(C)]
struct Debug {
    version: i32,
    map: *const LinkMap,
    breakpoint: usize,
    /// 0 while nobody is changing the list.
    state: AtomicI32,
}

/// The public beginning of `struct link_map`.
#[repr(C)]
pub struct LinkMap {
    bias: usize,
    /// Its path; empty for the program.
    pub name: *const c_char,
    /// Its dynamic section.
    pub dynamic: *const Dyn,
    /// The object that was loaded next.
    pub next: *const LinkMap,
    previous: *const LinkMap,
}

impl LinkMap {
    /// What is added to the object's own addresses.
    pub fn bias(&self) -> u64 {
        self.bias as u64
    }
}

/// The tables of one object.
#[derive(Clone, Copy, Default)]
pub struct Tables {
    gnu_hash: u64,
    sysv_hash: u64,
    symbol_count: u64,
    strings: u64,
    symbols: u64,
    versions: u64,
    definitions: u64,
}

/// The loader's word to debuggers, once it was found.
static DEBUG: AtomicPtr<Debug> = AtomicPtr::new(core::ptr::null_mut());

fn debug() -> Option<&'static Debug> {
    // SAFETY: null, or the loader's own for as long as the process lives.
    unsafe { DEBUG.load(Ordering::Acquire).as_ref() }
}

/// Whether nobody is changing the loader's list.
pub fn is_list_consistent() -> bool {
    debug().is_none_or(|debug| debug.state.load(Ordering::Acquire) == 0)
}

/// The first of the loader's list, null if that was not found yet.
pub fn known_first_map() -> *const LinkMap {
    debug().map_or(core::ptr::null(), |debug| debug.map)
}

/// The loader's list, found from the program's own dynamic section.
///
/// # Safety
/// The headers are the program's, and the loader has set up the list.
pub unsafe fn first_map(program_headers: u64, count: u64) -> Option<*const LinkMap> {
    let headers = program_headers as *const ProgramHeader;
    let mut bias = None;
    let mut dynamic = 0u64;
    for index in 0..count {
        // SAFETY: the kernel told us where the program's headers are.
        let header = unsafe { &*headers.add(index as usize) };
        match header.p_type {
            PT_PHDR => bias = Some(program_headers.wrapping_sub(wide(header.p_vaddr))),
            PT_DYNAMIC => dynamic = wide(header.p_vaddr),
            _ => {}
        }
    }
    // A loader's own headers do not say where they lie.
    let Some(bias) = bias.filter(|_| dynamic != 0) else {
        // SAFETY: by the caller.
        return unsafe { map_of(told_by_name()) };
    };
    // SAFETY: the program's own section, and its tags are this processor's.
    let told = unsafe { told_by_section(bias.wrapping_add(dynamic), arch::elf::DEBUG) };
    // SAFETY: by the caller.
    unsafe { map_of(told.unwrap_or_else(told_by_name)) }
}

/// The loader's r_debug, as a program's dynamic section names it or, by one of
/// these tags, where its address stands.
///
/// # Safety
/// A dynamic section that the loader has seen.
unsafe fn told_by_section(section: u64, [from_here, place]: [u64; 2]) -> Option<u64> {
    let mut at = section;
    loop {
        // SAFETY: the section ends with DT_NULL.
        let (tag, value) = pair(unsafe { &*(at as *const Dyn) });
        let there = match tag {
            DT_NULL => return None,
            DT_DEBUG if value != 0 => return Some(value),
            tag if tag == from_here => at.wrapping_add(value),
            tag if tag == place => value,
            _ => 0,
        };
        if there != 0 {
            // SAFETY: a word of the program that the loader writes to.
            return Some(unsafe { *(there as *const usize) as u64 });
        }
        at += size_of::<Dyn>() as u64;
    }
}

/// An entry of a dynamic section: what it is of, and its value.
fn pair(entry: &Dyn) -> (u64, u64) {
    (wide(entry.d_tag), wide(entry.d_val))
}

/// The loader's r_debug where the headers do not lead to it: who runs a program
/// by naming it to the loader has the kernel tell of the loader's own.
fn told_by_name() -> u64 {
    match arch::marks::loader_debug() {
        (0, 0) => 0,
        // SAFETY: musl's pointer to it.
        (0, address) => unsafe { *(address as *const usize) as u64 },
        (debug, _) => debug,
    }
}

/// The first of its list.
///
/// # Safety
/// It is the loader's r_debug, or 0.
unsafe fn map_of(at: u64) -> Option<*const LinkMap> {
    // SAFETY: by the caller.
    let debug = unsafe { (at as *const Debug).as_ref() }?;
    DEBUG.store(at as *mut Debug, Ordering::Release);
    (debug.version > 0 && !debug.map.is_null()).then_some(debug.map)
}

/// Copies the loader's name of an object; its length.
///
/// # Safety
/// A C string.
pub unsafe fn copy_name(from: *const c_char, into: &mut [u8]) -> usize {
    for (index, place) in into.iter_mut().enumerate() {
        // SAFETY: by the caller a C string, of which no zero was met so far.
        match unsafe { *from.add(index) } as u8 {
            0 => return index,
            byte => *place = byte,
        }
    }
    into.len()
}

/// The tables of an object, if it has symbols.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn tables_of(object: &LinkMap) -> Option<Tables> {
    let mut tables = Tables::default();
    let mut entry = object.dynamic;
    if entry.is_null() {
        return None;
    }
    loop {
        // SAFETY: the section ends with DT_NULL.
        let (tag, value) = pair(unsafe { &*entry });
        // glibc relocates these pointers in place, musl and the vDSO do not.
        let at = if value < object.bias() {
            value.wrapping_add(object.bias())
        } else {
            value
        };
        match tag {
            DT_NULL => break,
            DT_GNU_HASH => tables.gnu_hash = at,
            DT_HASH => tables.sysv_hash = at,
            arch::elf::SYMBOLS => tables.symbol_count = value,
            DT_STRTAB => tables.strings = at,
            DT_SYMTAB => tables.symbols = at,
            DT_VERSYM => tables.versions = at,
            DT_VERDEF => tables.definitions = at,
            _ => {}
        }
        // SAFETY: not the last entry.
        entry = unsafe { entry.add(1) };
    }
    (tables.strings != 0 && tables.symbols != 0).then_some(tables)
}

/// The value of a symbol that the object defines.
///
/// A program that was linked with glibc names glibc's versions, so that the
/// loader takes an object's old ones as well (libc_malloc_debug has no other):
/// they count where there is no definition for references without a version.
///
/// # Safety
/// The tables are those of an object that stays loaded.
pub unsafe fn look_up(tables: &Tables, name: &[u8]) -> Option<u64> {
    let mut old = None;
    // SAFETY: by the caller; and a symbol of the object.
    unsafe {
        let found = find(tables, name, |symbol| old = Some(symbol)).or(old);
        found.map(|symbol| wide((*symbol).st_value))
    }
}

/// The symbol that the object defines for everybody.
///
/// # Safety
/// As for [`look_up`].
pub unsafe fn symbol_of(tables: &Tables, name: &[u8]) -> Option<*const Sym> {
    // SAFETY: by the caller.
    unsafe { find(tables, name, |_| {}) }
}

/// The same; tells of those that only who names their version gets.
unsafe fn find(
    tables: &Tables,
    name: &[u8],
    mut tell_old: impl FnMut(*const Sym),
) -> Option<*const Sym> {
    // SAFETY: by the caller, the tables belong to a live object.
    unsafe {
        let see = |index| match matching(tables, index, name)? {
            (symbol, Version::Default) => Some(symbol),
            (symbol, Version::Old) => {
                tell_old(symbol);
                None
            }
        };
        if tables.gnu_hash != 0 {
            look_up_gnu(tables, name, see)
        } else if tables.sysv_hash != 0 {
            look_up_sysv(tables, see)
        } else {
            (0..tables.symbol_count as u32).find_map(see)
        }
    }
}

unsafe fn look_up_gnu(
    tables: &Tables,
    name: &[u8],
    mut see: impl FnMut(u32) -> Option<*const Sym>,
) -> Option<*const Sym> {
    const WORDS: usize = size_of::<usize>() / size_of::<u32>();
    let base = tables.gnu_hash as *const u32;
    // SAFETY: the layout of a GNU hash table: four words of 32 bits, a bloom
    // filter of the machine's, buckets, chains.
    unsafe {
        let (buckets, first, bloom) = (*base, *base.add(1), *base.add(2));
        if buckets == 0 {
            return None;
        }
        let bucket_table = base.add(4 + WORDS * bloom as usize);
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
                && let Some(symbol) = see(index)
            {
                return Some(symbol);
            }
            if chained & 1 != 0 {
                return None;
            }
            index += 1;
        }
    }
}

unsafe fn look_up_sysv(
    tables: &Tables,
    see: impl FnMut(u32) -> Option<*const Sym>,
) -> Option<*const Sym> {
    let base = tables.sysv_hash as *const u32;
    // SAFETY: a System V hash table's second word is the number of symbols.
    let count = unsafe { *base.add(1) };
    (0..count).find_map(see)
}

/// Which version of a name a definition is.
enum Version {
    /// The one that a plain reference gets.
    Default,
    /// One of glibc's that only who names it gets.
    Old,
}

/// The symbol if it is a defined function of that name.
unsafe fn matching(tables: &Tables, index: u32, name: &[u8]) -> Option<(*const Sym, Version)> {
    const HIDDEN: u16 = 0x8000;
    // SAFETY: an index out of the object's own hash table.
    unsafe {
        let symbol = (tables.symbols as *const Sym).add(index as usize);
        let kind = (*symbol).st_info & 15;
        if (*symbol).st_shndx == 0 || (*symbol).st_value == 0 || kind != 2 {
            return None;
        }
        if !is_text(tables.strings + u64::from((*symbol).st_name), name) {
            return None;
        }
        if tables.versions == 0 {
            return Some((symbol, Version::Default));
        }
        match *(tables.versions as *const u16).add(index as usize) {
            0 => None,
            version if version & HIDDEN == 0 => Some((symbol, Version::Default)),
            version if is_glibc(tables, version & !HIDDEN) => Some((symbol, Version::Old)),
            _ => None,
        }
    }
}

/// Whether a C string is this one.
unsafe fn is_text(at: u64, text: &[u8]) -> bool {
    let at = at as *const u8;
    let mut pairs = text.iter().chain(&[0]).enumerate();
    // SAFETY: by the caller a C string, whose end is not passed: a zero byte
    // differs from whatever is expected before the last.
    pairs.all(|(index, &byte)| unsafe { *at.add(index) } == byte)
}

/// Whether a version that the object defines is one of glibc's.
unsafe fn is_glibc(tables: &Tables, version: u16) -> bool {
    const PREFIX: &[u8] = b"GLIBC_";
    let mut at = tables.definitions;
    while at != 0 {
        // SAFETY: the layout of a version definition: vd_version, vd_flags,
        // vd_ndx, vd_cnt, vd_hash, vd_aux, vd_next; at vd_aux first the name.
        unsafe {
            let entry = at as *const u16;
            let words = at as *const u32;
            if *entry.add(2) == version {
                let name = *((at + u64::from(*words.add(3))) as *const u32);
                let text = (tables.strings + u64::from(name)) as *const u8;
                let mut pairs = PREFIX.iter().enumerate();
                return pairs.all(|(index, &byte)| *text.add(index) == byte);
            }
            at = match *words.add(4) {
                0 => 0,
                next => at + u64::from(next),
            };
        }
    }
    false
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
        let header = &*(base as *const Header);
        let headers = (base + wide(header.e_phoff)) as *const ProgramHeader;
        let mut bias = base;
        let mut dynamic = 0;
        for index in 0..usize::from(header.e_phnum) {
            let part = &*headers.add(index);
            match part.p_type {
                PT_LOAD if part.p_offset == 0 => bias = base.wrapping_sub(wide(part.p_vaddr)),
                PT_DYNAMIC => dynamic = wide(part.p_vaddr),
                _ => {}
            }
        }
        let object = LinkMap {
            bias: bias as usize,
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

#[cfg(test)]
mod tests {
    use super::{Dyn, LinkMap, look_up, symbol_of, tables_of, told_by_section};
    use crate::platform::arch::mips64_elf;

    /// glibc has malloc for everybody, cfree for old programs only, and no
    /// mallocx.
    #[test]
    fn old_versions_are_found_where_there_is_no_other() {
        // SAFETY: glibc's handle is its link map, and libc stays loaded.
        let told = unsafe {
            let libc = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY);
            let tables = tables_of(&*libc.cast::<LinkMap>()).expect("symbols");
            let names: [&[u8]; 3] = [b"malloc", b"cfree", b"mallocx"];
            names.map(|name| {
                let is_found = look_up(&tables, name).is_some();
                (is_found, symbol_of(&tables, name).is_some())
            })
        };
        assert_eq!(told, [(true, true), (true, false), (false, false)]);
    }

    /// An object may have no hash table that is known, and say how many symbols
    /// it has.
    #[test]
    fn symbols_are_found_without_a_hash_table() {
        let [with, without] = [1, 0].map(|more| {
            // SAFETY: as above; and a symbol of the table that it is taken from.
            unsafe {
                let libc = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY);
                let mut tables = tables_of(&*libc.cast::<LinkMap>()).expect("symbols");
                let malloc = symbol_of(&tables, b"malloc").expect("malloc");
                let index = malloc.offset_from(tables.symbols as *const _);
                (tables.gnu_hash, tables.sysv_hash) = (0, 0);
                tables.symbol_count = index as u64 + more;
                symbol_of(&tables, b"malloc") == Some(malloc)
            }
        });
        assert!(with && !without);
    }

    #[test]
    fn debuggers_are_told_in_three_ways() {
        let entry = |d_tag, d_val| Dyn { d_tag, d_val };
        let [from_here, place] = mips64_elf::DEBUG;
        let word = 0x1234_u64;
        let at = &raw const word as u64;
        let told = |tag, value: &dyn Fn(u64) -> u64| {
            let mut section = [
                entry(1, 7),
                entry(super::DT_DEBUG, 0),
                entry(0, 0),
                entry(0, 0),
            ];
            let here = &raw const section[2] as u64;
            section[2] = entry(tag, value(here));
            // SAFETY: a section that ends, and a word that is there.
            unsafe { told_by_section(&raw const section as u64, mips64_elf::DEBUG) }
        };
        assert_eq!(told(super::DT_DEBUG, &|_| 0x5678), Some(0x5678));
        assert_eq!(told(from_here, &|here| at.wrapping_sub(here)), Some(word));
        assert_eq!(told(place, &|_| at), Some(word));
        assert_eq!(told(2, &|_| at), None);
    }
}
