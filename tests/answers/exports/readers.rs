//! Forms are read by what they are made for: gprof2dot, hatchet, the Firefox Profiler, and
//! the schema that speedscope publishes. `ci/readers` brings them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Case, engines, list, text, whole};
use crate::number;
use crate::sites::said;

/// A tool of `ci/readers`; nothing where it could not be had.
fn reader(name: &str) -> Option<PathBuf> {
    let path = engines().join(name);
    if !path.exists() {
        println!("SKIPPED exports: there is no {name}, which ci/readers installs");
    }
    path.exists().then_some(path)
}

#[track_caller]
fn ran(command: &mut Command) -> String {
    let output: Output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn python(script: &str, arguments: &[&Path]) -> Option<String> {
    let mut command = Command::new(reader("forms/bin/python")?);
    command.arg("-c").arg(script).args(arguments);
    let output = command.output().expect("it runs");
    if said(&output).contains("ModuleNotFoundError") {
        println!("SKIPPED exports: {}", said(&output));
        return None;
    }
    assert!(output.status.success(), "{}", said(&output));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A graph in which the outermost function has all and the innermost ones have what they hold.
#[test]
fn gprof2dot_draws_a_graph() {
    let case = Case::new("answers-exports-gprof2dot", "mix 5 900 1");
    let Some(gprof2dot) = reader("forms/bin/gprof2dot") else {
        return;
    };
    let form = case.export("gprof2dot", &[]);
    let drawn = ran(Command::new(gprof2dot).args(["-f", "json"]).arg(form));
    let label = |function: &str| {
        let name = format!("known\\n{function}\\n");
        let line = drawn.lines().find(|line| line.contains(&name));
        let line = line.unwrap_or_else(|| panic!("{function}: {drawn}"));
        line.split("\\n").nth(2).expect("a share").to_owned()
    };
    assert_eq!(label("mix_all"), "100.00%");
    let share = |function: &str| {
        let told = label(function);
        let told = told.trim_end_matches('%').parse::<f64>();
        told.unwrap_or_else(|_| panic!("{function}: {drawn}"))
    };
    let sum = share("make") + share("change");
    assert!((sum - 100.0).abs() < 0.1, "{sum}");
}

const HATCHET: &str = "
import json, sys, hatchet
frame = hatchet.GraphFrame.from_literal(json.load(open(sys.argv[1])))
table = frame.dataframe
print(json.dumps({
    'bytes': int(table['bytes'].sum()), 'blocks': int(table['blocks'].sum()),
    'roots': int(sum(table.loc[root, 'bytes (inc)'] for root in frame.graph.roots)),
    'names': sorted(set(table['name'])),
}))";

#[test]
fn hatchet_has_the_same_sums() {
    let case = Case::new("answers-exports-hatchet", "mix 5 900 1");
    let form = case.export("hatchet", &[]);
    let Some(told) = python(HATCHET, &[&form]) else {
        return;
    };
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let total = case.number("rss_peak_live_bytes");
    assert_eq!(
        (whole(&told["bytes"]), whole(&told["roots"])),
        (total, total)
    );
    assert_eq!(whole(&told["blocks"]), case.number("rss_peak_live_blocks"));
    let names: Vec<_> = list(&told["names"]).iter().map(text).collect();
    assert!(names.iter().any(|name| name == "mix_all"), "{names:?}");
}

const SCHEMA: &str = "
import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))
print('valid')";

#[test]
fn speedscope_is_of_its_schema() {
    let case = Case::new("answers-exports-speedscope", "mix 5 900 1");
    let name = "node/node_modules/speedscope/dist/release/file-format-schema.json";
    let Some(schema) = reader(name) else {
        return;
    };
    let form = case.export("speedscope", &[]);
    if let Some(told) = python(SCHEMA, &[&form, &schema]) {
        assert_eq!(told.trim(), "valid");
    }
}

/// `load` waits half a second for that process, and a busy machine takes longer to start one:
/// it says so then, and the process is there a little later.
fn load(command: &dyn Fn(&[&str]) -> Command, form: &Path) {
    let name = form.to_str().expect("a name");
    let loaded = command(&["load", name, "--session", "form"]).output();
    let loaded = loaded.expect("it runs");
    if loaded.status.success() {
        return;
    }
    let told = said(&loaded);
    assert!(told.contains("still starting"), "{told}");
    let limit = Instant::now() + Duration::from_secs(60);
    let ready = || command(&["thread", "list", "--session", "form"]).output();
    while !ready().expect("it runs").status.success() {
        assert!(Instant::now() < limit, "{told}");
        std::thread::sleep(Duration::from_millis(200));
    }
    ran(&mut command(&["session", "use", "form"]));
}

/// The profiler's own command takes the file as its page does, and sums it up.
#[test]
fn the_firefox_profiler_has_the_same_sums() {
    let case = Case::new("answers-exports-firefox-cli", "mix 5 900 1");
    let Some(cli) = reader("node/node_modules/.bin/profiler-cli") else {
        return;
    };
    let form = case.export("firefox", &[]);
    // It keeps a process for each file, which is found by its home.
    let home = case.folder.folder("home");
    let command = |words: &[&str]| {
        let mut command = Command::new(&cli);
        command.args(words).env("HOME", &home);
        command
    };
    let ask = |words: &[&str]| ran(&mut command(words));
    load(&command, &form);
    let stats = crate::ask(&case.folder, &case.log, "stats");
    for (strategy, total) in [
        ("native-allocations", "total_bytes"),
        ("native-retained-allocations", "end_live_bytes"),
    ] {
        ask(&["strategy", strategy]);
        let told = ask(&["thread", "functions", "--json", "--limit", "0"]);
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let functions = list(&told["functions"]);
        let one = functions.iter().find(|one| one["name"] == "mix_all");
        let one = one.unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            whole(&one["totalSamples"]),
            number(&stats, total),
            "{strategy}"
        );
        let own: u64 = functions.iter().map(|one| whole(&one["selfSamples"])).sum();
        assert_eq!(own, number(&stats, total), "{strategy}");
    }
    ask(&["stop", "--all"]);
}
