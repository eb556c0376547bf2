//! Builds the recorder, a workspace of its own, and hands its products to the
//! command, which carries them: one copied file is the whole tool.
//!
//! The recorder's build sees none of the flags and wrappers of this one: what
//! suits a command-line program (a sanitizer, another linker, coverage) would
//! end up inside the profiled program. Nor does it tell where it was built: the
//! same sources are the same bytes.

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
    "RUSTC",
    "CARGO_NET_OFFLINE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
];

/// The `lib` of ppc64-cross/build, for a command that is to run on another
/// machine: its recorder is not built here.
const GIVEN: &str = "MEMLOG_RECORDER";

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-env-changed={GIVEN}");
    match env::var_os(GIVEN) {
        Some(folder) => take(Path::new(&folder), &out),
        None => build(&root, &out),
    }
}

/// Copies a recorder that is there. Its link line names the folder it lies in.
fn take(folder: &Path, out: &Path) {
    watch(folder);
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{GIVEN}: {}: {error}", path.display()))
    };
    let write = |name: &str, bytes: &[u8]| fs::write(out.join(name), bytes).expect("OUT_DIR");
    for name in [
        "libmemlog.so",
        "libmemlog_new.so",
        "memlog_s.a",
        "memlog_s.o",
    ] {
        write(name, &read(name));
    }
    // Made for the build's own machine alone: without it `memlog replay` says so.
    let replayer = fs::read(folder.join("memlog_replayer")).unwrap_or_default();
    write("memlog_replayer", &replayer);
    for name in ["memlog_s_ld_cmds", "memlog_s_cxx_ld_cmds"] {
        let flags = String::from_utf8(read(name)).expect("a link line is text");
        let named = flags
            .split_whitespace()
            .find_map(|word| word.strip_suffix("/memlog_s.a"))
            .expect("the link line names memlog_s.a");
        let template = flags.replace(named, "@LIBDIR@");
        write(&format!("{name}.in"), template.as_bytes());
    }
}

fn build(root: &Path, out: &Path) {
    let machine = |kind: &str| {
        let triple = env::var(kind).expect("set by cargo");
        triple.split('-').next().unwrap_or_default().to_string()
    };
    assert!(
        machine("TARGET") == machine("HOST"),
        "the recorder of another machine is made by ppc64-cross/build: give its lib as {GIVEN}"
    );
    for folder in ["wrap", "staticlib", "cdylib", "replayer", "format/src"] {
        watch(&root.join(folder));
    }
    let target = out.join("recorder");
    let cargo = env::var_os("CARGO").expect("set by cargo");
    let mut build = clean_command(cargo.as_ref());
    build
        .env("CARGO_ENCODED_RUSTFLAGS", without_places(root))
        .current_dir(root.join("wrap"))
        .args(["build", "--release", "--locked", "--target-dir"])
        .arg(&target)
        .args(["-p", "memlog-cdylib", "-p", "memlog-staticlib"])
        .args(["-p", "memlog-replayer"]);
    run(&mut build, "building the recorder");

    let compiler = env::var_os("CC").unwrap_or("cc".into());
    let mut link = clean_command(root.join("cdylib/link").as_ref());
    link.arg(&compiler)
        .arg(target.join("release/libmemlog_dynamic.a"))
        .arg(out.join("libmemlog.so"));
    run(&mut link, "linking libmemlog.so");

    let mut link = clean_command(root.join("replayer/link").as_ref());
    link.arg(&compiler)
        .arg(target.join("release/libmemlog_replayer.a"))
        .arg(out.join("memlog_replayer"));
    run(&mut link, "linking memlog_replayer");

    let mut link = clean_command(root.join("cdylib/link-operators").as_ref());
    link.arg(compiler).arg(out);
    run(&mut link, "linking libmemlog_new.so");

    let mut prelink = clean_command(root.join("staticlib/prelink").as_ref());
    prelink
        .arg("")
        .arg(target.join("release/libmemlog_static.a"))
        .arg(out);
    run(&mut prelink, "making memlog_s.a");
}

/// Flags that take the folders of this machine out of what is built.
fn without_places(root: &Path) -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let places = [(Some(root.to_path_buf()), "memlog"), (home, "cargo")];
    let flag = |(place, name): (Option<PathBuf>, &str)| {
        Some(format!("--remap-path-prefix={}={name}", place?.to_str()?))
    };
    places
        .into_iter()
        .filter_map(flag)
        .collect::<Vec<_>>()
        .join("\x1f")
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

/// Spack's compilers are scripts that refuse to run without what it tells them.
const OF_SPACK: &str = "SPACK_";

fn clean_command(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    let all = env::vars_os();
    command.envs(all.filter(|(name, _)| name.to_string_lossy().starts_with(OF_SPACK)));
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
