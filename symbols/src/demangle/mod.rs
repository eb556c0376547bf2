//! From a name in a file to a name for people.
//!
//! Order: Rust, if the name really is one; C++; Fortran. What a compiler hangs on a function's
//! name when it clones or splits it (`.isra.0`, `.cold`) and a symbol's version (`@@GLIBC_2.34`)
//! are dropped: the function in the source is the same, and its figures belong together.

mod fortran;
mod suffix;

use std::fmt;
use std::sync::Arc;

pub use suffix::strip as without_marks;

/// Longer names are not demangled, and cut when shown.
pub const MAX_RAW_NAME: usize = 64 << 10;
/// A name that grows beyond this is shown as it stands in the file.
pub const MAX_DEMANGLED_NAME: usize = 1 << 20;
/// And so is one that grows to more than so many times its length, and some: a file of short
/// names that each print a megabyte must not take all memory. Templates of templates reach 30.
const MAX_GROWTH: usize = 64;
/// What even the shortest name may grow to.
const MAX_SHORT_NAME: usize = 4 << 10;
/// How deep a C++ name may nest: some parts are read twice at each level, so that a level more
/// can take four times as long and as much memory. Of real names one in some thousands nests
/// deeper, and is shown as it stands.
const MAX_DEPTH: u32 = 56;
/// A longer name may nest less deep, or the memory for one made on purpose would have no bound.
const LONG_NAME: usize = 4 << 10;
/// See [`LONG_NAME`].
const MAX_LONG_DEPTH: u32 = 40;

/// What is known about a name's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Nothing.
    Unknown,
    /// It comes from Fortran code: `proc_` is `proc`.
    Fortran,
}

/// The three ways it can go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A name for people.
    Named(Arc<str>),
    /// The name is not mangled.
    Plain,
    /// The name is mangled in a way that cannot be undone.
    Failed,
}

/// The name for people, or `None` if `raw` is that already or cannot be demangled.
pub fn demangle(raw: &str, hint: Hint) -> Option<String> {
    match outcome(raw, hint) {
        Outcome::Named(name) => Some(name.to_string()),
        Outcome::Plain | Outcome::Failed => None,
    }
}

pub(crate) fn outcome(raw: &str, hint: Hint) -> Outcome {
    if raw.len() > MAX_RAW_NAME {
        return Outcome::Failed;
    }
    let name = suffix::strip(raw);
    if let Some(name) = rust(name)
        .or_else(|| cpp(name))
        .or_else(|| fortran::demangle(name))
    {
        return Outcome::Named(name.into());
    }
    if name.starts_with("_Z") {
        return Outcome::Failed;
    }
    if hint == Hint::Fortran
        && let Some(name) = fortran::external(name)
    {
        return Outcome::Named(name.into());
    }
    if name.len() < raw.len() {
        Outcome::Named(name.into())
    } else {
        Outcome::Plain
    }
}

/// Whether a symbol can only come from Fortran code or its run-time library.
pub(crate) fn is_sure_sign_of_fortran(name: &[u8]) -> bool {
    fortran::is_sure_sign(name)
}

fn rust(name: &str) -> Option<String> {
    let v0 = name.strip_prefix("_R").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
    });
    if !v0 && !is_rust_legacy(name) {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded::of(name);
    fmt::write(&mut out, format_args!("{demangled:#}")).ok()?;
    // A crate's name may have no letter.
    Some(out.text).filter(|text| !text.is_empty())
}

/// Rust's first mangling is C++'s with a last part of `h` and 16 hexadecimal digits; without a
/// look at that part every C++ name of a variable would pass for Rust.
fn is_rust_legacy(name: &str) -> bool {
    let hash = name
        .strip_prefix("_ZN")
        .and_then(|rest| rest.strip_suffix('E'))
        .and_then(|rest| rest.len().checked_sub(19).and_then(|at| rest.get(at..)));
    hash.and_then(|hash| hash.strip_prefix("17h"))
        .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let depth = match name.len() {
        ..LONG_NAME => MAX_DEPTH,
        _ => MAX_LONG_DEPTH,
    };
    let parsing = cpp_demangle::ParseOptions::default().recursion_limit(depth);
    let printing = cpp_demangle::DemangleOptions::default().recursion_limit(depth);
    let symbol = cpp_demangle::Symbol::new_with_options(name.as_bytes(), &parsing).ok()?;
    let mut out = Bounded::of(name);
    symbol.structured_demangle(&mut out, &printing).ok()?;
    Some(without_empty_packs(out.text))
}

/// An empty parameter pack is printed as nothing between commas; no other name has that.
fn without_empty_packs(mut name: String) -> String {
    for (wart, clean) in [
        (", ,", ","),
        (", >", ">"),
        ("<, ", "<"),
        (", )", ")"),
        ("(, ", "("),
    ] {
        while name.contains(wart) {
            name = name.replace(wart, clean);
        }
    }
    name
}

/// Text that refuses to grow too far: substitutions in a name of a few hundred bytes can print
/// gigabytes.
struct Bounded {
    text: String,
    most: usize,
}

impl Bounded {
    /// For the text of a name.
    fn of(raw: &str) -> Self {
        let most = (MAX_GROWTH * raw.len()).max(MAX_SHORT_NAME);
        Self {
            text: String::new(),
            most: most.min(MAX_DEMANGLED_NAME),
        }
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.most {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let table = [
            // Rust, both manglings; a hash and what LLVM appends go.
            ("_ZN4core3ptr4read17h0123456789abcdefE", "core::ptr::read"),
            (
                "_ZN4core3ptr4read17h0123456789abcdefE.llvm.1234567890",
                "core::ptr::read",
            ),
            (
                "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h0123456789abcdefE",
                "<T as core::convert::Into<U>>::into",
            ),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            // C++, among it what only looks like Rust.
            ("_ZN3foo3barEv", "foo::bar()"),
            ("_ZN3foo3barE", "foo::bar"),
            ("_ZN3foo3bazEi.isra.0", "foo::baz(int)"),
            ("_ZN3foo3bazEi.constprop.0.cold", "foo::baz(int)"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()"),
            (
                "_ZZ4mainENKUlvE_clEv",
                "main::{lambda()#1}::operator()() const",
            ),
            // Empty packs in front, in the middle and at the end.
            ("_Z1fIiJEJEEvv", "void f<int>()"),
            ("_Z1fIJEiJEiEvv", "void f<int, int>()"),
            ("_Znwm", "operator new(unsigned long)"),
            // Versions and clones of C.
            ("malloc@@GLIBC_2.2.5", "malloc"),
            ("read@GLIBC_2.2.5", "read"),
            ("grow.part.0", "grow"),
            ("grow.cold", "grow"),
            ("grow.constprop.0.isra.0", "grow"),
            ("grow.lto_priv.12", "grow"),
        ];
        for (raw, expected) in table {
            assert_eq!(
                demangle(raw, Hint::Unknown).as_deref(),
                Some(expected),
                "{raw}"
            );
        }
    }

    #[test]
    fn left_alone() {
        for raw in [
            "main",
            "_start",
            "",
            "_",
            "_Z",
            "_R",
            "a.b",
            "inner.0",
            "proc_",
            "@plt",
            "é.cold.é",
            // A crate whose name has no letter.
            "_RCsd_0",
        ] {
            assert_eq!(demangle(raw, Hint::Unknown), None, "{raw}");
        }
        assert_eq!(outcome("_Z!", Hint::Unknown), Outcome::Failed);
        assert_eq!(outcome("main", Hint::Unknown), Outcome::Plain);
    }

    #[test]
    fn a_small_name_cannot_print_gigabytes() {
        // Each pair doubles: `std::pair<S, S>` of the substitution before.
        let mut raw = String::from("_Z1fSt4pairIiiE");
        let mut last = String::from("S0_");
        for n in 1..34 {
            raw.push_str(&format!("St4pairI{last}{last}E"));
            last = format!(
                "S{}_",
                char::from_digit(n, 36).unwrap().to_ascii_uppercase()
            );
        }
        assert!(demangle(&raw, Hint::Unknown).is_none_or(|name| name.len() <= MAX_DEMANGLED_NAME));
        let deep = format!("_Z1f{}i", "P".repeat(60_000));
        assert_eq!(outcome(&deep, Hint::Unknown), Outcome::Failed);
        let long = format!("_ZN{}E", "1a".repeat(40_000));
        assert_eq!(outcome(&long, Hint::Unknown), Outcome::Failed);
    }

    #[test]
    fn parts_that_are_read_twice_do_not_nest_deep() {
        let nested = |times| format!("_ZN{}G\u{17}9pushKi", "St7vecxorzIaSaI".repeat(times));
        let parsing = cpp_demangle::ParseOptions::default().recursion_limit(MAX_DEPTH);
        let parsed =
            |name: &str| cpp_demangle::Symbol::new_with_options(name.as_bytes(), &parsing).err();
        let too_deep = Some(cpp_demangle::error::Error::TooMuchRecursion);
        assert_ne!(parsed(&nested(2)), too_deep);
        assert_eq!(parsed(&nested(8)), too_deep);
    }

    #[test]
    fn a_name_grows_with_its_length() {
        // A pair of the pair before, so many times.
        let doubled = |times: u32| {
            let mut raw = String::from("_Z1fSt4pairIiiE");
            for n in 0..times {
                let last = char::from_digit(2 * n, 36).unwrap().to_ascii_uppercase();
                raw.push_str(&format!("St4pairIS{last}_S{last}_E"));
            }
            raw
        };
        let shown = demangle(&doubled(5), Hint::Unknown).unwrap();
        assert!((1000..MAX_SHORT_NAME).contains(&shown.len()));
        assert_eq!(outcome(&doubled(14), Hint::Unknown), Outcome::Failed);
    }
}
