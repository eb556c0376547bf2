//! `table --list`: single blocks, against the twin.

use std::cmp::Reverse;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::twin::{Block, Twin, ns};
use crate::{Random, ask, ask_words, first_seed, is_long, number, pair, recorded, rows, twin};

/// What the twin sorts by: small first.
type Key = Box<dyn Fn(&Block) -> u64>;

fn orders(twin: &Twin) -> Vec<(&'static str, Key)> {
    let end = twin.end.0;
    vec![
        ("bytes", Box::new(|block| u64::MAX - block.size)),
        ("address", Box::new(|block| block.address)),
        ("born", Box::new(|block| block.born.1)),
        (
            "died",
            Box::new(|block| block.died.map_or(u64::MAX, |died| died.1)),
        ),
        (
            "lifetime",
            Box::new(move |block| {
                u64::MAX - (block.died.map_or(end, |died| died.0) - block.born.0)
            }),
        ),
    ]
}

fn is_it(told: &Value, block: &Block) {
    let (number, address) = (number(told, "number"), format!("{:#x}", block.address));
    assert_eq!(number, block.born.1, "{told}");
    assert_eq!(told["address"], address, "{told}");
    assert_eq!(told["bytes"], block.size, "{told}");
    let time = |key: &str| match &told[key] {
        Value::Null => None,
        seconds => Some(ns(&seconds.to_string())),
    };
    assert_eq!(time("allocated_seconds"), Some(block.born.0), "{told}");
    assert_eq!(
        time("freed_seconds"),
        block.died.map(|died| died.0),
        "{told}"
    );
    assert_eq!(told["temporary"], block.is_temporary, "{told}");
    let ends_with = |key: &str, tid: u32| {
        let name = told[key].as_str().expect("a thread");
        name == tid.to_string() || name.ends_with(&format!("({tid})"))
    };
    assert!(ends_with("thread", block.tid), "{told}");
    match block.freed_by {
        Some(tid) => assert!(ends_with("freed_by", tid), "{told}"),
        None => assert_eq!(told["freed_by"], Value::Null),
    }
}

#[test]
fn blocks_are_listed_as_the_twin_sorts_them() {
    let folder = Folder::new("answers-list");
    let seed = first_seed() + 10;
    let (log, _) = recorded(&folder, &[], &format!("mix {seed} 3000 3"));
    let twin = twin(&folder, &log);
    let mut random = Random::new(seed);
    for (order, key) in orders(&twin) {
        for top in [0, 1, 1 + random.below(500)] {
            let size = random.below(2000);
            let filter = format!("size >= {size}");
            let top_word = top.to_string();
            let words = [
                "table", "--list", "--sort", order, "-n", &top_word, "-w", &filter,
            ];
            let answer = ask_words(&folder, &log, &words);
            let mut blocks: Vec<&Block> = twin.blocks.iter().collect();
            blocks.retain(|block| block.size >= size);
            let whole: u64 = blocks.iter().map(|block| block.size).sum();
            assert_eq!(pair(&answer), (whole, blocks.len() as u64));
            blocks.sort_by_key(|block| (key(block), block.born.1));
            if top > 0 {
                blocks.truncate(top as usize);
            }
            let list = answer["list"].as_array().expect("a list");
            assert_eq!(list.len(), blocks.len(), "{words:?}");
            for (told, block) in list.iter().zip(blocks) {
                is_it(told, block);
            }
        }
    }
    // Orders of names are those of the list itself, and have all blocks.
    for (order, key) in [("thread", "thread"), ("kind", "kind"), ("name", "name")] {
        let answer = ask(&folder, &log, &format!("table --list -n 0 --sort {order}"));
        let list = answer["list"].as_array().expect("a list");
        let names: Vec<_> = list
            .iter()
            .map(|one| (one[key].as_str(), number(one, "number")))
            .collect();
        assert!(names.is_sorted(), "{order}");
        assert_eq!(names.len(), twin.blocks.len());
    }
    for (order, key) in [("waste", "usable_bytes"), ("usable", "usable_bytes")] {
        let answer = ask(&folder, &log, &format!("table --list -n 0 --sort {order}"));
        let list = answer["list"].as_array().expect("a list").iter();
        let less = |one: &Value| {
            if order == "waste" {
                number(one, "bytes")
            } else {
                0
            }
        };
        let sizes: Vec<_> = list
            .map(|one| Reverse(number(one, key) - less(one)))
            .collect();
        assert!(sizes.is_sorted(), "{order}");
    }
}

/// Stacks by the numbers that filters understand, chains as `chains` counts them, and who
/// freed where that was recorded.
#[test]
fn lists_have_numbers_that_filters_understand() {
    let folder = Folder::new("answers-list-numbers");
    let (log, _) = recorded(&folder, &["--free-stacks"], "chains");
    let answer = ask(&folder, &log, "table --list -n 0 --sort stack");
    let list = answer["list"].as_array().expect("a list");
    for (field, key) in [
        ("stack", "stack_number"),
        ("freed-stack", "freed_stack_number"),
    ] {
        let mut numbers: Vec<u64> = list.iter().filter_map(|one| one[key].as_u64()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() > 2, "{field}: {numbers:?}");
        for number in numbers {
            let of_it = list.iter().filter(|one| one[key] == number);
            let expected = of_it
                .clone()
                .map(|one| one["bytes"].as_u64().expect("bytes"));
            let filter = format!("{field} = {number}");
            let chosen = ask_words(&folder, &log, &["table", "--by", "size", "-w", &filter]);
            assert_eq!(
                pair(&chosen),
                (expected.sum(), of_it.count() as u64),
                "{filter}"
            );
        }
    }
    let mut chains = std::collections::BTreeMap::<u64, u64>::new();
    for one in list {
        *chains.entry(number(one, "chain")).or_default() += 1;
    }
    chains.retain(|_, blocks| *blocks > 1);
    let told = ask(&folder, &log, "chains");
    let sum = |key: &str| rows(&told).iter().map(|row| number(row, key)).sum::<u64>();
    assert_eq!(chains.len() as u64, sum("chains"));
    assert_eq!(chains.values().sum::<u64>(), sum("blocks"));
    // As many as leaks says, and those of a moment.
    let leaks = ask(&folder, &log, "leaks --list -n 0");
    let leaked = list.iter().filter(|one| one["freed_seconds"].is_null());
    assert_eq!(pair(&leaks).1, leaked.count() as u64);
    let peak = ask(&folder, &log, "table --list --at heap-peak -n 0");
    assert_eq!(
        pair(&peak),
        pair(&ask(&folder, &log, "table --by size --at heap-peak"))
    );
}

#[test]
fn columns_that_rows_do_not_have_are_refused() {
    let folder = Folder::new("answers-list-refused");
    let (log, _) = recorded(
        &folder,
        &[],
        &format!("mix {} 90 1", if is_long() { 2 } else { 1 }),
    );
    let name = log.to_str().expect("a name");
    let page = folder.says(&["table", "--list", "-n", "3", name]);
    assert!(page.contains(" more; --top 0 shows all"), "{page}");
    assert!(page.contains("each for itself:"), "{page}");
    for (words, told) in [
        (
            &["table", "--list", "--sort", "below", name][..],
            "--sort below is a column of groups",
        ),
        (
            &["leaks", "--sort", "address", name],
            "--sort address is a column of single blocks",
        ),
        (
            &["temporary", "--list", "--by", "line", name],
            "'--list' cannot be used with '--by",
        ),
        (
            &["leaks", "--list", "--growing", name],
            "cannot be used with",
        ),
    ] {
        let output = folder.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{words:?}: {}", said(&output));
    }
}
