//! Ranks whose logs were made by hand: what they do not tell is no number.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use memlog_format::meta::{Key, Lack, Record};
use memlog_format::table::StackId;
use serde_json::{Value, json};

use super::json;
use crate::number;
use crate::recipe::{PROGRAM, Recipe};
use crate::sites::{Folder, said};

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

/// A server is asked once for a program that all ranks ran, whatever of it each calls.
#[test]
fn files_of_names_are_looked_for_once() {
    let folder = Folder::new("answers-ranks-opened");
    folder.folder("logs");
    for (rank, place) in (0..8).zip(1..) {
        let mut recipe = log(rank, 1 << 20, Some(4096));
        recipe.of_build(&[0x77; 20]);
        let stack = recipe.stack(StackId::COMPLETE, &[PROGRAM + 0x1000 * place]);
        recipe.allocate(stack, 1, 64);
        write(&folder, rank, &recipe);
    }
    let client = folder.folder("bin").join("debuginfod-find");
    fs::write(&client, "#!/bin/sh\necho \"$@\" >>\"$ASKED\"\nexit 1\n").expect("written");
    fs::set_permissions(&client, Permissions::from_mode(0o755)).expect("chmod");
    // One thread: each has files of its own.
    let mut command = folder.command("taskset");
    command.args([
        "-c",
        "0",
        env!("CARGO_BIN_EXE_memlog"),
        "ranks",
        "--debuginfod",
        "logs/",
    ]);
    let path = std::env::var("PATH").expect("PATH");
    command
        .env("PATH", format!("{}:{path}", folder.path("bin").display()))
        .env("ASKED", folder.path("asked"))
        .env("DEBUGINFOD_URLS", "http://nowhere")
        .env("DEBUGINFOD_CACHE_PATH", folder.path("client"));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let asked = fs::read_to_string(folder.path("asked")).expect("asked");
    let mut lines: Vec<&str> = asked.lines().collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert!(count > 0 && count == lines.len(), "{asked}");
}

/// What is typed in vain is told.
#[test]
fn options_that_do_nothing_are_told() {
    let folder = Folder::new("answers-ranks-options");
    folder.folder("logs");
    write(&folder, 0, &log(0, 1 << 20, Some(4096)));
    folder.says(&["ranks", "-o", "all.ranks", "logs/"]);
    let output = folder.run(&["ranks", "--debug-symbols", "/", "all.ranks"]);
    assert!(output.status.success(), "{}", said(&output));
    let told = said(&output);
    assert!(
        told.contains("--debug-symbols / does nothing here"),
        "{told}"
    );
    let output = folder.run(&["ranks", "--debug-symbols", "/", "logs/"]);
    assert!(!said(&output).contains("does nothing"), "{}", said(&output));
    let output = folder.run(&["ranks", "--against", "old/", "logs/"]);
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(
        told.contains("hint: memlog ranks logs/ --against old/"),
        "{told}"
    );
    let output = folder.run(&["ranks"]);
    assert_eq!(output.status.code(), Some(2));
    let mut command = folder.memlog(&["ranks", "logs/"]);
    let output = command
        .env("MEMLOG_DEBUGINFOD", "yes")
        .output()
        .expect("it runs");
    let told = said(&output);
    assert_eq!(
        told.matches("MEMLOG_DEBUGINFOD=yes does nothing").count(),
        1,
        "{told}"
    );
}

/// A log that was made of another tool's file does not tell all: what it lacks is no zero.
#[test]
fn what_a_log_lacks_is_not_known() {
    let folder = Folder::new("answers-ranks-lacks");
    folder.folder("logs");
    write(&folder, 0, &log(0, 1 << 20, Some(4096)));
    let mut recipe = log(1, 3 << 20, None);
    recipe.say(Record::Text(Key::MadeFrom, b"tool\0file\0"));
    recipe.say(Record::Text(Key::Lacks, &[Lack::Counts as u8]));
    recipe.say(Record::Text(Key::Lacks, &[Lack::Peak as u8]));
    write(&folder, 1, &recipe);
    let told = json(&folder, &["--at", "end", "logs/"]);
    assert_eq!(
        (number(&told, "ranks"), number(&told, "bytes")),
        (2, 4 << 20)
    );
    assert_eq!(
        (&told["blocks"], &told["rows"][0]["blocks"]),
        (&Value::Null, &Value::Null)
    );
    for key in ["rss_peak", "heap_peak"] {
        let spread = &told[key];
        assert_eq!(
            (number(spread, "ranks"), number(spread, "least_rank")),
            (1, 0),
            "{key}"
        );
    }
    let page = folder.says(&["ranks", "--at", "end", "logs/"]);
    assert!(page.contains("4.0 MiB live at end, of all ranks"), "{page}");
    assert!(page.contains("known for 1 of 2 ranks"), "{page}");
    folder.says(&["ranks", "--at", "end", "-o", "all.ranks", "logs/"]);
    let merged = json(&folder, &["all.ranks"]);
    assert_eq!(
        (&merged["blocks"], &merged["rows"]),
        (&Value::Null, &told["rows"])
    );
}
