//! `include/memlog.h` and its relatives: what a program says of itself stands in the
//! log as it was said, in each way to link, and says nothing where memlog is absent.

mod custom;
mod languages;
mod paused;
mod scopes;
mod seen;
#[path = "../sites/mod.rs"]
mod sites;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use sites::build::{CLANG, Compiler, GCC, optioned};
use sites::{Folder, said};

fn included(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("include")
        .join(name)
}

/// A command is recorded; the log, and what it said.
#[track_caller]
fn recorded(folder: &Folder, name: &str, program: &Command) -> (PathBuf, Output) {
    let log = folder.path(name);
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    (log, output)
}

/// The same log without what lived for less than a second.
fn stripped(folder: &Folder, log: &Path) -> PathBuf {
    let path = folder.path("stripped.memlog");
    let strip = ["strip", "--threshold", "1s", "-o"].map(OsStr::new);
    let files = [path.as_os_str(), log.as_os_str()];
    folder.says(&[&strip[..], &files].concat());
    path
}

/// What a command says of a log, as JSON.
#[track_caller]
fn told(folder: &Folder, words: &[&str], log: &Path) -> Value {
    let words = words.iter().map(OsStr::new);
    let words: Vec<_> = words
        .chain([OsStr::new("--json"), log.as_os_str()])
        .collect();
    serde_json::from_str(&folder.says(&words)).expect("JSON")
}

#[track_caller]
fn marks_of(folder: &Folder, log: &Path) -> Vec<String> {
    let page = told(folder, &["timeline"], log);
    let marks = page["marks"].as_array().expect("marks").iter();
    marks
        .map(|mark| mark["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// What the program said: of each mark its bytes and blocks.
fn truth(output: &Output) -> Vec<(String, u64, u64)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let mut words = line.rsplitn(3, ' ');
        let blocks = words.next()?.parse().ok()?;
        let bytes = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), bytes, blocks))
    };
    let is_other = |text: &&str| text.starts_with("thread ");
    text.lines()
        .filter(|text| !is_other(text))
        .filter_map(line)
        .collect()
}

/// What the log says of the program's own blocks at a mark.
#[track_caller]
fn at_mark(folder: &Folder, log: &Path, name: &str) -> (u64, u64) {
    let quoted = name.replace('\\', r"\\").replace('"', "\\\"");
    let moment = format!("mark \"{quoted}\"");
    let own = "function = hold or function = other";
    let page = told(folder, &["table", "--at", &moment, "--where", own], log);
    let number = |name: &str| page[name].as_u64().unwrap_or_else(|| panic!("{page:#}"));
    (number("bytes"), number("blocks"))
}

/// A log of `marks`, however it was made, has what the program said.
#[track_caller]
fn agrees(folder: &Folder, log: &Path, output: &Output) {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("recording 1\n"), "{text}");
    let truth = truth(output);
    assert_eq!(truth.len(), 4, "{text}");
    for (name, bytes, blocks) in &truth {
        assert_eq!(at_mark(folder, log, name), (*bytes, *blocks), "{name}");
    }
    // Marks tell what came after one, and what grew between two.
    let pair = |page: &Value| (page["bytes"].as_i64(), page["blocks"].as_i64());
    let own = "(function = hold or function = other)";
    let born = format!("last-mark = begun and {own}");
    let page = told(folder, &["table", "--where", &born], log);
    assert_eq!(pair(&page), (Some(201_000), Some(2)));
    let between = [
        "diff",
        "--at",
        "mark begun",
        "--at",
        "mark \"all hold\"",
        "--where",
        own,
    ];
    let page = told(folder, &between, log);
    assert_eq!(pair(&page), (Some(151_000), Some(4)));
    let stats = folder.stats(log);
    let named = stats.value("thread_names").as_array().expect("a list");
    let names: BTreeMap<String, &str> = named
        .iter()
        .filter_map(|thread| Some((thread["tid"].to_string(), thread["name"].as_str()?)))
        .collect();
    let threads: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("thread ")?.split_once(' '))
        .collect();
    assert_eq!(threads.len(), 3, "{text}");
    for (tid, name) in threads {
        assert_eq!(names.get(tid), Some(&name), "{names:?}");
    }
    assert!(names.values().any(|name| *name == "the main one"));
    let lost = stats.number("lost_events");
    assert_eq!(lost, 0);
}

/// Ways to compile it: the references are found by another way in each.
const CODE: &[Compiler] = &[
    optioned("gcc", &["-std=gnu11", "-O2", "-g", "-pthread"]),
    optioned("gcc", &["-O0", "-g", "-pthread", "-fno-pie", "-no-pie"]),
    optioned("gcc", &["-O2", "-g", "-pthread", "-fPIC", "-fno-plt"]),
    optioned("gcc", &["-O2", "-g", "-pthread", "-fuse-ld=gold"]),
    CLANG,
    optioned("clang", &["-O2", "-g", "-pthread", "-fno-pie", "-no-pie"]),
    optioned("clang", &["-O2", "-g", "-pthread", "-fuse-ld=lld"]),
];

fn can_link(compiler: &Compiler, folder: &Folder) -> bool {
    let mut command = folder.command(compiler.name);
    let source = folder.path("nothing.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    command.args(compiler.options).arg(&source).arg("-o");
    let output = command.arg(folder.path("nothing")).output();
    let can = output.is_ok_and(|output| output.status.success());
    if !can {
        println!("SKIPPED marks: {} {:?}", compiler.name, compiler.options);
    }
    can
}

#[test]
fn marks_hold_what_the_program_held() {
    let folder = Folder::new("header-marks");
    let mut count = 0;
    for (number, compiler) in CODE.iter().enumerate() {
        if !can_link(compiler, &folder) {
            continue;
        }
        count += 1;
        let program = compiler.build::<&str>(&folder, "marks.c", &format!("marks{number}"), &[]);
        let name = format!("it{number}.memlog");
        let (log, output) = recorded(&folder, &name, &Command::new(program));
        agrees(&folder, &log, &output);
    }
    assert!(count >= 3, "hardly a way to compile it");
}

#[test]
fn marks_of_linked_programs() {
    let folder = Folder::new("header-linked");
    let lib = folder.recorder();
    for way in ["--static", "--dynamic"] {
        let words = [
            "ldflags".as_ref(),
            way.as_ref(),
            "--lib".as_ref(),
            lib.as_os_str(),
        ];
        let flags = folder.says(&words);
        let mut link: Vec<&str> = flags.split_whitespace().collect();
        if way == "--static" {
            link.insert(0, "-static");
        }
        let program = GCC.build(&folder, "marks.c", &format!("marks{way}"), &link);
        let log = folder.path(&format!("it{way}.memlog"));
        let mut command = folder.command(&program);
        let output = command.env("MEMLOG_OUTPUT", &log).output();
        agrees(&folder, &log, &output.expect("the program runs"));
        let words = ["info".as_ref(), log.as_os_str()];
        assert!(folder.says(&words).contains("the main one"));
    }
}

#[test]
fn nothing_happens_without_memlog() {
    let folder = Folder::new("header-absent");
    for (name, link) in [("dynamic", &[][..]), ("static", &["-static"])] {
        let program = GCC.build(&folder, "marks.c", name, link);
        let output = folder.command(&program).output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("recording 0\n"), "{text}");
        assert_eq!(truth(&output).len(), 4);
    }
    let mut silent = folder.command(folder.path("dynamic"));
    let lib = folder.recorder().join("libmemlog.so");
    let output = silent
        .env("LD_PRELOAD", &lib)
        .env("MEMLOG_OFF", "1")
        .output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("text");
    assert!(text.contains("recording 0\n"), "{text}");
}

/// A handler that interrupts malloc says so too, each time, and nothing is lost.
#[test]
fn handlers_may_mark() {
    let folder = Folder::new("header-signals");
    let program = GCC.build::<&str>(&folder, "marks.c", "marks", &[]);
    let mut command = Command::new(program);
    command.args(["signals", "400"]);
    let (log, output) = recorded(&folder, "it.memlog", &command);
    let text = String::from_utf8_lossy(&output.stdout);
    let count: usize = text
        .trim()
        .strip_prefix("signals ")
        .expect("a count")
        .parse()
        .expect("it");
    assert!(count > 20, "{text}");
    assert_eq!(folder.stats(&log).number("lost_events"), 0);
    let expected: Vec<_> = (1..=count)
        .map(|number| format!("signal {number:06}"))
        .collect();
    assert_eq!(marks_of(&folder, &log), expected);
}

/// Threads that go on at once after a mark, and stood still before it: what each round
/// held is in the log to the byte. What the C library holds of the threads is the same
/// in all.
#[test]
fn a_mark_is_a_moment_of_all_threads() {
    let folder = Folder::new("header-rounds");
    let program = GCC.build::<&str>(&folder, "marks.c", "marks", &[]);
    let mut command = Command::new(program);
    command.args(["rounds", "300"]);
    let (log, output) = recorded(&folder, "it.memlog", &command);
    let truth = truth(&output);
    assert_eq!(truth.len(), 300);
    let page = told(&folder, &["report", "--show-snapshots"], &log);
    let snapshots = page["snapshots"].as_array().expect("snapshots");
    let number = |value: &Value| value.as_u64().expect("a number");
    let held: Vec<_> = snapshots
        .iter()
        .map(|one| (number(&one["bytes"]), number(&one["blocks"])))
        .collect();
    assert_eq!(held.len(), truth.len());
    let extra = (held[0].0 - truth[0].1, held[0].1 - truth[0].2);
    for ((name, bytes, blocks), held) in truth.iter().zip(&held) {
        assert_eq!(*held, (bytes + extra.0, blocks + extra.1), "{name}");
    }
    assert_eq!(folder.stats(&log).number("lost_events"), 0);
}

/// The functions of the older tools, found by name as their headers find them.
#[test]
fn older_names_are_there() {
    let folder = Folder::new("header-older");
    let source = folder.path("older.c");
    let code = r#"
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <stdio.h>
        int main(void) {
            void (*snapshot)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "memtrail_snapshot");
            void (*marker)(unsigned) = (void (*)(unsigned))dlsym(RTLD_DEFAULT, "memory_profiler_set_marker");
            void (*sync)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "memory_profiler_sync");
            void (*start)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "memory_profiler_start");
            void (*stop)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "memory_profiler_stop");
            void (*time)(unsigned long long) = (void (*)(unsigned long long))dlsym(RTLD_DEFAULT, "memory_profiler_override_next_timestamp");
            if (!snapshot || !marker || !sync || !start || !stop || !time) return 1;
            time(1);
            snapshot(); free(malloc(10)); marker(4294967295u); snapshot(); sync();
            stop(); free(malloc(11)); start();
            return 0;
        }"#;
    std::fs::write(&source, format!("#define _GNU_SOURCE\n{code}")).expect("a file");
    let program = GCC.build_file(&folder, &source, "older", &["-ldl"]);
    let (log, _) = recorded(&folder, "it.memlog", &Command::new(program));
    assert_eq!(
        marks_of(&folder, &log),
        [
            "snapshot 1",
            "4294967295",
            "snapshot 2",
            "recording off",
            "recording on"
        ]
    );
    let page = folder.says(&["timeline".as_ref(), log.as_os_str()]);
    let names = " mark snapshot 1, mark 4294967295, mark snapshot 2";
    assert!(page.contains(names), "{page}");
}

/// C89 to C23 and C++98 to C++23, without a warning, and with the header in two files.
#[test]
fn every_standard_takes_the_header() {
    let folder = Folder::new("header-standards");
    let first = folder.path("first.c");
    let second = folder.path("second.c");
    let code = "#include \"memlog.h\"\n#include <dlfcn.h>\n#include <link.h>\n";
    let body = "{ memlog_mark(\"a\"); memlog_snapshot(); memlog_sync(); memlog_stop(); memlog_start(); \
                memlog_name_thread(\"b\"); memlog_scope_begin(\"s\"); memlog_scope_end(); \
                memlog_pool(\"p\"); memlog_custom_alloc(\"p\", 1); memlog_custom_realloc(\"p\", \"q\", 2); \
                memlog_custom_free(\"q\"); memlog_print_trace(\"q\"); \
                return memlog_is_recording(); }\n";
    let first_text = format!(
        "{code}int second(void);\nint main(void) {{ memlog_mark(\"c\"); return second(); }}\n"
    );
    std::fs::write(&first, first_text).expect("a file");
    std::fs::write(
        &second,
        format!("{code}int second(void);\nint second(void) {body}"),
    )
    .expect("it");
    let nothing = "#define MEMLOG_NOTHING\n#include \"memlog.h\"\nint main(void) ";
    let third = folder.path("third.c");
    std::fs::write(&third, format!("{nothing}{body}")).expect("a file");
    let standards = [
        ("c", &["c89", "gnu89", "c99", "c11", "c17", "c2x"][..]),
        (
            "c++",
            &[
                "c++98", "c++03", "c++11", "c++14", "c++17", "c++20", "c++2b",
            ][..],
        ),
    ];
    let mut tried = 0;
    for compiler in ["gcc", "clang"] {
        for (language, standards) in standards {
            for standard in standards {
                for sources in [&[&first, &second][..], &[&third][..]] {
                    let mut command = folder.command(compiler);
                    let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"];
                    command
                        .args(["-x", language])
                        .arg(format!("-std={standard}"));
                    command.args(warnings).arg("-I").arg(included(""));
                    command.args(sources).args(["-lstdc++", "-o"]);
                    let Ok(output) = command.arg(folder.path("it")).output() else {
                        println!("SKIPPED the header: there is no {compiler}");
                        continue;
                    };
                    assert!(output.status.success(), "{command:?}: {}", said(&output));
                    let it = folder.command(folder.path("it")).status();
                    assert_eq!(it.expect("it runs").code(), Some(0));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 26, "only {tried} were tried");
}

/// Marks of a forked child are in its own log, even if it does nothing else; one of
/// before main is there as well.
#[test]
fn a_child_marks_in_its_own_log() {
    let folder = Folder::new("header-child");
    let code = r#"
        #include "memlog.h"
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((constructor)) static void early(void) { memlog_mark("before main"); }
        int main(void) {
            void *block = malloc(1000);
            memlog_mark("parent before");
            pid_t child = fork();
            if (child == 0) {
                memlog_mark("child");
                _exit(block == NULL);
            }
            int status;
            waitpid(child, &status, 0);
            memlog_mark("parent after");
            return status;
        }"#;
    let program = with_header(&folder, code, &[]);
    recorded(&folder, "logs/", &Command::new(program));
    let files = std::fs::read_dir(folder.path("logs")).expect("logs");
    let mut marks: Vec<_> = files
        .map(|file| marks_of(&folder, &file.expect("a log").path()))
        .collect();
    marks.sort();
    let parent = vec!["before main", "parent before", "parent after"];
    assert_eq!(marks, [parent, vec!["child"]]);
}

/// Where the log is written and not mapped, what was recorded is in the file after a
/// sync, of the other threads too.
#[test]
fn what_is_synced_survives_a_kill() {
    let folder = Folder::new("header-sync");
    let code = r#"
        #include "memlog.h"
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        void *volatile kept[100];
        static void *other(void *unused) {
            for (int i = 0; i < 50; i++) kept[i] = malloc(1000);
            return unused;
        }
        int main(int count, char **arguments) {
            pthread_t thread;
            pthread_create(&thread, NULL, other, NULL);
            pthread_join(thread, NULL);
            for (int i = 50; i < 100; i++) kept[i] = malloc(1000);
            if (count > 1) memlog_sync();
            raise(SIGKILL);
        }"#;
    let program = with_header(&folder, code, &["-pthread"]);
    let library = folder.recorder().join("libmemlog.so");
    let blocks_of_1000 = |words: &[&str]| {
        let log = folder.path(&format!("it{}.memlog", words.len()));
        let mut command = folder.command(&program);
        command.args(words).env("LD_PRELOAD", &library);
        command
            .env("MEMLOG_OUTPUT", &log)
            .env("MEMLOG_SINK", "written");
        command.status().expect("it runs");
        let page = told(&folder, &["table", "--where", "size = 1000"], &log);
        page["blocks"].as_u64().expect("a number")
    };
    assert_eq!(blocks_of_1000(&["sync"]), 100);
    assert!(blocks_of_1000(&[]) < 100, "nothing had to be written");
}

/// A program that includes the header.
fn with_header(folder: &Folder, code: &str, options: &[&str]) -> PathBuf {
    let source = folder.path("source.c");
    std::fs::write(&source, code).expect("a file");
    let include = format!("-I{}", included("").display());
    let options = [options, &[&include]].concat();
    GCC.build_file(folder, &source, "program", &options)
}
