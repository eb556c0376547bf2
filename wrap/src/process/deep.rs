//! Libraries that the loader binds past us, and what is done before the first
//! of them is loaded.
//!
//! RTLD_DEEPBIND has the names of a library looked for in the library itself
//! and in what it needs before they are looked for among what is preloaded: its
//! malloc is the C library's own. So the symbols of our next definitions are
//! made to lead to our doors, in the tables of the objects that they lie in:
//! whoever binds to such a function from then on comes through the door, at once
//! or lazily, by dlsym as well, its constructors included. The library itself is
//! not touched, and a name that it would find elsewhere it finds there still.
//!
//! What cannot be recorded is named in the log: a library that comes with a C
//! library of its own (dlmopen), and one that may bind to another allocator than
//! the one behind our doors.
#![allow(unsafe_code)]
//! # Safety
//! The tables are those of objects of program start, which stay; their entries
//! are words that the loader reads at any time, and finds as they were or as
//! they will be.

use crate::platform::arch;
use crate::platform::doors::{Door, NAMES};
use crate::platform::elf::linkmap::{LinkMap, Tables, copy_name, symbol_of, tables_of};
use crate::platform::lock::Patience;
use crate::platform::maps::each_line;
use crate::platform::sys::width::elf::sym::Sym;
use crate::platform::sys::width::{AtomicWord, wide};
use crate::platform::sys::{Os, Sys};
use crate::process::attached;
use crate::process::real::{each_at_start, real};
use crate::process::recorder::RECORDER;
use core::ffi::c_char;
use core::sync::atomic::Ordering;
use memlog_format::meta::{Key, Past, Record};

/// Libraries that are named at most.
const MOST_NAMED: usize = 64;
/// Longest name that is kept, with the reason before it.
const MOST_TEXT: usize = 1024;
/// Room for a line of the maps, whose path may be as long as any.
const BUFFER: usize = 8192;

/// What is known of libraries that are bound past us.
pub struct Deep {
    /// What came of redirecting the names, once that was tried.
    tried: Option<Redirected>,
    /// Hashes of what was named so far.
    named: [u64; MOST_NAMED],
    count: usize,
    text: [u8; MOST_TEXT],
    buffer: [u8; BUFFER],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirected {
    /// Who binds to any allocator binds to us.
    All,
    /// There is another allocator behind ours.
    NotOther,
    /// It was not allowed.
    Refused,
}

/// A library is about to be loaded that is bound past us: for this reason, or
/// by RTLD_DEEPBIND.
///
/// # Safety
/// The name is a C string, and the real functions were looked for.
#[cold]
pub unsafe fn loading(past: Option<Past>, name: *const c_char) {
    RECORDER.deep.with(Patience::Bounded, |deep| {
        // SAFETY: by the caller.
        let past = past.or_else(|| match unsafe { deep.redirect() } {
            Redirected::All => None,
            Redirected::NotOther => Some(Past::OtherAllocator),
            Redirected::Refused => Some(Past::Refused),
        });
        if let Some(past) = past {
            // SAFETY: by the caller.
            unsafe { deep.tell(past, name) };
        }
    });
}

impl Default for Deep {
    fn default() -> Self {
        Self::new()
    }
}

impl Deep {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self {
            tried: None,
            named: [0; MOST_NAMED],
            count: 0,
            text: [0; MOST_TEXT],
            buffer: [0; BUFFER],
        }
    }

    /// Once, for all libraries that come.
    unsafe fn redirect(&mut self) -> Redirected {
        if let Some(tried) = self.tried {
            return tried;
        }
        // Who attaches does that at once.
        if attached::is_attached() {
            return Redirected::All;
        }
        // SAFETY: a function of the doors, or the stand-in without them.
        let own_dynamic = unsafe { arch::memlog_own_dynamic() };
        let mut own = None;
        let mut is_anothers = false;
        let mut redirected = Redirected::All;
        // SAFETY: by the caller of `loading`.
        unsafe {
            each_at_start(|object| {
                if object.dynamic as u64 == own_dynamic {
                    own = tables_of(object).map(|tables| (object.bias(), tables));
                }
            });
            let Some(own) = own else {
                return Redirected::Refused;
            };
            let mut is_behind = false;
            each_at_start(|object| {
                let is_own = object.dynamic as u64 == own_dynamic;
                is_behind |= is_own;
                let Some(tables) = tables_of(object).filter(|_| is_behind && !is_own) else {
                    return;
                };
                is_anothers |= defines_another_malloc(object, &tables);
                if !redirect_in(object, &tables, &own, &mut self.buffer) {
                    redirected = Redirected::Refused;
                }
            });
        }
        if redirected == Redirected::All && is_anothers {
            redirected = Redirected::NotOther;
        }
        self.tried = Some(redirected);
        redirected
    }

    /// Names a library, once.
    unsafe fn tell(&mut self, past: Past, name: *const c_char) {
        let Some((first, rest)) = self.text.split_first_mut() else {
            return;
        };
        *first = past as u8;
        // SAFETY: by the caller of `loading`.
        let length = unsafe { copy_name(name, rest) };
        let text = self.text.get(..=length).unwrap_or(&[]);
        let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut named = self.named.iter().take(self.count);
        if length == 0 || named.any(|&one| one == hash) {
            return;
        }
        let Some(place) = self.named.get_mut(self.count) else {
            return;
        };
        *place = hash;
        self.count += 1;
        RECORDER.log.meta.with(Patience::Bounded, |meta| {
            meta.append(&RECORDER.log, &Record::Text(Key::PastUs, text));
        });
    }
}

/// Whether the object has a malloc that is not behind our door.
unsafe fn defines_another_malloc(object: &LinkMap, tables: &Tables) -> bool {
    let index = Door::Malloc as usize;
    let name = NAMES.get(index).copied().unwrap_or(&[]);
    // SAFETY: by the caller, the object's own tables.
    let symbol = unsafe { symbol_of(tables, name) };
    // SAFETY: an entry of the table.
    symbol.is_some_and(|symbol| unsafe { address_of(object, symbol) } != real(index))
}

/// Where a symbol leads to.
unsafe fn address_of(object: &LinkMap, symbol: *const Sym) -> usize {
    // SAFETY: by the caller, an entry of the object's table.
    let value = wide(unsafe { (*symbol).st_value });
    object.bias().wrapping_add(value) as usize
}

/// Runs over the object's entries for functions behind our doors: the entry and
/// what leads it to the door.
unsafe fn each_entry(
    object: &LinkMap,
    tables: &Tables,
    (own_bias, own): &(u64, Tables),
    mut see: impl FnMut(*const Sym, u64),
) {
    for (index, name) in NAMES.iter().enumerate() {
        // SAFETY: by the caller, objects' own tables and their entries.
        unsafe {
            if let Some(symbol) = symbol_of(tables, name)
                && address_of(object, symbol) == real(index)
                && let Some(door) = symbol_of(own, name)
            {
                let door = own_bias.wrapping_add(wide((*door).st_value));
                see(symbol, door.wrapping_sub(object.bias()));
            }
        }
    }
}

/// Leads them to our doors; false if it is not allowed.
unsafe fn redirect_in(
    object: &LinkMap,
    tables: &Tables,
    own: &(u64, Tables),
    buffer: &mut [u8],
) -> bool {
    let (mut low, mut high) = (u64::MAX, 0);
    // SAFETY: by the caller.
    unsafe {
        each_entry(object, tables, own, |symbol, _| {
            let at = symbol as u64;
            (low, high) = (low.min(at), high.max(at + size_of::<Sym>() as u64));
        });
    }
    if low >= high {
        return true;
    }
    let page = crate::platform::sys::page_bytes().max(4096);
    let (low, high) = (low & !(page - 1), high.next_multiple_of(page));
    let mut rights = None;
    each_line(&RECORDER.ground, buffer, |line| {
        if line.low <= low && high <= line.high && !line.shared {
            rights = Some((line.writable, line.executable));
        }
    });
    let Some((is_writable, has_code)) = rights else {
        return false;
    };
    let (at, bytes) = (low as *mut u8, (high - low) as usize);
    // SAFETY: whole pages of a file that is mapped privately, as the maps say;
    // nobody but the loader writes to them, and at start only. Entries are
    // aligned words.
    unsafe {
        if !is_writable && !Os::make_writable(at, bytes, true, has_code) {
            return false;
        }
        each_entry(object, tables, own, |symbol, value| {
            let place = &raw mut (*symbol.cast_mut()).st_value;
            AtomicWord::from_ptr(place).store(value as _, Ordering::Release);
        });
        is_writable || Os::make_writable(at, bytes, false, has_code)
    }
}
