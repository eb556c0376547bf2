//! What is resident, and for what: the program itself says how much of each of its
//! blocks was in memory at its end, and the kernel how much all of it was.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::Folder;
use crate::sites::build::GCC;
use crate::{ask, built, first_seed, is_long, number, rows, said};

/// A log of `resident` with these words, and what it printed.
fn recorded(folder: &Folder, options: &[&str], words: &[&str]) -> (PathBuf, String) {
    let program = folder.path("resident");
    if !program.exists() {
        built(folder, &GCC, "resident.c", "resident");
    }
    let log = folder.path(&format!("{}.memlog", words[0]));
    let mut command = folder.memlog(&["record"]);
    command.args(options).arg("-o").arg(&log).arg(program);
    let output = command.args(words).output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    (log, String::from_utf8(output.stdout).expect("text"))
}

const ALWAYS: &[&str] = &["--rss-detail", "always"];

fn purpose(page: &Value, name: &str) -> u64 {
    let purposes = page["purposes"].as_array().expect("purposes");
    let one = purposes.iter().find(|one| one["name"] == name);
    number(one.expect(name), "bytes")
}

/// What the program said of a site, against the rows of the page.
#[track_caller]
fn agrees(page: &Value, said: &str) {
    let mut count = 0;
    for line in said.lines().filter_map(|line| line.strip_prefix("site ")) {
        let words: Vec<&str> = line.split([' ', '=']).collect();
        let [name, "resident", resident, "live", live] = words[..] else {
            panic!("{line}");
        };
        let [resident, live] = [resident, live].map(|word| word.parse::<u64>().expect("bytes"));
        let lists = [&page["rows"], &page["mapped"]];
        let mut all = lists.iter().flat_map(|list| list.as_array().expect("rows"));
        let row = all.find(|row| row["name"] == name);
        let row = row.unwrap_or_else(|| panic!("{name}: {page:#}"));
        let found = (number(row, "bytes"), number(row, "live_bytes"));
        assert_eq!(found, (resident, live), "{name}");
        count += 1;
    }
    assert!(count > 0, "{said}");
}

fn kernels(said: &str) -> u64 {
    let line = said.lines().find_map(|line| line.strip_prefix("rss "));
    line.expect("it").parse().expect("bytes")
}

/// Each reading, whole and to the byte what the kernel counted, or within 2 %.
fn sums_are_right(folder: &Folder, log: &Path) {
    let page = ask(folder, log, "rss --at end");
    let readings = page["readings"].as_array().expect("readings").clone();
    // With each there is a command: a few of them will do.
    for reading in readings.iter().rev().step_by(readings.len() / 6 + 1) {
        let at = format!("rss --at {}", reading["seconds"]);
        let page = ask(folder, log, &at);
        let (sum, rss) = (number(&page, "bytes"), number(&page, "rss_bytes"));
        assert!(sum.abs_diff(rss) <= rss / 50, "{sum} {rss}: {page:#}");
        let purposes = page["purposes"].as_array().expect("purposes");
        let all: u64 = purposes.iter().map(|one| number(one, "bytes")).sum();
        assert_eq!(all, sum);
        let live: u64 = rows(&page).iter().map(|row| number(row, "bytes")).sum();
        assert_eq!(live, purpose(&page, "live"), "{page:#}");
        assert_eq!(page["whole"], true);
        // What is listed by mappings is all, but for what the kernel did not tell.
        let parts = page["parts"].as_array().expect("parts");
        let parts: u64 = parts.iter().map(|one| number(one, "bytes")).sum();
        assert!(parts <= sum && sum - parts <= rss / 50, "{page:#}");
    }
}

/// Of any log there is an answer that adds up, or a sentence.
#[track_caller]
pub fn is_told_or_why(folder: &Folder, log: &Path) {
    let output = folder.run(&["rss", "--json", log.to_str().expect("a name")]);
    if output.status.success() {
        let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let purposes = page["purposes"].as_array().expect("purposes");
        let all: u64 = purposes.iter().map(|one| number(one, "bytes")).sum();
        assert_eq!(all, number(&page, "bytes"));
        assert!(all >= number(&page, "rss_bytes"), "{page:#}");
        return;
    }
    let told = said(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("does not say what was resident"), "{told}");
}

const MIB: u64 = 1 << 20;

/// Everything that memory can be for, each a size of its own.
fn parts_are_known(folder: &Folder, log: &Path, said: &str) {
    let page = ask(folder, log, "rss --at end");
    agrees(&page, said);
    sums_are_right(folder, log);
    let (sum, kernel) = (number(&page, "bytes"), kernels(said));
    assert!(sum.abs_diff(kernel) <= kernel / 50, "{sum} {kernel}");
    let near = |name: &str, bytes: u64| {
        let found = purpose(&page, name);
        let allowed = bytes / 20 + MIB / 2;
        assert!(found.abs_diff(bytes) <= allowed, "{name} {found}: {page:#}");
    };
    near("live", 24 * MIB + 16 * MIB + 10_000_000);
    near("freed", 10_000_000);
    near("mapped", 12 * MIB);
    near("shared", 6 * MIB);
    near("files", 10 * MIB);
    near("stacks", 5 * MIB);
    near("variables", 9 * MIB);
    near("unexplained", 20 * MIB);
    let own = purpose(&page, "own");
    assert!((MIB / 2..4 * MIB).contains(&own), "{own}");
    // Which mapping nobody explains is told by its address.
    let parts = page["parts"].as_array().expect("parts");
    let hidden = parts.iter().filter(|one| one["purpose"] == "unexplained");
    let largest = hidden.max_by_key(|one| number(one, "bytes")).expect("one");
    assert_eq!(number(largest, "bytes"), 20 * MIB);
}

#[test]
fn each_resident_byte_has_its_purpose() {
    for options in [ALWAYS, &[]] {
        let folder = Folder::new("answers-resident");
        let file = folder.path("file");
        let words = ["parts", file.to_str().expect("a name")];
        let (log, said) = recorded(&folder, options, &words);
        parts_are_known(&folder, &log, &said);
        let text = folder.says(&["rss", log.to_str().expect("a name")]);
        assert!(text.contains("20.0 MiB"), "{text}");
        assert!(text.contains("NOT EXPLAINED"), "{text}");
        assert!(!text.contains("no reading came before"), "{text}");
        // So does the heading of each page.
        let text = folder.says(&["summary", log.to_str().expect("a name")]);
        let sentence = "20.0 MiB that no recorded call mapped, at ";
        assert!(
            text.replace("\n           ", " ").contains(sentence),
            "{text}"
        );
    }
}

#[test]
fn resident_parts_of_random_blocks_are_the_programs() {
    let seeds = if is_long() { 40 } else { 3 };
    for seed in first_seed()..first_seed() + seeds {
        let folder = Folder::new("answers-resident-random");
        let (log, said) = recorded(&folder, ALWAYS, &["random", &seed.to_string()]);
        agrees(&ask(&folder, &log, "rss --at end"), &said);
        sums_are_right(&folder, &log);
    }
}

/// Pages of zeros that were only read are in no count of the kernel's.
#[test]
fn pages_of_zeros_are_not_resident() {
    let folder = Folder::new("answers-resident-zeros");
    let (log, said) = recorded(&folder, ALWAYS, &["zeros"]);
    let page = ask(&folder, &log, "rss --at end");
    assert!(number(&page, "bytes") < 80 * MIB, "{page:#}");
    // Amid a call pages are counted first, and there were too many.
    let readings = page["readings"].as_array().expect("readings");
    let amid = readings.iter().filter(|one| one["why"] != "end");
    let last = amid.max_by_key(|one| number(one, "rss_bytes"));
    let last = last.expect("one");
    assert!(number(last, "rss_bytes") > 60 * MIB, "{readings:?}");
    assert_eq!(last["counted_by_kernel"], true, "{readings:?}");
    agrees(&page, &said);
    let row = rows(&page).iter().find(|row| row["name"] == "only_read");
    let row = row.expect("it");
    // The allocator has written its words into the first page.
    assert!(number(row, "bytes") <= 8192, "{row}");
    assert_eq!(number(row, "live_bytes"), 48 * MIB);
    sums_are_right(&folder, &log);
}

/// A block that realloc has just moved is live, though nothing says so yet, and what
/// goes right after the peak was there.
#[test]
fn a_growing_block_is_live_at_its_peak() {
    for options in [ALWAYS, &[]] {
        let folder = Folder::new("answers-resident-grown");
        let (log, said) = recorded(&folder, options, &["grown"]);
        let page = ask(&folder, &log, "rss");
        let (live, sum) = (purpose(&page, "live"), number(&page, "bytes"));
        let kernel = kernels(&said);
        assert!(live >= 58 * MIB, "{live}: {page:#}");
        assert!(sum.abs_diff(kernel) <= kernel / 30, "{sum} {kernel}");
        assert!(purpose(&page, "unexplained") < MIB, "{page:#}");
        sums_are_right(&folder, &log);
    }
}

/// Arenas that go one by one are worth a reading together, before they do.
#[test]
fn many_small_mappings_are_there_at_the_peak() {
    for options in [ALWAYS, &[]] {
        let folder = Folder::new("answers-resident-arenas");
        let (log, said) = recorded(&folder, options, &["arenas"]);
        let page = ask(&folder, &log, "rss");
        let (sum, kernel) = (number(&page, "bytes"), kernels(&said));
        assert!(
            sum.abs_diff(kernel) <= kernel / 30,
            "{sum} {kernel}: {page:#}"
        );
        let mapped = purpose(&page, "mapped");
        assert!(mapped >= 58 * MIB, "{mapped}: {page:#}");
        assert!(purpose(&page, "unexplained") < MIB, "{page:#}");
        sums_are_right(&folder, &log);
    }
}

/// Readings cost what they may: a share of the processor time, and two milliseconds.
#[test]
fn readings_cost_little() {
    let folder = Folder::new("answers-resident-cost");
    for words in [&["grown"][..], &["random", "7"]] {
        let (log, _) = recorded(&folder, &[], words);
        let page = ask(&folder, &log, "rss --at end");
        let readings = page["readings"].as_array().expect("readings");
        let costs = readings
            .iter()
            .map(|one| one["cost_seconds"].as_f64().expect("it"));
        let costs: Vec<f64> = costs.collect();
        let most = costs.iter().copied().fold(0.0, f64::max);
        // One is begun while there is something left of the budget.
        let allowed = page["stats"]["cpu_seconds"].as_f64().expect("it") * 0.03 + 0.002 + most;
        let sum: f64 = costs.iter().sum();
        assert!(sum <= allowed, "{sum} of {allowed}: {costs:?}");
    }
}

/// A forked child has its parent's blocks.
#[test]
fn a_child_holds_what_it_inherited() {
    let folder = Folder::new("answers-resident-child");
    let (_, said) = recorded(&folder, ALWAYS, &["child"]);
    let logs = folder.logs("");
    let asked = logs.iter().map(|log| ask(&folder, log, "rss --at end"));
    let child = asked.into_iter().find(|page| {
        let has = |name: &str| rows(page).iter().any(|row| row["name"] == name);
        has("of_child") && has("whole")
    });
    let child = child.unwrap_or_else(|| panic!("{logs:?}"));
    agrees(&child, &said);
    assert!(purpose(&child, "live") >= 30 * MIB, "{child:#}");
}

#[test]
fn no_reading_is_said_with_what_to_do() {
    let folder = Folder::new("answers-resident-off");
    let (log, _) = recorded(&folder, &["--rss-detail", "off"], &["grown"]);
    let output = folder.run(&["rss", log.to_str().expect("a name")]);
    let told = said(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("MEMLOG_RSS_DETAIL was off"), "{told}");
}
