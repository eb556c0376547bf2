//! Small files, read in one go.

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
