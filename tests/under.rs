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
