//! `record --max-logs-total`: what all logs of a tree of processes take of the
//! disk together, whatever becomes of the processes. The disk is the judge.

mod sites;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use sites::build::GCC;
use sites::{Folder, said};

/// Starts so many processes at once, each with so many events. Of three one is
/// killed, one executes this program again, and one gives up its rights first.
const CROWD: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void work(int blocks) {
    for (int i = 0; i < blocks; i++) free(malloc(i % 4000 + 1));
}
int main(int count, char **words) {
    int children = atoi(words[1]), blocks = atoi(words[2]);
    if (children == 0) { work(blocks); return 0; }
    for (int i = 0; i < children; i++) {
        if (fork() != 0) continue;
        if (i % 3 == 0) { work(blocks); usleep(20000); work(blocks); raise(SIGKILL); }
        if (i % 3 == 1) execl(words[0], words[0], "0", words[2], (char *)0);
        if (getuid() == 0 && (setgid(65534) || setuid(65534))) return 1;
        usleep(20000);
        work(2 * blocks);
        return 0;
    }
    while (wait(0) > 0) {}
    (void)count;
}
"#;

fn crowd(folder: &Folder) -> PathBuf {
    fs::write(folder.path("crowd.c"), CROWD).expect("write");
    GCC.build_file(folder, &folder.path("crowd.c"), "crowd", &["-O0"])
}

/// What files take of the disk.
fn taken(paths: &[PathBuf]) -> u64 {
    let blocks = |path: &PathBuf| fs::metadata(path).expect("stat").blocks();
    paths.iter().map(blocks).sum::<u64>() * 512
}

/// A number behind a word in what was said.
fn number_behind(told: &str, word: &str) -> u64 {
    let rest = told
        .split_once(word)
        .unwrap_or_else(|| panic!("{word}: {told}"))
        .1;
    let digits: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .collect();
    digits.replace(',', "").parse().expect("a number")
}

fn leftovers(folder: &Folder, name: &str) -> usize {
    let entries = fs::read_dir(folder.path(name)).expect("list").flatten();
    let is_page = |name: &str| name.starts_with(".memlog-total");
    entries
        .filter(|entry| is_page(&entry.file_name().to_string_lossy()))
        .count()
}

fn recorded(folder: &Folder, place: &str, limit: &str, sink: &str, words: &[&str]) -> String {
    folder.folder(place);
    let logs = format!("{place}/");
    let mut command: Command = folder.memlog(&["record", "--max-logs-total", limit, "-o", &logs]);
    let output = command.args(words).env("MEMLOG_SINK", sink).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(leftovers(folder, place), 0);
    said(&output)
}

#[test]
fn all_logs_together_stay_below_the_bound() {
    let folder = Folder::new("logs-total");
    let program = crowd(&folder);
    let program = program.to_str().expect("text");
    for (place, limit, bytes, sink, blocks) in [
        ("little", "160K", 160 << 10, "mapped", "10"),
        ("much", "4M", 4 << 20, "mapped", "60000"),
        ("written", "2M", 2 << 20, "written", "20000"),
    ] {
        let told = recorded(&folder, place, limit, sink, &[program, "15", blocks]);
        let logs = folder.logs(place);
        let sum = taken(&logs);
        println!("{place}: {} logs take {sum} bytes\n{told}", logs.len());
        assert!(sum <= bytes, "{place}: {sum} bytes of {bytes}: {told}");
        let reached = "all logs together reached --max-logs-total";
        assert!(told.contains(reached), "{told}");
        assert!(!told.contains("nothing was lost"), "{told}");
        let (without, cut) = (
            number_behind(&told, "without a log: "),
            number_behind(&told, "with a cut one: "),
        );
        // Itself, and fifteen; a forked one that executes at once has one log.
        assert_eq!(logs.len() as u64 + without, 16, "{told}");
        let reason = "for all logs together had reached MEMLOG_MAX_LOGS_TOTAL";
        let is_cut = |log: &&PathBuf| {
            let info = folder.says(&["info".as_ref(), log.as_os_str()]);
            info.lines()
                .any(|line| line.trim().starts_with("log_refused ") && line.contains(reason))
        };
        let found: Vec<&PathBuf> = logs.iter().filter(is_cut).collect();
        // Who writes chunks when they are full tells of it at the end, if there is one.
        match sink {
            "mapped" => assert_eq!(found.len() as u64, cut, "{told}"),
            _ => assert!(found.len() as u64 <= cut && cut > 0, "{told}"),
        }
        // The others lost nothing.
        for line in told
            .lines()
            .filter(|line| line.starts_with("memlog: lost: "))
        {
            let is_found = |log: &&PathBuf| {
                line.contains(&*log.file_name().expect("a name").to_string_lossy())
            };
            assert!(found.iter().any(is_found), "{line}");
        }
    }
}

#[test]
fn what_stays_below_is_whole() {
    let folder = Folder::new("logs-total-enough");
    let program = crowd(&folder);
    let program = program.to_str().expect("text");
    let told = recorded(&folder, "logs", "1G", "mapped", &[program, "6", "2000"]);
    assert!(told.contains("nothing was lost"), "{told}");
    assert!(!told.contains("all logs together"), "{told}");
    assert_eq!(folder.logs("logs").len(), 7, "{told}");
    let log = &folder.logs("logs")[0];
    let info = folder.says(&["info", log.to_str().expect("text")]);
    assert!(info.contains("MEMLOG_MAX_LOGS_TOTAL=1073741824"), "{info}");
}

/// A child elsewhere counts too. One that no longer finds the page says so in
/// its log.
#[test]
fn other_folders_count_and_a_missing_page_is_told() {
    let folder = Folder::new("logs-total-page");
    folder.folder("other");
    let script =
        "i=0; while [ $i -lt 40 ]; do i=$((i+1)); MEMLOG_DIR=$PWD/other /bin/true; done; true";
    let told = recorded(&folder, "logs", "200K", "mapped", &["sh", "-c", script]);
    let logs = [folder.logs("logs"), folder.logs("other")].concat();
    assert!(taken(&logs) <= 200 << 10, "{told}");
    assert_eq!(
        number_behind(&told, "without a log: ") + logs.len() as u64,
        41,
        "{told}"
    );

    let script =
        "rm logs2/.memlog-total*; i=0; while [ $i -lt 40 ]; do i=$((i+1)); /bin/true; done; true";
    recorded(&folder, "logs2", "200K", "mapped", &["sh", "-c", script]);
    let logs = folder.logs("logs2");
    let notes = logs.iter().filter(|log| {
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        info.contains("MEMLOG_MAX_LOGS_TOTAL does not bound this log")
    });
    // The shell and rm found it.
    assert_eq!((logs.len(), notes.count()), (42, 40));
}

/// By hand there is nobody who makes the page; a wrong one is none.
#[test]
fn without_record_it_bounds_nothing_and_says_so() {
    let folder = Folder::new("logs-total-hand");
    let recorder = folder.recorder().join("libmemlog.so");
    let wrong = folder.path("no-page");
    fs::write(&wrong, "no page").expect("written");
    for (place, page) in [
        ("none", Path::new("")),
        ("wrong", &wrong),
        ("dir", folder.root()),
    ] {
        let mut command = folder.command("/bin/true");
        command
            .env("LD_PRELOAD", &recorder)
            .env("MEMLOG_DIR", folder.folder(place))
            .env("MEMLOG_MAX_LOGS_TOTAL", "1")
            .env("MEMLOG_TOTAL_PAGE", page);
        assert!(command.status().expect("it runs").success());
        let logs = folder.logs(place);
        let info = folder.says(&["info".as_ref(), logs[0].as_os_str()]);
        let note = info.lines().find(|line| line.starts_with("note"));
        let note = note.unwrap_or_else(|| panic!("{info}"));
        assert!(note.contains("MEMLOG_MAX_LOGS_TOTAL"), "{note}");
    }
    assert_eq!(fs::read(&wrong).expect("read"), b"no page");
}

#[test]
fn a_bound_that_holds_nothing_is_told() {
    let folder = Folder::new("logs-total-none");
    let told = recorded(&folder, "logs", "1K", "mapped", &["true"]);
    assert!(
        told.contains("nothing was recorded: all logs together reached"),
        "{told}"
    );
    assert_eq!(number_behind(&told, "without a log: "), 1, "{told}");
    for wrong in ["lots", "-1", ""] {
        let output = folder.run(&["record", "--max-logs-total", wrong, "true"]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}
