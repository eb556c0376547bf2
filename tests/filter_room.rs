//! What is kept under a seccomp filter that kills for all that a log grows by,
//! whoever sets it, and that a disk which fills up then is no signal.

mod sites;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use sites::build::GCC;
use sites::disk::Disk;
use sites::{Folder, said};

/// Fewer than a stock has room for.
const SOME: u64 = 200_000;
/// More than that.
const MANY: u64 = 3_000_000;
const NO_FILTERS: i32 = 77;

fn program(folder: &Folder) -> PathBuf {
    GCC.build::<&str>(folder, "filter_steps.c", "filter_steps", &[])
}

/// How often the blocks of a way come and go.
fn times(way: &str) -> u64 {
    way.matches(['w', 't']).count() as u64
}

/// The run, or nothing where the kernel or a container has no filters.
fn record(
    folder: &Folder,
    program: &Path,
    words: &[&str],
    way: &str,
    blocks: u64,
) -> Option<Output> {
    let mut command = folder.memlog(&["record"]);
    command.args(words).arg(program);
    command.args([way, &blocks.to_string(), "disk/fill"]);
    let output = command.output().expect("memlog runs");
    if output.status.code() == Some(NO_FILTERS) {
        println!("SKIPPED {way}: no filters here, or no instructions for one");
        return None;
    }
    assert!(output.status.success(), "{way}: {}", said(&output));
    Some(output)
}

/// Whether the log has an event or a loss for each block that came and went; how many
/// allocations it has.
#[track_caller]
fn each_is_told(folder: &Folder, log: &str, blocks: u64) -> u64 {
    let stats = folder.stats(&folder.path(log));
    let [allocations, releases, lost] =
        ["allocations", "releases", "lost_events"].map(|name| stats.number(name));
    let told = allocations + releases + lost;
    // The library has a few blocks of its own.
    assert!(
        told.abs_diff(2 * blocks) < 100,
        "{told} events of {blocks} blocks"
    );
    allocations
}

/// Announced or only heralded, at once or amid the work, in threads as well, with
/// the limits of sshd's sandbox; and the log of one that was recorded so is cut.
#[test]
fn what_follows_a_filter_is_kept() {
    let folder = Folder::new("filter-kept");
    let program = program(&folder);
    let flight: &[&str] = &["--flight-recorder=1M"];
    for way in [
        "hbw", "hwbw", "whbw", "hfw", "hwfw", "shbt", "shft", "hwsbwt", "hbfw", "hbhw", "lhfw",
        "lhbw", "wlhfw", "hlwfw", "slhft",
    ] {
        for more in [&[], flight] {
            let words = [&["-o", "x.memlog"], more].concat();
            let Some(output) = record(&folder, &program, &words, way, SOME) else {
                continue;
            };
            let told = said(&output);
            assert!(told.contains("nothing was lost"), "{way} {more:?}: {told}");
            let log = folder.path("x.memlog");
            let allocations = folder.stats(&log).number("allocations");
            assert!(allocations >= times(way) * SOME, "{way}: {allocations}");
            let bytes = fs::metadata(&log).expect("a log").blocks() * 512;
            assert!(bytes < 8 << 20, "{way} {more:?}: {bytes} on the disk");
            fs::remove_file(log).expect("remove");
        }
    }
}

/// Nothing is touched that the disk was not asked for before.
#[test]
fn a_disk_that_fills_up_under_a_filter_is_no_signal() {
    let folder = Folder::new("filter-full");
    let program = program(&folder);
    for way in ["shbdt", "shfdt", "hwbdw", "hwfdw"] {
        let Some(_disk) = Disk::mount(folder.path("disk"), 48 << 20) else {
            println!("SKIPPED a full disk: no tmpfs can be mounted (needs root)");
            return;
        };
        let words = ["-o", "disk/x.memlog"];
        let Some(output) = record(&folder, &program, &words, way, MANY) else {
            return;
        };
        let told = said(&output);
        let why = "found no room in the log: under a seccomp filter its file is not made longer";
        assert!(told.contains(why), "{way}: {told}");
        let allocations = each_is_told(&folder, "disk/x.memlog", times(way) * MANY);
        assert!(allocations > SOME, "{way}: {allocations}");
    }
}

/// Where there was no room for all of a stock no more is asked for under a filter
/// that nobody saw, however often privileges are given up.
#[test]
fn a_second_herald_under_a_filter_is_no_signal() {
    let folder = Folder::new("filter-again");
    let program = program(&folder);
    for way in ["hbhw", "hbfw"] {
        let Some(_disk) = Disk::mount(folder.path("disk"), 1600 << 10) else {
            println!("SKIPPED a small disk: no tmpfs can be mounted (needs root)");
            return;
        };
        record(&folder, &program, &["-o", "disk/x.memlog"], way, 1000);
    }
}

/// A forked child that sets a filter which nobody sees before it has a log has
/// none, and that is said.
#[test]
fn a_child_that_filters_itself_before_its_log_is_told() {
    let folder = Folder::new("filter-child");
    let program = program(&folder);
    for way in ["achbw", "acahbw"] {
        let Some(output) = record(&folder, &program, &["-o", "%p.memlog"], way, SOME) else {
            return;
        };
        let told = said(&output);
        let why = "has no log, for none could be made, the last for this reason: \
                   a seccomp filter was there";
        assert!(told.contains(why), "{way}: {told}");
        assert!(!told.contains("nothing was lost"), "{way}: {told}");
    }
}

/// A limit on files that is lowered amid the run bounds the log at what its file is
/// long already: no signal, and the reason is told.
#[test]
fn a_lowered_limit_on_files_is_no_signal() {
    let folder = Folder::new("limit-lowered");
    let program = program(&folder);
    // More than the first 64 MiB of a file have room for.
    const BLOCKS: u64 = 12_000_000;
    let words = ["-o", "x.memlog"];
    let output = record(&folder, &program, &words, "lw", BLOCKS).expect("it sets no filter");
    let told = said(&output);
    let why = "found no room in the log, which had reached the limit on files (RLIMIT_FSIZE)";
    assert!(told.contains(why), "{told}");
    let allocations = each_is_told(&folder, "x.memlog", BLOCKS);
    assert!(allocations > BLOCKS / 2, "{allocations}");
}
