//! The form of Perfetto: its own messages are read as its importer does, and what stacks
//! hold at the peaks and at the end is what the json form says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Case, Held, add, list, of_json, of_speedscope, python, sum, text, whole};
use crate::sites::said;

/// What the importer makes of it; nothing where Perfetto's messages are not here.
fn read(trace: &Path) -> Option<Value> {
    let reader =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/exports/read_perfetto.py");
    let output = Command::new(python()).arg(reader).arg(trace).output();
    let output = output.expect("python3 runs");
    let told = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(77) => println!("SKIPPED exports: {}", told.trim()),
        Some(0) => return Some(serde_json::from_str(&told).expect("JSON")),
        _ => panic!("{}", said(&output)),
    }
    None
}

/// What was live at a dump, and what had been allocated.
fn held(dump: &Value) -> (Held, Held) {
    let (mut live, mut allocated) = (Held::new(), Held::new());
    for row in list(&dump["rows"]) {
        let chain: Vec<String> = list(&row[0]).iter().map(text).collect();
        let [bytes, blocks, freed_bytes, freed] = [1, 2, 3, 4].map(|at| whole(&row[at]));
        add(&mut allocated, chain.clone(), (bytes, blocks));
        let now = (bytes - freed_bytes, blocks - freed);
        if now != (0, 0) {
            add(&mut live, chain, now);
        }
    }
    (live, allocated)
}

fn highest(counter: &Value) -> u64 {
    let points = list(counter).iter().map(|point| whole(&point[1]));
    points.max().expect("points")
}

#[test]
fn perfetto_has_peaks_and_end() {
    for words in ["mix 31 900 3", "mix 32 1200 1", "fork"] {
        let case = Case::new(&format!("answers-exports-perfetto-{}", words.len()), words);
        let Some(trace) = read(&case.export("perfetto", &[])) else {
            return;
        };
        let dumps = list(&trace["dumps"]);
        let (end, allocated) = held(dumps.last().expect("dumps"));
        let number = |key| case.number(key);
        assert_eq!(
            sum(&end),
            (number("end_live_bytes"), number("end_live_blocks"))
        );
        let inherited = number("inherited_blocks");
        assert_eq!(sum(&allocated).1, number("allocations") + inherited);
        let json = case.json("json", &[]);
        let at = |moment| of_speedscope(&case.json("speedscope", &["--at", moment]));
        assert_eq!(end, at("end"));
        if inherited == 0 {
            assert_eq!(allocated, of_json(&json, ["allocated", "count"]));
        }
        let all: Vec<Held> = dumps.iter().map(|dump| held(dump).0).collect();
        for moment in ["rss-peak", "heap-peak"] {
            assert!(all.contains(&at(moment)), "{words}: {moment}");
        }
        let most = all.iter().map(|held| sum(held).0).max();
        assert_eq!(most, Some(number("heap_peak_bytes")));
        let counters = &trace["counters"];
        assert_eq!(highest(&counters["heap"]), number("heap_peak_bytes"));
        // The peak is without the recorder's part, which another reading may have more of.
        let mut resident = list(&counters["RSS"]).iter().map(|point| whole(&point[1]));
        let peak = number("rss_peak_bytes");
        assert!(resident.any(|bytes| bytes == peak), "{peak}: {counters}");
        assert_eq!(trace["start"], case.stats["start_unix_ns"]);
        assert_eq!(trace["process"][0], case.stats["pid"]);
        assert_eq!(trace["process"][1], "known");
        let lines = list(&trace["lines"]);
        let is_ours = |line: &Value| text(&line[1]).ends_with("known.c") && whole(&line[2]) > 0;
        assert!(lines.iter().any(is_ours), "{lines:?}");
    }
}

#[test]
fn perfetto_takes_chosen_blocks() {
    let case = Case::new("answers-exports-perfetto-where", "mix 33 300 2");
    let log = case.log.to_str().expect("a name");
    let filter = "size >= 1000";
    let words = ["table", "--by", "kind", "--where", filter, "--json", log];
    let table: Value = serde_json::from_str(&case.folder.says(&words)).expect("JSON");
    let of = |key: &str| {
        list(&table["rows"])
            .iter()
            .map(|row| whole(&row[key]))
            .sum()
    };
    let expected: (u64, u64) = (of("bytes"), of("blocks"));
    if let Some(trace) = read(&case.export("perfetto", &["--where", filter])) {
        let (_, allocated) = held(list(&trace["dumps"]).last().expect("dumps"));
        assert_eq!(sum(&allocated), expected);
    }
    // Of no block there is a trace too.
    if let Some(trace) = read(&case.export("perfetto", &["--where", "size > 1TiB"])) {
        assert!(
            list(&trace["dumps"])
                .iter()
                .all(|dump| dump["rows"] == Value::Array(vec![]))
        );
    }
    for option in [&["--at", "end"][..], &["--by", "count"], &["-i", "mix"]] {
        let output = case
            .folder
            .run(&[&["export", "perfetto", log], option].concat());
        assert_eq!(output.status.code(), Some(2));
        let told = said(&output);
        assert!(
            told.contains("perfetto's form is of the whole run"),
            "{told}"
        );
    }
}
