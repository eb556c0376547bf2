//! The header's relatives: a Fortran module, a Rust crate, a Python file.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sites::build::{GFORTRAN, RUSTC, rust_target};
use crate::sites::{Folder, said};
use crate::{included, marks_of, recorded, told};

/// It says that it is recorded, and the name of its thread and its marks are in the log.
#[track_caller]
fn speaks(folder: &Folder, program: &Command, thread: &str, marks: &[&str]) {
    let (log, output) = recorded(folder, "it.memlog", program);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("on"), "{text}");
    has_said(folder, &log, thread, marks);
}

#[track_caller]
fn has_said(folder: &Folder, log: &Path, thread: &str, marks: &[&str]) {
    assert_eq!(marks_of(folder, log), marks);
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    assert!(page.contains(thread), "{page}");
}

/// In the log there is such a block of this scope, and none outside of it.
#[track_caller]
fn has_scope(folder: &Folder, scope: &str, size: &str) {
    let log = folder.path("it.memlog");
    let filter = format!("size {size}");
    let page = told(
        folder,
        &["table", "--by", "scope", "--where", &filter],
        &log,
    );
    let rows = page["rows"].as_array().expect("rows").iter();
    let names: Vec<_> = rows.map(|row| row["name"].as_str().expect("it")).collect();
    assert_eq!(names, [scope], "{page:#}");
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{command:?}: {}", said(&output));
}

#[test]
fn fortran_may_mark() {
    if !GFORTRAN.is_here("the Fortran module") {
        return;
    }
    let folder = Folder::new("header-fortran");
    let mut command = folder.command("gcc");
    command.arg("-c").arg(included("memlog_fortran.c"));
    succeeds(command.args(["-o", "c.o"]));
    let source = folder.path("it.f90");
    let code = "program it\n use memlog\n implicit none\n real(8), allocatable :: a(:)\n \
        call memlog_name_thread('solver')\n call memlog_mark('before  ')\n \
        call memlog_scope_begin('load  ')\n allocate(a(12345))\n call memlog_scope_end()\n a = 1\n \
        call memlog_snapshot()\n call memlog_sync()\n if (memlog_is_recording()) print *, 'on', sum(a)\n\
        end program\n";
    std::fs::write(&source, code).expect("a file");
    let mut command = folder.command(GFORTRAN.name);
    command.arg(included("memlog.f90")).arg(&source);
    succeeds(command.args(["c.o", "-o", "it"]));
    let program = Command::new(folder.path("it"));
    speaks(&folder, &program, "solver", &["before", "snapshot 1"]);
    has_scope(&folder, "load", "= 98760");
}

const RUST: &str = r#"
fn main() {
    memlog_marks::name_thread("loader");
    memlog_marks::mark("ein ä");
    memlog_marks::mark(&"x".repeat(300));
    memlog_marks::snapshot();
    {
        let _load = memlog_marks::scope("lädt");
        let _parse = memlog_marks::scope("parse");
        std::hint::black_box(vec![1u8; 123_457]);
    }
    memlog_marks::sync();
    println!("{}", if memlog_marks::is_recording() { "on" } else { "off" });
}
"#;

/// Built with the crate, and with these options for both.
fn rust_program(folder: &Folder, options: &[&str], link: &[&str]) -> PathBuf {
    let options = [options, &["--edition", "2021"]].concat();
    let mut command = folder.command(RUSTC.name);
    command.args(["--crate-type", "rlib", "--crate-name", "memlog_marks"]);
    command.args(&options).args(["-D", "warnings"]);
    succeeds(command.arg(included("rust/src/lib.rs")));
    let source = folder.path("it.rs");
    std::fs::write(&source, RUST).expect("a file");
    let mut command = folder.command(RUSTC.name);
    command.args(&options).args(link);
    command.args(["--extern", "memlog_marks=libmemlog_marks.rlib"]);
    succeeds(command.arg(&source));
    folder.path("it")
}

#[test]
fn rust_may_mark() {
    let folder = Folder::new("header-rust");
    let program = rust_program(&folder, &[], &[]);
    let native = folder.command(&program).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&native.stdout), "off\n");
    let marks = ["ein ä", &"x".repeat(128), "snapshot 1"];
    speaks(&folder, &Command::new(program), "loader", &marks);
    has_scope(&folder, "lädt/parse", "= 123457");
}

#[test]
fn static_rust_may_mark() {
    let folder = Folder::new("header-rust-static");
    let file = folder.recorder().join("memlog_s_ld_cmds");
    let link = format!("link-arg=@{}", file.display());
    let target = rust_target();
    let options = [
        "--target",
        &target,
        "-C",
        "target-feature=+crt-static",
        "--cfg",
        "feature=\"linked\"",
    ];
    let program = rust_program(&folder, &options, &["-C", &link]);
    let log = folder.path("it.memlog");
    let output = folder.command(program).env("MEMLOG_OUTPUT", &log).output();
    assert_eq!(output.expect("it runs").stdout, b"on\n");
    let marks = ["ein ä", &"x".repeat(128), "snapshot 1"];
    has_said(&folder, &log, "loader", &marks);
    has_scope(&folder, "lädt/parse", "= 123457");
}

#[test]
fn python_may_mark() {
    let folder = Folder::new("header-python");
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        println!("SKIPPED marks of Python: there is no {python}");
        return;
    }
    let code = "import memlog\nwith memlog.scope('load'):\n block = bytearray(7654321)\nmemlog.mark('one'); memlog.snapshot(); memlog.sync(); \
        memlog.name_thread('reader'); print('on' if memlog.is_recording() else 'off')";
    let mut command = folder.command(python);
    command.args(["-c", code]);
    command.env("PYTHONPATH", included("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let native = command.output().expect("python");
    let text = String::from_utf8_lossy(&native.stdout);
    assert_eq!(text, "off\n", "{}", said(&native));
    speaks(&folder, &command, "reader", &["one", "snapshot 1"]);
    has_scope(&folder, "load", ">= 7654321");
}
