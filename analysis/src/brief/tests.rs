//! What names and paths become.

use proptest::prelude::*;

use super::*;

/// Without any limit but that of lists.
fn tidied(name: &str) -> String {
    brief(name, usize::MAX)
}

#[test]
fn names_of_cpp_lose_what_tells_nothing() {
    let string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    let names = [
        ("main", "main"),
        ("main()", "main()"),
        ("int f(char)", "f(char)"),
        (
            "(anonymous namespace)::f(int) const",
            "(anonymous namespace)::f(int)",
        ),
        (
            "std::vector<int, std::allocator<int> >& a::b<c>()",
            "a::b<c>()",
        ),
        (
            "std::map<A, B, std::less<A>, std::allocator<std::pair<A const, B> > >::at(A const&)",
            "std::map<A, B>::at(A const&)",
        ),
        (
            "std::map<A, B, std::less<void>, std::allocator<std::pair<A const, B> > >::at(A const&)",
            "std::map<A, B, std::less<void>>::at(A const&)",
        ),
        (
            "std::unordered_map<A, B, std::hash<A>, std::equal_to<A>, std::allocator<int> >::f()",
            "std::unordered_map<A, B>::f()",
        ),
        (
            "std::unique_ptr<A, std::default_delete<A> >::~unique_ptr()",
            "std::unique_ptr<A>::~unique_ptr()",
        ),
        (
            "std::pair<A, std::less<A> >::f()",
            "std::pair<A, std::less<A>>::f()",
        ),
        (
            "my::vector<A, std::allocator<A> >::f()",
            "my::vector<A, std::allocator<A>>::f()",
        ),
        (
            "std::vector<A, my::allocator<A> >::f()",
            "std::vector<A, my::allocator<A>>::f()",
        ),
        (
            "std::allocator_traits<std::allocator<A> >::f()",
            "std::allocator_traits<std::allocator<A>>::f()",
        ),
        (
            "std::__1::vector<int, std::__1::allocator<int> >::f()",
            "std::vector<int>::f()",
        ),
        (
            "std::stack<A, std::deque<A, std::allocator<A> > >::f()",
            "std::stack<A>::f()",
        ),
        (
            "std::basic_ostream<wchar_t, std::char_traits<wchar_t> >& std::flush<wchar_t>()",
            "std::flush<wchar_t>()",
        ),
        (
            "f(std::basic_ostream<char, std::char_traits<char> >&)",
            "f(std::ostream&)",
        ),
        ("std::basic_string<char32_t>::f()", "std::u32string::f()"),
        (
            "std::basic_string<char, std::char_traits<char>, my::A<char> >::f()",
            "std::basic_string<char, std::char_traits<char>, my::A<char>>::f()",
        ),
        (
            "decltype (fp(a)) nlohmann::json_abi_v3_11_2::basic_json<int>::parse<X>(X)",
            "nlohmann::basic_json<int>::parse<X>(X)",
        ),
        (
            "f[abi:cxx11](int)::{lambda(auto)#1}::operator()(int) const",
            "f(int)::{lambda#1}::operator()(int)",
        ),
        (
            "A::operator std::vector<int>() const",
            "A::operator std::vector<int>()",
        ),
        (
            "bool a::operator< <char>(A<char> const&)",
            "a::operator< <char>(A<char> const&)",
        ),
        ("X& operator<<(X&, int)", "operator<<(X&, int)"),
        ("A::operator->()", "A::operator->()"),
        (
            "void A::operator delete[](void*)",
            "A::operator delete[](void*)",
        ),
        ("operator new(unsigned long)", "operator new(unsigned long)"),
        (
            "std::function<void (int)>::operator()(int) const",
            "std::function<void (int)>::operator()(int)",
        ),
        ("non-virtual thunk to A::f()", "non-virtual thunk to A::f()"),
    ];
    for (name, expected) in names {
        assert_eq!(tidied(name), expected, "{name}");
    }
    let constructed = format!("void {string}::_M_construct<char*>(char*, char*)");
    assert_eq!(
        tidied(&constructed),
        "std::string::_M_construct<char*>(char*, char*)"
    );
    let constructor = format!("{string}::basic_string({string} const&)");
    assert_eq!(
        tidied(&constructor),
        "std::string::string(std::string const&)"
    );
}

#[test]
fn names_of_rust_keep_their_type() {
    let names = [
        ("rg::main", "rg::main"),
        (
            "<a::b::Folder<C,P> as rayon::Folder<T>>::consume",
            "a::b::Folder<C, P>::consume",
        ),
        (
            "<T as core::convert::Into<U>>::into",
            "core::convert::Into<U>::into",
        ),
        ("<u8 as alloc::vec::Spec>::from_elem", "u8::from_elem"),
        ("<[T] as alloc::borrow::ToOwned>::to_owned", "[T]::to_owned"),
        (
            "<&mut F as core::ops::FnOnce<A>>::call_once",
            "<&mut F>::call_once",
        ),
        (
            "<alloc::vec::Vec<u8>>::reserve",
            "alloc::vec::Vec<u8>::reserve",
        ),
        ("alloc::slice::<impl [T]>::to_vec", "[T]::to_vec"),
        (
            "a::b::<impl core::From<X> for c::Y<Z>>::from",
            "c::Y<Z>::from",
        ),
        (
            "std::panicking::catch_unwind::<i32, f::{closure#0}>",
            "std::panicking::catch_unwind",
        ),
        ("f::{{closure}}::{{closure}}", "f::{closure}::{closure}"),
        ("f::{closure#1}", "f::{closure}"),
        (
            "<alloc::vec::Vec<T, alloc::alloc::Global>>::push",
            "alloc::vec::Vec<T>::push",
        ),
        (
            "<F as FnOnce>::call_once{{vtable.shim}}",
            "FnOnce::call_once{shim}",
        ),
    ];
    for (name, expected) in names {
        assert_eq!(tidied(name), expected, "{name}");
    }
}

#[test]
fn what_is_no_such_name_stays() {
    for text in [
        "",
        "(no stack)",
        "(stack cut: 2 too deep)",
        "my program(1)+0x20",
        "luaM_malloc_",
        "a < b, c",
        "live heap 1,234B (2.0 MiB)",
        "program: /my dir/run(1)",
        "a sentence (with more than 24 columns in brackets)",
        ">>::)",
        "main.(*T).Method",
    ] {
        assert_eq!(tidied(text), text);
    }
}

#[test]
fn a_name_gives_way_from_the_inside() {
    let name =
        "std::vector<a::B<c::D<E>>, f::G<H>>& n::m::K<a::B<c::D<E>>, f::G<H>>::put<X>(a::P, int)";
    for (columns, expected) in [
        (99, "n::m::K<a::B<c::D<E>>, f::G<H>>::put<X>(a::P, int)"),
        (49, "n::m::K<a::B<c::D<E>>, f::G<H>>::put<X>(…)"),
        (41, "n::m::K<B<D<E>>, G<H>>::put<X>(P, int)"),
        (35, "n::m::K<B<D<E>>, G<H>>::put<X>(…)"),
        (32, "n::m::K<B<…>, G<H>>::put<X>(…)"),
        (26, "n::m::K<…>::put<X>(…)"),
        (20, "m::K<…>::put<X>(…)"),
        (17, "K<…>::put<X>(…)"),
        (14, "n::m::K::put"),
        (7, "K::put"),
        (5, "put"),
        (2, "p…"),
        (0, "…"),
    ] {
        assert_eq!(brief(name, columns), expected, "{columns}");
    }
    let method = "a::K<a, b, c, d>::make<e, f>()";
    assert_eq!(brief(method, 23), "a::K<…>::make<e, f>()");
    assert_eq!(
        brief("a::g::{closure#0}::{closure#1}", 23),
        "g::{closure}::{closure}"
    );
    assert_eq!(brief("f(aaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbb, c)", 99), "f(…)");
}

#[test]
fn own_paths_are_the_functions() {
    assert_eq!(
        own_path("std::vector<A>& my::f<std::B>(std::C)"),
        ["my", "f"]
    );
    assert_eq!(own_path("std::map<my::A>::at(my::B)"), ["std", "map", "at"]);
    assert_eq!(
        own_path("<my::A as core::B>::f::{{closure}}"),
        ["my", "A", "f", "{closure}"]
    );
    assert_eq!(own_path("main"), ["main"]);
    assert!(own_path("std+0x10").is_empty());
}

#[test]
fn paths_of_others_are_short() {
    let std = "/rustc/59807616e1fa/library/std/src/rt.rs:175";
    let crates = "/home/me/.cargo/registry/src/index.crates.io-1949/regex-1.10.6/src/a/lib.rs:2";
    assert_eq!(brief_path(std), "std/src/rt.rs:175");
    assert_eq!(brief_path(crates), "regex-1.10.6/src/a/lib.rs:2");
    assert_eq!(brief_path("/home/me/a.c:1"), "/home/me/a.c:1");
    assert_eq!(brief_path("/rustc/"), "/rustc/");
    assert_eq!(brief_path("/rust/deps/foo/lib.rs:1"), "foo/lib.rs:1");
    for mine in ["/home/me/rust/deps/foo/lib.rs:1", "/home/me/rustc/a.rs:1"] {
        assert_eq!(brief_path(mine), mine);
    }
    assert_eq!(short_path(std), "std/…/rt.rs:175");
    assert_eq!(short_path(crates), "regex-1.10.6/…/lib.rs:2");
    assert_eq!(short_path("/home/me/a.c:1"), "a.c:1");
    assert_eq!(short_path("/"), "/");
}

#[test]
fn a_name_of_nothing_worth_a_look_stays() {
    assert_eq!(brief("[abi:]", 10), "[abi:]");
    assert_eq!(brief("[abi:cxx11]", 3), "[…]");
}

/// So much of each that a square would take minutes.
#[test]
fn long_names_take_their_time() {
    let pieces = [
        "a<",
        "(",
        "a::<",
        "<a as ",
        "std::map<",
        "a::b<c>, ",
        "> ",
        "{lambda(",
        "a<b>::",
        "::",
        "…",
        "<(",
        "[abi:",
        "a::<impl ",
        "std::set<a, std::less<",
        "operator",
        " const",
        "a::",
    ];
    for piece in pieces {
        let name = piece.repeat((1 << 17) / piece.len());
        let closed = format!("{name}{}", ">".repeat(1 << 16));
        let began = std::time::Instant::now();
        for name in [&name, &closed] {
            assert!(brief(name, 10).chars().count() <= 10);
        }
        assert!(began.elapsed().as_secs() < 10, "{piece}");
    }
}

proptest! {
    #[test]
    fn any_text_has_a_short_form(
        parts in prop::collection::vec(prop::sample::select(vec![
            "std", "::", "<", ">", "(", ")", "[", "]", "{", "}", " ", ", ", "as", "impl ", " for ",
            "operator", "basic_string", "char", "allocator", "less", "&", "const", "{{closure}}",
            "{closure#0}", "[abi:", "lambda", "é", "__1", "map", "T", "->", "#1", "alloc", "Global",
        ]), 0..40),
        columns in 0usize..60,
    ) {
        let name = parts.concat();
        let short = brief(&name, columns);
        prop_assert!(short.chars().count() <= columns.max(1));
        prop_assert!(name.trim().is_empty() || !short.trim().is_empty(), "{name}");
        let whole = brief(&name, usize::MAX);
        prop_assert!(whole.chars().count() <= name.chars().count() + name.matches(',').count());
        own_path(&name);
    }
}
