//! Who freed, as a tree: against a twin that goes through the lines of `memlog dump`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::build::optioned;
use crate::sites::{Folder, said};
use crate::snapshots::tree_by_path;
use crate::snapshots::twin::{ByPath, ByStack, Twin, add, plus};
use crate::{Random, ask, ask_words, built, first_seed, is_long, number, pair, recorded, rows};

/// A log with the stacks of releases. What is inlined is a function of a tree, and none
/// of a line of the dump.
fn log_of(folder: &Folder, options: &[&str], words: &str) -> PathBuf {
    let flags = &["-std=gnu11", "-O1", "-fno-inline", "-g", "-pthread"];
    built(folder, &optioned("gcc", flags), "known.c", "known");
    let options = [&["--free-stacks"], options].concat();
    recorded(folder, &options, words).0
}

/// What each path of functions freed, of blocks of such a size that went then.
fn freed(twin: &Twin, passes: impl Fn(i64, u64) -> bool, with: Option<&str>) -> ByPath {
    let (mut sizes, mut found) = (HashMap::new(), ByStack::new());
    for event in &twin.events {
        if let Some((size, _)) = event.came {
            sizes.insert(event.address, size);
            continue;
        }
        let size = sizes.remove(&event.address).expect("it was live");
        if passes(size, event.ns) {
            add(&mut found, event.freed_by.expect("a stack"), (size, 1));
        }
    }
    twin.by_path(&found, with)
}

fn tree(folder: &Folder, log: &Path, words: &[&str]) -> Value {
    let words = [&["tree", "--by", "freed", "-t", "0"][..], words].concat();
    ask_words(folder, log, &words)
}

#[test]
fn trees_of_who_freed_are_the_twins() {
    for seed in first_seed()..first_seed() + if is_long() { 10 } else { 1 } {
        let folder = Folder::new("answers-freed");
        let log = log_of(&folder, &[], &format!("mix {seed} 900 3"));
        let twin = Twin::of(&folder, &log);
        let all = freed(&twin, |_, _| true, None);
        assert!(all.len() > 3, "{all:?}");
        let whole = all.values().copied().fold((0, 0), plus);
        assert_eq!(tree_by_path(&tree(&folder, &log, &[])), all);
        let mut random = Random::new(seed);
        for _ in 0..if is_long() { 50 } else { 4 } {
            let (size, end) = (random.below(4000) as i64, twin.end_ns);
            let (from, to) = (random.below(end / 2), end / 2 + random.below(end / 2));
            let filter = format!("size >= {size} and died in {from}ns..{to}ns");
            let passes = |bytes, ns| bytes >= size && (from..=to).contains(&ns);
            for with in [None, Some("change")] {
                let mut words = vec!["--where", &filter];
                words.extend(with.iter().flat_map(|_| ["-i", "^change$"]));
                let found = tree(&folder, &log, &words);
                let expected = freed(&twin, passes, with);
                assert_eq!(tree_by_path(&found), expected, "{seed}: {words:?}");
                let unfiltered = ["unfiltered_bytes", "unfiltered_blocks"];
                let unfiltered = unfiltered.map(|key| number(&found, key) as i64);
                assert_eq!(unfiltered, [whole.0, whole.1]);
                words.push("--top-down");
                assert_eq!(pair(&tree(&folder, &log, &words)), pair(&found));
            }
        }
        let report = ask(&folder, &log, "report --by freed -t 0");
        assert_eq!(tree_by_path(&report["trees"][0]), all);
    }
}

/// Forks and bounded logs: sums are those of the table.
#[test]
fn sums_of_who_freed_are_the_tables() {
    for (options, words) in [
        (&[][..], "fork"),
        (&["--flight-recorder=512K"][..], "many 60000"),
        (&[][..], "killed 3 800"),
    ] {
        let folder = Folder::new("answers-freed-odd");
        log_of(&folder, options, words);
        for log in folder.logs("") {
            let table = ask(&folder, &log, "table --by freed-stack");
            let freed = rows(&table)
                .iter()
                .filter(|row| row["name"] != "(not freed)");
            let freed = freed
                .map(pair)
                .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let found = tree(&folder, &log, &[]);
            assert_eq!(pair(&found), freed, "{words}: {}", log.display());
            let sum = tree_by_path(&found).values().copied().fold((0, 0), plus);
            assert_eq!((sum.0 as u64, sum.1 as u64), freed);
        }
    }
}

#[test]
fn who_freed_is_drawn_and_told_where_nobody_knows() {
    let folder = Folder::new("answers-freed-told");
    let log = log_of(&folder, &[], "mix 9 300 1");
    let name = log.to_str().expect("a name");
    let page = folder.says(&["report", "--by", "freed", "-w", "size > 0", name]);
    let title = "freed in the whole run of blocks where size > 0, by the call that freed it";
    assert!(page.replace("\n  ", " ").contains(title), "{page}");
    let flame = ["flamegraph", "-q", "--by", "freed", "-o", "out.svg", name];
    assert!(folder.run(&flame).status.success());
    let flame = std::fs::read_to_string(folder.path("out.svg")).expect("it");
    assert!(flame.contains("freed in the whole run, by who freed it"));
    let plain = recorded(&folder, &[], "mix 9 301 1").0;
    let plain = plain.to_str().expect("a name");
    for (words, told) in [
        (
            &["tree", "--by", "freed", plain][..],
            "record with --free-stacks",
        ),
        (
            &["tree", "--by", "freed", "-w", "all", plain],
            "record with --free-stacks",
        ),
        (
            &["flamegraph", "--by", "freed", plain],
            "record with --free-stacks",
        ),
        (
            &["report", "--by", "freed", "--at", "end", name],
            "counts the whole run",
        ),
    ] {
        let output = folder.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{}", said(&output));
    }
}
