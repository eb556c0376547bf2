//! What compilers and linkers append to a function's name.

/// Words that mark a clone or a part of a function, each after a dot and often before a number.
const CLONES: [&str; 11] = [
    "isra",
    "constprop",
    "part",
    "cold",
    "hot",
    "warm",
    "lto_priv",
    "localalias",
    "llvm",
    "clone",
    "__uniq",
];

/// The name without version and clone marks. Other dots stay: `inner.0` is another function than
/// `inner.1`.
pub fn strip(raw: &str) -> &str {
    let mut name = match raw.find('@') {
        Some(at) if at > 0 => &raw[..at],
        _ => raw,
    };
    while let Some(shorter) = without_last_mark(name) {
        name = shorter;
    }
    name
}

fn without_last_mark(name: &str) -> Option<&str> {
    let unnumbered = match name.rsplit_once('.') {
        Some((rest, number)) if is_number(number) => rest,
        _ => name,
    };
    let (rest, word) = unnumbered.rsplit_once('.')?;
    (!rest.is_empty() && CLONES.contains(&word)).then_some(rest)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn marks() {
        assert_eq!(strip("f.isra.0.part.1.cold"), "f");
        assert_eq!(strip("f.cold.1"), "f");
        assert_eq!(strip("f.llvm.98765@@V1"), "f");
        assert_eq!(strip(".cold"), ".cold");
        assert_eq!(strip("inner.3"), "inner.3");
        assert_eq!(strip("f.avx2"), "f.avx2");
    }
}
