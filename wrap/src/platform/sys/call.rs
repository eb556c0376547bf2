//! One raw system call, and the paths that are handed to it.
#![allow(unsafe_code)]
//! # Safety
//! The platforms pass what the call of a number expects.

use super::Errno;
use crate::platform::arch;

#[inline]
pub(super) fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: see the head of this file.
    let result = unsafe { arch::memlog_syscall(number, a, b, c, d, e, f) };
    // The kernel's errors are the last 4095 values.
    if (-4095..0).contains(&result) {
        Err(Errno(-result as i32))
    } else {
        Ok(result as usize)
    }
}

/// The address of a C string; an unterminated one becomes the empty path,
/// which no call accepts.
pub(super) fn path_of(path: &[u8]) -> usize {
    match path.last() {
        Some(0) => path.as_ptr() as usize,
        _ => c"".as_ptr() as usize,
    }
}
