//! `memlog record` from outside, with real programs: it ends as they do, finds
//! their logs, and refuses what cannot be recorded before it is run.

mod naming;
#[path = "../own_time/mod.rs"]
mod own_time;
mod refused;
#[path = "../runnable/mod.rs"]
mod runnable;
#[path = "../signals/mod.rs"]
mod signals;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use own_time::OwnTime;

/// Any user but root, and not the one that runs the tests.
const NOBODY: u32 = 65534;

/// A folder of one test's own that anybody may enter, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("memlog-test-{}-{name}", std::process::id()));
        // Who was killed has left his, and his process number comes again.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a folder for the test");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("its mode");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn executable(&self, name: &str, content: &str) -> PathBuf {
        runnable::write(self.path(name), content);
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).expect("chmod");
        self.path(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("list").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.retain(|name| name != "cache");
        names.sort();
        names
    }

    /// memlog, run in this folder and keeping its files in it.
    fn memlog<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        command
            .args(args)
            .current_dir(&self.0)
            .env("XDG_CACHE_HOME", self.path("cache"));
        for name in ["LD_PRELOAD", "MEMLOG_OUTPUT", "MEMLOG_DIR", "MEMLOG_RANKS"] {
            command.env_remove(name);
        }
        command
    }

    fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.memlog(args).output().expect("memlog runs")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind harms no later test: the name has our number.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in words.iter().chain(&["memlog: error: ", "memlog: hint: "]) {
        assert!(said.contains(word), "'{word}' is not in: {said}");
    }
}

fn cc(args: &[&str], source: &str, program: &Path) -> bool {
    let file = program.with_extension("c");
    fs::write(&file, source).expect("write");
    let status = Command::new("cc")
        .args(args)
        .arg(&file)
        .arg("-o")
        .arg(program)
        .stderr(Stdio::null())
        .status();
    status.expect("a C compiler").success()
}

#[test]
fn ends_as_the_program_did() {
    let folder = Folder::new("status");
    for code in [0, 1, 2, 7, 255] {
        let output = folder.run(&["record", "sh", "-c", &format!("exit {code}")]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
}

#[test]
fn passes_the_program_s_input_output_and_arguments() {
    let folder = Folder::new("stdio");
    let output = folder.run(&["record", "--", "printf", "%s|", "-o", "--help", "a b"]);
    assert_eq!(output.stdout, b"-o|--help|a b|");
    let output = folder.run(&["printf", "%s", "as record"]);
    assert_eq!(output.stdout, b"as record");
}

#[test]
fn death_by_signal_is_128_and_its_number_and_named() {
    let folder = Folder::new("signal");
    for (signal, name) in [(9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM")] {
        let output = folder.run(&["record", "sh", "-c", &format!("kill -{signal} $$")]);
        assert_eq!(output.status.code(), Some(128 + signal));
        assert!(said(&output).contains(name), "{}", said(&output));
        assert!(
            said(&output).contains("next: memlog postmortem "),
            "{}",
            said(&output)
        );
    }
}

/// Who pressed Ctrl-C knows why it ended, and wants to see what was recorded.
#[test]
fn after_an_interrupt_the_summary_is_next() {
    let folder = Folder::new("interrupt");
    let mut command = folder.memlog(&["record", "-o", "it", "sh", "-c", "kill -INT $$"]);
    signals::usual(&mut command);
    let output = command.output().expect("memlog runs");
    assert_eq!(output.status.code(), Some(130));
    let said = said(&output);
    assert!(said.contains("killed by signal 2 (SIGINT)"), "{said}");
    assert!(said.contains("next: memlog summary it\n"), "{said}");
    assert!(!said.contains("postmortem"), "{said}");
}

#[test]
fn a_signal_sent_to_memlog_reaches_the_program() {
    let folder = Folder::new("forward");
    let script = "trap 'echo got it; exit 5' TERM; touch ready; while :; do sleep 0.05; done";
    let child = folder
        .memlog(&["record", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spawn");
    let mut time = OwnTime::start();
    while !folder.path("ready").exists() && time.spent() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The shell's own kill: a small system has no other.
    let kill = Command::new("sh")
        .args(["-c", &format!("kill -TERM {}", child.id())])
        .status()
        .expect("sh");
    assert!(kill.success());
    let output = child.wait_with_output().expect("wait");
    assert_eq!(output.stdout, b"got it\n", "{}", said(&output));
    assert_eq!(output.status.code(), Some(5));
}

#[test]
fn ours_comes_before_what_is_preloaded_already() {
    let folder = Folder::new("preload");
    let other = folder.path("libother.so");
    assert!(cc(&["-shared", "-fPIC"], "int nothing;", &other));
    let output = folder
        .memlog(&["record", "sh", "-c", "echo $LD_PRELOAD"])
        .env("LD_PRELOAD", &other)
        .output()
        .expect("run");
    let list = String::from_utf8(output.stdout).expect("text");
    let names: Vec<&str> = list.trim().split(':').collect();
    assert!(names[0].ends_with("/libmemlog.so"), "{list}");
    assert_eq!(names[1..], [other.to_str().expect("text")]);
}

/// The copy in the cache is used only while it is what memlog carries.
#[test]
fn a_changed_copy_of_the_recorder_is_replaced() {
    let folder = Folder::new("cache");
    assert!(folder.run(&["record", "true"]).status.success());
    let versions = fs::read_dir(folder.path("cache/memlog"))
        .expect("cache")
        .flatten();
    let library = versions
        .map(|version| version.path().join("libmemlog.so"))
        .next()
        .expect("a version");
    let before = fs::read(&library).expect("read");
    fs::write(&library, b"not a library").expect("write");
    assert!(folder.run(&["record", "true"]).status.success());
    assert_eq!(fs::read(&library).expect("read"), before);
    let found = fs::metadata(library.parent().expect("folder")).expect("stat");
    // What root preloads may come to be loaded by others.
    let wanted = if found.uid() == 0 { 0o755 } else { 0o700 };
    assert_eq!(found.mode() & 0o777, wanted);
}

#[test]
fn link_flags_name_files_that_exist() {
    let folder = Folder::new("ldflags");
    let output = folder.run(&["ldflags", "--static"]);
    let flags = String::from_utf8(output.stdout).expect("text");
    let archive = flags
        .split_whitespace()
        .find(|word| word.ends_with("memlog_s.a"));
    assert!(
        Path::new(archive.expect("the archive is named")).is_file(),
        "{flags}"
    );
    for wanted in [
        "-Wl,--wrap,malloc",
        "-Wl,-u,__wrap_malloc",
        "-Wl,--eh-frame-hdr",
    ] {
        assert!(
            flags.split_whitespace().any(|word| word == wanted),
            "{wanted} is not in {flags}"
        );
    }
    refused(
        &folder.run(&["ldflags", "--static", "--lib", "/tmp"]),
        &["memlog_s.a"],
    );
}

#[test]
fn usage_errors_are_2_and_a_broken_pipe_is_none() {
    let folder = Folder::new("usage");
    assert_eq!(folder.run::<&str>(&[]).status.code(), Some(2));
    assert_eq!(folder.run(&["ldflags"]).status.code(), Some(2));
    assert_eq!(
        folder
            .run(&["record", "--max-log", "3Q", "true"])
            .status
            .code(),
        Some(2)
    );
    assert!(folder.run(&["--help"]).status.success());
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let status = folder
        .memlog(&["ldflags", "--dynamic"])
        .stdout(writer)
        .status()
        .expect("run");
    assert_eq!((status.code(), status.signal()), (Some(0), None));
}
