//! What `memlog follow` and `memlog top --batch` say, of logs that are finished and of programs
//! that run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use memlog_pages::{Files, Watch};

use crate::Victim;
use crate::common::tools::{Folder, skip, tools};

pub fn memlog(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    command.args(words).env("COLUMNS", "100");
    command.output().expect("memlog runs")
}

pub fn said(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Begins a victim that is recorded; its log.
pub fn begin(name: &str, args: &[&str], folder: &Folder) -> Option<(Victim, PathBuf)> {
    begin_with(name, args, folder, &[])
}

/// The same with settings of its recorder.
pub fn begin_with(
    name: &str,
    args: &[&str],
    folder: &Folder,
    settings: &[(&str, &str)],
) -> Option<(Victim, PathBuf)> {
    let Some(program) = tools().victim(name) else {
        skip(&format!("no compiler for {name}"));
        return None;
    };
    let log = folder.path().join("run.memlog");
    let mut command = crate::recorded(&program, args);
    command
        .env("MEMLOG_OUTPUT", &log)
        .envs(settings.iter().copied());
    Some((Victim::start(&mut command), log))
}

fn finished(name: &str, args: &[&str], folder: &Folder) -> Option<PathBuf> {
    let (mut victim, log) = begin(name, args, folder)?;
    victim.0.wait().expect("it ends");
    Some(log)
}

fn word(path: &Path) -> &str {
    path.to_str().expect("a name")
}

#[test]
fn the_growing_text_is_that_of_report() {
    let folder = Folder::new("follow-text");
    let Some(log) = finished("churn", &["200000"], &folder) else {
        return;
    };
    let log = word(&log);
    let expected = said(&memlog(&["report", "--as", "pmem", "--every", "4MiB", log]));
    assert!(expected.matches("churn=").count() > 3, "{expected}");
    let followed = said(&memlog(&["follow", "--every-churn", "4MiB", log]));
    assert!(followed == expected, "{followed}\n---\n{expected}");
    // What stands in the file stays, and nobody else reads it.
    let text = folder.path().join("growing.txt");
    fs::write(&text, "before\n").expect("written");
    fs::remove_file(&text).expect("removed");
    for _ in 0..2 {
        said(&memlog(&[
            "follow",
            "--every-churn",
            "4MiB",
            "-o",
            word(&text),
            log,
        ]));
    }
    let written = fs::read_to_string(&text).expect("a text");
    assert!(written == expected.repeat(2));
    let mode = fs::metadata(&text).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// No bytes are waited for, so none are named.
#[test]
fn snapshots_by_time_say_when_they_are() {
    let folder = Folder::new("follow-times");
    let Some(log) = finished("churn", &["200000"], &folder) else {
        return;
    };
    let log = word(&log);
    let timed = said(&memlog(&["follow", "--every", "10ms", log]));
    let heads = timed.lines().filter(|line| line.starts_with("churn="));
    let seconds: Vec<f64> = heads
        .map(|head| {
            let (churn, rest) = head.split_once(" at ").expect(head);
            assert!(!churn.contains('/'), "{head}");
            let seconds = rest.strip_suffix(" s").expect(head);
            seconds.parse().expect(head)
        })
        .collect();
    assert!(seconds.len() > 1, "{timed}");
    assert!(seconds.is_sorted(), "{timed}");
    let (last, others) = seconds.split_last().expect("some");
    for (place, seconds) in others.iter().enumerate() {
        assert!(
            (seconds - (place + 1) as f64 / 100.0).abs() < 0.005,
            "{timed}"
        );
    }
    assert!(last >= others.last().expect("some"), "{timed}");
    let both = ["follow", "--every", "10ms", "--every-churn", "4MiB", log];
    let both = said(&memlog(&both));
    assert!(both.contains("/4194304 at "), "{both}");
}

#[test]
fn a_text_that_grew_with_its_program_is_the_same() {
    let folder = Folder::new("follow-live");
    let Some((mut victim, log)) = begin("churn", &["3000000"], &folder) else {
        return;
    };
    let followed = memlog(&["follow", "--wait", "--every-churn", "16MiB", word(&log)]);
    victim.0.wait().expect("it ends");
    let followed = said(&followed);
    let expected = said(&memlog(&[
        "report",
        "--as",
        "pmem",
        "--every",
        "16MiB",
        word(&log),
    ]));
    assert!(followed == expected, "{followed}\n---\n{expected}");
}

#[test]
fn figures_for_prometheus_are_those_of_stats() {
    let folder = Folder::new("follow-prometheus");
    let Some(log) = finished("threads8", &["3000"], &folder) else {
        return;
    };
    let file = folder.path().join("it.prom");
    let out = said(&memlog(&[
        "follow",
        "--prometheus",
        word(&file),
        "--sites",
        "2",
        word(&log),
    ]));
    assert_eq!(out, "");
    let text = fs::read_to_string(&file).expect("figures");
    let stats = said(&memlog(&["stats", "--json", word(&log)]));
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    for (metric, key) in [
        ("memlog_allocations_total", "allocations"),
        ("memlog_frees_total", "releases"),
        ("memlog_allocated_bytes_total", "total_bytes"),
        ("memlog_heap_live_bytes", "end_live_bytes"),
        (
            "memlog_temporary_allocations_total",
            "temporary_allocations",
        ),
        ("memlog_heap_peak_bytes", "heap_peak_bytes"),
    ] {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{metric}{{")));
        let value = line.and_then(|line| line.rsplit(' ').next()).expect(metric);
        assert_eq!(value.parse::<f64>().ok(), stats[key].as_f64(), "{metric}");
    }
    assert!(text.contains("memlog_up{program=\"threads8\"") && text.contains("} 0\n"));
    assert_eq!(text.matches("memlog_site_live_bytes{").count(), 2, "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split('{').next().unwrap_or_default();
        assert!(text.contains(&format!("# TYPE {name} ")), "{line}");
    }
}

#[test]
fn the_top_ten_has_the_largest_last() {
    let folder = Folder::new("follow-top");
    let Some(log) = finished("threads8", &["3000"], &folder) else {
        return;
    };
    let text = said(&memlog(&["follow", "--top", "3", word(&log)]));
    assert!(text.starts_with("Allocations: "), "{text}");
    let sizes = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("# ")?.split_once(": ")?.1;
        rest.split_once(" bytes")?.0.parse::<u64>().ok()
    });
    let sizes: Vec<u64> = sizes.collect();
    assert!(
        !sizes.is_empty() && sizes.len() <= 3 && sizes.is_sorted(),
        "{text}"
    );
    assert!(text.contains("threads8.c:"), "{text}");
}

#[test]
fn a_process_is_found_by_its_number() {
    let folder = Folder::new("follow-pid");
    let Some((victim, log)) = begin("churn", &["100000000"], &folder) else {
        return;
    };
    wait_for(&log);
    std::thread::sleep(Duration::from_millis(300));
    let pid = victim.0.id().to_string();
    let text = said(&memlog(&["top", "--batch", "-n", "2", "-d", "0.2", &pid]));
    let folder_text = said(&memlog(&["top", "--batch", "-n", "1", word(folder.path())]));
    victim.end();
    assert_eq!(text.matches(&format!("pid {pid} on ")).count(), 2, "{text}");
    assert!(text.contains("running") && text.contains("*live"), "{text}");
    assert!(folder_text.contains("1 log, 1 running"), "{folder_text}");
    // It is gone by now.
    let gone = memlog(&["top", &pid]);
    assert_eq!(gone.status.code(), Some(2));
    let why = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(why.contains(&format!("there is no process {pid}")), "{why}");
    // Its log says what became of it, once nobody can be waited for.
    let ended = said(&memlog(&["top", word(&log)]));
    assert!(ended.contains("gone, killed or lost"), "{ended}");
}

/// Until a log says what it is of.
#[track_caller]
pub fn wait_for(log: &Path) {
    let begun = Instant::now();
    while Files::load(log, &Watch::silent()).is_err() {
        let is_late = begun.elapsed() >= Duration::from_secs(60);
        assert!(!is_late, "{} does not begin", log.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_view_says_that_recording_is_off() {
    let folder = Folder::new("follow-off");
    let settings = [("MEMLOG_START_DISABLED", "1")];
    let serve = ["serve", "60000"];
    let Some((victim, log)) = begin_with("switches", &serve, &folder, &settings) else {
        return;
    };
    wait_for(&log);
    let pid = victim.0.id().to_string();
    let shown = || {
        let text = said(&memlog(&["top", "--batch", "-n", "1", &pid]));
        let prom = folder.path().join("it.prom");
        let log = word(&log);
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        let mut follow = command
            .args(["follow", "--prometheus", word(&prom), log])
            .spawn()
            .expect("memlog runs");
        let begun = Instant::now();
        while !prom.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no figures");
            std::thread::sleep(Duration::from_millis(20));
        }
        follow.kill().expect("it ends");
        follow.wait().expect("it ends");
        let figures = fs::read_to_string(&prom).expect("figures");
        fs::remove_file(&prom).expect("removed");
        let line = figures
            .lines()
            .find(|line| line.starts_with("memlog_recording{"));
        let is_on = line.is_some_and(|line| line.ends_with(" 1"));
        (text.contains("running, recording is off"), is_on)
    };
    assert_eq!(shown(), (true, false));
    said(&memlog(&["ctl", &pid, "start"]));
    assert_eq!(shown(), (false, true));
    said(&memlog(&["ctl", &pid, "stop"]));
    assert_eq!(shown(), (true, false));
    victim.end();
}

/// What is live is that of a reader, however often the oldest events were overwritten.
#[test]
fn a_flight_recorder_is_shown() {
    let folder = Folder::new("follow-flight");
    let settings = [("MEMLOG_FLIGHT_RECORDER", "2M")];
    let churn = ["100000000", "2"];
    let Some((victim, log)) = begin_with("churn", &churn, &folder, &settings) else {
        return;
    };
    wait_for(&log);
    std::thread::sleep(Duration::from_millis(500));
    let pid = victim.0.id().to_string();
    let text = said(&memlog(&["top", "--batch", "-n", "3", "-d", "0.2", &pid]));
    assert_eq!(text.matches("running").count(), 3, "{text}");
    assert!(text.contains("main") || text.contains("churn.c:"), "{text}");
    victim.end();
    let prom = folder.path().join("it.prom");
    said(&memlog(&[
        "follow",
        "--prometheus",
        word(&prom),
        word(&log),
    ]));
    let figures = fs::read_to_string(&prom).expect("figures");
    let stats = said(&memlog(&["stats", "--json", word(&log)]));
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    let live = format!("}} {}", stats["end_live_bytes"]);
    let line = figures
        .lines()
        .find(|line| line.starts_with("memlog_heap_live_bytes{"));
    assert!(line.is_some_and(|line| line.ends_with(&live)), "{line:?}");
    let followed = memlog(&["follow", word(&log)]);
    let note = String::from_utf8_lossy(&followed.stderr).into_owned();
    assert!(note.contains("overwrites its oldest events"), "{note}");
}

#[test]
fn what_is_no_log_is_refused() {
    let folder = Folder::new("follow-refused");
    let none = folder.path().join("none.memlog");
    let other = folder.path().join("other.memlog");
    fs::write(&other, "a text").expect("written");
    for words in [
        ["follow", word(&none)],
        ["follow", word(&other)],
        ["follow", word(folder.path())],
        ["top", word(&none)],
        ["top", word(&other)],
        ["follow", "4194305"],
    ] {
        let output = memlog(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(
            !output.stderr.is_empty() && output.stdout.is_empty(),
            "{words:?}"
        );
    }
}
