//! Folders as jobs leave them: ranks that died, children, copies, two jobs, files that are
//! no logs; and the queries of `doc/engines` beside `memlog ranks`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::json;
use crate::exports::python;
use crate::sites::build::GCC;
use crate::sites::{Folder, said, victim};
use crate::{number, rows};

/// Two jobs of known ranks: each of 77 holds 4 MiB but rank 2, which holds 24; in 78 each
/// holds 3 more.
fn jobs(name: &str, ranks: u64) -> Folder {
    let folder = Folder::new(name);
    folder.folder("logs");
    let plain: [&str; 0] = [];
    GCC.build_file(&folder, &victim("ranks.c"), "solver", &plain);
    for (job, word) in [("77", ""), ("78", "planted")] {
        let started = (0..ranks).map(|rank| {
            let mut command = folder.memlog(&["record", "-o", "logs/%j.%r.memlog"]);
            command.arg("./solver").arg(rank.to_string()).arg(word);
            command
                .env("SLURM_JOB_ID", job)
                .env("PMI_RANK", rank.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it runs")
        });
        for rank in started.collect::<Vec<_>>() {
            let output = rank.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", said(&output));
        }
    }
    folder
}

fn refused(folder: &Folder, words: &[&str]) -> String {
    let output = folder.run(&[&["ranks"], words].concat());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn row<'t>(told: &'t Value, name: &str) -> &'t Value {
    let mut rows = rows(told).iter();
    rows.find(|row| row["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn what_does_not_count_is_told() {
    let folder = jobs("answers-ranks-odd", 4);
    let said = refused(&folder, &["logs/"]);
    assert!(
        said.contains("ranks of 2 jobs: 77 (4 logs), 78 (4 logs)"),
        "{said}"
    );
    assert!(said.contains("--job JOB"), "{said}");
    assert!(refused(&folder, &["--job", "79", "logs/"]).contains("no log is of job 79"));
    let whole = json(&folder, &["--job", "77", "logs/"]);
    assert_eq!(
        (
            number(&whole, "ranks"),
            number(&whole, "logs_of_other_jobs")
        ),
        (4, 4)
    );
    let mesh = row(&whole, "mesh");
    assert_eq!(
        (number(mesh, "least_bytes"), number(mesh, "most_bytes")),
        (4 << 20, 24 << 20)
    );
    assert_eq!(
        (number(mesh, "mean_bytes"), number(mesh, "most_rank")),
        (9 << 20, 2)
    );
    assert_eq!(whole["outliers"][0]["rank"], 2);

    // A rank whose log is gone, one that was cut, copies, no logs, and what a rank started.
    let log = |name: &str| folder.path(&format!("logs/{name}"));
    fs::remove_file(log("77.0.memlog")).expect("removed");
    fs::copy(log("77.2.memlog"), log("copy.memlog")).expect("copied");
    fs::write(log("empty.memlog"), "").expect("written");
    fs::write(log("text.memlog"), "no log\n").expect("written");
    let mut command = folder.memlog(&["record", "-o", "logs/none.memlog", "./solver"]);
    assert!(command.output().expect("it runs").status.success());
    let mut command = folder.memlog(&["record", "-o", "logs/%j.%r.sh.memlog"]);
    command.args(["sh", "-c", "./solver 9; :"]);
    command.env("SLURM_JOB_ID", "77").env("PMI_RANK", "3");
    assert!(command.output().expect("it runs").status.success());
    let told = json(&folder, &["--job", "77", "logs/*.memlog"]);
    assert_eq!(told["missing_ranks"], serde_json::json!([[0, 0]]));
    assert_eq!(number(&told, "ranks"), 3);
    let left_out = told["left_out"].as_array().expect("a list").iter();
    let left_out: BTreeMap<&str, u64> = left_out
        .map(|one| (one["why"].as_str().expect("a word"), number(one, "files")))
        .collect();
    let expected = [
        ("another process of its rank, with a lower RSS peak", 1),
        ("cannot be read as a log", 2),
        ("child of a rank", 1),
        ("not of a rank", 1),
        ("the same process as another file", 1),
    ];
    assert_eq!(left_out, expected.into());
    assert_eq!(number(row(&told, "mesh"), "bytes"), 32 << 20);
    let page = folder.says(&["ranks", "--job", "77", "logs/*.memlog"]);
    for line in [
        "missing:   no log of rank 0",
        "left out:  1 file, child of a rank; ",
    ] {
        assert!(page.contains(line), "{page}");
    }
    assert!(refused(&folder, &["logs/empty.memlog"]).contains("empty.memlog"));
    assert!(refused(&folder, &["logs/none.memlog"]).contains("of 1 file none is a log of a rank"));
}

/// A log that was cut anywhere is counted as far as it goes, or left out with a sentence.
#[test]
fn a_rank_may_be_cut() {
    let folder = jobs("answers-ranks-cut", 2);
    let path = folder.path("logs/77.1.memlog");
    let whole = fs::read(&path).expect("a log");
    let mut random = crate::Random::new(crate::first_seed());
    for _ in 0..6 {
        let kept = random.below(whole.len() as u64) as usize;
        fs::write(&path, &whole[..kept]).expect("written");
        let output = folder.run(&["ranks", "--json", "--job", "77", "logs/*.memlog"]);
        assert_eq!(output.status.code(), Some(0), "{kept}: {}", said(&output));
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found =
            number(&told, "ranks") + told["left_out"].as_array().expect("a list").len() as u64;
        assert_eq!(found, 2, "{kept}: {told}");
        let bytes = number(row(&told, "mesh"), "bytes");
        assert!(bytes == 4 << 20 || bytes == 8 << 20, "{kept}: {told}");
    }
}

/// The engine of `ci/readers`, asked the queries that people are given, says the same.
#[test]
fn an_engine_says_the_same_of_the_data_set() {
    let folder = jobs("answers-ranks-engine", 4);
    for log in fs::read_dir(folder.path("logs"))
        .expect("a folder")
        .flatten()
    {
        let log = log.path();
        let log = log.to_str().expect("a name");
        folder.says(&["export", "parquet", "-q", "-o", "data", log]);
    }
    let engine = |query: &str| -> Option<Vec<Vec<String>>> {
        let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc/engines/run.py");
        let mut command = Command::new(python());
        let words = ["duckdb", query, "data", "78", "77"];
        let output = command
            .arg(run)
            .args(words)
            .current_dir(folder.root())
            .output();
        let output = output.expect("python3 runs");
        if String::from_utf8_lossy(&output.stderr).contains("No module named 'duckdb'") {
            println!("SKIPPED ranks: there is no DuckDB (ci/readers)");
            return None;
        }
        assert!(output.status.success(), "{}", said(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        let lines = text
            .lines()
            .map(|line| line.split('\t').map(str::to_owned).collect());
        Some(lines.collect())
    };
    let cells = |row: &Value, keys: &[&str]| -> Vec<String> {
        let place = &row["stack"][0];
        let location = place["location"].as_str().unwrap_or_default();
        let (file, line) = location.rsplit_once(':').unwrap_or((location, ""));
        let function = place["function"].as_str().unwrap_or_default();
        let figures = keys.iter().map(|key| row[key].to_string());
        let place = [function, file, line].map(str::to_owned).into_iter();
        place.chain(figures).collect()
    };
    let Some(found) = engine("peak_by_site") else {
        return;
    };
    let told = json(
        &folder,
        &["--job", "78", "--by", "stack", "-n", "20", "logs/"],
    );
    let keys = [
        "stack_id",
        "ranks",
        "least_bytes",
        "mean_bytes",
        "most_bytes",
        "most_rank",
    ];
    let rows_told: Vec<_> = rows(&told).iter().map(|row| cells(row, &keys)).collect();
    assert_eq!(rows_told, found);
    let outliers = told["outliers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let node = one["node"].as_str().expect("a node").to_owned();
            let number = |key: &str| one[key].to_string();
            vec![
                number("rank"),
                node,
                number("rss_peak_bytes"),
                number("percent_of_mean"),
            ]
        });
    assert_eq!(
        outliers.collect::<Vec<_>>(),
        engine("outliers").expect("rows")
    );
    let words = ["--job", "78", "--by", "stack", "-n", "20", "logs/"];
    let against = ["--against", "logs/", "--against-job", "77"];
    let grown = json(&folder, &[&words[..], &against].concat());
    let keys = ["stack_id", "before_bytes", "after_bytes", "grown_bytes"];
    let rows_told: Vec<_> = rows(&grown).iter().map(|row| cells(row, &keys)).collect();
    assert_eq!(rows_told, engine("growth").expect("rows"));
    let planted = &rows(&grown)[0]["stack"][0]["function"];
    assert_eq!(
        (planted, number(&rows(&grown)[0], "grown_bytes")),
        (&"planted".into(), 12 << 20)
    );
    let page = folder.says(&[&["ranks", "--bytes"], &words[..2], &words[6..], &against].concat());
    assert!(page.contains("planted"), "{page}");
}
