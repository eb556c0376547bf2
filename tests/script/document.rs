//! What doc/SCRIPTS.md shows can be done, and it names every word.

use crate::Leaky;

const DOCUMENT: &str = include_str!("../../doc/SCRIPTS.md");

/// Everything that scripts can say, as the crate registers it.
fn words() -> Vec<String> {
    let sources = [
        include_str!("../../script/src/tables.rs"),
        include_str!("../../script/src/words/durations.rs"),
        include_str!("../../script/src/words/filters.rs"),
        include_str!("../../script/src/words/globals.rs"),
        include_str!("../../script/src/words/graphs.rs"),
        include_str!("../../script/src/words/lists.rs"),
        include_str!("../../script/src/words/print.rs"),
        include_str!("../../script/src/words/single.rs"),
    ];
    let mut words = Vec::new();
    for source in sources {
        let source = source.split("#[cfg(test)]").next().unwrap_or(source);
        for (before, word) in source.split('"').zip(source.split('"').skip(1)) {
            let is_word = before.trim_end().ends_with('(') && !before.contains("contains(");
            let is_plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
            if is_word && word.len() > 1 && word.chars().all(is_plain) {
                words.push(word.to_owned());
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

#[test]
fn every_word_is_explained() {
    let words = words();
    assert!(words.len() > 110, "{words:?}");
    for word in words {
        let is_told =
            DOCUMENT.contains(&format!("`{word}")) || DOCUMENT.contains(&format!("`.{word}"));
        assert!(is_told, "doc/SCRIPTS.md does not name {word}");
    }
}

#[test]
fn its_examples_run() {
    let leaky = Leaky::get();
    let parts = DOCUMENT.split("```rhai\n").skip(1);
    let examples = parts.filter_map(|part| part.split("```").next());
    let mut count = 0;
    for example in examples {
        leaky.says(example);
        count += 1;
    }
    assert!(count >= 4, "{count}");
}
