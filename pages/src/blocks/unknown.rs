//! Columns of an answer that an import's source did not know, or that a stripped log lacks:
//! null for programs, and left out for people.

use serde_json::{Map, Value};

use crate::facts::unknown_words;
use crate::page::rows::Rows;

/// What a word of [`unknown_words`] takes away: keys for programs, and columns.
const HIDDEN: [(&str, &[&str], &[&str]); 11] = [
    (
        "times",
        &["_seconds"],
        &["born", "died", "lifetime", "when"],
    ),
    (
        "counts",
        &["blocks", "smallest_bytes", "largest_bytes"],
        &["blocks", "largest", "not freed"],
    ),
    (
        "order",
        &["temporary", "temporary_blocks", "lifetime_seconds"],
        &["temporary", "lifetime"],
    ),
    ("gone", &["temporary_blocks"], &["temporary"]),
    (
        "lifetimes",
        &["freed_seconds", "lifetime_seconds"],
        &["died", "lifetime"],
    ),
    ("course", &["allocated_seconds"], &["born"]),
    ("addresses", &["address"], &["address"]),
    ("threads", &["thread", "freed_by"], &["thread"]),
    ("functions", &["kind"], &["kind"]),
    ("sizes", &["smallest_bytes", "largest_bytes"], &["largest"]),
    (
        "reallocs",
        &["chain", "chain_position", "moved"],
        &["chain"],
    ),
];
/// What usable sizes are behind.
const OF_USABLE: (&[&str], &[&str]) = (&["waste_bytes", "usable_bytes"], &["waste", "usable"]);
const OF_LIVE: (&[&str], &[&str]) = (&["leaked_bytes", "leaked_blocks"], &["not freed"]);

/// Takes away what is not known; `stats` are the log's figures.
pub fn hide(stats: &Value, figures: &mut Map<String, Value>, rows: &mut Rows) {
    let unknown = unknown_words(stats);
    if unknown.is_empty() {
        return;
    }
    let is_unknown = |word: &str| unknown.contains(&word);
    let hidden = HIDDEN.iter().filter(|(word, ..)| is_unknown(word));
    let mut hidden: Vec<_> = hidden.map(|(_, keys, titles)| (*keys, *titles)).collect();
    if stats["usable_total_bytes"].is_null() {
        hidden.push(OF_USABLE);
    }
    if is_unknown("live") {
        hidden.push(OF_LIVE);
    }
    let keys: Vec<&str> = hidden.iter().flat_map(|(keys, _)| *keys).copied().collect();
    nulled(&keys, figures);
    if is_unknown("counts") {
        rows.title = without_counts(&rows.title);
    }
    // What a row is about stays.
    let all = rows.columns.len().saturating_sub(1);
    let is_hidden = |title: &String| {
        let mut titles = hidden.iter().flat_map(|(_, titles)| *titles);
        titles.any(|one| one == title)
    };
    for column in (0..all).rev() {
        if is_hidden(&rows.columns[column]) {
            rows.columns.remove(column);
            for row in rows.rows.iter_mut().filter(|row| column < row.len()) {
                row.remove(column);
            }
        }
    }
}

/// A sentence without ` in 12 blocks`.
fn without_counts(title: &str) -> String {
    let mut left = String::new();
    let mut rest = title;
    while let Some((before, behind)) = rest.split_once(" in ") {
        let digits = |c: char| c.is_ascii_digit() || c == ',';
        let word = behind.trim_start_matches(digits);
        let blocks = word.strip_prefix(" blocks").or(word.strip_prefix(" block"));
        left += before;
        match blocks.filter(|_| word.len() < behind.len()) {
            Some(behind) => rest = behind,
            None => {
                left += " in ";
                rest = behind;
            }
        }
    }
    left + rest
}

/// The same of a row and of those in it. A key that begins with `_` is how others end.
fn nulled(keys: &[&str], figures: &mut Map<String, Value>) {
    for (name, value) in figures.iter_mut() {
        let is = |key: &&str| match key.strip_prefix('_') {
            Some(_) => name.ends_with(*key),
            None => name == key || *key == "blocks" && name.ends_with("_blocks"),
        };
        match value {
            // Those of a log have been asked already.
            _ if name == "stats" => {}
            _ if keys.iter().any(is) => *value = Value::Null,
            Value::Object(inner) => nulled(keys, inner),
            Value::Array(list) => {
                let inner = list.iter_mut().filter_map(Value::as_object_mut);
                inner.for_each(|inner| nulled(keys, inner));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_left_out_of_titles() {
        for (title, expected) in [
            ("3 KiB in 12 blocks, by line:", "3 KiB, by line:"),
            (
                "3 KiB in 1 block live in main, by line:",
                "3 KiB live in main, by line:",
            ),
            (
                "+1 KiB, from 2 KiB in 1,234 blocks to 3 KiB in 1 block, by file:",
                "+1 KiB, from 2 KiB to 3 KiB, by file:",
            ),
            ("no block", "no block"),
        ] {
            assert_eq!(without_counts(title), expected);
        }
    }
}
