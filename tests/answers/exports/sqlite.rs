//! The data set as statements: `sqlite3` makes a database of them, whose sums are those of
//! `stats`, and which takes any number of logs, each once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Case, Held, add, list, of_speedscope, text, whole};
use crate::recorded;
use crate::sites::said;

/// A database, if there is a program for it.
struct Database(PathBuf);

impl Database {
    fn new(case: &Case) -> Option<Self> {
        let is_here = Command::new("sqlite3").arg("-version").output().is_ok();
        if !is_here {
            println!("SKIPPED exports: there is no sqlite3");
        }
        is_here.then(|| Self(case.folder.path("logs.db")))
    }

    #[track_caller]
    fn take(&self, statements: &Path) {
        let mut command = Command::new("sqlite3");
        command.args(["-bail", "-batch"]).arg(&self.0);
        command.stdin(File::open(statements).expect("statements"));
        let output = command.output().expect("sqlite3 runs");
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(said(&output), "");
    }

    #[track_caller]
    fn ask(&self, query: &str) -> Vec<Value> {
        let mut command = Command::new("sqlite3");
        command.args(["-readonly", "-json"]).arg(&self.0).arg(query);
        let output = command.output().expect("sqlite3 runs");
        assert!(output.status.success(), "{}", said(&output));
        match output.stdout.is_empty() {
            true => Vec::new(),
            false => list(&serde_json::from_slice(&output.stdout).expect("JSON")).to_vec(),
        }
    }
}

const SUMS: &str = "SELECT sum(rss_peak_bytes) rss_peak_live_bytes,
    sum(rss_peak_blocks) rss_peak_live_blocks, sum(heap_peak_bytes) heap_peak_bytes,
    sum(heap_peak_blocks) heap_peak_blocks, sum(end_bytes) end_live_bytes,
    sum(end_blocks) end_live_blocks, sum(allocated_bytes) total_bytes,
    sum(allocations) allocations, sum(temporary_allocations) temporary_allocations
    FROM sites";
const STACKS: &str = "SELECT heap_peak_bytes bytes, heap_peak_blocks blocks, function
    FROM sites JOIN stacks USING (stack_id) WHERE heap_peak_blocks > 0
    ORDER BY sites.rowid, place DESC";

#[test]
fn a_database_has_the_figures_of_stats() {
    let case = Case::new("answers-exports-sqlite", "mix 41 900 3");
    let Some(database) = Database::new(&case) else {
        return;
    };
    let form = case.export("sqlite", &[]);
    // A second time nothing is there twice.
    for _ in 0..2 {
        database.take(&form);
        let sums = database.ask(SUMS);
        for (key, value) in sums[0].as_object().expect("a row") {
            assert_eq!(value, &case.stats[key], "{key}");
        }
        let processes = database.ask("SELECT * FROM processes");
        assert_eq!(processes.len(), 1);
        for (key, value) in processes[0].as_object().expect("a row") {
            if case.stats.get(key).is_some_and(Value::is_number) {
                let [told, known] = [value, &case.stats[key]].map(Value::as_f64);
                assert_eq!(told, known, "{key}");
            }
        }
    }
    assert_eq!(
        whole(&database.ask("PRAGMA user_version")[0]["user_version"]),
        1
    );
    assert_eq!(
        text(&database.ask("PRAGMA integrity_check")[0]["integrity_check"]),
        "ok"
    );
    // Each stack's functions are there in their order.
    let mut held = Held::new();
    let mut chain: Vec<String> = Vec::new();
    let rows = database.ask(&STACKS.replace("SELECT ", "SELECT place, "));
    for row in &rows {
        chain.push(text(&row["function"]));
        if whole(&row["place"]) == 0 {
            let amount = (whole(&row["bytes"]), whole(&row["blocks"]));
            add(&mut held, std::mem::take(&mut chain), amount);
        }
    }
    assert_eq!(
        held,
        of_speedscope(&case.json("speedscope", &["--at", "heap-peak"]))
    );
    let timeline = database.ask("SELECT max(heap_bytes) most FROM timeline");
    assert_eq!(timeline[0]["most"], case.stats["heap_peak_bytes"]);
}

#[test]
fn a_database_takes_many_logs() {
    let case = Case::new("answers-exports-sqlite-many", "mix 42 300 2");
    let Some(database) = Database::new(&case) else {
        return;
    };
    let chosen = case.export("sqlite", &["--where", "size >= 1000"]);
    database.take(&chosen);
    let sum = "SELECT sum(allocated_bytes) bytes FROM sites";
    let chosen = database.ask(sum)[0]["bytes"].clone();
    let log = case.log.to_str().expect("a name");
    let words = [
        "table",
        "--by",
        "kind",
        "--where",
        "size >= 1000",
        "--json",
        log,
    ];
    let table: Value = serde_json::from_str(&case.folder.says(&words)).expect("JSON");
    let rows = list(&table["rows"]).iter();
    let expected: u64 = rows.map(|row| whole(&row["bytes"])).sum();
    assert_eq!(whole(&chosen), expected);
    // The same again, in a log of its own.
    let first = case.folder.path("first.memlog");
    std::fs::rename(&case.log, &first).expect("rename");
    let (other, _) = recorded(&case.folder, &[], "mix 42 300 2");
    let out = case.folder.path("other.sql");
    case.folder.says(&[
        "export",
        "sql",
        "-o",
        out.to_str().expect("a name"),
        other.to_str().expect("a name"),
    ]);
    database.take(&out);
    let count = |query: &str| whole(&database.ask(query)[0]["n"]);
    assert_eq!(count("SELECT count(*) n FROM processes"), 2);
    // Both did the same: their stacks are there once.
    let twice = "SELECT count(*) n FROM (SELECT stack_id, place FROM stacks
        GROUP BY 1, 2 HAVING count(*) > 1)";
    assert_eq!(count(twice), 0);
    let lost = "SELECT count(*) n FROM sites WHERE stack_id NOT IN (SELECT stack_id FROM stacks)";
    assert_eq!(count(lost), 0);
    let output = case.folder.run(&["export", "sqlite", "--at", "end", log]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("sqlite's form is of the whole run"));
}
