//! Threads that are alive all at once and do little: nothing of them is lost,
//! and the recorder takes little for each of them.
//!
//! 200 threads, or 10,000 with `MEMLOG_LONG=1`; `MEMLOG_THREADS=N` runs N.

mod sites;

use std::path::Path;

use sites::Folder;
use sites::build::GCC;

const BLOCKS: u64 = 50;
/// What a thread may take of resident memory.
const KB_A_THREAD: u64 = 64;
/// Threads share mappings.
const THREADS_A_MAPPING: u64 = 3;
/// What a process takes whatever its threads do.
const KB_AT_ALL: u64 = 4 * 1024;
const MAPPINGS_AT_ALL: u64 = 40;

fn wanted() -> u64 {
    let text = |name| std::env::var(name).ok();
    match text("MEMLOG_THREADS") {
        Some(count) => count.parse().expect("MEMLOG_THREADS is a number"),
        None if text("MEMLOG_LONG").is_some() => 10_000,
        None => 200,
    }
}

/// How many threads this machine lets a program have.
fn possible(folder: &Folder, program: &Path, wanted: u64) -> Option<(u64, [u64; 2])> {
    let output = folder
        .command(program)
        .arg(wanted.to_string())
        .output()
        .expect("the program runs");
    let said = String::from_utf8(output.stdout).expect("text");
    output.status.success().then(|| (wanted, figures(&said)))
}

/// A counter, as `info` has it.
fn counter(folder: &Folder, log: &Path, name: &str) -> u64 {
    let info = folder.says(&["info".as_ref(), log.as_os_str()]);
    let line = info.lines().find_map(|line| line.trim().strip_prefix(name));
    let number = line.expect("the counter").trim().replace(',', "");
    number.parse().expect("a number")
}

/// Resident kilobytes and mappings.
fn figures(said: &str) -> [u64; 2] {
    let mut numbers = said
        .split_whitespace()
        .map(|word| word.parse().expect("a number"));
    [(); 2].map(|()| numbers.next().expect("two numbers"))
}

#[test]
fn a_thread_that_does_little_takes_little() {
    let folder = Folder::new("many-threads");
    let program = GCC.build::<&str>(&folder, "many_threads.c", "many_threads", &["-pthread"]);
    let Some((threads, native)) = possible(&folder, &program, wanted()) else {
        println!(
            "SKIPPED {} threads: this machine lets no program have so many",
            wanted()
        );
        return;
    };
    let log = folder.path("many.memlog");
    let count = threads.to_string();
    let said = folder.says(&[
        "record".as_ref(),
        "-o".as_ref(),
        log.as_os_str(),
        program.as_os_str(),
        count.as_ref(),
    ]);
    let recorded = figures(&said);
    let [kb, mappings] = [0, 1].map(|which| recorded[which].saturating_sub(native[which]));
    println!(
        "{threads} threads: {:.1} KB and {:.2} mappings each",
        kb as f64 / threads as f64,
        mappings as f64 / threads as f64
    );
    let stats = folder.stats(&log);
    assert_eq!(stats.number("lost_events"), 0);
    assert_eq!(stats.number("cut_stacks"), 0);
    assert_eq!(counter(&folder, &log, "streams"), threads + 1);
    assert!(stats.number("allocations") >= threads * BLOCKS);
    assert!(
        kb <= KB_AT_ALL + threads * KB_A_THREAD,
        "{kb} KB of {threads} threads"
    );
    assert!(
        mappings <= MAPPINGS_AT_ALL + threads / THREADS_A_MAPPING,
        "{mappings} mappings of {threads} threads"
    );
}

#[test]
fn the_recorder_knows_what_its_threads_take() {
    let folder = Folder::new("known-threads");
    let program = GCC.build::<&str>(&folder, "many_threads.c", "many_threads", &["-pthread"]);
    let native = folder.command(&program).output().expect("the program runs");
    let native = figures(&String::from_utf8(native.stdout).expect("text"))[0];
    let log = folder.path("known.memlog");
    let words = [
        "record".as_ref(),
        "-o".as_ref(),
        log.as_os_str(),
        program.as_os_str(),
    ];
    let recorded = figures(&folder.says(&words))[0];
    let own = ["own_private_bytes", "own_log_bytes"].map(|name| counter(&folder, &log, name));
    let (own, seen) = (
        own.iter().sum::<u64>() / 1024,
        recorded.saturating_sub(native),
    );
    println!("own: {own} KB counted, {seen} KB seen");
    assert!(
        own.abs_diff(seen) <= seen / 4 + 1024,
        "{own} KB counted, {seen} KB seen"
    );
}
