//! What memlog2dot refuses, and how: a sentence, a remedy, exit code 2, and
//! no half of a file.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use crate::recipe::{PROGRAM, Recipe};
use crate::sites::{Folder, said};
use crate::{command, memlog2dot};
use memlog_format::table::StackId;

/// Any user but root, and not the one that runs the tests.
pub const NOBODY: u32 = 65534;

/// A folder with a small log of a program that is nowhere.
pub fn with_log(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut recipe = Recipe::new(b"/nowhere/libc.so.6");
    let stack = recipe.stack(StackId::COMPLETE, &[PROGRAM + 0x1100, PROGRAM + 0x1200]);
    recipe.allocate(stack, 3, 5_000);
    fs::write(folder.path("a.memlog"), recipe.log()).expect("write");
    folder
}

#[track_caller]
pub fn refused(output: &Output, words: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in words.iter().chain(&["memlog: error: "]) {
        assert!(said.contains(word), "'{word}' is not in: {said}");
    }
}

#[track_caller]
pub fn refuses(folder: &Folder, args: &[&str], words: &[&str]) {
    let output = command(folder, args).output().expect("run");
    refused(&output, &[words, &["memlog: hint: "]].concat());
}

#[test]
fn what_is_no_log() {
    let folder = with_log("dot-foreign");
    fs::write(
        folder.path("text"),
        "a text, longer than the header of a log would be",
    )
    .expect("write");
    refuses(
        &folder,
        &["nosuch.memlog"],
        &["cannot read the log nosuch.memlog", "No such file"],
    );
    refuses(&folder, &["/"], &["/"]);
    refuses(
        &folder,
        &["cache*nothing"],
        &["no file matches 'cache*nothing'"],
    );
    refuses(
        &folder,
        &["te?t"],
        &["no file that matches 'te?t' is a log that can be read"],
    );
    refuses(&folder, &["a[.memlog"], &["'a[.memlog' is no pattern"]);
    let output = command(&folder, &["text"]).output().expect("run");
    refused(&output, &["cannot read text"]);
    assert!(!folder.path("text.dot").exists());
    refuses(
        &folder,
        &["nosuch.memlog", "out"],
        &["cannot read the log nosuch.memlog"],
    );
    assert!(!folder.path("out").exists());
}

#[test]
fn wrong_usage() {
    let folder = with_log("dot-usage");
    refuses(
        &folder,
        &["a.memlog", "b.memlog", "c.memlog"],
        &["3 names were given", "quote the pattern"],
    );
    for words in [
        &[][..],
        &["--no-such-option", "a.memlog"],
        &["--at", "noon", "a.memlog"],
        &["-t", "200", "a.memlog"],
        &["--draw", "nicely", "a.memlog"],
        &["--leaks", "--at", "end", "a.memlog"],
        &["a.memlog", "x", "-o", "y"],
    ] {
        let output = command(&folder, words).output().expect("run");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{words:?}"
        );
    }
    for help in ["-h", "-?", "--help", "--version"] {
        assert!(
            memlog2dot(&folder, &[help]).contains("memlog2dot"),
            "{help}"
        );
    }
}

/// Names are missing, not the page.
#[test]
fn programs_that_are_gone() {
    let folder = with_log("dot-gone");
    let output = command(&folder, &["a.memlog", "--draw", "built-in"])
        .output()
        .expect("run");
    assert!(output.status.success());
    let note = "functions are shown as module and offset";
    let told = said(&output);
    assert!(
        told.starts_with("memlog: note: ") && told.contains(note),
        "{told}"
    );
    let text = fs::read_to_string(folder.path("a.memlog.txt")).expect("text");
    assert!(
        text.contains("program+0x1200") && text.contains(note),
        "{text}"
    );
}

#[test]
fn folders_that_are_none() {
    let folder = with_log("dot-folders");
    refuses(
        &folder,
        &["a.memlog", "a.memlog/x"],
        &["a.memlog/x cannot be made"],
    );
    refuses(
        &folder,
        &["a.memlog", "a.memlog"],
        &["a.memlog is there and is not a folder", "quote a pattern"],
    );
    let closed = folder.folder("closed");
    fs::set_permissions(&closed, Permissions::from_mode(0o555)).expect("chmod");
    let mode = Permissions::from_mode(0o644);
    fs::set_permissions(folder.path("a.memlog"), mode).expect("chmod");
    let tool = folder.path("copy/memlog2dot");
    folder.folder("copy");
    crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
    let as_nobody = |words: &[&str]| {
        let mut command = folder.command(&tool);
        command.args(words);
        if folder.is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().expect("run")
    };
    refused(
        &as_nobody(&["a.memlog", "closed"]),
        &[
            "no file can be written in the folder closed",
            "Permission denied",
        ],
    );
    refused(
        &as_nobody(&["a.memlog", "closed/more"]),
        &["closed/more cannot be made"],
    );
    fs::set_permissions(folder.path("a.memlog"), Permissions::from_mode(0o000)).expect("chmod");
    refused(
        &as_nobody(&["a.memlog"]),
        &["cannot read the log a.memlog", "Permission denied"],
    );
    assert_eq!(fs::read_dir(&closed).expect("list").count(), 0);
}

/// A link or a device is left alone, and so is everything else then.
#[test]
fn nothing_but_files_is_replaced() {
    let folder = with_log("dot-links");
    fs::write(folder.path("precious"), "mine").expect("write");
    std::os::unix::fs::symlink("precious", folder.path("a.memlog.svg")).expect("link");
    refuses(
        &folder,
        &["a.memlog"],
        &["a.memlog.svg is there and is not a regular file"],
    );
    assert!(!folder.path("a.memlog.dot").exists());
    assert_eq!(
        fs::read_to_string(folder.path("precious")).expect("read"),
        "mine"
    );
    fs::remove_file(folder.path("a.memlog.svg")).expect("remove");
    // What an earlier run left is replaced, and nothing is left behind.
    fs::write(folder.path("a.memlog.svg"), "old").expect("write");
    memlog2dot(&folder, &["--draw", "built-in", "a.memlog"]);
    crate::drawn(folder.root(), "a.memlog");
    let hidden = fs::read_dir(folder.root()).expect("list").flatten();
    let mut hidden = hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert!(hidden.next().is_none());
}

/// What may not be written was meant to stay, whoever runs memlog.
#[test]
fn files_that_are_read_only_are_kept() {
    let folder = with_log("dot-kept");
    fs::write(folder.path("a.memlog.txt"), "mine").expect("write");
    fs::set_permissions(folder.path("a.memlog.txt"), Permissions::from_mode(0o400)).expect("chmod");
    refuses(
        &folder,
        &["a.memlog"],
        &[
            "a.memlog.txt is there and you may not write to it",
            "ls -l a.memlog.txt",
            "give another folder",
        ],
    );
    let text = fs::read_to_string(folder.path("a.memlog.txt")).expect("read");
    assert_eq!(text, "mine");
    for ending in ["dot", "ps", "pdf", "svg"] {
        assert!(
            !folder.path(&format!("a.memlog.{ending}")).exists(),
            "{ending}"
        );
    }
}

/// Functions and addresses are for those who may read the log.
#[test]
fn who_may_not_read_the_log_may_not_read_the_page() {
    let folder = with_log("dot-modes");
    for (log_mode, file_mode) in [(0o600, 0o600), (0o640, 0o640), (0o400, 0o600)] {
        let mode = Permissions::from_mode(log_mode);
        fs::set_permissions(folder.path("a.memlog"), mode).expect("chmod");
        memlog2dot(&folder, &["--draw", "built-in", "a.memlog"]);
        for ending in ["dot", "txt", "ps", "pdf", "svg"] {
            let found = fs::metadata(folder.path(&format!("a.memlog.{ending}")));
            let mode = found.expect("stat").permissions().mode() & 0o777;
            assert_eq!(mode, file_mode, "{ending} of a log of mode {log_mode:o}");
        }
    }
}

/// Where the page cannot be written nothing of an earlier one is touched, and
/// where the pictures cannot be there are none of another moment.
#[test]
fn no_set_of_files_is_mixed() {
    let folder = with_log("dot-sets");
    let small = folder.folder("small");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=200k", "memlog-test"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("SKIPPED sets on a full disk: needs a mount, and so root");
        return;
    }
    let names = ["dot", "txt", "ps", "pdf", "svg"].map(|ending| format!("a.memlog.{ending}"));
    // So many pages are free beside what an earlier run left.
    let filled = |free: usize, old: &[String], file: &str| {
        for name in old {
            fs::write(small.join(name), "old").expect("write");
        }
        let room = fs::read_dir(&small).expect("list").count();
        let page = 4096;
        let size = (50 - room - free) * page;
        fs::write(small.join(file), vec![1; size]).expect("write");
        let output = command(&folder, &["a.memlog", "small", "--draw", "built-in"]).output();
        fs::remove_file(small.join(file)).expect("remove");
        let is_old = |name: &String| {
            fs::read_to_string(small.join(name))
                .ok()
                .map(|text| text == "old")
        };
        let left = names.each_ref().map(is_old);
        let hidden = fs::read_dir(&small).expect("list").flatten();
        let hidden = hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
        (output.expect("run"), left, hidden.count())
    };
    let none = filled(1, &names, "filler");
    for name in &names[..4] {
        fs::remove_file(small.join(name)).expect("remove");
    }
    let text = filled(2, &names[4..], "filler");
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.expect("umount").success());
    let full = ["cannot be written: No space left", "make room there"];
    refused(&none.0, &full);
    assert_eq!((none.1, none.2), ([Some(true); 5], 0));
    refused(&text.0, &full);
    // What is told of is there.
    let made = |output: &Output| {
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        told.lines()
            .filter(|line| line.starts_with("Creating "))
            .count()
    };
    assert_eq!((made(&none.0), made(&text.0)), (0, 2));
    assert_eq!(
        (text.1, text.2),
        ([Some(false), Some(false), None, None, None], 0)
    );
}

/// The files are what was asked for: who hears the messages does not matter.
#[test]
fn a_broken_pipe_is_no_error() {
    let folder = with_log("dot-pipe");
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let mut command = command(&folder, &["--draw", "built-in", "a.memlog"]);
    let status = command
        .stdout(writer)
        .stderr(Stdio::null())
        .status()
        .expect("run");
    assert_eq!(status.code(), Some(0));
    crate::drawn(folder.root(), "a.memlog");
}

/// A file system of a few pages, which takes root to make.
#[test]
fn a_full_disk() {
    let folder = with_log("dot-full");
    let small = folder.folder("small");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "memlog-test"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("SKIPPED a full disk: needs a mount, and so root");
        return;
    }
    fs::write(small.join("filler"), vec![1; 12 << 10]).expect("write");
    let output = command(&folder, &["a.memlog", "small", "--draw", "built-in"]).output();
    let left: Vec<_> = fs::read_dir(&small)
        .expect("list")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.expect("umount").success());
    refused(
        &output.expect("run"),
        &["cannot be written: No space left", "make room there"],
    );
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with('.')),
        "{left:?}"
    );
}
