//! Zeroed homes for what the recorder keeps in zeroed memory.
#![allow(unsafe_code)]
//! # Safety
//! The recorder itself begins these types as zeros; see each one's words.

use crate::modules::Modules;
use crate::unwind::cfi::FrameIndexes;
use crate::unwind::code::Reader;
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

// SAFETY: `codemap` begins them as zeros.
unsafe impl Zeroed for Modules {}
// SAFETY: as above.
unsafe impl Zeroed for FrameIndexes {}
// SAFETY: as above.
unsafe impl Zeroed for Machine {}
// SAFETY: as above.
unsafe impl Zeroed for Reader {}
