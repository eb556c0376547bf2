//! What the user sets and leaves behind: outputs that exist, nonsense in the
//! settings, closed streams. The program does as it does natively, and nothing
//! is recorded worse than without the nonsense.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::MANY;
use crate::sites::run::{Noisy, accounted};
use crate::sites::{Folder, said};

/// What lies there already is neither overwritten nor followed.
#[test]
fn an_existing_output() {
    let folder = Folder::new("existing");
    let program = Noisy::new(&folder);
    fs::write(folder.path("it.memlog"), "mine").expect("write");
    fs::write(folder.path("target"), "mine").expect("write");
    symlink("target", folder.path("it.2.memlog")).expect("symlink");
    symlink("missing", folder.path("it.3.memlog")).expect("symlink");
    fs::create_dir(folder.path("it.4.memlog")).expect("mkdir");
    let log = folder.path("it.memlog");
    program.same(|| program.logging(&folder, 1000, &log), false);
    accounted(&folder.stats(&folder.path("it.5.memlog")), 1000, 2000);
    for name in ["it.memlog", "target"] {
        assert_eq!(fs::read(folder.path(name)).expect("read"), b"mine");
    }
    assert!(!folder.path("missing").exists());
    program.same(|| program.logging(&folder, 1000, &log), false);
    accounted(&folder.stats(&folder.path("it.6.memlog")), 1000, 2000);
}

/// A pattern that names a folder means a log in that folder.
#[test]
fn an_output_that_is_a_folder() {
    let folder = Folder::new("output-folder");
    let program = Noisy::new(&folder);
    for (name, value) in [("plain", "plain"), ("slash", "slash/"), ("dot", "dot/.")] {
        let inner = folder.folder(name);
        program.same(
            || program.logging(&folder, 1000, &folder.path(value)),
            false,
        );
        let logs = folder.logs(name);
        assert_eq!(logs.len(), 1, "in {}", inner.display());
        accounted(&folder.stats(&logs[0]), 1000, 2000);
    }
    let mut all: Vec<_> = fs::read_dir(folder.root())
        .expect("list")
        .flatten()
        .collect();
    all.retain(|entry| !entry.path().is_dir() && entry.file_name() != "noisy");
    assert!(all.is_empty(), "beside the folders: {all:?}");
}

/// What cannot be understood is noted and left at its default.
#[test]
fn nonsense_in_the_settings() {
    let folder = Folder::new("nonsense");
    let program = Noisy::new(&folder);
    let long = "x".repeat(100_000);
    let cases = [
        ("MEMLOG_MAX_LOG", "lots", true),
        ("MEMLOG_MAX_LOG", "-1", true),
        ("MEMLOG_MAX_LOG", "99999999999999999999", true),
        ("MEMLOG_FLIGHT_RECORDER", "round", true),
        ("MEMLOG_FREE_STACKS", "maybe", true),
        ("MEMLOG_FOLLOW_EXEC", "17", true),
        ("MEMLOG_OFF", "\u{1b}[31m", true),
        ("MEMLOG_ROOT", "x", false),
        ("MEMLOG_NO_SUCH_SETTING", "1", true),
        ("MEMLOG_SINK", "kitchen", true),
        ("MEMLOG_", "x", true),
        ("MEMLOG_", "", false),
        ("MEMLOG_RANKS", "1-,-,x", true),
        ("MEMLOG_RANK", "a/b\n", false),
        ("MEMLOG_RANKS", "3-1", true),
        ("MEMLOG_RANKS", "0,2-4", false),
        ("MEMLOG_OOM_GUARD", "100", true),
        ("MEMLOG_OOM_GUARD", "5%,stop", false),
        ("MEMLOG_OOM_GUARD", "0", false),
        ("MEMLOG_MAX_LOG", "1Gib", false),
        ("MEMLOG_MAX_LOG", "1GBi", true),
        ("MEMLOG_FLIGHT_RECORDER", "on", false),
        ("MEMLOG_FREE_STACKS", "", false),
        ("MEMLOG_OUTPUT", "", false),
        ("MEMLOG_DIR", "", false),
        ("MEMLOG_DIR", ".", false),
        ("MEMLOG_OUTPUT", "%", true),
        ("MEMLOG_OUTPUT", "%z%.memlog", true),
        ("MEMLOG_OUTPUT", long.as_str(), true),
        ("MEMLOG_DIR", long.as_str(), true),
    ];
    for (turn, (name, value, noted)) in cases.into_iter().enumerate() {
        let place = folder.folder(&format!("turn{turn}"));
        let run = || {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command
                .current_dir(&place)
                .env("MEMLOG_RANK", "3")
                .env(name, value);
            command
        };
        program.same(run, false);
        let log = fs::read_dir(&place).expect("list").flatten().next();
        let log = log.unwrap_or_else(|| panic!("{name} made no log")).path();
        accounted(&folder.stats(&log), 1000, 2000);
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        let note = info.lines().find(|line| line.starts_with("note "));
        let names_it = note.is_some_and(|note| note.contains(name));
        assert_eq!(names_it, noted, "{name}={:.20}: {note:?}", value);
        assert!(!info.contains('\u{1b}'), "the terminal obeys a setting");
        record_agrees(&folder, (name, value), noted);
    }
}

/// What the recorder would but note is refused before the program runs, where
/// the variable is one that stands for a size, a list, a word.
fn record_agrees(folder: &Folder, (name, value): (&str, &str), noted: bool) {
    let is_known = [
        "MEMLOG_MAX_LOG",
        "MEMLOG_FLIGHT_RECORDER",
        "MEMLOG_OOM_GUARD",
        "MEMLOG_RANKS",
        "MEMLOG_FREE_STACKS",
        "MEMLOG_FOLLOW_EXEC",
        "MEMLOG_OFF",
        "MEMLOG_SINK",
    ]
    .contains(&name);
    if !is_known {
        return;
    }
    let mut record = folder.memlog(&["record", "echo", "it ran"]);
    let output = record.env(name, value).output().expect("memlog runs");
    let said = said(&output);
    let starts = !output.stdout.is_empty();
    assert_eq!(output.status.code(), Some(if noted { 2 } else { 0 }));
    assert_eq!(starts, !noted, "{name}={value}: {said}");
    let is_named = said.starts_with(&format!("memlog: error: {name}="));
    assert_eq!(is_named, noted, "{said}");
    assert!(!said.contains('\u{1b}'), "the terminal obeys a setting");
}

/// A path that is too long, whole or in a part: no log, and a whole line.
#[test]
fn an_output_with_too_long_a_name() {
    let folder = Folder::new("long");
    let program = Noisy::new(&folder);
    for length in [300, 1000, 1020, 1024, 3000] {
        let log = folder.path(&"x".repeat(length));
        program.same(|| program.logging(&folder, 1000, &log), true);
    }
}

/// The recorder's own file never takes the number of one that was closed, nor
/// does a line of it reach a file that the program opened.
#[test]
fn closed_streams() {
    let folder = Folder::new("closed");
    let program = Noisy::new(&folder);
    for (turn, after) in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
        .into_iter()
        .enumerate()
    {
        let log = folder.path(&format!("{turn}.memlog"));
        for place in [log.as_path(), Path::new("/no/such/folder/x.memlog")] {
            let run = || {
                let mut command = program.shell(&folder, ":", &[&MANY.to_string()], after);
                command.env("MEMLOG_OUTPUT", place);
                command
            };
            program.same(run, place != log);
        }
        accounted(&folder.stats(&log), MANY, 2 * MANY);
    }
}

/// `record` too ends as the program does when nobody listens.
#[test]
fn record_with_closed_streams() {
    let folder = Folder::new("record-closed");
    let program = Noisy::new(&folder);
    for (turn, after) in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
        .into_iter()
        .enumerate()
    {
        let native = program
            .shell(&folder, ":", &["1000"], after)
            .output()
            .expect("run");
        let log = folder.path(&format!("{turn}.memlog"));
        let mut record = folder.command("sh");
        let script = format!("exec \"$0\" \"$@\" {after}");
        record.args(["-c", &script, env!("CARGO_BIN_EXE_memlog"), "record", "-o"]);
        let output = record
            .arg(&log)
            .arg(&program.program)
            .arg("1000")
            .output()
            .expect("run");
        // std opens /dev/null in the place of what is closed, so the file's
        // number, which the status tells, is that of a program with all three.
        let opened = output.status.code() == Some(43);
        assert!(opened || output.status == native.status, "{output:?}");
        accounted(&folder.stats(&log), 1000, 2000);
    }
}
