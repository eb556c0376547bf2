//! Files of valgrind, pprof, jemalloc, gperftools, memtrail and bytehound, which are read
//! as they are: memlog says of them what the tools that read them say. The files are in
//! golden/imports; where an allocator with a profiler is here, another is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{ask, number};

/// Bytes by function: of the innermost of each stack, and of all in it.
type Flat = BTreeMap<String, (u64, u64)>;

fn golden(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("golden/imports").join(name)
}

/// What is live at the end: by the export whose stacks and sums nobody else computes.
fn live(folder: &Folder, file: &Path) -> Flat {
    let out = folder.path("stacks.json");
    let words = ["export", "json", "--at", "end", "-q", "-o"];
    let paths = [&out, &file.to_path_buf()].map(|path| path.to_str().expect("a name").to_owned());
    let words = words.iter().map(|word| (*word).to_owned()).chain(paths);
    folder.says(&words.collect::<Vec<_>>());
    let text = std::fs::read_to_string(out).expect("text");
    flat(&serde_json::from_str(&text).expect("JSON"))
}

fn flat(json: &Value) -> Flat {
    let list = |value: &Value| value.as_array().cloned().expect("a list");
    let frames = list(&json["frames"]);
    let metrics = list(&json["metrics"]);
    let live = metrics.iter().find(|metric| {
        let is = |key: &str, word: &str| metric[key] == word;
        is("unit", "bytes") && !is("name", "allocated")
    });
    let live = list(&live.expect("what is live")["values"]);
    let mut flat = Flat::new();
    for (stack, bytes) in list(&json["stacks"]).iter().zip(live) {
        let bytes = bytes.as_u64().expect("a number");
        let name = |frame: &Value| {
            let frame = &frames[frame.as_u64().expect("a number") as usize];
            frame["function"].as_str().expect("a name").to_owned()
        };
        let mut names: Vec<_> = list(stack).iter().map(name).collect();
        flat.entry(names[0].clone()).or_default().0 += bytes;
        // One that calls itself counts once.
        names.sort();
        names.dedup();
        names
            .into_iter()
            .for_each(|name| flat.entry(name).or_default().1 += bytes);
    }
    flat.retain(|_, sums| *sums != (0, 0));
    flat
}

/// Whether a tool is here; if not, that is said.
fn has(tool: &str, package: &str) -> bool {
    let is_here = Command::new(tool).arg("--help").output().is_ok();
    if !is_here {
        println!("SKIPPED imports: no {tool} (as root: apt-get install {package})");
    }
    is_here
}

/// What tables.c does, known from its text; null is what no file of that tool knows.
#[test]
fn every_form_is_read_as_it_is() {
    let folder = Folder::new("answers-imports-forms");
    let all = [Some(1154), Some(1_023_131), Some(156_811), Some(156_811)];
    let [came, bytes, _, end] = all;
    let figures = [
        (
            "massif.out",
            "massif",
            [None, None, Some(138_811), Some(138_811)],
        ),
        ("dhat.json", "DHAT", all),
        ("gperftools.heap", "gperftools", [came, bytes, None, end]),
        ("gperftools.pb.gz", "pprof", [came, bytes, None, end]),
        (
            "memtrail.data",
            "memtrail",
            [None, None, Some(257_536), end],
        ),
        ("bytehound.dat", "bytehound", all),
        ("bytehound.post.dat", "bytehound", all),
    ];
    for (name, tool, expected) in figures {
        let stats = ask(&folder, &golden(name), "stats");
        assert_eq!(stats["imported"]["tool"], tool, "{name}");
        let keys = [
            "allocations",
            "total_bytes",
            "heap_peak_bytes",
            "end_live_bytes",
        ];
        assert_eq!(
            keys.map(|key| stats[key].as_u64()),
            expected,
            "{name}: {stats}"
        );
        for unknown in ["rss_peak_bytes", "mapped_peak_bytes"] {
            assert_eq!(stats[unknown], Value::Null, "{name}");
        }
        let summary = folder.says(&["summary", golden(name).to_str().expect("a name")]);
        let shows_calls = summary.contains("allocations (") || summary.contains("allocations, by");
        assert_eq!(shows_calls, expected[0].is_some(), "{summary}");
        assert_eq!(
            summary.contains("temporary"),
            tool == "bytehound",
            "{summary}"
        );
    }
}

/// ms_print's column of useful heap has the largest, and the last is what is live.
#[test]
fn massif_is_what_ms_print_shows() {
    if !has("ms_print", "valgrind") {
        return;
    }
    let folder = Folder::new("answers-imports-ms-print");
    let output = folder
        .command("ms_print")
        .arg(golden("massif.out"))
        .output();
    let told = String::from_utf8(output.expect("it runs").stdout).expect("text");
    let rows = told.lines().filter_map(|line| {
        let words = line
            .split_whitespace()
            .map(|word| word.replace(',', "").parse());
        let numbers: Vec<u64> = words.collect::<Result<_, _>>().ok()?;
        (numbers.len() == 6).then(|| numbers[3])
    });
    let rows: Vec<u64> = rows.collect();
    assert_eq!(rows.len(), 61, "{told}");
    let stats = ask(&folder, &golden("massif.out"), "stats");
    assert_eq!(Some(&number(&stats, "heap_peak_bytes")), rows.iter().max());
    assert_eq!(Some(&number(&stats, "end_live_bytes")), rows.last());
}

/// Flat and cumulated bytes of each function, as `go tool pprof -top` has them.
#[test]
fn pprof_is_what_its_own_tool_shows() {
    if !has("go", "golang-go") {
        return;
    }
    let folder = Folder::new("answers-imports-pprof");
    for name in ["go.pb.gz", "gperftools.pb.gz"] {
        let mut command = folder.command("go");
        let options = [
            "tool",
            "pprof",
            "-top",
            "-unit=B",
            "-nodecount=0",
            "-nodefraction=0",
        ];
        command
            .args(options)
            .args(["-edgefraction=0", "-symbolize=none"]);
        command.env("HOME", folder.root());
        let output = command.arg("-sample_index=inuse_space").arg(golden(name));
        let output = output.output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", said(&output));
        let rows = told.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let mut bytes = || {
                let word = words.next()?;
                word.trim_end_matches('B').parse::<u64>().ok()
            };
            let flat = bytes()?;
            let (_, _, sum, _) = (words.next()?, words.next()?, words.next()?, words.next()?);
            let sum = sum.trim_end_matches('B').parse().ok()?;
            let name = words.next()?;
            // Some code of the C library has no name in the file.
            (!name.starts_with('[') && !name.starts_with("0x"))
                .then(|| (name.to_owned(), (flat, sum)))
        });
        let rows: Flat = rows.filter(|(_, sums)| *sums != (0, 0)).collect();
        assert!(rows.len() >= 5, "{told}");
        let live = live(&folder, &golden(name));
        for (function, sums) in &rows {
            assert_eq!(
                live.get(function),
                Some(sums),
                "{name} {function}: {live:?}"
            );
        }
    }
}

/// A program under an allocator that profiles itself: code is named from the program's
/// file, at the lines that its text has, and sums are jeprof's.
#[test]
fn a_profile_of_this_machine_has_names() {
    if !has("jeprof", "libjemalloc-dev") {
        return;
    }
    for (library, package, variable, value) in [
        (
            "libjemalloc.so.2",
            "libjemalloc2",
            "MALLOC_CONF",
            "prof:true,lg_prof_sample:0,prof_final:true,prof_prefix:",
        ),
        ("libtcmalloc.so.4", "google-perftools", "HEAPPROFILE", ""),
    ] {
        let folder = Folder::new(&format!("answers-imports-{package}"));
        let program = GCC.build_file(
            &folder,
            &golden("tables.c"),
            "tables",
            &["-fno-builtin", "-fno-ipa-cp"],
        );
        let mut command = folder.command(&program);
        let prefix = folder.path("profile");
        let value = format!("{value}{}", prefix.to_str().expect("a name"));
        let output = command
            .env("LD_PRELOAD", library)
            .env(variable, value)
            .output();
        let told = said(&output.expect("it runs"));
        let is_heap = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "heap");
        let files = std::fs::read_dir(folder.root()).expect("a folder");
        let mut files = files
            .map(|entry| entry.expect("a file").path())
            .filter(is_heap);
        let Some(file) = files.next() else {
            println!(
                "SKIPPED imports: {library} made no profile (apt-get install {package}): {told}"
            );
            continue;
        };
        let mut command = folder.command("jeprof");
        command.args([
            "--text",
            "--show_bytes",
            "--inuse_space",
            "--nodefraction=0",
        ]);
        let output = command.arg(&program).arg(&file).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let live = live(&folder, &file);
        for function in ["main", "grow", "copy_of", "small_ones", "read_table"] {
            let row = told
                .lines()
                .find(|line| line.split_whitespace().last() == Some(function));
            let row = row.unwrap_or_else(|| panic!("{function}: {}{told}", said(&output)));
            let words: Vec<_> = row.split_whitespace().collect();
            let sums = (
                words[0].parse().expect("bytes"),
                words[3].parse().expect("bytes"),
            );
            assert_eq!(
                live.get(function),
                Some(&sums),
                "{library} {function}: {live:?}"
            );
        }
    }
}

/// What a source does not know of the lives of its blocks, the form of DHAT does not tell:
/// its page would show zeros as if somebody had measured them.
#[test]
fn no_lifetimes_are_made_up() {
    let folder = Folder::new("answers-imports-dhat-form");
    let mut refused = Vec::new();
    for name in [
        "dhat.json",
        "massif.out",
        "go.pb.gz",
        "jemalloc.heap",
        "memtrail.data",
    ] {
        let file = golden(name);
        let file = file.to_str().expect("a name");
        let output = folder.run(&["export", "dhat", "-o", "-", file]);
        if !output.status.success() {
            assert!(
                said(&output).contains("not known"),
                "{name}: {}",
                said(&output)
            );
            refused.push(name);
            continue;
        }
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let stats: Value =
            serde_json::from_str(&folder.says(&["stats", "--json", file])).expect("JSON");
        let unknown = stats["imported"]["unknown"].as_array().expect("a list");
        let is_lived = !unknown.iter().any(|one| {
            ["times", "lifetimes", "order", "gone"].contains(&one.as_str().expect("a word"))
        });
        assert_eq!(told["bklt"], is_lived, "{name}: {unknown:?}");
        for point in told["pps"].as_array().expect("places") {
            for key in ["tl", "mb", "gb", "eb"] {
                assert_eq!(point[key].is_number(), is_lived, "{name}: {point}");
            }
            assert!(number(point, "tb") > 0, "{name}: {point}");
        }
        assert_eq!(told["tg"].is_number(), is_lived, "{name}");
    }
    let sums = ["massif.out", "go.pb.gz", "jemalloc.heap", "memtrail.data"];
    assert_eq!(refused, sums);
}
