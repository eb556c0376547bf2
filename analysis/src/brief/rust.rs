//! What Rust writes in `<>` that are no arguments.

use super::tidy::Draft;
use super::tokens::Kind;

/// `<T as Trait>::f` and `a::<impl Trait for T>::f` are `T::f`, `f::<A>` is
/// `f`; `path` is where the path begins that the bracket stands in.
pub(super) fn qualified(draft: &mut Draft, open: usize, path: usize) {
    let close = draft.tokens[open].partner;
    let is_inside = open > 0 && draft.kind(open - 1) == Some(Kind::Path);
    let is_impl = draft.text(open + 1) == "impl" && draft.kind(open + 2) == Some(Kind::Space);
    if is_impl {
        let own = find(draft, open, close, "for").map_or(open + 3, |at| at + 2);
        keep(draft, path.min(open), (open, close), (own, close));
    } else if is_inside {
        draft.drop(open - 1, close + 1);
    } else {
        let own = match find(draft, open, close, "as") {
            None => (open + 1, close),
            // Of a type that may be any the trait says more.
            Some(at) if at == open + 3 && is_parameter(draft.text(open + 1)) => (at + 2, close),
            Some(at) => (open + 1, at - 1),
        };
        keep(draft, open, (open, close), own);
    }
}

/// The word behind a blank, on the level within the brackets.
fn find(draft: &Draft, open: usize, close: usize, word: &str) -> Option<usize> {
    let is_there = |&at: &usize| {
        draft.text(at) == word && at > open + 1 && draft.kind(at - 1) == Some(Kind::Space)
    };
    draft.level(open + 1, close).find(is_there)
}

/// Leaves of a path and its brackets what is its `own`, in brackets unless it
/// is a path itself.
fn keep(draft: &mut Draft, path: usize, (open, close): (usize, usize), own: (usize, usize)) {
    if is_path(draft, own) {
        draft.drop(path, own.0);
        draft.drop(own.1, close + 1);
    } else {
        draft.drop(path, open);
        draft.drop(open + 1, own.0);
        draft.drop(own.1, close);
    }
}

/// `T`, `K2`
fn is_parameter(word: &str) -> bool {
    word.len() <= 2 && word.starts_with(|c: char| c.is_ascii_uppercase())
}

fn is_path(draft: &Draft, (from, to): (usize, usize)) -> bool {
    let is_name = draft.kind(from) == Some(Kind::Word);
    let is_slice = draft.kind(from) == Some(Kind::Open(b'['));
    let is_within = |at| !matches!(draft.kind(at), Some(Kind::Space | Kind::Sign));
    from < to && (is_name || is_slice) && draft.level(from, to).all(is_within)
}
