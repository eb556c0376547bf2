//! What a misspelt word was likely meant to be.

/// More names help nobody.
const MOST: usize = 3;
/// No name is as long.
const LONGEST: usize = 40;

/// The names with the fewest wrong letters, if there are few enough of those.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let allowed = if word.len() > 4 { 2 } else { 1 };
    let near = names.map(|name| (distance(word, name), name));
    let mut near: Vec<_> = near.filter(|(wrong, _)| *wrong <= allowed).collect();
    near.sort();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// How many letters have to be changed, left out or added.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut above[0], row + 1);
        for (column, &sought) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != sought);
            diagonal = above[column + 1];
            above[column + 1] = changed.min(diagonal + 1).min(above[column] + 1);
        }
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (one, other, wrong) in [
            ("", "ab", 2),
            ("size", "size", 0),
            ("sise", "size", 1),
            ("szie", "size", 2),
            ("lifetim", "lifetime", 1),
        ] {
            assert_eq!(distance(one, other), wrong, "{one} {other}");
        }
    }
}
