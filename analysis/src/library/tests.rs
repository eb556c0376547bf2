//! Names and files of libraries, and of users who call theirs alike.

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
/// Of trait and type both have to be the library's.
#[test]
fn a_trait_is_written_for_a_type() {
    for function in [
        "<alloc::vec::Vec<u8> as tr::Grow>::grow_it",
        "<alloc::vec::Vec<fn(u8) -> u8> as tr::Grow>::grow_it::{{closure}}",
        "<[u8] as tr::Grow>::grow_it",
        "<&mut alloc::string::String as tr::Grow<alloc::vec::Vec<u8>>>::grow_it",
        "<my::A as core::clone::Clone>::clone",
        "<T as tr::Grow>::grow_it",
        "my::<impl core::convert::From<my::A> for alloc::vec::Vec<u8>>::from",
    ] {
        assert!(!is_of_library(function, None, Some("prog")), "{function}");
    }
    for function in [
        "<alloc::vec::Vec<my::A> as core::iter::traits::Extend<my::A>>::extend",
        "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
        "<T as core::convert::Into<U>>::into",
        "<alloc::vec::Vec<my::A>>::push",
        "alloc::slice::<impl [T]>::into_vec",
    ] {
        assert!(is_of_library(function, None, Some("prog")), "{function}");
    }
}

#[test]
fn a_word_is_no_crate() {
    for function in ["alloc", "core", "std", "core(int)", "hashbrown"] {
        assert!(!is_of_library(function, None, Some("prog")), "{function}");
    }
}

#[test]
fn folders_of_users_are_theirs() {
    for file in [
        "/home/me/rustc/ldx.cpp:4",
        "/home/me/rust/deps/foo/src/lib.rs:1",
        "/home/me/include/c++/mine.h:1",
        "/home/me/c++/12/a.h:1",
        "/home/me/library/alloc/src/a.rs:1",
        "/home/me/libcxx/a.cpp:1",
    ] {
        assert!(!is_of_library("f", Some(file), Some("prog")), "{file}");
    }
    for file in [
        "/usr/include/c++/12/bits/a.h:1",
        "/opt/rh/gcc-12/root/usr/include/c++/12.2.0/bits/a.h:1",
        "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h:1",
        "library/std/src/rt.rs:1",
    ] {
        assert!(is_of_library("f", Some(file), Some("prog")), "{file}");
    }
}

#[test]
fn libraries_have_exact_names() {
    for module in [
        "libc.so.6",
        "libc-2.31.so",
        "libm.so.6",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
        "ld-2.31.so",
        "ld64.so.2",
        "ld-musl-x86_64.so.1",
    ] {
        assert!(is_c_library("f", Some(module)), "{module}");
        assert!(is_c_library(&format!("{module}+0x1f0"), None), "{module}");
    }
    for module in [
        "ld-tool",
        "ld-preload-test",
        "ld-linux-tool",
        "ld-tool.so",
        "libc-client.so.2007",
        "libm.so.mine",
        "libpthreads.so",
        "libcx.so",
        "libc-.so",
        "",
    ] {
        assert!(!is_c_library("f", Some(module)), "{module}");
    }
    for module in ["libstdc++.so.mine", "libstd-utils.so", "libc++-tool"] {
        assert!(!is_of_library("f", None, Some(module)), "{module}");
    }
    assert!(is_of_library("f", None, Some("libstd-0123456789abcdef.so")));
}

#[test]
fn what_the_c_library_hands_out() {
    for (name, plain) in [
        ("strdup", "strdup"),
        ("__GI___strdup", "strdup"),
        ("__strndup", "strndup"),
        ("__vasprintf_internal", "vasprintf"),
        ("___asprintf", "asprintf"),
        ("__asprintf_chk", "asprintf"),
        ("calloc", "calloc"),
    ] {
        assert_eq!(super::lent(name), Some(plain), "{name}");
    }
    for name in ["getline", "mystrdup", "strdup2", "__GI_", "_IO_strdup", ""] {
        assert_eq!(super::lent(name), None, "{name}");
    }
}

#[test]
fn allocators_say_so() {
    for name in [
        "malloc",
        "xmalloc",
        "emalloc_real",
        "ezalloc_real",
        "sqlite3MemRealloc",
        "contextMalloc",
        "dbMallocRawFinish",
        "g_malloc0",
        "av_mallocz",
        "XMALLOC",
        "rapidjson::CrtAllocator::Malloc(unsigned long)",
    ] {
        assert_eq!(allocator(name), Allocator::Malloc, "{name}");
    }
    for name in [
        "l_alloc",
        "pcache1AllocPage",
        "HTTPAlloc",
        "alloc_grid",
        "Pool::allocate(Alloc<int>)",
        "my::grow_alloc::{{closure}}",
    ] {
        assert_eq!(allocator(name), Allocator::Something, "{name}");
    }
    for name in [
        "main",
        "xmlNewNode",
        "more_blocks",
        "Allocator::grow(int)",
        "make(Alloc<int>)",
        "",
        "pool_dealloc",
        "deAlloc",
        "findAllOccurrences",
        "finalLocation",
        "GlobalLock",
        "evalLocals",
        "smallOctree",
        "countAllocations",
    ] {
        assert_eq!(allocator(name), Allocator::No, "{name}");
    }
}
