//! Rust's own crates, by what a function is called. Whose it is says the crate
//! that it is written in: of `<T as Trait>::f` either T's or the trait's, so
//! only where both are the library's nobody else can have written it.

/// In C++ they would be anybody's.
const CRATES: [&str; 5] = ["std", "core", "alloc", "hashbrown", "panic_unwind"];

/// Whether a function is of Rust's own crates.
pub(super) fn is_standard(function: &str) -> bool {
    let Some((own, behind)) = function.strip_prefix('<').and_then(qualified) else {
        return owner(function) == Owner::Standard;
    };
    if behind.is_empty() {
        return false;
    }
    match split_as(own) {
        Some((own, of_trait)) => owner(own) != Owner::User && owner(of_trait) == Owner::Standard,
        None => owner(own) == Owner::Standard,
    }
}

#[derive(PartialEq, Eq)]
enum Owner {
    Standard,
    /// `u8`, or a parameter of a type: nobody's.
    Nobody,
    User,
}

/// Whose a path or type is, by its first crate.
fn owner(path: &str) -> Owner {
    const BEFORE: [&str; 3] = ["mut ", "const ", "dyn "];
    let mut path = path;
    loop {
        let bare = path.trim_start_matches(['<', '&', '*', '[', '(']);
        let bare = BEFORE
            .iter()
            .fold(bare, |bare, word| bare.trim_start_matches(word));
        if bare.len() == path.len() {
            break;
        }
        path = bare;
    }
    match path.split_once("::") {
        Some((first, _)) if CRATES.contains(&first) => Owner::Standard,
        Some(_) => Owner::User,
        None => Owner::Nobody,
    }
}

/// What stands before the bracket that closes, and what follows.
fn qualified(text: &str) -> Option<(&str, &str)> {
    let close = on_level(text).find(|(_, rest)| rest.starts_with('>'))?;
    Some((close.0, &close.1[1..]))
}

/// `T as Trait`, `as` being of no brackets within.
fn split_as(text: &str) -> Option<(&str, &str)> {
    let (own, rest) = on_level(text).find(|(_, rest)| rest.starts_with(" as "))?;
    Some((own, &rest[" as ".len()..]))
}

/// A text in two, wherever no bracket is open.
fn on_level(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut depth = 0;
    let mut before = ' ';
    text.char_indices().filter_map(move |(at, letter)| {
        // The arrow of `fn(A) -> B` closes nothing.
        let is_arrow = letter == '>' && before == '-';
        let is_level = depth == 0 && !is_arrow;
        match letter {
            '<' => depth += 1,
            '>' if !is_arrow => depth -= 1,
            _ => {}
        }
        before = letter;
        is_level.then(|| text.split_at(at))
    })
}
