//! Functions that this libc does not have are not to be found in us either: a
//! program that asks dlsym for free_sized takes another path than natively.
//!
//! Which they are is known when the next definitions were looked for. Then
//! their entries in our own symbol table become undefined ones, which the
//! loader passes over.
#![allow(unsafe_code)]
//! # Safety
//! Our own tables, in a segment of ours that is made writable for the moment;
//! the loader may read an entry meanwhile, and finds it as it was or undefined.

use crate::platform::doors::{Door, NAMES};
use crate::platform::elf::linkmap::{LinkMap, symbol_of, tables_of};
use crate::platform::sys::width::elf::header::Header;
use crate::platform::sys::width::elf::program_header::{PF_R, PF_W, PF_X, PT_LOAD, ProgramHeader};
use crate::platform::sys::width::elf::sym::Sym;
use crate::platform::sys::width::{AtomicWord, wide};
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicU16, Ordering};

/// Those may come with a library that is loaded later.
const LATE: [Door; 2] = [Door::RegisterFrame, Door::DeregisterFrame];

/// Takes out of `own`, which is us, what no object of program start defines for
/// everybody.
///
/// # Safety
/// The object is ours, and `first` the first of the loader's list.
pub unsafe fn hide(own: &LinkMap, first: *const LinkMap) {
    // SAFETY: by the caller.
    let Some(tables) = (unsafe { tables_of(own) }) else {
        return;
    };
    for (index, name) in NAMES.iter().enumerate() {
        let is_late = LATE.iter().any(|&door| door as usize == index);
        // SAFETY: by the caller.
        if is_late || unsafe { is_anywhere_but(own, first, name) } {
            continue;
        }
        // SAFETY: the object's own tables.
        if let Some(symbol) = unsafe { symbol_of(&tables, name) } {
            // SAFETY: an entry of ours.
            unsafe { undefine(own, symbol.cast_mut()) };
        }
    }
}

unsafe fn is_anywhere_but(own: &LinkMap, first: *const LinkMap, name: &[u8]) -> bool {
    let mut map = first;
    while !map.is_null() {
        // SAFETY: a live node of the loader's list, and the object's own tables.
        let (object, found) = unsafe {
            let object = &*map;
            let tables = tables_of(object);
            (object, tables.and_then(|tables| symbol_of(&tables, name)))
        };
        if found.is_some() && !core::ptr::eq(object, own) {
            return true;
        }
        map = object.next;
    }
    false
}

unsafe fn undefine(own: &LinkMap, symbol: *mut Sym) {
    let Some(is_writable) = is_writable(own, symbol as u64) else {
        return;
    };
    let page = crate::platform::sys::page_bytes().max(4096);
    let low = symbol as u64 & !(page - 1);
    let bytes = (symbol as u64 + size_of::<Sym>() as u64 - low).next_multiple_of(page) as usize;
    // SAFETY: whole pages of our own segment; entries are aligned words.
    unsafe {
        if !is_writable && !Os::make_writable(low as *mut u8, bytes, true, false) {
            return;
        }
        AtomicWord::from_ptr(&raw mut (*symbol).st_value).store(0, Ordering::Relaxed);
        AtomicU16::from_ptr(&raw mut (*symbol).st_shndx).store(0, Ordering::Relaxed);
        if !is_writable {
            Os::make_writable(low as *mut u8, bytes, false, false);
        }
    }
}

/// Whether the segment that an address lies in can be written to; nothing if it
/// holds code as well, which is left alone.
fn is_writable(own: &LinkMap, address: u64) -> Option<bool> {
    // SAFETY: our first segment begins with our header, at address 0 of our own
    // numbering; checked by its magic.
    unsafe {
        let header = &*(own.bias() as *const Header);
        if header.e_ident.get(..4) != Some(b"\x7fELF") {
            return None;
        }
        let headers = own.bias().wrapping_add(wide(header.e_phoff)) as *const ProgramHeader;
        for index in 0..usize::from(header.e_phnum) {
            let part = &*headers.add(index);
            let low = own.bias().wrapping_add(wide(part.p_vaddr));
            if part.p_type == PT_LOAD && (low..low + wide(part.p_memsz)).contains(&address) {
                let is_data = part.p_flags & (PF_R | PF_X) == PF_R;
                return is_data.then_some(part.p_flags & PF_W != 0);
            }
        }
    }
    None
}
