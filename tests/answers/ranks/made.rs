//! Ranks whose logs were made by hand: what they do not tell is no number.

use std::fs;
use std::os::unix::fs::symlink;

use memlog_format::table::StackId;
use serde_json::{Value, json};

use super::json;
use crate::number;
use crate::recipe::{PROGRAM, Recipe};
use crate::sites::Folder;

const NUMBERS: [&[u8]; 8] = [b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7"];

/// A rank's log that holds so much, and whose RSS peak was read if it is told.
fn log(rank: usize, bytes: u64, rss_kb: Option<u64>) -> Recipe {
    let mut recipe = Recipe::new(b"/nowhere/lib.so");
    recipe.of_process(4000 + rank as u32);
    recipe.of_rank(b"77", NUMBERS[rank]);
    let stack = recipe.stack(StackId::COMPLETE, &[PROGRAM + 0x100, PROGRAM + 0x200]);
    recipe.allocate(stack, 1, bytes);
    recipe.time(10);
    if let Some(kb) = rss_kb {
        recipe.read_rss(kb);
    }
    recipe
}

fn write(folder: &Folder, rank: usize, recipe: &Recipe) {
    let path = folder.path(&format!("logs/{rank}.memlog"));
    fs::write(path, recipe.log()).expect("written");
}

/// A log counts once, by whichever names, and of its copies the one that is whole.
#[test]
fn a_process_counts_once() {
    let folder = Folder::new("answers-ranks-copies");
    folder.folder("logs");
    write(&folder, 0, &log(0, 1 << 20, Some(4096)));
    write(&folder, 1, &log(1, 2 << 20, Some(8192)));
    let expected = json(&folder, &["logs/"]);
    let whole = log(1, 2 << 20, Some(8192)).log();
    let at = |name: &str| folder.path(&format!("logs/{name}"));
    // Cut before its events; it is the first by name.
    fs::write(at("0-cut.memlog"), &whole[..whole.len() / 2]).expect("written");
    fs::write(at("copy.memlog"), &whole).expect("written");
    symlink(at("1.memlog"), at("link.memlog")).expect("linked");
    let mut told = json(&folder, &["logs/"]);
    let left_out = told["left_out"].take();
    assert_eq!(left_out[0]["why"], "the same process as another file");
    assert_eq!(
        (number(&left_out[0], "files"), &left_out[1]),
        (3, &Value::Null)
    );
    assert_eq!(left_out[0]["first"], "logs/0-cut.memlog");
    told["left_out"] = json!([]);
    assert_eq!(told, expected);
}
