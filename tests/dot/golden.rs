//! The pages of logs made by hand are those of `golden/show/`, byte for byte.

use std::fs;

use crate::logs::{blind, empty, odd, sites};
use crate::recipe::Recipe;
use crate::same::same;
use crate::sites::Folder;
use crate::{drawn, memlog2dot};

/// Draws the log and compares all that is text.
#[track_caller]
fn check(folder: &Folder, log: &str, recipe: &Recipe, page: &str, options: &[&str]) {
    let file = format!("{log}.memlog");
    fs::write(folder.path(&file), recipe.log()).expect("write");
    let dir = folder.path(page);
    let words = [&["--draw", "built-in", "-q", &file, page], options].concat();
    memlog2dot(folder, &words);
    let text = |ending| fs::read(dir.join(format!("{file}.{ending}"))).expect(ending);
    same(&format!("{page}.dot"), &text("dot"));
    same(&format!("{page}.txt"), &text("txt"));
    drawn(&dir, &file);
}

#[test]
fn pages_are_the_golden_ones() {
    let folder = Folder::new("golden");
    check(&folder, "sites", &sites(), "sites", &[]);
    check(&folder, "sites", &sites(), "sites-leaks", &["--leaks"]);
    check(
        &folder,
        "odd",
        &odd(),
        "odd",
        &["-t", "0", "--print-symbol-names", "--at", "7ms"],
    );
    check(
        &folder,
        "odd",
        &odd(),
        "odd-pruned",
        &["-t", "30", "--at", "heap-peak"],
    );
    check(&folder, "empty", &empty(), "empty", &[]);
    check(&folder, "blind", &blind(), "blind", &[]);
}
