//! Small files, read in one go; and this process's own memory.
#![allow(unsafe_code)]
//! # Safety
//! Memory is read where the kernel has just said that it can be.

#[cfg(not(memlog_cnk))]
use super::readable;
use super::{Os, Sys};

/// The first bytes of a file whose path is a C string; none if it cannot be read.
pub(super) fn read_start<'a>(path: &[u8], into: &'a mut [u8]) -> &'a [u8] {
    let Ok(fd) = Os::open(path) else {
        return &[];
    };
    let count = Os::read(fd, into).unwrap_or(0);
    Os::close(fd);
    into.get(..count).unwrap_or(&[])
}

/// This process's own memory, by its file. Where an emulator maps it elsewhere
/// than the program's addresses say, that is another's: what the emulator can
/// read the program can.
#[cfg(not(memlog_cnk))]
pub(super) fn read_memory(at: u64, into: &mut [u8]) -> bool {
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

/// How far down from an address memory can be read, by the page.
#[cfg(not(memlog_cnk))]
pub(super) fn readable_below(high: u64, bytes: u64) -> u64 {
    readable::below(high, bytes, super::page_bytes(), can_read_anyhow)
}

/// Whether the file has at our addresses what we have there.
#[cfg(not(memlog_cnk))]
fn is_own(fd: super::Fd) -> bool {
    static MARK: [u8; 16] = *b"this is memlog's";
    let mut there = [0; MARK.len()];
    let read = Os::read_at(fd, &mut there, MARK.as_ptr() as u64);
    read == Ok(there.len()) && there == MARK
}

/// Copies it, page by page.
#[cfg(not(memlog_cnk))]
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
#[cfg(not(memlog_cnk))]
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
#[cfg(not(memlog_cnk))]
fn can_read_anyhow(page: u64) -> bool {
    let told = readable::ask(page.wrapping_add(16), super::call::call);
    told == Err(super::Errno(libc::EINVAL))
}

#[cfg(all(test, not(memlog_cnk)))]
mod tests {
    use super::{can_read, can_read_anyhow, copy_from, is_own, readable_below};
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
            let told = readable_below(high, bytes);
            assert_eq!(told, Os::readable_below(high, bytes), "{high:#x} {bytes}");
            assert!((high - bytes..=high).contains(&told));
        }
        assert_eq!(readable_below(pages.end(), 4096), pages.end() - 4096);
        assert_eq!(readable_below(pages.end() + 8, 16), pages.end() + 8);
    }
}
