//! Which allocator a library is, as far as the name of its file says.

/// As it is called everywhere.
pub const GLIBC: &str = "glibc";
/// The same.
pub const MUSL: &str = "musl";

/// Those that take a C library's place, by what the names of their libraries begin with.
const OTHERS: [(&str, &str); 3] = [
    ("jemalloc", "libjemalloc"),
    ("mimalloc", "libmimalloc"),
    ("tcmalloc", "libtcmalloc"),
];

/// Stands for the library of an allocator that no library is known to be.
pub(crate) const UNKNOWN: &str = "(unknown)";

/// The allocator that a library brings.
pub fn allocator_of(path: &[u8]) -> Option<&'static str> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let mut others = OTHERS.iter();
    let other = others.find(|(_, start)| name.starts_with(start.as_bytes()));
    // Of a link the file that it leads to is told: musl's loader may be one to its library,
    // and glibc's library one to a file with its version.
    let is_musl = name.starts_with(b"ld-musl-") || name == b"libc.so";
    let is_glibc = name.starts_with(b"libc.so.6") || name.starts_with(b"libc-2.");
    match other {
        Some((allocator, _)) => Some(allocator),
        None if is_musl => Some(MUSL),
        None => is_glibc.then_some(GLIBC),
    }
}

/// The library whose malloc a program had, as far as its libraries' names tell; nothing if
/// it was glibc's. A program's own file may be called as it likes.
pub(super) fn recorded_allocator<'a>(
    program: Option<&[u8]>,
    libraries: impl Iterator<Item = &'a [u8]>,
) -> Option<&'a [u8]> {
    let (mut musl, mut has_glibc) = (None, false);
    for path in libraries.filter(|path| Some(*path) != program) {
        match allocator_of(path) {
            Some(GLIBC) => has_glibc = true,
            Some(MUSL) => musl = Some(path),
            Some(_) => return Some(path),
            None => {}
        }
    }
    musl.or((!has_glibc).then_some(UNKNOWN.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_name() {
        for (path, expected) in [
            ("/usr/lib/libjemalloc.so.2", Some("jemalloc")),
            ("libmimalloc-secure.so.2.0", Some("mimalloc")),
            ("/opt/libtcmalloc_minimal.so.4", Some("tcmalloc")),
            ("/lib/ld-musl-x86_64.so.1", Some(MUSL)),
            ("/usr/lib/musl/lib/libc.so", Some(MUSL)),
            ("/lib64/libc.so.6", Some(GLIBC)),
            ("/lib/x86_64-linux-gnu/libc-2.31.so", Some(GLIBC)),
            ("/home/me/jemalloc/bench", None),
            ("/home/me/mimalloc-bench", None),
            ("/usr/lib/libnotjemalloc.so", None),
            ("/lib/libc.so.0", None),
            ("libc-client.so", None),
            ("", None),
        ] {
            assert_eq!(allocator_of(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn a_program_is_no_library() {
        let of = |program: &str, libraries: &[&str]| {
            let libraries = libraries.iter().map(|path| path.as_bytes());
            let found = recorded_allocator(Some(program.as_bytes()), libraries);
            found.map(|path| String::from_utf8_lossy(path).into_owned())
        };
        let unknown = Some(UNKNOWN.to_owned());
        let (glibc, musl, other) = (
            "/lib/libc.so.6",
            "/lib/ld-musl-x86_64.so.1",
            "libjemalloc.so",
        );
        assert_eq!(of("libjemalloc-test", &["libjemalloc-test", glibc]), None);
        assert_eq!(of("a", &["a", other, glibc]), Some(other.into()));
        assert_eq!(of("a", &["a", musl, other]), Some(other.into()));
        assert_eq!(of("a", &["a", musl]), Some(musl.into()));
        // A static one.
        assert_eq!(of("a", &["a"]), unknown);
        assert_eq!(of("libc.so.6", &["libc.so.6"]), unknown);
        assert_eq!(of("a", &[]), unknown);
    }
}
