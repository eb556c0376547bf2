//! What commands and the server say while it grows.

use std::process::Stdio;

use serde_json::Value;

use crate::ends::{Gather, Process, grows, memlog, record, record_with, same, until};
use crate::sites::{Folder, said};

#[test]
fn it_can_be_read_at_each_moment() {
    read_at_each_moment("remote-live", &[]);
}

/// Its newest chunks are written anew in other places.
#[test]
fn one_that_is_culled_can_be_read_at_each_moment() {
    read_at_each_moment("remote-live-culled", &["--cull=10ms"]);
}

fn read_at_each_moment(name: &str, options: &[&str]) {
    let folder = Folder::new(name);
    let program = grows(&folder);
    let log = folder.path("live.memlog");
    let gather = Gather::start(&folder, &[]);
    let words = ["8", "200000", "6000"];
    let mut recorded = record_with(&folder, options, &log, &program, &words);
    let mut stream = gather.stream(&folder, &[&log]);
    gather.process.says("live.memlog begins");
    let (mut reads, mut steps, mut last) = (0, 0, 0);
    while reads < 12 || steps < 6 {
        let stats = folder.stats("gathered/live.memlog".as_ref());
        assert!(!stats.is("is_whole") || stats.value("is_whole").is_null());
        let count = stats.number("allocations");
        assert!(count >= last, "{count} after {last}");
        assert_eq!(stats.number("lost_events"), 0);
        assert_eq!(
            stats.number("findings_count"),
            0,
            "{}",
            stats.value("findings")
        );
        steps += u32::from(count > last);
        last = count;
        for words in [
            &["report", "gathered/live.memlog"][..],
            &["check", "--max-peak", "10G", "gathered/live.memlog"],
        ] {
            let output = folder.run(words);
            let shown = String::from_utf8_lossy(&output.stdout);
            let info = || folder.says(&["info", "gathered/live.memlog"]);
            let (told, is_good) = (said(&output), output.status.success());
            assert!(is_good, "{words:?}: {told} {shown} {}", info());
        }
        reads += 1;
        assert!(reads < 1000, "it does not grow");
    }
    recorded.signal("TERM");
    assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("gathered/live.memlog"));
    folder.holds_whole(&folder.path("gathered/live.memlog"));
}

/// A long log of which nothing is there yet, over a slow network: whoever reads it meanwhile
/// is told that it is not all.
#[test]
fn what_is_not_there_yet_is_told() {
    let folder = Folder::new("remote-behind");
    let program = grows(&folder);
    let log = folder.path("long.memlog");
    record(&folder, &log, &program, &["4", "1000", "100"]).ends();
    let rate = std::fs::metadata(&log).expect("a log").len() / 2;
    let gather = Gather::start(&folder, &[]);
    let rate = format!("--rate={rate}");
    let mut stream = gather.stream(&folder, &[rate.as_ref(), log.as_os_str()]);
    gather.process.says("long.memlog begins");
    let (mut told, mut last) = (0, 0);
    while stream.child.try_wait().expect("a status").is_none() {
        folder.says(&["report", "gathered/long.memlog"]);
        let stats = folder.stats("gathered/long.memlog".as_ref());
        let findings = stats.value("findings").to_string();
        let is_cut = findings.contains("events at its end are missing");
        let count = stats.number("findings_count");
        assert_eq!(count, u64::from(is_cut), "{findings}");
        told += u32::from(is_cut);
        assert!(stats.number("allocations") >= last);
        last = stats.number("allocations");
    }
    assert!(told > 0);
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("gathered/long.memlog"));
    folder.holds_whole(&folder.path("gathered/long.memlog"));
}

/// A page of the server, by its API.
fn api(folder: &Folder, server: &Process, path: &str) -> Option<Value> {
    let said = server.said();
    let (_, link) = said.split_once("http://127.0.0.1:")?;
    let (port, rest) = link.split_once("/?token=")?;
    let token = rest.lines().next()?;
    let mut command = folder.command("curl");
    command
        .args(["-sf", "-H", &format!("Authorization: Bearer {token}")])
        .arg(format!("http://127.0.0.1:{port}/api/1/{path}"));
    let output = command.stderr(Stdio::null()).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
fn the_server_follows_what_is_gathered() {
    if std::process::Command::new("curl")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("SKIPPED the server follows what is gathered: there is no curl");
        return;
    }
    let folder = Folder::new("remote-server");
    let program = grows(&folder);
    let gather = Gather::start(&folder, &[]);
    let log = folder.path("first.memlog");
    let mut recorded = record(&folder, &log, &program, &["2", "100000", "500"]);
    let mut stream = gather.stream(&folder, &[&log]);
    gather.process.says("first.memlog begins");
    let server = Process::start(memlog(&folder, &["server", "gathered"]));
    server.says("token=");
    let blocks = || api(&folder, &server, "logs/1/table?top=1")?["blocks"].as_u64();
    until("an answer", || blocks().is_some());
    let first = blocks().expect("a number");
    until("it grows", || blocks().is_some_and(|count| count > first));
    // Another that comes is there too.
    let second = folder.path("second.memlog");
    record(&folder, &second, &program, &["1", "100"]).ends();
    gather.sends(&folder, &[&second]);
    until("the second", || {
        api(&folder, &server, "logs").is_some_and(|list| list["count"] == 2)
    });
    recorded.signal("TERM");
    recorded.ends();
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    let stats = folder.stats(&log);
    until("all blocks", || {
        blocks() == Some(stats.number("allocations"))
    });
}
