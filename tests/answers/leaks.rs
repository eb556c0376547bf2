//! What was never freed, what grew, and what is suppressed: against the twin, what the
//! program says of itself, and LeakSanitizer with the same file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::build::{Compiler, optioned};
use crate::sites::{Folder, said};
use crate::twin::{Block, Twin};
use crate::{Random, ask_words, first_seed, is_long, number, pair, recorded, rows, total, twin};

/// A leak detector looks at lines and functions as they stand there.
const PLAIN: Compiler = Compiler {
    name: "gcc",
    options: &["-std=gnu11", "-O1", "-g", "-fno-omit-frame-pointer"],
};

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/answers")
        .join(file)
}

/// The library and the program; more options are for the program.
fn leaky(folder: &Folder, name: &str, more: &[&str]) -> PathBuf {
    let library = folder.path("libleaky.so");
    if !library.exists() {
        let shared = optioned("gcc", &["-std=gnu11", "-O1", "-g", "-shared", "-fPIC"]);
        shared.build_file(folder, &here("leaky.c"), "libleaky.so", &["-DLIBRARY"]);
    }
    let place = format!("-Wl,-rpath,{}", folder.root().display());
    let library = library.to_str().expect("a path").to_owned();
    let link = [&[library.as_str(), place.as_str()][..], more].concat();
    PLAIN.build_file(folder, &here("leaky.c"), name, &link)
}

/// What the program says of itself, by function.
fn told(said: &str) -> BTreeMap<String, (u64, u64)> {
    let facts = said.lines().filter_map(|line| line.strip_prefix("leak "));
    let facts = facts.map(|line| {
        let words: Vec<&str> = line.split([' ', '=']).collect();
        let number = |at: usize| words[at].parse().expect("a number");
        (words[0].to_owned(), (number(2), number(4)))
    });
    facts.collect()
}

/// The log of `leaky`, and what it said.
fn recorded_leaky(folder: &Folder) -> (PathBuf, BTreeMap<String, (u64, u64)>) {
    let program = leaky(folder, "leaky", &[]);
    let log = folder.path("leaky.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    let output = command.arg(program).output().expect("it runs");
    assert!(log.exists(), "{}", said(&output));
    let facts = told(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(facts.len(), 8, "{facts:?}");
    (log, facts)
}

/// By pattern what a page says of suppressions, those of no use left out.
fn used(answer: &Value) -> BTreeMap<String, (u64, u64)> {
    let lines = answer["suppressions"]
        .as_array()
        .expect("suppressions")
        .iter();
    let lines = lines.filter(|line| line["blocks"] != 0);
    let text = |line: &Value| line["pattern"].as_str().expect("a pattern").to_owned();
    lines.map(|line| (text(line), pair(line))).collect()
}

#[test]
fn suppressions_cover_what_the_program_says() {
    let folder = Folder::new("answers-suppressed");
    let (log, facts) = recorded_leaky(&folder);
    let file = here("leaky.supp");
    let file = file.to_str().expect("a path");
    let all = ask_words(&folder, &log, &["leaks"]);
    let answer = ask_words(&folder, &log, &["leaks", "--suppressions", file]);
    let expected = [
        ("known_le", "known_leak"),
        ("^exact_one$", "exact_one"),
        ("^wild*tail", "wild_and_its_tail"),
        // It is nearer to the allocator than the other, which fits too.
        ("inner", "outer"),
        ("libleaky.so", "in_library"),
    ];
    let expected = expected.map(|(pattern, name)| (pattern.to_owned(), facts[name]));
    assert_eq!(used(&answer), BTreeMap::from(expected));
    let lines = answer["suppressions"].as_array().expect("suppressions");
    let numbers: Vec<u64> = lines.iter().map(|line| number(line, "line")).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6, 7, 9, 11, 12, 13]);
    let covered = used(&answer)
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let suppressed = ["suppressed_bytes", "suppressed_blocks"].map(|key| number(&answer, key));
    assert_eq!((suppressed[0], suppressed[1]), covered);
    assert_eq!(total(&all).0, total(&answer).0 + covered.0);
    for name in ["early", "grows", "exact_one_more"] {
        let row = rows(&answer).iter().find(|row| row["name"] == name);
        assert_eq!(row.map(pair), Some(facts[name]), "{name}");
    }
    assert_eq!(rows(&answer).len(), 3, "{answer:#}");
    let page = folder.says(&[
        "leaks",
        "--suppressions",
        file,
        log.to_str().expect("a path"),
    ]);
    for line in [
        "by line 3, leak:^exact_one$",
        "not used: line 7, leak:never_called",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
}

/// The table at the end of what LeakSanitizer says.
fn of_sanitizer(said: &str) -> Option<BTreeMap<String, (u64, u64)>> {
    let (_, table) = said.split_once("Suppressions used:")?;
    let lines = table.lines().skip(2);
    let lines = lines.take_while(|line| !line.starts_with('-'));
    let lines = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().expect("a number");
        (words[2].to_owned(), (number(1), number(0)))
    });
    Some(lines.collect())
}

#[test]
fn suppressions_mean_what_they_mean_to_leak_sanitizer() {
    let folder = Folder::new("answers-lsan");
    let probe = folder.path("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }").expect("write");
    let mut gcc = folder.command("gcc");
    gcc.args(["-fsanitize=leak", "-o", "probe"]).arg(&probe);
    let runs = |mut command: std::process::Command| {
        command.output().is_ok_and(|output| output.status.success())
    };
    if !runs(gcc) || !runs(folder.command("./probe")) {
        println!("SKIPPED LeakSanitizer: gcc -fsanitize=leak does not run here");
        return;
    }
    let (log, _) = recorded_leaky(&folder);
    let checked = leaky(&folder, "checked", &["-fsanitize=leak"]);
    let file = here("leaky.supp");
    let others = [
        "leak:*a*_more$",
        "leak:leaky.c",
        "leak:^*lib*y.so",
        "leak:/libleaky",
        "leak:^e\nleak:e",
    ];
    let others = others.iter().enumerate().map(|(at, text)| {
        let path = folder.path(&format!("{at}.supp"));
        std::fs::write(&path, text).expect("write");
        path
    });
    for file in std::iter::once(file).chain(others) {
        let mut command = folder.command(&checked);
        let options = format!("suppressions={}:print_suppressions=1", file.display());
        let output = command
            .env("LSAN_OPTIONS", options)
            .output()
            .expect("it runs");
        let text = said(&output);
        let words = ["leaks", "--suppressions", file.to_str().expect("a path")];
        let answer = ask_words(&folder, &log, &words);
        assert_eq!(
            Some(used(&answer)),
            of_sanitizer(&text),
            "{words:?}: {text}"
        );
    }
}

/// Live bytes of each size after an event.
fn live(twin: &Twin, event: u64) -> BTreeMap<u64, u64> {
    let mut live = BTreeMap::new();
    for block in twin
        .blocks
        .iter()
        .filter(|block| block.is_live_after(event))
    {
        *live.entry(block.size).or_default() += block.size;
    }
    live
}

/// The last event that is not after a time.
fn event_at(twin: &Twin, ns: u64) -> u64 {
    let born = twin.blocks.iter().map(|block| block.born);
    let died = twin.blocks.iter().filter_map(|block| block.died);
    let times = born.chain(died).filter(|(time, _)| *time <= ns);
    times.map(|(_, event)| event).max().unwrap_or(0)
}

#[test]
fn growth_is_what_the_twin_sees() {
    for seed in first_seed()..first_seed() + if is_long() { 10 } else { 1 } {
        let folder = Folder::new("answers-growth");
        let (log, _) = recorded(&folder, &[], &format!("mix {seed} 900 3"));
        let twin = twin(&folder, &log);
        let mut random = Random::new(seed);
        for _ in 0..if is_long() { 100 } else { 10 } {
            let (one, other) = (random.below(101), random.below(101));
            let (from, to) = (one.min(other), one.max(other));
            let part = |percent: u64| twin.end.0 * percent / 100;
            let (from_text, to_text) = (format!("{from}%"), format!("{to}%"));
            let between = ["leaks", "--by", "size", "--between", &from_text, &to_text];
            let answer = ask_words(&folder, &log, &between);
            let expected =
                twin.sum(|block| block.born.0 > part(from) && block.is_live_at(part(to)));
            assert_eq!(total(&answer), expected, "{between:?}");
            let ends = [from, to].map(|percent| live(&twin, event_at(&twin, part(percent))));
            for row in rows(&answer) {
                let size: u64 = row["name"]
                    .as_str()
                    .expect("a size")
                    .parse()
                    .expect("a size");
                let expected = ends
                    .each_ref()
                    .map(|live| live.get(&size).copied().unwrap_or(0));
                assert_eq!(row["live_bytes"], serde_json::json!(expected), "{size}");
            }
            let older = ["leaks", "--by", "size", "--older-than", &from_text];
            let answer = ask_words(&folder, &log, &older);
            let expected =
                twin.sum(|block| block.died.is_none() && twin.end.0 - block.born.0 >= part(from));
            assert_eq!(total(&answer), expected, "{older:?}");
        }
    }
}

/// Whatever moment the rows are of, their curves are of the whole run.
#[test]
fn curves_are_what_the_twin_sees() {
    let folder = Folder::new("answers-curves");
    let (log, _) = recorded(&folder, &[], &format!("mix {} 900 3", first_seed()));
    let twin = twin(&folder, &log);
    let event = |part: u64| match part {
        0 => 0,
        _ => event_at(&twin, twin.end.0 * part / 20),
    };
    // Of all blocks, of those that were never freed, and of the old among these.
    let of = |words: &[&str], block: &Block| {
        let is_old = block.died.is_none() && twin.end.0 - block.born.0 >= twin.end.0 / 2;
        match (words[0], words.contains(&"--older-than")) {
            ("table", _) => true,
            (_, false) => block.died.is_none(),
            (_, true) => is_old,
        }
    };
    for (words, least) in [
        (&["table", "--at", "heap-peak"][..], 0),
        (&["table", "--where", "size >= 100"], 100),
        (&["table", "--where", "size >= 100", "--at", "end"], 100),
        (&["leaks", "--at", "50%"], 0),
        (
            &["leaks", "--older-than", "50%", "--where", "size >= 100"],
            100,
        ),
    ] {
        let asked = [words, &["--by", "size", "--curve"]].concat();
        let answer = ask_words(&folder, &log, &asked);
        let plain = ask_words(&folder, &log, &[words, &["--by", "size"]].concat());
        assert_eq!(total(&answer), total(&plain), "{asked:?}");
        let seconds = answer["moments_seconds"].as_array().expect("seconds");
        assert_eq!((seconds.len(), seconds[0].as_f64()), (21, Some(0.0)));
        assert!(!rows(&answer).is_empty(), "{asked:?}");
        for (row, plain) in rows(&answer).iter().zip(rows(&plain)) {
            assert_eq!(pair(row), pair(plain));
            let size = row["name"].as_str().expect("a size").parse();
            let size: u64 = size.expect("a size");
            assert!(size >= least);
            let held = |part: u64| {
                let live = twin.sum(|block| {
                    part > 0
                        && block.size == size
                        && block.is_live_after(event(part))
                        && of(words, block)
                });
                live.0
            };
            let expected: Vec<u64> = (0..=20).map(held).collect();
            assert_eq!(row["live_bytes"], serde_json::json!(expected), "{size}");
        }
    }
    let name = log.to_str().expect("a name");
    let output = folder.run(&["table", "--curve", "--at", "heap-peak", name]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("live over time") && text.contains('█'),
        "{text}"
    );
}

#[test]
fn only_what_grows_all_the_time_is_growing() {
    let folder = Folder::new("answers-growing");
    let (log, facts) = recorded_leaky(&folder);
    let answer = ask_words(&folder, &log, &["leaks", "--growing"]);
    let [row] = rows(&answer) else {
        panic!("one row: {answer:#}");
    };
    assert_eq!((&row["name"], pair(row)), (&"grows".into(), facts["grows"]));
    let live: Vec<u64> = serde_json::from_value(row["live_bytes"].clone()).expect("bytes");
    assert_eq!((live.len(), live[0], live[10]), (11, 0, facts["grows"].0));
    // And so says the twin of all of them.
    let twin = twin(&folder, &log);
    let tenths = (0..=10).map(|tenth| match tenth {
        0 => BTreeMap::new(),
        _ => self::live(&twin, event_at(&twin, twin.end.0 * tenth / 10)),
    });
    let tenths: Vec<_> = tenths.collect();
    let grew = |size: &&u64| {
        let live = tenths
            .iter()
            .map(|live| live.get(size).copied().unwrap_or(0));
        live.is_sorted_by(|one, next| one < next)
    };
    let growing: Vec<u64> = tenths[10].keys().filter(grew).copied().collect();
    assert_eq!(growing, [100]);
    let by_size = ask_words(&folder, &log, &["leaks", "--growing", "--by", "size"]);
    assert_eq!(rows(&by_size).len(), 1);
    assert_eq!(rows(&by_size)[0]["name"], "100");
    let never = ["leaks", "--growing", "--where", "function = early"];
    assert!(rows(&ask_words(&folder, &log, &never)).is_empty());
}

#[test]
fn wrong_questions_about_leaks_are_refused() {
    let folder = Folder::new("answers-leaks-wrong");
    let (log, _) = recorded(&folder, &[], "mix 3 900 1");
    let name = log.to_str().expect("a name");
    std::fs::write(folder.path("race.supp"), "# x\nrace:foo\n").expect("write");
    for (words, told) in [
        (&["--suppressions", "race.supp"][..], "line 2 of race.supp"),
        (
            &["--suppressions", "none.supp"],
            "cannot read the suppressions none.supp",
        ),
        (&["--between", "80%", "20%"], "80% comes after 20%"),
        (&["--between", "0", "99999s"], "is after the program ended"),
        (
            &["--between", "0", "1%", "--at", "end"],
            "cannot be used with",
        ),
        (&["--growing", "--curve"], "cannot be used with"),
        (&["--older-than", "10s or leaked"], "give a time"),
        (&["--older-than", "soon"], "give a time"),
    ] {
        let output = folder.run(&[&["leaks"], words, &[name]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{words:?}: {}", said(&output));
    }
}
