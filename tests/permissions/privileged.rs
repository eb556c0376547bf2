//! A program that runs with another's rights: no log, no setting obeyed, not a
//! word. The loader drops LD_PRELOAD by itself there, so the recorder is linked.

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{DAEMON, Facts, NOBODY, build, is_root, names};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How a file gives rights to who starts it, and what a native run shows then.
struct Way {
    name: &'static str,
    give: fn(&Path) -> bool,
    shows: &'static str,
}

fn owned(path: &Path, user: Option<u32>, group: Option<u32>, mode: u32) -> bool {
    chown(path, user, group).expect("chown");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("chmod");
    true
}

fn capable(path: &Path) -> bool {
    let status = Command::new("setcap")
        .arg("cap_net_raw+ep")
        .arg(path)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

const WAYS: &[Way] = &[
    Way {
        name: "setuid for root",
        give: |path| owned(path, Some(0), None, 0o4755),
        shows: "uid 65534 0 gid",
    },
    Way {
        name: "setuid for another user",
        give: |path| owned(path, Some(DAEMON), None, 0o4755),
        shows: "uid 65534 1 gid",
    },
    Way {
        name: "setuid and not to be read",
        give: |path| owned(path, Some(DAEMON), None, 0o4711),
        shows: "uid 65534 1 gid",
    },
    Way {
        name: "setgid",
        give: |path| owned(path, None, Some(DAEMON), 0o2755),
        shows: "gid 65534 1",
    },
    Way {
        name: "a capability of the file",
        give: capable,
        shows: "CapEff:\t0000000000002000",
    },
];

/// `facts.c` without the recorder and with it, in the ways to link it.
fn linked(facts: &Facts) -> Vec<(&'static str, PathBuf, PathBuf)> {
    let lib = facts
        .library
        .parent()
        .expect("a folder")
        .to_str()
        .expect("text");
    let shape = |kind: &str, name: &str, also: &[&str]| {
        let said = facts.folder.says(&["ldflags", kind, "--lib", lib]);
        let mut flags: Vec<&str> = also.to_vec();
        let plain = build(&facts.folder, &format!("{name}-plain"), &flags);
        flags.extend(said.split_whitespace());
        (plain, build(&facts.folder, name, &flags))
    };
    let mut all = Vec::new();
    for (title, kind, name, also) in [
        ("static", "--static", "fixed", &["-static"] as &[&str]),
        ("static-pie", "--static", "movable", &["-static-pie"]),
        ("shared libraries", "--dynamic", "shared", &[]),
    ] {
        let (plain, with) = shape(kind, name, also);
        all.push((title, plain, with));
    }
    all
}

/// A copy with nothing special yet.
fn copy(folder: &Folder, program: &Path, name: &str) -> PathBuf {
    let path = folder.path(name);
    let _ = fs::remove_file(&path);
    crate::runnable::copy(program, &path);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
    path
}

/// Under what a program runs: shell text that ends in what starts it.
const NO_PROC: &str = "umount -l /proc || exit 90; exec ";
const OLDER: &str = "exec older_kernel ";
const SURROUNDINGS: [(&str, &str); 4] = [
    ("", "exec "),
    (" without /proc", NO_PROC),
    (" on an older kernel", OLDER),
    (
        " on an older kernel without /proc",
        "umount -l /proc || exit 90; exec older_kernel ",
    ),
];

/// As nobody, in a folder of his, with settings that ask for all.
fn run(folder: &Folder, program: &Path, place: &Path, before: &str) -> Output {
    let mut command = folder.command("unshare");
    let script =
        format!("{before}setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups \"$0\" \"$@\"");
    command
        .args(["-m", "sh", "-c", &script])
        .arg(program)
        .arg("5000");
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .current_dir(place)
        .env("PATH", format!("{}:{path}", folder.root().display()))
        .env("MEMLOG_DIR", place)
        .env("MEMLOG_OUTPUT", place.join("it.%p.memlog"))
        .env("MEMLOG_VERIFY", "1")
        .env("MEMLOG_NONSENSE", "1");
    command.output().expect("run")
}

/// What differs between two runs of one program by another name.
fn told(output: &Output) -> (String, String, Option<i32>) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text, said(output), output.status.code())
}

/// The programs of one way to link, with no rights of another's and with them.
struct Pair<'a> {
    folder: &'a Folder,
    place: &'a Path,
    plain: &'a Path,
    with: &'a Path,
}

impl Pair<'_> {
    /// Runs both; they say and do the same. The status, and what they said.
    #[track_caller]
    fn run(&self, give: fn(&Path) -> bool, before: &str, what: &str) -> Option<(i32, String)> {
        let plain = copy(self.folder, self.plain, "plain");
        let with = copy(self.folder, self.with, "with");
        if !give(&plain) || !give(&with) {
            println!("SKIPPED {what}: the file system or setcap refuses");
            return None;
        }
        let native = told(&run(self.folder, &plain, self.place, before));
        assert_eq!(
            told(&run(self.folder, &with, self.place, before)),
            native,
            "{what}"
        );
        Some((native.2.unwrap_or(-1), native.0))
    }

    /// Whether it could be seen that a program with another's rights is left
    /// alone.
    fn is_left_alone(&self, way: &Way, before: &str, what: &str) -> bool {
        let Some((status, text)) = self.run(way.give, before, what) else {
            return false;
        };
        // What shows it is not there without /proc, if it is a capability.
        let is_shown = text.contains(way.shows)
            || way.shows.starts_with("CapEff") && before.contains("umount");
        if status == 90 || !is_shown {
            println!("SKIPPED {what}: refused, or the bit does not count here");
            return false;
        }
        assert_eq!(status, 3, "{what}: {text}");
        assert_eq!(names(self.place), [""; 0], "{what}: a log");
        true
    }
}

#[test]
fn a_program_with_anothers_rights_is_left_alone() {
    let facts = Facts::new("privileged");
    if !is_root(&facts.folder, "programs with another's rights") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permissions/older_kernel.c");
    GCC.build_file(&facts.folder, &source, "older_kernel", &[] as &[&str]);
    let place = facts.open_folder("place");
    let mut looked_at = 0;
    for (title, plain, with) in linked(&facts) {
        let pair = Pair {
            folder: &facts.folder,
            place: &place,
            plain: &plain,
            with: &with,
        };
        for (around, before) in SURROUNDINGS {
            // What makes the rest mean something: without such rights it records.
            let tame = pair.run(|_| true, before, title);
            if tame.is_some_and(|(status, _)| status == 3) {
                let logs = names(&place);
                assert_eq!(
                    logs.len(),
                    1,
                    "{title}{around} records where nothing forbids it"
                );
                fs::remove_file(place.join(&logs[0])).expect("rm");
            }
            for way in WAYS {
                let what = format!("{title}, {}{around}", way.name);
                looked_at += usize::from(pair.is_left_alone(way, before, &what));
            }
        }
    }
    println!("{looked_at} programs with another's rights left no log and said nothing");
    assert!(looked_at > 0);
}

/// A file that its user may run and not read gives no rights; nor is there
/// anything to read without /proc. Such a program runs as ever, and is recorded.
#[test]
fn a_program_that_may_not_be_read_runs_as_ever() {
    let facts = Facts::new("unreadable");
    let folder = &facts.folder;
    if !is_root(folder, "a program that may be run and not read") {
        return;
    }
    let place = facts.open_folder("place");
    let program = copy(folder, &facts.program, "unreadable");
    owned(&program, None, None, 0o711);
    for before in ["exec ", NO_PROC] {
        let native = run(folder, &program, &place, before);
        let preload = format!("export LD_PRELOAD={}; {before}", facts.library.display());
        let recorded = run(folder, &program, &place, &preload);
        assert_eq!(told(&recorded), told(&native), "{before}");
        assert_eq!(native.status.code(), Some(3), "{before}");
        // setpriv was preloaded too, and umount.
        let logs = names(&place);
        let of_it = |log: &&String| folder.stats(&place.join(log)).number("allocations") > 5000;
        assert_eq!(logs.iter().filter(of_it).count(), 1, "{logs:?}");
        for log in logs {
            assert_eq!(crate::mode(&place.join(&log)), 0o600);
            fs::remove_file(place.join(log)).expect("rm");
        }
    }
}

/// `memlog record` of such a program runs nothing, and says why.
#[test]
fn record_refuses_what_the_loader_would_not_preload() {
    let facts = Facts::new("refused");
    if !is_root(&facts.folder, "record of a setuid program") {
        return;
    }
    let program = copy(&facts.folder, &facts.program, "setuid");
    owned(&program, Some(DAEMON), None, 0o4755);
    let mut command = facts.folder.memlog(&["record"]);
    let output = command.arg(&program).output().expect("memlog runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("is setuid"), "{}", said(&output));
    assert!(output.stdout.is_empty(), "it ran");
}
