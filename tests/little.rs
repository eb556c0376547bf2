//! Processes that do little: how they are listed, and `record --skip-below`. A
//! program of many levels says itself which of its processes did how much.

mod sites;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sites::build::GCC;
use sites::own_time::OwnTime;
use sites::{Folder, said};

/// Each process writes its role and its number into a file.
const TREE: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void is(const char *role) {
    FILE *file = fopen("roles.txt", "a");
    fprintf(file, "%s %d\n", role, getpid());
    fclose(file);
}
static void work(int blocks) {
    for (int i = 0; i < blocks; i++) free(malloc(1000 + i));
}
static volatile char *inherited;
int main(void) {
    is("main");
    if (fork() == 0) { is("few"); work(5); exit(0); }
    wait(0);
    if (fork() == 0) { is("many"); work(500); exit(3); }
    wait(0);
    if (fork() == 0) { is("killed"); work(5); usleep(100000); work(5); raise(SIGKILL); }
    if (fork() == 0) { is("crashed"); work(5); usleep(100000); work(5); abort(); }
    if (fork() == 0) {
        is("grandparent");
        inherited = malloc(12345);
        if (fork() == 0) {
            is("parent");
            work(3);
            if (fork() == 0) { is("grandchild"); work(500); exit(0); }
            wait(0);
            exit(0);
        }
        wait(0);
        exit(0);
    }
    if (fork() == 0) {
        is("small-parent");
        if (fork() == 0) { is("small-child"); work(4); exit(0); }
        wait(0);
        exit(0);
    }
    if (fork() == 0) {
        is("starter");
        inherited = malloc(23456);
        /* The one that stays has no log before record ends. */
        if (fork() == 0) {
            close(0); close(1); close(2);
            while (access("go", F_OK)) usleep(10000);
            is("survivor");
            work(500);
            exit(0);
        }
        exit(0);
    }
    while (wait(0) > 0) {}
    work(2000);
    memset(malloc(4000000), 1, 4000000);
}
"#;

/// The processes of the program by their roles, and which logs there are.
fn roles(folder: &Folder) -> HashMap<String, u32> {
    let text = fs::read_to_string(folder.path("roles.txt")).expect("its words");
    let roles = text.lines().map(|line| {
        let (role, pid) = line.split_once(' ').expect("a role");
        (role.to_owned(), pid.parse().expect("a number"))
    });
    roles.collect()
}

fn log_of(folder: &Folder, pid: u32) -> Option<PathBuf> {
    let mut logs = folder.logs("logs").into_iter();
    logs.find(|log| {
        let name = log.file_name().expect("a name").to_string_lossy();
        name.split('.').any(|part| part.parse() == Ok(pid))
    })
}

fn wait_for(what: impl Fn() -> bool) {
    let mut time = OwnTime::start();
    while !what() {
        assert!(time.spent() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn who_does_little_leaves_no_log() {
    let folder = Folder::new("skip-below");
    fs::write(folder.path("tree.c"), TREE).expect("write");
    let program = GCC.build_file(&folder, &folder.path("tree.c"), "tree", &["-O0"]);
    let program = program.to_str().expect("text");
    let output = folder.run(&["record", "--skip-below", "100", "-o", "logs/", program]);
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    let roles_now = roles(&folder);
    for (role, stays) in [
        ("main", true),
        ("few", false),
        ("many", true),
        ("killed", true),
        ("crashed", true),
        ("grandparent", true),
        ("parent", true),
        ("grandchild", true),
        ("small-parent", false),
        ("small-child", false),
        ("starter", true),
    ] {
        let log = log_of(&folder, roles_now[role]);
        assert_eq!(log.is_some(), stays, "{role}: {told}");
    }
    let count = "3 of 11 logs had fewer than 100 events and were removed: ";
    assert!(told.contains(count), "{told}");
    // What the grandchild inherited is in the log of its parent's parent.
    let log = log_of(&folder, roles_now["grandchild"]).expect("a log");
    assert!(inherits(&folder, &log, 12345));
    fs::write(folder.path("go"), "").expect("written");
    wait_for(|| roles(&folder).contains_key("survivor"));
    let survivor = roles(&folder)["survivor"];
    let process = PathBuf::from(format!("/proc/{survivor}"));
    wait_for(|| !process.exists());
    let log = log_of(&folder, survivor).expect("a log of who came later");
    assert!(inherits(&folder, &log, 23456));
}

/// Whether a log tells of a block of its parent's that is still live.
fn inherits(folder: &Folder, log: &Path, bytes: u64) -> bool {
    let log = log.to_str().expect("text");
    let info = folder.says(&["info", log]);
    assert!(info.contains("forked from"), "{info}");
    assert!(!info.contains("was not found"), "{info}");
    let live = folder.stats(Path::new(log)).number("end_live_bytes");
    println!("{live} bytes live");
    live >= bytes
}

/// Where there is nothing else the program's own log stays, and where all that
/// it started did little the sentence says so.
#[test]
fn the_programs_own_log_stays() {
    let folder = Folder::new("skip-own");
    let output = folder.run(&["record", "--skip-below", "1000000", "-o", "logs/", "true"]);
    assert_eq!(folder.logs("logs").len(), 1, "{}", said(&output));
    let script = "/bin/true; /bin/true; true";
    let words = [
        "record",
        "--skip-below",
        "1000000",
        "-o",
        "more/",
        "sh",
        "-c",
        script,
    ];
    let told = said(&folder.run(&words));
    assert!(
        told.contains("2 of 3 logs had fewer than 1,000,000 events and were removed"),
        "{told}"
    );
    assert_eq!(folder.logs("more").len(), 1, "{told}");
    for wrong in ["0", "-1", "1k", ""] {
        let output = folder.run(&["record", "--skip-below", wrong, "true"]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// Logs of others that came meanwhile are not of this run.
#[test]
fn logs_of_other_runs_stay() {
    let folder = Folder::new("skip-others");
    folder.folder("logs");
    let memlog = env!("CARGO_BIN_EXE_memlog");
    let script = format!("{memlog} record -o logs/ true; LD_PRELOAD= /bin/true; /bin/true; true");
    let words = [
        "record",
        "--skip-below",
        "100",
        "-o",
        "logs/",
        "sh",
        "-c",
        &script,
    ];
    let told = said(&folder.run(&words));
    assert!(told.contains("1 of 3 logs had fewer"), "{told}");
    let logs = folder.logs("logs");
    let of_true = logs.iter().filter(|log| {
        let stats = folder.stats(log);
        let program = stats.value("executable").as_str().expect("text").to_owned();
        program.ends_with("/true")
    });
    assert_eq!(of_true.count(), 1, "{told}");
}

#[test]
fn the_list_sums_those_that_did_little() {
    let folder = Folder::new("list-little");
    let script = "i=0; while [ $i -lt 15 ]; do i=$((i+1)); /bin/true; (read x </dev/null; :); done; \
                  /bin/sh -c 'kill -9 $$'; ls / >/dev/null; true";
    let words = ["record", "-o", "logs/", "sh", "-c", script];
    let told = said(&folder.run(&words));
    let logs = folder.logs("logs");
    let (mut few, mut events) = (0, 0);
    for log in &logs {
        let stats = folder.stats(log);
        let own = stats.number("allocations") + stats.number("releases");
        if own < 100 {
            (few, events) = (few + 1, events + own);
        }
    }
    assert!(few >= 31, "{told}");
    let list = folder.says(&["info", "--list", "logs"]);
    let line = format!("{few} more processes had fewer than 100 events each (--all lists them): ");
    let rest = list
        .split_once(&line)
        .unwrap_or_else(|| panic!("{line}: {list}"))
        .1;
    let expected = match events {
        1 => "1 event,".to_owned(),
        _ => format!("{events} events,"),
    };
    assert!(rest.starts_with(&expected), "{expected} {list}");
    assert!(
        rest.contains("\n  15 of true: ") && rest.contains(" of logs, RSS at most "),
        "{list}"
    );
    // The titles, a line each, an empty one, the sum and its programs.
    let programs = rest.lines().count() - 1;
    assert_eq!(
        list.lines().count(),
        1 + (logs.len() - few) + 2 + programs,
        "{list}"
    );
    let every = folder.says(&["info", "--list", "--all", "logs"]);
    assert_eq!(every.lines().count(), 1 + logs.len(), "{every}");
    assert!(told.contains(" with fewer than 100 events):"), "{told}");
    // Where all are little one of them keeps its line.
    let of_true: Vec<&PathBuf> = logs
        .iter()
        .filter(|log| {
            every.lines().any(|line| {
                line.contains("  true  ")
                    && line.ends_with(log.file_name().expect("name").to_str().expect("text"))
            })
        })
        .collect();
    let mut command: Command = folder.memlog(&["info", "--list"]);
    let output = command.args(of_true).output().expect("it runs");
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(list.contains("\n14 more processes"), "{list}");
    assert_eq!(list.lines().count(), 5, "{list}");
}

/// Twelve processes that do little, and one that does and gets no memory once.
const REFUSED: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int child = 0; child < 13; child++) {
        if (fork() == 0) {
            volatile size_t size = PTRDIFF_MAX;
            for (int i = 0; i < 2; i++) free(malloc(1000 + i));
            if (child == 7) { free(malloc(size)); dprintf(1, "%d\n", getpid()); }
            exit(0);
        }
        wait(0);
    }
}
"#;

/// Where memory was refused there is more to say, however little was done: its
/// line stays, and the other thirteen are summed.
#[test]
fn who_was_refused_memory_has_a_line_and_keeps_its_log() {
    let folder = Folder::new("list-refused");
    fs::write(folder.path("refused.c"), REFUSED).expect("write");
    let source = folder.path("refused.c");
    let program = GCC.build_file(&folder, &source, "refused", &["-O0"]);
    let program = program.to_str().expect("text");
    let recorded = |words: &[&str]| {
        let output = folder.run(&[&["record"], words, &[program]].concat());
        let refused = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            said(&output),
            refused.trim().parse::<u32>().expect("a number"),
        )
    };
    let (told, refused) = recorded(&["-o", "logs/"]);
    assert!(told.contains("(12 with fewer than 100 events)"), "{told}");
    let list = folder.says(&["info", "--list", "logs"]);
    let line = "\n13 more processes had fewer than 100 events each";
    assert!(list.contains(line), "{list}");
    let log = log_of(&folder, refused).expect("a log");
    let log = log.file_name().expect("a name").to_str().expect("text");
    assert!(list.lines().any(|line| line.ends_with(log)), "{list}");
    fs::remove_dir_all(folder.path("logs")).expect("removed");
    let (told, refused) = recorded(&["--skip-below", "100", "-o", "logs/"]);
    assert!(told.contains("12 of 14 logs had fewer than 100"), "{told}");
    assert!(log_of(&folder, refused).is_some(), "{told}");
}

#[test]
fn all_is_for_lists() {
    let folder = Folder::new("list-all");
    let output = folder.run(&["info", "--all", "x.memlog"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}
