//! Who asked and who freed, past functions that only pass on for others: what the program
//! says of itself, and what `memlog summary` says.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::truth::{chosen_by_number, facts, has, row};
use crate::{ask, ask_words, number, pair, recorded, rows, total};

/// By function what a list of places has.
fn by_function(list: &Value, count: &str) -> BTreeMap<String, (u64, u64)> {
    let mut functions = BTreeMap::new();
    for place in list.as_array().expect("places") {
        let name = place["function"].as_str().expect("a name").to_owned();
        let sum: &mut (u64, u64) = functions.entry(name).or_default();
        sum.0 += number(place, "bytes");
        sum.1 += number(place, count);
    }
    functions
}

fn of_rows(answer: &Value) -> BTreeMap<String, (u64, u64)> {
    let rows = rows(answer).iter();
    rows.map(|row| (row["name"].as_str().expect("a name").to_owned(), pair(row)))
        .collect()
}

/// `table` and `maps` by function are what `summary` has by place.
#[track_caller]
pub fn agrees_with_summary(folder: &Folder, log: &Path, stats: &Value) {
    let summary = ask(folder, log, "summary");
    let shown = log.display();
    let held = of_rows(&ask(folder, log, "table --at rss-peak"));
    assert_eq!(held, by_function(&summary["held"], "blocks"), "{shown}");
    if stats["flight_recorder"].is_null() && stats["inherited_blocks"] == 0 {
        let all = of_rows(&ask(folder, log, "table"));
        let told = by_function(&summary["allocated"], "allocations");
        assert_eq!(all, told, "{shown}");
    }
    let maps = ask(folder, log, "maps");
    let open = rows(&maps).iter().filter_map(|row| {
        let bytes = number(row, "bytes") - number(row, "reserved_bytes");
        let name = row["name"].as_str().expect("a name");
        (bytes > 0).then(|| (name.to_owned(), bytes))
    });
    let told = by_function(&summary["mapped"], "mappings").into_iter();
    let told = told.map(|(name, (bytes, _))| (name, bytes));
    assert_eq!(
        open.collect::<BTreeMap<_, _>>(),
        told.collect::<BTreeMap<_, _>>(),
        "{shown}"
    );
}

#[test]
fn who_called_a_wrapper_asked() {
    for options in [&[][..], &["--free-stacks"]] {
        let folder = Folder::new("answers-wraps");
        let (log, said) = recorded(&folder, options, "wraps");
        let functions = ask(&folder, &log, "table");
        for (name, facts) in facts(&said, "function") {
            has(row(&functions, name), facts.split(' '));
        }
        let names: Vec<_> = rows(&functions).iter().map(|row| &row["name"]).collect();
        for wrapper in ["xmalloc", "grab", "malloc"] {
            assert!(!names.contains(&&Value::from(wrapper)), "{names:?}");
        }
        // What is chosen makes no other function the one that asked.
        let few = ["table", "--where", "function = sorts"];
        let few = ask_words(&folder, &log, &few);
        assert_eq!(pair(row(&few, "sorts")), pair(row(&functions, "sorts")));
        let stats = ask(&folder, &log, "stats");
        agrees_with_summary(&folder, &log, &stats);
    }
}

#[test]
fn who_freed_is_known_by_free_stacks() {
    let folder = Folder::new("answers-frees");
    let (log, said) = recorded(&folder, &["--free-stacks"], "wraps");
    let all = total(&ask(&folder, &log, "table --by size"));
    let left = total(&ask(&folder, &log, "leaks --by size"));
    let freed = ask(&folder, &log, "table --by freed-function");
    for (name, facts) in facts(&said, "freed") {
        has(row(&freed, name), facts.split(' '));
        let filter = format!("freed-function = {name} and freed-function = release");
        let chosen = ask_words(
            &folder,
            &log,
            &["table", "--by", "size", "--where", &filter],
        );
        assert_eq!(pair(&chosen), pair(row(&freed, name)), "{filter}");
    }
    assert_eq!(pair(row(&freed, "(not freed)")), left);
    for by in ["function", "file", "line", "module", "stack", "by"] {
        let answer = ask(&folder, &log, &format!("table --by freed-{by}"));
        assert_eq!(total(&answer), all, "{by}");
        assert_eq!(pair(row(&answer, "(not freed)")), left, "{by}");
    }
    // Half of them, by when they went.
    let of = |filter: &str| {
        let question = ["table", "--by", "freed-function", "--where", filter];
        total(&ask_words(&folder, &log, &question))
    };
    let (early, late) = (of("died < 50%"), of("died >= 50%"));
    assert_eq!((early.0 + late.0 + left.0, early.1 + late.1 + left.1), all);
    let stacks = ask(&folder, &log, "table --by freed-stack");
    let frames = |row: &Value| row["stack"].as_array().map(Vec::len);
    for row in rows(&stacks) {
        let is_known = !row["name"].as_str().expect("a name").starts_with('(');
        assert_eq!(
            frames(row).is_some_and(|frames| frames > 2),
            is_known,
            "{row}"
        );
        if is_known {
            chosen_by_number(&folder, &log, "freed-stack", row);
        }
    }
}

#[test]
fn who_freed_is_refused_where_nobody_knows() {
    let folder = Folder::new("answers-frees-unknown");
    let (log, _) = recorded(&folder, &[], "wraps");
    let name = log.to_str().expect("a name");
    for by in ["function", "file", "line", "module", "stack"] {
        let output = folder.run(&["table", "--by", &format!("freed-{by}"), name]);
        let told = self::said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains("record with --free-stacks to know who freed a block"),
            "{told}"
        );
    }
    // Threads are always known.
    let threads = ask(&folder, &log, "table --by freed-by");
    assert_eq!(rows(&threads).len(), 2, "{threads:#}");
}

#[test]
fn alignments_are_those_asked_for() {
    let folder = Folder::new("answers-aligned");
    let (log, said) = recorded(&folder, &[], "aligned");
    let answer = ask(&folder, &log, "table --by alignment");
    for (name, facts) in facts(&said, "alignment") {
        has(row(&answer, name), facts.split(' '));
        let filter = format!("alignment = {name} and leaf = aligned");
        let chosen = ask_words(&folder, &log, &["table", "--where", &filter]);
        assert_eq!(pair(row(&chosen, "aligned")), pair(row(&answer, name)));
    }
    let by_size = total(&ask(&folder, &log, "table --by size"));
    assert_eq!(total(&answer), by_size);
    // Waste is a column, and groups are sorted by it.
    let wasted = ask(&folder, &log, "table --by alignment --sort waste");
    let waste: Vec<u64> = rows(&wasted)
        .iter()
        .map(|row| number(row, "waste_bytes"))
        .collect();
    assert!(
        waste.is_sorted_by(|one, other| one >= other) && waste[0] > 0,
        "{waste:?}"
    );
}
