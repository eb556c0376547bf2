//! Whether the process has rights that who started it lacks.
//!
//! The auxiliary vector says so, as AT_SECURE, but a process that was given
//! rights cannot always read its own: the kernel then keeps what is under
//! /proc/self from everybody but root, or there may be no /proc. This is for
//! those to whom the vector said nothing.
#![allow(unsafe_code)]
//! # Safety
//! As in `linux`: raw system calls with buffers of their own lengths.

use super::call::call;
use super::linux::Linux;
use super::{Errno, Sys};

/// `PR_GET_AUXV`, since Linux 6.4.
const PR_GET_AUXV: usize = 0x4155_5856;
const AT_SECURE: usize = 23;
/// Pairs of the auxiliary vector that are looked at; kernels put the one wanted before the twentieth.
const PAIRS: usize = 32;

/// See [`Sys::has_others_rights`]. When in doubt it has.
pub(super) fn are_anothers() -> bool {
    told_by_kernel().unwrap_or_else(|| !is_plain())
}

/// What the kernel says, if it is one that can be asked.
fn told_by_kernel() -> Option<bool> {
    let mut vector = [[0usize; 2]; PAIRS];
    let (at, bytes) = (vector.as_mut_ptr() as usize, size_of_val(&vector));
    call(libc::SYS_prctl, [PR_GET_AUXV, at, bytes, 0, 0, 0]).ok()?;
    let pair = vector.iter().find(|pair| pair[0] == AT_SECURE);
    pair.map(|pair| pair[1] != 0)
}

/// Whether an older kernel that shows no vector shows all the same that nothing
/// was gained: the ids are one, nobody is kept from the vector, and there are
/// no capabilities.
fn is_plain() -> bool {
    let id = |number| call(number, [0; 6]);
    let user = id(libc::SYS_getuid);
    if user != id(libc::SYS_geteuid) || id(libc::SYS_getgid) != id(libc::SYS_getegid) {
        return false;
    }
    let shown = Linux::open(b"/proc/self/auxv\0").map(Linux::close);
    if let Err(Errno(libc::EACCES | libc::EPERM)) = shown {
        return false;
    }
    let what = libc::PR_GET_DUMPABLE as usize;
    let is_dumpable = call(libc::SYS_prctl, [what, 0, 0, 0, 0, 0]) == Ok(1);
    is_dumpable && (user == Ok(0) || !has_capabilities())
}

/// `_LINUX_CAPABILITY_VERSION_3`, whose sets are two words each.
const VERSION: u32 = 0x2008_0522;

/// Whether there are any, or that cannot be found out.
fn has_capabilities() -> bool {
    let header = [VERSION, 0];
    // Effective, permitted and inheritable, twice.
    let mut sets = [[0u32; 3]; 2];
    let (header, at) = (&raw const header as usize, &raw mut sets as usize);
    let told = call(libc::SYS_capget, [header, at, 0, 0, 0, 0]);
    told.is_err() || sets.iter().any(|&[_, permitted, _]| permitted != 0)
}

#[cfg(test)]
mod tests {
    use super::{are_anothers, has_capabilities, is_plain, told_by_kernel};

    /// Of a test nobody gave rights to; what others see is in tests/permissions.
    #[test]
    fn an_ordinary_process_has_its_own_rights() {
        assert!(!are_anothers() && is_plain());
        assert_ne!(told_by_kernel(), Some(true));
        // SAFETY: it only asks.
        let is_root = unsafe { libc::getuid() } == 0;
        assert!(is_root || !has_capabilities());
    }
}
