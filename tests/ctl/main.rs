//! Recording that goes on and off: by the program, by `memlog ctl`, by time, by a signal.
//! What a window holds is known to the program itself, to the byte.

mod asked;
#[path = "../sites/mod.rs"]
mod sites;
mod windows;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sites::build::GCC;
use sites::{Folder, said};

/// The victim, built once a test.
fn built(folder: &Folder) -> PathBuf {
    GCC.build::<&str>(folder, "switches.c", "switches", &["-pthread", "-ldl"])
}

/// `memlog record OPTIONS -o it.memlog switches WORDS`.
fn record(folder: &Folder, options: &[&str], words: &[&str]) -> Command {
    let mut line = vec!["record", "-o", "it.memlog"];
    line.extend(options);
    line.push("./switches");
    line.extend(words);
    folder.memlog(&line)
}

#[track_caller]
fn run(mut command: Command) -> Output {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    output
}

#[track_caller]
fn json(folder: &Folder, words: &[&str], log: &str) -> Value {
    let log = folder.path(log);
    let words = words.iter().map(OsStr::new);
    let words = words.chain([OsStr::new("--json"), log.as_os_str()]);
    serde_json::from_str(&folder.says(&words.collect::<Vec<_>>())).expect("JSON")
}

/// Nothing lost, nothing out of order, nothing that is live twice.
#[track_caller]
fn is_whole(folder: &Folder, log: &str) -> Value {
    folder.whole(&folder.path(log))
}

/// Whether recording went on or off, in turn.
fn switches(stats: &Value) -> Vec<(bool, String)> {
    let one = |switch: &Value| {
        let by = switch["by"].as_str().expect("who").to_owned();
        (switch["on"].as_bool().expect("whether"), by)
    };
    let all = stats["switches"].as_array().expect("a list");
    all.iter().map(one).collect()
}

fn by(who: &str, turns: &[bool]) -> Vec<(bool, String)> {
    turns.iter().map(|&on| (on, who.to_owned())).collect()
}

/// Each window holds what the program allocated in it, and nothing else.
#[track_caller]
fn windows_agree(folder: &Folder, log: &str, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).expect("a number");
    let mut count = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("window ")) {
        let mut words = line.split(' ');
        let window: u64 = number(words.next());
        let (bytes, blocks): (u64, u64) = (number(words.next()), number(words.next()));
        let moment = format!("mark \"end {window}\"");
        let page = json(
            folder,
            &["table", "--at", &moment, "--where", "function = hold"],
            log,
        );
        assert_eq!(
            (page["bytes"].as_u64(), page["blocks"].as_u64()),
            (Some(bytes), Some(blocks)),
            "window {window}: {text}"
        );
        // The tree goes through the events, and not through a table of them.
        let page = json(
            folder,
            &["report", "--at", &moment, "--where", "function = hold"],
            log,
        );
        assert_eq!(
            page["trees"][0]["bytes"], bytes,
            "window {window}: {page:#}"
        );
        count += 1;
    }
    assert!(count > 0, "{text}");
    let stats = is_whole(folder, log);
    let turns: Vec<bool> = (0..2 * count).map(|turn| turn % 2 == 1).collect();
    assert_eq!(switches(&stats), by("program", &turns));
}

/// A program that is recorded and does not end before it is asked.
struct Server {
    child: Child,
    pid: u32,
}

impl Server {
    #[track_caller]
    fn start(mut command: Command, folder: &Folder) -> Self {
        // What is found there is of this run.
        for name in ["it.memlog", "it.2.memlog"] {
            let _ = fs::remove_file(folder.path(name));
        }
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("memlog starts");
        Self {
            child,
            pid: pid_of(folder, "it.memlog"),
        }
    }

    #[track_caller]
    fn end(mut self) -> Output {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", said(&output));
        output
    }
}

/// The process of a log, once it is there.
#[track_caller]
fn pid_of(folder: &Folder, log: &str) -> u32 {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let path = folder.path(log);
        let info = folder.run(&["info".as_ref(), "--json".as_ref(), path.as_os_str()]);
        let info: Option<Value> = serde_json::from_slice(&info.stdout).ok();
        let pid = info.and_then(|info| info["pid"].as_u64());
        if let Some(pid) = pid.filter(|&pid| pid > 0) {
            return pid as u32;
        }
        assert!(Instant::now() < end, "no log {log}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `memlog ctl` says, and whether it is fine with it.
fn ctl(folder: &Folder, target: &str, words: &[&str]) -> (String, bool) {
    let mut line = vec!["ctl", target];
    line.extend(words);
    let output = folder.run(&line);
    let text = String::from_utf8_lossy(&output.stdout);
    (format!("{text}{}", said(&output)), output.status.success())
}

#[track_caller]
fn does(folder: &Folder, target: &str, words: &[&str], expected: &str) {
    let (text, is_fine) = ctl(folder, target, words);
    assert!(is_fine && text.contains(expected), "{words:?}: {text}");
}

#[track_caller]
fn refuses(folder: &Folder, target: &str, words: &[&str], expected: &str) {
    let (text, is_fine) = ctl(folder, target, words);
    assert!(!is_fine && text.contains(expected), "{words:?}: {text}");
}

fn pause() {
    std::thread::sleep(Duration::from_millis(150));
}
