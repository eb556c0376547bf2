//! The doors of the second ledger: the address space itself. Never part of
//! the heap's figures; marked as backing when an allocator asked for it below
//! a recorded call.
#![allow(unsafe_code)]
//! # Safety
//! As in `hooks`.

use crate::arch::DoorFrame;
use crate::doors::Door;
use crate::events;
use crate::hooks::{handler, next};
use crate::recorder::RECORDER;
use crate::session::{Admission, admit};
use crate::sys::{Os, Sys};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use memlog_format::ext::Mapping;

type Address = *mut c_void;

/// What a failed call of mmap gives.
const FAILED: usize = usize::MAX;

/// When a change takes its number: before the real call if it gives space
/// away, after it if it takes space, so that the numbers tell the truth of
/// who had a range first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Before,
    After,
}

/// The real call, and the record of what it did.
fn change<T: Copy>(
    frame: &DoorFrame,
    number: Number,
    call: impl FnOnce() -> T,
    tell: impl FnOnce(T) -> Option<Mapping>,
) -> T {
    let (mut session, backing) = match admit(frame) {
        Admission::Record(session) => {
            let backing = session.is_in_operator(frame.sp());
            (session, backing)
        }
        Admission::Backing => match crate::session::aside() {
            Some(session) => (session, true),
            None => return call(),
        },
        Admission::Pass => return call(),
    };
    let take = || RECORDER.ledger.fetch_add(1, Ordering::AcqRel);
    let early = (number == Number::Before).then(take);
    session.in_real(frame);
    let result = call();
    if session.in_recorder(Some(frame))
        && let Some(mapping) = tell(result)
    {
        let order = early.unwrap_or_else(take);
        events::mapped(&session, frame, mapping, backing, order);
    }
    session.end();
    result
}

#[inline(always)]
fn map(frame: &DoorFrame, door: Door, arguments: (Address, usize, i32, i32, i32, i64)) -> Address {
    type Real = extern "C" fn(Address, usize, i32, i32, i32, i64) -> Address;
    let Some(real) = next::<Real>(frame, door) else {
        return FAILED as Address;
    };
    let (at, length, prot, flags, fd, offset) = arguments;
    change(
        frame,
        Number::After,
        || real(at, length, prot, flags, fd, offset),
        |result| {
            (result as usize != FAILED).then_some(Mapping::Map {
                address: result as u64,
                length: length as u64,
                prot: prot as u32,
                flags: flags as u32,
            })
        },
    )
}

handler! {
    /// mmap
    fn memlog_on_mmap(at: Address, length: usize, prot: i32, flags: i32, fd: i32, offset: i64)
        -> Address = |frame| {
        map(frame, Door::Mmap, (at, length, prot, flags, fd, offset))
    }
}

handler! {
    /// mmap64
    fn memlog_on_mmap64(at: Address, length: usize, prot: i32, flags: i32, fd: i32, offset: i64)
        -> Address = |frame| {
        map(frame, Door::Mmap64, (at, length, prot, flags, fd, offset))
    }
}

handler! {
    /// munmap: recorded before the range can be anybody else's
    fn memlog_on_munmap(at: Address, length: usize) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(Address, usize) -> i32>(frame, Door::Munmap) else {
            return -1;
        };
        crate::notices::unmapping(frame, length);
        change(
            frame,
            Number::Before,
            || real(at, length),
            |result| {
                (result == 0).then_some(Mapping::Unmap {
                    address: at as u64,
                    length: length as u64,
                })
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
        change(
            frame,
            Number::After,
            || real(at, length, new_length, flags, to),
            |result| {
                (result as usize != FAILED).then_some(Mapping::Remap {
                    old_address: at as u64,
                    old_length: length as u64,
                    address: result as u64,
                    length: new_length as u64,
                })
            },
        )
    }
}

handler! {
    /// brk
    fn memlog_on_brk(end: Address) -> i32 = |frame| {
        let Some(real) = next::<extern "C" fn(Address) -> i32>(frame, Door::Brk) else {
            return -1;
        };
        let old_end = Os::current_break();
        change(
            frame,
            Number::After,
            || real(end),
            |result| {
                (result == 0).then_some(Mapping::Break {
                    old_end,
                    end: end as u64,
                })
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
        change(
            frame,
            Number::After,
            || real(by),
            |result| {
                (result as usize != FAILED && by != 0).then_some(Mapping::Break {
                    old_end: result as u64,
                    end: (result as u64).wrapping_add_signed(by as i64),
                })
            },
        )
    }
}
