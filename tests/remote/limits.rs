//! A full disk, a bound, a slow pace; and what the sender takes.

use std::fs;
use std::time::{Duration, Instant};

use crate::ends::{Gather, Process, grows, memlog, record, same, until};
use crate::sites::Folder;
use crate::sites::disk::Disk;

#[test]
fn a_bound_is_kept_and_told() {
    let folder = Folder::new("remote-bound");
    let program = grows(&folder);
    let gather = Gather::start(&folder, &["--max-bytes=1M"]);
    let log = folder.path("a.memlog");
    record(&folder, &log, &program, &["4", "2000", "100"]).ends();
    assert!(fs::metadata(&log).expect("a log").len() > 2 << 20);
    // Not for long: nothing makes room.
    let patient = ["--give-up-after=1".as_ref(), log.as_os_str()];
    let mut stream = gather.stream(&folder, &patient);
    assert_eq!(stream.ends(), Some(2), "{}", stream.said());
    assert!(
        stream.said().contains("--max-bytes allows 1048576"),
        "{}",
        stream.said()
    );
    assert!(
        stream.said().contains("not all is there of 1 log"),
        "{}",
        stream.said()
    );
    gather.process.says("is not taken: the logs here have");
    // What is there can be read.
    folder.says(&["report", "gathered/a.memlog"]);
    let said = gather.end();
    assert!(
        said.contains("0 complete") && said.contains("refused"),
        "{said}"
    );
    // And goes on where there is room.
    let gather = Gather::start(&folder, &[]);
    gather.sends(&folder, &[&log]);
    same(&log, &folder.path("gathered/a.memlog"));
    assert!(gather.end().contains("a.memlog goes on at "));
}

#[test]
fn a_full_disk_is_told_and_what_is_there_goes_on() {
    let folder = Folder::new("remote-full");
    let place = folder.path("gathered");
    let Some(disk) = Disk::mount(place, 2 << 20) else {
        println!("SKIPPED a full disk: none can be mounted");
        return;
    };
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    let mut recorded = record(&folder, &log, &program, &["4", "2000", "100"]);
    let gather = Gather::start(&folder, &["--keep-free=0"]);
    let patient = ["--give-up-after=3".as_ref(), log.as_os_str()];
    let mut stream = gather.stream(&folder, &patient);
    stream.says("a.memlog is not sent: ");
    gather.process.says("a.memlog from ");
    assert_eq!(recorded.ends(), Some(0));
    // It was offered some more times.
    until("another offer", || {
        gather.process.said().matches(" is not taken: ").count() > 1
    });
    assert_eq!(stream.ends(), Some(2), "{}", stream.said());
    folder.says(&["report", "gathered/a.memlog"]);
    drop(gather);
    drop(disk);
}

#[test]
fn the_pace_is_kept() {
    let folder = Folder::new("remote-pace");
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    record(&folder, &log, &program, &["4", "700", "100"]).ends();
    let bytes = fs::metadata(&log).expect("a log").len();
    let gather = Gather::start(&folder, &[]);
    let begun = Instant::now();
    let rate = (bytes / 3).to_string();
    gather.sends(
        &folder,
        &["--rate".as_ref(), rate.as_ref(), log.as_os_str()],
    );
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(2), "{took:?}");
    same(&log, &folder.path("gathered/a.memlog"));
}

/// Bytes that are resident, as the kernel counted at most.
fn most_resident(process: &Process) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kb.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[test]
fn neither_side_keeps_a_log_in_memory() {
    let folder = Folder::new("remote-memory");
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    record(&folder, &log, &program, &["8", "2500", "0"]).ends();
    let bytes = fs::metadata(&log).expect("a log").len();
    assert!(bytes > 40 << 20, "{bytes}");
    let gather = Gather::start(&folder, &[]);
    let mut stream = Process::start({
        let mut command = memlog(&folder, &["stream"]);
        command.arg(&log).arg(gather.address());
        command
    });
    let mut most = 0;
    while stream.child.try_wait().expect("a status").is_none() {
        most = most.max(most_resident(&stream));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(&log, &folder.path("gathered/a.memlog"));
    let own = fs::metadata(env!("CARGO_BIN_EXE_memlog"))
        .expect("memlog")
        .len();
    // Pages of the program itself are resident too.
    for most in [most, most_resident(&gather.process)] {
        assert!(most > 0 && most < (24 << 20) + own / 4, "{most} of {bytes}");
    }
}
