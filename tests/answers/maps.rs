//! What the program mapped: the program itself says what is right, and so do the columns
//! of `memlog dump --ledger`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::Folder;
use crate::sites::build::GCC;
use crate::truth::{facts, has, row};
use crate::{ask, ask_words, built, first_seed, is_long, number, pair, rows};

/// A log of `maps` with these words, and what it printed.
fn recorded(folder: &Folder, words: &str) -> (PathBuf, String) {
    let program = built(folder, &GCC, "maps.c", "maps");
    let log = folder.path("maps.memlog");
    let mut command = folder.memlog(&["record"]);
    command.arg("-o").arg(&log).arg(program);
    let output = command.args(words.split(' ')).output().expect("it runs");
    assert!(output.status.success(), "{words}: {output:?}");
    (log, String::from_utf8(output.stdout).expect("text"))
}

/// Bytes that are mapped by then, as the dump's columns have it, by time.
fn mapped_by_time(folder: &Folder, log: &std::path::Path) -> BTreeMap<u64, u64> {
    let log = log.to_str().expect("a name");
    let dump = folder.says(&["dump", "--no-symbols", "--ledger", log]);
    let times = dump.lines().map(|line| {
        let columns: Vec<&str> = line.split(['\t', ' ']).collect();
        let at = columns.iter().position(|word| word.contains('.'));
        let columns = &columns[at.expect("seconds")..];
        let kb = |column: usize| columns[column].parse::<u64>().expect("KB");
        (crate::twin::ns(columns[0]), (kb(3) + kb(4)) << 10)
    });
    times.collect()
}

/// `maps` and `report --mapped` of a moment, `stats`, and the dump.
fn agree(folder: &Folder, log: &std::path::Path) {
    let stats = ask(folder, log, "stats");
    let end = ask(folder, log, "maps --at end");
    let sum = |of: &Value, key: &str| rows(of).iter().map(|row| number(row, key)).sum::<u64>();
    assert_eq!(number(&end, "bytes"), number(&stats, "mapped_end_bytes"));
    assert_eq!(
        sum(&end, "total_bytes"),
        number(&stats, "mapped_total_bytes")
    );
    let ends = mapped_by_time(folder, log);
    let times = ends.keys().map(|ns| format!("{:.9}", *ns as f64 / 1e9));
    let step = ends.len() / 12 + 1;
    for moment in ["end", "rss-peak", "heap-peak"]
        .map(str::to_owned)
        .into_iter()
        .chain(times.step_by(step))
    {
        let page = ask(folder, log, &format!("maps --at {moment}"));
        let report = ask(folder, log, &format!("report --mapped --at {moment}"));
        let tree = &report["trees"][0];
        let open = number(&page, "bytes") - number(&page, "reserved_bytes");
        assert_eq!(open, number(tree, "bytes"), "at {moment}");
        let reserved = |row: &&Value| number(row, "reserved_bytes") > 0;
        if !rows(&page).iter().any(|row| reserved(&row)) {
            assert_eq!(page["mappings"], tree["blocks"], "at {moment}");
        }
        // Groups of one moment are those of another.
        let is_named = moment.contains(char::is_alphabetic);
        let groups = ["line", "file", "module", "stack", "thread", "kind"];
        for by in groups.into_iter().filter(|_| is_named || is_long()) {
            let other = ask(folder, log, &format!("maps --by {by} --at {moment}"));
            for key in [
                "bytes",
                "mappings",
                "total_bytes",
                "calls",
                "unmapped_bytes",
            ] {
                assert_eq!(
                    sum(&other, key),
                    sum(&page, key),
                    "{key} by {by} at {moment}"
                );
            }
            assert_eq!(sum(&page, "bytes"), number(&page, "bytes"));
            assert_eq!(other["list"], page["list"]);
        }
        let list = page["list"].as_array().expect("a list");
        let listed: u64 = list.iter().map(|one| number(one, "bytes")).sum();
        assert_eq!(
            (listed, list.len() as u64),
            (number(&page, "bytes"), number(&page, "mappings"))
        );
    }
    // With each there is a command.
    let apart = if is_long() { 1 } else { ends.len() / 25 + 1 };
    for (ns, bytes) in ends.iter().step_by(apart) {
        let moment = format!("{:.9}", *ns as f64 / 1e9);
        let page = ask(folder, log, &format!("maps --at {moment}"));
        assert_eq!(number(&page, "bytes"), *bytes, "at {moment}");
    }
    let timeline = ask(folder, log, "timeline");
    for point in timeline["points"].as_array().expect("points") {
        let time = crate::twin::ns(&point["seconds"].to_string());
        let known = ends
            .range(..=time)
            .next_back()
            .map_or(0, |(_, bytes)| *bytes);
        assert_eq!(number(point, "mapped_bytes"), known, "{point}");
    }
}

#[test]
fn mappings_are_those_of_the_program() {
    let folder = Folder::new("answers-maps");
    let (log, said) = recorded(&folder, "known");
    let page = ask(&folder, &log, "maps --at end");
    let known = facts(&said, "site");
    assert_eq!(rows(&page).len(), known.len(), "{page:#}");
    for (name, facts) in &known {
        has(row(&page, name), facts.split(' '));
        let one = ["maps", "--at", "end", "--where"];
        let filter = format!("leaf = {name}");
        let few = ask_words(&folder, &log, &[&one[..], &[&filter]].concat());
        has(row(&few, name), facts.split(' '));
        assert_eq!(rows(&few).len(), 1);
    }
    let mut told: Vec<String> = page["list"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let word = |key: &str| one[key].as_str().expect("a word").to_owned();
            let shared = if one["shared"] == true { "s" } else { "p" };
            format!(
                "list {} {} {} {} {}{shared}",
                word("function"),
                word("name"),
                word("address"),
                one["bytes"],
                word("protection")
            )
        })
        .collect();
    told.sort();
    let mut expected: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("list"))
        .collect();
    expected.sort_unstable();
    assert_eq!(told, expected);
    agree(&folder, &log);
}

#[test]
fn mappings_that_are_cut_at_random_are_known() {
    let seeds = if is_long() { 30 } else { 1 };
    for seed in first_seed()..first_seed() + seeds {
        let folder = Folder::new("answers-maps-mix");
        let (log, said) = recorded(&folder, &format!("mix {seed} 4000"));
        let page = ask(&folder, &log, "maps --at end");
        let known = facts(&said, "site");
        for (name, facts) in &known {
            has(row(&page, name), facts.split(' '));
        }
        let calls: u64 = rows(&page).iter().map(|row| number(row, "calls")).sum();
        assert!(calls > 100, "{page:#}");
        agree(&folder, &log);
    }
}

/// Filters of mappings choose parts of them; what only a block has is refused.
#[test]
fn filters_choose_mappings() {
    let folder = Folder::new("answers-maps-where");
    let (log, _) = recorded(&folder, "known");
    let of = |filter: &str| {
        let page = ask_words(&folder, &log, &["maps", "--at", "end", "--where", filter]);
        (number(&page, "bytes"), number(&page, "mappings"))
    };
    let all = of("all");
    let list = ask(&folder, &log, "maps --at end");
    let list = list["list"].as_array().expect("a list").clone();
    let sum = |is: &dyn Fn(&Value) -> bool| {
        let chosen = list.iter().filter(|one| is(one));
        chosen.fold((0, 0), |sum, one| (sum.0 + number(one, "bytes"), sum.1 + 1))
    };
    assert_eq!(
        of("size >= 200K"),
        sum(&|one| number(one, "bytes") >= 200 << 10)
    );
    assert_eq!(of("kind = brk"), sum(&|one| one["function"] == "brk"));
    assert_eq!(of("not kind = brk"), sum(&|one| one["function"] != "brk"));
    assert_eq!(of("leaked"), all);
    for one in &list {
        let filter = format!("contains = {}", one["address"].as_str().expect("it"));
        assert_eq!(of(&filter), (number(one, "bytes"), 1), "{filter}");
    }
    for (letter, place, field) in [
        ("r", 0, "readable"),
        ("w", 1, "writable"),
        ("x", 2, "executable"),
    ] {
        let has = |one: &Value| {
            let protection = one["protection"].as_str().expect("access");
            &protection[place..=place] == letter
        };
        for (filter, expected) in [
            (field.to_owned(), sum(&has)),
            (format!("not {field}"), sum(&|one| !has(one))),
            (format!("{field} = only_true"), sum(&has)),
            (format!("{field} = only_false"), sum(&|one| !has(one))),
        ] {
            assert_eq!(of(&filter), expected, "{filter}");
        }
    }
    assert_eq!(of("bytehound = only_false"), all);
    assert_eq!(of("jemalloc = only_true"), (0, 0));
    for one in &list {
        let filter = format!("map = {}", one["number"]);
        // What was cut in two is of one call.
        assert_eq!(
            of(&filter),
            sum(&|other| other["number"] == one["number"]),
            "{filter}"
        );
    }
    // The three pages that went amid are of who mapped them, and of who unmapped them.
    let gone = ["maps", "--where", "freed-function = splits"];
    let gone = ask_words(&folder, &log, &gone);
    has(
        row(&gone, "splits"),
        ["total_bytes=196608", "calls=1"].into_iter(),
    );
    let log = log.to_str().expect("a name");
    for field in ["waste > 1", "temporary", "chain-length > 1", "not moved"] {
        let output = folder.run(&["maps", "--where", field, log]);
        let told = crate::said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(" is of blocks of the heap, and these are mappings\n"),
            "{told}"
        );
    }
}

/// `map` chooses blocks by the mapping that they lay in when they came; the same
/// addresses were of another one before.
#[test]
fn blocks_lie_in_mappings_by_their_numbers() {
    let folder = Folder::new("answers-maps-blocks");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/pool.c");
    let library = ["-DLIBRARY", "-shared", "-fPIC"];
    let library = GCC.build_file(&folder, &source, "libpool.so", &library);
    let rpath = format!("-Wl,-rpath,{}", folder.root().display());
    let link = ["-D_GNU_SOURCE", library.to_str().expect("a name"), &rpath];
    let program = GCC.build_file(&folder, &source, "pool", &link);
    let log = folder.path("pool.memlog");
    let mut command = folder.memlog(&["record", "--alloc-func", "pool_get(size)=pool_put(ptr)"]);
    let output = command.arg("-o").arg(&log).arg(program).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).expect("text");
    // Each mapping at a moment at which it was there.
    let mut numbers = BTreeMap::new();
    for moment in ["20%", "50%", "end"] {
        let page = ask(&folder, &log, &format!("maps --at {moment}"));
        for one in page["list"].as_array().expect("a list") {
            let name = one["name"].as_str().expect("a name").to_owned();
            let number = number(one, "number");
            assert_eq!(*numbers.entry(name).or_insert(number), number, "{page:#}");
        }
    }
    let of = |filter: &str| {
        let words = ["table", "--by", "size", "--where", filter];
        pair(&ask_words(&folder, &log, &words))
    };
    let mut all = (0, 0);
    for (name, facts) in facts(&printed, "area") {
        let filter = format!("map = {}", numbers[name]);
        let chosen = ask_words(
            &folder,
            &log,
            &["table", "--by", "size", "--where", &filter],
        );
        has(&chosen, facts.split(' '));
        // Another way to the table.
        let tree = ask_words(&folder, &log, &["tree", "--by", "allocated", "-w", &filter]);
        assert_eq!(pair(&tree), pair(&chosen), "{name}");
        all = (all.0 + pair(&chosen).0, all.1 + pair(&chosen).1);
    }
    assert_eq!(of("map >= 0"), all);
    assert_eq!(of(&format!("map = {}", numbers["empty"])), (0, 0));
    let both = format!(
        "from_map = {} or from_map = {}",
        numbers["first"], numbers["third"]
    );
    assert_eq!(of(&both), (30 * 1000 + 10 * 300, 40));
    let name = log.to_str().expect("a name");
    for field in ["readable", "not writable", "executable = only_true"] {
        let output = folder.run(&["table", "--where", field, name]);
        let told = crate::said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(" is of mappings, and these are blocks of the heap"),
            "{told}"
        );
    }
}
