//! A limit that holds only because events are missing is not held.

use crate::sites::{Folder, said};
use crate::{check, check_words, exits, log_of, planted, states, told};

#[test]
fn lost_events_prove_nothing() {
    let folder = Folder::new("check-lost");
    let name = planted(&folder);
    let log = folder.path("lost.memlog");
    let mut command = folder.memlog(&["record", "--max-log", "256K", "-o", "lost.memlog", "--"]);
    let output = command
        .arg(&name)
        .args(["calls", "200000", "leak", "7"])
        .output();
    assert!(log.exists(), "{}", said(&output.expect("it runs")));
    let limits = "--max-peak 1GiB --max-leaked 0 --max-rss 1GiB lost.memlog";
    let states = |limits: &str, code| -> Vec<(String, String)> {
        let report = told(&folder, limits, code);
        let states = states(&report).into_iter();
        states
            .map(|(measure, state)| (measure.to_owned(), state.to_owned()))
            .collect()
    };
    // That a block was freed may be among what was lost.
    let found = states(limits, 1);
    assert_eq!(found[0], ("peak".into(), "unproven".into()));
    assert_ne!(found[1], ("leaked".into(), "held".into()));
    assert_eq!(found[2], ("rss".into(), "held".into()));
    let limits = limits.replace("--max-leaked 0", "--max-leaked 1MiB");
    let limits = limits.as_str();
    assert_eq!(states(limits, 1)[1], ("leaked".into(), "unproven".into()));
    let text = exits(&check(&folder, limits), 1);
    assert!(
        text.contains("UNPROVEN") && text.contains("events lost"),
        "{text}"
    );
    // Who knows it may say so; it is told nevertheless.
    let text = exits(&check(&folder, &format!("--allow-incomplete {limits}")), 0);
    assert!(
        text.contains("note: ") && text.contains("events lost"),
        "{text}"
    );
    // What is broken anyway is broken.
    let broken = states("--max-allocations 10 lost.memlog", 1);
    assert_eq!(broken, [("allocations".into(), "broken".into())]);
    // Growth would hide behind such a baseline.
    let output = check(&folder, "--write-baseline base.json lost.memlog");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("events lost"), "{}", said(&output));
}

/// At the end of a chunk too, where nothing is half there.
#[test]
fn a_cut_log_proves_nothing() {
    let folder = Folder::new("check-cut");
    let log = log_of(
        &folder,
        &planted(&folder),
        "calls 60000 leak 7",
        "log.memlog",
    );
    let bytes = std::fs::read(&log).expect("read");
    exits(&check(&folder, "--max-leaked 7 log.memlog"), 0);
    let chunks = (1..bytes.len() >> 16).map(|chunk| chunk << 16);
    let parts = [30, 60, 90].map(|part| bytes.len() * part / 100);
    for length in chunks.chain(parts) {
        std::fs::write(folder.path("cut.memlog"), &bytes[..length]).expect("write");
        let output = check(&folder, "--max-leaked 7 cut.memlog");
        // One that cannot be read at all is told as such.
        assert!(
            matches!(output.status.code(), Some(1 | 2)),
            "{length}: {}",
            said(&output)
        );
    }
}

#[test]
fn overwritten_events_prove_nothing_of_chosen_blocks() {
    let folder = Folder::new("check-flight");
    let name = planted(&folder);
    let mut command = folder.memlog(&[
        "record",
        "--flight-recorder=256K",
        "-o",
        "flight.memlog",
        "--",
    ]);
    let output = command
        .arg(&name)
        .args(["peak", "900", "calls", "400000"])
        .output();
    let output = output.expect("it runs");
    assert!(folder.path("flight.memlog").exists(), "{}", said(&output));
    // The whole program's peak is kept.
    let report = told(
        &folder,
        "--max-peak 1KiB --max-allocations 10 flight.memlog",
        1,
    );
    assert_eq!(
        states(&report),
        [("peak", "broken"), ("allocations", "broken")]
    );
    let words = [
        "--max-peak",
        "1MiB",
        "--where",
        "size > 100",
        "--format",
        "json",
    ];
    let output = check_words(&folder, &[&words[..], &["flight.memlog"]].concat());
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(states(&report), [("peak", "unproven")]);
}
