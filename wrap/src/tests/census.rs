//! The census: the text of smaps in any pieces, when one is due, and what it says of
//! this very process, against the kernel's own words.
#![allow(unsafe_code)]
//! # Safety
//! Memory is mapped here and stays.

use crate::platform::ground::Ground;
use crate::platform::smaps::{Mapping, Smaps};
use crate::platform::sys::{Os, Sys};
use crate::process::census::pages::Pages;
use crate::process::census::taking::{How, Place, Taker};
use crate::process::census::{Detail, Occasion, Past, Reading};
use crate::tests::memory::{Zeroed, maps_at_rest};
use memlog_format::resident::{CensusWhy, Mapped};
use memlog_format::varint;
use std::collections::BTreeMap;

const SMAPS: &str = "\
55d0c0000000-55d0c0002000 rw-p 00001000 08:01 77 /usr/bin/a program
Size:                  8 kB
Rss:                   8 kB
Anonymous:             4 kB
AnonHugePages:         0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac sd
7f0000000000-7f0000001000 ---p 00000000 00:00 0
Size:                  4 kB
VmFlags: mr mw me sd
7f0000001000-7f0000801000 rw-p 00000000 00:00 0
Size:               8192 kB
Rss:                2060 kB
Anonymous:          2060 kB
AnonHugePages:      2048 kB
Swap:                 12 kB
VmFlags: rd wr mr mw me ac sd nh
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
Rss: 16 kB
";

fn told(mapping: &Mapping) -> String {
    format!(
        "{:x}-{:x} {} {}{}{} {:?} {} {}",
        mapping.low,
        mapping.high,
        mapping.file.inode,
        if mapping.has_access { "a" } else { "-" },
        if mapping.writable { "w" } else { "-" },
        if mapping.executable { "x" } else { "-" },
        mapping.counted(),
        mapping.is_advised,
        String::from_utf8_lossy(mapping.path.get()),
    )
}

fn read_in_pieces(text: &str, most: usize) -> Vec<String> {
    let mut smaps = Smaps::zeroed();
    let mut seen = Vec::new();
    let mut held: Vec<u8> = Vec::new();
    for piece in text.as_bytes().chunks(most) {
        held.extend(piece);
        let used = smaps.take_lines(&held, &mut |mapping| seen.push(told(mapping)));
        held.drain(..used);
    }
    smaps.finish(&mut |mapping| seen.push(told(mapping)));
    seen
}

#[test]
fn smaps_are_read_in_any_pieces() {
    let whole = read_in_pieces(SMAPS, SMAPS.len());
    let expected = [
        "55d0c0000000-55d0c0002000 77 aw- [8, 4, 0, 0] false /usr/bin/a program",
        "7f0000000000-7f0000001000 0 --- [0, 0, 0, 0] false ",
        "7f0000001000-7f0000801000 0 aw- [2060, 2060, 2048, 12] true ",
        "7ffc00000000-7ffc00021000 0 aw- [16, 0, 0, 0] false [stack]",
    ];
    assert_eq!(whole, expected);
    for most in 1..80 {
        assert_eq!(read_in_pieces(SMAPS, most), expected, "{most}");
    }
    assert!(read_in_pieces("nonsense\n\nRss: x kB\n", 7).is_empty());
}

fn why(past: Past, reading: Reading) -> Option<(CensusWhy, How)> {
    past.why(&reading, Detail::Cheap)
}

const GIB: u64 = 1 << 20;

#[test]
fn a_census_is_taken_when_it_is_worth_its_price() {
    let past = Past {
        taken_kb: 100 << 10,
        seen_kb: 110 << 10,
        ..Past::default()
    };
    let reading = Reading {
        kb: 111 << 10,
        cpu_us: 10_000_000,
        ..Reading::default()
    };
    assert_eq!(why(past, reading), Some((CensusWhy::Grown, How::ByPages)));
    // A 16th, and no less.
    let little = Reading {
        kb: 106 << 10,
        ..reading
    };
    assert_eq!(why(past, little), None);
    let falls = Reading {
        occasion: Occasion::Fall,
        ..little
    };
    assert_eq!(why(past, falls), Some((CensusWhy::Full, How::ByPages)));
    let still = Past { still: 2, ..past };
    assert_eq!(why(still, little), Some((CensusWhy::Full, How::ByPages)));
    // One percent is spent; what is left of three is for the peak.
    let spent = Past {
        spent_us: 100_000,
        ..past
    };
    assert_eq!(why(spent, reading), None);
    assert_eq!(why(spent, falls), Some((CensusWhy::Full, How::ByPages)));
    // Where there are many mappings the last one tells what the next one takes.
    let slow = Past {
        last_us: 90_000,
        spent_us: 20_000,
        ..past
    };
    assert_eq!(why(slow, reading), None);
    assert_eq!(why(slow, falls), Some((CensusWhy::Full, How::ByPages)));
    let all_spent = Past {
        spent_us: 302_000,
        ..past
    };
    assert_eq!(why(all_spent, falls), None);
    assert_eq!(all_spent.why(&reading, Detail::Never), None);
    let always = all_spent.why(&reading, Detail::Always);
    assert_eq!(always, Some((CensusWhy::Grown, How::ByPages)));
}

/// Amid somebody's call the kernel counts only what is counted soon.
#[test]
fn the_kernel_counts_where_nobody_waits() {
    let reading = Reading {
        kb: 8 * GIB,
        cpu_us: 100_000_000,
        ..Reading::default()
    };
    let none = Past::default();
    assert_eq!(why(none, reading), Some((CensusWhy::Grown, How::ByPages)));
    let last = Reading {
        occasion: Occasion::End,
        ..reading
    };
    // That would be cut off.
    assert_eq!(why(none, last), Some((CensusWhy::End, How::ByPages)));
    let ends = Reading {
        kb: 2 * GIB,
        ..last
    };
    assert_eq!(why(none, ends), Some((CensusWhy::End, How::Counted)));
    let small = Reading {
        kb: 20 << 10,
        ..reading
    };
    assert_eq!(why(none, small), Some((CensusWhy::Grown, How::Counted)));
    let short = Reading {
        cpu_us: 20_000,
        ..last
    };
    assert_eq!(why(none, short), None);
    let shortest = Reading {
        kb: 60 << 10,
        cpu_us: 5_000,
        ..last
    };
    assert_eq!(why(none, shortest), Some((CensusWhy::End, How::Counted)));
}

/// Where there are more pages than the kernel counts it is asked as well.
#[test]
fn the_kernel_counts_again_within_the_budget() {
    let reading = Reading {
        kb: GIB / 2,
        cpu_us: 1_000_000,
        ..Reading::default()
    };
    let (none, full) = (Past::default(), CensusWhy::Full);
    let may = |past: Past, reading: &Reading, why, cost_us, detail| {
        past.may_count(reading, (why, cost_us), detail)
    };
    assert!(may(none, &reading, full, 1_000, Detail::Cheap));
    assert!(!may(none, &reading, full, 25_000, Detail::Cheap));
    // Growth has a third of that.
    assert!(!may(none, &reading, CensusWhy::Grown, 1_000, Detail::Cheap));
    let large = Reading {
        kb: 2 * GIB,
        ..reading
    };
    assert!(!may(none, &large, full, 0, Detail::Always));
    let spent = Past {
        spent_us: 25_000,
        ..none
    };
    assert!(!may(spent, &reading, full, 1_000, Detail::Cheap));
    assert!(may(spent, &reading, full, 1_000, Detail::Always));
}

/// What pays for nothing is not told of, and a tiny program pays nothing.
#[test]
fn a_small_program_that_ends_at_once_takes_none() {
    let reading = Reading {
        kb: 4 << 10,
        cpu_us: 3_000,
        occasion: Occasion::End,
        ..Reading::default()
    };
    assert_eq!(why(Past::default(), reading), None);
}

/// Memory of which every third page was touched.
fn touched(pages: usize) -> (u64, u64) {
    let (prot, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a fresh mapping, which stays.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), pages * 4096, prot, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    // SAFETY: inside of it.
    unsafe { libc::madvise(at, pages * 4096, libc::MADV_NOHUGEPAGE) };
    for page in (0..pages).step_by(3) {
        // SAFETY: inside of it.
        unsafe { at.cast::<u8>().add(page * 4096).write(1) };
    }
    (at as u64, (at as u64) + pages as u64 * 4096)
}

fn numbers(runs: &[u8]) -> Vec<u64> {
    let mut bytes = varint::Reader::new(runs);
    std::iter::from_fn(|| (!bytes.is_empty()).then(|| bytes.var().expect("one"))).collect()
}

#[test]
fn runs_of_pages_are_those_touched() {
    let _rest = maps_at_rest();
    let (low, high) = touched(20_000);
    let mut pages = Pages::zeroed();
    pages.begin(u64::MAX);
    let (mut at, mut resident, mut states) = (low, 0, Vec::new());
    while at < high {
        let runs = pages.runs(at, high, None).expect("it is there");
        let mut is_there = false;
        let mut count = 0;
        for run in numbers(runs.bytes) {
            states.extend(std::iter::repeat_n(is_there, run as usize));
            (is_there, count) = (!is_there, count + run);
        }
        assert_eq!(count * 4096, runs.end - at);
        resident += runs.resident;
        at = runs.end;
    }
    assert_eq!(resident, 20_000_u64.div_ceil(3));
    let expected: Vec<bool> = (0..20_000).map(|page| page % 3 == 0).collect();
    assert!(states == expected);
}

/// Pages of zeros that were only read are no pages of the process's own.
#[test]
fn pages_that_were_only_read_are_told_apart() {
    let _rest = maps_at_rest();
    let (low, high) = touched(3_000);
    for page in (1..3_000).step_by(3) {
        // SAFETY: inside of it.
        unsafe { ((low + page * 4096) as *const u8).read_volatile() };
    }
    let mut pages = Pages::zeroed();
    pages.begin(u64::MAX);
    let pagemap = Os::open(b"/proc/self/pagemap\0").expect("there is one");
    let there = pages.runs(low, high, None).expect("it is there").resident;
    let alone = pages.runs(low, high, Some(pagemap)).expect("it is there");
    assert_eq!((there, alone.resident), (2_000, 1_000));
    assert_eq!(numbers(alone.bytes)[..4], [0, 1, 2, 1]);
    assert!(pages.has_zeros(pagemap, low, high, 1_000 * 4096));
    assert!(!pages.has_zeros(pagemap, low, high, 2_000 * 4096));
    assert!(!pages.has_zeros(pagemap, low, high, 999 * 4096));
    Os::close(pagemap);
}

/// No mapping is so large that it takes longer than there is time.
#[test]
fn pages_are_not_looked_at_for_ever() {
    let _rest = maps_at_rest();
    let (low, high) = touched(100);
    let mut pages = Pages::zeroed();
    pages.begin(0);
    assert!(pages.runs(low, high, None).is_none());
    pages.begin(u64::MAX);
    assert!(pages.runs(low, high, None).is_some());
}

/// Beyond some bytes of runs a census has the count alone, and says nothing false.
#[test]
fn runs_end_where_their_room_does() {
    let _rest = maps_at_rest();
    let (low, high) = touched(150_000);
    let mut pages = Pages::zeroed();
    pages.begin(u64::MAX);
    let (mut at, mut resident, mut bytes) = (low, 0, 0);
    while at < high {
        let runs = pages.runs(at, high, None).expect("it is there");
        (at, resident, bytes) = (runs.end, resident + runs.resident, bytes + runs.bytes.len());
    }
    assert_eq!(resident, 150_000_u64.div_ceil(3));
    assert!((60_000..=65_536).contains(&bytes), "{bytes}");
}

/// A mapping as the kernel's own text has it: resident, and of no file.
fn by_the_kernel() -> BTreeMap<u64, (u64, u64)> {
    let text = std::fs::read_to_string("/proc/self/smaps").expect("it");
    let (mut low, mut all) = (0, BTreeMap::new());
    for line in text.lines() {
        let (first, rest) = line.split_once([' ', ':']).expect("two words");
        let kb = || {
            rest.trim()
                .split(' ')
                .next()
                .and_then(|word| word.parse().ok())
        };
        match first {
            "Rss" => all.entry(low).or_insert((0, 0)).0 = kb().expect("kB"),
            "Anonymous" => all.entry(low).or_insert((0, 0)).1 = kb().expect("kB"),
            _ => {
                if let Some((from, _)) = first.split_once('-') {
                    low = u64::from_str_radix(from, 16).expect("hex");
                }
            }
        }
    }
    all
}

#[test]
fn a_census_of_this_process_is_the_kernels() {
    let rest = maps_at_rest();
    let (low, _) = touched(3_000);
    static GROUND: Ground = Ground::new();
    static PLACE: Place = Place::new();
    let all = |sums: &BTreeMap<u64, (u64, u64)>| sums.values().map(|sum| sum.0).sum::<u64>();
    for how in [How::Counted, How::ByPages] {
        let before = all(&by_the_kernel());
        let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut count = 0;
        let taker = Taker::begin(how, &PLACE, &GROUND).expect("there is a /proc");
        let outcome = taker.run(|mapped: &Mapped| {
            let sum = sums.entry(mapped.low_kb * 1024).or_default();
            *sum = (sum.0 + mapped.resident_kb, sum.1 + mapped.anonymous_kb);
            count += 1;
        });
        assert!(outcome.is_whole);
        assert!(count > 10);
        assert_eq!(
            outcome.resident_kb,
            sums.values().map(|(all, _)| all).sum::<u64>()
        );
        // Another test may have grown its memory meanwhile: what is ours has not.
        let ours = sums.range(low..low + 3_000 * 4096).map(|(_, sum)| sum.0);
        let merged = sums.range(..=low).next_back().map_or(0, |(_, sum)| sum.0);
        assert!(
            ours.sum::<u64>().max(merged) >= 1_000 * 4,
            "{how:?} {sums:?}"
        );
        // Other tests grow and shrink meanwhile.
        let after = all(&by_the_kernel());
        let (low, high) = (before.min(after), before.max(after));
        let (found, near) = (outcome.resident_kb, high / 20 + 2_048);
        let is_near = found + near >= low && found <= high + near;
        assert!(is_near, "{how:?} {found}, {before} to {after}");
    }
    drop(rest);
}
