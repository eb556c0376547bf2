//! The form of the Firefox Profiler: each allocation and release.

use std::collections::HashMap;

use serde_json::Value;

use super::{ASKED, Case, Held, add, list, of_json, text, whole};
use crate::sites::said;

fn signed(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

/// The functions of each stack, from the outermost in.
fn stacks(thread: &Value, strings: &[Value]) -> Vec<Vec<String>> {
    let column = |table: &str, name: &str| list(&thread[table][name]).to_vec();
    let functions = column("funcTable", "name");
    let frames = column("frameTable", "func");
    let of_stack = column("stackTable", "frame");
    let mut stacks: Vec<Vec<String>> = Vec::new();
    for (frame, prefix) in of_stack.iter().zip(column("stackTable", "prefix")) {
        let mut stack = match prefix.as_u64() {
            Some(prefix) => stacks[prefix as usize].clone(),
            None => Vec::new(),
        };
        let function = &frames[whole(frame) as usize];
        let name = &functions[whole(function) as usize];
        stack.push(text(&strings[whole(name) as usize]));
        stacks.push(stack);
    }
    stacks
}

#[test]
fn firefox_has_each_allocation_and_release() {
    for words in ["mix 15 900 3", "mix 16 1200 1"] {
        let case = Case::new(&format!("answers-exports-firefox-{}", words.len()), words);
        let profile = case.json("firefox", &[]);
        let thread = &profile["threads"][0];
        let strings = match &thread["stringArray"] {
            Value::Array(strings) => strings.clone(),
            _ => list(&profile["shared"]["stringArray"]).to_vec(),
        };
        let (stacks, table) = (stacks(thread, &strings), &thread["nativeAllocations"]);
        let columns = ["time", "weight", "memoryAddress", "stack"].map(|name| list(&table[name]));
        let [times, weights, addresses, of] = columns;
        let mut live: HashMap<u64, i64> = HashMap::new();
        let (mut allocated, mut last) = (Held::new(), 0.0);
        for at in 0..times.len() {
            let time = times[at].as_f64().expect("a time");
            assert!(time >= last, "{time} after {last}");
            last = time;
            let (weight, address) = (signed(&weights[at]), whole(&addresses[at]));
            match (live.remove(&address), weight) {
                (None, came) => {
                    assert!(came >= 0, "{address:#x} went and had not come");
                    live.insert(address, came);
                    let stack = stacks[whole(&of[at]) as usize].clone();
                    add(&mut allocated, stack, (came as u64, 1));
                }
                (Some(came), went) => assert_eq!(came, -went, "{address:#x}"),
            }
        }
        let end: i64 = live.values().sum();
        assert_eq!(end as u64, case.number("end_live_bytes"));
        assert_eq!(live.len() as u64, case.number("end_live_blocks"));
        let (options, metric, _) = ASKED[3];
        let expected = of_json(&case.json("json", options), metric);
        assert_eq!(allocated, expected);
        let heap = profile["counters"][0]["samples"]["count"].as_array();
        let heap =
            heap.or(profile["counters"][0]["sampleGroups"][0]["samples"]["count"].as_array());
        let mut sum = 0.0;
        let heap = heap.expect("readings").iter().map(|delta| {
            sum += delta.as_f64().expect("a number");
            sum as u64
        });
        assert_eq!(heap.max(), Some(case.number("heap_peak_bytes")));
    }
}

#[test]
fn firefox_takes_chosen_blocks() {
    let case = Case::new("answers-exports-firefox-where", "mix 17 300 1");
    let profile = case.json("firefox", &["--where", "leaked"]);
    let weights = list(&profile["threads"][0]["nativeAllocations"]["weight"]);
    let sum: i64 = weights.iter().map(signed).sum();
    assert_eq!(sum as u64, case.number("end_live_bytes"));
    assert_eq!(weights.len() as u64, case.number("end_live_blocks"));
    let log = case.log.to_str().expect("a name");
    let output = case
        .folder
        .run(&["export", "firefox", "--where", "size > 1 and", log]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}
