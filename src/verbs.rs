//! The names of the commands, and the one that a word was likely meant to be.

use strsim::osa_distance;

/// Which command is for what.
pub const PURPOSES: [(&str, &[&str]); 9] = [
    (
        "Record a program",
        &["record", "attach", "detach", "ctl", "ldflags"],
    ),
    ("Watch a program while it runs", &["top", "follow"]),
    (
        "See who held the memory",
        &[
            "summary",
            "report",
            "tree",
            "server",
            "html",
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
            "diff",
            "ranks",
            "temporary",
            "histogram",
            "timeline",
            "chains",
            "threads",
            "function",
            "annotate",
            "fragmentation",
            "maps",
            "rss",
            "where",
            "script",
        ],
    ),
    ("Look into a log", &["info", "stats", "dump"]),
    ("Try other allocators", &["replay"]),
    (
        "Give it to other tools, or take it from them",
        &["export", "import"],
    ),
    (
        "Take it elsewhere",
        &["pack", "extract", "strip", "gather", "stream"],
    ),
    ("Fail a build when memory grows", &["check"]),
];

/// The command that a word was likely meant to be. Letters that are swapped are
/// one that is wrong.
pub fn nearest(word: &str) -> Option<&'static str> {
    let names = PURPOSES.iter().flat_map(|(_, names)| *names).copied();
    let best = names.min_by_key(|name| osa_distance(word, name))?;
    // Of a short word little is left when two of its letters are wrong.
    let allowed = if best.len() > 4 { 2 } else { 1 };
    (osa_distance(word, best) <= allowed).then_some(best)
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
