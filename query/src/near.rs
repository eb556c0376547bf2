//! What a misspelt word was likely meant to be.

use strsim::osa_distance;

/// More names help nobody.
const MOST: usize = 3;
/// No name is as long.
const LONGEST: usize = 40;

/// The names with the fewest wrong letters, if there are few enough of those: two
/// that are swapped count as one.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let allowed = if word.len() > 4 { 2 } else { 1 };
    let near = names.map(|name| (osa_distance(word, name), name));
    let mut near: Vec<_> = near.filter(|(wrong, _)| *wrong <= allowed).collect();
    near.sort();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}
