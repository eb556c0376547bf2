//! Each question, against the command that is the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Server, encoded, word};
use crate::sites::{Folder, victim};
use crate::{log_of, recorded};

/// Questions as commands: words are what a page puts before the log.
const QUESTIONS: &[&str] = &[
    "table",
    "table --by line --at rss-peak",
    "table --by stack --top 5",
    "table --by size --top 3",
    "table --by type --sort below",
    "table --by thread",
    "table --by kind --at 50%",
    "table --curve --at rss-peak",
    "table --list --top 20",
    "table --list --sort lifetime --top 7",
    "leaks",
    "leaks --growing",
    "leaks --curve --top 3",
    "leaks --between 10% 90%",
    "leaks --older-than 50%",
    "temporary --by line",
    "temporary --curve",
    "timeline",
    "timeline --points 7",
    "chains",
    "chains --by line",
    "threads",
    "fragmentation",
    "fragmentation --at end",
    "maps",
    "maps --list",
    "rss",
    "rss --at end",
];

/// Filters that are asked with some of them.
const FILTERS: &[&str] = &[
    "size >= 1K and not leaked",
    "function ~ \"copy\"",
    "born in 10%..60%",
];

fn told(folder: &Folder, log: &Path, question: &str, filter: Option<&str>) -> Value {
    let mut words: Vec<&str> = question.split(' ').collect();
    words.push("--json");
    if let Some(filter) = filter {
        words.extend(["--where", filter]);
    }
    // What takes several words ends here.
    words.extend(["--", word(log)]);
    serde_json::from_str(&folder.says(&words)).expect("JSON")
}

/// The same as a path of the API.
fn path(question: &str, filter: Option<&str>) -> String {
    let mut words = question.split(' ').peekable();
    let name = words.next().expect("a name");
    let mut pairs: Vec<(String, String)> = Vec::new();
    while let Some(option) = words.next() {
        let option = option.trim_start_matches("--");
        let mut has_value = false;
        while let Some(value) = words.next_if(|word| !word.starts_with("--")) {
            pairs.push((option.to_owned(), value.to_owned()));
            has_value = true;
        }
        if !has_value {
            pairs.push((option.to_owned(), "1".to_owned()));
        }
    }
    pairs.extend(filter.map(|filter| ("where".to_owned(), filter.to_owned())));
    let pairs = pairs.iter();
    let pairs = pairs.map(|(name, value)| format!("{name}={}", encoded(value)));
    format!("logs/1/{name}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// The overview says what the summary does of the peak.
#[test]
fn the_overview_says_what_the_peak_was_made_of() {
    let folder = Folder::new("server-overview");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let overview = server.api("logs/1");
    let lines = overview["heading"].as_array().expect("lines");
    let texts = lines.iter().filter(|line| line["name"] == "made of");
    let texts: Vec<&str> = texts.filter_map(|line| line["text"].as_str()).collect();
    let [made_of] = texts[..] else {
        panic!("one line: {overview:#}");
    };
    let summary = folder.says(&["summary", word(&log)]);
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        made_of.contains("live heap") && summary.contains(made_of),
        "{made_of}"
    );
}

#[test]
fn answers_are_those_of_the_command_line() {
    let folder = Folder::new("server-answers");
    for log in [
        recorded(&folder),
        log_of(&folder, &victim("threads8.c"), &["500"]),
    ] {
        let server = Server::start(&folder, &[word(&log)]);
        for question in QUESTIONS {
            let answer = server.api(&path(question, None));
            assert_eq!(answer, told(&folder, &log, question, None), "{question}");
            // It is kept, and the same.
            assert_eq!(answer, server.api(&path(question, None)), "{question}");
        }
        for filter in FILTERS {
            for question in [
                "table",
                "table --by line --at end",
                "timeline",
                "threads",
                "chains",
            ] {
                let answer = server.api(&path(question, Some(filter)));
                let told = told(&folder, &log, question, Some(filter));
                assert_eq!(answer, told, "{question} {filter}");
            }
        }
    }
}

/// Words that are no options.
#[test]
fn words_are_parameters() {
    let folder = Folder::new("server-words");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let same = |path: &str, words: &[&str]| {
        let told: Value = serde_json::from_str(&folder.says(words)).expect("JSON");
        assert_eq!(server.api(path), told, "{path}");
    };
    let log = word(&log);
    for of in ["size", "lifetime", "lifetime-events", "size-lifetime"] {
        same(
            &format!("logs/1/histogram?of={of}"),
            &["histogram", of, "--json", log],
        );
    }
    same(
        "logs/1/function?name=main",
        &["function", "main", "--json", log],
    );
    same(
        "logs/1/annotate?source=server.c",
        &["annotate", "--json", log, "server.c"],
    );
    let list = server.api("logs/1/table?list=1&top=1&sort=born");
    let address = list["list"][0]["address"].as_str().expect("an address");
    same(
        &format!("logs/1/where?address={address}"),
        &["where", "--json", log, address],
    );
    same(
        "logs/1/diff?before=start&after=end&by=line",
        &[
            "diff", "--json", "--at", "start", "--at", "end", "--by", "line", log,
        ],
    );
    let stats: Value = serde_json::from_str(&folder.says(&["stats", "--json", log])).expect("JSON");
    assert_eq!(server.api("logs/1")["stats"], stats);
}

#[test]
fn two_logs_are_compared() {
    let folder = Folder::new("server-two");
    let logs = [
        recorded(&folder),
        log_of(&folder, &victim("churn.c"), &["3000"]),
    ];
    let words = logs.each_ref().map(|log| word(log));
    let server = Server::start(&folder, &words);
    let told = folder.says(&["diff", "--json", words[0], words[1]]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(server.api("logs/2/diff?other=1"), told);
}

/// The branches of a flame graph are those of the stacks that `memlog export json` has.
#[test]
fn flames_are_trees() {
    let folder = Folder::new("server-flame");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let stacks = |words: &[&str]| {
        let words = [&["export", "json", "-o", "-"], words, &[word(&log)]].concat();
        serde_json::from_str::<Value>(&folder.says(&words)).expect("JSON")
    };
    let all = stacks(&[]);
    let large = stacks(&["--where", "size>100"]);
    let then = stacks(&["--at", "30%"]);
    let cases = [
        ("", &all, "rss-peak", false),
        ("at=end", &all, "end", false),
        ("at=heap-peak&reverse=1", &all, "heap-peak", true),
        ("at=30%25&reverse=1", &then, "chosen", true),
        ("by=allocated", &all, "allocated", false),
        ("by=allocated&reverse=1", &all, "allocated", true),
        ("by=temporary", &all, "temporary", false),
        ("by=count&where=size%3E100", &large, "count", false),
    ];
    for (query, stacks, metric, reverse) in cases {
        let flame = server.api(&format!("logs/1/flame?{query}"));
        let key = match metric {
            "count" | "temporary" => "blocks",
            _ => "bytes",
        };
        let (found, total) = branches_of_stacks(stacks, metric, reverse);
        assert_eq!(
            flame[format!("total_{key}")].as_u64(),
            Some(total),
            "{query}"
        );
        assert_eq!(flame["left_out"]["nodes"], 0);
        let own = format!("own_{key}");
        for (key, figure) in [(key, 0), (&own, 1)] {
            let told = found.iter().map(|(way, sums)| (way.clone(), sums[figure]));
            let told: Branches = told.collect();
            assert_eq!(
                branches(&flame["nodes"], &flame["names"], key),
                told,
                "{query} {key}"
            );
        }
    }
    let all = server.api("logs/1/flame");
    // Fewer are the largest of them.
    let few = server.api("logs/1/flame?nodes=3");
    let sizes = |flame: &Value| {
        let sizes = flame["nodes"]["bytes"].as_array().expect("a list").iter();
        let mut sizes: Vec<u64> = sizes.filter_map(Value::as_u64).collect();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        sizes
    };
    assert_eq!(sizes(&few), sizes(&all)[..3]);
    // Two moments stand side by side.
    let both = server.api("logs/1/flame?at=end&before=rss-peak");
    assert_eq!(both["before_total_bytes"], all["total_bytes"]);
    let (end, peak) = (server.api("logs/1/flame?at=end"), all);
    let both_of = |key: &str| branches(&both["nodes"], &both["names"], key);
    assert_eq!(
        without_zeros(both_of("bytes")),
        branches(&end["nodes"], &end["names"], "bytes")
    );
    let before = without_zeros(both_of("before_bytes"));
    assert_eq!(before, branches(&peak["nodes"], &peak["names"], "bytes"));
}

type Branches = Vec<(Vec<String>, u64)>;

fn without_zeros(mut branches: Branches) -> Branches {
    branches.retain(|(_, bytes)| *bytes > 0);
    branches
}

/// Each branch by its way from the root, with a figure.
fn branches(nodes: &Value, names: &Value, key: &str) -> Branches {
    let column = |key: &str| nodes[key].as_array().expect("a list");
    let mut ways: Vec<Vec<String>> = Vec::new();
    let mut found = Vec::new();
    for ((name, parent), figure) in column("name").iter().zip(column("parent")).zip(column(key)) {
        let mut way = match parent.as_i64() {
            Some(-1) => Vec::new(),
            parent => ways[parent.expect("a number") as usize].clone(),
        };
        way.push(names[name.as_u64().expect("a number") as usize].to_string());
        found.push((way.clone(), figure.as_u64().expect("a number")));
        ways.push(way);
    }
    found.sort();
    found
}

/// What each branch of some stacks holds, and what ends there; and all of it.
fn branches_of_stacks(
    told: &Value,
    metric: &str,
    reverse: bool,
) -> (BTreeMap<Vec<String>, [u64; 2]>, u64) {
    let list = |of: &'_ Value| of.as_array().expect("a list").clone();
    let metrics = list(&told["metrics"]);
    let metric = metrics.iter().find(|one| one["name"] == metric);
    let metric = metric.unwrap_or_else(|| panic!("{}", metric_names(&metrics)));
    let values = list(&metric["values"]);
    let frames = list(&told["frames"]);
    let name = |frame: &Value| {
        let frame = &frames[frame.as_u64().expect("a number") as usize];
        let file = frame["file"].as_str();
        let location = file.map(|file| match frame["line"].as_u64() {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        });
        json!({
            "function": frame["function"], "location": location, "module": frame["module"],
        })
        .to_string()
    };
    let (mut found, mut total) = (BTreeMap::<_, [u64; 2]>::new(), 0);
    for (stack, value) in list(&told["stacks"]).iter().zip(values) {
        let value = value.as_u64().expect("a number");
        let mut way: Vec<String> = list(stack).iter().map(name).collect();
        if !reverse {
            way.reverse();
        }
        total += value;
        for depth in 1..=way.len() {
            let sums = found.entry(way[..depth].to_vec()).or_default();
            sums[0] += value;
            sums[1] += if depth == way.len() { value } else { 0 };
        }
    }
    found.retain(|_, sums| sums[0] > 0);
    (found, total)
}

fn metric_names(metrics: &[Value]) -> String {
    let names = metrics.iter().map(|one| one["name"].to_string());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn regions_hold_all_that_is_live() {
    let folder = Folder::new("server-regions");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    for at in ["rss-peak", "end", "50%25"] {
        let regions = server.api(&format!("logs/1/regions?at={at}"));
        let table = server.api(&format!("logs/1/table?top=1&at={at}"));
        let areas = regions["areas"].as_array().expect("a list");
        let sum = |key: &str| {
            areas
                .iter()
                .map(|area| area[key].as_u64().expect("a number"))
                .sum::<u64>()
        };
        assert_eq!(
            sum("live_bytes"),
            table["bytes"].as_u64().expect("a number"),
            "{at}"
        );
        assert_eq!(
            sum("blocks"),
            table["blocks"].as_u64().expect("a number"),
            "{at}"
        );
        let fill = areas
            .iter()
            .flat_map(|area| area["fill"].as_array().expect("a list"));
        let fill: u64 = fill.filter_map(Value::as_u64).sum();
        assert_eq!(fill, sum("live_bytes"), "{at}");
    }
}

#[test]
fn wrong_questions_are_answered_with_a_sentence() {
    let folder = Folder::new("server-wrong");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    for (path, says) in [
        ("logs/2", "there is no log 2"),
        ("logs/1/tabel", "there is no question \"tabel\""),
        (
            "logs/1/table?bye=line",
            "table has no parameter \"bye\" | it has by, list",
        ),
        (
            "logs/1/table?by=lin",
            "invalid value 'lin' for '--by <WHAT>'",
        ),
        ("logs/1/histogram", "of is missing | ask histogram?of="),
        ("logs/1/table?at=99h", "after the program ended"),
        ("logs/1/table?at=mark%20x", "mark"),
        ("logs/1/table?where=size%20%3E%3D%201X", "column"),
        ("logs/1/table?list=1&by=line", "cannot be used with"),
        ("logs/1/flame?by=allocated&before=end", "before is a moment"),
    ] {
        let (status, said) = server.refuses(&format!("/api/1/{path}"));
        assert!((400..500).contains(&status), "{path}: {status}");
        assert!(said.contains(says), "{path}: {said}");
    }
}

#[test]
fn the_graph_is_the_table() {
    let folder = Folder::new("server-graph");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let reply = server.get("/api/1/logs/1/graph.svg");
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, Some("image/svg+xml"))
    );
    let policy = reply.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("sandbox; default-src 'none'"),
        "{policy}"
    );
    let svg = String::from_utf8(reply.body).expect("text");
    for name in [
        "daily_summary",
        "cache_answer",
        "copy_of",
        "live at rss-peak",
    ] {
        assert!(svg.contains(name), "{name}");
    }
}
