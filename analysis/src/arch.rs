//! What processors have and Rust does not: memory can be asked for before it is needed.

#![allow(unsafe_code)]

/// A line of the processor's cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the processor to have a value at hand, and does not wait.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place: *const i8 = std::ptr::from_ref(value).cast();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: it reads nothing; even an address of nothing would do.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
