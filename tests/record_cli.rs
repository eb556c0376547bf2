//! `memlog record` from outside, with real programs: it ends as they do, finds
//! their logs, and refuses what cannot be recorded before it is run.

mod runnable;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Any user but root, and not the one that runs the tests.
const NOBODY: u32 = 65534;

/// A folder of one test's own that anybody may enter, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("memlog-test-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
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
    // Behind a shell's `&` it is ignored, and a shell cannot change that.
    // SAFETY: between fork and exec one system call is made.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
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
    let until = Instant::now() + Duration::from_secs(20);
    while !folder.path("ready").exists() && Instant::now() < until {
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
fn says_where_the_log_is_and_what_is_next() {
    let folder = Folder::new("log");
    let output = folder.run(&["record", "true"]);
    let names = folder.names();
    let [name] = names.as_slice() else {
        panic!("one log, not {names:?}: {}", said(&output))
    };
    assert!(
        said(&output).contains(&format!("next: memlog summary {name}\n")),
        "{}",
        said(&output)
    );
    assert!(
        said(&output).contains("nothing was lost"),
        "{}",
        said(&output)
    );
    assert_eq!(
        fs::metadata(folder.path(name)).expect("log").mode() & 0o777,
        0o600
    );
}

#[test]
fn a_pattern_names_the_log_and_an_existing_one_is_kept() {
    let folder = Folder::new("pattern");
    for _ in 0..2 {
        let output = folder.run(&["record", "-o", "out.memlog", "true"]);
        assert!(
            said(&output).contains("next: memlog summary out."),
            "{}",
            said(&output)
        );
    }
    assert_eq!(folder.names(), ["out.2.memlog", "out.memlog"]);
    let output = folder.run(&["record", "-o", "%e-%p.memlog", "true"]);
    assert!(
        said(&output).contains("next: memlog summary true-"),
        "{}",
        said(&output)
    );
}

/// Who reads the name that was asked for is told that it is the old log.
#[test]
fn a_name_that_was_taken_is_told_and_replaced_by_force() {
    let folder = Folder::new("force");
    let run = |words: &[&str]| {
        let output = folder.run(&[&["record", "-o", "it.memlog"], words].concat());
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let told =
        "\nmemlog: it.memlog was there before: this log is it.2.memlog; --force replaces it\n";
    let first = run(&["true"]);
    assert!(!first.contains("was there before"), "{first}");
    let info = |name| folder.run(&["info", name]).stdout;
    let old = info("it.memlog");
    let second = run(&["true"]);
    assert!(format!("\n{second}").contains(told), "{second}");
    assert_eq!(info("it.memlog"), old);
    let third = run(&["--force", "true"]);
    assert!(!third.contains("was there before"), "{third}");
    assert!(
        third.contains("next: memlog summary it.memlog\n"),
        "{third}"
    );
    assert_eq!(folder.names(), ["it.2.memlog", "it.memlog"]);
    assert_ne!(info("it.memlog"), old);
    // Codes name another log in each run.
    let output = folder.run(&["record", "--force", "-o", "%p.memlog", "true"]);
    assert!(output.status.success() && folder.names().len() == 3);
}

/// Not what is no log, nor one that is still written; and it stays where nothing
/// is recorded.
#[test]
fn force_takes_nothing_else_away() {
    let folder = Folder::new("force-not");
    fs::write(folder.path("notes"), "a program's own").expect("write");
    let force = |name| folder.run(&["record", "--force", "-o", name, "touch", "started"]);
    refused(
        &force("notes"),
        &["--force does not replace ", "notes: it is no log of memlog"],
    );
    let mut running = folder
        .memlog(&["record", "-o", "live", "sh", "-c", "read word"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("spawn");
    let until = Instant::now() + Duration::from_secs(20);
    let has_begun = || fs::metadata(folder.path("live")).is_ok_and(|found| found.len() > 0);
    while !has_begun() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    refused(
        &force("live"),
        &["live: process ", " may still write to it"],
    );
    drop(running.stdin.take());
    running.wait().expect("wait");
    assert!(!folder.path("started").exists());
    refused(
        &folder.run(&["record", "--force", "-o", "live", "./none"]),
        &["none"],
    );
    assert_eq!(folder.names(), ["live", "notes"]);
    assert!(force("live").status.success());
    assert_eq!(folder.names(), ["live", "notes", "started"]);
}

/// The / says that it is a folder, so it can be one.
#[test]
fn a_folder_for_logs_is_made() {
    let folder = Folder::new("made");
    let output = folder.run(&["record", "-o", "new/logs/", "true"]);
    let said_so = said(&output).contains("next: memlog summary new/logs/");
    assert!(output.status.success() && said_so, "{}", said(&output));
    let mut command = folder.memlog(&["record", "true"]);
    let output = command
        .env("MEMLOG_OUTPUT", "other/")
        .output()
        .expect("run");
    let said_so = said(&output).contains("next: memlog summary other/");
    assert!(output.status.success() && said_so, "{}", said(&output));
}

/// In time to stop it, and by the name of what was set.
#[test]
fn a_pattern_that_means_nothing_is_told() {
    let folder = Folder::new("codes");
    let output = folder.run(&["record", "-o", "x%z-%%.memlog", "true"]);
    let text = said(&output);
    let note = "memlog: note: %z in the log's name, given by -o, means nothing";
    assert!(
        text.starts_with(note) && !text.contains("MEMLOG_OUTPUT"),
        "{text}"
    );
    assert_eq!(folder.names(), ["x%z-%.memlog"]);
    let mut command = folder.memlog(&["record", "true"]);
    let output = command.env("MEMLOG_OUTPUT", "y%z").output().expect("run");
    let text = said(&output);
    assert!(text.contains("given by MEMLOG_OUTPUT, means"), "{text}");
    let page = folder.run(&["info", "y%z"]).stdout;
    let page = String::from_utf8_lossy(&page);
    let note = "not understood: %z in MEMLOG_OUTPUT\n";
    assert!(page.contains(note), "{page}");
}

/// What else the program leaves in the folder is not taken for a log, and a
/// pipe there is not waited for.
#[test]
fn other_new_files_are_left_alone() {
    let folder = Folder::new("others");
    let output = folder.run(&[
        "record",
        "sh",
        "-c",
        "mkfifo pipe; echo MLOG >short; mkdir new",
    ]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("next: memlog summary "),
        "{}",
        said(&output)
    );
    for name in ["pipe", "short", "new"] {
        assert!(!said(&output).contains(name), "{}", said(&output));
    }
}

#[test]
fn logs_lie_in_one_folder_though_the_program_goes_elsewhere() {
    let folder = Folder::new("chdir");
    fs::create_dir(folder.path("elsewhere")).expect("mkdir");
    let output = folder.run(&["record", "sh", "-c", "cd elsewhere; env true; exec true"]);
    assert!(said(&output).contains("true)"), "{}", said(&output));
    assert_eq!(
        fs::read_dir(folder.path("elsewhere"))
            .expect("list")
            .count(),
        0
    );
    assert!(folder.names().len() >= 3, "{:?}", folder.names());
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

#[test]
fn what_is_not_there_or_no_program_is_refused() {
    let folder = Folder::new("missing");
    refused(
        &folder.run(&["record", "no-such-program"]),
        &["no-such-program", "PATH"],
    );
    refused(
        &folder.run(&["record", "./no-such-file"]),
        &["there is no file"],
    );
    refused(&folder.run(&["record", "/tmp"]), &["is a folder"]);
    fs::write(folder.path("text"), "x").expect("write");
    refused(
        &folder.run(&["record", "./text"]),
        &["not executable", "chmod +x"],
    );
    refused(
        &folder.run(&["record", "-o", "no/such/folder/x", "true"]),
        &[
            "which is not there",
            "mkdir -p no/such/folder",
            "-o PATTERN",
        ],
    );
}

#[test]
fn static_programs_are_refused_with_the_remedy() {
    let folder = Folder::new("static");
    for kind in ["-static", "-static-pie"] {
        let program = folder.path("program");
        assert!(
            cc(&[kind], "int main(void) { return 0; }", &program),
            "cc {kind}"
        );
        refused(
            &folder.run(&["record", "./program"]),
            &["statically linked", "ldflags --static"],
        );
    }
    assert!(!folder.names().iter().any(|name| name.ends_with(".memlog")));
}

#[test]
fn another_machine_s_programs_are_refused() {
    let folder = Folder::new("machine");
    let mut bytes = fs::read("/bin/true").expect("read");
    bytes[18] ^= 0xff;
    fs::write(folder.path("foreign"), bytes).expect("write");
    fs::set_permissions(folder.path("foreign"), Permissions::from_mode(0o755)).expect("chmod");
    refused(
        &folder.run(&["record", "./foreign"]),
        &["another kind of machine"],
    );
    folder.executable("broken", "\x7fELF");
    refused(&folder.run(&["record", "./broken"]), &["./broken"]);
}

#[test]
fn scripts_are_recorded_by_their_interpreter() {
    let folder = Folder::new("script");
    folder.executable("script", "#!/bin/sh\nexit 3\n");
    assert_eq!(folder.run(&["record", "./script"]).status.code(), Some(3));
    folder.executable("bare", "exit 4\n");
    assert_eq!(folder.run(&["record", "./bare"]).status.code(), Some(4));
    folder.executable("lost", "#!/no/such/interpreter\n");
    refused(
        &folder.run(&["record", "./lost"]),
        &["is a script for /no/such/interpreter"],
    );
}

/// Setuid for another user takes root to make; the test then asks as nobody.
#[test]
fn setuid_programs_are_refused_where_the_bit_counts() {
    let folder = Folder::new("setuid");
    let program = folder.path("program");
    runnable::copy("/bin/true", &program);
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).expect("chmod");
    let own = fs::metadata(&program).expect("stat").uid();
    // Our own bit raises nothing, so it is no reason to refuse.
    assert!(folder.run(&["record", "./program"]).status.success());
    if own != 0 {
        println!("SKIPPED setuid as another user: needs root");
        return;
    }
    let tool = folder.path("memlog");
    runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
    let out = folder.path("out");
    fs::create_dir(&out).expect("mkdir");
    fs::set_permissions(&out, Permissions::from_mode(0o777)).expect("chmod");
    let as_nobody = |program: &Path| {
        let mut command = Command::new(&tool);
        command
            .arg("record")
            .arg(program)
            .current_dir(&out)
            .env("XDG_CACHE_HOME", &out)
            .uid(NOBODY)
            .gid(NOBODY);
        command.output().expect("memlog runs as nobody")
    };
    refused(&as_nobody(&program), &["is setuid", "sudo memlog record"]);
    fs::set_permissions(&program, Permissions::from_mode(0o2755)).expect("chmod");
    refused(&as_nobody(&program), &["is setgid"]);
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("chmod");
    assert!(as_nobody(&program).status.success());
}

#[test]
fn a_log_that_never_appeared_is_told() {
    let folder = Folder::new("nolog");
    fs::create_dir(folder.path("gone")).expect("mkdir");
    let wrapper = "unset LD_PRELOAD MEMLOG_DIR; rm -f gone/*; exit 6";
    let output = folder.run(&["record", "-o", "gone", "sh", "-c", wrapper]);
    assert_eq!(output.status.code(), Some(6));
    assert!(
        said(&output).contains("no log appeared in "),
        "{}",
        said(&output)
    );
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

/// What was killed has no last word on its peak, and is the one asked about.
#[test]
fn the_next_line_names_a_larger_program_that_was_killed() {
    let folder = Folder::new("killed");
    let holds = "yes | tail -c 60000000 & sleep 2; kill -9 $!; wait";
    let output = folder.run(&["record", "-o", "%e.memlog", "--", "sh", "-c", holds]);
    let text = said(&output);
    assert!(
        text.contains("next: memlog summary tail.memlog  # "),
        "{text}"
    );
}
