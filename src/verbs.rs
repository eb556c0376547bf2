//! The names of the commands, and the one that a word was likely meant to be.

/// Which command is for what.
pub const PURPOSES: [(&str, &[&str]); 4] = [
    ("Record a program", &["record", "ldflags"]),
    (
        "See who held the memory",
        &[
            "summary",
            "report",
            "tree",
            "dot",
            "flamegraph",
            "postmortem",
        ],
    ),
    (
        "Ask about blocks",
        &[
            "table",
            "leaks",
            "temporary",
            "histogram",
            "timeline",
            "chains",
            "threads",
            "function",
            "annotate",
            "fragmentation",
            "where",
        ],
    ),
    ("Look into a log", &["info", "stats", "dump"]),
];

/// The command that a word was likely meant to be.
pub fn nearest(word: &str) -> Option<&'static str> {
    let names = PURPOSES.iter().flat_map(|(_, names)| *names).copied();
    let best = names.min_by_key(|name| distance(word, name))?;
    // Of a short word little is left when two of its letters are wrong.
    let allowed = if best.len() > 4 { 2 } else { 1 };
    (distance(word, best) <= allowed).then_some(best)
}

/// How many letters have to be changed, left out, added or swapped.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut above = None;
    for (row, letter) in one.chars().enumerate() {
        let mut next = vec![row + 1];
        for (column, &sought) in other.iter().enumerate() {
            let changed = last[column] + usize::from(letter != sought);
            let mut least = changed.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped = column > 0 && above == Some(sought) && other[column - 1] == letter;
            if is_swapped && let Some(two_before) = before.get(column - 1) {
                least = least.min(two_before + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
        above = Some(letter);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_nearly_right_are_understood() {
        for (word, meant) in [
            ("sumary", "summary"),
            ("summery", "summary"),
            ("reprot", "report"),
            ("reports", "report"),
            ("ldflag", "ldflags"),
            ("dto", "dot"),
            ("tre", "tree"),
            ("statistics", ""),
            ("ls", ""),
            ("make", ""),
            ("python3", ""),
        ] {
            assert_eq!(nearest(word).unwrap_or_default(), meant, "{word}");
        }
    }
}
