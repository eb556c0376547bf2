//! What goes wrong with files and output, command by command: a sentence, and
//! what to do.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use crate::logs::sites;
use crate::sites::{Folder, said};
use crate::{memlog, says, with_logs};

/// Any user but root, and not the one that runs the tests.
const NOBODY: u32 = 65534;

/// Every command that prints about a log.
pub const READERS: [&str; 6] = [
    "report",
    "summary",
    "tree --top-down",
    "stats",
    "info",
    "dump",
];

/// And the one that draws.
const DRAWER: &str = "dot -q --draw built-in";

/// Exit code 2, nothing printed, and: a sentence, what there is to know about
/// it, and in the last line what to do.
#[track_caller]
pub fn refused(words: &str, output: &Output, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(output.stdout.is_empty(), "{words} printed something");
    assert!(said.starts_with("memlog: error: "), "{words}: {said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("memlog: hint: "), "{words}: {said}");
    // Not as a programmer would see it.
    for foreign in [
        "panicked", "Error {", "Some(", "Os {", "kind: ", "\"", "RUST_",
    ] {
        assert!(!said.contains(foreign), "{words}: {said}");
    }
    for part in parts {
        assert!(said.contains(part), "{words}: '{part}' is not in: {said}");
    }
}

#[track_caller]
pub fn refuses(folder: &Folder, words: &str, parts: &[&str]) {
    let output = memlog(folder, words).output().expect("run");
    refused(words, &output, parts);
}

/// A file that is no log, and what is said of it: in the first line its name
/// and this, in the last this.
struct NoLog {
    name: &'static str,
    wrong: &'static str,
    hint: &'static str,
}

const NO_LOGS: [NoLog; 11] = [
    NoLog {
        name: "nowhere",
        wrong: "cannot read the log nowhere: No such file",
        hint: "give the .memlog file that `memlog record` named",
    },
    NoLog {
        name: "a.memlog/x",
        wrong: "Not a directory",
        hint: "give the .memlog file that `memlog record` named",
    },
    NoLog {
        name: "folder",
        wrong: "the folder folder holds no log",
        hint: "or the folder of logs, that `memlog record` named",
    },
    NoLog {
        name: "empty",
        wrong: "cannot read empty: expected a memlog log, found an empty file",
        hint: "still starting, try again",
    },
    NoLog {
        name: "text",
        wrong: "cannot read text: expected a memlog log, which starts with",
        hint: "give the .memlog file that `memlog record` named",
    },
    NoLog {
        name: "elf",
        wrong: "found 7f 45 4c 46 at offset 0",
        hint: "give the .memlog file that `memlog record` named",
    },
    NoLog {
        name: "stub",
        wrong: "found only 40 bytes",
        hint: "copy the file again",
    },
    NoLog {
        name: "zeros",
        wrong: "found zeros: the file was made but nothing was recorded",
        hint: "see whether the program came to start",
    },
    NoLog {
        name: "loop",
        wrong: "cannot read the log loop: Too many levels of symbolic links",
        hint: "give the .memlog file that `memlog record` named",
    },
    NoLog {
        name: "no*such",
        wrong: "no file matches 'no*such'",
        hint: "see `ls`",
    },
    NoLog {
        name: "/dev/null",
        wrong: "cannot read the log /dev/null: it is not a regular file",
        hint: "give the .memlog file that `memlog record` named",
    },
];

pub fn with_all_kinds(name: &str) -> Folder {
    let folder = with_logs(name, &[("a", sites())]);
    folder.folder("folder");
    let log = fs::read(folder.path("a.memlog")).expect("read");
    let files: [(&str, &[u8]); 5] = [
        ("empty", b""),
        (
            "text",
            b"a text that is no log, and is longer than a header of one would be",
        ),
        (
            "elf",
            b"\x7fELF\x02\x01\x01 and so on, up to the length of a header, which is 64",
        ),
        ("stub", &log[..40]),
        ("zeros", &[0; 70_000]),
    ];
    for (name, content) in files {
        fs::write(folder.path(name), content).expect("write");
    }
    std::os::unix::fs::symlink("loop", folder.path("loop")).expect("link");
    folder
}

#[test]
fn files_that_are_not_there_or_no_logs() {
    let folder = with_all_kinds("show-files");
    for reader in READERS.iter().chain(&[DRAWER]) {
        for NoLog { name, wrong, hint } in &NO_LOGS {
            let words = format!("{reader} {name}");
            let output = memlog(&folder, &words).output().expect("run");
            refused(&words, &output, &[]);
            let said = said(&output);
            let (first, last) = (said.lines().next(), said.lines().last());
            assert!(
                first.is_some_and(|line| line.contains(name)),
                "{words}: {said}"
            );
            assert!(
                first.is_some_and(|line| line.contains(wrong)),
                "{words}: {said}"
            );
            assert!(
                last.is_some_and(|line| line.contains(hint)),
                "{words}: {said}"
            );
        }
    }
}

/// What is left of a log is read, and the page says what it lacks.
#[test]
fn logs_that_are_cut_short() {
    let folder = with_logs("show-cut", &[("a", sites())]);
    let log = fs::read(folder.path("a.memlog")).expect("read");
    fs::write(folder.path("cut.memlog"), &log[..log.len() - 70_000]).expect("write");
    for reader in READERS {
        let words = format!("{reader} cut.memlog");
        let output = memlog(&folder, &words).output().expect("run");
        assert!(output.status.success(), "{words}: {}", said(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        if !["dump", "stats"].contains(&reader) {
            let told = ["cut short", "the file ends inside the chunk"];
            assert!(
                told.iter().any(|told| text.contains(told)),
                "{words}: {text}"
            );
        }
    }
}

/// As `memlog2dot '*.memlog'` does: the biggest of them, and it is said which.
#[test]
fn folders_and_patterns_stand_for_the_biggest_log() {
    let folder = with_all_kinds("show-several");
    let logs = folder.folder("logs");
    for name in ["one.memlog", "two.memlog"] {
        fs::copy(folder.path("a.memlog"), logs.join(name)).expect("copy");
    }
    fs::write(logs.join("notes"), "no log").expect("write");
    for reader in READERS {
        let whole = says(&folder, &format!("{reader} logs/one.memlog"));
        for name in [
            "logs",
            "logs/",
            "./logs",
            "logs/*.memlog",
            "l*/[no]*.memlog",
        ] {
            let words = format!("{reader} {name}");
            let output = memlog(&folder, &words).output().expect("run");
            let said = said(&output);
            assert!(output.status.success(), "{words}: {said}");
            assert!(said.starts_with("memlog: Using "), "{words}: {said}");
            assert!(said.contains("logs/one.memlog, "), "{words}: {said}");
            if !reader.starts_with("summary") {
                assert_eq!(String::from_utf8_lossy(&output.stdout), whole, "{words}");
            }
        }
    }
}

#[test]
fn files_that_may_not_be_read() {
    let folder = with_logs("show-rights", &[("a", sites())]);
    fs::set_permissions(folder.path("a.memlog"), Permissions::from_mode(0o000)).expect("chmod");
    // Another user may not reach the folder that memlog was built in.
    let tool = folder.path("memlog");
    // Not by ourselves: a file is busy while a fork of another test has it open.
    let cp = folder
        .command("cp")
        .args([env!("CARGO_BIN_EXE_memlog").as_ref(), tool.as_os_str()])
        .status();
    assert!(cp.is_ok_and(|cp| cp.success()), "cp");
    for reader in READERS {
        let mut command = folder.command(&tool);
        command.args(reader.split(' ')).arg("a.memlog");
        if folder.is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().expect("run");
        refused(
            reader,
            &output,
            &["Permission denied", "hint: see whether you may read"],
        );
    }
}

/// With ` >&-` nothing is shown, which is no success.
#[test]
fn a_closed_stdout_is_told() {
    let folder = with_logs("show-closed", &[("a", sites())]);
    let tool = env!("CARGO_BIN_EXE_memlog");
    let readers = READERS.map(|reader| format!("{reader} a.memlog"));
    let others = ["help", "--version", "help report", "ldflags --static"].map(str::to_owned);
    for words in readers.iter().chain(&others) {
        let line = format!("exec '{tool}' {words} >&-");
        let output = folder.command("sh").args(["-c", &line]).output();
        let parts = [
            "cannot write to standard output: it is closed",
            "hint: open it",
        ];
        refused(words, &output.expect("run"), &parts);
        // Who asks for silence gets it.
        let line = format!("exec '{tool}' {words} >/dev/null");
        let output = folder.command("sh").args(["-c", &line]).output();
        assert!(output.expect("run").status.success(), "{words}");
    }
}

/// In every command that takes one, and in none is the end as it is shown, or
/// a time within its last millisecond, too late.
#[test]
fn a_moment_after_the_end() {
    let folder = with_logs("show-late", &[("a", sites())]);
    for command in ["report", "tree", "report --json", "tree --json", "dot"] {
        for time in ["60", "61ms", "9999999999"] {
            let parts = [
                " s is after the program ended at 0.060 s",
                "hint: give a time from 0 to 0.060, or --at end for the end",
            ];
            refuses(&folder, &format!("{command} --at {time} a.memlog"), &parts);
        }
        says(&folder, &format!("{command} --at 0.060 a.memlog"));
    }
}

#[test]
fn a_full_disk_is_said_to_be_full() {
    let folder = with_logs("show-full", &[("a", sites())]);
    let readers = READERS.map(|reader| format!("{reader} a.memlog"));
    let json = ["report", "summary", "tree"].map(|reader| format!("{reader} --json a.memlog"));
    let others = ["help", "--version", "ldflags --static"].map(str::to_owned);
    for words in readers.iter().chain(&json).chain(&others) {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let output = memlog(&folder, words).stdout(full).output().expect("run");
        let parts = [
            "cannot write to standard output: No space left",
            "hint: make room",
        ];
        refused(words, &output, &parts);
    }
}

/// As with `| head -1`.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = with_logs("show-pipe", &[("a", sites())]);
    for reader in READERS {
        let words = format!("{reader} a.memlog");
        let mut command = memlog(&folder, &words);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run");
        drop(child.stdout.take());
        let mut said = String::new();
        let mut stderr = child.stderr.take().expect("stderr");
        stderr.read_to_string(&mut said).expect("text");
        let status = child.wait().expect("wait");
        assert!(
            status.success() && said.is_empty(),
            "{words}: {status}: {said}"
        );
    }
}
