//! `tree --top-down --times`: when the first and the last block of each place came,
//! against a twin that goes through the lines of `memlog dump`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ask_words;
use crate::sites::said;
use crate::snapshots::Case;
use crate::twin::ns;

type Times = BTreeMap<Vec<String>, (u64, u64)>;

/// By path of functions of the program, the outermost first, from all blocks that pass:
/// size, and when they came and went.
fn expected(case: &Case, passes: impl Fn(i64, u64, Option<u64>) -> bool) -> Times {
    let events = &case.twin.events;
    let mut died = vec![None; events.len()];
    let mut live = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        match event.came {
            Some(_) => drop(live.insert(event.address, index)),
            None => died[live.remove(&event.address).expect("it was live")] = Some(event.ns),
        }
    }
    let mut times = Times::new();
    for (event, died) in events.iter().zip(died) {
        let Some((size, stack)) = event.came else {
            continue;
        };
        if !passes(size, event.ns, died) {
            continue;
        }
        let path: Vec<String> = case.twin.stacks[stack].path.iter().rev().cloned().collect();
        for length in 1..=path.len() {
            let known = times
                .entry(path[..length].to_vec())
                .or_insert((event.ns, event.ns));
            *known = (known.0.min(event.ns), known.1.max(event.ns));
        }
    }
    times
}

/// The same of a tree; places of other lines in the same functions are one.
fn found(tree: &Value) -> Times {
    let nodes = tree["nodes"].as_array().expect("nodes");
    let (mut paths, mut times): (Vec<Vec<String>>, _) = (Vec::new(), Times::new());
    for node in nodes {
        let parent = node["parent"].as_u64();
        let mut path = parent.map_or(Vec::new(), |parent| paths[parent as usize].clone());
        let time = |key: &str| ns(&node[key].to_string());
        let (first, last) = (time("first_seconds"), time("last_seconds"));
        if node["module"] == "known" {
            path.push(node["function"].as_str().expect("a name").to_owned());
            let known = times.entry(path.clone()).or_insert((first, last));
            *known = (known.0.min(first), known.1.max(last));
        }
        paths.push(path);
    }
    times
}

#[test]
fn places_have_the_times_of_their_blocks() {
    let case = Case::new("answers-times", "mix 12 900 3");
    let half = case.twin.end_ns / 2;
    let ask = |words: &[&str]| {
        let tree = ["tree", "--top-down", "--times", "-t", "0"];
        found(&ask_words(
            &case.folder,
            &case.log,
            &[&tree, words].concat(),
        ))
    };
    let is_live =
        |born: u64, died: Option<u64>| born <= half && died.is_none_or(|died| half < died);
    let at = format!("{half}ns");
    let all = expected(&case, |_, _, _| true);
    assert!(all.len() > 3, "{all:?}");
    assert_eq!(ask(&["--by", "allocated"]), all);
    assert_eq!(ask(&["--by", "count", "--show-below-main"]), all);
    assert_eq!(
        ask(&["--at", &at]),
        expected(&case, |_, born, died| is_live(born, died))
    );
    assert_eq!(
        ask(&["--at", &at, "--where", "size < 900"]),
        expected(&case, |size, born, died| size < 900 && is_live(born, died))
    );
    assert_eq!(
        ask(&["--leaks"]),
        expected(&case, |_, _, died| died.is_none())
    );
    let log = case.log.to_str().expect("a name");
    let page = case
        .folder
        .says(&["tree", "--top-down", "--times", "--by", "allocated", log]);
    let is_main = |path: &Vec<String>| path.last().is_some_and(|name| name == "main");
    let main = all.iter().find(|(path, _)| is_main(path));
    let (_, &(first, last)) = main.expect("main");
    let times = format!(
        "x, {:.3}-{:.3} s): main",
        first as f64 / 1e9,
        last as f64 / 1e9
    );
    assert!(page.contains(&times), "{times}: {page}");
    for (words, told) in [
        (&["tree", "--times", log][..], "--top-down"),
        (
            &["tree", "--times", "--top-down", "--by", "freed", log],
            "--times tells when",
        ),
        (
            &["tree", "--times", "--top-down", "--mapped", log],
            "--times tells when",
        ),
    ] {
        let output = case.folder.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{}", said(&output));
    }
}
