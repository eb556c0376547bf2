//! What a run that fails or is killed leaves in the folder: nothing, at the
//! latest when the next one has come.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::errors::{NOBODY, refused, refuses, with_log};
use crate::memlog2dot;

/// The process of this number has ended.
fn gone() -> u32 {
    let mut child = Command::new("true").spawn().expect("true");
    child.wait().expect("wait");
    child.id()
}

#[test]
fn what_killed_runs_left_is_removed() {
    let folder = with_log("dot-abandoned");
    let (gone, me) = (gone(), std::process::id());
    let left = |name: String, days: u64| {
        let file = File::create(folder.path(&name)).expect("create");
        let time = SystemTime::now() - Duration::from_secs(24 * 3600 * days);
        file.set_modified(time).expect("touch");
        name
    };
    let abandoned = [
        left(format!(".memlog2dot.{gone}.0"), 5),
        left(format!(".memlog2dot.{gone}.17"), 5),
    ];
    let others = [
        left(format!(".memlog2dot.{me}.0"), 5),
        left(format!(".memlog2dot.{gone}.1"), 0),
        left(format!(".memlog2dot.{gone}.x"), 5),
        left(format!(".memlog2dot.{gone}."), 5),
        left(format!(".memlog2dot.{gone}.0.txt"), 5),
        left(format!("memlog2dot.{gone}.0"), 5),
    ];
    let link = folder.path(&format!(".memlog2dot.{gone}.2"));
    symlink("a.memlog", &link).expect("link");
    memlog2dot(&folder, &["--draw", "built-in", "a.memlog"]);
    for name in &abandoned {
        assert!(!folder.path(name).exists(), "{name} is there");
    }
    for name in &others {
        assert!(folder.path(name).exists(), "{name} is gone");
    }
    assert!(link.symlink_metadata().is_ok());
}

/// Nor the folder that was to hold the files.
#[test]
fn a_refused_moment_leaves_no_folder() {
    let folder = with_log("dot-moment");
    let words = ["--at", "5", "a.memlog", "new/folder"];
    refuses(&folder, &words, &["--at 5 s is after"]);
    assert!(!folder.path("new").exists());
    folder.folder("old");
    refuses(&folder, &["--at", "5", "a.memlog", "old"], &["is after"]);
    assert!(folder.path("old").exists());
}

/// In a sticky folder another's file may be written, and not be replaced.
#[test]
fn what_cannot_be_replaced_is_told() {
    let folder = with_log("dot-sticky");
    if !folder.is_root() {
        println!("SKIPPED files that cannot be replaced: needs another user");
        return;
    }
    let tool = folder.path("memlog2dot");
    crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("chmod");
    };
    allow(&folder.path("a.memlog"), 0o644);
    let sticky = folder.folder("sticky");
    fs::write(sticky.join("a.memlog.txt"), "mine").expect("write");
    allow(&sticky.join("a.memlog.txt"), 0o666);
    allow(&sticky, 0o1777);
    chown(&sticky, Some(0), None).expect("chown");
    let mut command = folder.command(&tool);
    let command = command.args(["a.memlog", "sticky"]);
    let output = command.uid(NOBODY).gid(NOBODY).output().expect("run");
    let told = [
        "sticky/a.memlog.txt cannot be replaced: ",
        "; new by then: sticky/a.memlog.dot\n",
        "hint: remove it, or give another folder",
    ];
    refused(&output, &told);
    let text = fs::read_to_string(sticky.join("a.memlog.txt")).expect("read");
    assert_eq!(text, "mine");
    let names = fs::read_dir(&sticky).expect("list").count();
    assert_eq!(names, 2);
}
