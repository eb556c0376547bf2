//! Names: what lies where the log would be is never followed or written to.

use crate::{Facts, MANY, NOBODY, is_root, mode, names, same};
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

const PRECIOUS: &[u8] = b"precious";

fn succeeds(program: &str, words: &[&str]) -> bool {
    let status = Command::new(program)
        .args(words)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// A link to a file, one to nowhere, a FIFO, a folder, a file and a device at
/// the first names: the log takes the first that is free.
#[test]
fn what_lies_at_the_name_is_passed_over() {
    let facts = Facts::new("taken");
    let place = facts.folder.folder("logs");
    fs::write(facts.folder.path("target"), PRECIOUS).expect("write");
    fs::write(place.join("it.memlog"), PRECIOUS).expect("write");
    symlink("../target", place.join("it.2.memlog")).expect("symlink");
    symlink("../nowhere", place.join("it.3.memlog")).expect("symlink");
    symlink("/proc/self/mem", place.join("it.4.memlog")).expect("symlink");
    let fifo = place.join("it.5.memlog");
    assert!(succeeds("mkfifo", &[fifo.to_str().expect("text")]));
    fs::create_dir(place.join("it.6.memlog")).expect("mkdir");
    let device = place.join("it.7.memlog");
    if !succeeds("mknod", &[device.to_str().expect("text"), "c", "1", "3"]) {
        println!("SKIPPED a device at the log's name: mknod is refused");
        fs::write(&device, PRECIOUS).expect("write");
    }
    same(|recorded| {
        let mut command = facts.command(":", &["1000"], recorded);
        command.env("MEMLOG_OUTPUT", place.join("it.memlog"));
        command
    });
    assert_eq!(
        fs::read(facts.folder.path("target")).expect("read"),
        PRECIOUS
    );
    assert_eq!(fs::read(place.join("it.memlog")).expect("read"), PRECIOUS);
    assert!(!facts.folder.path("nowhere").exists());
    assert_eq!(names(&place.join("it.6.memlog")), [""; 0]);
    let log = place.join("it.8.memlog");
    assert_eq!(mode(&log), 0o600);
    assert!(facts.folder.stats(&log).number("allocations") > 1000);
}

/// The folder is the user's to name: a link to one is followed. A link to a
/// file, or a file, is none: no log, and one line that says so.
#[test]
fn a_link_at_the_folder() {
    let facts = Facts::new("folder-link");
    let real = facts.folder.folder("real");
    symlink("real", facts.folder.path("link")).expect("symlink");
    same(|recorded| {
        let mut command = facts.command(":", &["10"], recorded);
        command.env("MEMLOG_DIR", facts.folder.path("link"));
        command
    });
    assert_eq!(names(&real).len(), 1);
    fs::write(facts.folder.path("target"), PRECIOUS).expect("write");
    symlink("target", facts.folder.path("file-link")).expect("symlink");
    let before = names(facts.folder.root());
    let mut command = facts.command(":", &["10"], true);
    let output = command
        .env("MEMLOG_DIR", facts.folder.path("file-link"))
        .output();
    let output = output.expect("run");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("memlog: no log of process "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(
        fs::read(facts.folder.path("target")).expect("read"),
        PRECIOUS
    );
    assert_eq!(names(facts.folder.root()), before);
}

/// Who wants none says so by a device; a root's log lies not beside it then.
#[test]
fn nowhere_is_no_place_for_a_log() {
    let facts = Facts::new("nowhere");
    let beside = || {
        let mut names = names(Path::new("/dev"));
        names.retain(|name| name.starts_with("null"));
        names
    };
    let before = beside();
    let mut command = facts.command(":", &["10"], true);
    let output = command.env("MEMLOG_OUTPUT", "/dev/null").output();
    let output = output.expect("run");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("memlog: no log of process "), "{said}");
    assert!(said.contains(" /dev/null "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(beside(), before);
}

/// A folder in which anybody may do anything: another user takes the log away
/// and puts something else there. Nothing of that is written to or waited for,
/// and the program goes on.
#[test]
fn another_user_takes_the_log_away() {
    let facts = Facts::new("hostile");
    if !is_root(&facts.folder, "another user in the folder of logs") {
        return;
    }
    fs::write(facts.folder.path("precious"), PRECIOUS).expect("write");
    let tricks = [
        "rm LOG; ln -s ../precious LOG",
        "rm LOG; mkfifo LOG",
        "rm LOG; mkdir LOG",
        "rm LOG; touch LOG; chmod 666 LOG",
        "mv LOG x; ln -s /dev/zero LOG",
        "rm LOG",
    ];
    let native = facts
        .command(":", &[MANY, "wait"], false)
        .output()
        .expect("run");
    for (turn, trick) in tricks.iter().enumerate() {
        let place = facts.open_folder(&format!("hostile{turn}"));
        let log = place.join("it.memlog");
        let mut command = facts.command(":", &[MANY, "wait"], true);
        command.env("MEMLOG_OUTPUT", &log);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("run");
        let mut output = child.stdout.take().expect("piped");
        let mut told = Vec::new();
        while !told.ends_with(b"half\n") {
            let mut byte = [0];
            assert_eq!(
                output.read(&mut byte).expect("read"),
                1,
                "{trick}: it ended"
            );
            told.extend(byte);
        }
        let script = trick.replace("LOG", "it.memlog");
        let mut hand = Command::new("setpriv");
        hand.args([
            &format!("--reuid={NOBODY}"),
            &format!("--regid={NOBODY}"),
            "--clear-groups",
        ]);
        let status = hand
            .args(["sh", "-c", &script])
            .current_dir(&place)
            .status();
        assert!(status.expect("setpriv").success(), "{trick}");
        let at_log = fs::symlink_metadata(&log).ok();
        child
            .stdin
            .take()
            .expect("piped")
            .write_all(b"x")
            .expect("write");
        output.read_to_end(&mut told).expect("read");
        assert_eq!(child.wait().expect("wait").code(), Some(3), "{trick}");
        // Without a byte to read the native run says so, in the one line more.
        let same_end = |text: &[u8]| {
            String::from_utf8_lossy(text)
                .lines()
                .last()
                .map(str::to_owned)
        };
        assert_eq!(same_end(&told), same_end(&native.stdout), "{trick}");
        assert_eq!(
            fs::read(facts.folder.path("precious")).expect("read"),
            PRECIOUS,
            "{trick}"
        );
        let now = fs::symlink_metadata(&log).ok();
        let kind =
            |found: Option<fs::Metadata>| found.map(|found| (found.file_type(), found.len()));
        assert_eq!(
            kind(now),
            kind(at_log),
            "{trick}: what was put there is as it was"
        );
        fs::set_permissions(&place, Permissions::from_mode(0o755)).expect("chmod");
    }
}
