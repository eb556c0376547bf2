//! Ctrl-C while a big log is read.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::logs::sites;
use crate::sites::build::GCC;
use crate::sites::own_time::{OwnTime, cpu_time};
use crate::sites::{Folder, said};
use crate::{SETTINGS, with_logs};

const STEPS: u64 = 2_000_000;

/// Millions of events, whose reading takes longer than a signal does.
pub fn big_log(folder: &Folder, steps: u64) -> PathBuf {
    let program = GCC.build(folder, "churn.c", "churn", &["-pthread"]);
    let log = folder.path("big.memlog");
    let steps = steps.to_string();
    let words = ["record", "-o"].map(AsRef::as_ref);
    let rest = [log.as_os_str(), program.as_os_str(), steps.as_ref()];
    folder.says(&[words.as_slice(), &rest].concat());
    log
}

/// memlog itself, for signals are for it and not for what limits its time.
fn memlog(folder: &Folder, words: &[&str]) -> Command {
    let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
    for name in SETTINGS {
        command.env_remove(name);
    }
    command.args(words);
    command
}

fn start(folder: &Folder, words: &[&str]) -> Child {
    let mut command = memlog(folder, words);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("memlog runs")
}

/// Waits until the signal is caught.
#[track_caller]
fn wait_until_it_listens(child: &mut Child) {
    let mut time = OwnTime::start();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.expect("/proc");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(mask.expect("SigCgt").trim(), 16).expect("a mask");
        if mask & 0b10 != 0 {
            // All three parts of it.
            std::thread::sleep(Duration::from_millis(2));
            return;
        }
        assert!(
            time.spent() < Duration::from_secs(60) && child.try_wait().expect("wait").is_none()
        );
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn interrupt(child: &Child) {
    // SAFETY: no memory is involved; nobody has waited for the child.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
}

fn interrupted(folder: &Folder, words: &[&str]) -> Output {
    let mut child = start(folder, words);
    wait_until_it_listens(&mut child);
    interrupt(&child);
    child.wait_with_output().expect("its end")
}

#[test]
fn what_was_read_is_shown() {
    let folder = Folder::new("show-interrupt");
    big_log(&folder, STEPS);
    for command in [
        "report",
        "report --every 20ms --show-snapshots",
        "summary",
        "tree",
        "table --by size",
    ] {
        let words: Vec<_> = command.split(' ').collect();
        let output = interrupted(&folder, &[&words[..], &["big.memlog"]].concat());
        assert_eq!(
            output.status.code(),
            Some(130),
            "{command}: {}",
            said(&output)
        );
        let page = String::from_utf8(output.stdout).expect("text");
        let first = page.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("PART ONLY: read up to "),
            "{command}: {first}"
        );
        assert!(
            first.contains(" s of the log, interrupted"),
            "{command}: {first}"
        );

        let output = interrupted(&folder, &[&words[..], &["--json", "big.memlog"]].concat());
        assert_eq!(
            output.status.code(),
            Some(130),
            "{command}: {}",
            said(&output)
        );
        let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(
            page["interrupted"]["read_up_to_seconds"].is_f64(),
            "{command}"
        );
        let read = page["stats"]["allocations"].as_u64().expect("a number");
        assert!(read < STEPS, "{command}: all {read} were read");
    }
    let output = interrupted(&folder, &["flamegraph", "big.memlog"]);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let page = std::fs::read_to_string(folder.path("big.memlog.flame.html")).expect("a page");
    assert!(
        page.contains("<p>PART ONLY: read up to "),
        "{}",
        said(&output)
    );
}

/// The names of a program that has very many of them: memlog itself. When the
/// look-up begins nobody tells, so the signal is sent ever later, by what memlog
/// has computed until then.
#[test]
fn names_that_were_not_found_yet_are_left_out() {
    let folder = with_logs("show-names-cut", &[("a", sites())]);
    let tool = env!("CARGO_BIN_EXE_memlog");
    let words = ["record", "-o", "self.memlog", tool, "info", "a.memlog"];
    folder.says(&words);
    for command in ["report", "summary"] {
        let mut cut_short = (0..100).map(|step| {
            let mut child = start(&folder, &[command, "self.memlog"]);
            let moment = Duration::from_millis(10 + 10 * step);
            let mut is_there = true;
            while is_there && cpu_time(child.id()) < moment {
                std::thread::sleep(Duration::from_millis(1));
                is_there = child.try_wait().expect("wait").is_none();
            }
            if is_there {
                interrupt(&child);
            }
            child.wait_with_output().expect("its end")
        });
        let told = cut_short.find(|output| {
            let page = String::from_utf8_lossy(&output.stdout);
            page.contains("note: Ctrl-C ended the look-up of names")
        });
        let told = told.expect("one signal comes while names are looked up");
        assert_eq!(told.status.code(), Some(130), "{command}");
        let page = String::from_utf8_lossy(&told.stdout);
        assert!(page.starts_with("program: "), "all was read: {page}");
        assert!(page.contains("memlog+0x"), "{page}");
    }
}

/// However early the first one came, the page finds no room to be printed.
#[test]
fn the_second_one_kills() {
    let folder = Folder::new("show-killed");
    big_log(&folder, STEPS);
    let (_reader, mut full) = std::io::pipe().expect("a pipe");
    full.write_all(&[0; 65_536]).expect("what it holds");
    let mut child = memlog(&folder, &["report", "big.memlog"])
        .stdout(full)
        .spawn()
        .expect("run");
    wait_until_it_listens(&mut child);
    while child.try_wait().expect("wait").is_none() {
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(1));
    }
    let status = child.wait().expect("its end");
    assert_eq!(status.signal(), Some(2), "{status}");
}

/// Two logs are read one after the other; a page that is longer than its pipe is being
/// printed when the signal comes.
#[test]
fn a_page_of_two_logs_is_not_printed_after_it() {
    let folder = Folder::new("show-diff-killed");
    big_log(&folder, 20_000);
    let words = "diff --json --at 20% --at end big.memlog";
    let words: Vec<_> = words.split(' ').collect();
    let whole = folder.says(&words);
    assert!(whole.len() > 2 * 4096, "{}", whole.len());
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the descriptor is open; its pipe becomes as small as there is.
    let room = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
    assert!((1..=4096).contains(&room), "{room}");
    let mut child = memlog(&folder, &words).stdout(writer).spawn().expect("run");
    reader.read_exact(&mut [0]).expect("its first byte");
    interrupt(&child);
    std::io::copy(&mut reader, &mut std::io::sink()).expect("the rest");
    let status = child.wait().expect("its end");
    assert_eq!(status.signal(), Some(2), "{status}");
}

/// Those that show nothing by halves end as they always did.
#[test]
fn others_die_at_once() {
    let folder = Folder::new("show-stats");
    big_log(&folder, STEPS);
    let child = start(&folder, &["stats", "big.memlog"]);
    interrupt(&child);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.signal(), Some(2), "{}", output.status);
    assert!(output.stdout.is_empty());
}
