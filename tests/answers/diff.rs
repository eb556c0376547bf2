//! `memlog diff`: what was planted is named first, whatever else is different in the two
//! builds; its figures are those of `table` and `stats`, and both directions agree.

mod builds;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::build::{Compiler, GCC};
use crate::sites::{Folder, said};
use crate::{ask, built, is_long, number, pair, recorded, rows, total};

const BY: [&str; 8] = [
    "stack", "function", "file", "line", "module", "thread", "type", "size",
];
/// Bytes more in each of 64 blocks.
const GROWN: &str = "-DGROWN=2048";
const PLANTED: i64 = 64 * 2048;

/// A program here, recorded with its own name.
fn log_of(folder: &Folder, program: &Path, words: &[&str]) -> PathBuf {
    let log = program.with_extension("memlog");
    let _ = std::fs::remove_file(&log);
    let mut command = folder.memlog(&["record", "-o"]);
    let output = command.arg(&log).arg(program).args(words).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    log
}

fn grown(folder: &Folder, compiler: &Compiler, name: &str, options: &[&str]) -> PathBuf {
    let source = match compiler.name {
        "g++" | "clang++" => "grown.cpp",
        _ => "grown.c",
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers");
    let options = [&["-D_GNU_SOURCE"], options].concat();
    let program = compiler.build_file(folder, &here.join(source), name, &options);
    log_of(folder, &program, &[])
}

#[track_caller]
fn compared(folder: &Folder, logs: [&Path; 2], words: &[&str]) -> Value {
    let logs = logs.map(|log| log.to_str().expect("a name"));
    let text = folder.says(&[&["diff", "--json"], words, &logs].concat());
    serde_json::from_str(&text).expect("JSON")
}

#[track_caller]
fn signed(of: &Value, key: &str) -> i64 {
    of[key].as_i64().unwrap_or_else(|| panic!("{key}: {of:#}"))
}

/// All that has to hold of any two logs, by what they are put together by.
#[track_caller]
fn agree(folder: &Folder, logs: [&Path; 2], by: &str) -> Value {
    let found = compared(folder, logs, &["--by", by]);
    for (key, peak) in [
        ("bytes", "rss_peak_live_bytes"),
        ("blocks", "rss_peak_live_blocks"),
    ] {
        let sides = ["before", "after"].map(|side| {
            let told = number(&found[side], key);
            assert_eq!(told, number(&found[side]["stats"], peak), "{side} {by}");
            assert_eq!(told, number(&found, &format!("{side}_{key}")));
            i64::try_from(told).expect("a size")
        });
        let rows = rows(&found).iter();
        let sum: i64 = rows.map(|row| signed(row, key)).sum();
        assert_eq!(sum, sides[1] - sides[0], "{by} {logs:?}");
        assert_eq!(sum, signed(&found, key), "{by} {logs:?}");
    }
    for row in rows(&found) {
        for key in ["bytes", "blocks"] {
            let [before, after] = ["before", "after"].map(|side| {
                let told = number(row, &format!("{side}_{key}"));
                i64::try_from(told).expect("a size")
            });
            assert_eq!(after - before, signed(row, key), "{row:#}");
        }
        let is_same = signed(row, "bytes") == 0 && signed(row, "blocks") == 0;
        assert!(!is_same, "{row:#}");
    }
    found
}

/// What each row says, in any order; turned, what it says the other way round.
fn told(found: &Value, is_turned: bool) -> Vec<String> {
    let [before, after] = match is_turned {
        true => ["after", "before"],
        false => ["before", "after"],
    };
    let row = |row: &Value| {
        let name = row["name"].as_str().expect("a name").to_owned();
        let other = row["before_name"].as_str().unwrap_or(&name).to_owned();
        let [name, other] = match is_turned {
            true => [other, name],
            false => [name, other],
        };
        let held = [before, after]
            .map(|side| ["bytes", "blocks"].map(|key| number(row, &format!("{side}_{key}"))));
        format!("{name} {other} {held:?}")
    };
    let mut told: Vec<String> = rows(found).iter().map(row).collect();
    told.sort();
    told
}

#[track_caller]
fn agree_both_ways(folder: &Folder, one: &Path, other: &Path) {
    for by in BY {
        let there = agree(folder, [one, other], by);
        let back = agree(folder, [other, one], by);
        assert_eq!(told(&there, false), told(&back, true), "{by}");
    }
}

/// Other numbers of threads, another process, other addresses.
#[test]
fn two_runs_of_one_program_are_no_difference() {
    let folder = Folder::new("answers-diff-same");
    let program = built(&folder, &GCC, "grown.c", "grown");
    let logs = ["one.memlog", "two.memlog"].map(|name| {
        let log = log_of(&folder, &program, &[]);
        let kept = folder.path(name);
        std::fs::rename(log, &kept).expect("a new name");
        kept
    });
    for by in BY {
        // At the end, for the kernel's counts of two runs are never the same.
        let found = compared(&folder, [&logs[0], &logs[1]], &["--at", "end", "--by", by]);
        assert!(rows(&found).is_empty(), "{by}: {found:#}");
        let logs = logs.each_ref().map(|log| log.to_str().expect("a name"));
        let text = folder.says(&["diff", "--at", "end", "--by", by, logs[0], logs[1]]);
        let (_, below) = text.split_once("\n\n").expect("a heading");
        assert!(below.starts_with("no difference: "), "{text}");
    }
    // A recursion that is deeper is no other stack.
    let deeper = log_of(&folder, &program, &["9"]);
    let found = compared(
        &folder,
        [&logs[0], &deeper],
        &["--at", "end", "--by", "stack"],
    );
    assert_eq!(rows(&found).len(), 1, "{found:#}");
    assert_eq!(signed(&rows(&found)[0], "bytes"), 4 * 300);
}

/// Each group that neither log names otherwise has the figures of `table`.
#[test]
fn figures_are_those_of_the_table() {
    let folder = Folder::new("answers-diff-table");
    let logs = ["mix 3 400 3", "mix 2 900 1"].map(|words| recorded(&folder, &[], words).0);
    let [before, after] = logs.each_ref();
    agree_both_ways(&folder, before, after);
    for by in ["function", "line", "module", "type", "size", "stack"] {
        let found = agree(&folder, [before, after], by);
        for (side, log) in ["before", "after"].into_iter().zip([before, after]) {
            let table = ask(&folder, log, &format!("table --at rss-peak --by {by}"));
            total(&table);
            for row in rows(&found)
                .iter()
                .filter(|row| row["before_name"].is_null())
            {
                let bytes = number(row, &format!("{side}_bytes"));
                let blocks = number(row, &format!("{side}_blocks"));
                let name = row["name"].as_str().expect("a name");
                // Its stacks go on to what called main.
                let outside = [" < start_thread", " < __libc", " < libc."];
                let same = rows(&table).iter().filter(|group| {
                    let group = group["name"].as_str().expect("a name");
                    let rest = group.strip_prefix(name);
                    rest.is_some_and(|rest| match by {
                        "stack" => rest.is_empty() || outside.iter().any(|o| rest.starts_with(o)),
                        _ => rest.is_empty(),
                    })
                });
                let sum = same.map(pair).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
                assert_eq!((bytes, blocks), sum, "{by} {side} {row:#}");
            }
        }
    }
    // A filter, and a moment for each.
    let words = [
        "--where",
        "size >= 64",
        "--at",
        "30%",
        "--at",
        "end",
        "--by",
        "size",
    ];
    let found = compared(&folder, [before, after], &words);
    let of = |log: &Path, at: &str| {
        let words = ["table", "--by", "size", "--at", at, "--where", "size >= 64"];
        total(&crate::ask_words(&folder, log, &words))
    };
    assert_eq!(pair(&found["before"]), of(before, "30%"));
    assert_eq!(pair(&found["after"]), of(after, "end"));
}

#[test]
fn two_moments_of_one_log() {
    let folder = Folder::new("answers-diff-moments");
    let (log, _) = recorded(&folder, &[], "mix 3 400 3");
    let file = log.to_str().expect("a name");
    for moments in [["start", "end"], ["20%", "heap-peak"], ["end", "0"]] {
        let [from, to] = moments;
        let words = ["diff", "--json", "--at", from, "--at", to, file];
        let found: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
        let of = |at: &str| total(&ask(&folder, &log, &format!("table --by size --at {at}")));
        assert_eq!(pair(&found["before"]), of(from));
        assert_eq!(pair(&found["after"]), of(to));
    }
    let fails = |words: &[&str], expected: &str| {
        let output = folder.run(&[&["diff"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(expected), "{}", said(&output));
    };
    fails(&[file], "is one log");
    fails(&["--at", "end", file], "is one log");
    fails(&["--at", "1", "--at", "2", "--at", "3", file], "one more");
    fails(&["--at", "end", "--at", "1h", file], "is after");
    fails(&["--at", "end", file, "nowhere.memlog"], "nowhere.memlog");
    fails(
        &["--where", "freed-function = \"x\"", file, file],
        &format!("in {file}: --where"),
    );
    fails(&["--by", "alignment", file, file], "invalid value");
    fails(&[file, file, file], "unexpected argument");
}

#[test]
fn a_child_against_its_parent() {
    let folder = Folder::new("answers-diff-fork");
    let program = GCC.build(&folder, "forker.c", "forker", &["-D_GNU_SOURCE"]);
    let logs = folder.folder("logs");
    let mut command = folder.memlog(&["record", "-o"]);
    let output = command.arg(logs.join("%p.memlog")).arg(program).output();
    println!("{}", said(&output.expect("it runs")));
    let logs = folder.logs("logs");
    assert!(logs.len() > 1, "{logs:?}");
    for pair in logs.windows(2).take(3) {
        agree_both_ways(&folder, &pair[0], &pair[1]);
    }
}

/// What a tree has in all.
fn tree_sums(tree: &Value) -> [i64; 2] {
    ["bytes", "blocks"].map(|key| signed(tree, key))
}

#[test]
fn trees_and_pictures_have_the_same_sums() {
    let folder = Folder::new("answers-diff-trees");
    let before = grown(&folder, &GCC, "before", &[]);
    let after = grown(&folder, &GCC, "after", &["-DOTHER_ORDER", GROWN]);
    let [old, new] = [&before, &after].map(|log| log.to_str().expect("a name"));
    for pair in [[&before, &after], [&after, &before]] {
        for more in [&["--tree"][..], &["--tree", "--top-down", "-t", "0"]] {
            let found = compared(&folder, [pair[0], pair[1]], more);
            let trees = found["trees"].as_array().expect("trees");
            let of = |change: &str| {
                let tree = trees.iter().find(|tree| tree["change"] == change);
                tree.map_or([0, 0], tree_sums)
            };
            let (grew, shrank) = (of("grew"), of("shrank"));
            assert_eq!(grew[0] - shrank[0], signed(&found, "bytes"), "{found:#}");
            assert_eq!(grew[1] - shrank[1], signed(&found, "blocks"), "{found:#}");
        }
    }
    let text = folder.says(&["diff", "--tree", old, new]);
    assert!(
        text.contains("\nwhat grew ") && text.contains("plants"),
        "{text}"
    );
    let text = folder.says(&["diff", "--tree", old, old]);
    assert!(text.contains("\nno difference: "), "{text}");
    // Whole sizes of both logs stand on a picture, and the two colours.
    let found = compared(&folder, [&before, &after], &["--by", "size"]);
    let exact = |bytes: u64| {
        let digits = bytes.to_string();
        let digits: Vec<&str> = digits
            .as_bytes()
            .rchunks(3)
            .rev()
            .map(|part| std::str::from_utf8(part).expect("digits"))
            .collect();
        format!("({}B)", digits.join(","))
    };
    for name in ["x.svg", "x.html"] {
        let path = folder.path(name);
        let file = path.to_str().expect("a name");
        let said = folder.says(&["diff", "-o", file, old, new]);
        assert!(said.starts_with("Creating "), "{said}");
        let text = std::fs::read_to_string(&path).expect("a picture");
        assert!(text.contains("plants"), "{name}");
        if name == "x.svg" {
            for side in ["before", "after"] {
                let bytes = exact(number(&found[side], "bytes"));
                assert!(text.contains(&bytes), "{side} {bytes}: {text}");
            }
            assert!(
                text.contains("more live after") && text.contains("#e25446"),
                "{text}"
            );
        }
    }
    let bytes = std::fs::read(&before).expect("the log");
    for wrong in ["x.png", "-", old] {
        let output = folder.run(&["diff", "-o", wrong, old, new]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", said(&output));
    }
    assert_eq!(std::fs::read(&before).expect("the log"), bytes);
    let output = folder.run(&["diff", "--top-down", old, new]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Other machines, word sizes and byte orders, old formats, logs that are cut or spoilt.
#[test]
fn any_two_logs_are_compared() {
    let folder = Folder::new("answers-diff-odd");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut logs = Vec::new();
    crate::odd::logs_below(&golden, &mut logs);
    logs.sort();
    let step = if is_long() { 1 } else { 5 };
    let logs: Vec<PathBuf> = logs.into_iter().step_by(step).collect();
    for pair in logs.windows(2) {
        let by = if is_long() {
            &BY[..]
        } else {
            &["function", "stack"]
        };
        for by in by {
            let there = agree(&folder, [&pair[0], &pair[1]], by);
            let back = agree(&folder, [&pair[1], &pair[0]], by);
            assert_eq!(told(&there, false), told(&back, true), "{by} {pair:?}");
        }
        let same = agree(&folder, [&pair[0], &pair[0]], "stack");
        assert!(rows(&same).is_empty(), "{pair:?}");
    }
    // One that still grows ends anywhere; one that is spoilt says anything.
    let whole = std::fs::read(&logs[0]).expect("a log");
    let mut seed = crate::Random::new(crate::first_seed());
    for round in 0..if is_long() { 200 } else { 12 } {
        let mut bytes = whole.clone();
        match round % 2 {
            0 => bytes.truncate(seed.below(whole.len() as u64) as usize),
            _ => {
                for _ in 0..20 {
                    let at = seed.below(whole.len() as u64) as usize;
                    bytes[at] = seed.below(256) as u8;
                }
            }
        }
        let log = folder.path("odd.memlog");
        std::fs::write(&log, bytes).expect("a file");
        let log = log.to_str().expect("a name");
        let output = folder.run(&[
            "diff",
            "--by",
            "stack",
            logs[0].to_str().expect("a name"),
            log,
        ]);
        assert!(
            matches!(output.status.code(), Some(0 | 2)),
            "{}",
            said(&output)
        );
        assert!(!said(&output).contains("panicked"), "{}", said(&output));
    }
}

#[test]
fn pages_fit_and_have_colours() {
    let folder = Folder::new("answers-diff-page");
    let logs = ["mix 3 400 3", "mix 2 900 1"].map(|words| recorded(&folder, &[], words).0);
    let [before, after] = logs.each_ref().map(|log| log.to_str().expect("a name"));
    for by in BY {
        for columns in ["60", "80", "120"] {
            let mut command = folder.memlog(&["diff", "--by", by, before, after]);
            let output = command.env("COLUMNS", columns).output().expect("it runs");
            let text = String::from_utf8(output.stdout).expect("text");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= columns.parse().ok(), "{by} {columns}: {text}");
            assert!(
                text.contains("\nbefore:") || text.starts_with("before:"),
                "{text}"
            );
            assert!(text.contains("grew"), "{text}");
        }
    }
    let painted = |words: &[&str]| {
        folder.says(&[&["diff", "--color", "always", "--sort", "change"], words].concat())
    };
    let text = painted(&[before, after]) + &painted(&[after, before]);
    assert!(
        text.contains("\x1b[31m") && text.contains("\x1b[32m"),
        "{text}"
    );
    assert!(text.contains("+") && text.contains("-"), "{text}");
}
