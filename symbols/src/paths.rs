//! Paths as bytes, the way the kernel has them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The bytes of a path.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// `tail` below `base`, even if `tail` is absolute.
pub(crate) fn below(base: &[u8], tail: &[u8]) -> Vec<u8> {
    let tail = &tail[tail.iter().take_while(|&&b| b == b'/').count()..];
    let mut path = base.to_vec();
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(tail);
    path
}

/// `tail` as seen from `base`: an absolute `tail` stands for itself.
pub(crate) fn join(base: &[u8], tail: &[u8]) -> Vec<u8> {
    if tail.starts_with(b"/") {
        tail.to_vec()
    } else {
        below(base, tail)
    }
}

/// The folder of a path: `b"/"` for a file in the root, empty for a bare name.
pub(crate) fn dir(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&b| b == b'/') {
        Some(0) => b"/",
        Some(at) => &path[..at],
        None => b"",
    }
}

/// The last part of a path.
pub(crate) fn name(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|&b| b == b'/')
        .map_or(path, |at| &path[at + 1..])
}

/// The path without its root, then without its first folder, and so on, down to the name.
pub(crate) fn tails(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = (0..path.len()).filter(move |&at| at == 0 || path[at - 1] == b'/');
    let tails = starts.map(|at| &path[at..]);
    tails.filter(|tail| !tail.starts_with(b"/"))
}

/// The path with a suffix, `.dwp` say.
pub(crate) fn with_suffix(path: &[u8], suffix: &[u8]) -> Vec<u8> {
    [path, suffix].concat()
}

/// For a sentence.
pub(crate) fn show(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        assert_eq!(dir(b"/usr/bin/a"), b"/usr/bin");
        assert_eq!(dir(b"/a"), b"/");
        assert_eq!(dir(b"a"), b"");
        assert_eq!(name(b"/usr/bin/a"), b"a");
        assert_eq!(below(b"/sys/", b"/usr/a"), b"/sys/usr/a");
        assert_eq!(below(b"", b"a"), b"a");
        assert_eq!(join(b"/x", b"/usr/a"), b"/usr/a");
        assert_eq!(join(b"/x", b"a"), b"/x/a");
        assert!(tails(b"/usr//bin/a").eq([&b"usr//bin/a"[..], b"bin/a", b"a"]));
        assert!(tails(b"a").eq([b"a"]));
        assert_eq!(tails(b"/usr/").last(), Some(&b"usr/"[..]));
    }
}
