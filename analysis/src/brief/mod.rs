//! Names of functions and paths of sources as people say them.
//!
//! A demangler writes all that it knows: return types, default arguments,
//! versions of namespaces. A name of 4,000 columns hides the five words of it
//! that matter. What is shorter here is for the eye only: two functions may
//! look alike, so nothing is ever grouped or looked for by such a name.
//!
//! ```text
//! words and matching brackets                              (tokens)
//! std::basic_string<char, ...>  -> std::string             (standard)
//! <T as Trait>::f, f::<T>, {{closure}}                     (rust)
//! no return type, no const at the end                      (tidy)
//! wider than the columns? give way, the least telling first:  (shorten)
//!     lists of parameters, namespaces within arguments,
//!     arguments from the inside out and from the right to the left,
//!     namespaces in front, what is left of brackets, the middle of a word
//! ```
//!
//! Whatever the text is, an answer comes in time that goes with its length.

mod paths;
mod rust;
mod shorten;
mod standard;
#[cfg(test)]
mod tests;
mod tidy;
mod tokens;

use std::collections::BTreeMap;

pub use paths::{brief_path, short_path};

/// The name in so many columns, if there is a way to cut it down to them.
pub fn brief(name: &str, columns: usize) -> String {
    Brief::of(name).within(columns)
}

/// A name taken apart, to be asked for in several widths.
pub struct Brief<'n> {
    name: &'n str,
    /// Nothing where the name is to be left as it is.
    parts: Option<shorten::Parts<'n>>,
}

impl<'n> Brief<'n> {
    /// Takes a name apart.
    pub fn of(name: &'n str) -> Self {
        // `[abi:]` is nothing but what every name loses.
        let tidy = Some(tidy::tidy(tokens::tokens(name))).filter(|tidy| {
            !is_offset(name) && !shorten::is_blank(tidy.iter().map(|token| token.text))
        });
        let parts = tidy.map(shorten::Parts::of);
        Self { name, parts }
    }

    /// In so many columns, where that can be.
    pub fn within(&self, columns: usize) -> String {
        match &self.parts {
            Some(parts) => parts.within(columns),
            None => shorten::without_middle(self.name, columns),
        }
    }
}

/// The file of a place without a name, `libc.so.6` of `libc.so.6+0x1f0`, which
/// may have any characters before the sign; nothing of a name.
pub fn nameless_in(name: &str) -> Option<&str> {
    let (file, digits) = name.rsplit_once("+0x")?;
    let is_offset = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_offset.then_some(file)
}

/// How much is of places without names, in percent, and the file with most of it.
pub fn without_names<'n>(shares: impl Iterator<Item = (&'n str, f64)>) -> Option<(f64, String)> {
    let mut by_file: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, share) in shares {
        if let Some(file) = nameless_in(name) {
            *by_file.entry(file).or_default() += share;
        }
    }
    let most = by_file.iter().max_by(|one, other| one.1.total_cmp(other.1));
    let (file, _) = most?;
    Some((by_file.values().sum(), (*file).to_owned()))
}

fn is_offset(name: &str) -> bool {
    nameless_in(name).is_some()
}

/// The words of a function's own path, without arguments and return type:
/// `std::vector<A::B>& std::map<C, D>::at(E)` is `std`, `map`, `at`. Of Rust's
/// `<T as Trait>::f` it is T's path, then `f`.
pub fn own_path(name: &str) -> Vec<&str> {
    match is_offset(name) {
        true => Vec::new(),
        false => shorten::path(&tidy::tidy(tokens::tokens(name))),
    }
}
