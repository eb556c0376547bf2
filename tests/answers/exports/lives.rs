//! Forms of lives of blocks, massif's and DHAT's: their own readers read them, and each
//! figure is that of a twin which follows the lines of `memlog dump`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Case, is_here, list, text, whole};
use crate::sites::said;
use crate::twin as twin_of;

/// Bytes and blocks.
type Amount = (u64, u64);

/// What DHAT says of a place.
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    all: Amount,
    most: Amount,
    at_peak: Amount,
    at_end: Amount,
    lifetime_us: u64,
}

/// Lines and functions of a program's addresses, as addr2line tells them.
struct Lines<'c> {
    program: &'c Path,
    known: HashMap<String, Vec<String>>,
}

impl Lines<'_> {
    /// A frame of the program: `PATH (FUNCTION+0x1) [0xADDRESS (0xOFFSET)]`, as one of DHAT's,
    /// with what is inlined there.
    fn of(&mut self, frame: &str) -> Vec<String> {
        let offset = frame.rsplit_once("(0x").expect("an offset").1;
        let offset = offset.trim_end_matches(")]");
        let offset = u64::from_str_radix(offset, 16).expect("hex") - 1;
        let known = self.known.entry(frame.to_owned());
        let program = self.program;
        let lines = known.or_insert_with(|| {
            let mut command = Command::new("addr2line");
            command
                .args(["-f", "-i", "-e"])
                .arg(program)
                .arg(format!("{offset:#x}"));
            let output = command.output().expect("addr2line runs");
            let told = String::from_utf8(output.stdout).expect("text");
            let lines: Vec<&str> = told.lines().collect();
            let pairs = lines.chunks(2).map(|pair| {
                let line = pair[1].split(" (").next().expect("a line");
                format!("{} ({line})", pair[0])
            });
            pairs.collect()
        });
        lines.clone()
    }
}

/// By the frames in the program what the twin counts.
fn twin(case: &Case) -> BTreeMap<Vec<String>, Place> {
    let program = case.folder.path("known");
    let mut lines = Lines {
        program: &program,
        known: HashMap::new(),
    };
    let dump = case
        .folder
        .says(&["dump", case.log.to_str().expect("a name")]);
    let mut places: BTreeMap<Vec<String>, Place> = BTreeMap::new();
    let mut now: BTreeMap<Vec<String>, Amount> = BTreeMap::new();
    let mut live: HashMap<String, (u64, Vec<String>, u64)> = HashMap::new();
    let (mut sum, mut peak, mut clock) = ((0, 0), (0, 0), 0);
    let mut at_peak = now.clone();
    for line in dump.lines() {
        let mut columns = line.split('\t');
        let what = columns.next().expect("an event");
        let time = columns
            .next()
            .expect("a time")
            .split(' ')
            .next()
            .expect("a time");
        let us = (time.parse::<f64>().expect("seconds") * 1e6).round() as u64;
        // Threads' clocks go on by steps, and their events are merged by order, not by time:
        // a table knows one clock, which never goes back.
        clock = clock.max(us);
        let us = clock;
        if let Some(address) = what.strip_prefix("F: ") {
            let (size, key, since) = live.remove(address).expect("it was live");
            let held = now.get_mut(&key).expect("a place");
            *held = (held.0 - size, held.1 - 1);
            sum = (sum.0 - size, sum.1 - 1);
            places.get_mut(&key).expect("a place").lifetime_us += us - since;
            continue;
        }
        let what = what.strip_prefix("M: ").expect("M or F");
        let (size, address) = what.split_once(' ').expect("a size");
        let size: u64 = size.parse().expect("a size");
        let own = columns.filter(|frame| frame.starts_with(program.to_str().expect("a name")));
        let own = own.flat_map(|frame| lines.of(frame));
        let key: Vec<String> = own.filter(|line| line.contains("known.c")).collect();
        let place = places.entry(key.clone()).or_default();
        place.all = (place.all.0 + size, place.all.1 + 1);
        let held = now.entry(key.clone()).or_default();
        *held = (held.0 + size, held.1 + 1);
        if held.0 > place.most.0 {
            place.most = *held;
        }
        live.insert(address.to_owned(), (size, key, us));
        sum = (sum.0 + size, sum.1 + 1);
        if sum > peak {
            peak = sum;
            at_peak.clone_from(&now);
        }
    }
    let end = case.stats["duration_seconds"].as_f64().expect("a time");
    let end = (end * 1e6).round() as u64;
    for (size, key, since) in live.into_values() {
        let place = places.get_mut(&key).expect("a place");
        place.at_end = (place.at_end.0 + size, place.at_end.1 + 1);
        place.lifetime_us += end - since;
    }
    for (key, held) in at_peak {
        places.get_mut(&key).expect("a place").at_peak = held;
    }
    places
}

fn of_dhat(json: &Value) -> BTreeMap<Vec<String>, Place> {
    let functions = list(&json["ftbl"]);
    let mut places = BTreeMap::new();
    for point in list(&json["pps"]) {
        let frames = list(&point["fs"]).iter();
        let frames = frames.map(|frame| text(&functions[whole(frame) as usize]));
        let frames = frames.filter(|frame| frame.contains("known.c")).collect();
        let amount = |bytes: &str, blocks: &str| (whole(&point[bytes]), whole(&point[blocks]));
        let place = Place {
            all: amount("tb", "tbk"),
            most: amount("mb", "mbk"),
            at_peak: amount("gb", "gbk"),
            at_end: amount("eb", "ebk"),
            lifetime_us: whole(&point["tl"]),
        };
        assert_eq!(places.insert(frames, place), None, "told twice");
    }
    places
}

#[test]
fn dhat_has_the_figures_of_its_twin() {
    for (seed, threads) in [(11, 1), (12, 3)] {
        let words = format!("mix {seed} 900 {threads}");
        let case = Case::new(&format!("answers-exports-dhat-{seed}"), &words);
        let (expected, form) = (twin(&case), case.json("dhat", &[]));
        let told = of_dhat(&form);
        assert!(told.len() > 3, "{told:?}");
        let keys = |of: &BTreeMap<Vec<String>, Place>| of.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&told), keys(&expected));
        for (frames, place) in &told {
            let expected = &expected[frames];
            // Printed times have microseconds: each block's two may be half of one off.
            let apart = place.lifetime_us.abs_diff(expected.lifetime_us);
            assert!(
                apart <= place.all.1 + 1,
                "{frames:?}: {place:?} {expected:?}"
            );
            let same = Place {
                lifetime_us: expected.lifetime_us,
                ..place.clone()
            };
            assert_eq!(&same, expected, "{frames:?}");
        }
        // Chosen blocks: their most is reckoned in another way.
        let chosen = of_dhat(&case.json("dhat", &["--where", "size >= 0"]));
        assert_eq!(chosen, told);
        read_by_its_page(&case, &told);
    }
}

const PAGES: [&str; 2] = [
    "/usr/libexec/valgrind/dh_view.js",
    "/usr/lib/valgrind/dh_view.js",
];

/// DHAT's own page sums the same up.
fn read_by_its_page(case: &Case, told: &BTreeMap<Vec<String>, Place>) {
    let Some(page) = PAGES.into_iter().find(|page| Path::new(page).exists()) else {
        return println!("SKIPPED exports: there is no dh_view.js (Debian: valgrind)");
    };
    if !is_here("node") {
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/exports/dh_view.js");
    let form = case.folder.path("out.dhat");
    let output = Command::new("node")
        .arg(reader)
        .arg(page)
        .arg(form)
        .output();
    let output = output.expect("node runs");
    assert!(output.status.success(), "{}", said(&output));
    let root: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let sum = |of: fn(&Place) -> u64| told.values().map(of).sum::<u64>();
    assert_eq!(whole(&root["tb"]), sum(|place| place.all.0));
    assert_eq!(whole(&root["tbk"]), sum(|place| place.all.1));
    assert_eq!(whole(&root["tl"]), sum(|place| place.lifetime_us));
    let number = |key| case.number(key);
    assert_eq!(whole(&root["tb"]), number("total_bytes"));
    assert_eq!(whole(&root["tbk"]), number("allocations"));
    assert_eq!(whole(&root["gb"]), number("heap_peak_bytes"));
    assert_eq!(whole(&root["gbk"]), number("heap_peak_blocks"));
    assert_eq!(whole(&root["eb"]), number("end_live_bytes"));
    assert_eq!(whole(&root["ebk"]), number("end_live_blocks"));
}

/// Snapshots: milliseconds, bytes, and which tree each has.
fn snapshots(form: &str) -> Vec<(u64, u64, String)> {
    let field = |part: &str, name: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} in {part}"))
            .to_owned()
    };
    let parts = form.split("#-----------\nsnapshot=").skip(1);
    let parts = parts.map(|part| {
        let number = |name| field(part, name).parse().expect("a number");
        (
            number("time="),
            number("mem_heap_B="),
            field(part, "heap_tree="),
        )
    });
    parts.collect()
}

/// The lines of a tree: how deep, how many children, bytes.
fn tree(part: &str) -> Vec<(usize, usize, u64, &str)> {
    let lines = part
        .lines()
        .skip_while(|line| !line.starts_with("heap_tree="))
        .skip(1);
    let lines = lines.map(|line| {
        let deep = line.len() - line.trim_start().len();
        let (children, rest) = line.trim_start()[1..].split_once(": ").expect("a count");
        let (bytes, what) = rest.split_once(' ').expect("bytes");
        (
            deep,
            children.parse().expect("a count"),
            bytes.parse().expect("bytes"),
            what,
        )
    });
    lines.collect()
}

#[test]
fn massif_has_the_peak_and_sound_trees() {
    let case = Case::new("answers-exports-massif", "mix 13 2000 2");
    let form = fs::read_to_string(case.export("massif", &[])).expect("text");
    let all = snapshots(&form);
    assert!(all.is_sorted_by_key(|(ms, ..)| *ms), "{all:?}");
    let peaks: Vec<_> = all.iter().filter(|(.., kind)| kind == "peak").collect();
    assert_eq!(peaks.len(), 1, "{all:?}");
    assert_eq!(peaks[0].1, case.number("heap_peak_bytes"));
    assert_eq!(
        all.last().expect("the end").1,
        case.number("end_live_bytes")
    );
    for part in form.split("#-----------\nsnapshot=").skip(1) {
        let lines = tree(part);
        let Some(&(_, _, whole, _)) = lines.first() else {
            continue;
        };
        assert!(part.contains(&format!("mem_heap_B={whole}\n")), "{part}");
        for (at, &(deep, children, bytes, what)) in lines.iter().enumerate() {
            let below = lines[at + 1..].iter().take_while(|line| line.0 > deep);
            let next: Vec<_> = below.filter(|line| line.0 == deep + 1).collect();
            assert_eq!(next.len(), children, "{what} in {part}");
            let sum: u64 = next.iter().map(|line| line.2).sum();
            // Some stacks end where others go on.
            assert!(
                sum == bytes || deep > 0 && sum < bytes,
                "{what}: {sum} of {bytes} in {part}"
            );
        }
    }
    read_by_ms_print(&case, &all);
}

fn read_by_ms_print(case: &Case, all: &[(u64, u64, String)]) {
    if !is_here("ms_print") {
        return;
    }
    let output = case
        .folder
        .command("ms_print")
        .arg(case.folder.path("out.massif"))
        .output();
    let output = output.expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        told.contains(&format!("Number of snapshots: {}", all.len())),
        "{told}"
    );
    assert!(told.contains("(peak)"), "{told}");
    for (number, (ms, bytes, _)) in all.iter().enumerate() {
        let row = [number as u64, *ms, *bytes, *bytes, 0, 0].map(|number| number.to_string());
        let digits = told.lines().map(|line| line.replace(',', ""));
        let mut rows = digits.map(|line| {
            let words = line.split_whitespace().map(str::to_owned);
            words.collect::<Vec<String>>()
        });
        assert!(rows.any(|words| words == row), "{row:?} in {told}");
    }
}

/// The most that blocks of 1,000 bytes and more held, event by event.
fn most_of_large(case: &Case) -> u64 {
    let twin = twin_of(&case.folder, &case.log);
    let large = twin.blocks.iter().filter(|block| block.size >= 1000);
    let changes = large.flat_map(|block| {
        let size = block.size as i64;
        let went = block.died.map(|died| (died.1, -size));
        std::iter::once((block.born.1, size)).chain(went)
    });
    let mut changes: Vec<(u64, i64)> = changes.collect();
    changes.sort_unstable();
    let mut live = 0;
    let most = changes.iter().map(|(_, change)| {
        live += change;
        live
    });
    most.max().expect("blocks") as u64
}

#[test]
fn forms_of_lives_choose_blocks_alone() {
    let case = Case::new("answers-exports-lives", "mix 14 300 1");
    let log = case.log.to_str().expect("a name");
    for form in ["massif", "dhat"] {
        for option in [
            &["--at", "end"][..],
            &["--by", "count"],
            &["--include", "make"],
        ] {
            let output = case.folder.run(&[&["export", form, log], option].concat());
            assert_eq!(output.status.code(), Some(2));
            let told = said(&output);
            assert!(told.contains("form is of the whole run"), "{told}");
        }
    }
    let large = case.json("dhat", &["--where", "size >= 1000"]);
    let sum: u64 = list(&large["pps"])
        .iter()
        .map(|point| whole(&point["tb"]))
        .sum();
    let table = case.folder.says(&[
        "table",
        "--by",
        "kind",
        "--where",
        "size >= 1000",
        "--json",
        log,
    ]);
    let table: Value = serde_json::from_str(&table).expect("JSON");
    let rows = list(&table["rows"]).iter();
    assert_eq!(sum, rows.map(|row| whole(&row["bytes"])).sum::<u64>());
    let form = fs::read_to_string(case.export("massif", &["--where", "size >= 1000"]));
    let form = form.expect("text");
    let all = snapshots(&form);
    let peak = all
        .iter()
        .find(|(.., kind)| kind == "peak")
        .expect("a peak");
    assert_eq!(peak.1, most_of_large(&case), "{all:?}");
    assert!(
        form.starts_with("desc: memlog: live heap in bytes asked for where size >= 1000\n"),
        "{form}"
    );
}
