//! Logs that are not whole, or not of one program: sums agree with `memlog stats`,
//! and nobody panics.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::owners::agrees_with_summary;
use crate::sites::{Folder, said};
use crate::{
    COMMANDS, FEW, ask, ask_where, ask_words, is_long, number, pair, recorded, rows, sum, total,
    trees,
};

/// All commands, of a log that memlog reads.
#[track_caller]
pub fn agree(folder: &Folder, log: &Path) -> Value {
    agree_on(folder, log, COMMANDS)
}

#[track_caller]
fn agree_on(folder: &Folder, log: &Path, commands: &[&str]) -> Value {
    let stats = ask(folder, log, "stats");
    let told = |name: &str| {
        let key = |of: &str| format!("{name}_{of}");
        (
            number(&stats, &key("bytes")),
            number(&stats, &key("blocks")),
        )
    };
    let shown = log.display();
    let all = total(&ask(folder, log, "table --by size"));
    crate::resident::is_told_or_why(folder, log);
    for command in commands {
        let answer = ask(folder, log, command);
        let is_of_all = command.starts_with("hist")
            || command.starts_with("table") && !command.contains("--at");
        if is_of_all {
            assert_eq!(total(&answer), all, "{command} of {shown}");
        }
    }
    assert_eq!(
        total(&ask(folder, log, "table --by thread --at end")),
        told("end_live"),
        "{shown}"
    );
    assert_eq!(
        total(&ask(folder, log, "leaks --by size")),
        told("end_live"),
        "{shown}"
    );
    for (moment, key) in [("heap-peak", "heap_peak"), ("rss-peak", "rss_peak_live")] {
        let found = total(&ask(folder, log, &format!("table --by size --at {moment}")));
        assert_eq!(found, told(key), "{moment} of {shown}");
    }
    // Of what a bounded log has folded only sums are left.
    if stats["flight_recorder"].is_null() {
        let (bytes, blocks) = (number(&stats, "total_bytes"), number(&stats, "allocations"));
        let (inherited, count) = (
            number(&stats, "inherited_bytes"),
            number(&stats, "inherited_blocks"),
        );
        assert_eq!(all, (bytes + inherited, blocks + count), "{shown}");
        let temporary = pair(&ask(folder, log, "temporary --by size")).1;
        assert_eq!(
            temporary,
            number(&stats, "temporary_allocations"),
            "{shown}"
        );
    }
    mapped(folder, log, &stats);
    trees::all_is_as_none(folder, log);
    let threads = ask(folder, log, "threads");
    assert_eq!(sum(&threads), all, "{shown}");
    let freed = |key: &str| {
        rows(&threads)
            .iter()
            .map(|row| number(row, key))
            .sum::<u64>()
    };
    let leaked = told("end_live");
    assert_eq!(
        (freed("freed_bytes"), freed("freed_blocks")),
        (all.0 - leaked.0, all.1 - leaked.1),
        "{shown}"
    );
    let answer = ask(folder, log, "timeline");
    let points = answer["points"].as_array().expect("points");
    let heap = |point: &Value| (number(point, "heap_bytes"), number(point, "heap_blocks"));
    if let Some(last) = points.last() {
        assert_eq!(heap(last), leaked, "the end of {shown}");
        let highest = points.iter().map(|point| heap(point).0).max();
        assert_eq!(highest, Some(told("heap_peak").0), "{shown}");
    }
    assert_eq!(number(&ask_where(folder, log, 0), "blocks"), 0, "{shown}");
    stats
}

/// What was mapped, by `maps`, by `stats` and by `report --mapped`.
#[track_caller]
fn mapped(folder: &Folder, log: &Path, stats: &Value) {
    let end = ask(folder, log, "maps --by kind --at end");
    let all: u64 = rows(&end)
        .iter()
        .map(|row| number(row, "total_bytes"))
        .sum();
    let told = [
        "mapped_end_bytes",
        "mapped_total_bytes",
        "mapped_backing_end_bytes",
    ];
    let found = [number(&end, "bytes"), all, number(&end, "backing_bytes")];
    assert_eq!(
        found,
        told.map(|key| number(stats, key)),
        "{}",
        log.display()
    );
    for moment in ["rss-peak", "heap-peak"] {
        let page = ask(folder, log, &format!("maps --by kind --at {moment}"));
        let report = ask(folder, log, &format!("report --mapped --at {moment}"));
        let open = number(&page, "bytes") - number(&page, "reserved_bytes");
        let tree = number(&report["trees"][0], "bytes");
        assert_eq!(open, tree, "{moment} of {}", log.display());
    }
}

/// All commands, of what may be no log: what memlog cannot read it says.
#[track_caller]
fn bear(folder: &Folder, log: &Path) -> bool {
    let name = log.to_str().expect("a name");
    if folder.run(&["stats", "--json", name]).status.success() {
        let commands = if is_long() {
            COMMANDS
        } else {
            &COMMANDS[..FEW]
        };
        agree_on(folder, log, commands);
        return true;
    }
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').chain([name]).collect();
        let output = folder.run(&words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
        assert!(told.starts_with("memlog: error: "), "{command}: {told}");
    }
    false
}

#[test]
fn children_have_what_they_inherited() {
    for (name, options) in [("stream", &[][..]), ("flight", &["--flight-recorder=512K"])] {
        let folder = Folder::new(&format!("answers-fork-{name}"));
        let (log, _) = recorded(&folder, options, "fork");
        let mut children = 0;
        for log in folder.logs("") {
            let stats = agree(&folder, &log);
            if number(&stats, "inherited_blocks") > 0 {
                children += 1;
                chains_of_a_child(&folder, &log);
            }
        }
        assert_eq!(children, 1, "{name}");
        // Without its parent's log nobody knows them.
        fs::rename(&log, folder.path("elsewhere")).expect("mv");
        assert!(folder.logs("").iter().all(|log| bear(&folder, log)));
    }
}

/// 40 inherited blocks were grown twice: the log's own part of that is a chain.
#[track_caller]
fn chains_of_a_child(folder: &Folder, log: &Path) {
    let of = |filter: &str| {
        let question = ["table", "--by", "size", "--where", filter];
        total(&ask_words(folder, log, &question))
    };
    assert_eq!(of("chain-length = 2"), (40 * (400 + 600), 80));
    assert_eq!(of("chain-position = 1"), (40 * 600, 40));
    assert_eq!(
        of("moved and chain-position = 0 and chain-length = 1").1,
        40
    );
    assert_eq!(of("moved").1, 80);
    let chains = ask(folder, log, "chains");
    let all = rows(&chains).iter().map(|row| number(row, "chains"));
    assert_eq!(all.sum::<u64>(), 40, "{chains:#}");
}

#[test]
fn bounded_logs_agree() {
    let folder = Folder::new("answers-flight");
    for words in ["mix 1 3000 2", "many 60000", "killed 2 2500"] {
        let (log, _) = recorded(&folder, &["--flight-recorder=512K"], words);
        let stats = agree(&folder, &log);
        let is_folded = stats["flight_recorder"]["folded_chunks"] != 0;
        assert!(is_folded || !words.starts_with("many"), "{stats:#}");
    }
}

#[test]
fn a_killed_programs_log_agrees() {
    let folder = Folder::new("answers-killed");
    let (log, _) = recorded(&folder, &[], "killed 3 800");
    assert_eq!(agree(&folder, &log)["ended"], false);
}

/// Each cut is the same file, longer than before: no answer is of an earlier one.
#[test]
fn cut_logs_agree_while_they_grow() {
    let folder = Folder::new("answers-cut");
    let (whole, _) = recorded(&folder, &[], "mix 4 3000 2");
    let bytes = fs::read(&whole).expect("the log");
    let log = folder.path("cut.memlog");
    let steps = if is_long() { 200 } else { 4 };
    let cuts = (0..=steps).map(|step| bytes.len() * step / steps);
    let mut readable = 0;
    for cut in cuts {
        for cut in [cut, cut / 65536 * 65536] {
            fs::write(&log, &bytes[..cut]).expect("write");
            readable += usize::from(bear(&folder, &log));
        }
    }
    assert!(readable > 3, "{readable}");
}

#[test]
fn empty_logs_are_answered() {
    let folder = Folder::new("answers-empty");
    let log = folder.path("empty.memlog");
    fs::write(&log, b"").expect("write");
    assert!(!bear(&folder, &log));
    fs::write(&log, vec![0; 1 << 20]).expect("write");
    bear(&folder, &log);
    let mut command = folder.memlog(&["record", "-o", "true.memlog", "--", "/bin/true"]);
    command.output().expect("it runs");
    bear(&folder, &folder.path("true.memlog"));
}

pub fn logs_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("list").flatten() {
        let path = entry.path();
        if path.is_dir() {
            logs_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "memlog") {
            found.push(path);
        }
    }
}

#[test]
fn old_logs_agree() {
    let folder = Folder::new("answers-goldens");
    let mut logs = Vec::new();
    logs_below(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"),
        &mut logs,
    );
    assert!(logs.len() > 10, "{logs:?}");
    for log in logs {
        let stats = agree_on(&folder, &log, &COMMANDS[..FEW]);
        agrees_with_summary(&folder, &log, &stats);
    }
}
