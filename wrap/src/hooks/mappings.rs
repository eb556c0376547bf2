//! The doors of the second ledger: the address space itself. Never part of
//! the heap's figures; marked as backing when an allocator asked for it below
//! a recorded call.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use crate::hooks::events::{self, Request};
use crate::hooks::failed;
use crate::hooks::family::{handler, next, plain};
use crate::hooks::notices;
use crate::hooks::resumed::lose_in_child;
use crate::hooks::session::{Admission, admit, is_alive};
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use memlog_format::api::Api;
use memlog_format::ext::{Ext, Ledger, Mapping};

type Address = *mut c_void;

/// What a failed call of mmap gives.
const FAILED: usize = usize::MAX;

/// What a change of the address space can do before the real call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// Take space only: its number comes after the call.
    Nothing,
    /// Give a range away, which others may get while the call lasts: a number
    /// is taken before it as well.
    Range,
}

/// What a change did.
#[derive(Clone, Copy, Default)]
struct Done {
    /// By the number taken before the call.
    gone: Option<Mapping>,
    /// By one taken after it.
    came: Option<Mapping>,
}

impl Done {
    fn came(came: Mapping) -> Self {
        Self {
            came: Some(came),
            gone: None,
        }
    }

    fn gone(gone: Mapping) -> Self {
        Self {
            gone: Some(gone),
            came: None,
        }
    }
}

/// A number that was taken before a call which did nothing: there is no gap
/// in the order, for which events would seem to be missing.
const NOTHING: Mapping = Mapping::Leave {
    address: 0,
    length: 0,
};

/// The real call, and the record of what it did. All that may write to the
/// stream comes before the first number, and each number's record right after
/// it, or the numbers and the stamps of two streams could contradict each
/// other.
fn change<T: Copy>(
    frame: &DoorFrame,
    (gives, asked): (Gives, Option<Request>),
    call: impl FnOnce() -> T,
    tell: impl FnOnce(T) -> Option<Done>,
) -> T {
    let (mut session, backing) = match admit(frame) {
        Admission::Record(session) => {
            let backing = session.is_in_operator(frame.sp());
            (session, backing)
        }
        Admission::Backing => match crate::hooks::session::aside() {
            Some(session) => (session, true),
            None => return call(),
        },
        Admission::Pass => return call(),
    };
    session.in_recorder(Some(frame));
    let stack = events::before_mapping(session.recording(), frame);
    let number = || RECORDER.ledger.fetch_add(1, Ordering::AcqRel);
    let early = (gives == Gives::Range).then(number);
    session.in_real(frame);
    let result = call();
    if session.in_recorder(Some(frame)) {
        let told = tell(result);
        if let (None, Some(asked), false) = (&told, asked, backing) {
            // First, for what follows may change errno.
            failed::mapping(session.stream(), asked, stack);
        }
        let done = told.unwrap_or_default();
        let write = |mapping, order| {
            session.stream().write_ext(&Ext::Ledger(Ledger {
                mapping,
                backing,
                order,
                stack,
            }));
        };
        if let Some(order) = early {
            write(done.gone.unwrap_or(NOTHING), order);
        }
        if let Some(mapping) = done.came {
            write(mapping, number());
        }
    } else {
        lose_in_child(session.word(), frame);
    }
    session.end();
    result
}

/// What lies in a range goes, or something else comes there, which may be a module
/// that the program's own loader has mapped. Said before, so that nobody reads there,
/// and after, for somebody may have looked in between.
fn replacing<T>(at: u64, bytes: usize, call: impl FnOnce() -> T) -> T {
    let lose = || {
        if is_alive() && RECORDER.published.lose_range(at, bytes as u64) {
            RECORDER.next_generation();
        }
    };
    lose();
    let result = call();
    lose();
    result
}

/// What is asked for, if anything.
fn asked(api: Api, size: usize) -> Option<Request> {
    (size > 0).then_some(plain(api, size))
}

#[inline(always)]
fn map(
    frame: &DoorFrame,
    (length, prot, flags): (usize, i32, i32),
    call: impl FnOnce() -> Address,
) -> Address {
    notices::remapping(frame, 0, length);
    let gives = (Gives::Nothing, asked(Api::Mmap, length));
    change(frame, gives, call, |result| {
        (result as usize != FAILED).then_some(Done::came(Mapping::Map {
            address: result as u64,
            length: length as u64,
            prot: prot as u32,
            flags: flags as u32,
        }))
    })
}

/// The two differ where a word has 32 bits.
macro_rules! mapped {
    ($offset:ty, $frame:ident, $door:ident, $at:ident, $length:ident, $prot:ident, $flags:ident,
     $fd:ident, $from:ident) => {{
        type Real = extern "C" fn(Address, usize, i32, i32, i32, $offset) -> Address;
        match next::<Real>($frame, Door::$door) {
            Some(real) => map($frame, ($length, $prot, $flags), || {
                let call = || real($at, $length, $prot, $flags, $fd, $from);
                match $flags & libc::MAP_FIXED {
                    0 => call(),
                    _ => replacing($at as u64, $length, call),
                }
            }),
            None => FAILED as Address,
        }
    }};
}

handler! {
    /// mmap
    fn memlog_on_mmap(
        at: Address, length: usize, prot: i32, flags: i32, fd: i32, from: libc::off_t,
    ) -> Address = |frame| {
        mapped!(libc::off_t, frame, Mmap, at, length, prot, flags, fd, from)
    }
}

handler! {
    /// mmap64
    fn memlog_on_mmap64(at: Address, length: usize, prot: i32, flags: i32, fd: i32, from: i64)
        -> Address = |frame| {
        mapped!(i64, frame, Mmap64, at, length, prot, flags, fd, from)
    }
}

handler! {
    /// munmap: recorded before the range can be anybody else's
    fn memlog_on_munmap(at: Address, length: usize) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(Address, usize) -> i32>(frame, Door::Munmap) else {
            return -1;
        };
        notices::remapping(frame, length, 0);
        change(
            frame,
            (Gives::Range, None),
            || replacing(at as u64, length, || real(at, length)),
            |result| {
                (result == 0).then_some(Done::gone(Mapping::Unmap {
                    address: at as u64,
                    length: length as u64,
                }))
            },
        )
    }
}

handler! {
    /// mremap
    fn memlog_on_mremap(at: Address, length: usize, new_length: usize, flags: i32, to: Address)
        -> Address = |frame| {
        type Real = extern "C" fn(Address, usize, usize, i32, Address) -> Address;
        let Some(real) = next::<Real>(frame, Door::Mremap) else {
            return FAILED as Address;
        };
        notices::remapping(frame, length, new_length);
        let stays = length == 0 || flags & libc::MREMAP_DONTUNMAP != 0;
        let may_move = flags & libc::MREMAP_MAYMOVE != 0;
        let gives = match stays || !may_move && new_length >= length {
            true => Gives::Nothing,
            false => Gives::Range,
        };
        change(
            frame,
            (gives, asked(Api::Mremap, new_length)),
            || {
                let call = || real(at, length, new_length, flags, to);
                let comes_to = match flags & libc::MREMAP_FIXED {
                    0 => (0, 0),
                    _ => (to as u64, new_length),
                };
                replacing(at as u64, length, || {
                    replacing(comes_to.0, comes_to.1, call)
                })
            },
            |result| {
                (result as usize != FAILED).then(|| {
                    let old_length = if stays { 0 } else { length };
                    moved((at, old_length), (result, new_length))
                })
            },
        )
    }
}

/// What mremap did with the old range, of which nothing goes if it is empty.
fn moved(old: (Address, usize), new: (Address, usize)) -> Done {
    let (from, to) = ((old.0 as u64, old.1 as u64), (new.0 as u64, new.1 as u64));
    let remap = |old_length| Mapping::Remap {
        old_address: from.0,
        old_length,
        address: to.0,
        length: to.1,
    };
    if from.1 == 0 || from.0 == to.0 && to.1 >= from.1 {
        Done::came(remap(from.1))
    } else if from.0 == to.0 {
        // The end of it goes, and nothing comes.
        Done::gone(remap(from.1))
    } else {
        Done {
            gone: Some(Mapping::Leave {
                address: from.0,
                length: from.1,
            }),
            came: Some(remap(0)),
        }
    }
}

handler! {
    /// brk
    fn memlog_on_brk(end: Address) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(Address) -> i32>(frame, Door::Brk) else {
            return -1;
        };
        let old_end = Os::current_break();
        notices::remapping(frame, old_end as usize, end as usize);
        change(
            frame,
            (Gives::Nothing, asked(Api::Brk, (end as usize).saturating_sub(old_end as usize))),
            || real(end),
            |result| {
                (result == 0).then_some(Done::came(Mapping::Break {
                    old_end,
                    end: end as u64,
                }))
            },
        )
    }
}

handler! {
    /// sbrk
    fn memlog_on_sbrk(by: isize) -> Address = |frame| {
        let Some(real) = next::<extern "C" fn(isize) -> Address>(frame, Door::Sbrk) else {
            return FAILED as Address;
        };
        match by < 0 {
            true => notices::remapping(frame, by.unsigned_abs(), 0),
            false => notices::remapping(frame, 0, by.unsigned_abs()),
        }
        change(
            frame,
            (Gives::Nothing, asked(Api::Sbrk, by.max(0) as usize)),
            || real(by),
            |result| {
                (result as usize != FAILED && by != 0).then_some(Done::came(Mapping::Break {
                    old_end: result as u64,
                    end: (result as u64).wrapping_add_signed(by as i64),
                }))
            },
        )
    }
}
