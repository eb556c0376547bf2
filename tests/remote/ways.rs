//! Secrets; ssh as it is asked; discovery within one machine; processes and folders.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::ends::{Gather, Process, grows, memlog, record, same};
use crate::sites::build::GCC;
use crate::sites::{Folder, said};

/// A log of a program that has ended.
pub fn small(folder: &Folder, name: &str) -> PathBuf {
    let program = grows(folder);
    let log = folder.path(name);
    record(folder, &log, &program, &["2", "100"]).ends();
    log
}

#[test]
fn only_who_has_the_secret_is_let_in() {
    let folder = Folder::new("remote-secret");
    let log = small(&folder, "a.memlog");
    for name in ["ours", "theirs"] {
        let told = folder.says(&["gather", "--new-secret", name]);
        assert!(told.contains(&format!("{name}.send")), "{told}");
    }
    let gather = Gather::start(&folder, &["--secret", "ours"]);
    gather.sends(&folder, &["--secret", "ours.send", "a.memlog"]);
    same(&log, &folder.path("gathered/a.memlog"));
    fs::remove_file(folder.path("gathered/a.memlog")).expect("the log");
    // Another's secret, and none; each tries on until its patience ends.
    for words in [&["--secret", "theirs.send"][..], &[]] {
        let mut words = words.to_vec();
        words.extend(["--give-up-after", "0", "a.memlog"]);
        let mut stream = gather.stream(&folder, &words);
        assert_eq!(stream.ends(), Some(2), "{}", stream.said());
        let told = stream.said();
        assert!(told.contains("no receiver: 127.0.0.1:"), "{told}");
        let has_none = words.len() == 3;
        let is_asked = told.contains("was it started with --secret?");
        assert_eq!(is_asked, has_none, "{told}");
    }
    assert!(folder.logs("gathered").is_empty());
    gather.process.says("is not let in");
    // A sender does not speak to a receiver of another secret.
    let other = Folder::new("remote-other");
    fs::copy(folder.path("theirs"), other.path("theirs")).expect("a copy");
    let stranger = Gather::start(&other, &["--secret", "theirs"]);
    let mut stream = stranger.stream(
        &folder,
        &["--secret", "ours.send", "--give-up-after", "0", "a.memlog"],
    );
    assert_eq!(stream.ends(), Some(2));
    assert!(stream.said().contains("secret"), "{}", stream.said());
    assert!(other.logs("gathered").is_empty());
    // Nothing of a log went over the network as it is.
    let said = gather.end();
    assert!(said.contains("1 complete"), "{said}");
}

#[test]
fn a_secret_that_others_can_read_is_refused() {
    let folder = Folder::new("remote-modes");
    folder.says(&["gather", "--new-secret", "key"]);
    small(&folder, "a.memlog");
    let refused = |words: &[&str], why: &str| {
        let output = folder.run(words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(why) && told.contains("hint"), "{told}");
    };
    let stream = ["stream", "--secret", "key.send", "a.memlog", "127.0.0.1:1"];
    fs::set_permissions(folder.path("key.send"), Permissions::from_mode(0o644)).expect("a mode");
    refused(&stream, "chmod 600");
    refused(
        &["stream", "--secret", "key", "a.memlog", "127.0.0.1:1"],
        ".send",
    );
    refused(&["gather", "--new-secret", "key"], "cannot make a secret");
    refused(&["gather", "--listen", "0.0.0.0:0"], "there is no secret");
    refused(&["gather", "--secret", "none"], "cannot be used");
    refused(&["stream", "a.memlog"], "is no HOST:PORT");
    refused(&["stream", "127.0.0.1:7"], "nothing is to be sent");
    refused(
        &["stream", "gone.memlog", "127.0.0.1:7"],
        "no file, folder or process",
    );
    refused(
        &["stream", "--ssh=-oProxyCommand=x", "a.memlog"],
        "is no host",
    );
}

#[test]
fn it_goes_through_ssh() {
    let folder = Folder::new("remote-ssh");
    let log = small(&folder, "a.memlog");
    // What stands for ssh does what it does: the last word is a line for a shell there.
    let bin = folder.folder("bin");
    let ssh = bin.join("ssh");
    let script = "#!/bin/sh\necho \"$@\" >> asked\nfor last; do :; done\nexec sh -c \"$last\"\n";
    fs::write(&ssh, script).expect("a script");
    fs::set_permissions(&ssh, Permissions::from_mode(0o755)).expect("a mode");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memlog"), bin.join("memlog")).expect("a link");
    let path = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = memlog(
        &folder,
        &[
            "stream",
            "--ssh",
            "me@there",
            "--dir",
            "it's $(here)",
            "a.memlog",
        ],
    );
    command.env("PATH", path);
    let mut stream = Process::start(command);
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("it's $(here)/a.memlog"));
    let asked = fs::read_to_string(folder.path("asked")).expect("it was started");
    assert!(
        asked.contains("-- me@there memlog gather --stdio"),
        "{asked}"
    );
    // What the other side says comes here, on stderr.
    assert!(
        stream.said().contains("a.memlog is complete"),
        "{}",
        stream.said()
    );
}

#[test]
fn they_find_each_other_when_asked() {
    let folder = Folder::new("remote-find");
    let log = small(&folder, "a.memlog");
    folder.says(&["gather", "--new-secret", "key"]);
    let gather = Gather::start(&folder, &["--secret", "key", "--discover=127.0.0.1:0"]);
    let told = gather.process.said();
    let (_, rest) = told.split_once("looks for it at ").expect(&told);
    let at = rest.lines().next().expect(&told);
    let announce = format!("--announce={at}");
    let words = ["stream", "--secret", "key.send", &announce, "a.memlog"];
    let mut stream = Process::start(memlog(&folder, &words));
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("gathered/a.memlog"));
}

#[test]
fn a_process_and_its_children_are_found() {
    let folder = Folder::new("remote-children");
    let program = grows(&folder);
    let starter = folder.path("starter.c");
    fs::write(&starter, STARTER).expect("a source");
    let starter = GCC.build_file(&folder, &starter, "starter", &["-O2", "-D_GNU_SOURCE"]);
    folder.folder("logs");
    let gather = Gather::start(&folder, &[]);
    let log = folder.path("logs/%e.memlog");
    let mut command = memlog(&folder, &["record", "-o"]);
    command.arg(&log).arg(&starter).arg(&program);
    let mut recorded = Process::start(command);
    let own = folder.path("logs/starter.memlog");
    crate::ends::until("a log", || {
        fs::metadata(&own).is_ok_and(|file| file.len() > 0)
    });
    let pid = pid_of(&folder, &own);
    let mut stream = gather.stream(&folder, &["--follow-children", &pid]);
    assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    for name in ["starter", "grows"] {
        let name = format!("{name}.memlog");
        same(
            &folder.path("logs").join(&name),
            &folder.path("gathered").join(&name),
        );
    }
    // What is no recorded process is told.
    let output = folder.run(&["stream", "1", "127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// It runs another program, and waits for it and then some.
const STARTER: &str = r#"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    free(malloc(1000));
    usleep(1000000);
    if (fork() == 0) {
        execl(argv[1], argv[1], "2", "1000", (char *)0);
        _exit(1);
    }
    wait(0);
    usleep(1000000);
    return 0;
}
"#;

pub fn pid_of(folder: &Folder, log: &Path) -> String {
    let list = folder.says(&[
        "info".as_ref(),
        "--list".as_ref(),
        "--json".as_ref(),
        log.as_os_str(),
    ]);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    list["logs"][0]["pid"]
        .as_u64()
        .expect("a number")
        .to_string()
}

#[test]
fn a_folder_ends_when_all_that_is_there_is_complete() {
    let folder = Folder::new("remote-once");
    let logs = folder.folder("logs");
    small(&folder, "a.memlog");
    for name in ["a", "b", "c"] {
        let there = logs.join(name);
        fs::create_dir(&there).expect("mkdir");
        fs::copy(folder.path("a.memlog"), logs.join(format!("{name}.memlog"))).expect("a copy");
    }
    fs::write(logs.join("d.memlog"), "no log").expect("a file");
    fs::write(logs.join("e.memlog"), "").expect("a file");
    let gather = Gather::start(&folder, &[]);
    gather.sends(&folder, &["--once", "-q", "logs"]);
    // They are copies of one log, under three names.
    for name in ["a", "b", "c"] {
        let name = format!("{name}.memlog");
        same(&logs.join(&name), &folder.path("gathered").join(&name));
    }
    assert_eq!(folder.logs("gathered").len(), 3);
}
