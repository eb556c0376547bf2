//! Code made at run time has the names that its compiler wrote down, as perf's
//! map or as jitdump: from the log, once the files are gone, and from the files
//! where the log has none.

mod common;

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use common::tools::{Folder, skip};

/// A folder with the program in it.
fn program(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/made_names.c");
    let mut gcc = Command::new("gcc");
    let gcc = gcc.args(["-O1", "-g", "-w", "-o"]);
    let made = gcc.arg(folder.path().join("program")).arg(source).status();
    let is_made = made.is_ok_and(|status| status.success());
    if std::env::consts::ARCH != "x86_64" || !is_made {
        skip("made_names: the code is x86_64's, or there is no gcc");
        return None;
    }
    Some(folder)
}

fn memlog(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    let done = command.args(words).current_dir(folder).output();
    String::from_utf8(done.expect("memlog runs").stdout).expect("text")
}

/// Records it, and gives the number of its process.
fn record(folder: &Path, log: &str, words: &[&str]) -> u64 {
    memlog(
        folder,
        &[&["record", "-o", log, "./program"], words].concat(),
    );
    let stats = memlog(folder, &["stats", "--json", log]);
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(
        (&stats["lost_events"], &stats["findings_count"]),
        (&0.into(), &0.into())
    );
    stats["process"]
        .as_u64()
        .or(stats["pid"].as_u64())
        .expect("a number")
}

fn perf_map(pid: u64) -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{pid}.map"))
}

fn pages(folder: &Path, log: &str) -> [String; 3] {
    [
        &["summary", log][..],
        &["report", "--show-leaks", log],
        &["tree", "--top-down", "--at", "end", log],
    ]
    .map(|words| memlog(folder, words))
}

#[test]
fn a_log_keeps_the_names_of_perfs_map_and_of_jitdump() {
    let Some(folder) = program("made-names") else {
        return;
    };
    let folder = folder.path();
    for (how, words) in [
        ("map", &["map"][..]),
        ("dump", &["dump"]),
        ("map, killed", &["map", "killed"]),
    ] {
        let log = format!("{}.memlog", how.replace(", ", "-"));
        let pid = record(folder, &log, words);
        let _ = fs::remove_file(perf_map(pid));
        let _ = fs::remove_file(folder.join(format!("jit-{pid}.dump")));
        for page in pages(folder, &log) {
            assert!(page.contains("made at run time"), "{how}: {page}");
            assert!(page.contains("another"), "{how}: {page}");
        }
        let [summary, ..] = pages(folder, &log);
        assert_eq!(
            summary.contains("source.lang:77"),
            how == "dump",
            "{summary}"
        );
    }
}

#[test]
fn names_are_read_where_the_log_has_none_and_of_its_time_only() {
    let Some(folder) = program("made-names-later") else {
        return;
    };
    let folder = folder.path();
    let pid = record(folder, "log.memlog", &["none"]);
    let has_names = || memlog(folder, &["summary", "log.memlog"]).contains("made later");
    assert!(!has_names());
    // It is given all memory, and the time of a process before this one.
    fs::write(perf_map(pid), "0 ffffffffffff made later\n").expect("written");
    let is_named = has_names();
    let file = File::options()
        .write(true)
        .open(perf_map(pid))
        .expect("it is there");
    let before = SystemTime::now() - Duration::from_secs(3600);
    file.set_times(FileTimes::new().set_modified(before))
        .expect("times");
    let is_named_by_old = has_names();
    fs::remove_file(perf_map(pid)).expect("removed");
    assert_eq!((is_named, is_named_by_old), (true, false));
}
