//! The data set of tables: its figures are those of `stats` and of the json form, stacks
//! have the same ids in each process, and many may write at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Case, of_json, python, text, whole};
use crate::sites::build::GCC;
use crate::sites::{Folder, said};

/// The files of a table, below the data set's folder.
fn files(folder: &Path, table: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.join(table)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// The rows of a table, as an engine reads them; nothing where there is none here.
fn rows(folder: &Path, table: &str) -> Option<Vec<Value>> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/exports/parquet.py");
    let output = Command::new(python())
        .arg(reader)
        .arg(folder.join(table))
        .output();
    let output = output.expect("python3 runs");
    match output.status.code() {
        Some(77) => {
            println!(
                "SKIPPED exports: {}",
                String::from_utf8_lossy(&output.stdout).trim()
            );
            None
        }
        Some(0) => Some(serde_json::from_slice(&output.stdout).expect("JSON")),
        _ => panic!("{}", said(&output)),
    }
}

fn data_set(case: &Case, log: &Path) -> PathBuf {
    let folder = case.folder.path("dataset");
    let to = folder.to_str().expect("a name");
    case.folder
        .says(&["export", "parquet", "-o", to, log.to_str().expect("a name")]);
    folder
}

/// By stack id its functions from the outermost in.
fn stacks(rows: &[Value]) -> BTreeMap<i64, Vec<String>> {
    let mut stacks: BTreeMap<i64, BTreeMap<u64, String>> = BTreeMap::new();
    for row in rows {
        let id = row["stack_id"].as_i64().expect("an id");
        let places = stacks.entry(id).or_default();
        places.insert(whole(&row["place"]), text(&row["function"]));
    }
    let chains = stacks.into_iter();
    let chains = chains.map(|(id, places)| (id, places.into_values().rev().collect()));
    chains.collect()
}

#[test]
fn tables_have_the_figures_of_stats() {
    let case = Case::new("answers-exports-parquet", "mix 21 900 3");
    let folder = data_set(&case, &case.log);
    for table in ["processes", "sites", "timeline", "stacks"] {
        assert_eq!(files(&folder, table).len(), 1, "{table}");
    }
    let Some(processes) = rows(&folder, "processes") else {
        return;
    };
    assert_eq!(processes.len(), 1);
    for (key, value) in processes[0].as_object().expect("a row") {
        if case.stats.get(key).is_some_and(Value::is_number) {
            let [told, known] = [value, &case.stats[key]].map(Value::as_f64);
            assert_eq!(told, known, "{key}");
        }
    }
    assert_eq!(whole(&processes[0]["schema"]), 1);
    let sites = rows(&folder, "sites").expect("rows");
    let sum = |key: &str| sites.iter().map(|row| whole(&row[key])).sum::<u64>();
    for (column, figure) in [
        ("rss_peak_bytes", "rss_peak_live_bytes"),
        ("rss_peak_blocks", "rss_peak_live_blocks"),
        ("heap_peak_bytes", "heap_peak_bytes"),
        ("heap_peak_blocks", "heap_peak_blocks"),
        ("end_bytes", "end_live_bytes"),
        ("end_blocks", "end_live_blocks"),
        ("allocated_bytes", "total_bytes"),
        ("allocations", "allocations"),
        ("temporary_allocations", "temporary_allocations"),
    ] {
        assert_eq!(sum(column), case.number(figure), "{column}");
    }
    let is_something = |row: &Value| {
        let row = row.as_object().expect("a row").iter();
        let mut figures = row.filter(|(key, _)| key.ends_with("_blocks") || *key == "allocations");
        figures.any(|(_, value)| value.as_u64() > Some(0))
    };
    assert!(sites.iter().all(is_something), "{sites:?}");
    let stacks = stacks(&rows(&folder, "stacks").expect("rows"));
    let held = of_json(&case.json("json", &[]), ["heap-peak", ""]);
    let mut told: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for row in &sites {
        let chain = &stacks[&row["stack_id"].as_i64().expect("an id")];
        *told.entry(chain.clone()).or_default() += whole(&row["heap_peak_bytes"]);
    }
    told.retain(|_, bytes| *bytes > 0);
    let held: BTreeMap<_, _> = held
        .into_iter()
        .map(|(chain, held)| (chain, held.0))
        .collect();
    assert_eq!(told, held);
    let timeline = rows(&folder, "timeline").expect("rows");
    let most = |key: &str| timeline.iter().filter_map(|row| row[key].as_u64()).max();
    assert_eq!(most("heap_bytes"), Some(case.number("heap_peak_bytes")));
}

/// Ranks whose code lies elsewhere in memory have the same stacks by the same ids, and
/// the file of stacks once.
#[test]
fn ranks_share_their_stacks() {
    let case = Case::new("answers-exports-parquet-ranks", "mix 22 300 1");
    let program = case.folder.path("known");
    let mut ranks: Vec<_> = (0..4)
        .map(|rank: u32| {
            let mut command = case.folder.memlog(&["record", "-o", "%r.memlog"]);
            command.arg(&program).args(["mix", "22", "300", "1"]);
            command
                .env("PMI_RANK", rank.to_string())
                .env("SLURM_JOB_ID", "a/b=7");
            command.spawn().expect("it runs")
        })
        .collect();
    for rank in &mut ranks {
        assert!(rank.wait().expect("it ends").success());
    }
    let folder = case.folder.path("dataset");
    let mut writers: Vec<_> = (0..4)
        .map(|rank: u32| {
            let log = case.folder.path(&format!("{rank}.memlog"));
            let mut command = case.folder.memlog(&["export", "parquet", "-q", "-o"]);
            command.arg(&folder).arg(log).spawn().expect("it runs")
        })
        .collect();
    for writer in &mut writers {
        assert!(writer.wait().expect("it ends").success());
    }
    assert_eq!(files(&folder, "processes").len(), 4);
    let stacks = files(&folder, "stacks");
    assert_eq!(stacks.len(), 1, "{stacks:?}");
    assert!(
        stacks[0].starts_with(folder.join("stacks/job=a%2Fb%3D7")),
        "{stacks:?}"
    );
    let Some(sites) = rows(&folder, "sites") else {
        return;
    };
    let ids = |rank: u64| -> BTreeSet<i64> {
        let rows = sites.iter().filter(|row| row["rank"] == rank);
        rows.map(|row| row["stack_id"].as_i64().expect("an id"))
            .collect()
    };
    assert!(ids(0).len() > 3);
    assert!((1..4).all(|rank| ids(rank) == ids(0)));
}

/// Logs of one call share their files, and the rows are the same; one that cannot be read
/// does not keep the others out.
#[test]
fn many_logs_may_be_written_at_once() {
    let case = Case::new("answers-exports-parquet-many", "mix 24 300 1");
    let folder = &case.folder;
    let mut logs: Vec<String> = ["mix 25 200 1", "mix 26 90 2", "mix 27 400 1"]
        .iter()
        .map(|words| crate::recorded(folder, &[], words).0)
        .map(|log| log.to_str().expect("a name").to_owned())
        .collect();
    for log in &logs {
        folder.says(&["export", "parquet", "-q", "-o", "single", log]);
    }
    fs::write(folder.path("bad.memlog"), "no log").expect("written");
    logs.insert(1, "bad.memlog".to_owned());
    let words = ["export", "parquet", "-o", "many"].map(str::to_owned);
    let output = folder.run(&[&words[..], &logs].concat());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("error: cannot read bad.memlog"));
    assert_eq!(output.stdout, b"Creating 4 files in many\n");
    for table in ["processes", "sites", "timeline", "stacks"] {
        assert_eq!(files(&folder.path("many"), table).len(), 1, "{table}");
        let read = |folder: &str| rows(&case.folder.path(folder), table);
        let (Some(single), Some(many)) = (read("single"), read("many")) else {
            return;
        };
        let sorted = |rows: Vec<Value>| {
            let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
            rows.sort_unstable();
            // Files of stacks may repeat each other.
            rows.dedup();
            rows
        };
        assert!(!many.is_empty());
        assert_eq!(sorted(many), sorted(single), "{table}");
    }
    let output = folder.run(&["export", "json", &logs[0], &logs[2]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("export json takes one log, and "),
        "{}",
        said(&output)
    );
}

#[test]
fn a_data_set_is_a_folder() {
    let case = Case::new("answers-exports-parquet-refused", "mix 23 90 1");
    let log = case.log.to_str().expect("a name");
    let output = case.folder.run(&["export", "parquet", "-o", "-", log]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("a data set is a folder of files"),
        "{}",
        said(&output)
    );
    let output = case.folder.run(&["export", "parquet", "--at", "end", log]);
    assert_eq!(output.status.code(), Some(2));
    fs::write(case.folder.path("taken"), "x").expect("a file");
    let output = case.folder.run(&["export", "parquet", "-o", "taken", log]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("cannot make the folder"),
        "{}",
        said(&output)
    );
}

/// Nobody may read more of a log by its data set than by itself: of several logs in one
/// file only who may read them all reads it.
#[test]
fn a_data_set_is_as_readable_as_all_of_its_logs() {
    let case = Case::new("answers-exports-parquet-modes", "mix 28 90 1");
    let (other, _) = crate::recorded(&case.folder, &[], "mix 29 90 1");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    for (modes, expected) in [
        ([0o444, 0o600], 0o600),
        ([0o640, 0o604], 0o600),
        ([0o644, 0o444], 0o644),
        ([0o640, 0o644], 0o640),
    ] {
        let logs = [&case.log, &other];
        for (log, mode) in logs.iter().zip(modes) {
            fs::set_permissions(log, Permissions::from_mode(mode)).expect("chmod");
        }
        let [one, two] = logs.map(|log| log.to_str().expect("a name"));
        let folder = format!("{:o}-{:o}", modes[0], modes[1]);
        case.folder
            .says(&["export", "parquet", "-q", "-o", &folder, one, two]);
        for table in ["processes", "sites", "timeline", "stacks"] {
            for file in files(&case.folder.path(&folder), table) {
                assert_eq!(mode(&file), expected, "{table} of {folder}");
            }
        }
    }
}

/// A process counts once, whatever its logs are called; of a copy that was cut and a whole
/// one the whole one counts, in any order.
#[test]
fn a_process_is_there_once() {
    let case = Case::new("answers-exports-parquet-copies", "mix 30 4000 1");
    let folder = &case.folder;
    let at = |name: &str| folder.path(name);
    let whole = fs::read(&case.log).expect("a log");
    fs::write(at("a-cut.memlog"), &whole[..whole.len() / 2]).expect("written");
    fs::copy(&case.log, at("b-copy.memlog")).expect("copied");
    symlink(&case.log, at("c-link.memlog")).expect("linked");
    fs::hard_link(&case.log, at("d-link.memlog")).expect("linked");
    let log = case.log.to_str().expect("a name");
    let copies = [
        "a-cut.memlog",
        "b-copy.memlog",
        "c-link.memlog",
        "d-link.memlog",
    ];
    folder.says(&["export", "parquet", "-q", "-o", "single", log]);
    let words = ["export", "parquet", "-q", "-o", "many"];
    let output = folder.run(&[&words[..], &copies[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = said(&output);
    for name in ["a-cut.memlog", "c-link.memlog", "d-link.memlog"] {
        let line = format!("{name} is left out: it is of the same process as b-copy.memlog");
        assert!(told.contains(&line), "{told}");
    }
    for table in ["sites", "timeline", "stacks"] {
        let [single, many] = ["single", "many"].map(|name| rows(&at(name), table));
        assert_eq!(many, single, "{table}");
    }
    let only = folder.run(&["export", "parquet", "-o", "one", log, log]);
    assert_eq!(only.stdout, b"Creating 4 files in one\n", "{}", said(&only));
}

/// A process that executes other programs at once, within a step of the clock, has a row for
/// each of them.
#[test]
fn each_program_of_a_process_is_there() {
    let folder = Folder::new("answers-exports-parquet-executed");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("victims/execer.c");
    let program = GCC.build_file(&folder, &source, "execer", &[] as &[&str]);
    let words = ["record", "-o", "logs/", program.to_str().expect("a name")];
    folder.says(&words);
    let logs = folder.logs("logs");
    let names = logs.iter().map(|log| log.to_str().expect("a name"));
    let words = ["export", "parquet", "-q", "-o", "dataset"];
    let output = folder.run(&words.into_iter().chain(names).collect::<Vec<_>>());
    assert_eq!(said(&output), "");
    assert!(logs.len() > 2);
    if let Some(rows) = rows(&folder.path("dataset"), "processes") {
        assert_eq!(rows.len(), logs.len());
        let keys: BTreeSet<_> = rows.iter().map(|row| row["process"].to_string()).collect();
        assert_eq!(keys.len(), logs.len());
    }
}
