//! Limits: the figures are those of the other commands, and the last byte decides.

use std::io::BufReader;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::twin::Twin;
use crate::{check, check_words, checks, exits, log_of, planted, source, states, told};

const WORDS: &str = "leak 1000 peak 300 known 77 calls 50 leak 24";

fn json(folder: &Folder, words: &[&str], log: &Path) -> Value {
    let log = log.to_str().expect("a name");
    let text = folder.says(&[words, &["--json", log]].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// The most that blocks of such sizes held, by each event of the log.
fn twin_peak(folder: &Folder, log: &Path, fits: impl Fn(u64) -> bool) -> u64 {
    let mut command = folder.memlog(&["dump", "--no-symbols", "--threads"]);
    let mut child = command
        .arg(log)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let twin = Twin::of(BufReader::new(child.stdout.take().expect("a pipe")));
    assert!(child.wait().expect("it ends").success());
    let live = |event| {
        twin.sum(|block| fits(block.size) && block.is_live_after(event))
            .0
    };
    (0..=twin.end.1).map(live).max().unwrap_or(0)
}

#[test]
fn figures_are_those_of_other_commands() {
    let folder = Folder::new("check-figures");
    let log = log_of(&folder, &planted(&folder), WORDS, "log.memlog");
    let stats = json(&folder, &["stats"], &log);
    let all = told(
        &folder,
        "--max-peak 0 --max-leaked 0 --max-rss 0 --max-allocations 0 --max-total 0 log.memlog",
        1,
    );
    let own = number(&stats["own_rss_bytes"]);
    let leaks = json(&folder, &["leaks"], &log);
    let expected = [
        ("peak", number(&stats["heap_peak_bytes"])),
        ("leaked", number(&leaks["bytes"])),
        ("rss", number(&stats["rss_peak_bytes"]) - own),
        ("allocations", number(&stats["allocations"])),
        ("total", number(&stats["total_bytes"])),
    ];
    for (one, (measure, amount)) in checks(&all).iter().zip(expected) {
        assert_eq!(
            (&one["measure"], number(&one["measured"])),
            (&measure.into(), amount)
        );
        assert_eq!(one["state"], "broken");
        assert!(
            !one["places"].as_array().expect("places").is_empty(),
            "{one}"
        );
    }
    assert_eq!(checks(&all).len(), 5);
    // Of chosen blocks.
    for (filter, fits) in [
        (
            "size >= 24 and size <= 77",
            (|size| (24..=77).contains(&size)) as fn(u64) -> bool,
        ),
        ("size = 8", |size| size == 8),
        ("size > 100", |size| size > 100),
        ("size = 1", |size| size == 1),
    ] {
        let limits = "--max-peak 0 --max-leaked 0 --max-allocations 0 --max-total 0";
        let mut words: Vec<&str> = limits.split(' ').collect();
        words.extend(["--format", "json", "--where", filter, "log.memlog"]);
        let output = check_words(&folder, &words);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let table = json(&folder, &["table", "--by", "size", "--where", filter], &log);
        let leaks = json(&folder, &["leaks", "--by", "size", "--where", filter], &log);
        let measured: Vec<u64> = checks(&report)
            .iter()
            .map(|one| number(&one["measured"]))
            .collect();
        let expected = [
            twin_peak(&folder, &log, fits),
            number(&leaks["bytes"]),
            number(&table["blocks"]),
            number(&table["bytes"]),
        ];
        assert_eq!(measured, expected, "{filter}");
        let is_none = expected == [0; 4];
        assert_eq!(
            output.status.code(),
            Some(if is_none { 0 } else { 1 }),
            "{filter}"
        );
    }
}

#[test]
fn the_last_byte_decides() {
    let folder = Folder::new("check-byte");
    log_of(&folder, &planted(&folder), WORDS, "log.memlog");
    let all = told(
        &folder,
        "--max-peak 0 --max-leaked 0 --max-allocations 0 log.memlog",
        1,
    );
    for one in checks(&all) {
        let (measure, most) = (
            one["measure"].as_str().expect("a word"),
            number(&one["measured"]),
        );
        assert!(most > 0);
        let limit = |most| format!("--max-{measure} {most} log.memlog");
        exits(&check(&folder, &limit(most)), 0);
        exits(&check(&folder, &limit(most - 1)), 1);
    }
}

#[test]
fn who_broke_it_is_told() {
    let folder = Folder::new("check-who");
    let program = planted(&folder);
    let name = program.to_str().expect("a path");
    let root = env!("CARGO_MANIFEST_DIR");
    let words = [
        "--max-leaked",
        "0",
        "--max-peak",
        "100KiB",
        "--source-root",
        root,
        "--",
        name,
        "leak",
        "5000",
        "peak",
        "300",
    ];
    let text = exits(&check_words(&folder, &words), 1);
    let line = |word: &str| {
        let source = std::fs::read_to_string(source("planted.c")).expect("the source");
        source
            .lines()
            .position(|line| line.contains(word))
            .expect(word)
            + 1
    };
    let leak = line("static void planted_leak");
    for told in [
        "BROKEN     never freed: 4.9 KiB, limit 0 bytes, 4.9 KiB over".to_owned(),
        format!("1x  planted_leak [tests/check/planted.c:{leak}]"),
        format!(
            "1x  planted_peak [tests/check/planted.c:{}]",
            line("/* the highest */")
        ),
        "2 checks: 2 broken".to_owned(),
    ] {
        assert!(text.contains(&told), "{told}: {text}");
    }
}

#[test]
fn a_known_leak_is_none() {
    let folder = Folder::new("check-known");
    log_of(&folder, &planted(&folder), "known 77", "log.memlog");
    std::fs::write(folder.path("known.supp"), "leak:known_leak\n").expect("write");
    exits(&check(&folder, "--max-leaked 0 log.memlog"), 1);
    exits(&check(&folder, "--max-leaked 76 log.memlog"), 1);
    exits(
        &check(
            &folder,
            "--max-leaked 0 --suppressions known.supp log.memlog",
        ),
        0,
    );
    log_of(&folder, &planted(&folder), "known 77 leak 5", "both.memlog");
    let report = told(
        &folder,
        "--max-leaked 0 --suppressions known.supp both.memlog",
        1,
    );
    let [one] = checks(&report) else {
        panic!("{report:#}");
    };
    assert_eq!(one["measured"], 5);
    let places = one["places"].as_array().expect("places");
    let names: Vec<&Value> = places.iter().map(|place| &place["function"]).collect();
    assert_eq!(names, ["planted_leak"]);
}

#[test]
fn a_program_that_fails_does_not_pass() {
    let folder = Folder::new("check-fails");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    for (words, told) in [
        ("calls 1 exit 3", "the program exited with 3"),
        (
            "calls 1 kill 9",
            "the program was killed by signal 9 (SIGKILL)",
        ),
        (
            "calls 1 kill 15",
            "the program was killed by signal 15 (SIGTERM)",
        ),
    ] {
        let text = exits(
            &check(&folder, &format!("--max-leaked 0 -- {name} {words}")),
            1,
        );
        assert!(text.contains(told), "{text}");
        assert!(text.contains("held       never freed"), "{text}");
    }
    // It is not tried again, and no baseline is made of it.
    let words = format!("--write-baseline base.json --repeat 3 -- {name} exit 3");
    let text = exits(&check(&folder, &words), 1);
    assert!(text.contains("exited with 3 in run 1 of 3"), "{text}");
    assert!(!folder.path("base.json").exists());
}

#[test]
fn what_cannot_be_checked_is_2() {
    let folder = Folder::new("check-2");
    let program = planted(&folder);
    log_of(&folder, &program, "leak 5", "log.memlog");
    std::fs::write(folder.path("no.memlog"), "nothing").expect("write");
    for (words, told) in [
        ("--max-leaked 0", "nothing to check"),
        ("log.memlog", "no limit to check"),
        ("--max-leaked 0 none.memlog", "none.memlog"),
        ("--max-leaked 0 no.memlog", "no.memlog"),
        ("--max-leaked 0 -- ./nowhere", "nowhere"),
        ("--max-leaked x log.memlog", "a size such as"),
        ("--max-allocations 2GiB log.memlog", "a number such as"),
        (
            "--max-leaked 0 --where sise>1 log.memlog",
            "nothing is called `sise`",
        ),
        (
            "--max-rss 1GiB --where leaked log.memlog",
            "--max-rss is of the whole process",
        ),
        ("--where leaked log.memlog", "no limit for them"),
        ("--max-leaked 0 --repeat 3 log.memlog", "--repeat"),
        ("--max-leaked 0 --children log.memlog", "--children"),
        ("--max-leaked 0 --logs kept log.memlog", "--logs"),
        ("--children --baseline b.json -- ./x", "cannot be used with"),
        ("--max-leaked 0 log.memlog -- ./x", "cannot be used with"),
        (
            "--max-leaked 0 --suppressions none.supp log.memlog",
            "none.supp",
        ),
        ("--baseline none.json log.memlog", "none.json"),
        ("--baseline log.memlog log.memlog", "log.memlog"),
        ("--max-leaked 0 --tolerance 5% log.memlog", "--baseline"),
        ("--max-leaked 0 --compare peak log.memlog", "--baseline"),
        ("--max-leaked 0 -o /nowhere/x log.memlog", "/nowhere"),
        ("--max-leaked 0 --format html log.memlog", "html"),
        ("--max-leaked 0 --source-root nowhere log.memlog", "nowhere"),
        ("--max-peak 0 --where stack=1..2 log.memlog", "error"),
    ] {
        let output = check(&folder, words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", said(&output));
        assert!(said(&output).contains(told), "{words}: {}", said(&output));
    }
}

#[test]
fn children_are_checked_if_that_is_asked() {
    let folder = Folder::new("check-children");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    let text = exits(
        &check(
            &folder,
            &format!("--max-leaked 0 -- {name} calls 1 fork 100"),
        ),
        0,
    );
    assert!(
        text.contains("note: a process that it started is not checked"),
        "{text}"
    );
    // The child does not answer for what its parent has, and has freed by then or not.
    let words = format!("--max-leaked 100 --children -- {name} leak 50 fork 100");
    let report = told(&folder, &words, 0);
    let measured: Vec<u64> = report["programs"]
        .as_array()
        .expect("programs")
        .iter()
        .map(|one| number(&one["checks"][0]["measured"]))
        .collect();
    assert_eq!(measured, [50, 100], "{report:#}");
    exits(
        &check(
            &folder,
            &format!("--max-leaked 99 --children -- {name} leak 50 fork 100"),
        ),
        1,
    );
}

#[test]
fn the_last_image_counts() {
    let folder = Folder::new("check-exec");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    // What it leaked before it executed itself again is gone with that image.
    let words = format!("--max-leaked 0 -- {name} leak 50 exec 0 leak 9");
    let report = told(&folder, &words, 1);
    assert_eq!(checks(&report)[0]["measured"], 9, "{report:#}");
    exits(
        &check(
            &folder,
            &format!("--max-leaked 0 -- {name} leak 50 exec 0 peak 1"),
        ),
        0,
    );
    // One that nobody records may hold anything.
    let mut command = folder.memlog(&["check", "--max-leaked", "1KiB", "--"]);
    let words = [name, "leak", "50", "exec", "0", "leak", "5000"];
    command.env("TMPDIR", folder.folder("tmp"));
    let output = command.args(words).env("MEMLOG_FOLLOW_EXEC", "0").output();
    let text = exits(&output.expect("it runs"), 1);
    assert!(
        text.contains("UNPROVEN") && text.contains("what it executed last has no log"),
        "{text}"
    );
}

#[test]
fn each_log_is_checked() {
    let folder = Folder::new("check-several");
    for (words, name) in [("peak 1", "a.memlog"), ("leak 5", "b.memlog")] {
        log_of(&folder, &planted(&folder), words, name);
    }
    let report = told(&folder, "--max-leaked 0 a.memlog b.memlog", 1);
    let held: Vec<&Value> = report["programs"]
        .as_array()
        .expect("programs")
        .iter()
        .map(|one| &one["held"])
        .collect();
    assert_eq!(held, [true, false]);
    // A folder and a pattern are all of their logs, the smallest too.
    log_of(&folder, &folder.path("planted"), "peak 900", "big.memlog");
    for name in ["a.memlog", "b.memlog", "big.memlog"] {
        std::fs::copy(folder.path(name), folder.folder("logs").join(name)).expect("copy");
    }
    std::fs::write(folder.path("logs/c.memlog"), "nothing").expect("write");
    for (words, notes) in [
        ("logs", 0),
        ("logs/*.memlog", 1),
        ("logs/b*g.memlog logs/[a-b].memlog", 0),
    ] {
        let report = told(&folder, &format!("--max-leaked 0 {words}"), 1);
        let programs = report["programs"].as_array().expect("programs");
        let held = programs.iter().filter(|one| one["held"] == true).count();
        assert_eq!((programs.len(), held), (3, 2), "{words}: {report:#}");
        assert_eq!(
            report["notes"].as_array().map(Vec::len),
            Some(notes),
            "{report:#}"
        );
    }
    exits(&check(&folder, "--max-leaked 0 logs/c*"), 2);
    // A limit is kept by each run.
    let name = folder.path("planted");
    let words = format!("--max-leaked 0 --repeat 3 -- {} leak 5", name.display());
    let report = told(&folder, &words, 1);
    assert_eq!(states(&report), [("leaked", "broken")]);
    assert_eq!(checks(&report)[0]["runs"], serde_json::json!([5, 5, 5]));
}

#[test]
fn who_does_not_read_the_report_changes_no_verdict() {
    let folder = Folder::new("check-pipe");
    log_of(&folder, &planted(&folder), "leak 5", "log.memlog");
    for (limit, code) in [("0", 1), ("5", 0)] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = folder.memlog(&["check", "--max-leaked", limit, "log.memlog"]);
        let output = command.stdout(writer).output().expect("it runs");
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
}

#[test]
fn a_program_without_a_log_is_2() {
    let folder = Folder::new("check-off");
    let name = planted(&folder);
    let mut command = folder.memlog(&["check", "--max-leaked", "0", "--"]);
    let output = command
        .arg(name)
        .args(["leak", "5"])
        .env("MEMLOG_OFF", "1")
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("MEMLOG_OFF"), "{}", said(&output));
    assert!(
        said(&output).contains("left no log to check"),
        "{}",
        said(&output)
    );
}

#[test]
fn logs_stay_only_where_somebody_will_look() {
    let folder = Folder::new("check-logs");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    let left = || {
        std::fs::read_dir(folder.folder("tmp"))
            .expect("list")
            .count()
    };
    exits(
        &check(&folder, &format!("--max-leaked 9 -- {name} leak 5")),
        0,
    );
    assert_eq!(left(), 0);
    let output = check(&folder, &format!("--max-leaked 0 -- {name} leak 5"));
    exits(&output, 1);
    assert_eq!(left(), 1);
    assert!(
        said(&output).contains("the logs are kept in "),
        "{}",
        said(&output)
    );
    exits(
        &check(
            &folder,
            &format!("--max-leaked 9 --logs kept -- {name} leak 5"),
        ),
        0,
    );
    assert_eq!(folder.logs("kept").len(), 1);
    assert_eq!(left(), 1);
}
