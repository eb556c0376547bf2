//! Noisy programs pass, however often they are run, and planted growth does not.

use std::fs;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::{built, check, checks, exits, planted, sites::build::GCC, states, told};

/// Twenty times the same program, whose memory differs from run to run; each time the
/// baseline is the same. And once it holds a fifth more.
#[test]
fn twenty_noisy_repeats_pass_and_growth_does_not() {
    let folder = Folder::new("check-noisy");
    let name = built(&folder, &GCC, "noisy.c");
    let name = name.to_str().expect("a path");
    let make = format!("--write-baseline base.json --repeat 5 -- {name} 20000");
    exits(&check(&folder, &make), 0);
    let base: Value =
        serde_json::from_slice(&fs::read(folder.path("base.json")).expect("read")).expect("JSON");
    let mut peaks = base["budgets"][0]["peak"]
        .as_array()
        .expect("peaks")
        .clone();
    peaks.dedup();
    assert!(peaks.len() > 1, "the program is not noisy: {base:#}");
    let mut largest: f64 = 0.0;
    for repeat in 1..=20 {
        let report = told(&folder, &format!("--baseline base.json -- {name} 20000"), 0);
        let found = checks(&report);
        assert_eq!(found.len(), 3, "{report:#}");
        for one in found {
            assert_eq!(
                one["runs"].as_array().expect("runs").len(),
                5,
                "repeat {repeat}"
            );
            let percent = one["baseline"]["percent"].as_f64().unwrap_or(0.0);
            largest = largest.max(percent.abs());
        }
    }
    println!("20 repeats of 5 runs passed; the largest change of a median was {largest:.2} %");
    let report = told(&folder, &format!("--baseline base.json -- {name} 24000"), 1);
    let broken = [("peak", "broken"), ("leaked", "held"), ("rss", "broken")];
    assert_eq!(states(&report), broken, "{report:#}");
    assert_eq!(checks(&report)[0]["places"][0]["function"], "ballast");
    // A wider tolerance lets it pass.
    exits(
        &check(
            &folder,
            &format!("--baseline base.json --tolerance 50% -- {name} 24000"),
        ),
        0,
    );
    // And less memory is no growth.
    exits(
        &check(&folder, &format!("--baseline base.json -- {name} 1000")),
        0,
    );
}

#[test]
fn what_is_exact_needs_one_run() {
    let folder = Folder::new("check-exact");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    exits(
        &check(
            &folder,
            &format!("--write-baseline base.json -- {name} peak 300 leak 5"),
        ),
        0,
    );
    exits(
        &check(
            &folder,
            &format!("--baseline base.json -- {name} peak 300 leak 5"),
        ),
        0,
    );
    let heap = |words: &str, code| {
        let words = format!("--baseline base.json --compare peak,leaked -- {name} {words}");
        let report = told(&folder, &words, code);
        let states: Vec<String> = states(&report)
            .into_iter()
            .map(|(_, state)| state.to_owned())
            .collect();
        states
    };
    assert_eq!(heap("peak 310 leak 5", 0), ["held", "held"]);
    assert_eq!(heap("peak 330 leak 5", 1), ["broken", "held"]);
    assert_eq!(heap("peak 300 leak 6", 1), ["held", "broken"]);
    assert_eq!(heap("peak 10 leak 5", 0), ["held", "held"]);
    // Resident memory is not told by one run, however much it grows.
    let report = told(
        &folder,
        &format!("--baseline base.json --compare rss -- {name} peak 90000"),
        0,
    );
    assert_eq!(states(&report), [("rss", "undecided")]);
    let why = checks(&report)[0]["why"].as_str().expect("why");
    assert!(why.contains("5 on both sides"), "{why}");
}

#[test]
fn logs_are_runs_of_one_program() {
    let folder = Folder::new("check-base-logs");
    let name = planted(&folder);
    let words = |peak: u64| format!("peak {peak}");
    for (peak, log) in [(300, "a.memlog"), (300, "b.memlog"), (400, "c.memlog")] {
        crate::log_of(&folder, &name, &words(peak), log);
    }
    exits(
        &check(&folder, "--write-baseline base.json a.memlog b.memlog"),
        0,
    );
    exits(
        &check(&folder, "--baseline base.json --compare peak b.memlog"),
        0,
    );
    let report = told(&folder, "--baseline base.json --compare peak c.memlog", 1);
    assert_eq!(states(&report), [("peak", "broken")]);
    // And of no other.
    std::fs::copy(&name, folder.path("other")).expect("copy");
    crate::log_of(&folder, &folder.path("other"), "peak 1", "d.memlog");
    let output = check(&folder, "--baseline base.json b.memlog d.memlog");
    exits(&output, 2);
    assert!(
        said(&output).contains("d.memlog is of other, not of planted"),
        "{}",
        said(&output)
    );
}

#[test]
fn budgets_are_compared_by_their_names() {
    let folder = Folder::new("check-base-budgets");
    let name = planted(&folder);
    crate::log_of(&folder, &name, "peak 300 leak 50", "a.memlog");
    crate::log_of(&folder, &name, "peak 300 leak 60", "b.memlog");
    let budget = |filter: &str| {
        let text =
            format!("[[budget]]\nname = \"leaker\"\nwhere = '{filter}'\nmax-leaked = \"1MiB\"\n");
        fs::write(folder.path("memlog.toml"), text).expect("write");
    };
    budget("function = planted_leak");
    let with = "--budget memlog.toml --compare peak,leaked,rss";
    exits(
        &check(
            &folder,
            "--budget memlog.toml --write-baseline base.json a.memlog",
        ),
        0,
    );
    let report = told(&folder, &format!("{with} --baseline base.json b.memlog"), 1);
    let broken: Vec<_> = checks(&report)
        .iter()
        .filter(|one| one["state"] == "broken")
        .map(|one| (one["budget"].as_str(), one["measure"].as_str()))
        .collect();
    let expected = [
        (Some("all"), Some("leaked")),
        (Some("leaker"), Some("peak")),
    ];
    let expected = [expected, [(Some("leaker"), Some("leaked")); 2]].concat();
    assert_eq!(broken, expected[..3], "{report:#}");
    // The same filter, spelt otherwise.
    budget("(function=planted_leak)");
    exits(
        &check(&folder, &format!("{with} --baseline base.json a.memlog")),
        0,
    );
    // With another filter it is another thing, and so is another budget: nobody knows
    // whether they have grown, whatever else is allowed.
    let unproven = |words: &str| -> Vec<String> {
        let report = told(
            &folder,
            &format!("{words} --baseline base.json a.memlog"),
            1,
        );
        let unproven = checks(&report).iter();
        let unproven = unproven.filter(|one| one["state"] == "unproven");
        unproven.map(|one| one["why"].to_string()).collect()
    };
    budget("function = planted_peak");
    for with in [with, &format!("--allow-incomplete {with}")] {
        let why = unproven(with);
        assert_eq!(why.len(), 2, "{why:?}");
        assert!(why[0].contains("leaker is of other blocks"), "{why:?}");
    }
    let why = unproven("--where leaked --compare peak");
    assert!(why[0].contains("no budget chosen blocks"), "{why:?}");
    // One that tells of nothing, and one of another program.
    for (base, code, told) in [
        (
            "\"program\": \"planted\"",
            1,
            "the baseline has no budget all",
        ),
        (
            "\"program\": \"server\"",
            2,
            "the baseline is of the program server",
        ),
    ] {
        let text = format!("{{\"schema\": \"memlog-baseline-1\", {base}, \"budgets\": []}}");
        fs::write(folder.path("base.json"), text).expect("write");
        let output = check(&folder, "--baseline base.json a.memlog");
        let text = exits(&output, code) + &said(&output);
        assert!(text.contains(told), "{text}");
    }
    fs::write(
        folder.path("base.json"),
        "{\"schema\": \"memlog-baseline-2\"}",
    )
    .expect("write");
    let output = check(&folder, "--baseline base.json a.memlog");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("base.json is no baseline"),
        "{}",
        said(&output)
    );
}

/// What would be refused is not written.
#[test]
fn there_is_an_end_to_how_many_runs() {
    let folder = Folder::new("check-base-many");
    crate::log_of(&folder, &planted(&folder), "leak 5", "a.memlog");
    let many = ["a.memlog"; 101];
    let output = check(
        &folder,
        &format!("--write-baseline base.json {}", many.join(" ")),
    );
    exits(&output, 2);
    assert!(
        said(&output).contains("101 are more runs than the 100"),
        "{}",
        said(&output)
    );
    assert!(!folder.path("base.json").exists());
}
