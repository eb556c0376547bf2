//! Whose a place is: the standard library's, or the user's.
//!
//! A container that asks for memory does so for somebody. Who that is is the
//! innermost place that is not the library's own. The file decides where it is
//! known: the library's templates may be about the user's types, and the user
//! may specialise them in namespace std, but nobody writes into the other's
//! files. Where no file is known, or none of a folder that libraries are known
//! to lie in, the function's own path decides, never its arguments or result.

mod allocators;
mod modules;
mod rust;
#[cfg(test)]
mod tests;

use crate::brief::own_path;
pub use allocators::{Allocator, allocator, lent};
pub use modules::is_c_library;

/// Where paths of the standard libraries' sources begin: Rust's, as it was
/// built and as rustc writes it.
const BEGINNINGS: [&str; 4] = [
    "/rustc/",
    "/rust/deps/",
    "library/alloc/src/",
    "library/std/src/",
];
/// What such paths have in them, wherever it is: GCC's, LLVM's, Rust's.
const FOLDERS: [&str; 6] = [
    "/libstdc++-v3/",
    "/libcxx/include/",
    "/libcxx/src/",
    "/libcxxabi/src/",
    "/libsupc++/",
    "/lib/rustlib/src/rust/library/",
];
/// C++'s namespaces.
const NAMESPACES: [&str; 5] = [
    "std",
    "__gnu_cxx",
    "__cxxabiv1",
    "__gnu_parallel",
    "__gnu_debug",
];
/// What starts programs and threads: whoever is called by these is asked about.
const STARTERS: [&str; 9] = [
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "call_init",
    "_dl_init",
    "_dl_start_user",
];

/// Whether a place belongs to a standard library of C++, Fortran or Rust, or
/// starts programs and threads.
pub fn is_of_library(function: &str, location: Option<&str>, module: Option<&str>) -> bool {
    if starts_programs(function) || function.starts_with("(stack cut") {
        return true;
    }
    if modules::is_of_language(function, module) {
        return true;
    }
    let path = own_path(function);
    let is_cpp = function.trim_end_matches(" const").ends_with(')');
    let is_owned = match is_cpp {
        true => path.len() > 1 && NAMESPACES.contains(&path[0]),
        false => rust::is_standard(function),
    };
    match location {
        Some(file) if is_library_file(file) => true,
        // A name that no user may write: a library built where nobody knew.
        Some(file) => is_owned && (is_internal(&path) || is_crate(file, &path)),
        None => is_owned || path.len() > 1 && is_internal(&path[..1]),
    }
}

/// Whether a function starts programs or threads, and does nothing else.
pub fn starts_programs(function: &str) -> bool {
    let name = function.trim_start_matches("__GI_");
    let name = name.strip_suffix("_impl").unwrap_or(name);
    let name = name.strip_prefix("__").map_or(name, |bare| match bare {
        "clone" | "clone3" | "start_thread" => bare,
        _ => name,
    });
    STARTERS.contains(&name)
}

fn is_library_file(file: &str) -> bool {
    BEGINNINGS.iter().any(|start| file.starts_with(start))
        || FOLDERS.iter().any(|folder| file.contains(folder))
        || is_header(file)
}

/// `.../include/c++/12/vector`, of a target too, and `.../include/c++/v1/vector`.
fn is_header(file: &str) -> bool {
    file.match_indices("/c++/").any(|(at, folder)| {
        let before = &file[..at];
        let is_installed = before.ends_with("/include") || before.ends_with("-linux-gnu");
        let version = file[at + folder.len()..].split_once('/');
        let version = version.map(|(version, _)| version.strip_prefix('v').unwrap_or(version));
        let is_number = |version: &str| version.starts_with(|c: char| c.is_ascii_digit());
        is_installed && version.is_some_and(is_number)
    })
}

/// C++ leaves `_Upper` and `__any` to its libraries.
fn is_internal(path: &[&str]) -> bool {
    path.iter().any(|word| {
        let mut letters = word.chars();
        letters.next() == Some('_')
            && letters
                .next()
                .is_some_and(|c| c == '_' || c.is_ascii_uppercase())
    })
}

/// hashbrown as a crate of the user's own.
fn is_crate(file: &str, path: &[&str]) -> bool {
    path.first() == Some(&"hashbrown") && file.contains("/hashbrown-")
}
