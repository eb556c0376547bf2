//! Homes for what the recorder keeps in zeroed memory.
#![allow(unsafe_code)]
//! # Safety
//! The recorder itself begins these types as zeros.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

use memlog_wrap::unwind::cfi::FrameIndexes;
use memlog_wrap::unwind::row::Machine;

/// Types of which all zeros are a valid beginning.
///
/// # Safety
/// That is promised for `Self`.
pub unsafe trait Zeroed: Sized {
    /// A fresh one, never built on a stack.
    fn zeroed() -> Box<Self> {
        let layout = Layout::new::<Self>();
        // SAFETY: a layout that is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: fresh zeroed memory of the type's layout, which the promise
        // of the trait makes a valid value.
        unsafe { Box::from_raw(memory.cast::<Self>()) }
    }
}

// SAFETY: `codemap` begins them as zeros.
unsafe impl Zeroed for FrameIndexes {}
// SAFETY: as above.
unsafe impl Zeroed for Machine {}
