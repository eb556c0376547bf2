//! This process's own memory: what of it can be read, and what is resident.
#![allow(unsafe_code)]
//! # Safety
//! Memory is read where the kernel has just said that it can be.

use super::call::call;
use super::{Errno, Os, Sys, readable};

/// How far down from an address memory can be read, page by page.
pub(super) fn readable_below(high: u64, bytes: u64) -> u64 {
    if Os::was_filtered() {
        return readable_one_by_one(high, bytes);
    }
    const MOST: usize = 32;
    let page = super::page_bytes();
    let first = high.wrapping_sub(1) & !page.wrapping_sub(1);
    let last = high.saturating_sub(bytes) & !page.wrapping_sub(1);
    let pages = first.saturating_sub(last).checked_div(page).unwrap_or(0);
    let count = (pages + 1).min(MOST as u64);
    let mut byte = [0u8; MOST];
    let local = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: count as usize,
    };
    // One byte of each page, downwards: the call stops at the first that
    // cannot be read.
    let mut pages = [local; MOST];
    for (index, part) in pages.iter_mut().enumerate() {
        part.iov_base = first.wrapping_sub(index as u64 * page) as *mut _;
        part.iov_len = 1;
    }
    let (local, remote) = (&raw const local as usize, &raw const pages as usize);
    let arguments = [Os::pid() as usize, local, 1, remote, count as usize, 0];
    match call(libc::SYS_process_vm_readv, arguments) {
        Ok(0) | Err(_) => high,
        Ok(read) => high
            .saturating_sub(bytes)
            .max(first.wrapping_sub((read as u64 - 1) * page)),
    }
}

/// Which pages from an address on are in memory.
pub(super) fn pages_there(at: u64, into: &mut [u8]) -> bool {
    let bytes = into.len().saturating_mul(super::page_bytes() as usize);
    let vector = into.as_mut_ptr() as usize;
    let arguments = [at as usize, bytes, vector, 0, 0, 0];
    call(libc::SYS_mincore, arguments).is_ok()
}

/// Reads it; false where there is none.
pub(super) fn read(at: u64, into: &mut [u8]) -> bool {
    // What was reckoned may lie beyond all addresses.
    if usize::try_from(at).is_err() {
        return false;
    }
    if Os::was_filtered() {
        return read_by_file(at, into);
    }
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: at as *mut _,
        iov_len: into.len(),
    };
    let (local, remote) = (&raw const local as usize, &raw const remote as usize);
    let pid = Os::pid() as usize;
    match call(libc::SYS_process_vm_readv, [pid, local, 1, remote, 1, 0]) {
        Ok(count) => count == into.len(),
        Err(Errno(libc::EFAULT)) => false,
        // A kernel or a container without this call: by the file, then.
        Err(_) => read_by_file(at, into),
    }
}

/// This process's own memory, by its file. Where an emulator maps it elsewhere
/// than the program's addresses say, that is another's: what the emulator can
/// read the program can.
fn read_by_file(at: u64, into: &mut [u8]) -> bool {
    let Ok(fd) = Os::open(b"/proc/self/mem\0") else {
        return false;
    };
    let is_read = match is_own(fd) {
        true => Os::read_at(fd, into, at) == Ok(into.len()),
        false => copy_from(at, into),
    };
    Os::close(fd);
    is_read
}

/// How far down memory can be read, by a question for each page.
fn readable_one_by_one(high: u64, bytes: u64) -> u64 {
    readable::below(high, bytes, super::page_bytes(), can_read_anyhow)
}

/// Whether the file has at our addresses what we have there.
fn is_own(fd: super::Fd) -> bool {
    static MARK: [u8; 16] = *b"this is memlog's";
    let mut there = [0; MARK.len()];
    let read = Os::read_at(fd, &mut there, MARK.as_ptr() as u64);
    read == Ok(there.len()) && there == MARK
}

/// Copies it, page by page.
fn copy_from(mut at: u64, into: &mut [u8]) -> bool {
    const PAGE: u64 = 4096;
    let mut rest = into;
    while !rest.is_empty() {
        let here = ((PAGE - at % PAGE) as usize).min(rest.len());
        let Some((part, others)) = rest.split_at_mut_checked(here) else {
            return false;
        };
        if !can_read(at & !(PAGE - 1)) {
            return false;
        }
        // SAFETY: this page can be read; nobody else's borrow is of it.
        unsafe { core::ptr::copy(at as *const u8, part.as_mut_ptr(), here) };
        (at, rest) = (at.wrapping_add(here as u64), others);
    }
    true
}

/// Whether a page can be read: a question that changes nothing, with two numbers
/// in it for a limit that does not exist. Not at its beginning, for null would be
/// no numbers.
fn can_read(page: u64) -> bool {
    const NO_LIMIT: usize = 1 << 20;
    let Ok(inside) = usize::try_from(page.wrapping_add(8)) else {
        return false;
    };
    let told = super::call::call(libc::SYS_prlimit64, [0, NO_LIMIT, inside, 0, 0, 0]);
    told == Err(super::Errno(libc::EINVAL))
}

/// The same by a call that no filter forbids. Emulators look at its numbers in
/// another order, and have no filters.
fn can_read_anyhow(page: u64) -> bool {
    let told = readable::ask(page.wrapping_add(16), super::call::call);
    told == Err(super::Errno(libc::EINVAL))
}

#[cfg(test)]
mod tests {
    use super::{can_read, can_read_anyhow, copy_from, is_own, readable_one_by_one};
    use crate::platform::sys::{Os, Sys};
    use crate::tests::memory::Guarded;

    #[test]
    fn memory_is_copied_as_far_as_it_goes() {
        let pages = Guarded::new(0x5a);
        let end = pages.end();
        let mut bytes = [0; 64];
        assert!(copy_from(end - 64, &mut bytes));
        assert_eq!(bytes, [0x5a; 64]);
        assert!(!copy_from(end - 63, &mut bytes));
        for is_there in [can_read, can_read_anyhow] {
            assert!(!is_there(end) && !is_there(0) && is_there(end - 4096));
        }
        let fd = Os::open(b"/proc/self/mem\0").unwrap();
        assert!(is_own(fd));
        Os::close(fd);
        let fd = Os::open(b"/proc/self/exe\0").unwrap();
        assert!(!is_own(fd));
        Os::close(fd);
    }

    #[test]
    fn memory_reaches_as_far_by_other_calls() {
        let pages = Guarded::new(0x5a);
        let stack = (&raw const pages as u64 + 64, 90_000);
        for (high, bytes) in [
            (pages.end(), 1),
            (pages.end(), 4096),
            (pages.end() - 7, 100),
            (pages.end() + 4096, 4096),
            (pages.end() + 1, 8),
            stack,
        ] {
            let told = readable_one_by_one(high, bytes);
            assert_eq!(told, Os::readable_below(high, bytes), "{high:#x} {bytes}");
            assert!((high - bytes..=high).contains(&told));
        }
        assert_eq!(readable_one_by_one(pages.end(), 4096), pages.end() - 4096);
        assert_eq!(readable_one_by_one(pages.end() + 8, 16), pages.end() + 8);
    }
}
