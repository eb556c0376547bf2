//! `report --output-graphs`: the files are read as gprof2dot reads them, and are judged
//! by the trees of the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::snapshots::Case;
use crate::{ask_words, number, recorded};

/// By function what ended there and what came through it, once for each stack, as
/// gprof2dot sums it up: callees first in a chain.
#[derive(Default)]
struct Profile {
    own: BTreeMap<(String, String), u64>,
    total: BTreeMap<(String, String), u64>,
    all: u64,
}

fn profile(text: &str) -> Profile {
    let whole: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(number(&whole, "version"), 0);
    let functions = whole["functions"].as_array().expect("functions").iter();
    let word = |of: &Value, key: &str| of[key].as_str().expect("a text").to_owned();
    let functions: Vec<_> = functions
        .map(|function| (word(function, "name"), word(function, "module")))
        .collect();
    let distinct: std::collections::BTreeSet<_> = functions.iter().collect();
    assert_eq!(distinct.len(), functions.len(), "each function once");
    let mut profile = Profile::default();
    for event in whole["events"].as_array().expect("events") {
        let cost = event["cost"][0].as_u64().expect("a cost");
        let chain = event["callchain"].as_array().expect("a chain").iter();
        let chain: Vec<_> = chain
            .map(|index| &functions[index.as_u64().expect("an index") as usize])
            .collect();
        profile.all += cost;
        *profile.own.entry(chain[0].clone()).or_default() += cost;
        let mut met: Vec<_> = chain.clone();
        met.sort();
        met.dedup();
        for function in met {
            *profile.total.entry(function.clone()).or_default() += cost;
        }
    }
    profile
}

/// The same of a tree from the bottom up, whose roots are where stacks end.
fn of_tree(tree: &Value, key: &str) -> Profile {
    let nodes = tree["nodes"].as_array().expect("nodes");
    let mut profile = Profile::default();
    let mut paths: Vec<Vec<(String, String)>> = Vec::new();
    for node in nodes {
        let text = |key: &str| node[key].as_str().unwrap_or_default().to_owned();
        let parent = node["parent"].as_u64();
        let mut path = parent.map_or(Vec::new(), |parent| paths[parent as usize].clone());
        path.push((text("function"), text("module")));
        let ends = number(node, &format!("own_{key}"));
        profile.all += ends;
        if ends > 0 {
            *profile.own.entry(path[0].clone()).or_default() += ends;
            let mut met = path.clone();
            met.sort();
            met.dedup();
            for function in met {
                *profile.total.entry(function).or_default() += ends;
            }
        }
        paths.push(path);
    }
    profile
}

fn judge(folder: &Folder, log: &Path, words: &[&str], key: &str) -> usize {
    let out = folder.folder("graphs");
    let into = format!("--output-graphs={}", out.display());
    let shape = ["-t", "0", "--show-below-main", &into];
    let answer = ask_words(folder, log, &[&["report"], words, &shape].concat());
    let stem = log.file_name().expect("a name").to_str().expect("text");
    let trees = answer["trees"].as_array().expect("trees").iter();
    let trees = trees.filter(|tree| tree["change"] != "shrank");
    let mut count = 0;
    for tree in trees {
        let label = match (tree["label"].as_str(), tree["moment"].as_str()) {
            (Some(label), _) => label,
            (None, Some(moment)) => moment,
            (None, None) => tree["by"].as_str().expect("what is counted"),
        };
        let file = out.join(format!("{stem}.{label}.json"));
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{label}: {error}"));
        let (found, expected) = (profile(&text), of_tree(tree, key));
        assert_eq!(found.all, number(tree, key), "{label}");
        assert_eq!(found.own, expected.own, "{label}");
        assert_eq!(found.total, expected.total, "{label}");
        fs::remove_file(file).expect("rm");
        count += 1;
    }
    assert!(fs::read_dir(&out).expect("list").next().is_none());
    count
}

#[test]
fn graphs_are_the_trees() {
    let folder = Folder::new("answers-graphs");
    let (log, _) = recorded(&folder, &[], "mix 6 900 2");
    let moments = ["--show-maximum", "--show-leaks", "--at", "50%"];
    assert_eq!(judge(&folder, &log, &moments, "bytes"), 3);
    assert_eq!(judge(&folder, &log, &["-i", "change"], "bytes"), 1);
    assert_eq!(judge(&folder, &log, &["--by", "count"], "blocks"), 1);
    let snapshots = [
        "--every",
        "5MiB",
        "--show-snapshots",
        "--show-snapshot-deltas",
    ];
    let more = ["--show-cumulative-snapshot-delta", "-w", "size < 9000"];
    let count = judge(&folder, &log, &[&snapshots[..], &more].concat(), "bytes");
    assert!(count > 4, "{count}");
}

/// Of the stacks with main in them how many end there, and how many go on.
fn ends_in_main(text: &str) -> (usize, usize) {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let functions = file["functions"].as_array().expect("functions");
    let main = functions.iter().position(|one| one["name"] == "main");
    let main = Value::from(main.expect("main"));
    let events = file["events"].as_array().expect("events").iter();
    let chains = events.map(|event| event["callchain"].as_array().expect("a chain"));
    let of_main = chains.filter(|chain| chain.contains(&main));
    let ends: Vec<bool> = of_main.map(|chain| chain.last() == Some(&main)).collect();
    let count = ends.iter().filter(|ends| **ends).count();
    (count, ends.len() - count)
}

#[test]
fn graphs_go_where_they_are_asked_for() {
    // Of stacks that all have main.
    let case = Case::new("answers-graphs-where", "mix 6 90 1");
    let (folder, log) = (&case.folder, &case.log);
    let name = log.to_str().expect("a name");
    let output = folder.run(&["report", "--output-graphs", name]);
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    let file = format!("{}.rss-peak.json", log.file_name().expect("it").display());
    assert!(
        told.contains(&format!("memlog: Creating ./{file}")),
        "{told}"
    );
    profile(&fs::read_to_string(folder.path(&file)).expect("the file"));
    // All stacks, whatever the tree leaves out, and none of what lies outside main.
    let graph = |option: &str, out: &str, label: &str| {
        let out_option = format!("--output-graphs={out}");
        fs::create_dir_all(folder.path(out)).expect("mkdir");
        let words: Vec<_> = option.split(' ').collect();
        let words = [&["report", out_option.as_str()][..], &words, &[name]].concat();
        let output = folder.run(&words);
        assert!(output.status.success(), "{}", said(&output));
        let file = format!("{}.{label}.json", log.file_name().expect("it").display());
        fs::read_to_string(folder.path(out).join(file)).expect("the file")
    };
    let whole = graph("-t 0", "whole", "rss-peak");
    assert_eq!(graph("-t 50", "cut", "rss-peak"), whole);
    let (of_main, below) = (
        ends_in_main(&whole),
        graph("--show-below-main", "below", "rss-peak"),
    );
    assert!(of_main.0 > 0 && of_main.1 == 0, "{of_main:?}");
    assert!(ends_in_main(&below).1 > 0);
    profile(&graph("--mapped", "mapped", "mapped-rss-peak"));
    let output = folder.run(&["report", "--output-graphs=nowhere/at-all", name]);
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(told.contains("--output-graphs=DIR"), "{told}");
}
