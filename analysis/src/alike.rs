//! Names as they are in every build of a program, to find a function of one log in
//! another. What compilers number, hash or version goes; what tells two functions of a
//! source apart stays.
//!
//! ```text
//! a::{closure#3}, a::{{closure}}, a::{closure_env#0}    a::{closure}
//! main::{lambda(int)#2}, main::$_0, main::'lambda'      main::{lambda}
//! {anonymous}::f, <unnamed>::f, _GLOBAL__N_x::f         (anonymous namespace)::f
//! std::__cxx11::string, std::__1::string                std::string
//! f[abi:cxx11]                                          f
//! A<B<C> >, A<B, C>                                     A<B<C>>, A<B,C>
//! a::f::h0123456789abcdef, _ZN1a1f17h0123...E           a::f, _ZN1a1fE
//! krate[0123456789abcdef]::f                            krate::f
//! ```
//!
//! Symbol tables' own marks (`.isra.0`, `.cold`, `@GLIBC_2.2.5`) are gone where names
//! were looked up. It is for comparing only: people see the names of their log. Very long
//! names are as they are: to look through one takes its length's square at worst.

const CLOSURE: &str = "{closure}";
const LAMBDA: &str = "{lambda}";
const ANONYMOUS: &str = "(anonymous namespace)";

/// What is always written in one way.
const SPELLINGS: [(&str, &str); 7] = [
    ("{{closure}}", CLOSURE),
    ("{anonymous}", ANONYMOUS),
    ("<unnamed>", ANONYMOUS),
    ("{{constructor}}", "{constructor}"),
    ("{{impl}}", "{impl}"),
    ("{{vtable.shim}}", "{shim}"),
    ("{{vtable-shim}}", "{shim}"),
];
/// What has a number behind it, in brackets.
const NUMBERED: [(&str, &str); 7] = [
    ("{closure#", CLOSURE),
    ("{closure_env#", CLOSURE),
    ("{impl#", "{impl}"),
    ("{constant#", "{constant}"),
    ("{shim:vtable#", "{shim}"),
    ("{unnamed type#", "{unnamed type}"),
    ("{block#", "{block}"),
];
/// Namespaces that are versions of the one around them.
const VERSIONS: [&str; 5] = ["__cxx11", "__1", "__2", "__ndk1", "_V2"];
/// Digits of a hash of rustc's.
const HASH: usize = 16;

/// A longer name is not looked through.
const LONGEST: usize = 4 << 10;

/// The name as every build has it.
pub fn alike(name: &str) -> String {
    if name.len() > LONGEST {
        return name.to_owned();
    }
    let name = without_hash(name);
    let mut out = String::with_capacity(name.len());
    let mut rest = name.as_ref();
    while let Some(first) = rest.chars().next() {
        let is_start = !out.ends_with(is_word);
        if let Some((spelling, long)) = one_way(rest, is_start) {
            out.push_str(spelling);
            rest = &rest[long..];
            continue;
        }
        if let Some(long) = dropped(rest, &out) {
            rest = &rest[long..];
            continue;
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// What is written differently, how it is written here, and how long it is there.
fn one_way(rest: &str, is_start: bool) -> Option<(&'static str, usize)> {
    if let Some((long, short)) = SPELLINGS.iter().find(|(long, _)| rest.starts_with(long)) {
        return Some((short, long.len()));
    }
    if let Some((open, short)) = NUMBERED.iter().find(|(open, _)| rest.starts_with(open)) {
        let digits = digits(&rest[open.len()..]);
        let end = open.len() + digits;
        return (digits > 0 && rest[end..].starts_with('}')).then_some((short, end + 1));
    }
    if rest.starts_with("{lambda(") {
        return Some((LAMBDA, closing(rest)?));
    }
    if let Some(number) = rest.strip_prefix("'lambda") {
        let digits = digits(number);
        return number[digits..]
            .starts_with('\'')
            .then_some((LAMBDA, "'lambda'".len() + digits));
    }
    if let Some(number) = rest.strip_prefix("$_").filter(|_| is_start) {
        let digits = digits(number);
        let is_end = !number[digits..].starts_with(is_word);
        return (digits > 0 && is_end).then_some((LAMBDA, 2 + digits));
    }
    let is_anonymous = is_start && rest.starts_with("_GLOBAL__N_");
    is_anonymous.then(|| {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        (ANONYMOUS, end)
    })
}

/// How much of the rest tells nothing.
fn dropped(rest: &str, before: &str) -> Option<usize> {
    if let Some(version) = rest.strip_prefix("[abi:") {
        let end = version.find(|c| !is_word(c))?;
        return version[end..].starts_with(']').then_some(5 + end + 1);
    }
    if let Some(hash) = rest.strip_prefix('[').filter(|_| before.ends_with(is_word)) {
        let is_hash = hash.get(..HASH).is_some_and(is_hex) && hash[HASH..].starts_with(']');
        return is_hash.then_some(HASH + 2);
    }
    if rest.starts_with(' ') {
        let behind = rest.trim_start_matches(' ');
        let is_idle = before.ends_with(',') || before.ends_with('>') && behind.starts_with('>');
        return is_idle.then_some(rest.len() - behind.len());
    }
    let is_inner = before.ends_with("::");
    let version = VERSIONS.iter().filter(|_| is_inner).find(|version| {
        let behind = rest.strip_prefix(**version);
        behind.is_some_and(|behind| behind.starts_with("::"))
    });
    version.map(|version| version.len() + 2)
}

/// Rust's first mangling, whether it was undone or not.
fn without_hash(name: &str) -> std::borrow::Cow<'_, str> {
    let end = name.strip_suffix('E').filter(|_| name.starts_with("_ZN"));
    let (whole, mark) = match end {
        Some(whole) => (whole, "17h"),
        None => (name, "::h"),
    };
    let at = whole.len().saturating_sub(HASH);
    let Some((before, hash)) = whole.split_at_checked(at) else {
        return name.into();
    };
    match before.strip_suffix(mark) {
        Some(before) if is_hex(hash) && !before.is_empty() => match end {
            Some(_) => format!("{before}E").into(),
            None => before.into(),
        },
        _ => name.into(),
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn digits(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit());
    end.unwrap_or(text.len())
}

/// Where the bracket that a text begins with is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The name of a C++ function without its parameters, of which debug information may
/// know nothing; none where there are none.
pub fn bare(name: &str) -> Option<&str> {
    let end = name.rfind(')')?;
    let behind = &name[end + 1..];
    let is_end = behind
        .split(' ')
        .all(|word| matches!(word, "" | "const" | "volatile" | "&" | "&&" | "noexcept"));
    if !is_end {
        return None;
    }
    let mut depth = 0u32;
    for (at, letter) in name[..=end].char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let before = &name[..at];
            // `(anonymous namespace)` and `operator()` are no parameters.
            let is_name = before.ends_with(|c| is_word(c) || c == '>' || c == '}' || c == ')');
            return is_name.then_some(before);
        }
    }
    None
}

/// A library's file without its version: `libc.so` of `libc.so.6` and of `libc-2.31.so`.
pub fn module_stem(file: &str) -> String {
    let mut cuts = file.match_indices(".so");
    let cut = cuts.find(|(at, end)| {
        let behind = &file[at + end.len()..];
        behind.is_empty()
            || behind.starts_with('.') && behind[1..].starts_with(|c: char| c.is_ascii_digit())
    });
    let Some((at, end)) = cut else {
        return file.to_owned();
    };
    let name = &file[..at];
    let is_version = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let name = match name.rsplit_once('-') {
        Some((name, version)) if !name.is_empty() && is_version(version) => name,
        _ => name,
    };
    format!("{name}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_function_in_two_builds() {
        for (one, other) in [
            ("main", "main"),
            ("app::run::{closure#3}", "app::run::{closure#11}"),
            ("app::run::{{closure}}", "app::run::{closure#0}"),
            ("app::run::{closure_env#0}", "app::run::{closure#1}"),
            ("app::run::h0123456789abcdef", "app::run::hfedcba9876543210"),
            ("app::run::h0123456789abcdef", "app::run"),
            (
                "_ZN3app3run17h0123456789abcdefE",
                "_ZN3app3run17hfedcba9876543210E",
            ),
            ("app[0123456789abcdef]::run", "app::run"),
            (
                "<app[0123456789abcdef]::T as core[fedcba9876543210]::U>::f",
                "<app::T as core::U>::f",
            ),
            ("app::{impl#4}::new", "app::{impl#5}::new"),
            ("app::{{impl}}::new", "app::{impl#5}::new"),
            (
                "main::{lambda(int)#2}::operator()(int) const",
                "main::{lambda(int)#1}::operator()(int) const",
            ),
            (
                "main::{lambda({lambda(int)#1})#2}::operator()() const",
                "main::{lambda(char)#1}::operator()() const",
            ),
            (
                "main::$_0::operator()() const",
                "main::{lambda()#1}::operator()() const",
            ),
            ("main::'lambda0'::operator()", "main::'lambda'::operator()"),
            ("(anonymous namespace)::f()", "{anonymous}::f()"),
            ("<unnamed>::f()", "_GLOBAL__N__a1b2_4_x_cc::f()"),
            (
                "std::__cxx11::basic_string<char>::f()",
                "std::basic_string<char>::f()",
            ),
            ("std::__1::vector<int>::f()", "std::vector<int>::f()"),
            ("name[abi:cxx11](int)", "name(int)"),
            (
                "std::map<A, std::less<A> >::f()",
                "std::map<A,std::less<A>>::f()",
            ),
        ] {
            assert_eq!(alike(one), alike(other), "{one}, {other}");
            assert_eq!(alike(&alike(one)), alike(one), "{one}: twice");
        }
    }

    #[test]
    fn two_functions_in_any_build() {
        for (one, other) in [
            ("foo1", "foo2"),
            ("foo", "foo_cold"),
            ("foo(int)", "foo(long)"),
            ("a::foo", "b::foo"),
            ("inner.0", "inner.1"),
            ("app::run::{closure#0}", "app::run"),
            ("app::run::{closure#0}", "app::stop::{closure#0}"),
            (
                "app::run::{closure#0}::{closure#0}",
                "app::run::{closure#0}",
            ),
            ("app::h0123456789abcdef0", "app::h0123456789abcdef1"),
            ("app::h012345678", "app::h012345679"),
            ("std::vector<int>::f()", "std::vector<char>::f()"),
            ("std::__1x::f()", "std::f()"),
            ("__1::f()", "f()"),
            ("a$_0", "a$_1"),
            ("operator>>", "operator>"),
            ("f[0123456789abcde]", "f[0123456789abcdf]"),
            ("table[16]", "table[17]"),
        ] {
            assert_ne!(alike(one), alike(other), "{one}, {other}");
        }
    }

    #[test]
    fn any_text_is_taken() {
        for text in [
            "",
            "{",
            "{lambda(",
            "{lambda(}",
            "$_",
            "'lambda",
            "[abi:",
            "[",
            "é::h",
            "::h",
            "::h0123456789abcdef",
            "_ZN17h0123456789abcdefE",
            "{closure#}",
            "{closure#1",
            "a[éééééééé]",
            "_GLOBAL__N_",
            "> >",
            ", ,",
            "é0123456789abcde",
        ] {
            let once = alike(text);
            assert_eq!(alike(&once), once, "{text}");
            bare(text);
            module_stem(text);
        }
    }

    /// One bracket after the other, none of them closed: a log may say so of a function.
    #[test]
    fn a_very_long_name_is_as_it_is() {
        for part in ["{lambda(", "                ", "a[abi:x]"] {
            let long = part.repeat(1 << 20);
            assert_eq!(alike(&long), long);
        }
        let name = format!("{}[abi:x]", "a".repeat(LONGEST - 7));
        assert_eq!(alike(&name), "a".repeat(LONGEST - 7));
    }

    #[test]
    fn parameters_go() {
        for (name, expected) in [
            ("a::foo(int)", Some("a::foo")),
            ("a::foo(int (*)(char)) const", Some("a::foo")),
            ("foo<(A)1>(int)", Some("foo<(A)1>")),
            (
                "(anonymous namespace)::run()",
                Some("(anonymous namespace)::run"),
            ),
            (
                "main::{lambda}::operator()() const",
                Some("main::{lambda}::operator()"),
            ),
            ("main", None),
            ("(no stack)", None),
            ("(stack cut: no tables)", None),
            ("foo)", None),
            ("foo(int)::x", None),
        ] {
            assert_eq!(bare(name), expected, "{name}");
        }
    }

    #[test]
    fn libraries_lose_their_version() {
        for (file, stem) in [
            ("libfoo.so.1.2", "libfoo.so"),
            ("libfoo.so", "libfoo.so"),
            ("libc-2.31.so", "libc.so"),
            ("libc.so.6", "libc.so"),
            ("libpython3.11.so.1.0", "libpython3.11.so"),
            ("libfoo-bar.so.1", "libfoo-bar.so"),
            ("-1.so", "-1.so"),
            ("server", "server"),
            ("my.social", "my.social"),
            ("a.so.b", "a.so.b"),
        ] {
            assert_eq!(module_stem(file), stem, "{file}");
        }
    }
}
