//! `memlog record` of programs that have the recorder inside: options, verdict
//! and closing words serve them too, and one recorder alone writes.

mod sites;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sites::build::GCC;
use sites::{Folder, said};

/// Keeps some blocks, starts a program if one is named, and is killed if asked.
const PROGRAM: &str = "#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    for (int i = 0; i < 1000; i++) *(volatile char *)malloc(77) = 1;
    if (count > 2 && fork() == 0) { execl(words[2], words[2], (char *)0); _exit(1); }
    if (count > 2) wait(0);
    if (count > 1 && !strcmp(words[1], \"die\")) raise(SIGKILL);
}
";

/// The original memlog's link line, to the letter.
const BY_HAND: &str = "-Wl,--wrap,malloc,--wrap,free,--wrap,realloc,--wrap,calloc,--wrap,memalign";

fn build(folder: &Folder, name: &str, flags: &[String]) -> PathBuf {
    let source = folder.path("program.c");
    fs::write(&source, PROGRAM).expect("write");
    GCC.build_file(
        folder,
        &source,
        name,
        &[&["-O0".into(), "-g".into()], flags].concat(),
    )
}

/// What `record` says of it, and its only log.
#[track_caller]
fn recorded(
    folder: &Folder,
    options: &[&str],
    program: &Path,
    words: &[&str],
) -> (String, PathBuf) {
    let place = folder.folder("logs");
    fs::remove_dir_all(&place).expect("emptied");
    let program = program.to_str().expect("text");
    let all = [&["record", "-o", "logs/"], options, &[program], words].concat();
    let told = said(&folder.run(&all));
    let logs = folder.logs("logs");
    assert_eq!(logs.len(), 1, "{told}");
    (told, logs[0].clone())
}

#[test]
fn whoever_has_a_recorder_is_recorded_by_it() {
    let folder = Folder::new("inside");
    let lib = folder.recorder();
    let at = |name: &str| lib.join(name).to_str().expect("text").to_owned();
    let file = format!("@{}", at("memlog_s_ld_cmds"));
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let by_hand = [
        words(BY_HAND),
        vec![at("memlog_s.o")],
        words("-lpthread -ldl"),
    ]
    .concat();
    let linked = format!(
        "-L{0} -Wl,--no-as-needed,-rpath,{0} -lmemlog",
        lib.display()
    );
    let shapes = [
        ("static", vec!["-static".into(), file.clone()]),
        ("static-pie", vec!["-static-pie".into(), file.clone()]),
        (
            "stripped",
            vec!["-static".into(), "-s".into(), file.clone()],
        ),
        (
            "sections",
            vec!["-static".into(), "-Wl,--gc-sections".into(), file],
        ),
        ("by-hand", [vec!["-static".into()], by_hand].concat()),
        ("linked", words(&linked)),
    ];
    for (name, flags) in shapes {
        let program = build(&folder, name, &flags);
        let (told, log) = recorded(&folder, &["--max-log", "300K"], &program, &["die"]);
        assert!(told.contains("was killed by signal 9"), "{name}: {told}");
        assert!(told.contains("memlog postmortem logs/"), "{name}: {told}");
        let stats = folder.stats(&log);
        let count = stats.number("allocations");
        assert!((1000..1100).contains(&count), "{name}: {count}");
        let verdict = folder.says(&["postmortem".as_ref(), log.as_os_str()]);
        assert!(verdict.contains("SIGKILL"), "{name}: {verdict}");
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        assert!(info.contains("MEMLOG_MAX_LOG=307200"), "{name}: {info}");
        let (_, log) = recorded(&folder, &["--flight-recorder=256K"], &program, &[]);
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        assert!(
            info.contains("MEMLOG_FLIGHT_RECORDER=262144"),
            "{name}: {info}"
        );
    }
}

/// Linked with the static flags and shared libraries: what those allocate comes
/// by no hook, which is said. Under `record` the preloaded recorder sees it, and
/// the one inside keeps still.
#[test]
fn a_dynamic_program_with_the_static_recorder_has_no_second() {
    let folder = Folder::new("inside-dynamic");
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let program = build(&folder, "dynamic", &[file]);
    let plain = build(&folder, "plain", &[]);
    let alone = folder.path("alone.memlog");
    let mut command = Command::new(&program);
    let ended = command.env("MEMLOG_OUTPUT", &alone).status().expect("run");
    assert!(ended.success());
    let info = folder.says(&["info".as_ref(), alone.as_os_str()]);
    let note = "uses shared libraries: what they allocate is not recorded";
    assert!(info.contains(note), "{info}");
    let (told, log) = recorded(&folder, &[], &program, &["live"]);
    assert!(!told.contains("not recorded"), "{told}");
    let stats = folder.stats(&log);
    let count = stats.number("allocations");
    assert!((1000..1100).contains(&count), "{count}");
    let names = [&program, &plain].map(|path| path.to_str().expect("text"));
    let output = folder.run(&["record", "-o", "both/", names[0], "live", names[1]]);
    let logs = folder.logs("both");
    assert_eq!(logs.len(), 2, "{}", said(&output));
    for log in logs {
        let count = folder.stats(&log).number("allocations");
        assert!((1000..1100).contains(&count), "{}: {count}", log.display());
    }
}
