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

/// Six of eight ranks know what they had resident: each figure is of those six.
#[test]
fn rss_that_was_not_read_is_no_number() {
    let folder = Folder::new("answers-ranks-unread");
    folder.folder("logs");
    for rank in 0..8 {
        let known = ![1, 5].contains(&rank);
        let rss_kb = 10_240 + if rank == 7 { 2048 } else { 0 };
        write(&folder, rank, &log(rank, 4 << 20, known.then_some(rss_kb)));
    }
    let told = json(&folder, &["logs/"]);
    let rss = &told["rss_peak"];
    assert_eq!((number(&told, "ranks"), number(rss, "ranks")), (8, 6));
    assert_eq!(
        (number(rss, "least_bytes"), number(rss, "least_rank")),
        (10 << 20, 0)
    );
    assert_eq!(number(rss, "sum_bytes"), 62 << 20);
    assert_eq!(number(rss, "mean_bytes"), (62 << 20) / 6);
    // 12 MiB are no fifth above the mean of six, and would be above that of eight.
    assert_eq!(told["outliers"], json!([]));
    assert_eq!(told["ranks_without_rss"], json!([1, 5]));
    let node = &told["nodes"][0];
    let of_node = ["ranks", "rss_known_ranks", "rss_peaks_bytes"].map(|key| number(node, key));
    assert_eq!(of_node, [8, 6, 62 << 20]);
    // Their blocks count.
    assert_eq!(number(&told, "bytes"), 32 << 20);
    let page = folder.says(&["ranks", "logs/"]);
    for line in [
        "known for 6 of 8 ranks",
        "RSS:       not read in ranks 1, 5, what is live at the largest heap counts there",
        "outliers:  no rank has an RSS peak more than a fifth above the mean of those that are known",
    ] {
        assert!(
            page.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(&line.split_whitespace().collect::<Vec<_>>().join(" ")),
            "{line}: {page}"
        );
    }
    // What a node wrote says the same.
    folder.says(&["ranks", "-o", "all.ranks", "logs/"]);
    let merged = json(&folder, &["all.ranks"]);
    assert_eq!(
        (&merged["rss_peak"], &merged["nodes"]),
        (rss, &told["nodes"])
    );
    for rank in 0..8 {
        write(&folder, rank, &log(rank, 4 << 20, None));
    }
    let told = json(&folder, &["logs/"]);
    assert_eq!(told["rss_peak"], Value::Null);
    assert_eq!(told["nodes"][0]["rss_peaks_bytes"], Value::Null);
    let page = folder.says(&["ranks", "logs/"]);
    assert!(page.contains("no log tells an RSS peak"), "{page}");
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
