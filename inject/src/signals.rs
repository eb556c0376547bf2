//! Signals wait while a thread of another process has registers of ours: who ends memlog
//! then would end that program too.
#![allow(unsafe_code)]
//! # Safety
//! Sets of signals are on this stack, and made before they are read.

use std::mem::MaybeUninit;

/// What this thread took before.
pub struct KeptBack(libc::sigset_t);

/// Keeps all signals back that can be, from this thread and those that it makes.
pub fn keep_back() -> KeptBack {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: see the head.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        KeptBack(before.assume_init())
    }
}

impl Drop for KeptBack {
    fn drop(&mut self) {
        // SAFETY: see the head.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
    }
}
