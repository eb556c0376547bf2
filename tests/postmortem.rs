//! How a program died and what its memory was doing, from outside: each kind
//! of end, each kind of limit, and a guard that speaks up only when it should.

mod common;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use common::cgroup::Cgroup;
use common::tools::{Folder, skip, tools};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// A run of `memlog record` on the grower.
struct Run {
    folder: Folder,
    output: Output,
}

impl Run {
    fn new(options: &[&str], args: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let folder = Folder::new("postmortem");
        let mut command = memlog(&folder);
        command.args(["record", "-o", "x.memlog"]).args(options);
        let grower = tools().victim("grower").expect("a C compiler made it");
        command.arg("--").arg(grower).args(args);
        prepare(&mut command);
        let output = command.output().expect("memlog runs");
        Self { folder, output }
    }

    fn plain(options: &[&str], args: &[&str]) -> Self {
        Self::new(options, args, |_| {})
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn page(&self) -> String {
        let output = self.postmortem(&[]);
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self) -> Value {
        let output = self.postmortem(&["--json"]);
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn stats(&self) -> Value {
        let mut command = memlog(&self.folder);
        let output = command.args(["stats", "--json", "x.memlog"]).output();
        serde_json::from_slice(&output.expect("memlog runs").stdout).expect("JSON")
    }

    fn postmortem(&self, options: &[&str]) -> Output {
        let mut command = memlog(&self.folder);
        command.arg("postmortem").args(options).arg("x.memlog");
        let output = command.output().expect("memlog runs");
        assert!(output.status.success(), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        output
    }
}

fn memlog(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    command.current_dir(folder.path());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") {
            command.env_remove(name);
        }
    }
    command
}

/// What was said of the one limit that is of this kind.
fn limit<'a>(json: &'a Value, kind: &str) -> &'a Value {
    let limits = json["limits"].as_array().expect("a list");
    let mut of_kind = limits.iter().filter(|limit| limit["kind"] == kind);
    let limit = of_kind.next().unwrap_or(&Value::Null);
    assert!(of_kind.next().is_none(), "one {kind}: {json:#}");
    limit
}

fn top<'a>(json: &'a Value, list: &str) -> &'a str {
    json[list][0]["function"].as_str().unwrap_or_default()
}

#[test]
fn each_end_is_told() {
    for (end, how, signal) in [
        ("exit", "exit", Value::Null),
        ("_exit", "_exit", Value::Null),
        ("kill", "signal", 9.into()),
        ("abort", "signal", 6.into()),
    ] {
        let run = Run::plain(&[], &["6", end]);
        let json = run.json();
        assert_eq!(json["death"]["how"], how, "{end}: {json:#}");
        assert_eq!(json["death"]["signal"], signal, "{end}");
        assert_eq!(json["limits"], Value::Array(Vec::new()), "{end}");
        // Rows and table are live; only rows came last.
        assert_eq!(top(&json, "held"), "make_row", "{end}: {json:#}");
        assert_eq!(json["held"][0]["blocks"], 96, "{end}");
        assert_eq!(json["held"][1]["function"], "make_table", "{end}");
        let grown = json["grown"].as_array().expect("a list");
        let names: Vec<_> = grown.iter().map(|site| &site["function"]).collect();
        assert_eq!(names, ["make_row"], "{end}: {json:#}");
        let asked = run.stderr().contains("next: memlog postmortem x.memlog");
        assert_eq!(asked, !signal.is_null(), "{end}: {}", run.stderr());
        let page = run.page();
        let said = page.lines().any(|line| line.starts_with("death:   "));
        assert!(said, "{page}");
        if !signal.is_null() {
            assert!(
                page.contains(&format!("killed by signal {signal} (SIG")),
                "{page}"
            );
            assert!(page.contains("64.0 KiB asked for at"), "{page}");
            assert!(page.contains("in make_row ["), "{page}");
        }
    }
}

#[test]
fn the_chunk_behind_a_log_harms_no_reader() {
    let run = Run::plain(&[], &["6", "kill"]);
    for reader in ["info", "stats", "report", "tree", "summary", "dump"] {
        let mut command = memlog(&run.folder);
        let output = command
            .args([reader, "x.memlog"])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{reader}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("damaged"), "{reader}: {text}");
        if reader == "info" {
            assert!(text.contains("killed by signal 9 (SIGKILL)"), "{text}");
            assert!(text.contains("\nfindings: 0\n"), "{text}");
        }
    }
}

#[test]
fn without_record_nobody_saw_the_end() {
    let folder = Folder::new("postmortem");
    let grower = tools().victim("grower").expect("a C compiler made it");
    let preloaded = |end: &str| {
        let mut command = Command::new(&grower);
        command.current_dir(folder.path());
        command.env("LD_PRELOAD", &tools().memlog);
        command.env("MEMLOG_OUTPUT", "x.memlog").args(["2", end]);
        command.stdout(Stdio::piped());
        command
    };
    let how = || {
        let mut command = memlog(&folder);
        let output = command.args(["postmortem", "--json", "x.memlog"]).output();
        let output = output.expect("memlog runs");
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        json["death"]["how"].clone()
    };
    let killed = preloaded("kill").status().expect("it runs");
    assert_eq!(killed.signal(), Some(9));
    assert_eq!(how(), "unknown");

    std::fs::remove_file(folder.path().join("x.memlog")).expect("the log");
    let mut waiting = preloaded("wait").spawn().expect("it runs");
    let mut ready = [0; 5];
    let stdout = waiting.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(stdout, &mut ready).expect("it is ready");
    let pages = || {
        let page = |words: &str| {
            let mut command = memlog(&folder);
            let output = command.args(words.split(' ')).arg("x.memlog").output();
            String::from_utf8(output.expect("memlog runs").stdout).expect("text")
        };
        [
            "report --leaks --show-maximum",
            "summary",
            "postmortem",
            "info",
        ]
        .map(page)
    };
    let running = (how(), pages());
    waiting.kill().expect("it ends");
    waiting.wait().expect("it has ended");
    assert_eq!(running.0, "running");
    assert_eq!(how(), "unknown");
    let told = [
        &[
            "live heap at its maximum so far (moment 1 of 2 at ",
            "live heap now (moment 2 of 2 at ",
        ][..],
        &["what is live now", "still running"],
        &[" live now, by place", " ago, by place"],
        &["still running"],
    ];
    for (page, told) in running.1.iter().zip(told) {
        for words in told {
            assert!(page.contains(words), "'{words}' is not in: {page}");
        }
        let wrong = page.contains("the end") || page.contains("no end");
        assert!(!wrong, "{page}");
    }
    let gone = pages().concat();
    assert!(
        gone.contains("live heap at the end (moment 2 of 2 at "),
        "{gone}"
    );
    let still = gone.contains(" now");
    assert!(!still, "{gone}");
}

fn group(limit_bytes: u64) -> Option<Cgroup> {
    match Cgroup::new(limit_bytes) {
        Ok(group) => Some(group),
        Err(refused) => {
            skip(&format!(
                "a group with a limit on memory is refused here, {refused}"
            ));
            None
        }
    }
}

#[test]
fn a_kill_for_want_of_memory_is_announced_and_told() {
    let Some(group) = group(64 * MIB) else {
        return;
    };
    let run = Run::new(&["--oom-guard", "20"], &["400"], |command| {
        group.hold(command)
    });
    assert_eq!(group.oom_kills(), 1, "{}", run.stderr());
    assert_eq!(run.output.status.code(), Some(128 + 9), "{}", run.stderr());
    let said = "memlog: the kernel killed a process of this group for want of memory\n";
    assert!(run.stderr().contains(said), "{}", run.stderr());
    let json = run.json();
    assert_eq!(json["death"]["how"], "out-of-memory", "{json:#}");
    assert_eq!(json["death"]["oom_kills"], 1);
    let limit = limit(&json, "group");
    assert_eq!(limit["act"], "near", "{json:#}");
    assert_eq!(limit["limit_bytes"], 64 * MIB);
    let name = limit["name"].as_str().expect("a name");
    assert!(name.ends_with(&group.name()), "{name}");
    // It was told in time, and not much too early.
    let left = 64 * MIB - limit["used_bytes"].as_u64().expect("bytes");
    assert!(left < 13 * MIB && left > 6 * MIB, "{left} left when told");
    assert_eq!(top(&json, "held"), "make_row");
    let live = json["held"][0]["bytes"].as_u64().expect("bytes");
    assert!(live > 45 * MIB, "{live} live at the end");
    // What the guard read on the way is not the last word on the peak.
    let peak = run.stats()["rss_peak_bytes"].as_u64().expect("bytes");
    assert!(peak + 2 * MIB >= live, "a peak of {peak}, {live} live");
    let page = run.page();
    assert!(
        page.contains("by the kernel, for memory had run out"),
        "{page}"
    );
}

#[test]
fn a_guard_ends_the_program_if_told_to() {
    let Some(group) = group(64 * MIB) else {
        return;
    };
    for sink in ["mapped", "written"] {
        let run = Run::new(&["--oom-guard", "25%,stop"], &["400"], |command| {
            group.hold(command);
            command.env("MEMLOG_SINK", sink);
        });
        assert_eq!(run.output.status.code(), Some(128 + 15), "{}", run.stderr());
        assert_eq!(group.oom_kills(), 0, "{sink}");
        let json = run.json();
        assert_eq!(limit(&json, "group")["act"], "asked-to-end", "{json:#}");
        assert_eq!(json["death"]["signal"], 15, "{sink}: {json:#}");
        let live = json["held"][0]["bytes"].as_u64().expect("bytes");
        assert!(live > 30 * MIB, "{sink}: {live} live at the end");
        assert!(
            run.page().contains("memlog's guard asked it to end: "),
            "{}",
            run.page()
        );
    }
}

#[test]
fn limits_of_the_process_are_watched() {
    for (which, kind) in [
        (libc::RLIMIT_AS, "address-space"),
        (libc::RLIMIT_DATA, "data"),
    ] {
        let run = Run::new(&["--oom-guard", "20"], &["2000"], |command| {
            let limit = libc::rlimit {
                rlim_cur: 300 * MIB,
                rlim_max: 300 * MIB,
            };
            // SAFETY: between fork and exec one system call is made.
            unsafe {
                command.pre_exec(move || match libc::setrlimit(which, &limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                })
            };
        });
        // malloc said no, and the program ended by itself.
        assert_eq!(
            run.output.status.code(),
            Some(4),
            "{kind}: {}",
            run.stderr()
        );
        let json = run.json();
        assert_eq!(json["death"]["how"], "exit", "{kind}: {json:#}");
        let limit = limit(&json, kind);
        assert_eq!(limit["act"], "near", "{kind}: {json:#}");
        assert_eq!(limit["limit_bytes"], 300 * MIB, "{kind}");
    }
}

/// What grew is looked for as far back as events are known.
#[test]
fn what_a_flight_recorder_overwrote_is_not_asked_for() {
    let folder = Folder::new("postmortem");
    let churn = tools().victim("churn").expect("a C compiler made it");
    let mut command = memlog(&folder);
    command.args(["record", "-o", "x.memlog", "--flight-recorder=1MiB", "--"]);
    let output = command.arg(churn).arg("400000").output();
    let output = output.expect("memlog runs");
    assert!(output.status.success(), "{output:?}");
    let run = Run { folder, output };
    let stats = run.stats();
    assert!(
        stats["flight_recorder"]["folded_chunks"].as_u64() > Some(0),
        "{stats:#}"
    );
    for options in [&["--last", "1000"][..], &["--last", "0.001"], &[]] {
        let output = run.postmortem(&[options, &["--json"]].concat());
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(json["window_seconds"].as_f64() >= Some(0.0), "{json:#}");
        assert!(json["held"].is_array());
    }
}

#[test]
fn a_guard_far_from_its_limits_is_silent() {
    let run = Run::plain(&["--oom-guard", "1"], &["8"]);
    assert!(run.output.status.success(), "{}", run.stderr());
    let json = run.json();
    let limits = json["limits"].as_array().expect("a list");
    assert!(!limits.is_empty(), "the machine's memory is one");
    for limit in limits {
        assert_eq!(limit["act"], "watched", "{json:#}");
    }
    assert!(!run.stderr().contains("left of"), "{}", run.stderr());
}

#[test]
fn sense_is_asked_for() {
    for wrong in ["0", "100", "x", "5,die"] {
        let run = Run::plain(&["--oom-guard", wrong], &["1"]);
        assert_eq!(run.output.status.code(), Some(2), "{wrong}");
        let said = run.stderr();
        assert!(said.contains("a percentage from 1 to 99"), "{said}");
    }
    let log: PathBuf = Run::plain(&[], &["1"]).folder.path().join("x.memlog");
    for wrong in ["0", "-1", "x", "inf"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        let option = format!("--last={wrong}");
        let output = command.args(["postmortem", &option]).arg(&log).output();
        let output = output.expect("memlog runs");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}
