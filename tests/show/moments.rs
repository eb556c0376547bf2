//! Each command understands each way to name a moment, and means the same by it.

use memlog_format::resident::Mapped;
use memlog_format::table::StackId;
use serde_json::Value;

use crate::recipe::{PROGRAM, Recipe};
use crate::sites::{Folder, said};
use crate::with_logs;

/// A log of 10 s: 100 bytes come at 0 s, 20 and 3 at 4 s with a mark between them and
/// one of the same name behind, and 7000 at 8 s.
fn marked() -> Recipe {
    let mut log = Recipe::new(b"/usr/lib/libnowhere.so");
    let stack = log.stack(StackId::COMPLETE, &[PROGRAM + 0x10D1]);
    log.allocate(stack, 1, 100);
    log.time(4_000);
    log.allocate(stack, 1, 20);
    log.mark(b"load it");
    log.allocate(stack, 1, 3);
    log.mark(b"load it");
    log.time(8_000);
    log.allocate(stack, 1, 7_000);
    log.time(10_000);
    log
}

fn bytes(folder: &Folder, words: &[&str]) -> u64 {
    let output = folder.run(&[words, &["--json", "marked.memlog"]].concat());
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let page = match words[0] {
        "report" => &page["trees"][0],
        _ => &page,
    };
    page["bytes"].as_u64().expect("bytes")
}

#[test]
fn moments_are_the_same_for_all_commands() {
    let folder = with_logs("show-moments", &[("marked", marked())]);
    for (at, expected) in [
        ("start", 100),
        ("0", 100),
        ("3.999s", 100),
        ("4", 123),
        ("4000ms", 123),
        ("39%", 100),
        ("40%", 123),
        ("80%", 7123),
        ("79.99%", 123),
        ("100%", 7123),
        ("mark 'load it'", 120),
        ("mark \"load it\"", 120),
        ("heap-peak", 7123),
        ("end", 7123),
    ] {
        for command in ["tree", "report", "table"] {
            assert_eq!(
                bytes(&folder, &[command, "--at", at]),
                expected,
                "{command} {at}"
            );
        }
        for command in ["tree", "report"] {
            let words = [command, "--at", at, "--where", "size < 50"];
            let few = expected % 100;
            assert_eq!(bytes(&folder, &words), few, "{command} {at}");
        }
        let dot = ["dot", "-q", "--format", "txt", "--at", at, "marked.memlog"];
        let output = folder.run(&dot);
        assert!(output.status.success(), "{at}: {}", said(&output));
        let text = std::fs::read_to_string(folder.path("marked.memlog.txt")).expect("a page");
        let heap = match expected {
            7123 => "(7,123B)".to_owned(),
            few => format!("{few} bytes"),
        };
        assert!(text.contains(&heap), "{at}: {text}");
        let flame = [
            "flamegraph",
            "-o",
            "-",
            "--format",
            "svg",
            "--at",
            at,
            "marked.memlog",
        ];
        let output = folder.run(&flame);
        assert!(output.status.success(), "{at}: {}", said(&output));
        let svg = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(svg.contains(&heap), "{at}: {svg}");
    }
}

/// A moment before the first reading of mappings has the first, and the page says so.
#[test]
fn before_the_first_reading_that_is_told() {
    let mut log = marked();
    log.read_rss(1 << 10);
    let heap = Mapped {
        low_kb: 1 << 20,
        length_kb: 1 << 10,
        resident_kb: 1 << 10,
        flags: Mapped::WRITABLE,
        ..Mapped::default()
    };
    log.count_resident(true, &[heap]);
    let folder = with_logs("show-moments-rss", &[("marked", log)]);
    let told = |at: &str| {
        let page = folder.says(&["rss", "--at", at, "marked.memlog"]);
        page.contains("no reading came before") && page.contains(": this is the first")
    };
    assert!(told("start") && told("4s") && told("50%"));
    assert!(!told("end") && !told("rss-peak"));
    let page = folder.says(&["rss", "--at", "end", "marked.memlog"]);
    assert!(!page.contains("came in between"), "{page}");
}

/// So has one behind the last, and the page says how much lies between.
#[test]
fn behind_the_last_reading_that_is_told() {
    let mut log = marked();
    log.read_rss(1 << 10);
    log.count_resident(true, &[Mapped::default()]);
    let stack = log.stack(StackId::COMPLETE, &[PROGRAM + 0x10D1]);
    log.allocate(stack, 2, 64);
    let folder = with_logs("show-moments-behind", &[("marked", log)]);
    let page = folder.says(&["rss", "--at", "end", "marked.memlog"]);
    let sentence = "this is the last reading before end: 2 events came in between";
    assert!(page.contains(sentence), "{page}");
}
