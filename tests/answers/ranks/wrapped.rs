//! One place has one name on all ranks, whatever each rank by itself would tell.

use std::process::Stdio;

use serde_json::Value;

use super::json;
use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{built, number, rows};

/// A job of three ranks; the first of them may do more.
fn job(folder: &Folder, name: &str, first: &[&str]) {
    folder.folder(name);
    for rank in 0..3 {
        let log = format!("{name}/%r.memlog");
        let mut command = folder.memlog(&["record", "-o", &log]);
        command.arg("./wrapped");
        command.args(if rank == 0 { first } else { &[] });
        command
            .env("SLURM_JOB_ID", name)
            .env("PMI_RANK", rank.to_string());
        let output = command.stdout(Stdio::null()).output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// What is told of each function: bytes, ranks, the least and the most of a rank.
fn told(answer: &Value) -> Vec<(&str, [u64; 4])> {
    let rows = rows(answer).iter().map(|row| {
        let keys = ["bytes", "ranks", "least_bytes", "most_bytes"];
        let name = row["name"].as_str().expect("a name");
        (name, keys.map(|key| number(row, key)))
    });
    rows.collect()
}

#[test]
fn a_wrapper_is_skipped_on_all_ranks_or_on_none() {
    const TABLE: u64 = 1000 * 4096;
    const ROOT: u64 = 300 * 10_000;
    let folder = Folder::new("answers-ranks-wrapped");
    built(&folder, &GCC, "wrapped.c", "wrapped");
    job(&folder, "special", &["root"]);
    job(&folder, "plain", &[]);
    let special = json(&folder, &["special"]);
    assert_eq!(
        told(&special)[..2],
        [
            ("load_table", [3 * TABLE, 3, TABLE, TABLE]),
            ("root_only", [ROOT, 1, 0, ROOT]),
        ]
    );
    let notes = special["notes"].to_string();
    assert!(notes.contains("make_row"), "{notes}");
    // Alone the plain job has the wrapper for the place, on each rank.
    let plain = json(&folder, &["plain"]);
    assert_eq!(told(&plain)[0].1, [3 * TABLE, 3, TABLE, TABLE]);
    let grown = json(&folder, &["special", "--against", "plain"]);
    let grown: Vec<_> = rows(&grown)
        .iter()
        .map(|row| (row["name"].as_str(), row["grown_bytes"].as_i64()))
        .filter(|(_, bytes)| *bytes != Some(0))
        .collect();
    assert_eq!(grown, [(Some("root_only"), Some(ROOT as i64))]);
}
