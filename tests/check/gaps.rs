//! A limit that holds only because events are missing is not held.

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{built, check, check_words, checks, exits, log_of, planted, states, told};

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

/// What a forked child has leaked is told from what it inherited by its events, and those of
/// a flight recorder are gone.
#[test]
fn a_forked_flight_recorder_proves_no_leak() {
    let folder = Folder::new("check-flight-fork");
    let name = planted(&folder);
    let child = |flight: bool| {
        let mut command = folder.memlog(&["check", "--max-leaked", "100", "--max-peak", "1GiB"]);
        command.args(["--children", "--format", "json", "--"]);
        command.env("TMPDIR", folder.folder("tmp"));
        if flight {
            command.env("MEMLOG_FLIGHT_RECORDER", "256K");
        }
        let output = command.arg(&name).args(["leak", "7", "burst", "400000"]);
        let output = output.output().expect("it runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(1), "{report:#}");
        let checks = report["programs"][1]["checks"].as_array();
        let states = checks.expect("the child's").iter();
        let states = states.map(|one| one["state"].as_str().expect("a state").to_owned());
        states.collect::<Vec<_>>()
    };
    assert_eq!(child(false), ["held", "broken"]);
    assert_eq!(child(true), ["unproven", "unproven"]);
}

const OWN_MALLOC: &str = r#"
#include <stddef.h>
#include <string.h>
static char arena[1 << 20];
static size_t used;
void *malloc(size_t size) { used += 16; *(size_t *)(arena + used - 16) = size; used += (size + 15) & ~15ul; return arena + used - ((size + 15) & ~15ul); }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) { void *other = malloc(size); if (block) memcpy(other, block, size); return other; }
int main(void) { return !malloc(5000); }
"#;

const NAMESPACE: &str = r#"
#include <dlfcn.h>
#include <stdlib.h>
int main(void) { free(malloc(9)); return !dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW); }
"#;

/// Nothing recorded keeps every limit.
#[test]
fn what_is_not_seen_proves_nothing() {
    let folder = Folder::new("check-unseen");
    let build = |program: &str, text: &str| {
        let source = folder.path(&format!("{program}.c"));
        std::fs::write(&source, text).expect("write");
        let flags = ["-D_GNU_SOURCE", "-fno-builtin", "-ldl"];
        GCC.build_file(&folder, &source, program, &flags);
    };
    build("own", OWN_MALLOC);
    build("namespace", NAMESPACE);
    planted(&folder);
    for (program, why) in [
        ("planted", "no allocation was recorded"),
        ("own", "no allocation was recorded: malloc is that of "),
        ("namespace", "are not recorded: "),
    ] {
        let words = format!("--max-leaked 1MiB --max-rss 1GiB -- ./{program}");
        let report = told(&folder, &words, 1);
        let found = [("leaked", "unproven"), ("rss", "held")];
        assert_eq!(states(&report), found, "{program}: {report:#}");
        let told = checks(&report)[0]["why"].as_str().expect("why");
        assert!(told.contains(why), "{program}: {told}");
        let words = format!("--allow-incomplete --max-leaked 1MiB -- ./{program}");
        exits(&check(&folder, &words), 0);
    }
}

/// A filter that fits nothing is said; if there were names for it, it may have fitted.
#[test]
fn a_filter_that_chooses_nothing_is_told() {
    let folder = Folder::new("check-nothing");
    let name = planted(&folder);
    log_of(&folder, &name, "leak 5000", "log.memlog");
    let words =
        |function: &str| format!("--max-leaked 9 --where function=planted_{function} log.memlog");
    exits(&check(&folder, &words("leak")), 1);
    let text = exits(&check(&folder, &words("leek")), 0);
    let note = "note: where function = \"planted_leek\" chooses no block of log.memlog";
    assert!(text.contains(note), "{text}");
    // The program is another one by now.
    let other = built(&folder, &GCC, "noisy.c");
    std::fs::remove_file(&name).expect("rm");
    std::fs::copy(other, &name).expect("copy");
    let text = exits(&check(&folder, &words("leak")), 1);
    for part in [
        "UNPROVEN",
        "chooses no block",
        "note: ",
        "was rebuilt since",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    exits(
        &check(&folder, &format!("--allow-incomplete {}", words("leak"))),
        0,
    );
    // A size needs no names.
    exits(
        &check(&folder, "--max-leaked 9 --where size=77 log.memlog"),
        0,
    );
}
