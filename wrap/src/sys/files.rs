//! Small files, read in one go.

use super::Sys;
use super::linux::Linux;

/// The first bytes of a file whose path is a C string; none if it cannot be read.
pub(super) fn read_start<'a>(path: &[u8], into: &'a mut [u8]) -> &'a [u8] {
    let Ok(fd) = Linux::open(path) else {
        return &[];
    };
    let count = Linux::read(fd, into).unwrap_or(0);
    Linux::close(fd);
    into.get(..count).unwrap_or(&[])
}

/// This process's own memory, by its file.
pub(super) fn read_memory(at: u64, into: &mut [u8]) -> bool {
    let Ok(fd) = Linux::open(b"/proc/self/mem\0") else {
        return false;
    };
    let count = Linux::read_at(fd, into, at);
    Linux::close(fd);
    count == Ok(into.len())
}
