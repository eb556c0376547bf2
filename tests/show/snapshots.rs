//! Snapshots of a log made by hand: at marks and in time, as text and as JSON, and what
//! is refused.

use memlog_format::table::StackId;
use serde_json::Value;

use crate::errors::refuses;
use crate::json::{documented, keys};
use crate::logs::sites;
use crate::recipe::{PROGRAM, Recipe};
use crate::{says, with_logs};

/// Two stacks: one grows by 100 bytes from mark to mark, the other comes and goes.
pub fn marked() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    let main = PROGRAM + 0x10D1;
    let grows = log.stack(StackId::COMPLETE, &[main, PROGRAM + 0x1100]);
    let stays = log.stack(StackId::COMPLETE, &[main, PROGRAM + 0x1200]);
    log.allocate(stays, 1, 7_000);
    log.mark(b"load \x1b[1m");
    log.time(10);
    for request in 0..3 {
        log.allocate(grows, 1, 100);
        let buffer = log.allocate(stays, 2, 50_000);
        log.time(20 + 10 * request);
        log.release(&buffer);
        log.mark(b"request");
    }
    let all = log.allocate(grows, 1, 30);
    log.release(&all);
    log.time(60);
    log
}

#[test]
fn marks_are_snapshots() {
    let folder = with_logs("show-snapshots", &[("a", marked())]);
    let read = |words: &str| -> Value {
        let text = says(&folder, &format!("report --json -t 0 {words} a.memlog"));
        serde_json::from_str(&text).expect("JSON")
    };
    let page = read("--show-snapshots --show-snapshot-deltas --show-cumulative-snapshot-delta");
    assert_eq!(page["every"], Value::Null);
    let list = page["snapshots"].as_array().expect("snapshots");
    let told = list.iter().map(|one| {
        let figures = ["events", "churn_bytes", "bytes", "blocks", "releases"];
        let figures = figures.map(|key| one[key].as_u64().expect(key));
        (
            one["mark"].as_str().expect("a mark"),
            one["seconds"].as_f64(),
            figures,
        )
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("load \\u{1b}[1m", Some(0.0), [1, 7_000, 7_000, 1, 0]),
            ("request", Some(0.02), [6, 200_100, 7_100, 2, 2]),
            ("request", Some(0.03), [11, 200_100, 7_200, 3, 2]),
            ("request", Some(0.04), [16, 200_100, 7_300, 4, 2]),
        ]
    );
    let trees = page["trees"].as_array().expect("trees");
    let told = trees.iter().map(|tree| {
        (
            tree["label"].as_str().expect("a label"),
            tree["change"].as_str(),
            tree["bytes"].as_u64(),
        )
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("snapshot-0", None, Some(7_000)),
            ("snapshot-1", None, Some(7_100)),
            ("snapshot-1-delta", Some("grew"), Some(100)),
            ("snapshot-2", None, Some(7_200)),
            ("snapshot-2-delta", Some("grew"), Some(100)),
            ("snapshot-3", None, Some(7_300)),
            ("snapshot-3-delta", Some("grew"), Some(100)),
            ("cum-snapshot-delta", Some("grew"), Some(300)),
        ]
    );
    // A moment is the same with and without them.
    let output = crate::memlog(&folder, "report --json --every 25ms --at")
        .args(["mark request", "a.memlog"])
        .output()
        .expect("run");
    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(page["trees"][0]["bytes"], 7_100);
    // Those that are due come between them.
    let both = read("--every 25ms");
    let list = both["snapshots"].as_array().expect("snapshots");
    let told = list
        .iter()
        .map(|one| (one["mark"].as_str(), one["seconds"].as_f64()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (Some("load \\u{1b}[1m"), Some(0.0)),
            (Some("request"), Some(0.02)),
            (None, Some(0.025)),
            (Some("request"), Some(0.03)),
            (Some("request"), Some(0.04)),
            (None, Some(0.05)),
        ]
    );
}

#[test]
fn each_key_of_a_snapshot_is_in_the_documentation() {
    let folder = with_logs("show-snapshots-keys", &[("a", marked())]);
    let text = says(
        &folder,
        "report --json --every 100KiB --show-snapshot-deltas a.memlog",
    );
    let page: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(page["every"], "100KiB");
    let told = documented("\n## Snapshots", "\n## ");
    let plain = says(&folder, "report --json a.memlog");
    let plain: Value = serde_json::from_str(&plain).expect("JSON");
    let new = |page: &Value, plain: &Value| {
        let old = keys(plain);
        keys(page).into_iter().filter(move |key| !old.contains(key))
    };
    let mut printed: Vec<String> = new(&page, &plain).collect();
    printed.extend(new(&page["trees"][0], &plain["trees"][0]));
    printed.extend(keys(&page["snapshots"][0]));
    for key in &printed {
        assert!(told.contains(key), "{key} is not told");
    }
    for key in &told {
        assert!(printed.contains(key), "{key} is not printed");
    }
}

#[test]
fn people_see_a_list_and_trees() {
    let folder = with_logs("show-snapshots-text", &[("a", marked()), ("b", sites())]);
    let text = says(
        &folder,
        "report --every 30ms --show-snapshot-deltas a.memlog",
    );
    for line in [
        "6 snapshots, one every 30ms; the live heap, and what was allocated and freed since the one before:",
        "snapshot  seconds       heap  blocks  allocated     freed      change  mark",
        "       0    0.000    6.8 KiB       1    6.8 KiB   0 bytes    +6.8 KiB  load \\u{1b}[1m",
        "       3    0.030  104.8 KiB       6   97.8 KiB   0 bytes   +97.8 KiB",
        "snapshot-1-delta, mark \"request\", what grew from 0.000 s to 0.020 s (percentages are shares of it): 100B in 1 block",
        "->100.00% (100B, 1x): program+0x1100",
    ] {
        assert!(
            text.lines().any(|told| told == line),
            "{line}\nis not in\n{text}"
        );
    }
    // A moment of its own stands behind them.
    let text = says(&folder, "report --every 30ms --show-leaks b.memlog");
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("no {part} in {text}"))
    };
    assert!(place("2 snapshots, one every 30ms") < place("live heap at the end"));
    assert!(!text.contains("at the RSS peak ("), "{text}");
    for (every, told) in [
        ("2m", "no snapshot: the log ends before 120s"),
        ("90s", "no snapshot: the log ends before 90s"),
        ("1T", "no snapshot: less than 1TiB came and went"),
    ] {
        let text = says(&folder, &format!("report --every {every} b.memlog"));
        assert!(text.contains(told), "{told} is not in {text}");
    }
    let text = says(&folder, "report --as pmem b.memlog");
    assert!(text.starts_with("\n[  0]====="), "{text}");
    assert!(text.contains("\nchurn=1048576/1048576\n"), "{text}");
}

#[test]
fn what_cannot_be_is_refused() {
    let mut long = Recipe::new(b"/nowhere/libc.so.6");
    let stack = long.stack(StackId::COMPLETE, &[PROGRAM + 0x1100]);
    long.allocate(stack, 1, 100);
    long.time(3_600_000);
    let folder = with_logs("show-snapshots-errors", &[("a", sites()), ("long", long)]);
    let no_marks = [
        "the program set no marks",
        "hint: say how often",
        "--every 10s",
    ];
    for option in [
        "--show-snapshots",
        "--show-snapshot-deltas",
        "--show-cumulative-snapshot-delta",
    ] {
        refuses(&folder, &format!("report {option} a.memlog"), &no_marks);
    }
    let step = [
        "--every 999us is less than a step of the log's clock, 1ms",
        "--every 1ms or more",
    ];
    refuses(&folder, "report --every 999us a.memlog", &step);
    for every in ["10", "0s", "0MiB", "5%", "fast"] {
        let parts = ["a time with its unit, as 10s", "as 1GiB"];
        let output = crate::memlog(&folder, &format!("report --every {every} a.memlog")).output();
        let said = crate::sites::said(&output.expect("run"));
        assert!(
            parts.iter().all(|part| said.contains(part)),
            "{every}: {said}"
        );
    }
    let many = [
        "more than 10,000 snapshots",
        "hint: give a larger distance: --every 4s",
    ];
    refuses(&folder, "report --every 1ms long.memlog", &many);
    says(&folder, "report --every 4s long.memlog");
    for by in ["temporary", "freed"] {
        let whole = format!("--by {by} counts the whole run, and --every asks for a moment");
        let words = format!("report --every 1s --by {by} a.memlog");
        refuses(&folder, &words, &[&whole]);
    }
    let both = ["--by count counts the whole run, and --show-leaks asks for a moment"];
    let words = "report --every 1s --by count --show-leaks a.memlog";
    refuses(&folder, words, &both);
    let mapped = ["--every is of the heap, and --mapped is of what lies outside it"];
    refuses(&folder, "report --every 1s --mapped a.memlog", &mapped);
    let bytes = [
        "--as pmem takes snapshots by bytes",
        "hint: give --every with bytes",
    ];
    refuses(&folder, "report --as pmem --every 1s a.memlog", &bytes);
}
