//! What a word of 32 bits makes of ELF files and of the kernel's calls: what has
//! 64 bits goes in two words, the lower first, and has calls of its own.
#![allow(unsafe_code)]
//! # Safety
//! A struct of the kernel's is zeroed and handed to be filled.

use super::call::call;
use super::{Errno, Fd, FileId};
use core::sync::atomic::AtomicU32;

/// The tables of files of this width.
pub use goblin::elf32 as elf;

/// An address in those.
pub type Word = u32;
/// One that others may read meanwhile.
pub type AtomicWord = AtomicU32;

/// An address in those, as the recorder has all of them.
#[inline(always)]
pub const fn wide(word: Word) -> u64 {
    word as u64
}

/// Whether a number of two words begins with an even one of the arguments.
const PAIRS_ARE_EVEN: bool = cfg!(target_arch = "arm");

fn halves(number: u64) -> [usize; 2] {
    [number as usize, (number >> 32) as usize]
}

/// mmap2, which counts files in units of 4096 bytes whatever the page is.
pub(super) fn map(
    at: usize,
    bytes: usize,
    prot: usize,
    flags: libc::c_int,
    file: Option<(Fd, u64)>,
) -> Result<usize, Errno> {
    let (fd, unit) = match file {
        Some((fd, offset)) => {
            let unit = usize::try_from(offset / 4096).map_err(|_| Errno(libc::EOVERFLOW))?;
            (fd.0 as usize, unit)
        }
        None => (usize::MAX, 0),
    };
    call(libc::SYS_mmap2, [at, bytes, prot, flags as usize, fd, unit])
}

/// pread64 and pwrite64.
pub(super) fn transfer(
    number: libc::c_long,
    fd: Fd,
    at: usize,
    bytes: usize,
    offset: u64,
) -> Result<usize, Errno> {
    let (fd, [low, high]) = (fd.0 as usize, halves(offset));
    match PAIRS_ARE_EVEN {
        true => call(number, [fd, at, bytes, 0, low, high]),
        false => call(number, [fd, at, bytes, low, high, 0]),
    }
}

/// ftruncate64.
pub(super) fn set_length(fd: Fd, bytes: u64) -> Result<(), Errno> {
    let (fd, [low, high]) = (fd.0 as usize, halves(bytes));
    let arguments = match PAIRS_ARE_EVEN {
        true => [fd, 0, low, high, 0, 0],
        false => [fd, low, high, 0, 0, 0],
    };
    call(libc::SYS_ftruncate64, arguments).map(|_| ())
}

/// fstat64.
fn stat(fd: Fd) -> Result<libc::stat64, Errno> {
    // SAFETY: all zeros is a valid stat.
    let mut stat: libc::stat64 = unsafe { core::mem::zeroed() };
    let at = &raw mut stat as usize;
    call(libc::SYS_fstat64, [fd.0 as usize, at, 0, 0, 0, 0])?;
    Ok(stat)
}

/// Which file it is.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn identity(fd: Fd) -> Result<FileId, Errno> {
    let stat: libc::stat64 = stat(fd)?;
    Ok(FileId {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
    })
}

/// Bytes that it takes on the disk.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn taken_bytes(fd: Fd) -> Result<u64, Errno> {
    let stat: libc::stat64 = stat(fd)?;
    Ok(stat.st_blocks as u64 * 512)
}

/// Bytes that anybody may still take where it lies. Some file systems know of
/// no bound.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn free_bytes(fd: Fd) -> Option<u64> {
    // SAFETY: plain integers, for which all zeros is a value.
    let mut room: libc::statfs64 = unsafe { core::mem::zeroed() };
    let at = &raw mut room as usize;
    call(
        libc::SYS_fstatfs64,
        [fd.0 as usize, size_of_val(&room), at, 0, 0, 0],
    )
    .ok()?;
    (room.f_blocks > 0).then(|| (room.f_bavail as u64).saturating_mul(room.f_bsize as u64))
}

/// clock_gettime64: seconds and nanoseconds; before Linux 5.1 the other, whose
/// seconds end in 2038.
pub(super) fn clock(clock: libc::clockid_t) -> [i64; 2] {
    /// The same on all machines that had the other.
    const CLOCK_GETTIME64: libc::c_long = 403;
    let mut now = [0i64; 2];
    let at = &raw mut now as usize;
    let told = call(CLOCK_GETTIME64, [clock as usize, at, 0, 0, 0, 0]);
    if told.is_ok() {
        return now;
    }
    let mut now = [0i32; 2];
    let at = &raw mut now as usize;
    let _ = call(libc::SYS_clock_gettime, [clock as usize, at, 0, 0, 0, 0]);
    now.map(i64::from)
}
