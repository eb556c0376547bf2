//! Builds the recorder, a workspace of its own, and hands its products to the
//! command, which carries them: one copied file is the whole tool.
//!
//! The recorder's build sees none of the flags and wrappers of this one: what
//! suits a command-line program (a sanitizer, another linker, coverage) would
//! end up inside the profiled program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What a compiler and a linker need to be found and to work.
const ENVIRONMENT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CC",
    "AR",
    "CARGO_NET_OFFLINE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    for folder in ["wrap", "staticlib", "cdylib", "format/src"] {
        watch(&root.join(folder));
    }
    let target = out.join("recorder");
    let cargo = env::var_os("CARGO").expect("set by cargo");
    let mut build = clean_command(cargo.as_ref());
    build
        .current_dir(root.join("wrap"))
        .args(["build", "--release", "--locked", "--target-dir"])
        .arg(&target)
        .args(["-p", "memlog-cdylib", "-p", "memlog-staticlib"]);
    run(&mut build, "building the recorder");

    let compiler = env::var_os("CC").unwrap_or("cc".into());
    let mut link = clean_command(root.join("cdylib/link").as_ref());
    link.arg(&compiler)
        .arg(target.join("release/libmemlog_dynamic.a"))
        .arg(out.join("libmemlog.so"));
    run(&mut link, "linking libmemlog.so");

    let mut link = clean_command(root.join("cdylib/link-operators").as_ref());
    link.arg(compiler).arg(&out);
    run(&mut link, "linking libmemlog_new.so");

    let mut prelink = clean_command(root.join("staticlib/prelink").as_ref());
    prelink
        .arg("")
        .arg(target.join("release/libmemlog_static.a"))
        .arg(&out);
    run(&mut prelink, "making memlog_s.a");
}

/// Cargo asks again when a file in the folder changed; a build's own products
/// do not count.
fn watch(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == "target") {
            continue;
        }
        if path.is_dir() {
            watch(&path);
        } else {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn clean_command(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ENVIRONMENT {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

fn run(command: &mut Command, what: &str) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{what} failed ({status}): {command:?}"),
        Err(error) => panic!("{what} could not start ({error}): {command:?}"),
    }
}
