//! Programs that give up new privileges, and set no filter: what room that is
//! made ready for one is counted as, and what it costs others.

mod sites;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memlog_format::chunk::CHUNK_SIZE;
use memlog_read::{Kind, Log};
use sites::build::GCC;
use sites::disk::Disk;
use sites::{Folder, said};

fn program(folder: &Folder) -> PathBuf {
    GCC.build::<&str>(folder, "heralded.c", "heralded", &["-pthread"])
}

/// Records a run; the log.
#[track_caller]
fn record(folder: &Folder, name: &str, words: &[&str], args: &[&str]) -> PathBuf {
    let log = folder.path(name);
    let mut command = folder.memlog(&["record", "-o", name]);
    command.args(words).arg(program(folder)).args(args);
    let output = command.output().expect("memlog runs");
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("nothing was lost"), "{told}");
    log
}

/// A counter of a log.
#[track_caller]
fn counter(folder: &Folder, log: &Path, name: &str) -> u64 {
    let info = folder.says(&["info".as_ref(), log.as_os_str()]);
    let mut lines = info.lines().map(str::trim);
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("{name}: {info}"));
    let digits = line.trim().replace(',', "");
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// Streams for threads that may come take a page each at once.
#[test]
fn stocked_streams_are_counted() {
    const STREAMS: u64 = 128;
    let folder = Folder::new("heralded-streams");
    // What is resident is read where that is cheap, which takes memory of its own.
    let options = ["--rss-detail", "off"];
    let own = |how: &str| {
        let log = record(&folder, &format!("{how}.memlog"), &options, &[how, "1000"]);
        counter(&folder, &log, "own_private_bytes")
    };
    let (plain, heralded) = (own("w"), own("hw"));
    assert_eq!(heralded.saturating_sub(plain), STREAMS * 4096);
}

/// Also while another thread makes more of the log ready, or takes a chunk.
#[test]
fn readings_always_know_of_the_stock() {
    const LEAST_KB: u64 = 2048;
    let folder = Folder::new("heralded-readings");
    let log = record(&folder, "x.memlog", &[], &["ht", "2000000", "8"]);
    let bytes = fs::read(&log).expect("a log");
    let log = Log::open(&bytes).expect("a log");
    let main = log.start().expect("a start").pid;
    let readings: Vec<u64> = log
        .events()
        .filter(|item| item.tid != main)
        .filter_map(|item| match item.kind {
            Kind::Rss(rss) => Some(rss.own_kb),
            _ => None,
        })
        .collect();
    let wrong = readings.iter().filter(|&&own_kb| own_kb < LEAST_KB);
    let (wrong, all) = (wrong.count(), readings.len());
    assert!(all > 8, "{all} readings");
    assert_eq!(wrong, 0, "of {all} readings");
}

/// A chunk that comes round again is not counted again.
#[test]
fn a_flight_recorder_counts_its_chunks_once() {
    let folder = Folder::new("heralded-flight");
    let args = ["tw", "2000000", "2"];
    let log = record(&folder, "x.memlog", &["--flight-recorder=512K"], &args);
    let chunks = counter(&folder, &log, "chunks");
    let own = counter(&folder, &log, "own_log_bytes");
    let most = chunks * CHUNK_SIZE as u64;
    assert!(own <= most, "{own} bytes of {chunks} chunks");
}

/// A vfork's child has its parent's memory, and gives up nothing of the parent's.
#[test]
fn a_guest_is_no_herald() {
    let folder = Folder::new("heralded-guest");
    let recorder = folder.recorder().join("libmemlog.so");
    let taken = |how: &str| {
        let mut command = folder.command(program(&folder));
        command
            .args([how, "100000"])
            .env("LD_PRELOAD", &recorder)
            .env("MEMLOG_DIR", folder.folder(how));
        command.status().expect("the program runs");
        let log = &folder.logs(how)[0];
        fs::metadata(log).expect("stat").blocks() * 512
    };
    const STOCK: u64 = 2 << 20;
    assert!(taken("hwk") > STOCK);
    let guests = taken("vwk");
    assert!(guests < STOCK, "{guests} bytes");
}

/// Children do little mostly, and each has a stock of its own.
#[test]
fn forked_children_have_a_small_stock() {
    const CHILDREN: usize = 20;
    let folder = Folder::new("heralded-children");
    let recorder = folder.recorder().join("libmemlog.so");
    let logs = folder.folder("logs");
    let mut command = folder.command(program(&folder));
    command
        .args(["hf", "2000", &CHILDREN.to_string()])
        .env("LD_PRELOAD", &recorder)
        .env("MEMLOG_DIR", &logs);
    assert!(command.status().expect("the program runs").success());
    let logs = folder.logs("logs");
    assert_eq!(logs.len(), CHILDREN + 1);
    let taken = |log: &PathBuf| fs::metadata(log).expect("stat").blocks() * 512;
    let most = logs.iter().map(taken).max().expect("logs");
    assert!(most < 4 << 20, "{most} bytes");
}

/// What is free of a disk is the program's in the first place.
#[test]
fn a_stock_leaves_most_of_the_disk() {
    const DISK: u64 = 2 << 20;
    let folder = Folder::new("heralded-disk");
    let program = program(&folder);
    let Some(_disk) = Disk::mount(folder.path("disk"), DISK) else {
        println!("SKIPPED a small disk: no tmpfs can be mounted (needs root)");
        return;
    };
    // Who is killed cuts nothing off.
    let mut command = folder.command(program);
    command
        .args(["hk", "0"])
        .env("LD_PRELOAD", folder.recorder().join("libmemlog.so"))
        .env("MEMLOG_DIR", folder.path("disk"));
    command.status().expect("the program runs");
    let log = &folder.logs("disk")[0];
    let taken = fs::metadata(log).expect("stat").blocks() * 512;
    assert!(taken < DISK / 4, "{taken} bytes");
}

/// Many that execute another program at once leave room for the others' logs.
#[test]
fn stocks_leave_room_for_other_logs() {
    let folder = Folder::new("heralded-total");
    let program = program(&folder);
    let script = "for i in $(seq 40); do \"$0\" hx 1; done; true";
    let mut command = folder.memlog(&["record", "--max-logs-total=16M", "-o", "logs/"]);
    folder.folder("logs");
    command.args(["sh", "-c", script]).arg(program);
    let output = command.output().expect("memlog runs");
    let told = said(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("nothing was lost"), "{told}");
    assert!(!told.contains("all logs together"), "{told}");
}
