//! Logs of many shapes, and many at once.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use memlog_format::chunk::{CHUNK_SIZE, Header, Kind};
use memlog_format::counter::{AREA_AT, Counter};

use crate::ends::{Gather, Process, grows, memlog, record, record_with, same, until};
use crate::sites::build::GCC;
use crate::sites::{Folder, victim};

#[test]
fn a_log_that_is_whole_arrives_whole() {
    let folder = Folder::new("remote-whole");
    let program = GCC.build_file(
        &folder,
        &victim("server.c"),
        "server",
        &["-D_GNU_SOURCE", "-pthread"],
    );
    let log = folder.path("server.memlog");
    record(&folder, &log, &program, &[]).ends();
    let gather = Gather::start(&folder, &[]);
    gather.sends(&folder, &[&log]);
    same(&log, &folder.path("gathered/server.memlog"));
    // Once more there is nothing to send, and no second file.
    gather.sends(&folder, &[&log]);
    assert_eq!(folder.logs("gathered").len(), 1);
    let said = gather.end();
    assert!(
        said.contains("server.memlog begins: server, process "),
        "{said}"
    );
    assert!(said.contains("server.memlog is complete: "), "{said}");
    assert!(said.contains("no event lost"), "{said}");
    assert!(said.contains("1 log in gathered"), "{said}");
}

#[test]
fn logs_of_the_same_name_have_files_of_their_own() {
    let folder = Folder::new("remote-alike");
    let program = grows(&folder);
    let gather = Gather::start(&folder, &[]);
    let logs = ["a", "b", "c"].map(|place| folder.folder(place).join("x.memlog"));
    for log in &logs {
        record(&folder, log, &program, &["1", "50"]).ends();
    }
    gather.sends(&folder, &logs);
    for (place, name) in [("a", "x"), ("b", "x.2"), ("c", "x.3")] {
        let gathered = folder.path(&format!("gathered/{name}.memlog"));
        same(&folder.path(place).join("x.memlog"), &gathered);
    }
    // A link that lies there is not followed, nor is it another's log.
    let link = folder.path("gathered/y.memlog");
    std::os::unix::fs::symlink(folder.path("elsewhere"), &link).expect("a link");
    let log = folder.path("y.memlog");
    fs::copy(folder.path("a/x.memlog"), &log).expect("a copy");
    gather.sends(&folder, &[&log]);
    same(&log, &folder.path("gathered/y.2.memlog"));
    assert!(!folder.path("elsewhere").exists());
}

#[test]
fn a_log_that_grows_arrives_whole() {
    let folder = Folder::new("remote-grows");
    let program = grows(&folder);
    let gather = Gather::start(&folder, &[]);
    let all = [
        ("threads", &[][..], ["16", "1000", "300"]),
        ("flight", &["--flight-recorder=1M"][..], ["4", "1000", "0"]),
        ("culled", &["--cull=10ms"][..], ["8", "1000", "100"]),
        (
            "fine",
            &["--fine-time", "--free-stacks"][..],
            ["2", "500", "100"],
        ),
    ];
    let (folder, program, gather) = (&folder, &program, &gather);
    std::thread::scope(|scope| {
        for (name, options, words) in all {
            scope.spawn(move || {
                let log = folder.path(&format!("{name}.memlog"));
                let mut recorded = record_with(folder, options, &log, program, &words);
                gather.sends(folder, &[&log]);
                assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
                let gathered = folder.path(&format!("gathered/{name}.memlog"));
                same(&log, &gathered);
                assert_eq!(fs::metadata(&gathered).map(mode).ok(), Some(0o600));
            });
        }
    });
}

fn mode(found: fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777
}

/// A full log: each of many threads has filled chunks, and no next one. Those that are told
/// as far as they can be hold no others up.
#[test]
fn many_chunks_that_have_no_next_arrive() {
    const STREAMS: u32 = 600;
    let folder = Folder::new("remote-full");
    let program = grows(&folder);
    let log = folder.path("full.memlog");
    record(&folder, &log, &program, &["1", "10"]).ends();
    let mut bytes = fs::read(&log).expect("a log");
    let first = (bytes.len() / CHUNK_SIZE) as u64;
    bytes.resize(bytes.len().next_multiple_of(CHUNK_SIZE), 0);
    for sequence in 0..2 {
        for stream in 1000..1000 + STREAMS {
            let begun = Header::new(Kind::Events, stream, sequence);
            bytes.extend(begun.over(&[], true).encode());
            bytes.resize(bytes.len().next_multiple_of(CHUNK_SIZE), 0);
        }
    }
    let at = AREA_AT + 8 * Counter::Chunks as usize;
    let chunks = (first + 2 * u64::from(STREAMS)).to_le_bytes();
    bytes[at..at + 8].copy_from_slice(&chunks);
    fs::write(&log, bytes).expect("a log");
    let gather = Gather::start(&folder, &[]);
    gather.sends(&folder, &[&log]);
    same(&log, &folder.path("gathered/full.memlog"));
}

#[test]
fn a_program_that_is_killed_has_its_death_there() {
    let folder = Folder::new("remote-death");
    let program = grows(&folder);
    let log = folder.path("killed.memlog");
    let gather = Gather::start(&folder, &[]);
    let mut recorded = record(&folder, &log, &program, &["4", "100000", "200"]);
    let mut stream = gather.stream(&folder, &[&log]);
    gather.process.says("killed.memlog begins");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let info = folder.says(&["info", "--list", "--json", "killed.memlog"]);
    let list: serde_json::Value = serde_json::from_str(&info).expect("JSON");
    let pid = list["logs"][0]["pid"]
        .as_u64()
        .expect("a number")
        .to_string();
    std::process::Command::new("kill")
        .args(["-9", &pid])
        .status()
        .expect("kill");
    recorded.ends();
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("gathered/killed.memlog"));
    let told = folder.says(&["info", "gathered/killed.memlog"]);
    assert!(told.contains("SIGKILL"), "{told}");
}

/// Children that fork, that exec, that are killed: a log each.
#[test]
fn a_folder_of_many_processes_arrives_whole() {
    let folder = Folder::new("remote-folder");
    let program = GCC.build_file(
        &folder,
        &victim("forker.c"),
        "forker",
        &["-D_GNU_SOURCE", "-pthread"],
    );
    folder.folder("logs");
    let gather = Gather::start(&folder, &[]);
    let mut stream = gather.stream(&folder, &["logs/"]);
    let mut command = memlog(&folder, &["record", "-o", "logs/"]);
    command.arg(&program).arg("4");
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("it runs").success());
    let logs = folder.logs("logs");
    assert!(logs.len() > 10, "{logs:?}");
    until("all logs", || {
        let said = stream.said();
        let there = said
            .lines()
            .filter(|line| line.contains(" is there: "))
            .count();
        there >= logs.len()
    });
    stream.signal("TERM");
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    for log in &logs {
        let name = log.file_name().expect("a name");
        same(log, &folder.path("gathered").join(name));
    }
    assert_eq!(folder.logs("gathered").len(), logs.len());
}

/// A program that did nothing at last, and a sender that is asked to end right behind it.
#[test]
fn a_sender_that_ends_with_its_program_is_complete() {
    let folder = Folder::new("remote-together");
    let gather = Gather::start(&folder, &[]);
    let program = PathBuf::from("sleep");
    std::thread::scope(|scope| {
        // Looks come each half second: one of these moments is between a look and its answer's age.
        for number in 0..6 {
            let (folder, gather, program) = (&folder, &gather, &program);
            scope.spawn(move || {
                let name = format!("{number}.memlog");
                let log = folder.folder(&format!("s{number}")).join(&name);
                let seconds = format!("{}", 2.0 + 0.08 * f64::from(number));
                let mut recorded = record(folder, &log, program, &[&seconds]);
                let mut stream = gather.stream(folder, &[log.parent().expect("a folder")]);
                stream.says(" goes there as ");
                assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
                stream.signal("TERM");
                assert_eq!(stream.ends(), Some(0), "{}", stream.said());
                same(&log, &folder.path("gathered").join(name));
            });
        }
    });
}

#[test]
fn many_senders_send_at_once() {
    let folder = Folder::new("remote-many");
    let program = grows(&folder);
    let gather = Gather::start(&folder, &["--max-senders=60"]);
    let senders = 50;
    let logs: Vec<PathBuf> = (0..senders)
        .map(|number| folder.folder(&format!("s{number}")).join("same.memlog"))
        .collect();
    let mut all: Vec<(Process, Process)> = logs
        .iter()
        .map(|log| {
            let recorded = record(&folder, log, &program, &["2", "1000", "2000"]);
            (recorded, gather.stream(&folder, &[log]))
        })
        .collect();
    for (recorded, stream) in &mut all {
        assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
        assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    }
    let mut sent: Vec<Vec<u8>> = logs
        .iter()
        .map(|log| fs::read(log).expect("a log"))
        .collect();
    let gathered = folder.logs("gathered").into_iter();
    let mut gathered: Vec<Vec<u8>> = gathered.map(|log| fs::read(log).expect("a log")).collect();
    sent.sort();
    gathered.sort();
    assert_eq!(gathered.len(), senders);
    assert!(sent == gathered, "their bytes differ");
    let said = gather.end();
    assert!(said.contains("50 logs in gathered, 50 complete"), "{said}");
}
