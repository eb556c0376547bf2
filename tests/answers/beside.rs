//! What a row of `table --json` says of all blocks of its group, and of its peak.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::snapshots::Case;
use crate::twin::ns;
use crate::{ask, ask_words, number, pair, rows};

/// Functions of the program in a row's stack.
fn path(row: &Value) -> Vec<String> {
    let frames = row["stack"].as_array().expect("frames").iter();
    let own = frames.filter(|frame| frame["module"] == "known");
    let own = own.map(|frame| frame["function"].as_str().expect("a name").to_owned());
    own.collect()
}

#[test]
fn groups_have_all_their_blocks_beside_chosen_ones() {
    let case = Case::new("answers-beside", "mix 8 900 2");
    for by in [
        "stack", "function", "line", "size", "thread", "kind", "freed-by",
    ] {
        let all = ask(&case.folder, &case.log, &format!("table --by {by}"));
        let whole: BTreeMap<_, _> = rows(&all)
            .iter()
            .map(|row| (row["name"].as_str(), row))
            .collect();
        for (command, filter) in [
            ("table", "size in 300..2000"),
            ("table", "all"),
            ("leaks", "size > 9"),
            ("temporary", "all"),
        ] {
            if by == "freed-by" && command == "leaks" {
                continue;
            }
            let few = ask_words(
                &case.folder,
                &case.log,
                &[command, "--by", by, "-w", filter],
            );
            assert!(!rows(&few).is_empty(), "{command} {filter}");
            for row in rows(&few) {
                let of_all = whole[&row["name"].as_str()];
                let told = [
                    "all_bytes",
                    "all_blocks",
                    "all_leaked_bytes",
                    "all_leaked_blocks",
                ];
                let told = told.map(|key| number(row, key));
                let (bytes, blocks) = pair(of_all);
                let leaked = ["leaked_bytes", "leaked_blocks"].map(|key| number(of_all, key));
                assert_eq!(
                    told,
                    [bytes, blocks, leaked[0], leaked[1]],
                    "{command} {filter}: {row}"
                );
            }
        }
        for row in rows(&all) {
            assert_eq!(
                (number(row, "all_bytes"), number(row, "all_blocks")),
                pair(row)
            );
            assert_eq!(row["peak_bytes"].is_null(), by != "stack");
        }
    }
}

/// Of the stacks that a row is of, that which held most.
#[test]
fn stacks_have_their_peaks() {
    let case = Case::new("answers-beside-peaks", "mix 9 900 1");
    let mut now: BTreeMap<usize, i64> = BTreeMap::new();
    let mut peaks: BTreeMap<usize, (i64, u64)> = BTreeMap::new();
    let mut blocks = BTreeMap::new();
    for event in &case.twin.events {
        match event.came {
            Some((size, stack)) => {
                blocks.insert(event.address, (size, stack));
                let held = now.entry(stack).or_default();
                *held += size;
                let peak = peaks.entry(stack).or_default();
                if *held > peak.0 {
                    *peak = (*held, event.ns);
                }
            }
            None => {
                let (size, stack) = blocks.remove(&event.address).expect("it was live");
                *now.entry(stack).or_default() -= size;
            }
        }
    }
    let mut by_path: BTreeMap<&[String], (i64, u64)> = BTreeMap::new();
    for (stack, peak) in peaks {
        let known = by_path.entry(&case.twin.stacks[stack].path).or_insert(peak);
        if peak.0 > known.0 || peak.0 == known.0 && peak.1 < known.1 {
            *known = peak;
        }
    }
    let answer = ask(&case.folder, &case.log, "table --by stack");
    let mut count = 0;
    for row in rows(&answer).iter().filter(|row| !path(row).is_empty()) {
        let (bytes, at) = by_path[&path(row)[..]];
        assert_eq!(number(row, "peak_bytes") as i64, bytes, "{row}");
        if bytes > 0 {
            assert_eq!(ns(&row["peak_seconds"].to_string()), at, "{row}");
        }
        count += 1;
    }
    assert!(count > 1, "{answer:#}");
}
