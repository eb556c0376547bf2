//! `memlog report`, `summary` and `tree` as people and programs see them.

mod below_main;
mod debug_symbols;
mod debuginfod;
mod deep;
mod errors;
mod flame;
mod golden;
mod help;
mod interrupt;
mod json;
mod kept_names;
#[path = "../dot/logs.rs"]
mod logs;
mod mapped;
mod moments;
mod names;
#[path = "../dot/recipe.rs"]
mod recipe;
#[path = "../dot/same.rs"]
mod same;
#[path = "../sites/mod.rs"]
mod sites;
mod snapshots;
mod terminal;
mod timeline;
mod told;
mod tutorial;
mod usage;

use std::fs;

use recipe::Recipe;
use sites::Folder;

/// What a user's own settings would change.
const SETTINGS: &[&str] = &[
    "COLUMNS",
    "PAGER",
    "LESS",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "CLICOLOR",
    "TERM",
];

/// A folder with logs made by hand.
pub fn with_logs(name: &str, logs: &[(&str, Recipe)]) -> Folder {
    let folder = Folder::new(name);
    for (log, recipe) in logs {
        let path = folder.path(&format!("{log}.memlog"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("mkdir");
        fs::write(path, recipe.log()).expect("write");
    }
    folder
}

/// memlog without the settings of who runs the tests; its words separated by
/// blanks.
pub fn memlog(folder: &Folder, words: &str) -> std::process::Command {
    let words: Vec<_> = words.split_whitespace().collect();
    let mut command = folder.memlog(&words);
    for name in SETTINGS {
        command.env_remove(name);
    }
    command
}

/// What it says where nothing is wrong.
#[track_caller]
pub fn says(folder: &Folder, words: &str) -> String {
    let output = memlog(folder, words).output().expect("memlog runs");
    assert!(output.status.success(), "{words}: {}", sites::said(&output));
    String::from_utf8(output.stdout).expect("text")
}
