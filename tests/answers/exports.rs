//! What other tools are given: each form says the same of each stack, and sums to what
//! `stats` says; where a tool is here, it reads its form and says so too.

mod firefox;
mod heaptrack;
mod lives;
mod made;
mod parquet;
mod perfetto;
mod readers;
mod sqlite;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::{ask, number, recorded};

/// Bytes and blocks by stack: its functions from the outermost in.
type Held = BTreeMap<Vec<String>, (u64, u64)>;

struct Case {
    folder: Folder,
    log: PathBuf,
    stats: Value,
}

impl Case {
    fn new(name: &str, words: &str) -> Self {
        let folder = Folder::new(name);
        let (log, _) = recorded(&folder, &[], words);
        let stats = ask(&folder, &log, "stats");
        Self { folder, log, stats }
    }

    /// A form, in a file.
    #[track_caller]
    fn export(&self, form: &str, options: &[&str]) -> PathBuf {
        let out = self.folder.path(&format!("out.{form}"));
        let words = [
            &["export", form],
            options,
            &["-o", out.to_str().expect("a name")],
            &[self.log.to_str().expect("a name")],
        ];
        self.folder.says(&words.concat());
        out
    }

    #[track_caller]
    fn json(&self, form: &str, options: &[&str]) -> Value {
        let text = fs::read_to_string(self.export(form, options)).expect("text");
        serde_json::from_str(&text).expect("JSON")
    }

    fn number(&self, key: &str) -> u64 {
        number(&self.stats, key)
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// As the folded form tells a name.
fn folded_name(name: &str) -> String {
    name.replace(';', ":")
}

fn add(held: &mut Held, mut chain: Vec<String>, value: (u64, u64)) {
    chain.iter_mut().for_each(|name| *name = folded_name(name));
    let sum = held.entry(chain).or_default();
    *sum = (sum.0 + value.0, sum.1 + value.1);
}

/// Two measures of one metric of the form that has all.
fn of_json(json: &Value, [bytes, blocks]: [&str; 2]) -> Held {
    let frames = list(&json["frames"]);
    let metric = |name: &str, unit: &str| {
        let mut all = list(&json["metrics"]).iter();
        let metric = all.find(|metric| metric["name"] == name && metric["unit"] == unit);
        metric.map(|metric| list(&metric["values"]).to_vec())
    };
    let bytes = metric(bytes, "bytes").expect("bytes");
    let blocks = metric(blocks, "blocks");
    let mut held = Held::new();
    for (at, stack) in list(&json["stacks"]).iter().enumerate() {
        let names = list(stack).iter().rev();
        let names = names.map(|frame| text(&frames[whole(frame) as usize]["function"]));
        let count = blocks.as_ref().map_or(0, |blocks| whole(&blocks[at]));
        let value = (whole(&bytes[at]), count);
        if value != (0, 0) {
            add(&mut held, names.collect(), value);
        }
    }
    held
}

fn of_speedscope(json: &Value) -> Held {
    let frames = list(&json["shared"]["frames"]);
    let mut held = Held::new();
    for (profile, is_bytes) in list(&json["profiles"]).iter().zip([true, false]) {
        let mut sum = 0;
        for (sample, weight) in list(&profile["samples"])
            .iter()
            .zip(list(&profile["weights"]))
        {
            let names = list(sample).iter();
            let names = names.map(|frame| text(&frames[whole(frame) as usize]["name"]));
            let weight = whole(weight);
            let value = if is_bytes { (weight, 0) } else { (0, weight) };
            add(&mut held, names.collect(), value);
            sum += weight;
        }
        assert_eq!(whole(&profile["endValue"]), sum);
    }
    held
}

fn of_gprof2dot(json: &Value) -> BTreeMap<Vec<String>, u64> {
    let functions = list(&json["functions"]);
    let mut held = BTreeMap::new();
    for event in list(&json["events"]) {
        let names = list(&event["callchain"]).iter().rev();
        let names = names.map(|one| folded_name(&text(&functions[whole(one) as usize]["name"])));
        *held.entry(names.collect()).or_default() += whole(&event["cost"][0]);
    }
    held
}

fn of_hatchet(nodes: &[Value], above: &[String], held: &mut Held) -> (u64, u64) {
    let mut all = (0, 0);
    for node in nodes {
        let chain = [above, &[text(&node["frame"]["name"])]].concat();
        let metrics = &node["metrics"];
        let own = (whole(&metrics["bytes"]), whole(&metrics["blocks"]));
        let below = of_hatchet(list(&node["children"]), &chain, held);
        if own != (0, 0) {
            add(held, chain, own);
        }
        let sum = (own.0 + below.0, own.1 + below.1);
        let told = (
            whole(&metrics["bytes (inc)"]),
            whole(&metrics["blocks (inc)"]),
        );
        assert_eq!(told, sum, "{}", node["frame"]);
        all = (all.0 + sum.0, all.1 + sum.1);
    }
    all
}

fn of_folded(text: &str) -> BTreeMap<Vec<String>, u64> {
    let lines = text.lines().map(|line| {
        let (chain, number) = line.rsplit_once(' ').expect("a number");
        let chain = chain.split(';').map(str::to_owned).collect();
        (chain, number.parse().expect("a number"))
    });
    lines.collect()
}

/// heaptrack writes a stack once for each address in it.
fn sum_of_folded(text: &str) -> u64 {
    let costs = text
        .lines()
        .map(|line| line.rsplit(' ').next().expect("a number"));
    costs
        .map(|cost| cost.parse::<u64>().expect("a number"))
        .sum()
}

/// No name here has a comma, so quotes are of the form alone.
fn of_csv(text: &str) -> Held {
    let mut held = Held::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [bytes, blocks, function, _, _, stack] = fields[..] else {
            panic!("{line}");
        };
        let chain: Vec<_> = stack.split(';').map(str::to_owned).collect();
        assert_eq!(chain.last().map(String::as_str), Some(function), "{line}");
        let value = (
            bytes.parse().expect("bytes"),
            blocks.parse().expect("blocks"),
        );
        add(&mut held, chain, value);
    }
    held
}

fn bytes_of(held: &Held) -> BTreeMap<Vec<String>, u64> {
    let all = held.iter().filter(|(_, held)| held.0 > 0);
    all.map(|(chain, held)| (chain.clone(), held.0)).collect()
}

fn sum(held: &Held) -> (u64, u64) {
    held.values()
        .fold((0, 0), |sum, held| (sum.0 + held.0, sum.1 + held.1))
}

/// Moments and what counts in the whole run: options, the metric, and what `stats` says.
const ASKED: [(&[&str], [&str; 2], [&str; 2]); 4] = [
    (
        &[],
        ["rss-peak", ""],
        ["rss_peak_live_bytes", "rss_peak_live_blocks"],
    ),
    (
        &["--at", "heap-peak"],
        ["heap-peak", ""],
        ["heap_peak_bytes", "heap_peak_blocks"],
    ),
    (
        &["--at", "end"],
        ["end", ""],
        ["end_live_bytes", "end_live_blocks"],
    ),
    (
        &["--by", "allocated"],
        ["allocated", "count"],
        ["total_bytes", "allocations"],
    ),
];

#[test]
fn forms_say_the_same_of_each_stack() {
    let case = Case::new("answers-exports", "mix 3 900 3");
    for (options, metric, [bytes, blocks]) in ASKED {
        let speedscope = of_speedscope(&case.json("speedscope", options));
        let expected = (case.number(bytes), case.number(blocks));
        assert_eq!(sum(&speedscope), expected, "{options:?}");
        assert!(speedscope.len() > 3, "{}", speedscope.len());
        let by_bytes = bytes_of(&speedscope);
        let json = of_json(&case.json("json", options), metric);
        assert_eq!(bytes_of(&json), by_bytes);
        if metric[1] == "count" {
            assert_eq!(json, speedscope);
        }
        assert_eq!(of_gprof2dot(&case.json("gprof2dot", options)), by_bytes);
        let mut hatchet = Held::new();
        let all = of_hatchet(list(&case.json("hatchet", options)), &[], &mut hatchet);
        assert_eq!((&hatchet, all), (&speedscope, expected));
        let read = |form| fs::read_to_string(case.export(form, options)).expect("text");
        assert_eq!(of_folded(&read("folded")), by_bytes);
        assert_eq!(of_csv(&read("csv")), speedscope);
        assert_eq!(sum_of_callgrind(&read("callgrind")), expected);
    }
}

/// What functions hold themselves: lines that no `calls=` stands before.
fn sum_of_callgrind(text: &str) -> (u64, u64) {
    let (mut all, mut is_call) = ((0, 0), false);
    let mut summary = (0, 0);
    for line in text.lines() {
        let numbers: Vec<u64> = line
            .trim_start_matches("summary: ")
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        match numbers[..] {
            [bytes, blocks] if line.starts_with("summary: ") => summary = (bytes, blocks),
            [_, bytes, blocks] if !is_call => all = (all.0 + bytes, all.1 + blocks),
            _ => {}
        }
        is_call = line.starts_with("calls=");
    }
    assert_eq!(all, summary);
    all
}

/// A profile is read by a program that knows nothing but protocol buffers.
#[test]
fn a_pprof_profile_has_four_sums() {
    let case = Case::new("answers-exports-pprof", "mix 4 900 3");
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/exports/pprof.py");
    for (options, _, [bytes, blocks]) in ASKED {
        let profile = case.export("pprof", options);
        let output = Command::new("python3").args([&reader, &profile]).output();
        let output = output.expect("python3 runs");
        assert!(output.status.success(), "{}", said(&output));
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let sums = list(&json["sums"]).iter().map(whole).collect::<Vec<_>>();
        let (live_blocks, live_bytes) = match options.contains(&"--by") {
            true => ("rss_peak_live_blocks", "rss_peak_live_bytes"),
            false => (blocks, bytes),
        };
        let expected = ["allocations", "total_bytes", live_blocks, live_bytes];
        assert_eq!(sums, expected.map(|key| case.number(key)), "{options:?}");
        let types = [
            "alloc_objects",
            "alloc_space",
            "inuse_objects",
            "inuse_space",
        ];
        assert_eq!(json["types"], serde_json::json!(types));
        let allocated = of_json(&case.json("json", options), ["allocated", "count"]);
        let mut held = Held::new();
        for stack in list(&json["stacks"]) {
            let names = list(&stack["functions"]).iter().rev().map(text);
            let value = list(&stack["values"]);
            let value = (whole(&value[1]), whole(&value[0]));
            if value != (0, 0) {
                add(&mut held, names.collect(), value);
            }
        }
        assert_eq!(held, allocated);
    }
}

/// Where ci/readers puts what it brings.
fn engines() -> PathBuf {
    let build = Path::new(env!("CARGO_BIN_EXE_memlog")).ancestors().nth(2);
    build.expect("a folder").join("engines")
}

/// That of ci/readers, if it was made.
pub fn python() -> PathBuf {
    let own = engines().join("venv/bin/python");
    if own.exists() { own } else { "python3".into() }
}

/// Whether a tool is here; if not, that is said.
fn is_here(tool: &str) -> bool {
    let is_here = Command::new(tool).arg("version").output().is_ok();
    if !is_here {
        println!("SKIPPED exports: there is no {tool}");
    }
    is_here
}

#[test]
fn tools_read_their_forms() {
    let case = Case::new("answers-exports-tools", "mix 5 900 1");
    let total = case.number("rss_peak_live_bytes");
    if is_here("callgrind_annotate") {
        let form = case.export("callgrind", &[]);
        let mut command = case.folder.command("callgrind_annotate");
        let output = command
            .args(["--inclusive=yes", "--threshold=100"])
            .arg(form);
        let output = output.output().expect("it runs");
        let told = said(&output) + &String::from_utf8_lossy(&output.stdout);
        let digits: String = told.chars().filter(|one| *one != ',').collect();
        let line = digits.lines().find(|line| line.contains("PROGRAM TOTALS"));
        let line = line.unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            line.split_whitespace().next(),
            Some(&*total.to_string()),
            "{told}"
        );
        let outermost = digits.lines().find(|line| line.contains(":mix_all"));
        let outermost = outermost.unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            outermost.split_whitespace().next(),
            Some(&*total.to_string()),
            "{told}"
        );
    }
    if is_here("go") {
        let form = case.export("pprof", &[]);
        let mut command = case.folder.command("go");
        command.args([
            "tool",
            "pprof",
            "-symbolize=none",
            "-unit=B",
            "-top",
            "-cum",
        ]);
        let output = command.arg(form).output().expect("it runs");
        let told = said(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{told}");
        assert!(told.contains("File: known\n"), "{told}");
        assert!(told.contains("Type: inuse_space"), "{told}");
        assert!(told.contains(&format!("{total}B total")), "{told}");
    }
}

#[test]
fn pprof_says_what_it_lacks() {
    let case = Case::new("answers-exports-pprof-by", "mix 6 90 1");
    let log = case.log.to_str().expect("a name");
    let output = case
        .folder
        .run(&["export", "pprof", "--by", "temporary", log]);
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(
        told.contains("what was live and what was allocated"),
        "{told}"
    );
}

/// The word gives what the command gives.
#[test]
fn a_flame_graph_is_that_of_its_command() {
    let case = Case::new("answers-exports-flame", "mix 10 300 2");
    let log = case.log.to_str().expect("a name");
    for (name, options) in [
        ("a.html", &[][..]),
        ("a.svg", &["--at", "end"]),
        ("b.HTM", &["--by", "count", "--where", "size > 100"]),
    ] {
        let out = case.folder.path(name);
        let words = ["-o", out.to_str().expect("a name"), log];
        case.folder
            .says(&[&["flamegraph"], options, &words].concat());
        let expected = fs::read(&out).expect("a file");
        let words = [&["export", "flamegraph"], options, &words].concat();
        case.folder.says(&words);
        assert!(fs::read(&out).expect("a file") == expected, "{name}");
    }
    let output = case
        .folder
        .run(&["export", "flamegraph", "-o", "a.png", log]);
    assert_eq!(output.status.code(), Some(2));
    let told = said(&output);
    assert!(
        told.contains("a.png ends neither in .html nor in .svg"),
        "{told}"
    );
    assert!(!case.folder.path("a.png").exists());
}

/// Where it goes without a name, and what is said of it.
#[test]
fn forms_are_named_as_their_tools_look_for_them() {
    let case = Case::new("answers-exports-names", "mix 6 90 1");
    let log = case
        .log
        .file_name()
        .expect("a name")
        .to_str()
        .expect("text");
    for (form, name) in [
        ("heaptrack", format!("heaptrack.{log}")),
        ("folded", format!("{log}.folded")),
        ("speedscope", format!("{log}.speedscope.json")),
        ("pprof", format!("{log}.pb.gz")),
        ("gprof2dot", format!("{log}.gprof2dot.json")),
        ("callgrind", format!("callgrind.out.{log}")),
        ("hatchet", format!("{log}.hatchet.json")),
        ("csv", format!("{log}.stacks.csv")),
        ("json", format!("{log}.stacks.json")),
        ("perfetto", format!("{log}.perfetto-trace")),
        ("flamegraph", format!("{log}.flame.html")),
        ("sqlite", format!("{log}.sql")),
    ] {
        let told = case
            .folder
            .says(&["export", form, case.log.to_str().expect("a name")]);
        assert_eq!(told, format!("Creating {name}\n"));
        assert!(case.folder.path(&name).exists(), "{name}");
        let mut command = case.folder.memlog(&["export", "-o", "-", form]);
        let output = command.arg(&case.log).output().expect("it runs");
        let there = fs::read(case.folder.path(&name)).expect("it");
        assert!(output.stdout == there, "{form}");
    }
}
