//! Whose a place is: the standard library's, or the user's.
//!
//! A container that asks for memory does so for somebody. Who that is is the
//! innermost place that is not the library's own. The file decides where it is
//! known: the library's templates may be about the user's types, and the user
//! may specialise them in namespace std, but nobody writes into the other's
//! files. Where no file is known, or none of a folder that libraries are known
//! to lie in, the function's own path decides, never its arguments or result.

use crate::brief::own_path;

/// Folders of the standard libraries' sources: GCC's, LLVM's, Rust's.
const FOLDERS: [&str; 10] = [
    "/include/c++/",
    "/libstdc++-v3/",
    "/libcxx/",
    "/libcxxabi/",
    "/libsupc++/",
    "/lib/rustlib/src/rust/library/",
    "/rust/deps/",
    "/rustc/",
    "library/alloc/src/",
    "library/std/src/",
];
const MODULES: [&str; 6] = [
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libstd-",
    "libsupc++.so",
    "libgfortran.so",
];
/// C++'s namespaces.
const NAMESPACES: [&str; 5] = [
    "std",
    "__gnu_cxx",
    "__cxxabiv1",
    "__gnu_parallel",
    "__gnu_debug",
];
/// Rust's crates; in C++ they would be anybody's.
const CRATES: [&str; 5] = ["std", "core", "alloc", "hashbrown", "panic_unwind"];
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
    if is_starter(function) || function.starts_with("(stack cut") {
        return true;
    }
    // What has no name is called by its module.
    let module = module.unwrap_or(function);
    if MODULES.iter().any(|start| module.starts_with(start)) {
        return true;
    }
    let path = own_path(function);
    let is_cpp = function.trim_end_matches(" const").ends_with(')');
    let owners = if is_cpp { &NAMESPACES } else { &CRATES };
    let is_owned = path.first().is_some_and(|first| owners.contains(first));
    match location {
        Some(file) if is_library_file(file) => true,
        // A name that no user may write: a library built where nobody knew.
        Some(file) => is_owned && (is_internal(&path) || is_crate(file, &path)),
        None => is_owned || path.len() > 1 && is_internal(&path[..1]),
    }
}

/// Whether a function says by its name that it allocates for others.
pub fn is_named_allocator(function: &str) -> bool {
    let path = own_path(function);
    let name = path.iter().rev().find(|word| !word.starts_with(['{', '(']));
    let name = name.copied().unwrap_or_default().to_ascii_lowercase();
    name.contains("alloc") && !name.contains("dealloc")
}

fn is_starter(function: &str) -> bool {
    let name = function.trim_start_matches("__GI_");
    let name = name.strip_suffix("_impl").unwrap_or(name);
    let name = name.strip_prefix("__").map_or(name, |bare| match bare {
        "clone" | "clone3" | "start_thread" => bare,
        _ => name,
    });
    STARTERS.contains(&name)
}

fn is_library_file(file: &str) -> bool {
    let is_in = |folder: &&str| match folder.starts_with('/') {
        true => file.contains(*folder),
        false => file.starts_with(*folder),
    };
    FOLDERS.iter().any(is_in)
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

#[cfg(test)]
mod tests {
    use super::*;

    const CPP: &str = "/usr/include/c++/12/bits/new_allocator.h:137";
    const RUST: &str = "/rustc/59807616/library/alloc/src/vec/mod.rs:1446";

    #[test]
    fn a_library_is_known_by_its_files() {
        for (function, file) in [
            (
                "std::__new_allocator<A>::allocate(unsigned long, void const*)",
                CPP,
            ),
            ("allocate", CPP),
            (
                "void std::__1::__libcpp_allocate[abi:v15]()",
                "/opt/llvm/include/c++/v1/new:1",
            ),
            (
                "std::__cxx11::basic_string<char>::_M_mutate()",
                "../src/libstdc++-v3/a.tcc:1",
            ),
            (
                "std::_Vector_base<A, B>::_M_allocate(unsigned long)",
                "/odd/stl/bits/a.h:3",
            ),
            (
                "my::A& std::vector<my::A>::emplace_back<my::A>(my::A&&)",
                "/usr/include/c++/12/b.tcc:1",
            ),
            ("alloc::vec::Vec<T,A>::reserve", RUST),
            (
                "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
                RUST,
            ),
            ("<my::A as core::iter::Iterator>::collect", RUST),
            (
                "hashbrown::raw::RawTable<T,A>::reserve_rehash",
                "/rust/deps/hashbrown-0.16/src/raw/mod.rs:1",
            ),
            (
                "hashbrown::map::HashMap<K,V>::insert",
                "/r/registry/src/x/hashbrown-0.14/src/map.rs:1",
            ),
        ] {
            assert!(
                is_of_library(function, Some(file), Some("prog")),
                "{function}"
            );
        }
    }

    #[test]
    fn a_library_is_known_by_its_names() {
        for function in [
            "std::string::_M_create(unsigned long&, unsigned long)",
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()",
            "std::_Function_handler<void (), my::f()::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
            "void std::__sort<my::A*, my::Less>(my::A*, my::A*, my::Less)",
            "__gnu_cxx::new_allocator<my::A>::allocate(unsigned long)",
            "<alloc::vec::Vec<my::A> as core::clone::Clone>::clone",
            "std::panicking::catch_unwind::do_call",
            "__clone3",
            "__libc_start_main_impl",
            "__GI___clone3",
            "(stack cut: too deep)",
        ] {
            assert!(is_of_library(function, None, Some("prog")), "{function}");
        }
        assert!(is_of_library("f", None, Some("libstdc++.so.6.0.30")));
        assert!(is_of_library("libgfortran.so.5.0.0+0x20d19", None, None));
    }

    #[test]
    fn users_are_no_library() {
        for (function, file) in [
            ("main", None),
            ("malloc_all", Some("/my/a.c:1")),
            ("std::vector<int> my::make(std::string const&)", None),
            ("process(std::vector<int, std::allocator<int> >&)", None),
            (
                "my::operator==(std::string const&, std::string const&)",
                None,
            ),
            (
                "std::ostream& operator<<(std::ostream&, my::A const&)",
                None,
            ),
            ("std::ostream& my::operator<< <char>(std::ostream&)", None),
            (
                "std::hash<my::A>::operator()(my::A const&) const",
                Some("/my/a.h:3"),
            ),
            ("my::std_like::allocate()", None),
            ("stdx::allocate()", None),
            (
                "main::{lambda(std::string)#1}::operator()(std::string) const",
                None,
            ),
            (
                "my::Less::operator()(my::A const&, my::A const&) const",
                None,
            ),
            ("my::alloc::Pool::get", None),
            ("core_init", None),
            ("core::Engine::init()", None),
            ("<my::A as core::clone::Clone>::clone", None),
            (
                "<my::A as alloc::string::ToString>::to_string",
                Some("/my/src/a.rs:2"),
            ),
            (
                "<alloc::vec::Vec<T> as core::convert::From<my::A>>::from",
                Some("/my/src/a.rs:2"),
            ),
            (
                "my::<impl core::convert::From<my::A> for my::B>::from",
                None,
            ),
            ("__init_tables", None),
            ("_Z_old_name", None),
            ("clone_tree", None),
            ("prog+0x10", None),
            ("(no stack)", None),
        ] {
            assert!(!is_of_library(function, file, Some("prog")), "{function}");
        }
    }
    #[test]
    fn allocators_say_so() {
        for name in [
            "malloc",
            "xmalloc",
            "emalloc_real",
            "sqlite3MemRealloc",
            "l_alloc",
            "g_malloc0",
            "rapidjson::CrtAllocator::Malloc(unsigned long)",
            "Pool::allocate(Alloc<int>)",
            "my::grow_alloc::{{closure}}",
        ] {
            assert!(is_named_allocator(name), "{name}");
        }
        for name in [
            "main",
            "xmlNewNode",
            "more_blocks",
            "Allocator::grow(int)",
            "make(Alloc<int>)",
            "",
            "pool_dealloc",
        ] {
            assert!(!is_named_allocator(name), "{name}");
        }
    }
}
