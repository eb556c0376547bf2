//! `--json`: the numbers are those of `memlog stats --json`.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use memlog_format::ext::Mapping;
use memlog_format::resident::Mapped;
use memlog_format::table::StackId;
use serde_json::Value;

use crate::logs::{empty, odd, sites};
use crate::recipe::PROGRAM;
use crate::sites::own_time::cpu_time;
use crate::{says, with_logs};

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// Below and at a node there is what it says, and no more.
#[track_caller]
fn adds_up(tree: &Value, unit: &str, own: &str) {
    let nodes = list(&tree["nodes"]);
    let mut below: Vec<u64> = vec![0; nodes.len() + 1];
    let folded = |node: &Value| node["folded"][unit].as_u64().unwrap_or(0);
    for (index, node) in nodes.iter().enumerate() {
        let parent = node["parent"]
            .as_u64()
            .map_or(nodes.len(), |parent| parent as usize);
        assert!(
            parent < index || parent == nodes.len(),
            "children come after parents"
        );
        below[parent] += number(&node[unit]);
    }
    for (node, below) in nodes.iter().zip(&below) {
        assert_eq!(
            number(&node[unit]),
            below + folded(node) + number(&node[own]),
            "{node}"
        );
    }
    assert_eq!(
        number(&tree[unit]),
        below[nodes.len()] + folded(tree),
        "{unit}"
    );
}

#[test]
fn the_figures_are_those_of_stats() {
    let logs = [("sites", sites()), ("odd", odd()), ("empty", empty())];
    let folder = with_logs("show-json", &logs);
    for (log, _) in &logs {
        let read = |command: &str| -> Value {
            let text = says(&folder, &format!("{command} --json {log}.memlog"));
            serde_json::from_str(&text).expect("JSON")
        };
        let stats = read("stats");
        let report = read("report --show-leaks --at rss-peak --show-maximum -t 3");
        let (tree, summary) = (read("tree --top-down -t 3"), read("summary"));
        for (page, schema) in [
            (&report, "memlog-report-1"),
            (&tree, "memlog-tree-1"),
            (&summary, "memlog-summary-1"),
        ] {
            assert_eq!(page["schema"], schema);
            assert_eq!(page["stats"], stats, "{log}");
            assert_eq!(page["interrupted"], Value::Null);
        }
        let trees = list(&report["trees"]);
        let expected = [
            ("rss-peak", "rss_peak_live_bytes", "rss_peak_live_blocks"),
            ("heap-peak", "heap_peak_bytes", "heap_peak_blocks"),
            ("end", "end_live_bytes", "end_live_blocks"),
        ];
        assert_eq!(trees.len(), expected.len());
        for (tree, (moment, bytes, blocks)) in trees.iter().zip(expected) {
            assert_eq!(tree["moment"], moment);
            assert_eq!(
                (&tree["bytes"], &tree["blocks"]),
                (&stats[bytes], &stats[blocks])
            );
        }
        for tree in trees.iter().chain([&tree]) {
            adds_up(tree, "bytes", "own_bytes");
            adds_up(tree, "blocks", "own_blocks");
        }
        for (by, bytes, blocks) in [
            ("allocated", "total_bytes", "allocations"),
            ("count", "total_bytes", "allocations"),
            ("temporary", "", "temporary_allocations"),
        ] {
            let tree = read(&format!("tree --top-down -t 3 --by {by}"));
            assert_eq!((&tree["by"], &tree["moment"]), (&by.into(), &Value::Null));
            assert_eq!(tree["blocks"], stats[blocks], "{log}");
            assert!(bytes.is_empty() || tree["bytes"] == stats[bytes], "{log}");
            adds_up(&tree, "bytes", "own_bytes");
            adds_up(&tree, "blocks", "own_blocks");
        }
        let sum =
            |list: &[Value], name: &str| list.iter().map(|site| number(&site[name])).sum::<u64>();
        let (held, allocated) = (list(&summary["held"]), list(&summary["allocated"]));
        assert_eq!(sum(held, "bytes"), number(&stats["rss_peak_live_bytes"]));
        assert_eq!(sum(held, "blocks"), number(&stats["rss_peak_live_blocks"]));
        assert_eq!(sum(allocated, "allocations"), number(&stats["allocations"]));
        assert_eq!(sum(allocated, "bytes"), number(&stats["total_bytes"]));
        let last = held.last().map(|site| site["sum_percent"].as_f64());
        assert!(last.is_none_or(|last| last == Some(100.0)), "{last:?}");
    }
}

/// What `info` says is what `stats` counts and the text tells.
#[test]
fn info_says_the_same_to_programs() {
    let logs = [("sites", sites()), ("odd", odd()), ("empty", empty())];
    let folder = with_logs("show-json-info", &logs);
    let read =
        |command: &str| -> Value { serde_json::from_str(&says(&folder, command)).expect("JSON") };
    for (log, _) in &logs {
        let file = format!("{log}.memlog");
        let (info, stats) = (
            read(&format!("info --json {file}")),
            read(&format!("stats --json {file}")),
        );
        assert_eq!(info["schema"], "memlog-info-1");
        for key in ["executable", "command_line", "host", "pid", "ended"] {
            assert_eq!(info[key], stats[key], "{key}");
        }
        for key in ["counters", "findings", "findings_count", "threads_at_once"] {
            assert_eq!(info[key], stats[key], "{key}");
        }
        let names = list(&stats["thread_names"]).iter();
        let names: Vec<_> = names.map(|thread| &thread["tid"]).collect();
        let threads = list(&info["threads"]).iter();
        assert_eq!(
            threads.map(|thread| &thread["tid"]).collect::<Vec<_>>(),
            names
        );
        let length = std::fs::metadata(folder.path(&file)).expect("a log").len();
        assert_eq!(number(&info["seeming_bytes"]), length);
        assert!(number(&info["event_bytes"]) < number(&info["file_bytes"]));
        let text = says(&folder, &format!("info {file}"));
        let count = list(&info["modules"]).len();
        assert!(text.contains(&format!("\nmodules: {count}\n")), "{text}");
        for module in list(&info["modules"]) {
            let path = module["path"].as_str().expect("a path");
            let low = number(&module["low"]);
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("  {low:#x}-")));
            assert!(line.is_some_and(|line| line.contains(path)), "{path}");
        }
    }
    let all = read("info --list --json .");
    assert_eq!(all["schema"], "memlog-list-1");
    let rows = list(&all["logs"]);
    assert_eq!(rows.len(), logs.len());
    assert_eq!(list(&all["left_out"]).len(), 0);
    let text = says(&folder, "info --list --all .");
    assert_eq!(text.lines().count(), 1 + rows.len());
    for (row, line) in rows.iter().zip(text.lines().skip(1)) {
        let file = row["file"].as_str().expect("a file");
        assert!(
            line.ends_with(file.trim_start_matches("./")),
            "{line}: {row}"
        );
        let stats = read(&format!("stats --json {file}"));
        for key in ["pid", "lost_events", "host", "command_line"] {
            assert_eq!(row[key], stats[key], "{file}: {key}");
        }
    }
}

/// The keys in the tables of the documentation between two of its words.
pub fn documented(from: &str, to: &str) -> Vec<String> {
    let page = include_str!("../../doc/STATS.md");
    let from = page.split_once(from).expect("a part").1;
    let part = from.split_once(to).map_or(from, |(part, _)| part);
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

pub fn keys(value: &Value) -> Vec<String> {
    let object = value.as_object().expect("an object");
    object.keys().cloned().collect()
}

/// The tables of the documentation have each key, and no other.
#[test]
fn each_key_is_in_the_documentation() {
    let folder = with_logs("show-json-keys", &[("sites", sites())]);
    let read =
        |command: &str| -> Value { serde_json::from_str(&says(&folder, command)).expect("JSON") };
    let info = keys(&read("info --json sites.memlog"));
    let (own, all) = (
        documented("`memlog info --json`", "`memlog info --list --json`"),
        documented("## The process", "## What a log says of itself"),
    );
    for key in &info {
        assert!(own.contains(key) || all.contains(key), "{key} is not told");
    }
    for key in &own {
        assert!(info.contains(key), "{key} is not printed");
    }
    let list_page = read("info --list --json .");
    let row = keys(&list_page["logs"][0]);
    let mut told = documented("`memlog info --list --json`", "\n# ");
    told.retain(|key| key != "schema");
    told.sort();
    assert_eq!(row, told);
}

/// Whatever may be asked of leaks.
const LEAKS: &str = "leaks --older-than 0 --between start end --suppressions lsan.supp";

/// So have those of the answers about blocks.
#[test]
fn each_key_of_an_answer_is_in_the_documentation() {
    let mut log = sites();
    let stack = log.stack(StackId::COMPLETE, &[PROGRAM + 0x10D1]);
    log.time(100);
    let grown = log.allocate(stack, 1, 100);
    let grown = log.grow(stack, grown[0], 1_000);
    let brief = log.allocate(stack, 1, 10);
    log.release(&brief);
    let mapping = Mapping::Map {
        address: 0x7FFF_0000_0000,
        length: 1 << 20,
        prot: 3,
        flags: 0x22,
    };
    log.map_by(stack, 0, false, mapping);
    log.read_rss(1 << 20);
    let heap = Mapped {
        low_kb: grown / 1024,
        length_kb: 1 << 10,
        resident_kb: 64,
        flags: Mapped::WRITABLE,
        ..Mapped::default()
    };
    let mapped = Mapped {
        low_kb: 0x7FFF_0000_0000 / 1024,
        ..heap
    };
    log.count_resident(true, &[heap, mapped]);
    let folder = with_logs("show-json-answers", &[("sites", log)]);
    fs::write(folder.path("lsan.supp"), "leak:no_such_function").expect("write");
    let all = documented("# `--json` of questions", "\n## ");
    for (command, section) in [
        ("table --curve", "Groups of blocks"),
        ("leaks --curve", "Groups of blocks"),
        (LEAKS, "Leaks that grew or are known"),
        ("temporary --curve", "Groups of blocks"),
        ("table --list", "Single blocks"),
        ("histogram size", "Classes of blocks"),
        ("histogram lifetime", "Classes of blocks"),
        ("histogram lifetime-events", "Classes of blocks"),
        ("histogram size-lifetime", "Classes of blocks"),
        ("timeline", "Over time"),
        ("chains", "Reallocs"),
        ("threads", "Threads"),
        ("function main", "Around a function"),
        ("annotate x.c", "Source lines"),
        ("fragmentation", "Pages of memory"),
        ("maps", "What the program mapped"),
        ("rss", "Resident memory"),
        ("where", "An address"),
    ] {
        let (name, more) = command.split_once(' ').unwrap_or((command, ""));
        let text = match name {
            "where" => says(&folder, &format!("where --json sites.memlog {grown:#x}")),
            "annotate" => says(&folder, &format!("annotate --json sites.memlog {more}")),
            _ => says(&folder, &format!("{name} --json {more} sites.memlog")),
        };
        let page: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(page["schema"], format!("memlog-{name}-1"));
        let lists = ["rows", "points", "callers", "files", "list"];
        let rows = lists.iter().find_map(|list| page.get(list)).expect(name);
        let told = documented(&format!("\n## {section}: `"), "\n## ");
        let of_groups = documented("\n## Groups of blocks: `", "\n## ");
        let usual = match command {
            LEAKS | "table --list" => &of_groups,
            _ => &all,
        };
        let mut printed = keys(&page);
        let others = ["list", "purposes", "mapped", "parts", "readings"];
        let others = others.iter().filter_map(|list| page.get(list)?.get(0));
        printed.extend(rows.get(0).iter().copied().chain(others).flat_map(keys));
        for key in &printed {
            assert!(
                told.contains(key) || all.contains(key) || usual.contains(key),
                "{command}: {key} is not told"
            );
        }
        let is_other = |key: &&String| match name {
            "histogram" => key.starts_with("from_") || key.starts_with("to_"),
            // Those of its lines; and this log has no file with any.
            "annotate" => key.as_str() != "files" && told.contains(key),
            _ => false,
        };
        for key in told.iter().chain(&all).filter(|key| !is_other(key)) {
            assert!(printed.contains(key), "{command}: {key} is not printed");
        }
    }
}

#[test]
fn each_key_of_a_comparison_is_in_the_documentation() {
    let folder = with_logs("show-json-diff", &[("sites", sites())]);
    let told = documented("\n## Two logs: `diff`", "\n## ");
    let text = says(
        &folder,
        "diff --json --by stack --at start --at end sites.memlog",
    );
    let page: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(page["schema"], "memlog-diff-1");
    let parts = [&page, &page["before"], &page["rows"][0]];
    let printed: Vec<String> = parts.into_iter().flat_map(keys).collect();
    let usual = ["schema", "where", "notes"].map(str::to_owned);
    for key in &printed {
        assert!(
            told.contains(key) || usual.contains(key),
            "{key} is not told"
        );
    }
    for key in told.iter().chain(&usual) {
        assert!(printed.contains(key), "{key} is not printed");
    }
}

/// Of five times as many logs about five times as much is computed: no row looks at all others.
#[test]
fn many_logs_are_listed_in_proportion() {
    let folder = with_logs("show-list-many", &[("sites", sites())]);
    let seconds = |name: &str, count: usize| {
        let many = folder.folder(name);
        for number in 0..count {
            let link = many.join(format!("{number}.memlog"));
            std::fs::hard_link(folder.path("sites.memlog"), link).expect("a link");
        }
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        command.args(["info", "--list", "--all", name]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("memlog runs");
        let mut text = String::new();
        let mut said = child.stdout.take().expect("a pipe");
        said.read_to_string(&mut text).expect("text");
        assert_eq!(text.lines().count(), 1 + count);
        // What is left to do then is to end.
        let computed = cpu_time(child.id());
        assert!(child.wait().expect("its end").success());
        computed.as_secs_f64()
    };
    let (few, many) = (seconds("few", 2_000), seconds("many", 10_000));
    println!("2,000 logs in {few:.2} s, 10,000 in {many:.2} s");
    // Three times here; seventeen where each row looks at all.
    assert!(many < 9.0 * few, "{few} s and {many} s");
}
