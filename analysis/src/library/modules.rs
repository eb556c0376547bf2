//! Libraries by the names of their files, each as it is installed: a program
//! of the user's may begin like any of them.

/// C++'s and Fortran's.
const OF_LANGUAGES: [&str; 5] = [
    "libstdc++",
    "libc++",
    "libc++abi",
    "libsupc++",
    "libgfortran",
];
/// The C library's parts that ask for memory.
const OF_C: [&str; 3] = ["libc", "libm", "libpthread"];

/// Whether this lies in a library of C++, Fortran or Rust.
pub(super) fn is_of_language(function: &str, module: Option<&str>) -> bool {
    let file = file(function, module);
    let is_rust = || {
        let rest = file.strip_prefix("libstd-");
        let hash = rest.and_then(|rest| rest.strip_suffix(".so"));
        hash.is_some_and(|hash| hash.len() >= 16 && is_all(hash, |c| c.is_ascii_hexdigit()))
    };
    OF_LANGUAGES.iter().any(|name| is_version(file, name)) || is_rust()
}

/// Whether this lies in the C library or the loader.
pub fn is_c_library(function: &str, module: Option<&str>) -> bool {
    let file = file(function, module);
    OF_C.iter().any(|name| is_version(file, name)) || is_loader(file)
}

/// `libc.so`, `libc.so.6`, and `libc-2.31.so`.
fn is_version(file: &str, name: &str) -> bool {
    let Some(rest) = file.strip_prefix(name) else {
        return false;
    };
    is_shared(rest) || rest.strip_prefix('-').is_some_and(is_old)
}

/// `2.31.so`
fn is_old(rest: &str) -> bool {
    let version = rest.strip_suffix(".so");
    version.is_some_and(|version| !version.is_empty() && is_all(version, is_number))
}

/// `ld-linux-x86-64.so.2`, `ld64.so.2`, `ld-2.31.so`, `ld-musl-x86_64.so.1`
fn is_loader(file: &str) -> bool {
    let Some(rest) = file.strip_prefix("ld") else {
        return false;
    };
    let is_named = ["-linux", "-musl-", "64.", "."].iter();
    let is_named = is_named.clone().any(|start| rest.starts_with(start));
    let ending = rest.find(".so").map(|at| &rest[at..]);
    is_named && ending.is_some_and(is_shared) || rest.strip_prefix('-').is_some_and(is_old)
}

/// `.so` with or without numbers behind.
fn is_shared(rest: &str) -> bool {
    let version = rest.strip_prefix(".so");
    version.is_some_and(|version| {
        let is_numbered = version.starts_with('.') && is_all(version, is_number);
        version.is_empty() || is_numbered
    })
}

fn is_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

fn is_all(text: &str, is_one: impl Fn(char) -> bool) -> bool {
    text.chars().all(is_one)
}

/// What has no name is called by its file and the offset in it.
fn file<'t>(function: &'t str, module: Option<&'t str>) -> &'t str {
    let of_offset = || {
        function
            .rsplit_once("+0x")
            .map_or(function, |(file, _)| file)
    };
    module.unwrap_or_else(of_offset)
}
