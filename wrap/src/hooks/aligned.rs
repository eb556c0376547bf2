//! The doors that take an alignment, or have one of their own.
#![allow(unsafe_code)]
//! # Safety
//! As in `family`.

use crate::hooks::events::Request;
use crate::hooks::family::{Block, allocate, handler, next, plain};
use crate::platform::arch::DoorFrame;
use crate::platform::doors::Door;
use crate::platform::early;
use core::ptr::null_mut;
use memlog_format::api::Api;

/// Logarithm of an alignment, rounded up as memalign does.
pub(crate) fn log2_of(alignment: usize) -> u8 {
    alignment
        .checked_next_power_of_two()
        .map_or(63, |power| power.trailing_zeros() as u8)
}

/// The three that take an alignment and give a block.
#[inline(always)]
fn aligned(frame: &DoorFrame, door: Door, api: Api, alignment: usize, size: usize) -> Block {
    match next::<extern "C" fn(usize, usize) -> Block>(frame, door) {
        Some(real) => {
            let request = Request {
                api,
                size,
                alignment_log2: log2_of(alignment),
            };
            allocate(frame, request, || real(alignment, size))
        }
        None => early::allocate(size, alignment),
    }
}

handler! {
    /// memalign
    fn memlog_on_memalign(alignment: usize, size: usize) -> Block = |frame| {
        aligned(frame, Door::Memalign, Api::Memalign, alignment, size)
    }
}

handler! {
    /// aligned_alloc
    fn memlog_on_aligned_alloc(alignment: usize, size: usize) -> Block = |frame| {
        aligned(frame, Door::AlignedAlloc, Api::AlignedAlloc, alignment, size)
    }
}

handler! {
    /// posix_memalign
    fn memlog_on_posix_memalign(out: *mut Block, alignment: usize, size: usize) -> i32 = |frame| {
        type Real = extern "C" fn(*mut Block, usize, usize) -> i32;
        let Some(real) = next::<Real>(frame, Door::PosixMemalign) else {
            return libc::ENOMEM;
        };
        let request = Request {
            api: Api::PosixMemalign,
            size,
            alignment_log2: match alignment.is_power_of_two() {
                true => log2_of(alignment),
                false => Request::NO_ALIGNMENT,
            },
        };
        let mut result = 0;
        allocate(frame, request, || {
            result = real(out, alignment, size);
            // SAFETY: on success the function has written its result there.
            if result == 0 { unsafe { *out } } else { null_mut() }
        });
        result
    }
}

handler! {
    /// valloc
    fn memlog_on_valloc(size: usize) -> Block = |frame| {
        match next::<extern "C" fn(usize) -> Block>(frame, Door::Valloc) {
            Some(real) => allocate(frame, plain(Api::Valloc, size), || real(size)),
            None => early::allocate(size, 4096),
        }
    }
}

handler! {
    /// pvalloc
    fn memlog_on_pvalloc(size: usize) -> Block = |frame| {
        match next::<extern "C" fn(usize) -> Block>(frame, Door::Pvalloc) {
            Some(real) => allocate(frame, plain(Api::Pvalloc, size), || real(size)),
            None => early::allocate(size.next_multiple_of(4096), 4096),
        }
    }
}
