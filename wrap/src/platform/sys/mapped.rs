//! Windows of a file in memory, and the page by which the next is reached.
//!
//! A mapping can be made longer and moved (mremap), and goes on in its file. So
//! a page that is mapped where the next window begins, a *foothold*, becomes
//! that window without a descriptor, a path or a right to the file, as long as
//! the file is that long already.

use super::call::call;
use super::{Errno, Fd, page_bytes, width};

/// Populates a window for writing, so that a full disk is an error now and
/// not a SIGBUS later.
const MADV_POPULATE_WRITE: usize = 23;
/// Windows of at least this size are placed on such a boundary, where file
/// systems have large folios and one fault maps them all.
const HUGE: usize = 2 << 20;

fn map(fd: Fd, offset: u64, bytes: usize, at: usize, flags: libc::c_int) -> Result<usize, Errno> {
    let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = libc::MAP_SHARED | flags;
    width::map(at, bytes, prot, flags, Some((fd, offset)))
}

/// See [`super::Sys::map_window`].
pub(super) fn map_window(fd: Fd, offset: u64, bytes: usize, ready: bool) -> Result<*mut u8, Errno> {
    let at = if bytes >= HUGE {
        let gap = aligned_gap(bytes)?;
        let mapped = map(fd, offset, bytes, gap, libc::MAP_FIXED);
        mapped.inspect_err(|_| unmap(gap, bytes))?
    } else {
        map(fd, offset, bytes, 0, 0)?
    };
    touch_alone(at, bytes, ready);
    let begun = match ready {
        true => make_ready(at, bytes),
        false => Ok(()),
    };
    begun.inspect_err(|_| unmap(at, bytes))?;
    Ok(at as *mut u8)
}

/// See [`super::Sys::move_window`].
pub(super) fn move_window(from: usize, bytes: usize, over: usize) -> Result<(), Errno> {
    let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as usize;
    call(libc::SYS_mremap, [from, bytes, bytes, flags, over, 0]).map(|_| ())
}

/// See [`super::Sys::map_foothold`].
pub(super) fn map_foothold(fd: Fd, offset: u64) -> Result<*mut u8, Errno> {
    let at = map(fd, offset, page_bytes() as usize, 0, 0)?;
    Ok(at as *mut u8)
}

/// See [`super::Sys::step_forward`].
pub(super) fn step_forward(
    foothold: &mut *mut u8,
    bytes: usize,
    unit: usize,
    ready: bool,
) -> Result<(*mut u8, usize), Errno> {
    let page = page_bytes() as usize;
    let whole = bytes + page;
    let (fixed, place) = match bytes >= HUGE {
        true => (libc::MREMAP_FIXED, aligned_gap(whole)?),
        false => (0, 0),
    };
    let flags = (libc::MREMAP_MAYMOVE | fixed) as usize;
    let from = *foothold as usize;
    let moved = call(libc::SYS_mremap, [from, page, whole, flags, place, 0]);
    let at = moved.inspect_err(|_| unmap(place, if place == 0 { 0 } else { whole }))?;
    let mut used = bytes;
    let populated = loop {
        touch_alone(at, used, ready);
        if !ready {
            break Ok(());
        }
        match make_ready(at, used) {
            Err(Errno(libc::ENOSPC)) if used > unit => used = (used / 2).max(unit) / unit * unit,
            done => break done,
        }
    };
    if populated.is_err() {
        used = 0;
    }
    *foothold = (at + used) as *mut u8;
    unmap(at + used + page, bytes - used);
    populated.map(|()| (at as *mut u8, used))
}

/// Where a page that is touched is to bring no others in: in a window whose pages
/// are made ready one by one, and in a small one. A file system fills what lies ahead
/// in the file with zeros, as far as it is set up to read ahead, which may be
/// megabytes; most logs are small.
fn touch_alone(at: usize, bytes: usize, ready: bool) {
    if !ready || bytes < HUGE {
        let advice = [at, bytes, libc::MADV_RANDOM as usize, 0, 0, 0];
        let _ = call(libc::SYS_madvise, advice);
    }
}

/// Makes a window's pages ready to be written to, or says what is missing.
pub(super) fn make_ready(at: usize, bytes: usize) -> Result<(), Errno> {
    let advice = [at, bytes, MADV_POPULATE_WRITE, 0, 0, 0];
    let done = call(libc::SYS_madvise, advice);
    done.map(|_| ()).map_err(|error| match error {
        // What the kernel says where the file system has no room.
        Errno(libc::EFAULT | libc::ENOMEM) => Errno(libc::ENOSPC),
        other => other,
    })
}

/// Unmaps, if there is anything.
pub(super) fn unmap(at: usize, bytes: usize) {
    if bytes > 0 {
        let _ = call(libc::SYS_munmap, [at, bytes, 0, 0, 0, 0]);
    }
}

/// An aligned place for a window, reserved so that it can be taken.
fn aligned_gap(bytes: usize) -> Result<usize, Errno> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let length = bytes + HUGE;
    let start = width::map(0, length, 0, flags, None)?;
    let at = (start + HUGE - 1) & !(HUGE - 1);
    unmap(start, at - start);
    unmap(at + bytes, start + length - (at + bytes));
    Ok(at)
}
