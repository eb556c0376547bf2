//! Ctrl-C: what was not looked at proves nothing.

use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::sites::own_time::cpu_time;
use crate::sites::{Folder, said};

fn start(folder: &Folder, words: &[&str]) -> Child {
    // For signals are for memlog and not for what limits its time.
    let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
    command.arg("check").args(words);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("memlog runs")
}

/// Ends it when it has computed for so long.
fn interrupted(folder: &Folder, words: &[&str], moment: Duration) -> Output {
    let mut child = start(folder, words);
    let mut is_there = true;
    while is_there && cpu_time(child.id()) < moment {
        std::thread::sleep(Duration::from_millis(1));
        is_there = child.try_wait().expect("wait").is_none();
    }
    if is_there {
        let pid = child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &pid]).status();
        assert!(killed.expect("kill").success());
    }
    child.wait_with_output().expect("its end")
}

/// memlog itself has very many names. When their look-up begins nobody tells, so the signal
/// is sent ever later.
#[test]
fn names_that_were_not_found_yet_prove_nothing() {
    let folder = Folder::new("check-interrupt");
    let tool = env!("CARGO_BIN_EXE_memlog");
    folder.says(&["record", "-o", "first.memlog", tool, "--version"]);
    folder.says(&["record", "-o", "self.memlog", tool, "info", "first.memlog"]);
    let words = [
        "--max-peak",
        "0",
        "--where",
        "function = nobody",
        "self.memlog",
    ];
    // With its table kept it is names that take the time.
    let whole = start(&folder, &words).wait_with_output().expect("its end");
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    let mut outputs = (0..100).map(|step| {
        let moment = Duration::from_millis(10 + 10 * step);
        interrupted(&folder, &words, moment)
    });
    let cut = outputs.find(|output| said(output).contains("Ctrl-C ended the look-up of names"));
    let cut = cut.expect("one signal comes while names are looked up");
    assert_eq!(cut.status.code(), Some(2), "{}", said(&cut));
    assert!(cut.stdout.is_empty());
}
