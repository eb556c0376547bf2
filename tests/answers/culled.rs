//! Logs whose recorder left blocks out: what pages say of them is what they say of a log of
//! the same program that nothing was left out of, and of that one stripped.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::{ask, recorded};

/// Figures that are the same in each run of these programs.
const FIGURES: [&str; 13] = [
    "allocations",
    "releases",
    "total_bytes",
    "usable_total_bytes",
    "temporary_allocations",
    "end_live_blocks",
    "end_live_bytes",
    "usable_end_live_bytes",
    "heap_peak_bytes",
    "heap_peak_blocks",
    "usable_heap_peak_bytes",
    "heap_peak_error_bytes",
    "lost_events",
];

/// And pages.
const PAGES: [&str; 7] = [
    "table --by line",
    "table --by size",
    "table --by line --at heap-peak",
    "table --by line --at end",
    "temporary",
    "leaks",
    "histogram size",
];

fn text(path: &Path) -> &str {
    path.to_str().expect("a name")
}

/// The rows of a page, but for when things were: that is another in each run.
fn rows(folder: &Folder, log: &Path, page: &str) -> Vec<Value> {
    let mut rows = ask(folder, log, page)["rows"].clone();
    let rows = rows.as_array_mut().expect(page);
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.retain(|key, _| !key.ends_with("_seconds"));
    }
    std::mem::take(rows)
}

#[test]
fn figures_are_those_of_a_log_that_has_all() {
    let folder = Folder::new("answers-culled");
    for words in ["many 100000", "mix 8 60000 1", "alike 300000"] {
        let (plain, _) = recorded(&folder, &[], words);
        let stripped = folder.path("stripped.memlog");
        folder.says(&[
            "strip",
            "--force",
            "--threshold",
            "10ms",
            "-o",
            text(&stripped),
            text(&plain),
        ]);
        let before = [
            ask(&folder, &plain, "stats"),
            ask(&folder, &stripped, "stats"),
        ];
        let pages = PAGES.map(|page| rows(&folder, &stripped, page));
        let bytes = plain.metadata().expect("a file").len();
        fs::remove_file(&plain).expect("there");
        let (culled, _) = recorded(&folder, &["--cull", "10ms"], words);
        let stats = ask(&folder, &culled, "stats");
        for figure in FIGURES {
            for before in &before {
                assert_eq!(stats[figure], before[figure], "{words}: {figure}");
            }
        }
        for (page, rows_before) in PAGES.iter().zip(&pages) {
            assert_eq!(
                &rows(&folder, &culled, page),
                rows_before,
                "{words}: {page}"
            );
        }
        assert_eq!(stats["stripped"]["while_recording"], true);
        assert_eq!(stats["stripped"]["below_seconds"], 0.01);
        assert!(stats["stripped"]["blocks"].as_u64() > Some(1000), "{words}");
        // Blocks of any size are as many sums as there are events, and a spare chunk is in it.
        let most = match words.starts_with("alike") {
            true => bytes / 3,
            false => bytes + 65_536,
        };
        let after = culled.metadata().expect("a file").len();
        assert!(after <= most, "{words}: {bytes} before, {after} now");
        // Stripped as well it says the same.
        let again = folder.path("again.memlog");
        folder.says(&["strip", "--force", "-o", text(&again), text(&culled)]);
        let both = ask(&folder, &again, "stats");
        for figure in FIGURES {
            assert_eq!(both[figure], stats[figure], "{words}: {figure}");
        }
        fs::remove_file(&culled).expect("there");
    }
}

/// Of threads that pass blocks among them the peak may be off by what is told. Their totals
/// are judged by the second recorder, in `tests/cull.rs`.
#[test]
fn the_error_of_a_peak_of_threads_is_told() {
    let folder = Folder::new("answers-culled-threads");
    let (culled, _) = recorded(&folder, &["--cull", "10ms"], "mix 7 40000 4");
    let stats = ask(&folder, &culled, "stats");
    assert_eq!(stats["findings_count"], 0);
    assert!(stats["stripped"]["blocks"].as_u64() > Some(1000));
    let bytes = stats["counters"]["culled_live_bytes"].as_u64();
    assert!(bytes > Some(0), "{bytes:?}");
    assert!(stats["heap_peak_error_bytes"].as_u64() >= bytes);
    // When the first block of a place came is not known, if that one is in the sums.
    let first = &ask(&folder, &culled, "table --by line")["rows"][0]["first_seconds"];
    assert!(first.is_null(), "{first}");
}

/// No thread filled a chunk, so none was written anew.
#[test]
fn a_log_that_nothing_was_left_out_of_knows_all() {
    let folder = Folder::new("answers-culled-short");
    let (culled, _) = recorded(&folder, &["--cull", "10ms"], "many 10");
    for question in [
        "histogram lifetime",
        "chains",
        "timeline",
        "dump",
        "report --at 50%",
    ] {
        let words: Vec<_> = question.split(' ').chain([text(&culled)]).collect();
        let told = folder.says(&words);
        assert!(!told.contains("less than 10 ms"), "{question}: {told}");
    }
    assert!(ask(&folder, &culled, "stats")["stripped"].is_null());
}

#[test]
fn what_it_does_not_know_is_told() {
    let folder = Folder::new("answers-culled-not");
    let (culled, _) = recorded(&folder, &["--cull", "10ms"], "many 100000");
    let log = text(&culled);
    for question in [
        "histogram lifetime",
        "chains",
        "timeline",
        "dump",
        "report --at 50%",
        "table --where lifetime>1ms",
        "export heaptrack -o x",
    ] {
        let words: Vec<_> = question.split(' ').chain([log]).collect();
        let output = folder.run(&words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{question}: {told}");
        assert!(told.contains("was culled while it was recorded"), "{told}");
        assert!(told.contains("without --cull"), "{told}");
    }
    for page in ["table", "leaks", "threads", "info", "report"] {
        assert!(
            folder.says(&[page, log]).contains("less than 10 ms"),
            "{page}"
        );
    }
    // What cannot be is refused before the program runs.
    let program = folder.path("known");
    for (words, expected) in [
        (
            &["--cull", "10ms", "--flight-recorder=1M"][..],
            "--flight-recorder",
        ),
        (&["--cull", "10us"], "--fine-time"),
        (&["--cull", "0ms"], "longer than nothing"),
        (&["--cull", "5%"], "such as 10ms"),
    ] {
        let program = [text(&program), "many", "10"];
        let output = folder.run(&[&["record"], words, &program[..]].concat());
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(expected), "{words:?}: {told}");
    }
}
