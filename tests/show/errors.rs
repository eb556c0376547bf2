//! What goes wrong, command by command: a sentence, and what to do.

use std::fs::{File, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use crate::logs::sites;
use crate::sites::{Folder, said};
use crate::{memlog, with_logs};

/// Any user but root, and not the one that runs the tests.
const NOBODY: u32 = 65534;

/// Every command that prints about a log.
const READERS: [&str; 6] = [
    "report",
    "summary",
    "tree --top-down",
    "stats",
    "info",
    "dump",
];

#[track_caller]
fn refused(words: &str, output: &Output, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(output.stdout.is_empty(), "{words} printed something");
    assert!(said.starts_with("memlog: error: "), "{words}: {said}");
    for part in parts {
        assert!(said.contains(part), "{words}: '{part}' is not in: {said}");
    }
}

#[track_caller]
fn refuses(folder: &Folder, words: &str, parts: &[&str]) {
    let output = memlog(folder, words).output().expect("run");
    refused(words, &output, parts);
}

#[test]
fn files_that_are_not_there_or_no_logs() {
    let folder = with_logs("show-files", &[("a", sites())]);
    std::fs::write(folder.path("text"), "a text that is no log").expect("write");
    for reader in READERS {
        let parts = [
            "cannot read the log nowhere",
            "No such file",
            "hint: give the .memlog file",
        ];
        refuses(&folder, &format!("{reader} nowhere"), &parts);
        refuses(
            &folder,
            &format!("{reader} text"),
            &["cannot read text", "memlog log"],
        );
        refuses(
            &folder,
            &format!("{reader} ."),
            &["cannot read the log .", "regular file"],
        );
    }
}

#[test]
fn files_that_may_not_be_read() {
    let folder = with_logs("show-rights", &[("a", sites())]);
    std::fs::set_permissions(folder.path("a.memlog"), Permissions::from_mode(0o000))
        .expect("chmod");
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

#[test]
fn wrong_usage() {
    let folder = with_logs("show-usage", &[("a", sites())]);
    for reader in READERS {
        let more = "For more information, try '--help'";
        refuses(
            &folder,
            &format!("{reader} --nonsense a.memlog"),
            &["'--nonsense'", "Usage:", more],
        );
        refuses(&folder, reader, &["<FILE>", more]);
    }
    for command in ["report", "tree"] {
        let refuses = |words: &str, parts: &[&str]| {
            refuses(&folder, &format!("{command} {words} a.memlog"), parts);
        };
        refuses("--at noon", &["rss-peak, heap-peak, end, or a time"]);
        refuses("-t 101", &["a number from 0 to 100"]);
        refuses("--include (", &["unclosed group", "'--include <RE>'"]);
        refuses(
            "--color pink",
            &["'pink'", "[possible values: auto, always, never]"],
        );
    }
    refuses(
        &folder,
        "report a.memlog b.memlog",
        &["report takes one log", "hint: "],
    );
    refuses(
        &folder,
        "no-such-program",
        &["no program 'no-such-program'", "hint: "],
    );
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
