//! Columns of an answer that an import's source did not know, or that a stripped log lacks:
//! null for programs, and left out for people.

use serde_json::{Map, Value};

use super::table::Which;
use crate::facts::unknown_words;
use crate::page::rows::Rows;

/// What a word of [`unknown_words`] takes away: keys for programs, and columns.
const HIDDEN: [(&str, &[&str], &[&str]); 11] = [
    (
        "times",
        &["_seconds", "seconds"],
        &["born", "died", "lifetime", "when"],
    ),
    (
        "counts",
        &["blocks", "smallest_bytes", "largest_bytes", "allocations"],
        &["blocks", "largest", "not freed", "allocations"],
    ),
    (
        "order",
        &["temporary", "temporary_blocks", "lifetime_seconds"],
        &["temporary", "lifetime"],
    ),
    (
        "gone",
        &[
            "temporary_blocks",
            "allocated_bytes",
            "allocations",
            "releases",
            "all_bytes",
            "all_blocks",
        ],
        &["temporary", "allocations"],
    ),
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
/// When the first and the last block of a group came: of what the recorder left out it is
/// known within a chunk of events only.
const OF_PLACE: (&[&str], &[&str]) = (&["first_seconds", "last_seconds"], &[]);
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
    if stats["stripped"]["while_recording"] == true {
        hidden.push(OF_PLACE);
    }
    let keys: Vec<&str> = hidden.iter().flat_map(|(keys, _)| *keys).copied().collect();
    nulled(&keys, figures);
    if is_unknown("counts") {
        rows.title = without_counts(&rows.title);
    }
    if is_unknown("end") {
        rows.title = rows
            .title
            .replace(Which::Leaked.word().trim(), "not yet freed");
    }
    // A stripped log has counted them before.
    let is_imported = !stats["imported"].is_null();
    let is_guessed = is_imported && is_unknown("lifetimes");
    let temporary = format!(" {}block", Which::Temporary.word());
    if is_guessed && rows.title.contains(&temporary) && !rows.rows.is_empty() {
        rows.title.insert_str(0, "about ");
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

/// A sentence without ` in 12 blocks`; of `in 12 temporary blocks` the second word stays.
fn without_counts(title: &str) -> String {
    let mut left = String::new();
    let mut rest = title;
    while let Some((before, behind)) = rest.split_once(" in ") {
        left += before;
        let counted = without_count(behind);
        left += counted.map_or(" in ", |(which, _)| which);
        rest = counted.map_or(behind, |(_, behind)| behind);
    }
    left + rest
}

/// Of `12 temporary blocks, by` the word before `blocks` and what is behind.
fn without_count(text: &str) -> Option<(&str, &str)> {
    let word = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    let (which, behind) = word.split_once(" block")?;
    let all = [Which::All, Which::Leaked, Which::Temporary];
    let is_which = all.iter().any(|one| one.word().trim() == which.trim());
    let is_count = is_which && word.len() < text.len();
    is_count.then(|| (which, behind.strip_prefix('s').unwrap_or(behind)))
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
            (
                "3 KiB in 12 never freed blocks, by line:",
                "3 KiB never freed, by line:",
            ),
            ("3 KiB in 2 big blocks", "3 KiB in 2 big blocks"),
            ("no block", "no block"),
        ] {
            assert_eq!(without_counts(title), expected);
        }
    }
}
