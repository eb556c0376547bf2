//! What a word of 64 bits makes of ELF files and of the kernel's calls.
#![allow(unsafe_code)]
//! # Safety
//! A struct of the kernel's is zeroed and handed to be filled.

use super::call::call;
use super::{Errno, Fd, FileId};
use core::sync::atomic::AtomicU64;

/// The tables of files of this width.
pub use goblin::elf64 as elf;

/// An address in those.
pub type Word = u64;
/// One that others may read meanwhile.
pub type AtomicWord = AtomicU64;

/// An address in those, as the recorder has all of them.
#[inline(always)]
pub const fn wide(word: Word) -> u64 {
    word
}

/// mmap.
pub(super) fn map(
    at: usize,
    bytes: usize,
    prot: usize,
    flags: libc::c_int,
    file: Option<(Fd, u64)>,
) -> Result<usize, Errno> {
    let (fd, offset) = file.map_or((usize::MAX, 0), |(fd, at)| (fd.0 as usize, at as usize));
    call(
        libc::SYS_mmap,
        [at, bytes, prot, flags as usize, fd, offset],
    )
}

/// pread64 and pwrite64.
pub(super) fn transfer(
    number: libc::c_long,
    fd: Fd,
    at: usize,
    bytes: usize,
    offset: u64,
) -> Result<usize, Errno> {
    call(number, [fd.0 as usize, at, bytes, offset as usize, 0, 0])
}

/// ftruncate.
pub(super) fn set_length(fd: Fd, bytes: u64) -> Result<(), Errno> {
    let arguments = [fd.0 as usize, bytes as usize, 0, 0, 0, 0];
    call(libc::SYS_ftruncate, arguments).map(|_| ())
}

/// fstat.
fn stat(fd: Fd) -> Result<super::stat::Stat, Errno> {
    // SAFETY: all zeros is a valid stat.
    let mut stat: super::stat::Stat = unsafe { core::mem::zeroed() };
    let at = &raw mut stat as usize;
    call(libc::SYS_fstat, [fd.0 as usize, at, 0, 0, 0, 0])?;
    Ok(stat)
}

/// Which file it is.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn identity(fd: Fd) -> Result<FileId, Errno> {
    let stat: super::stat::Stat = stat(fd)?;
    Ok(FileId {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
    })
}

/// Bytes that it takes on the disk.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn taken_bytes(fd: Fd) -> Result<u64, Errno> {
    let stat: super::stat::Stat = stat(fd)?;
    Ok(stat.st_blocks as u64 * 512)
}

/// Bytes that anybody may still take where it lies. Some file systems know of
/// no bound.
#[allow(clippy::unnecessary_cast)] // machines have other widths
pub(super) fn free_bytes(fd: Fd) -> Option<u64> {
    // SAFETY: plain integers, for which all zeros is a value.
    let mut room: libc::statfs = unsafe { core::mem::zeroed() };
    let at = &raw mut room as usize;
    call(libc::SYS_fstatfs, [fd.0 as usize, at, 0, 0, 0, 0]).ok()?;
    (room.f_blocks > 0).then(|| (room.f_bavail as u64).saturating_mul(room.f_bsize as u64))
}

/// clock_gettime: seconds and nanoseconds.
pub(super) fn clock(clock: libc::clockid_t) -> [i64; 2] {
    let mut now = [0i64; 2];
    let at = &raw mut now as usize;
    let _ = call(libc::SYS_clock_gettime, [clock as usize, at, 0, 0, 0, 0]);
    now
}
