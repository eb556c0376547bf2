//! Calls that asked for memory and got none: each is told with what it asked
//! for, by a program that knows.

mod sites;

use std::fs;
use std::path::{Path, PathBuf};

use sites::build::GCC;
use sites::{Folder, said};

/// Runs it under `memlog record`; what it says that failed, and its log. The
/// last log where it forks.
fn record(folder: &Folder, program: &Path, settings: &[&str], ways: &[&str]) -> (String, PathBuf) {
    let logs = folder.folder("logs");
    for log in folder.logs("logs") {
        fs::remove_file(log).expect("remove");
    }
    let mut command = folder.memlog(&["record", "-o"]);
    command.arg(&logs).args(settings).arg(program).args(ways);
    let output = command.output().expect("memlog runs");
    let told = said(&output);
    assert!(output.status.success(), "{ways:?}: {told}");
    assert!(told.contains("nothing was lost"), "{ways:?}: {told}");
    assert!(told.contains("failed; memlog report shows"), "{told}");
    let log = folder.logs("logs").pop().expect("a log");
    (String::from_utf8_lossy(&output.stdout).into(), log)
}

/// What a dump tells of calls that failed: size, function, errno; and all calls.
fn failed(folder: &Folder, log: &Path) -> (String, u64) {
    let words = ["dump", "--failed", "--no-symbols"].map(|word| word.as_ref());
    let dump = folder.says(&[&words[..], &[log.as_os_str()]].concat());
    let (mut lines, mut all) = (String::new(), 0);
    for line in dump.lines() {
        let Some(line) = line.strip_prefix("FAILED: ") else {
            continue;
        };
        let words = line.split('\t').next().expect("words");
        let words: Vec<_> = words.split(' ').collect();
        let [size, function, calls, errno] = words[..] else {
            panic!("{line}");
        };
        all += calls.parse::<u64>().expect("a count");
        lines += &format!("{size} {function} {errno}\n");
    }
    (lines, all)
}

#[test]
fn each_failure_is_told_with_its_size() {
    let folder = Folder::new("failed-each");
    let program = GCC.build(&folder, "failing.c", "failing", &["-fno-builtin"]);
    for ways in [&[][..], &["limit"], &["fork"]] {
        let (expected, log) = record(&folder, &program, &[], ways);
        let (told, calls) = failed(&folder, &log);
        assert_eq!(told, expected, "{ways:?}");
        let stats = folder.stats(&log);
        assert_eq!(stats.number("failed_allocations"), calls, "{ways:?}");
        assert_eq!(stats.number("lost_events"), 0);
        assert_eq!(stats.number("order_breaks"), 0);
        // The block that a realloc could not move went by its free.
        assert_eq!(stats.value("unknown_releases")["twice"], 0);
        let largest = expected.lines().filter_map(|line| {
            let size = line.split(' ').next()?;
            size.parse::<u64>().ok()
        });
        let told = stats.number("failed_largest_bytes");
        assert_eq!(Some(told), largest.max(), "{ways:?}");
    }
    // With 8 MiB blocks under a limit of 192 MiB the first comes late.
    let (_, log) = record(&folder, &program, &[], &["limit"]);
    let resident = folder.stats(&log).number("failed_first_rss_bytes");
    assert!((100 << 20..200 << 20).contains(&resident), "{resident}");
    let page = folder.says(&["summary".as_ref(), log.as_os_str()]);
    assert!(page.contains("13 allocations failed"), "{page}");
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    assert!(page.contains("at ask_all ["), "{page}");
    let page = folder.says(&["report".as_ref(), log.as_os_str()]);
    assert!(
        page.contains("1 call of calloc for more bytes than"),
        "{page}"
    );
    assert!(page.contains("    ask_all ["), "{page}");
}

/// A program that asks for ever leaves a small log, and all are counted.
#[test]
fn a_loop_does_not_fill_the_log() {
    const CALLS: u64 = 400_000;
    let folder = Folder::new("failed-loop");
    let program = GCC.build(&folder, "failing.c", "failing", &["-fno-builtin"]);
    let count = CALLS.to_string();
    let ways = ["loop", &count];
    for settings in [&[][..], &["--flight-recorder=1M"]] {
        let (expected, log) = record(&folder, &program, settings, &ways);
        let calls = 2 * CALLS + expected.lines().count() as u64;
        let stats = folder.stats(&log);
        assert_eq!(stats.number("failed_allocations"), calls, "{settings:?}");
        let (told, standing) = failed(&folder, &log);
        assert!(told.ends_with(&expected), "{told}");
        let records = told.lines().count();
        assert!(records < 200, "{records} records");
        assert!(standing <= calls && standing > CALLS, "{standing}");
    }
}

/// Where a program is static errno is not known, and the address space is not
/// looked at.
#[test]
fn a_static_program_tells_of_its_own() {
    let folder = Folder::new("failed-static");
    let flags = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let link = ["-static", "-fno-builtin", &flags];
    let program = GCC.build(&folder, "failing.c", "failing", &link);
    let log = folder.path("it.memlog");
    let mut command = folder.command(&program);
    let output = command
        .env("MEMLOG_OUTPUT", &log)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let said = String::from_utf8_lossy(&output.stdout);
    let without_errno = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("mmap"));
        let words = lines.map(|line| line.rsplit_once(' ').map_or(line, |(words, _)| words));
        words.map(str::to_owned).collect()
    };
    let (told, _) = failed(&folder, &log);
    assert_eq!(without_errno(&told), without_errno(&said));
}
