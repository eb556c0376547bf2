//! Stripped logs: what lived long is there event by event, of the rest the sums; figures of
//! peaks, ends and totals are those of the log as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use memlog_format::event::{Alloc, Release};
use memlog_format::ext::Rss;
use memlog_read::{Item, Kind, Log};
use serde_json::Value;

use crate::sites::Folder;
use crate::{ask, recorded};

/// What a command prints, there and there.
fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name")
}

/// The log without blocks that lived less than that.
fn stripped(folder: &Folder, log: &Path, threshold: Option<&str>) -> PathBuf {
    let name = log.file_stem().expect("a name").to_string_lossy();
    let path = folder.path(&format!("{name}.{}.small", threshold.unwrap_or("all")));
    assert!(!path.exists());
    let options: &[&str] = match threshold {
        Some(time) => &["--threshold", time],
        None => &[],
    };
    folder.says(&[&["strip"], options, &["-o", text(&path), text(log)]].concat());
    path
}

/// What a log tells, in its order.
#[derive(Default)]
struct Told {
    /// Each event as a text, but for numbers and stamps, which only tell the order.
    events: Vec<String>,
    allocations: u64,
    /// By stack, size and thread how many blocks.
    passed: BTreeMap<(u32, u64, u32), u64>,
}

fn told(log: &Log) -> Told {
    let mut told = Told::default();
    for Item {
        stream, tick, kind, ..
    } in log.events()
    {
        let kind = match kind {
            Kind::Passed(passed) if passed.blocks == 0 => continue,
            Kind::Passed(passed) => {
                let key = (passed.stack.0, passed.size, passed.tid);
                *told.passed.entry(key).or_default() += passed.blocks;
                continue;
            }
            Kind::Stamp(_) => continue,
            Kind::Alloc(alloc) => {
                told.allocations += 1;
                Kind::Alloc(Alloc {
                    order: None,
                    ..alloc
                })
            }
            // What a realloc is without its second half says less.
            Kind::Release(release) => Kind::Release(Release {
                announced: false,
                order: None,
                ..release
            }),
            Kind::Rss(rss) => Kind::Rss(Rss { stamp: 0, ..rss }),
            kind => kind,
        };
        told.events.push(format!("{stream} {tick} {kind:?}"));
    }
    told
}

/// Of each block that went: when it came and went, as far as the time of such events had come
/// by then; its stack, size and thread.
fn lives(log: &Log) -> Vec<(u64, u64, (u32, u64, u32))> {
    let (mut live, mut lives) = (BTreeMap::new(), Vec::new());
    let mut now = 0;
    for item in log.events() {
        if matches!(item.kind, Kind::Alloc(_) | Kind::Release(_)) {
            now = now.max(item.tick);
        }
        match item.kind {
            Kind::Alloc(alloc) => {
                let key = (alloc.stack.0, alloc.size, item.tid);
                live.insert(alloc.address, (now, key));
            }
            Kind::Release(release) => {
                if let Some((born, key)) = live.remove(&release.address) {
                    lives.push((born, now, key));
                }
            }
            _ => {}
        }
    }
    lives
}

/// Whether all of `some` is in `all`, in the same order.
fn is_part(some: &[String], all: &[String]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a log")
}

/// Every event that is left is one of the log, in its order and at its time; what is not left
/// is in the sums, and lived shortly.
fn holds(before: &Path, after: &Path, below_ticks: u64) {
    let (before, after) = (read(before), read(after));
    let (before, after) = (
        Log::open(&before).expect("a log"),
        Log::open(&after).expect("a log"),
    );
    assert_eq!(after.findings().count(), 0);
    let (was, is) = (told(&before), told(&after));
    assert!(is_part(&is.events, &was.events), "in the same order");
    let others = |told: &Told| {
        let mut others = told.events.clone();
        others.retain(|event| !event.contains(" Alloc(") && !event.contains(" Release("));
        others
    };
    assert_eq!(others(&is), others(&was));
    let passed: u64 = is.passed.values().sum();
    assert_eq!(passed, was.allocations - is.allocations);
    assert!(passed > 0, "nothing went");
    // By stack, size and thread: all that lived shortly, less what was needed.
    let (mut short, mut long) = (BTreeMap::new(), BTreeMap::new());
    for (born, died, key) in lives(&before) {
        let all = if died - born < below_ticks {
            &mut short
        } else {
            &mut long
        };
        *all.entry(key).or_insert(0) += 1;
    }
    for (key, blocks) in &is.passed {
        assert!(short.get(key) >= Some(blocks), "{key:?}");
    }
    let mut left = BTreeMap::new();
    for (.., key) in lives(&after) {
        *left.entry(key).or_insert(0) += 1;
    }
    for (key, blocks) in &long {
        assert!(left.get(key) >= Some(blocks), "what lived long is there");
    }
}

/// What differs between two values, by path.
fn differences(one: &Value, other: &Value, at: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                let none = Value::Null;
                let other = other.get(key).unwrap_or(&none);
                differences(value, other, &format!("{at}.{key}"), found);
            }
        }
        _ if one == other => {}
        _ => found.push(format!("{at}: {one} and {other}")),
    }
}

/// Figures that are of the file, and not of the program.
const OWN: [&str; 3] = [".counters.chunks", ".stripped", ".event_bytes"];
/// Pages that say the same, and how: what they say of themselves in the heading is not.
const PAGES: [&str; 9] = [
    "table --by line",
    "table --by thread",
    "table --by line --at rss-peak",
    "table --by line --at heap-peak",
    "table --by line --at end",
    "temporary",
    "threads",
    "leaks",
    "histogram size",
];

/// What pages say of a log.
struct Said {
    stats: Value,
    rows: Vec<Value>,
}

impl Said {
    fn of(folder: &Folder, log: &Path) -> Self {
        let rows = PAGES.map(|page| ask(folder, log, page)["rows"].clone());
        assert!(rows.iter().all(Value::is_array));
        Self {
            stats: ask(folder, log, "stats"),
            rows: rows.into(),
        }
    }

    fn has_stats(&self, other: &Value) {
        let mut found = Vec::new();
        differences(&self.stats, other, "", &mut found);
        found.retain(|line| !OWN.iter().any(|own| line.starts_with(own)));
        assert!(found.is_empty(), "{found:#?}");
    }

    fn is(&self, other: &Self) {
        self.has_stats(&other.stats);
        for (page, (one, other)) in PAGES.iter().zip(self.rows.iter().zip(&other.rows)) {
            assert_eq!(one, other, "{page}");
        }
    }
}

fn figures_are_the_same(folder: &Folder, before: &Path, after: &Path) {
    Said::of(folder, before).is(&Said::of(folder, after));
}

#[test]
fn sums_peaks_and_what_lived_long_stay() {
    let folder = Folder::new("answers-stripped");
    for words in [
        "mix 1 2000 3",
        "mix 2 2500 4",
        "mix 7 3000 4",
        "mix 8 20000 1",
        "many 20000",
        "chains",
    ] {
        let (log, _) = recorded(&folder, &[], words);
        let before = Said::of(&folder, &log);
        for threshold in [None, Some("4ms")] {
            let small = stripped(&folder, &log, threshold);
            holds(&log, &small, threshold.map_or(u64::MAX, |_| 4));
            before.is(&Said::of(&folder, &small));
            // Again: nothing is left to go, and nothing is told otherwise.
            let again = stripped(&folder, &small, threshold);
            before.has_stats(&ask(&folder, &again, "stats"));
            let [before, after] = [&log, &small].map(|log| log.metadata().expect("a file").len());
            assert!(after <= before, "{words}: {before} {after}");
        }
    }
}

/// With fine time a step of the clock is 10 ns.
#[test]
fn fine_times_have_fine_thresholds() {
    let folder = Folder::new("answers-stripped-fine");
    let (log, _) = recorded(&folder, &["--fine-time"], "mix 9 3000 2");
    let small = stripped(&folder, &log, Some("20us"));
    holds(&log, &small, 2000);
    figures_are_the_same(&folder, &log, &small);
}

#[test]
fn forked_processes_keep_what_they_inherited() {
    let folder = Folder::new("answers-stripped-fork");
    let logs_in = folder.folder("logs");
    let (first, _) = recorded(&folder, &[], "fork");
    for log in folder.logs("") {
        let name = log.file_name().expect("a name").to_owned();
        fs::rename(&log, logs_in.join(name)).expect("moved");
    }
    let _ = first;
    let small = folder.path("small");
    folder.says(&["strip", "-o", text(&small), text(&logs_in)]);
    let (mut heirs, logs) = (0, folder.logs("logs"));
    for log in &logs {
        let name = log.file_name().expect("a name");
        figures_are_the_same(&folder, log, &small.join(name));
        heirs += u64::from(ask(&folder, log, "stats")["inherited_blocks"].as_u64() > Some(0));
    }
    assert!(heirs > 0 && logs.len() > 1, "{heirs}");
    // One without the other says so, whichever it is.
    let heir = |log: &&PathBuf| ask(&folder, log, "stats")["inherited_blocks"].as_u64() > Some(0);
    let child = logs.iter().find(heir).expect("a child");
    let name = child.file_name().expect("a name");
    let alone = folder.folder("alone");
    let output = folder.run(&["strip", "-o", text(&alone.join(name)), text(child)]);
    assert!(
        said(&output).contains("stripped in the same call"),
        "{}",
        said(&output)
    );
    for (from, to) in [("logs", "alone"), ("small", "mixed")] {
        folder.folder(to);
        for log in folder.logs(from) {
            let to = folder.path(to).join(log.file_name().expect("a name"));
            if !to.exists() {
                fs::copy(&log, &to).expect("copied");
            }
        }
    }
    // Beside the parent's log as it was, it reads as before.
    figures_are_the_same(&folder, child, &alone.join(name));
    // A child's log as it was is not read with its parent's stripped one.
    fs::copy(child, folder.path("mixed").join(name)).expect("copied");
    let output = folder.run(&["summary", text(&folder.path("mixed").join(name))]);
    assert!(said(&output).contains("is stripped"), "{}", said(&output));
}

#[test]
fn what_cannot_be_stripped_is_told() {
    let folder = Folder::new("answers-stripped-not");
    let (log, _) = recorded(&folder, &[], "many 2000");
    let packed = folder.path("many.tar.zst");
    folder.says(&["pack", "-o", text(&packed), text(&log)]);
    let foreign = folder.path("out.json");
    folder.says(&["export", "dhat", "-o", text(&foreign), text(&log)]);
    let flight = folder.path("flight.memlog");
    let program = folder.path("known");
    let words = ["record", "--flight-recorder=256K", "-o", text(&flight)];
    folder.says(&[&words[..], &[text(&program), "many", "90000"]].concat());
    let small = stripped(&folder, &log, None);
    for (words, expected) in [
        (
            vec!["strip", "-o", "x", text(&packed)],
            "memlog extract FILE",
        ),
        (
            vec!["strip", "-o", "x", text(&foreign)],
            "memlog import FILE",
        ),
        (vec!["strip", "-o", "x", text(&flight)], "flight recorder"),
        (vec!["strip", "-t", "1us", text(&log)], "steps of 1.0 ms"),
        (vec!["strip", "-t", "5%", text(&log)], "such as 10ms"),
        (
            vec!["strip", "-o", text(&small), text(&log)],
            "is there already",
        ),
        (
            vec!["strip", "--force", "-o", text(&log), text(&log)],
            "is to be stripped",
        ),
        (vec!["strip", text(&log), text(&small)], "-o DIR"),
        (
            vec!["export", "replay", "-o", "x", text(&small)],
            "the log is stripped",
        ),
    ] {
        let output = folder.run(&words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(expected), "{words:?}: {told}");
        assert!(!folder.path("x").exists());
    }
    // Pages that need what went say that they lack it.
    // What needs them is refused; what lacks them says so.
    let log = text(&small);
    let questions = [
        "histogram lifetime",
        "chains",
        "timeline",
        "dump",
        "postmortem",
        "report --at 50%",
        "report --every 10ms",
        "table --at 1ms",
        "table --where lifetime>1ms",
        "table --where born>1ms",
        "table --list --sort lifetime",
        "export heaptrack -o x",
        "export firefox -o x",
        "export massif -o x",
        "export perfetto -o x",
    ];
    for question in questions {
        let words: Vec<_> = question.split(' ').chain([log]).collect();
        let output = folder.run(&words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{question}: {told}");
        assert!(told.contains("the log is stripped"), "{question}: {told}");
    }
    assert!(said(&folder.run(&["where", log, "0x0"])).contains("the log is stripped"));
    for page in ["table", "leaks", "threads", "info"] {
        assert!(folder.says(&[page, log]).contains("stripped"), "{page}");
    }
    // Of single blocks there is no more than is known.
    let list = ask(&folder, &small, "table --list");
    for key in [
        "address",
        "allocated_seconds",
        "freed_seconds",
        "lifetime_seconds",
        "chain",
    ] {
        assert_eq!(list["list"][0][key], Value::Null, "{key}");
    }
    assert!(list["list"][0]["bytes"].is_number());
    let output = folder.run(&["check", "--max-peak", "1", "--where", "size > 0", log]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("UNPROVEN"), "{}", said(&output));
    let lives = serde_json::from_str::<Value>(&folder.says(&["export", "dhat", "-o", "-", log]));
    assert_eq!(lives.expect("JSON")["bklt"], false);
    let report = folder.says(&["report", text(&small)]);
    assert!(report.contains("stripped:  "), "{report}");
}

/// Many blocks alike that went are few bytes of events, and many rows.
#[test]
fn few_events_may_tell_of_many_blocks() {
    let folder = Folder::new("answers-stripped-many");
    for words in ["many 200000", "alike 50000"] {
        let (log, _) = recorded(&folder, &[], words);
        let small = stripped(&folder, &log, None);
        figures_are_the_same(&folder, &log, &small);
    }
}
