//! `include/memlog.h` and its relatives: what a program says of itself stands in the
//! log as it was said, in each way to link, and says nothing where memlog is absent.

mod sites;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use sites::build::{CLANG, Compiler, GCC, GFORTRAN, RUSTC, optioned};
use sites::{Folder, said};

fn included(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("include")
        .join(name)
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
    let words = ["table", "--json", "--at", &moment, "--where", own];
    let mut words: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    words.push(log.as_os_str());
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let number = |name: &str| page[name].as_u64().unwrap_or_else(|| panic!("{page:#}"));
    (number("bytes"), number("blocks"))
}

/// A log of `marks`, however it was made, has what the program said.
#[track_caller]
fn agrees(folder: &Folder, log: &Path, output: &Output) {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("recording 1\n"), "{text}");
    let told = truth(output);
    assert_eq!(told.len(), 4, "{text}");
    for (name, bytes, blocks) in &told {
        assert_eq!(at_mark(folder, log, name), (*bytes, *blocks), "{name}");
    }
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
        let log = folder.path(&format!("it{number}.memlog"));
        let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
        let output = command.arg(&program).output().expect("memlog runs");
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
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    let output = command
        .arg(&program)
        .args(["signals", "400"])
        .output()
        .expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    let count: usize = text
        .trim()
        .strip_prefix("signals ")
        .expect("a count")
        .parse()
        .expect("it");
    assert!(count > 20, "{text}");
    assert_eq!(folder.stats(&log).number("lost_events"), 0);
    let words = ["timeline".as_ref(), "--json".as_ref(), log.as_os_str()];
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let marks = page["marks"].as_array().expect("marks");
    let names: Vec<_> = marks
        .iter()
        .filter_map(|mark| mark["name"].as_str())
        .collect();
    let expected: Vec<_> = (1..=count)
        .map(|number| format!("signal {number:06}"))
        .collect();
    assert_eq!(names, expected);
}

/// Threads that go on at once after a mark, and stood still before it: what each round
/// held is in the log to the byte. What the C library holds of the threads is the same
/// in all.
#[test]
fn a_mark_is_a_moment_of_all_threads() {
    let folder = Folder::new("header-rounds");
    let program = GCC.build::<&str>(&folder, "marks.c", "marks", &[]);
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    let output = command.arg(&program).args(["rounds", "300"]).output();
    let output = output.expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let told = truth(&output);
    assert_eq!(told.len(), 300);
    let words = ["report", "--json", "--show-snapshots"];
    let mut words: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    words.push(log.as_os_str());
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let snapshots = page["snapshots"].as_array().expect("snapshots");
    let number = |value: &Value| value.as_u64().expect("a number");
    let held: Vec<_> = snapshots
        .iter()
        .map(|one| (number(&one["bytes"]), number(&one["blocks"])))
        .collect();
    assert_eq!(held.len(), told.len());
    let extra = (held[0].0 - told[0].1, held[0].1 - told[0].2);
    for ((name, bytes, blocks), held) in told.iter().zip(&held) {
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
            if (!snapshot || !marker || !sync) return 1;
            snapshot(); free(malloc(10)); marker(4294967295u); snapshot(); sync();
            return 0;
        }"#;
    std::fs::write(&source, format!("#define _GNU_SOURCE\n{code}")).expect("a file");
    let program = GCC.build_file(&folder, &source, "older", &["-ldl"]);
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    let output = command.arg(&program).output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        marks_of(&folder, &log),
        ["snapshot 1", "4294967295", "snapshot 2"]
    );
    let page = folder.says(&["timeline".as_ref(), log.as_os_str()]);
    let names = " mark snapshot 1, mark 4294967295, mark snapshot 2";
    assert!(page.contains(names), "{page}");
}

#[track_caller]
fn marks_of(folder: &Folder, log: &Path) -> Vec<String> {
    let words = ["timeline".as_ref(), "--json".as_ref(), log.as_os_str()];
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let marks = page["marks"].as_array().expect("marks").iter();
    marks
        .map(|mark| mark["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// C89 to C23 and C++98 to C++23, without a warning, and with the header in two files.
#[test]
fn every_standard_takes_the_header() {
    let folder = Folder::new("header-standards");
    let first = folder.path("first.c");
    let second = folder.path("second.c");
    let code = "#include \"memlog.h\"\n#include <dlfcn.h>\n#include <link.h>\n";
    let body = "{ memlog_mark(\"a\"); memlog_snapshot(); memlog_sync(); \
                memlog_name_thread(\"b\"); return memlog_is_recording(); }\n";
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

#[test]
fn fortran_may_mark() {
    if !GFORTRAN.is_here("the Fortran module") {
        return;
    }
    let folder = Folder::new("header-fortran");
    let object = folder.path("c.o");
    let mut command = folder.command("gcc");
    command
        .arg("-c")
        .arg(included("memlog_fortran.c"))
        .arg("-o");
    assert!(command.arg(&object).status().expect("gcc").success());
    let source = folder.path("it.f90");
    let code = "program it\n use memlog\n implicit none\n real(8), allocatable :: a(:)\n \
        call memlog_name_thread('solver')\n call memlog_mark('before  ')\n allocate(a(1000))\n a = 1\n \
        call memlog_snapshot()\n call memlog_sync()\n if (memlog_is_recording()) print *, 'on', sum(a)\n\
        end program\n";
    std::fs::write(&source, code).expect("a file");
    let link = [object.as_os_str()];
    let module = optioned("gfortran", &["-O1", "-g"]);
    let mut command = folder.command(module.name);
    command.arg(included("memlog.f90")).arg(&source).args(link);
    assert!(
        command
            .args(["-o", "it"])
            .status()
            .expect("gfortran")
            .success()
    );
    let log = recorded(&folder, Command::new(folder.path("it")));
    assert_eq!(marks_of(&folder, &log), ["before", "snapshot 1"]);
    assert!(
        folder
            .says(&["info".as_ref(), log.as_os_str()])
            .contains("solver")
    );
}

/// A log of a command that says that it is recorded.
#[track_caller]
fn recorded(folder: &Folder, program: Command) -> PathBuf {
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("on"), "{text}");
    log
}

#[test]
fn rust_may_mark() {
    let folder = Folder::new("header-rust");
    let mut command = folder.command(RUSTC.name);
    command.args([
        "--edition",
        "2021",
        "--crate-type",
        "rlib",
        "--crate-name",
        "memlog_marks",
    ]);
    command
        .arg(included("rust/src/lib.rs"))
        .args(["-D", "warnings"]);
    assert!(command.status().expect("rustc").success());
    let source = folder.path("it.rs");
    let code = "fn main() { memlog_marks::name_thread(\"loader\"); memlog_marks::mark(\"ein ä\"); \
        let text = \"x\".repeat(300); memlog_marks::mark(&text); memlog_marks::snapshot(); memlog_marks::sync(); \
        println!(\"{}\", if memlog_marks::is_recording() { \"on\" } else { \"off\" }); }";
    std::fs::write(&source, code).expect("a file");
    let mut command = folder.command(RUSTC.name);
    command
        .args([
            "--edition",
            "2021",
            "--extern",
            "memlog_marks=libmemlog_marks.rlib",
        ])
        .arg(&source);
    assert!(command.status().expect("rustc").success());
    let native = folder.command(folder.path("it")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&native.stdout), "off\n");
    let log = recorded(&folder, Command::new(folder.path("it")));
    let long = "x".repeat(128);
    assert_eq!(marks_of(&folder, &log), ["ein ä", &long, "snapshot 1"]);
    assert!(
        folder
            .says(&["info".as_ref(), log.as_os_str()])
            .contains("loader")
    );
}

#[test]
fn python_may_mark() {
    let folder = Folder::new("header-python");
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        println!("SKIPPED marks of Python: there is no {python}");
        return;
    }
    let code = "import memlog; memlog.mark('one'); memlog.snapshot(); memlog.sync(); \
        memlog.name_thread('reader'); print('on' if memlog.is_recording() else 'off')";
    let mut command = folder.command(python);
    command
        .args(["-c", code])
        .env("PYTHONPATH", included("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let native = command.output().expect("python");
    assert_eq!(
        String::from_utf8_lossy(&native.stdout),
        "off\n",
        "{}",
        said(&native)
    );
    let log = recorded(&folder, command);
    assert_eq!(marks_of(&folder, &log), ["one", "snapshot 1"]);
    assert!(
        folder
            .says(&["info".as_ref(), log.as_os_str()])
            .contains("reader")
    );
}

/// Marks of a forked child are in its own log, even if it does nothing else.
#[test]
fn a_child_marks_in_its_own_log() {
    let folder = Folder::new("header-child");
    let source = folder.path("child.c");
    let code = r#"
        #include "memlog.h"
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
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
    std::fs::write(&source, code).expect("a file");
    let include = format!("-I{}", included("").display());
    let program = GCC.build_file(&folder, &source, "child", &[include]);
    let mut command = folder.memlog(&[
        "record".as_ref(),
        "-o".as_ref(),
        "logs/".as_ref(),
        program.as_os_str(),
    ]);
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let files = std::fs::read_dir(folder.path("logs")).expect("logs");
    let mut marks: Vec<_> = files
        .map(|file| marks_of(&folder, &file.expect("a log").path()))
        .collect();
    marks.sort();
    assert_eq!(
        marks,
        [vec!["child"], vec!["parent before", "parent after"]]
    );
}
