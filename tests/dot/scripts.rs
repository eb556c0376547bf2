//! `make -C scripts pdf`: a log is found, or given, and drawn where make was
//! called.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::sites::{Folder, said};

/// With a memlog that is installed in the folder.
fn make(folder: &Folder, words: &[&str]) -> Output {
    let bin = folder.folder("prefix/bin");
    if !bin.join("memlog").exists() {
        crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), bin.join("memlog"));
    }
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut command = folder.command("make");
    command.args(["-s", "-C"]).arg(scripts).args(words);
    command.arg(format!("PREFIX={}", folder.path("prefix").display()));
    // Nothing is built there: the installed one is taken.
    command.env("CARGO_TARGET_DIR", folder.path("unbuilt"));
    command.env("PWD", folder.root());
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        command.env_remove(name);
    }
    command.output().expect("make runs")
}

#[test]
fn the_newest_log_is_drawn_or_the_one_that_is_given() {
    let folder = Folder::new("make-pdf");
    let output = make(&folder, &["pdf"]);
    assert!(!output.status.success());
    assert!(
        said(&output).contains("give one, LOG=FILE"),
        "{}",
        said(&output)
    );
    for name in ["old.memlog", "new.memlog"] {
        folder.says(&["record", "-o", name, "true"]);
    }
    let past = std::time::SystemTime::UNIX_EPOCH;
    let old = fs::File::options()
        .append(true)
        .open(folder.path("old.memlog"))
        .expect("open");
    old.set_modified(past).expect("its time");
    let output = make(&folder, &["pdf"]);
    assert!(output.status.success(), "{}", said(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.contains("the newest log is ") && told.contains("new.memlog.pdf"),
        "{told}"
    );
    crate::drawn(folder.root(), "new.memlog");
    assert!(make(&folder, &["svg", "LOG=old.memlog"]).status.success());
    crate::drawn(folder.root(), "old.memlog");
}
