//! What is recorded between on and off, whoever switches.

use crate::*;

#[test]
fn a_window_holds_what_was_allocated_in_it() {
    let folder = Folder::new("ctl-windows");
    built(&folder);
    let output = run(record(&folder, &[], &["windows", "40"]));
    windows_agree(&folder, "it.memlog", &output);
    let page = folder.says(&["summary".as_ref(), folder.path("it.memlog").as_os_str()]);
    assert!(page.contains("recording was off from "), "{page}");
    assert!(page.contains("recording was off 37 times more: "), "{page}");
}

#[test]
fn a_window_of_a_linked_program() {
    let folder = Folder::new("ctl-linked");
    let lib = folder.recorder();
    let words = [
        "ldflags".as_ref(),
        "--static".as_ref(),
        "--lib".as_ref(),
        lib.as_os_str(),
    ];
    let flags = folder.says(&words);
    let link: Vec<&str> = ["-static", "-pthread"]
        .into_iter()
        .chain(flags.split_whitespace())
        .collect();
    let program = GCC.build(&folder, "switches.c", "switches", &link);
    let mut command = folder.command(program);
    command.args(["windows", "10"]);
    command.env("MEMLOG_OUTPUT", folder.path("it.memlog"));
    let output = run(command);
    windows_agree(&folder, "it.memlog", &output);
}

/// Switched thousands of times while others allocate, fork and load libraries.
#[test]
fn nothing_is_lost_while_it_goes_on_and_off() {
    let folder = Folder::new("ctl-race");
    built(&folder);
    race(&folder, &[]);
    // What one thread gives back the next one gets.
    let shared = [
        ("MALLOC_ARENA_MAX", "1"),
        ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"),
    ];
    race(&folder, &shared);
}

/// The same of the log that `memlog strip` makes of it.
fn stripped(folder: &Folder, log: &str) -> Value {
    let words = ["strip", "--force", "-q", "-o", "less.memlog"].map(OsStr::new);
    folder.says(&[&words[..], &[folder.path(log).as_os_str()]].concat());
    is_whole(folder, "less.memlog")
}

fn race(folder: &Folder, environment: &[(&str, &str)]) {
    let mut command = record(folder, &["--force"], &["race", "1500"]);
    command.envs(environment.iter().copied());
    let output = run(command);
    let text = String::from_utf8_lossy(&output.stdout);
    let count = text.trim().strip_prefix("switched ").expect("a count");
    assert!(count.parse::<u64>().expect("it") > 50, "{text}");
    let stats = is_whole(folder, "it.memlog");
    let turns = switches(&stats);
    assert!(turns.len() > 100);
    for (number, (on, _)) in turns.iter().enumerate() {
        assert_eq!(*on, number % 2 == 1, "turn {number}");
    }
    assert_eq!(stats["cut_stacks"], 0, "{stats:#}");
    let less = stripped(folder, "it.memlog");
    for name in ["allocations", "releases", "end_live_bytes"] {
        assert_eq!(less[name], stats[name], "{less:#}");
    }
    assert_eq!(less["switches"].as_array().map(Vec::len), Some(turns.len()));
}

/// A call that recording goes off over, and what becomes of its block.
#[test]
fn calls_that_end_late() {
    let folder = Folder::new("ctl-late");
    let library = ["-shared", "-fPIC", "-DLIBRARY"];
    let library = GCC.build(&folder, "late_calls.c", "late.so", &library);
    GCC.build(&folder, "late_calls.c", "late_calls", &["-pthread", "-ldl"]);
    // What is told of its blocks: allocations, and releases of what nobody saw come.
    let cases = [
        // Nobody saw the block go, so nobody saw it come.
        ("mo", 0, 0),
        ("mn", 0, 1),
        ("ro", 1, 0),
        ("rn", 1, 1),
        // Recording is on again when it comes.
        ("mw", 1, 0),
        ("rw", 2, 0),
    ];
    for (how, told, unknown) in cases {
        let mut command = folder.command("./late_calls");
        let preloaded = folder.recorder().join("libmemlog.so");
        let preloaded = format!("{}:{}", preloaded.display(), library.display());
        command.arg(how).env("LD_PRELOAD", preloaded);
        command.env("MEMLOG_OUTPUT", folder.path(&format!("{how}.memlog")));
        run(command);
        let log = format!("{how}.memlog");
        let stats = is_whole(&folder, &log);
        let table = json(&folder, &["table", "--where", "function = work"], &log);
        let rows = table["rows"].as_array().expect("rows").iter();
        let blocks = rows.map(|row| row["all_blocks"].as_u64().expect("blocks"));
        assert_eq!(blocks.sum::<u64>(), told, "{how}: {table:#}");
        let others = &stats["unknown_releases"]["before_start"];
        assert_eq!(*others, unknown, "{how}: {stats:#}");
        assert_eq!(stats["end_live_bytes"], 100, "{how}: {stats:#}");
        // A smaller log says the same.
        let less = stripped(&folder, &log);
        for name in ["allocations", "releases", "end_live_bytes"] {
            assert_eq!(less[name], stats[name], "{how}: {less:#}");
        }
    }
}

/// Off from the start: what is not recorded is not there, and pages say why.
#[test]
fn nothing_is_recorded_before_it_is_switched_on() {
    let folder = Folder::new("ctl-off");
    built(&folder);
    run(record(&folder, &["--start-disabled"], &["serve", "100"]));
    let stats = is_whole(&folder, "it.memlog");
    assert_eq!(stats["allocations"], 0);
    let page = folder.says(&["summary", "it.memlog"]);
    assert!(page.contains("recording was never switched on"), "{page}");
    // bytehound's variable says the same.
    let mut command = record(&folder, &["--force"], &["serve", "100"]);
    command.env("MEMORY_PROFILER_DISABLE_BY_DEFAULT", "1");
    run(command);
    assert_eq!(is_whole(&folder, "it.memlog")["allocations"], 0);
    let server = Server::start(
        record(&folder, &["--force", "--start-disabled"], &["serve", "0"]),
        &folder,
    );
    pause();
    does(
        &folder,
        &server.pid.to_string(),
        &["start"],
        "recording is on",
    );
    server.end();
    let stats = is_whole(&folder, "it.memlog");
    assert_eq!(switches(&stats), by("ctl", &[true]));
    let page = folder.says(&["summary", "it.memlog"]);
    assert!(page.contains("blocks from before are not known"), "{page}");
}

/// Only what falls into the window is there.
#[test]
fn a_window_of_time() {
    let folder = Folder::new("ctl-time");
    built(&folder);
    let options = ["--after", "300ms", "--for", "0.4s"];
    run(record(&folder, &options, &["serve", "1500"]));
    let stats = is_whole(&folder, "it.memlog");
    assert_eq!(switches(&stats), by("time", &[true, false]));
    let at = |turn: usize| {
        stats["switches"][turn]["seconds"]
            .as_f64()
            .expect("seconds")
    };
    // The program begins a moment after memlog does, and may have to wait for a processor.
    assert!((0.1..=0.9).contains(&at(0)), "{stats:#}");
    assert!((0.5..=1.3).contains(&at(1)), "{stats:#}");
    // Half an hour ago: what begins now is too late, and has no log.
    let mut command = folder.command("./switches");
    let lib = folder.recorder().join("libmemlog.so");
    command
        .args(["serve", "50"])
        .env("LD_PRELOAD", lib)
        .env("MEMLOG_OUTPUT", folder.path("late.memlog"))
        .env("MEMLOG_AFTER", "@1700000000.5")
        .env("MEMLOG_FOR", "60");
    run(command);
    assert!(!folder.path("late.memlog").exists());
    // And without an end from then on.
    let mut command = record(&folder, &["--force", "--after", "10m"], &["serve", "100"]);
    command.env("MEMLOG_FOR", "");
    run(command);
    assert_eq!(is_whole(&folder, "it.memlog")["allocations"], 0);
}

/// A signal of the user's choice, and none that the program handles.
#[test]
fn a_signal_switches() {
    let folder = Folder::new("ctl-signal");
    built(&folder);
    let options = ["--signal", "USR2=toggle", "--signal", "36=snapshot"];
    let server = Server::start(record(&folder, &options, &["serve", "0"]), &folder);
    let signal = |name: &str| {
        let status = Command::new("kill")
            .args([name, &server.pid.to_string()])
            .status();
        assert!(status.expect("kill").success());
        pause();
    };
    for name in ["-36", "-USR2", "-USR2", "-36"] {
        signal(name);
    }
    server.end();
    let stats = is_whole(&folder, "it.memlog");
    assert_eq!(switches(&stats), by("signal", &[false, true]));
    let marks = json(&folder, &["timeline"], "it.memlog");
    let names: Vec<_> = marks["marks"]
        .as_array()
        .expect("marks")
        .iter()
        .map(|mark| &mark["name"])
        .collect();
    assert_eq!(
        names,
        ["snapshot 1", "recording off", "recording on", "snapshot 2"]
    );
    // Without the option it is the program's, which it ends.
    let server = Server::start(record(&folder, &["--force"], &["serve", "0"]), &folder);
    let status = Command::new("kill")
        .args(["-USR2", &server.pid.to_string()])
        .status();
    assert!(status.expect("kill").success());
    let output = server.child.wait_with_output().expect("it ends");
    assert_eq!(
        output.status.code(),
        Some(128 + 12),
        "{:?}",
        output.status.signal()
    );
}

/// Every other form that tells of blocks forgets them too: each goes once.
#[test]
fn exports_forget_as_well() {
    let folder = Folder::new("ctl-exports");
    built(&folder);
    run(record(&folder, &[], &["windows", "8"]));
    let text = folder.says(&["export", "heaptrack", "it.memlog", "-o", "-"]);
    let count = |letter: &str| text.lines().filter(|line| line.starts_with(letter)).count();
    let (came, went) = (count("+ "), count("- "));
    assert!(came > 1000 && went <= came, "{came} {went}");
    let mut live: std::collections::BTreeMap<&str, i64> = Default::default();
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("+", info)) => *live.entry(info).or_default() += 1,
            Some(("-", info)) => {
                let count = live.entry(info).or_default();
                *count -= 1;
                assert!(*count >= 0, "{line}");
            }
            _ => {}
        }
    }
    let whole = is_whole(&folder, "it.memlog");
    let live = whole["end_live_blocks"].as_u64().expect("blocks") as usize;
    assert_eq!(came - went, live);
    // A replay frees them too.
    let forgotten: u64 = whole["switches"]
        .as_array()
        .expect("switches")
        .iter()
        .map(|switch| switch["forgotten_blocks"].as_u64().expect("blocks"))
        .sum();
    let page = json(
        &folder,
        &["replay", "--allocator", "glibc", "--repeat", "1"],
        "it.memlog",
    );
    assert_eq!(page["operations"]["unseen_releases"], forgotten, "{page:#}");
    let strip = ["strip", "it.memlog", "-o", "less.memlog"];
    run(folder.memlog(&strip));
    let less = is_whole(&folder, "less.memlog");
    for name in [
        "allocations",
        "releases",
        "total_bytes",
        "heap_peak_bytes",
        "end_live_bytes",
    ] {
        assert_eq!(whole[name], less[name], "{name}");
    }
    assert_eq!(switches(&whole), switches(&less));
}

/// A filter that ends whoever asks for his own number: switching asks for nothing.
const FILTERED: &str = r#"
#include "memlog.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
int main(int count, char **arguments) {
    (void)arguments;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    free(malloc(1000));
    if (count > 1)
        memlog_stop();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 2;
    for (int turn = 0; turn < 3; turn++) {
        free(malloc(2000));
        memlog_stop();
        free(malloc(3000));
        memlog_start();
    }
    printf("recording %d\n", memlog_is_recording());
    return 0;
}
"#;

#[test]
fn switching_under_a_filter_ends_nobody() {
    let folder = Folder::new("ctl-filter");
    let source = folder.path("filtered.c");
    fs::write(&source, FILTERED).expect("a file");
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let program = GCC.build_file(&folder, &source, "filtered", &[include]);
    for (words, expected) in [
        (&[][..], by("program", &[false])),
        (&["off"], by("program", &[false])),
    ] {
        let mut command = folder.memlog(&["record", "--force", "-o", "it.memlog"]);
        command.arg(&program).args(words);
        let output = run(command);
        // Rules for what was loaded meanwhile could not be read: it stays off.
        assert_eq!(String::from_utf8_lossy(&output.stdout), "recording 0\n");
        assert_eq!(switches(&is_whole(&folder, "it.memlog")), expected);
    }
}

/// A child inherits what came since recording went on again, and no mapping of before is
/// told of any more.
#[test]
fn what_was_forgotten_is_not_inherited() {
    let folder = Folder::new("ctl-inherit");
    built(&folder);
    run(record(&folder, &[], &["inherit", "1"]));
    let parent = is_whole(&folder, "it.memlog");
    assert_eq!(parent["switches"][1]["forgotten_bytes"], 100_000);
    assert_eq!(parent["mapped_end_bytes"], 2 << 20);
    let maps = json(&folder, &["maps"], "it.memlog");
    assert_eq!(maps["bytes"], 2 << 20, "{maps:#}");
    let dump = folder.says(&["dump", "--no-symbols", "it.memlog"]);
    let last = dump
        .lines()
        .rfind(|line| line.starts_with("M: "))
        .expect("a block");
    let columns = last.split('\t').nth(1).expect("figures");
    assert_eq!(columns.split(' ').nth(4), Some("2048"), "{last}");
    let child = is_whole(&folder, "it.2.memlog");
    let inherited = [
        "inherited_blocks",
        "inherited_bytes",
        "inherited_released_blocks",
    ];
    assert_eq!(
        inherited.map(|name| child[name].as_u64()),
        [1, 200_000, 1].map(Some)
    );
    let page = json(&folder, &["table"], "it.2.memlog");
    assert_eq!(
        (&page["blocks"], &page["bytes"]),
        (&1.into(), &200_000.into()),
        "{page:#}"
    );
}
