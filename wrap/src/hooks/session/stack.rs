//! The stack that a thread is on as it makes its first call.
#![allow(unsafe_code)]
//! # Safety
//! Life is On, so the thread pointer is set up.

use crate::platform::bounds::Bounds;
use crate::platform::lock::Patience;
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use core::sync::atomic::Ordering;

/// A thread whose own data is further up than this began elsewhere.
const LARGEST: u64 = 96 << 10;

/// The stack that this thread is on now, which is its own.
pub(super) fn own_stack(sp: u64, tid: u32) -> Bounds {
    /// What is below the first call seen; more is found when it is met.
    const BELOW: u64 = 96 << 10;
    // Read and not only mapped: guard pages are mapped as well, and beyond them
    // lies what is somebody else's and may be unmapped.
    let up_to = |top: u64| {
        let is_stack = top > sp && top - sp < LARGEST && Os::readable_below(top, top - sp) <= sp;
        is_stack.then(|| Bounds {
            low: Os::readable_below(sp, BELOW),
            high: top & !(crate::platform::arch::WORD - 1),
        })
    };
    // The C libraries keep a thread's own data right above its stack, which
    // spares a reading of the maps, as long as a thousand threads have lines.
    // SAFETY: life is On, so the thread pointer is set up.
    let top = unsafe { crate::platform::arch::memlog_tls_word() } as u64;
    let is_main = tid == RECORDER.ground.pid.load(Ordering::Relaxed);
    if !is_main && let Some(stack) = up_to(top) {
        return stack;
    }
    let mut stack = RECORDER
        .code
        .with(Patience::Bounded, |map| map.region(sp))
        .unwrap_or_default();
    if is_main && stack.high == 0 {
        // There are no maps. What began there goes no further up.
        // SAFETY: a function of the assembly.
        let bottom = unsafe { crate::platform::arch::memlog_stack_end() } as u64;
        stack = up_to(bottom).unwrap_or_default();
    }
    if is_main {
        // The main stack grows downwards into a gap that the kernel keeps.
        stack.low = stack.low.saturating_sub(64 << 20);
    }
    stack
}

/// The same where nothing may be asked, of a thread that was made by the C
/// library.
pub(super) fn own_stack_unasked(sp: u64) -> Bounds {
    /// A usual stack, whose lowest pages are not touched because they are known.
    const BELOW: u64 = 8 << 20;
    // SAFETY: life is On, so the thread pointer is set up.
    let top = unsafe { crate::platform::arch::memlog_tls_word() } as u64;
    match top.checked_sub(sp) {
        Some(1..LARGEST) => Bounds {
            low: sp.saturating_sub(BELOW),
            high: top & !(crate::platform::arch::WORD - 1),
        },
        _ => Bounds::default(),
    }
}
