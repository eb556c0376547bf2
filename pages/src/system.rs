//! The few things asked of the system that the standard library does not offer.
//!
//! # Safety
//!
//! This file may hold `unsafe`: each function here is one C call behind a safe
//! signature, and nothing is kept between calls. One function runs before main,
//! when no other code of this process does.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Effective user of this process.
pub fn effective_user() -> u32 {
    // SAFETY: takes nothing, touches no memory of ours and cannot fail.
    unsafe { libc::geteuid() }
}

/// Bytes that the effective user may still write on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain integers, for which all zeros is a value.
    let mut answer: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero byte and the answer outlives the call.
    if unsafe { libc::statvfs(path.as_ptr(), &mut answer) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let blocks = match effective_user() {
        0 => answer.f_bfree,
        _ => answer.f_bavail,
    };
    // Words of 32 bits where the machine has no others.
    #[allow(clippy::useless_conversion)]
    let [blocks, bytes] = [u64::from(blocks), u64::from(answer.f_frsize)];
    Ok(blocks.saturating_mul(bytes))
}

/// Where the data of a file ends that has some up to `from`: what is behind was
/// never written, and takes no room on the disk. The file stays at its beginning.
pub fn end_of_data(file: &File, from: u64) -> io::Result<u64> {
    let seek = |to: u64, what| {
        // SAFETY: no memory is involved, and the file is open.
        let at = unsafe { libc::lseek(file.as_raw_fd(), to as libc::off_t, what) };
        u64::try_from(at).map_err(|_| io::Error::last_os_error())
    };
    let mut end = from;
    let found = loop {
        match seek(end, libc::SEEK_DATA) {
            Ok(data) => match seek(data, libc::SEEK_HOLE) {
                Ok(hole) if hole > data => end = hole,
                Ok(_) => break Err(io::ErrorKind::InvalidData.into()),
                Err(error) => break Err(error),
            },
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => break Ok(end),
            Err(error) => break Err(error),
        }
    };
    seek(0, libc::SEEK_SET)?;
    found
}

/// Whether this process was started with stdout closed.
static WITHOUT_STDOUT: AtomicBool = AtomicBool::new(false);

/// Asked before main: the standard library opens /dev/null in the place of what
/// is closed, so that nothing else gets its number, and nobody could tell then.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look_at_stdout;

extern "C" fn look_at_stdout() {
    // SAFETY: takes a number, touches no memory of ours, and may be asked of a
    // descriptor that is closed, which is the question.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    WITHOUT_STDOUT.store(is_closed, Ordering::Relaxed);
}

/// Whether what is printed would go nowhere without anybody having said so.
pub fn is_without_stdout() -> bool {
    WITHOUT_STDOUT.load(Ordering::Relaxed)
}
