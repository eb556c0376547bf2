//! Reads the lists of hooked names, `wrap/src/doors.h` and `operators.h`.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// `kind(word, word)`
pub struct Row {
    pub kind: String,
    pub words: Vec<String>,
}

/// `wrap/src`, for the recorder and for its two leaves.
pub fn sources() -> PathBuf {
    Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../wrap/src")
}

/// The lines of these kinds.
pub fn rows(list: &str, kinds: &[&str]) -> Vec<Row> {
    let path = sources().join(list);
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let (kind, words) = line.strip_suffix(')')?.split_once('(')?;
        kinds.contains(&kind).then(|| Row {
            kind: kind.to_owned(),
            words: words
                .split(',')
                .map(|word| word.trim().to_owned())
                .collect(),
        })
    };
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    assert!(!rows.is_empty(), "{list} has no line of {kinds:?}");
    rows
}
