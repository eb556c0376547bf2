//! What `memlog replay` does and says, against who knows it otherwise: the lines of `dump`,
//! the figures of `stats`, an allocator that counts its calls, and programs of which it is
//! known what an allocator makes of them.

mod refused;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::sites::build::{GCC, optioned};
use crate::sites::{Folder, said};
use crate::{ask, built, number, rows};

struct Case {
    folder: Folder,
    log: PathBuf,
}

impl Case {
    fn new(words: &str) -> Self {
        static CASES: AtomicU32 = AtomicU32::new(0);
        let case = CASES.fetch_add(1, Ordering::Relaxed);
        let folder = Folder::new(&format!("replay-{case}"));
        let program = built(&folder, &GCC, "replayed.c", "replayed");
        let log = folder.path("one.memlog");
        let mut command = folder.memlog(&["record", "-o"]);
        command.arg(&log).arg(program).args(words.split(' '));
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{words}: {}", said(&output));
        Self { folder, log }
    }

    #[track_caller]
    fn replay(&self, options: &[&str]) -> Value {
        replay(&self.folder, &self.log, options)
    }
}

#[track_caller]
fn replay(folder: &Folder, file: &Path, options: &[&str]) -> Value {
    let file = file.to_str().expect("a name");
    let text = folder.says(&[&["replay", "--json"], options, &[file]].concat());
    serde_json::from_str(&text).expect("JSON")
}

const ONCE: &[&str] = &["--allocator", "glibc", "--repeat", "1"];

/// What is told of an allocator that answered.
const FIGURES: [&str; 10] = [
    "rss_peak_bytes",
    "rss_peak_spread_bytes",
    "rss_end_bytes",
    "live_bytes_at_rss_peak",
    "not_live_bytes",
    "cpu_seconds",
    "cpu_spread_seconds",
    "faults",
    "failed_calls",
    "untouched_bytes",
];

/// What the replayer itself counted in the first run under an allocator.
fn first_run(replayed: &Value, at: usize) -> &Value {
    &replayed["allocators"][at]["runs"][0]
}

/// Allocations, releases, bytes live at the end and at most: by the lines of `dump`.
fn naive(folder: &Folder, log: &Path) -> [u64; 4] {
    let log = log.to_str().expect("a name");
    let text = folder.says(&["dump", "--no-symbols", log]);
    let mut live: HashMap<&str, u64> = HashMap::new();
    let (mut allocations, mut releases, mut bytes, mut most) = (0, 0, 0, 0);
    for line in text.lines() {
        let (what, rest) = line.split_once(": ").expect("a kind");
        let (of, _) = rest.split_once('\t').expect("columns");
        if what == "M" {
            let (size, address) = of.split_once(' ').expect("two words");
            let size: u64 = size.parse().expect("a size");
            allocations += 1;
            bytes += size;
            most = u64::max(most, bytes);
            assert_eq!(live.insert(address, size), None, "{line}");
        } else {
            releases += 1;
            bytes -= live.remove(of).expect("it was there");
        }
    }
    [allocations, releases, bytes, most]
}

fn counted(run: &Value) -> [u64; 4] {
    [
        "allocations",
        "releases",
        "live_bytes_end",
        "live_bytes_peak",
    ]
    .map(|name| number(run, name))
}

#[test]
fn counts_are_those_of_the_log() {
    for words in [
        "holes", "chains", "align", "zero", "many 50", "arenas 4", "cross",
    ] {
        let case = Case::new(words);
        let replayed = case.replay(ONCE);
        let run = first_run(&replayed, 0);
        let stats = ask(&case.folder, &case.log, "stats");
        let told = [
            "allocations",
            "releases",
            "end_live_bytes",
            "heap_peak_bytes",
        ];
        let told = told.map(|name| number(&stats, name));
        assert_eq!(counted(run), naive(&case.folder, &case.log), "{words}");
        assert_eq!(counted(run), told, "{words}");
        assert_eq!(number(run, "failed_calls"), 0, "{words}");
        assert_eq!(
            number(run, "live_blocks_end"),
            number(&stats, "end_live_blocks")
        );
        let operations = &replayed["operations"];
        assert_eq!(number(operations, "heap_peak_bytes"), told[3]);
        assert_eq!(number(operations, "end_live_bytes"), told[2]);
        assert_eq!(replayed["allocators"][0]["is_recorded"], true);
    }
}

#[test]
fn a_random_program_is_replayed_whole() {
    for words in ["mix 1 3000 1", "mix 2 3000 4", "chains", "aligned"] {
        let folder = Folder::new(&format!("replay-known-{}", words.replace(' ', "-")));
        let (log, _) = crate::recorded(&folder, &[], words);
        let replayed = replay(&folder, &log, ONCE);
        let (ours, naive) = (counted(first_run(&replayed, 0)), naive(&folder, &log));
        // A realloc is done where its new block comes: other threads' may come between.
        let same = if words.ends_with('1') { 4 } else { 3 };
        assert_eq!(ours[..same], naive[..same], "{words}");
    }
}

#[test]
fn what_a_child_inherits_is_there_first() {
    let case = Case::new("fork");
    let logs = case.folder.logs("");
    let child = logs
        .iter()
        .find(|log| **log != case.log)
        .expect("a child's");
    let stats = ask(&case.folder, child, "stats");
    let replayed = replay(&case.folder, child, ONCE);
    let run = first_run(&replayed, 0);
    let inherited = number(&stats, "inherited_blocks");
    assert!(inherited >= 1000, "{inherited}");
    assert_eq!(number(run, "seeded_blocks"), inherited);
    for (ours, theirs) in [
        ("allocations", "allocations"),
        ("releases", "releases"),
        ("live_bytes_end", "end_live_bytes"),
        ("live_blocks_end", "end_live_blocks"),
    ] {
        assert_eq!(number(run, ours), number(&stats, theirs), "{ours}");
    }
    let notes = replayed["notes"].to_string();
    assert!(notes.contains("inherited by fork"), "{notes}");
}

/// The calls, as the allocator below sees them.
#[test]
fn each_call_arrives() {
    let folder = Folder::new("replay-counter");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/counter.c");
    let counter = GCC.build_file(&folder, &source, "counter.so", &["-shared", "-fPIC"]);
    let counted = folder.path("counted");
    for words in ["mix 3 4000 1", "chains", "aligned"] {
        let (log, _) = crate::recorded(&folder, &[], words);
        let kinds = ask(&folder, &log, "table --by kind");
        let spec = format!("{}:COUNTED={}", counter.display(), counted.display());
        let replayed = replay(&folder, &log, &["--allocator", &spec, "--repeat", "1"]);
        // The program's own comes first, though nobody asked for it.
        let one = &replayed["allocators"][1];
        assert_eq!(one["library"], counter.to_str().expect("a name"));
        let text = fs::read_to_string(&counted).expect("it counted");
        let seen: Vec<(u64, u64)> = text
            .lines()
            .map(|line| line.split_once(' ').expect("two"))
            .map(|(calls, bytes)| (calls.parse().unwrap(), bytes.parse().unwrap()))
            .collect();
        let of = |names: &[&str]| {
            let all = rows(&kinds).iter();
            let all = all.filter(|row| names.contains(&row["name"].as_str().unwrap_or("")));
            all.fold((0, 0), |(calls, bytes), row| {
                (calls + number(row, "blocks"), bytes + number(row, "bytes"))
            })
        };
        let aligned = of(&[
            "posix_memalign",
            "aligned_alloc",
            "memalign",
            "valloc",
            "pvalloc",
        ]);
        assert_eq!(seen[3].0, aligned.0, "{words}: {kinds:#}");
        assert_eq!(seen[3].1, aligned.1, "{words}");
        // A first realloc of nothing is a malloc here. The loader makes a few of its own.
        let plain = of(&["malloc", "realloc", "reallocarray"]);
        let few = |seen: u64, told: u64| seen >= told && seen - told < 30;
        assert!(
            few(seen[0].0 + seen[2].0, plain.0),
            "{words}: {seen:?} {plain:?}"
        );
        let zeros = of(&["calloc"]);
        assert!(few(seen[1].0, zeros.0), "{words}: {seen:?} {zeros:?}");
        let run = first_run(&replayed, 1);
        let reallocs = seen[2].0;
        let frees = number(run, "releases") - reallocs;
        assert!(few(seen[4].0, frees), "{words}: {seen:?} {frees}");
    }
}

#[test]
fn one_arena_holds_less_than_many() {
    let case = Case::new("arenas 16");
    let one = "glibc:MALLOC_ARENA_MAX=1";
    let replayed = case.replay(&["--allocator", one]);
    let all = replayed["allocators"].as_array().expect("a list");
    assert_eq!([&all[0]["name"], &all[1]["name"]], ["glibc", one]);
    assert_eq!(all[1]["settings"]["MALLOC_ARENA_MAX"], "1");
    let peaks = [0, 1].map(|at: usize| number(&all[at], "rss_peak_bytes"));
    assert!(peaks[0] > 3 * peaks[1], "{peaks:?}");
    assert_eq!(all[1]["verdict"]["is"], "less", "{replayed:#}");
    assert_eq!(number(&replayed["operations"], "replay_threads"), 17);
    // What glibc took here is what it took there, but for what a stack and code took.
    let recorded = number(&replayed["recorded"], "rss_growth_bytes");
    let apart = peaks[0].abs_diff(recorded);
    assert!(apart < recorded / 4, "{peaks:?} {recorded}");
    let log = case.log.to_str().expect("a name");
    let text = case.folder.says(&["replay", "--allocator", one, log]);
    let told = format!("Under {one} the program would take about ");
    assert!(
        text.contains(&told) && text.contains(" less at its peak (-"),
        "{text}"
    );
}

#[test]
fn holes_are_no_live_bytes() {
    let replayed = Case::new("holes").replay(ONCE);
    let glibc = &replayed["allocators"][0];
    let (peak, live) = (
        number(glibc, "rss_peak_bytes"),
        number(glibc, "live_bytes_at_rss_peak"),
    );
    // 24 MiB with holes and 11 MiB beside them.
    assert!(peak > 34_000_000 && peak < 44_000_000, "{peak}");
    assert!(live < 26_000_000, "{live}");
    assert_eq!(number(glibc, "not_live_bytes"), peak - live);
    assert!(number(glibc, "faults") > 8000, "{glibc:#}");
}

/// Where memory stands level, what was live when it came there counts.
#[test]
fn what_is_live_at_a_level_peak_is_the_most() {
    // The last reading before blocks go is at another distance from that in each.
    for count in (2990..3050).step_by(7) {
        let replayed = Case::new(&format!("level {count}")).replay(ONCE);
        let live = number(first_run(&replayed, 0), "live_bytes_at_rss_peak");
        assert!(live >= count * 4096, "{live} of {count} pages");
    }
}

#[test]
fn what_nobody_touched_stays_so() {
    let replayed = Case::new("untouched").replay(ONCE);
    let glibc = &replayed["allocators"][0];
    let limit = number(&replayed, "touch_limit_bytes");
    assert!(limit <= 64 << 20, "{limit}");
    assert!(number(glibc, "rss_peak_bytes") < 70 << 20, "{glibc:#}");
    assert!(number(glibc, "untouched_bytes") >= 1 << 30, "{glibc:#}");
}

#[test]
fn threads_that_end_leave_their_places() {
    let case = Case::new("many 600");
    let replayed = case.replay(ONCE);
    let operations = &replayed["operations"];
    assert_eq!(number(operations, "threads"), 601);
    assert!(number(operations, "replay_threads") <= 4, "{operations}");
    let log = case.log.to_str().expect("a name");
    let text = case.folder.says(&[&["replay"], ONCE, &[log]].concat());
    assert!(text.contains("601 threads are replayed by"), "{text}");
}

#[test]
fn what_is_exported_is_the_same() {
    let case = Case::new("chains");
    let (log, out) = (
        case.log.to_str().expect("a name"),
        case.folder.path("one.ops"),
    );
    let exported = out.to_str().expect("a name");
    case.folder.says(&["export", "replay", log, "-o", exported]);
    let (ours, theirs) = (case.replay(ONCE), replay(&case.folder, &out, ONCE));
    assert_eq!(ours["operations"], theirs["operations"]);
    assert_eq!(ours["recorded"], theirs["recorded"]);
    assert_eq!(counted(first_run(&ours, 0)), counted(first_run(&theirs, 0)));
    let bytes = fs::read(&out).expect("read");
    let events = number(&ours["operations"], "calls");
    assert!((bytes.len() as u64) < 400 + 8 * events, "{}", bytes.len());
}

/// A program is no library, whatever its name says; and of a static one nobody knows.
#[test]
fn only_libraries_tell_the_allocator() {
    let folder = Folder::new("replay-names");
    let program = built(&folder, &GCC, "replayed.c", "libjemalloc-bench");
    let log = folder.path("one.memlog");
    let mut command = folder.memlog(&["record", "-o"]);
    let output = command.arg(&log).arg(program).arg("zero").output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let replayed = replay(&folder, &log, ONCE);
    assert_eq!(replayed["recorded"]["allocator"], Value::Null);
    assert_eq!(replayed["allocators"][0]["is_recorded"], true);

    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/cross");
    for name in ["x86_64-musl.memlog", "s390x.memlog"] {
        let replayed = replay(&folder, &golden.join(name), ONCE);
        assert_eq!(replayed["recorded"]["allocator"], "(unknown)", "{name}");
        let one = &replayed["allocators"][0];
        assert_eq!(one["is_recorded"], false, "{name}");
        assert_eq!(one["verdict"], Value::Null, "{name}");
    }
}

/// Each allocator of this machine answers, and its figures hold together.
#[test]
fn those_of_this_machine_are_found() {
    let replayed = Case::new("holes").replay(&["--repeat", "1"]);
    let all = replayed["allocators"].as_array().expect("a list");
    let absent = replayed["not_found"].as_array().expect("a list");
    assert_eq!(all.len() + absent.len(), 4, "{replayed:#}");
    for one in absent {
        println!("SKIPPED {}: {}", one["name"], one["hint"]);
    }
    for one in all {
        assert_eq!(one["failed"], Value::Null, "{one:#}");
        let name = one["name"].as_str().expect("a name");
        let library = one["library"].as_str().expect("a path");
        assert!(library.contains(name.trim_start_matches("g")), "{library}");
        let [peak, live] = ["rss_peak_bytes", "live_bytes_at_rss_peak"].map(|key| number(one, key));
        assert!(peak > 24_000_000 && live < peak, "{one:#}");
        assert_eq!(counted(&one["runs"][0]), counted(first_run(&replayed, 0)));
    }
}

/// Whoever is killed leaves neither a process nor a file.
#[test]
fn nothing_is_left_behind() {
    let case = Case::new("holes");
    let temporary = case.folder.folder("temporary");
    let mut command = case.folder.command(env!("CARGO_BIN_EXE_memlog"));
    command.args(["replay", "--allocator", "glibc", "--repeat", "255"]);
    command.arg(&case.log).env("TMPDIR", &temporary);
    let mut replay = command.stdout(Stdio::null()).spawn().expect("it runs");
    let children = format!("/proc/{0}/task/{0}/children", replay.id());
    let replayer = loop {
        let text = fs::read_to_string(&children).unwrap_or_default();
        let all = text.split_whitespace();
        let is_it = |pid: &&str| {
            let path = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            path.to_string_lossy().contains("memlog_replayer")
        };
        if let Some(pid) = { all }.find(is_it) {
            break pid.to_owned();
        }
        assert!(replay.try_wait().expect("wait").is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(1));
    };
    replay.kill().expect("kill");
    replay.wait().expect("wait");
    let exe = PathBuf::from(format!("/proc/{replayer}/exe"));
    while fs::read_link(&exe).is_ok_and(|path| path.to_string_lossy().contains("memlog_replayer")) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let left = fs::read_dir(&temporary).expect("list").count();
    assert_eq!(left, 0);
}

/// Programs that people run: the replay is that of glibc, and not far from what was recorded.
#[test]
fn programs_are_near_what_was_recorded() {
    let folder = Folder::new("replay-programs");
    let script =
        "import json; x = [json.dumps({'a': [i] * 50}) for i in range(40000)]; print(len(x))";
    let hash = "my %h; $h{$_} = 'x' x 50 for 1 .. 200000; print scalar(%h)";
    // What Python maps itself, and the code that it loads, are no malloc's.
    let runs = [
        (["/usr/bin/perl", "-e", hash], 2),
        (["/usr/bin/python3", "-c", script], 100),
    ];
    for (at, (words, part)) in runs.iter().enumerate() {
        if !Command::new(words[0])
            .arg("--version")
            .output()
            .is_ok_and(|it| it.status.success())
        {
            println!("SKIPPED there is no {}", words[0]);
            continue;
        }
        let log = folder.path(&format!("{at}.memlog"));
        let name = log.to_str().expect("a name");
        let output = folder.run(&[&["record", "-o", name, "--"], &words[..]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let replayed = replay(&folder, &log, ONCE);
        let [growth, mapped] =
            ["rss_growth_bytes", "mapped_bytes"].map(|key| number(&replayed["recorded"], key));
        let peak = number(&replayed["allocators"][0], "rss_peak_bytes");
        let range = growth.saturating_sub(mapped) / part..growth * 3 / 2;
        assert!(
            range.contains(&peak),
            "{}: {peak}, {growth} {mapped}",
            words[0]
        );
    }
}

#[test]
fn a_program_of_musl_is_replayed_by_musl() {
    let musl = optioned("musl-gcc", GCC.options);
    if !musl.is_here("replays of musl's programs") {
        return;
    }
    let folder = Folder::new("replay-musl");
    let source = folder.path("small.c");
    let text = "#include <stdlib.h>\n#include <string.h>\nint main(void) {\n\
                for (int i = 0; i < 5000; i++) {\n\
                char *block = memset(malloc(500 + i % 9), 1, 500);\n\
                if (block[i % 500] && i % 3) free(block);\n}\nreturn 0; }\n";
    fs::write(&source, text).expect("write");
    let program = musl.build_file(&folder, &source, "small", &["-fno-builtin"]);
    let log = folder.path("small.memlog");
    let mut command = folder.memlog(&["record", "-o"]);
    let output = command.arg(&log).arg(program).output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let replayed = replay(&folder, &log, ONCE);
    let names = [0, 1].map(|at: usize| &replayed["allocators"][at]["name"]);
    assert_eq!(names, ["musl", "glibc"]);
    let own = &replayed["allocators"][0];
    assert_eq!(own["is_recorded"], true);
    assert_eq!(
        counted(first_run(&replayed, 0))[..3],
        naive(&folder, &log)[..3]
    );
    assert!(number(own, "rss_peak_bytes") > 800_000, "{own:#}");
}
