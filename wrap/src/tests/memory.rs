//! Zeroed homes for what the recorder keeps in zeroed memory.
#![allow(unsafe_code)]
//! # Safety
//! The recorder itself begins these types as zeros; see each one's words.

use crate::log::cull::Scratch;
use crate::platform::smaps::Smaps;
use crate::process::census::pages::Pages;
use crate::unwind::cfi::FrameIndexes;
use crate::unwind::modules::Modules;
use crate::unwind::reading::Reader;
use crate::unwind::row::Machine;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by tests that read the process's maps or change them: the tests are
/// threads of one process.
pub fn maps_at_rest() -> MutexGuard<'static, ()> {
    static REST: Mutex<()> = Mutex::new(());
    REST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Types of which all zeros are a valid beginning.
///
/// # Safety
/// That is promised for `Self`.
pub unsafe trait Zeroed: Sized {
    /// A fresh one, never built on a stack.
    fn zeroed() -> Box<Self> {
        let layout = Layout::new::<Self>();
        // SAFETY: fresh zeroed memory of the type's layout, which the promise
        // of the trait makes a valid value.
        unsafe { Box::from_raw(alloc_zeroed(layout).cast::<Self>()) }
    }
}

// SAFETY: its sums are not looked at before they are written, see `Scratch`.
unsafe impl Zeroed for Scratch {}
// SAFETY: the census begins them as zeros.
unsafe impl Zeroed for Smaps {}
// SAFETY: as above.
unsafe impl Zeroed for Pages {}
// SAFETY: `codemap` begins them as zeros.
unsafe impl Zeroed for Modules {}
// SAFETY: as above.
unsafe impl Zeroed for FrameIndexes {}
// SAFETY: as above.
unsafe impl Zeroed for Machine {}
// SAFETY: as above.
unsafe impl Zeroed for Reader {}

/// A page with the same byte all over, and behind it one that may not be
/// touched.
pub struct Guarded(*mut u8);

const PAGE: usize = 64 * 1024;

impl Guarded {
    /// A fresh one.
    pub fn new(byte: u8) -> Self {
        let (prot, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a fresh mapping, of which the second half is closed and the
        // first one written to.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), 2 * PAGE, prot, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            let at = at.cast::<u8>();
            assert_eq!(
                libc::mprotect(at.add(PAGE).cast(), PAGE, libc::PROT_NONE),
                0
            );
            at.write_bytes(byte, PAGE);
            Self(at)
        }
    }

    /// The first byte that may not be touched.
    pub fn end(&self) -> u64 {
        self.0 as u64 + PAGE as u64
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nobody uses any more.
        unsafe { libc::munmap(self.0.cast(), 2 * PAGE) };
    }
}
