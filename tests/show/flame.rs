//! `memlog flamegraph`: the figures on it are those of `tree` and `stats`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::logs::{empty, odd, sites};
use crate::recipe::{PROGRAM, Recipe};
use crate::sites::{Folder, said};
use crate::{memlog, says, with_logs};

use memlog_format::table::StackId;

/// Places with their callers, and bytes and blocks of each.
type Tree = BTreeMap<Vec<String>, (u64, u64)>;

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no {key}"))
}

/// What is embedded in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

/// By one metric, read as `script/tree.js` does.
fn drawn(data: &Value, metric: usize) -> Tree {
    let text = |key: &str, at: &Value| list(data, key)[number(at) as usize].as_str().expect("text");
    let labels = list(data, "label");
    let mut held = vec![(0, 0); labels.len() + 1];
    let mut node = 0;
    let own = format!("own{}", list(data, "series")[metric]);
    for three in list(data, &own).chunks(3) {
        node += number(&three[0]) as usize;
        held[node] = (number(&three[1]), number(&three[2]));
    }
    let callers: Vec<usize> = (1..)
        .zip(list(data, "caller"))
        .map(|(at, step): (usize, _)| at - number(step) as usize)
        .collect();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    for (label, &caller) in labels.iter().zip(&callers) {
        let at = number(label) as usize;
        let name = text("names", label);
        let place = text("places", &list(data, "place")[at]);
        let mut path = paths[caller].clone();
        path.push(format!("{name} [{place}]"));
        paths.push(path);
    }
    for at in (1..held.len()).rev() {
        let (bytes, blocks) = held[at];
        let sum = &mut held[callers[at - 1]];
        *sum = (sum.0 + bytes, sum.1 + blocks);
    }
    let all = paths.into_iter().zip(held);
    all.filter(|(_, held)| held.1 > 0).collect()
}

/// As `memlog tree --json` has it.
fn told(page: &Value) -> Tree {
    let mut tree = Tree::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    for node in list(page, "nodes") {
        let parent = node["parent"].as_u64();
        let mut path = parent.map_or(Vec::new(), |at| paths[at as usize].clone());
        let function = node["function"].as_str().expect("a function");
        let location = node["location"].as_str().unwrap_or_default();
        path.push(format!("{function} [{location}]"));
        tree.insert(
            path.clone(),
            (number(&node["bytes"]), number(&node["blocks"])),
        );
        paths.push(path);
    }
    if number(&page["blocks"]) > 0 {
        tree.insert(
            Vec::new(),
            (number(&page["bytes"]), number(&page["blocks"])),
        );
    }
    tree
}

#[test]
fn the_figures_are_those_of_tree_and_stats() {
    let logs = [("sites", sites()), ("odd", odd()), ("empty", empty())];
    let folder = with_logs("show-flame", &logs);
    let read =
        |words: &str| -> Value { serde_json::from_str(&says(&folder, words)).expect("JSON") };
    for (log, _) in &logs {
        let page = says(
            &folder,
            &format!("flamegraph --all --show-below-main -o - {log}.memlog"),
        );
        let data = data(&page);
        let stats = read(&format!("stats --json {log}.memlog"));
        let keys = list(&data, "keys")
            .iter()
            .map(|key| key.as_str().expect("a key"));
        for (metric, key) in keys.enumerate() {
            let (words, bytes, blocks) = match key {
                "rss-peak" => (
                    "--at rss-peak",
                    "rss_peak_live_bytes",
                    "rss_peak_live_blocks",
                ),
                "heap-peak" => ("--at heap-peak", "heap_peak_bytes", "heap_peak_blocks"),
                "end" => ("--at end", "end_live_bytes", "end_live_blocks"),
                "allocated" => ("--by allocated", "total_bytes", "allocations"),
                "count" => ("--by count", "total_bytes", "allocations"),
                "temporary" => ("--by temporary", "", "temporary_allocations"),
                "mapped" => ("--mapped", "", ""),
                key => panic!("{key}"),
            };
            let drawn = drawn(&data, metric);
            let tree = read(&format!("tree --json --top-down -t 0 {words} {log}.memlog"));
            assert_eq!(drawn, told(&tree), "{log} {key}");
            let total = drawn.get(&Vec::new()).copied().unwrap_or_default();
            assert!(
                bytes.is_empty() || total.0 == number(&stats[bytes]),
                "{log} {key}"
            );
            assert!(
                blocks.is_empty() || total.1 == number(&stats[blocks]),
                "{log} {key}"
            );
        }
    }
    // What is filtered goes by the same rules.
    let page = says(
        &folder,
        "flamegraph --all -x 12B3|0x1385 --at 0.045 -o - sites.memlog",
    );
    let data = data(&page);
    let shown = number(&data["shown"]) as usize;
    assert_eq!(list(&data, "keys")[shown], "chosen");
    let tree = read("tree --json --top-down -t 0 -x 12B3|0x1385 --at 0.045 sites.memlog");
    let total = drawn(&data, shown)[&Vec::new()];
    assert_eq!(total, (number(&tree["bytes"]), number(&tree["blocks"])));
}

#[test]
fn it_is_written_where_it_is_asked_for() {
    let folder = with_logs("show-flame-files", &[("sites", sites())]);
    assert_eq!(
        says(&folder, "flamegraph sites.memlog"),
        "Creating sites.memlog.flame.html\n"
    );
    let first = fs::read(folder.path("sites.memlog.flame.html")).expect("a page");
    assert_eq!(says(&folder, "flamegraph -q sites.memlog"), "");
    let second = fs::read(folder.path("sites.memlog.flame.html")).expect("a page");
    assert!(first == second, "the same log gives the same bytes");
    assert!(first.starts_with(b"<!DOCTYPE html>"));
    assert_eq!(
        says(&folder, "flamegraph -o x.svg --reverse sites.memlog"),
        "Creating x.svg\n"
    );
    let picture = fs::read_to_string(folder.path("x.svg")).expect("a picture");
    assert!(picture.starts_with("<?xml") && picture.ends_with("</svg>\n"));
    assert!(!picture.contains("<script"), "{picture}");
    assert_eq!(
        says(
            &folder,
            "flamegraph -o - --format svg --reverse sites.memlog"
        ),
        picture
    );
    folder.folder("pics");
    let said = says(&folder, "flamegraph -o pics --format svg sites.memlog");
    assert_eq!(said, "Creating pics/sites.memlog.flame.svg\n");
    for words in [
        "flamegraph -o x.png sites.memlog",
        "flamegraph -o nowhere/x.svg sites.memlog",
        "flamegraph --by count --at end sites.memlog",
        "flamegraph --open -o - sites.memlog",
        "flamegraph sites.memlog sites.memlog",
        "flamegraph nothing.memlog",
    ] {
        refused(&folder, words);
    }
    let left = fs::read_dir(folder.root()).expect("a folder").count();
    assert_eq!(
        left, 4,
        "a log, a page, a picture, a folder and nothing else"
    );
}

#[track_caller]
fn refused(folder: &Folder, words: &str) {
    let output = memlog(folder, words).output().expect("memlog runs");
    assert_eq!(output.status.code(), Some(2), "{words}: {}", said(&output));
    assert!(output.stdout.is_empty(), "{words}: {}", said(&output));
}

/// One stack, and one of 8,000 frames.
#[test]
fn one_stack_and_a_deep_one() {
    let stack = |depth: u64| {
        let mut log = Recipe::new(b"/nowhere/libc.so.6");
        let frames: Vec<u64> = (0..depth).map(|at| PROGRAM + 0x1000 + at % 7).collect();
        let stack = log.stack(StackId::COMPLETE, &frames);
        log.allocate(stack, 3, 1_000);
        log
    };
    let folder = with_logs(
        "show-flame-deep",
        &[("one", stack(1)), ("deep", stack(8_000))],
    );
    for (log, depth) in [("one", 1), ("deep", 8_000)] {
        let page = says(&folder, &format!("flamegraph -o - {log}.memlog"));
        let data = data(&page);
        assert_eq!(list(&data, "label").len(), depth);
        let end = list(&data, "own2").iter().map(number).collect::<Vec<_>>();
        assert_eq!(end, [depth as u64, 3_000, 3]);
        assert!(page.len() < 200_000, "{} bytes", page.len());
        says(&folder, &format!("flamegraph -o {log}.svg {log}.memlog"));
        says(
            &folder,
            &format!("flamegraph --reverse -o {log}.svg {log}.memlog"),
        );
    }
}
