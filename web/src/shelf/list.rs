//! A list of logs: what each is called, who started whom, and which rank is far above the
//! others, by the rule of `memlog ranks`.

use std::collections::{BTreeSet, HashMap};

use memlog_answers::{Process, Ranks};
use memlog_export::word;
use serde_json::Value;

/// Figures of the whole log that stand in the list.
const FIGURES: [&str; 4] = [
    "heap_peak_bytes",
    "end_live_bytes",
    "allocations",
    "duration_seconds",
];

/// A row with what only the whole log tells, if that was read, and what the program is
/// called.
pub fn complete(row: &mut Value, stats: &Value) {
    for name in FIGURES {
        row[name] = stats[name].clone();
    }
    row["command_line"] = command(&row["command_line"]);
    let executable = row["executable"].as_str().unwrap_or_default();
    let program = executable.rsplit('/').next().unwrap_or_default();
    let name = row["started_as"].as_str().unwrap_or(program).to_owned();
    row["name"] = name.into();
}

/// Words as a shell takes them.
fn command(words: &Value) -> Value {
    let words = words.as_array().map(|words| words.iter());
    let words = words.map(|words| words.filter_map(Value::as_str));
    let words = words.map(|words| words.map(word));
    words
        .map(|words| words.collect::<Vec<_>>().join(" "))
        .into()
}

/// The list, with that.
pub fn related(mut logs: Vec<Value>) -> Vec<Value> {
    let far = far(&logs);
    // Of a number that came twice the later one.
    let ids: HashMap<u64, Value> = logs
        .iter()
        .filter_map(|log| Some((log["pid"].as_u64()?, log["id"].clone())))
        .collect();
    for log in &mut logs {
        let starter = ["rank_parent_pid", "started_by_pid"];
        let starter = starter.iter().find_map(|key| log[*key].as_u64());
        let parent = starter.and_then(|pid| ids.get(&pid));
        log["parent_id"] = parent.filter(|id| **id != log["id"]).cloned().into();
        log["is_outlier"] = log["file"]
            .as_str()
            .is_some_and(|file| far.contains(file))
            .into();
    }
    logs
}

/// The logs of ranks that are far above the others.
fn far(logs: &[Value]) -> BTreeSet<String> {
    let ranks = logs.iter().filter(|log| log["rank_parent_pid"].is_null());
    let processes = ranks.filter_map(|log| {
        Some(Process {
            rank: log["rank"].as_str()?.parse().ok()?,
            log: log["file"].as_str()?.to_owned(),
            rss_peak_bytes: log["rss_peak_bytes"].as_u64(),
            ..Process::default()
        })
    });
    let mut all = Ranks::default();
    processes.for_each(|process| all.add_process(process));
    let far = all.outliers().into_iter();
    far.map(|one| one.process.log.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn logs_know_who_started_them_and_who_is_far_above() {
        let log = |id: u32, pid: u32, starter: Value, rank: Value, peak: u64| {
            json!({
                "id": id, "pid": pid, "file": format!("{id}.memlog"), "rank": rank,
                "started_by_pid": starter, "rank_parent_pid": null, "rss_peak_bytes": peak,
            })
        };
        let logs = vec![
            log(1, 10, json!(9), json!("0"), 100),
            log(2, 11, json!(10), json!("1"), 100),
            log(3, 12, json!(10), json!("2"), 200),
            log(4, 13, Value::Null, Value::Null, 900),
        ];
        let logs = related(logs);
        let parents = logs.iter().map(|log| log["parent_id"].as_u64());
        assert_eq!(parents.collect::<Vec<_>>(), [None, Some(1), Some(1), None]);
        let far = logs.iter().map(|log| log["is_outlier"] == true);
        assert_eq!(far.collect::<Vec<_>>(), [false, false, true, false]);
    }
}
