//! Logs that grow, that come, that cannot be read.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Server, word};
use crate::recorded;
use crate::sites::Folder;
use crate::sites::build::GCC;

/// What should come soon on a busy machine, too.
const SOON: Duration = Duration::from_secs(60);

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// It allocates all the time, and not much.
const SLOW: &str = r#"
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    for (;;) {
        for (int i = 0; i < 100; i++) *(volatile char *)malloc(100) = 1;
        usleep(1000);
    }
}
"#;

#[test]
fn a_log_that_grows_is_read_again() {
    let folder = Folder::new("server-grows");
    let source = folder.path("slow.c");
    fs::write(&source, SLOW).expect("a source");
    let program = GCC.build_file(&folder, &source, "slow", &["-D_GNU_SOURCE"]);
    let log = folder.path("slow.memlog");
    let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
    command
        .args(["record", "-o"])
        .arg(&log)
        .arg(program)
        .arg("0");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    until("a log", || {
        fs::metadata(&log).is_ok_and(|file| file.len() > 0)
    });
    let server = Server::start(&folder, &[word(&log)]);
    let count = || {
        server.api("logs/1/table?top=1")["blocks"]
            .as_u64()
            .expect("a number")
    };
    let generation = || {
        server.api("logs")["logs"][0]["generation"]
            .as_u64()
            .expect("a number")
    };
    let first = count();
    assert_eq!(server.api("logs")["logs"][0]["is_running"], true);
    until("it grows", || generation() > 0 && count() > first);
    // The stream says so too, from the beginning on.
    let mut stream = server.connect();
    let asked = format!(
        "GET /api/1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Last-Event-ID: 1\r\n\r\n",
        server.token
    );
    stream.write_all(asked.as_bytes()).expect("a request");
    let known = generation();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut told = lines.filter_map(|line| {
        let data = line.strip_prefix("data: ")?.to_owned();
        let list: Value = serde_json::from_str(&data).expect("JSON");
        list["logs"][0]["generation"].as_u64()
    });
    assert!(told.any(|generation| generation > known), "nothing is told");
    // The program's end is seen, and then nothing changes any more.
    let pid = server.api("logs")["logs"][0]["pid"]
        .as_u64()
        .expect("a number");
    let ended = std::process::Command::new("kill")
        .arg(pid.to_string())
        .status();
    assert!(ended.expect("kill").success());
    child.wait().expect("it ends");
    until("its end", || {
        server.api("logs")["logs"][0]["is_running"] == false
    });
}

#[test]
fn logs_that_come_are_shown() {
    let folder = Folder::new("server-comes");
    let log = recorded(&folder);
    let logs = folder.folder("logs");
    fs::copy(&log, logs.join("a.memlog")).expect("a copy");
    fs::write(logs.join("text"), "no log").expect("a file");
    let server = Server::start(&folder, &["logs"]);
    assert_eq!(server.api("logs")["count"], 1);
    fs::copy(&log, logs.join("b.memlog")).expect("a copy");
    until("the second log", || server.api("logs")["count"] == 2);
    let blocks = |id: u32| server.api(&format!("logs/{id}/table?top=1"))["blocks"].clone();
    assert_eq!(blocks(1), blocks(2));
}

#[test]
fn what_cannot_be_read_is_told_until_it_can() {
    let folder = Folder::new("server-broken");
    let log = recorded(&folder);
    let (good, broken) = (folder.path("good.memlog"), folder.path("broken.memlog"));
    fs::copy(&log, &good).expect("a copy");
    fs::copy(&log, &broken).expect("a copy");
    let server = Server::start(&folder, &[word(&good), word(&broken)]);
    // It is overwritten after it was found, and before it is opened.
    fs::write(&broken, vec![b'x'; 1 << 16]).expect("a file");
    let (status, said) = server.refuses("/api/1/logs/2/table");
    assert!((400..500).contains(&status), "{said}");
    assert_eq!(server.api("logs")["logs"][1]["state"], "failed");
    assert_eq!(server.get("/api/1/logs/1/table").status, 200);
    std::thread::sleep(Duration::from_millis(1500));
    fs::copy(&log, &broken).expect("a copy");
    until("it is mended", || {
        server.get("/api/1/logs/2/table").status == 200
    });
}

/// Somebody copies another file over the table of a log that is served, or empties it.
#[test]
fn a_table_that_gets_shorter_is_made_anew() {
    let folder = Folder::new("server-cut");
    let log = crate::log_of(&folder, &crate::sites::victim("churn.c"), &["2000000"]);
    let server = Server::start(&folder, &[word(&log)]);
    let asked = |by: &str, where_: &str| {
        let reply = server.get(&format!("/api/1/logs/1/table?by={by}&where={where_}"));
        (reply.status, reply.json())
    };
    let figures = |answer: &Value| (answer["blocks"].clone(), answer["rows"].clone());
    let (status, before) = asked("kind", "size%3E%3D0");
    assert_eq!(status, 200, "{before}");
    assert!(before["blocks"].as_u64() > Some(0) && before["rows"][0].is_object());
    let table = log.with_extension("memlog.table");
    let whole = fs::metadata(&table).expect("a table").len();
    for (number, left) in [0, 1, 4096, whole - 5000].into_iter().enumerate() {
        let file = fs::File::options().write(true).open(&table);
        file.expect("it is ours").set_len(left).expect("shorter");
        let (status, after) = asked("kind", &format!("size%3E%3D0+and+size%3C99999{number}"));
        assert_eq!(status, 200, "{left}: {after}");
        assert_eq!(figures(&after), figures(&before), "{left}");
        let found = fs::metadata(&table).expect("made anew").len();
        assert_eq!(found, whole, "{left}");
    }
    // It is written to, and as long as before.
    let file = fs::File::options().write(true).open(&table);
    let mut file = file.expect("it is ours");
    std::thread::sleep(Duration::from_millis(20));
    file.write_all(&vec![0; whole as usize]).expect("room");
    let (status, after) = asked("kind", "size%3E%3D0+and+size%3C888888");
    assert_eq!(
        (status, figures(&after)),
        (200, figures(&before)),
        "overwritten"
    );
}

/// Where the record of the end begins in the first chunk of a log.
fn end_at(log: &[u8]) -> usize {
    const END: u8 = 7;
    let mut at = memlog_format::counter::AREA_END;
    loop {
        let (mut length, mut shift, mut body) = (0, 0, at + 1);
        loop {
            let byte = log[body];
            length |= usize::from(byte & 0x7f) << shift;
            (shift, body) = (shift + 7, body + 1);
            if byte < 0x80 {
                break;
            }
        }
        if log[at] == END {
            return at;
        }
        at = body + length;
    }
}

/// A program ends while its log is read: the end came into the file behind what was
/// read, and the process is gone when that is asked for.
#[test]
fn an_end_that_comes_late_is_read() {
    let folder = Folder::new("server-late");
    let whole = fs::read(recorded(&folder)).expect("a log");
    let at = end_at(&whole);
    let mut early = whole.clone();
    early[16..20].copy_from_slice(&(at as u32).to_le_bytes());
    early[6] &= !1;
    let log = folder.path("late.memlog");
    for wait_ms in [0, 4_000] {
        fs::write(&log, &early).expect("a log");
        let server = Server::start(&folder, &[word(&log)]);
        let has_ended = || server.api("logs/1/leaks")["stats"]["ended"].clone();
        assert_eq!(has_ended(), false);
        std::thread::sleep(Duration::from_millis(wait_ms));
        let file = fs::File::options().write(true).open(&log);
        file.and_then(|mut file| file.write_all(&whole))
            .expect("it is ours");
        until("its end", || has_ended() == true);
    }
}
