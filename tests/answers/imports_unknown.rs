//! What another tool's file does not know is said to be unknown, and is never shown as 0.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::protobuf::{field, number, varint};
use crate::sites::{Folder, said};
use crate::{ask, rows};

fn golden(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("golden/imports").join(name)
}

/// Two blocks of 100 bytes in heaptrack's form, both of which go.
const FREED: &str = "v 10400 3\nX app\ns 4 main\ns 3 app\ni 1000 2 1\nt 1 0\na 64 1\n\
                     + 0\n- 0\n+ 0\n- 0\n";

fn checked(folder: &Folder, file: &Path) -> (Option<i32>, String) {
    let name = file.to_str().expect("a name");
    let output = folder.run(&["check", "--max-leaked", "0", "--max-peak", "1GiB", name]);
    let told = String::from_utf8_lossy(&output.stdout);
    (output.status.code(), format!("{told}{}", said(&output)))
}

/// Limits that a file keeps only because it ends too early, or is of one moment, are not
/// proven to be kept.
#[test]
fn a_part_of_a_run_keeps_no_limit() {
    let folder = Folder::new("answers-imports-part");
    let file = folder.path("it.heaptrack");
    fs::write(&file, FREED).expect("a file");
    let (code, told) = checked(&folder, &file);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(ask(&folder, &file, "stats")["ended"], true);
    // In the middle of the last line, and with a line that nobody understands.
    for content in [&FREED[..FREED.len() - 1], &format!("{FREED}- 77\n")] {
        fs::write(&file, content).expect("a file");
        let (code, told) = checked(&folder, &file);
        assert_eq!(code, Some(1), "{told}");
        assert_eq!(told.matches("UNPROVEN").count(), 2, "{told}");
    }
    let names = [
        "go.pb.gz",
        "gperftools.heap",
        "gperftools.pb.gz",
        "jemalloc.heap",
        "massif.out",
    ];
    for name in names {
        let (code, told) = checked(&folder, &golden(name));
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains("UNPROVEN"), "{name}: {told}");
        assert!(!told.contains("BROKEN"), "{name}: {told}");
        let stats = ask(&folder, &golden(name), "stats");
        assert_eq!(stats["ended"], false, "{name}");
        let unknown = stats["imported"]["unknown"].as_array().expect("a list");
        assert!(unknown.contains(&"end".into()), "{name}: {stats}");
    }
    for name in ["dhat.json", "bytehound.dat", "memtrail.data"] {
        assert_eq!(
            ask(&folder, &golden(name), "stats")["ended"],
            true,
            "{name}"
        );
    }
}

/// Packed files too: what is behind the cut is not taken for the end.
#[test]
fn a_cut_packed_file_is_cut() {
    let folder = Folder::new("answers-imports-cut");
    let pack = |tool: &str, name: &str| {
        let file = folder.path("it.heaptrack");
        fs::write(&file, FREED).expect("a file");
        let packed = folder.path(name);
        let mut command = folder.command(tool);
        let output = command.args(["-c", "-q"]).arg(&file).output();
        let Ok(output) = output else {
            println!("SKIPPED imports: no {tool}");
            return;
        };
        let whole = output.stdout;
        assert!(!whole.is_empty(), "{name}");
        fs::write(&packed, &whole).expect("a file");
        let (code, told) = checked(&folder, &packed);
        assert_eq!(code, Some(0), "{name}: {told}");
        for length in whole.len() / 2..whole.len() {
            fs::write(&packed, &whole[..length]).expect("a file");
            let (code, told) = checked(&folder, &packed);
            assert!(matches!(code, Some(1 | 2)), "{name} {length}: {told}");
        }
    };
    pack("gzip", "it.gz");
    pack("zstd", "it.zst");
}

/// A profile in pprof's form: two stacks of one function each, with these types of values.
fn pprof(kinds: &[&str], values: [&[u64]; 2]) -> Vec<u8> {
    let mut profile = Vec::new();
    for place in 0..kinds.len() as u64 {
        profile.extend(field(1, &number(1, 3 + place)));
    }
    for (id, values) in (1..).zip(values) {
        let values: Vec<u8> = values.iter().flat_map(|value| varint(*value)).collect();
        let sample = [field(1, &varint(id)), field(2, &values)].concat();
        profile.extend(field(2, &sample));
        let line = field(4, &number(1, id));
        profile.extend(field(4, &[number(1, id), line].concat()));
        profile.extend(field(5, &[number(1, id), number(2, id)].concat()));
    }
    for text in ["", "first", "second"].iter().chain(kinds) {
        profile.extend(field(6, text.as_bytes()));
    }
    profile
}

/// What is asked and refused: one sentence, and no page.
fn refused(folder: &Folder, words: &[&str], file: &Path) -> String {
    let name = file.to_str().expect("a name");
    // Where it does not stand last.
    let places = words
        .iter()
        .map(|word| if *word == "FILE" { name } else { word });
    let mut all: Vec<&str> = places.collect();
    if !words.contains(&"FILE") {
        all.push(name);
    }
    let output = folder.run(&all);
    let told = said(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?} {name}: {told}");
    assert!(output.stdout.is_empty(), "{words:?} {name}");
    assert!(told.contains("not known: "), "{words:?} {name}: {told}");
    told
}

/// A profile of what came in all says nothing of what is live.
#[test]
fn what_came_is_not_what_is_live() {
    let folder = Folder::new("answers-imports-alloc");
    let file = folder.path("alloc.pb");
    let kinds = ["alloc_objects", "alloc_space"];
    fs::write(&file, pprof(&kinds, [&[3, 300], &[2, 900]])).expect("a file");
    let stats = ask(&folder, &file, "stats");
    for (key, expected) in [("allocations", 5), ("total_bytes", 1200)] {
        assert_eq!(stats[key], expected, "{stats}");
    }
    for key in [
        "releases",
        "end_live_bytes",
        "end_live_blocks",
        "heap_peak_bytes",
        "rss_peak_live_bytes",
        "temporary_allocations",
    ] {
        assert_eq!(stats[key], Value::Null, "{key}");
    }
    let name = file.to_str().expect("a name");
    let summary = folder.says(&["summary", name]);
    assert!(
        summary.contains("heap peak: not known: the file has only what was allocated in all"),
        "{summary}"
    );
    assert!(!summary.contains(" live at "), "{summary}");
    for words in [
        &["report"][..],
        &["tree"],
        &["leaks"],
        &["report", "--at", "end"],
        &["flamegraph", "-o", "-"],
        &["export", "folded", "-o", "-"],
        &["dot", "-o", "-"],
        &["timeline"],
    ] {
        let told = refused(&folder, words, &file);
        assert!(told.contains("what is live"), "{words:?}: {told}");
    }
    let report = folder.says(&["report", "--by", "allocated", name]);
    assert!(report.contains("second"), "{report}");
    let table = ask(&folder, &file, "table");
    assert_eq!(rows(&table).len(), 2);
    assert_eq!(rows(&table)[0]["leaked_bytes"], Value::Null);
    // And the other way round.
    let file = folder.path("live.pb");
    let kinds = ["inuse_objects", "inuse_space"];
    fs::write(&file, pprof(&kinds, [&[3, 300], &[2, 900]])).expect("a file");
    assert_eq!(ask(&folder, &file, "stats")["end_live_bytes"], 1200);
    let told = refused(&folder, &["report", "--by", "count"], &file);
    assert!(told.contains("what came and went"), "{told}");
    refused(&folder, &["table"], &file);
    let table = ask(&folder, &file, "table --at end");
    assert_eq!(rows(&table)[0]["bytes"], 900);
}

/// Questions that rest on what the source does not know.
#[test]
fn what_is_not_known_is_not_answered() {
    let folder = Folder::new("answers-imports-gate");
    let heaptrack = folder.path("it.heaptrack");
    fs::write(&heaptrack, FREED).expect("a file");
    let of_sums = [
        "temporary",
        "histogram size",
        "histogram lifetime",
        "histogram lifetime-events",
        "histogram size-lifetime",
        "table --by size",
        "table --by thread",
        "table --by kind",
        "table --at 5s",
        "table --at end --where size>10",
        "table --at end --where address=1",
        "table --at end --where temporary",
        "table --at end --where born>1s",
        "table --at end --where tid=1",
        "table --at end --where lifetime>1s",
        "where --at end FILE 0x1000",
        "fragmentation",
        "threads",
        "chains",
        "maps",
        "rss",
        "dump",
        "timeline",
        "replay",
        "export perfetto -o -",
        "export firefox -o -",
        "export heaptrack -o -",
        "report --by temporary",
        "report --where size>10",
    ];
    for name in ["gperftools.heap", "dhat.json", "go.pb.gz"] {
        for question in of_sums {
            let words: Vec<_> = question.split(' ').collect();
            refused(&folder, &words, &golden(name));
        }
    }
    for question in [
        "threads",
        "where FILE 0x1000",
        "fragmentation",
        "histogram lifetime",
        "chains",
    ] {
        let words: Vec<_> = question.split(' ').collect();
        refused(&folder, &words, &heaptrack);
    }
    // Either of two.
    let name = heaptrack.to_str().expect("a name").to_owned();
    refused(
        &folder,
        &["diff", "--by", "thread", &name],
        &golden("gperftools.heap"),
    );
    // What is known is answered, without the columns that are not.
    let table = ask(&folder, &golden("gperftools.heap"), "table --at end");
    for key in [
        "first_seconds",
        "temporary_blocks",
        "largest_bytes",
        "waste_bytes",
    ] {
        assert_eq!(rows(&table)[0][key], Value::Null, "{key}");
    }
    let golden_name = golden("gperftools.heap");
    let golden_name = golden_name.to_str().expect("a name");
    let text = folder.says(&["table", "--at", "end", golden_name]);
    let titles = text
        .lines()
        .find(|line| line.contains("share"))
        .expect("titles");
    for title in ["largest", "waste", "temporary"] {
        assert!(!titles.contains(title), "{titles}");
    }
    // Of two files what either does not know, and of massif no block is one.
    let massif = golden("massif.out");
    let massif_name = massif.to_str().expect("a name");
    let diff = ask(
        &folder,
        &golden("dhat.json"),
        &format!("diff --by function {massif_name}"),
    );
    for key in ["blocks", "before_blocks", "after_blocks"] {
        assert_eq!(diff[key], Value::Null, "{key}");
        assert_eq!(rows(&diff)[0][key], Value::Null, "{key}");
    }
    assert!(diff["before_bytes"].is_number(), "{diff}");
    let text = folder.says(&["table", "--at", "end", massif_name]);
    assert!(
        text.contains("135.6 KiB live at end, by function:"),
        "{text}"
    );
    let titles = text
        .lines()
        .find(|line| line.contains("share"))
        .expect("titles");
    for title in ["blocks", "largest", "not freed"] {
        assert!(!titles.contains(title), "{titles}");
    }
    ask(&folder, &heaptrack, "temporary");
    ask(&folder, &golden("bytehound.dat"), "histogram size");
}

/// massif's file has sums and no blocks, and instructions in place of seconds.
#[test]
fn pages_of_sums_tell_no_blocks_and_no_seconds() {
    let folder = Folder::new("answers-imports-sums");
    let massif = golden("massif.out");
    let name = massif.to_str().expect("a name");
    for words in [
        "summary",
        "report",
        "report --at end",
        "report --at 30%",
        "tree --top-down",
        "leaks",
        "table --at end --by line",
        "timeline",
        "diff --at start --at end",
        "import -o sums.memlog",
        "export callgrind -o -",
    ] {
        let words: Vec<_> = words.split(' ').chain([name]).collect();
        check_sums(&words.join(" "), &folder.says(&words));
    }
    let output = folder.run(&["check", "--max-peak", "1k", "--max-leaked", "1", name]);
    check_sums("check", &String::from_utf8_lossy(&output.stdout));
    folder.says(&["dot", "--format", "txt", "-q", name, "graph"]);
    folder.says(&["flamegraph", "-q", "-o", "it.svg", name]);
    for file in ["graph/massif.out.txt", "it.svg"] {
        let text = fs::read_to_string(folder.path(file)).expect("text");
        check_sums(file, &text);
    }
    for words in [
        "histogram size",
        "postmortem",
        "report --every 1ms",
        "tree --top-down --times",
        "timeline -o it.svg",
        "temporary",
    ] {
        let words: Vec<_> = words.split(' ').chain([name]).collect();
        let output = folder.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains("does not know"), "{words:?}");
    }
    // Of sixty snapshots more than one is a row.
    let rows = ask(&folder, &massif, "timeline --points 40");
    let rows = rows["points"].as_array().expect("a list").len();
    assert!((10..=44).contains(&rows), "{rows}");
}

#[track_caller]
fn check_sums(about: &str, text: &str) {
    let told = [
        "how many blocks there were",
        "how large single blocks were",
        "which of blocks alike went",
        "in which order blocks came and went",
        "which blocks realloc made of others",
    ];
    // What is not known is told everywhere, in lines that may break.
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = told
        .iter()
        .fold(words.join(" "), |text, words| text.replace(words, ""));
    for unknown in ["block", "1x", "2x", "seconds", "1 thread", "process 0"] {
        assert!(!text.contains(unknown), "{about}: {unknown} in {text}");
    }
    let words: Vec<&str> = text.split(' ').collect();
    for pair in words.windows(2) {
        let is_number = pair[0].parse::<f64>().is_ok();
        let is_unit = matches!(pair[1].trim_end_matches([',', ';', ':', ')']), "s" | "ms");
        assert!(!(is_number && is_unit), "{about}: {pair:?} in {text}");
    }
}

/// What a page says to run next can be run.
#[test]
fn what_comes_next_is_answered() {
    let folder = Folder::new("answers-imports-next");
    for name in ["massif.out", "go.pb.gz", "dhat.json", "gperftools.heap"] {
        let file = golden(name);
        fs::copy(&file, folder.path(name)).expect("a copy");
        let text = folder.says(&["summary", name]);
        let (_, next) = text.split_once("next: ").expect("what is next");
        for line in next.lines() {
            let words = line.trim().trim_start_matches("memlog ");
            let (words, _) = words.split_once(name).expect("the file");
            let words: Vec<_> = words.split_whitespace().chain([name]).collect();
            let output = folder.run(&words);
            assert!(output.status.success(), "{words:?}: {}", said(&output));
        }
    }
}

/// Which of two blocks alike went heaptrack does not tell: the last is taken.
#[test]
fn temporary_blocks_are_about_so_many() {
    let folder = Folder::new("answers-imports-about");
    fs::write(folder.path("it"), FREED).expect("a file");
    for (words, told) in [
        ("temporary", "about 200 bytes in 2 temporary blocks"),
        ("report --by temporary", "about so many"),
        ("summary", "(about 100.0 % temporary"),
    ] {
        let words: Vec<_> = words.split(' ').chain(["it"]).collect();
        let text = folder.says(&words);
        assert!(text.contains(told), "{words:?}: {text}");
    }
}

/// Each file is a process of its own, and what it does not know is null.
#[test]
fn a_data_set_keeps_imports_apart() {
    let folder = Folder::new("answers-imports-dataset");
    let names = ["gperftools.heap", "massif.out", "go.pb.gz"];
    let mut keys = HashSet::new();
    for name in names {
        let sql = folder.path(&format!("{name}.sql"));
        let (file, out) = (golden(name), sql.to_str().expect("a name").to_owned());
        let file = file.to_str().expect("a name");
        folder.says(&["export", "sqlite", "-q", "-o", &out, file]);
        let text = fs::read_to_string(&sql).expect("text");
        let key = text.split('\'').find(|word| word.starts_with("imported."));
        keys.insert(
            key.unwrap_or_else(|| panic!("{name}: {text:.3000}"))
                .to_owned(),
        );
    }
    assert_eq!(keys.len(), names.len(), "{keys:?}");
    let files: Vec<_> = names.map(golden).into();
    let mut command = folder.memlog(&["export", "parquet", "-o", "set"]);
    let output = command.args(&files).output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
}

/// Commands that take logs alone say what to do.
#[test]
fn what_takes_logs_alone_says_import_it() {
    let folder = Folder::new("answers-imports-hint");
    fs::copy(golden("gperftools.heap"), folder.path("one.heap")).expect("a copy");
    fs::copy(golden("dhat.json"), folder.path("two.json")).expect("a copy");
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1/tiny.memlog");
    fs::copy(log, folder.path("tiny.memlog")).expect("a copy");
    for words in [
        &["ranks", "one.heap"][..],
        &["ranks", "one.heap", "two.json"],
        &["info", "--list", "one.heap"],
        &["info", "--list", "tiny.memlog", "one.heap"],
    ] {
        let told = said(&folder.run(words));
        assert!(
            told.contains("one.heap is a gperftools file and no log")
                && told.contains("hint: import it first: memlog import one.heap"),
            "{words:?}: {told}"
        );
    }
}
