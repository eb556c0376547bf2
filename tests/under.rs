//! `record --gdb` and `record --perf`: the program is recorded, and who starts it is not.

mod sites;

use std::io::Write;
use std::process::Stdio;

use sites::build::GCC;
use sites::{Folder, said};

fn is_here(name: &str) -> bool {
    let found = std::process::Command::new(name).arg("--version").output();
    let is_here = found.is_ok_and(|output| output.status.success());
    if !is_here {
        println!("SKIPPED record under {name}: there is no {name}");
    }
    is_here
}

/// The log has the program's process, and all that it did.
#[track_caller]
fn has_the_program(folder: &Folder, log: &std::path::Path) {
    let stats = folder.stats(log);
    assert_eq!(stats.number("lost_events"), 0);
    let line = stats.value("command_line")[0]
        .as_str()
        .expect("a word")
        .to_owned();
    assert!(line.ends_with("the server"), "{line}");
    assert_eq!(stats.number("allocations"), 990_002);
}

#[test]
fn gdb_starts_the_program_with_the_recorder() {
    if !is_here("gdb") {
        return;
    }
    let folder = Folder::new("under gdb");
    let program = GCC.build::<&str>(&folder, "server.c", "the server", &[]);
    let log = folder.path("it's $HOME.memlog");
    let mut command = folder.memlog(&[
        "record".as_ref(),
        "--gdb".as_ref(),
        "-o".as_ref(),
        log.as_os_str(),
    ]);
    let child = command
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = child.stderr(Stdio::piped()).spawn().expect("memlog runs");
    let mut commands = child.stdin.take().expect("a pipe");
    // While it stands its log says who allocated what it holds.
    let ask = folder.path("ask");
    let memlog = env!("CARGO_BIN_EXE_memlog");
    let question =
        format!("exec {memlog} where --json \"$PWD/it's \\$HOME.memlog\" $1 >where.json\n");
    std::fs::write(&ask, question).expect("a file");
    let script = "break daily_summary\nrun\nbt\neval \"shell sh ask %p\", cache[0]\n\
        delete\ncontinue\nquit\n";
    commands.write_all(script.as_bytes()).expect("it reads");
    drop(commands);
    let output = child.wait_with_output().expect("it ends");
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("daily_summary") && text.contains("exited normally"),
        "{text}"
    );
    assert!(
        told.contains("memlog: the log is ") && !told.contains("no log"),
        "{told}"
    );
    has_the_program(&folder, &log);
    let answer = std::fs::read(folder.path("where.json")).expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.contains("cache_answer") && answer.contains("16384"),
        "{answer}"
    );
    // gdb itself and the shell that it starts programs by have none.
    let others = std::fs::read_dir(folder.root()).expect("the folder");
    let others = others.filter(|file| {
        let name = file.as_ref().expect("a file").file_name();
        name.to_string_lossy().ends_with(".memlog")
    });
    assert_eq!(others.count(), 1);
}

#[test]
fn perf_starts_the_program_with_the_recorder() {
    if !is_here("perf") {
        return;
    }
    let folder = Folder::new("under-perf");
    let program = GCC.build::<&str>(&folder, "server.c", "the server", &[]);
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&[
        "record".as_ref(),
        "--perf".as_ref(),
        "-o".as_ref(),
        log.as_os_str(),
    ]);
    let output = command.arg(&program).output().expect("memlog runs");
    if !folder.path("perf.data").exists() {
        println!(
            "SKIPPED record under perf: it may not be used here: {}",
            said(&output)
        );
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("memlog: the log is "),
        "{}",
        said(&output)
    );
    has_the_program(&folder, &log);
}

#[test]
fn one_at_a_time() {
    let folder = Folder::new("under-both");
    let output = folder.run(&["record", "--gdb", "--perf", "true"]);
    assert_eq!(output.status.code(), Some(2));
    let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
    command.args(["record", "--gdb", "/bin/true"]);
    let output = command.env("PATH", folder.root()).output();
    let output = output.expect("it runs");
    assert!(!output.status.success());
    assert!(said(&output).contains("gdb"), "{}", said(&output));
}

/// What `memlog who` and its like say, in the running program and of its core.
#[track_caller]
fn answers_who(text: &str) {
    for expected in [
        "48 bytes at 0x",
        "(it begins there)",
        "    make [node.c:",
        "(4 bytes into it)",
    ] {
        assert!(text.contains(expected), "no {expected}: {text}");
    }
    let nobody = "memlog: which address? `memlog who EXPRESSION`";
    assert!(text.contains(nobody), "{text}");
}

const NODES: &str = r#"
#include <stdlib.h>
struct node { struct node *next; char text[40]; };
static struct node *first;
__attribute__((noinline)) static void make(void) {
    struct node *new = malloc(sizeof *new);
    new->next = first, first = new;
}
__attribute__((noinline)) void stand(void *node) { __asm__ volatile("" : : "r"(node)); }
int main(void) {
    for (int count = 0; count < 50; count++)
        make();
    stand(first);
    return 0;
}
"#;

/// The commands that debuggers load, and a folder with a program that stands still.
fn debugged(name: &str) -> (Folder, std::path::PathBuf, String) {
    let folder = Folder::new(name);
    let source = folder.path("node.c");
    std::fs::write(&source, NODES).expect("a file");
    let program = GCC.build_file::<&str>(&folder, &source, "node", &[]);
    let commands = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/include/debugger/memlog_debugger.py"
    );
    (folder, program, commands.to_owned())
}

const ASKED: [&str; 5] = [
    "memlog who first",
    "memlog history (char *)first + 4",
    "memlog near first",
    "memlog top",
    "memlog who",
];

#[test]
fn gdb_says_who_allocated_it() {
    if !is_here("gdb") {
        return;
    }
    let (folder, program, commands) = debugged("under-who");
    let gdb = |mut command: std::process::Command, lines: &[&str]| {
        let mut child = command
            .env("MEMLOG", env!("CARGO_BIN_EXE_memlog"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("gdb");
        let mut input = child.stdin.take().expect("a pipe");
        let script = format!("source {commands}\n{}\n", lines.join("\n"));
        input.write_all(script.as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut live = vec!["break stand", "run"];
    live.extend(ASKED);
    live.extend(["generate-core-file the.core", "kill", "quit"]);
    let mut command = folder.memlog(&["record", "--gdb", "-o", "it.memlog"]);
    command.arg(&program);
    let text = gdb(command, &live);
    answers_who(&text);
    assert!(text.contains("50 blocks live at end"), "{text}");
    // The program has gone.
    let mut command = folder.command("gdb");
    command.args(["-q", "--nx"]).arg(&program).arg("the.core");
    answers_who(&gdb(command, &ASKED));
    // And the log of the core lies elsewhere.
    std::fs::rename(folder.path("it.memlog"), folder.path("other.memlog")).expect("a log");
    let mut command = folder.command("gdb");
    command.args(["-q", "--nx"]).arg(&program).arg("the.core");
    let mut lines = vec!["memlog who first", "memlog log other.memlog"];
    lines.extend(ASKED);
    let text = gdb(command, &lines);
    assert!(text.contains("memlog: the log is not known: "), "{text}");
    answers_who(&text);
    lldb_says_it_too(&folder, &program, &commands);
}

/// A child has its parent's log mapped too, and its own has had no name at first.
#[test]
fn gdb_asks_the_log_of_the_child() {
    if !is_here("gdb") {
        return;
    }
    let (folder, _, commands) = debugged("under-child");
    // A child has a log once it has done something.
    let forks = NODES
        .replace("count < 50", "count < 5000")
        .replace(
            "#include",
            "#include <sys/wait.h>\n#include <unistd.h>\n#include",
        )
        .replace(
            "int main(void) {",
            "int main(void) {\n    make();\n    if (fork()) { wait(0); return 0; }",
        );
    let source = folder.path("node.c");
    std::fs::write(&source, forks).expect("a file");
    let program = GCC.build_file::<&str>(&folder, &source, "forks", &[]);
    let gdb = |mut command: std::process::Command, lines: &[&str]| {
        command.env("MEMLOG", env!("CARGO_BIN_EXE_memlog"));
        let output = command.stdin(Stdio::null()).output().expect("gdb");
        assert!(output.status.success(), "{lines:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let source = format!("source {commands}");
    let lines = |lines: &[&str]| {
        let all = [&["set confirm off", &source][..], lines].concat();
        let words = all
            .iter()
            .flat_map(|line| ["-ex".to_owned(), (*line).to_owned()]);
        words.collect::<Vec<_>>()
    };
    let live = lines(&[
        "set startup-with-shell off",
        "set environment LD_PRELOAD it.so",
        "set follow-fork-mode child",
        "break stand",
        "run",
        "memlog who first",
        "memlog who first->next",
        "generate-core-file the.core",
        "kill",
    ]);
    let library = folder.recorder().join("libmemlog.so");
    let live: Vec<_> = live
        .iter()
        .map(|line| line.replace("it.so", library.to_str().expect("a name")))
        .collect();
    let mut command = folder.command("gdb");
    command
        .args(["-q", "--nx", "-batch"])
        .args(&live)
        .arg(&program);
    command.env("MEMLOG_OUTPUT", folder.path("%p.memlog"));
    let text = gdb(command, &["live"]);
    assert_eq!(text.matches("    make [node.c:").count(), 2, "{text}");
    let asked = lines(&["memlog who first", "memlog log"]);
    let mut command = folder.command("gdb");
    command.args(["-q", "--nx", "-batch"]).args(&asked);
    command.arg(&program).arg("the.core");
    let text = gdb(command, &["core"]);
    assert!(text.contains("    make [node.c:"), "{text}");
    // The newest of both logs is the child's.
    let logs = folder.logs(".");
    assert_eq!(logs.len(), 2, "{logs:?}");
    let pid = |path: &std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy();
        name.parse::<u32>().expect("a process")
    };
    let child = logs.iter().max_by_key(|path| pid(path)).expect("a log");
    let name = child.file_name().expect("a name").to_string_lossy();
    assert!(text.contains(&*name), "{name}: {text}");
}

fn lldb_says_it_too(folder: &Folder, program: &std::path::Path, commands: &str) {
    let script = |lines: &[String]| {
        let mut command = folder.command("lldb");
        command.args(["--batch", "--no-lldbinit"]);
        // Where Debian's lldb does not look for its own modules.
        let modules = "/usr/lib/llvm-14/lib/python3.11/dist-packages";
        if std::path::Path::new(modules).is_dir() {
            command.env("PYTHONPATH", modules);
        }
        command.env("MEMLOG", env!("CARGO_BIN_EXE_memlog"));
        for line in lines {
            command.args(["-o", line]);
        }
        command.args(["-c", "the.core"]).arg(program);
        let output = command.output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output))
    };
    let works = script(&["script print(lldb.debugger.GetVersionString())".into()]);
    if works.is_none_or(|text| text.contains("Error") || !text.contains("lldb version")) {
        println!("SKIPPED lldb: there is none, or its Python does not work");
        return;
    }
    let mut lines = vec![
        format!("command script import {commands}"),
        "memlog log other.memlog".to_owned(),
    ];
    lines.extend(ASKED.map(str::to_owned));
    answers_who(&script(&lines).expect("lldb"));
}
