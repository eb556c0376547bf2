//! Names from a program that means harm, in each form.

use serde_json::Value;

use super::{github, json, junit, markdown, sarif, text};
use crate::compare::compare;
use crate::measure::Measure;
use crate::report::{Against, Frame, Place, Report, State, Subject, Verdict};

/// What would be a command, a tag, a cell, a link, an entity or a new line somewhere.
const HOSTILE: &str =
    "a|b`c``d<e>&\"'\n::error::x%0A,:\r\u{1b}[31m\\|]]>&#x0;\u{0}\u{ffff}*_@me #1";

fn frame(function: &str, location: &str) -> Frame {
    Frame {
        function: function.to_owned(),
        location: Some(location.to_owned()),
        module: None,
    }
}

fn verdict(against: Against, state: State) -> Verdict {
    Verdict {
        budget: HOSTILE.to_owned(),
        place: 0,
        filter: Some(HOSTILE.to_owned()),
        measure: Measure::Peak,
        against,
        runs: vec![Some(3 << 20)],
        worst: 0,
        state,
        places: vec![
            Place {
                frame: frame(HOSTILE, "/usr/lib/x.c:7"),
                callers: vec![frame("main", &format!("/home/of/{HOSTILE}.c:12"))],
                bytes: 2 << 20,
                blocks: Some(1234),
                share: 66.7,
            },
            Place {
                frame: frame("plain", "/home/of/a:b c.c:3"),
                ..Place::default()
            },
        ],
    }
}

fn hostile() -> Report {
    let compared = compare(Measure::Peak, &[2 << 20], &[3 << 20], 5.0);
    Report {
        subjects: vec![Subject {
            name: HOSTILE.to_owned(),
            logs: vec![HOSTILE.to_owned()],
            failures: vec![format!("exited with 3 {HOSTILE}")],
            verdicts: vec![
                verdict(Against::Limit(1 << 20), State::Broken),
                verdict(Against::Limit(4 << 20), State::Held),
                verdict(Against::Limit(4 << 20), State::Unproven(HOSTILE.into())),
                verdict(
                    Against::Baseline(compared),
                    State::Undecided(HOSTILE.into()),
                ),
            ],
            notes: vec![HOSTILE.to_owned()],
        }],
        notes: Vec::new(),
        root: "/home/of".to_owned(),
        budgets: None,
    }
}

#[test]
fn annotations_are_a_line_each() {
    let text = github(&hostile());
    let lines: Vec<&str> = text.lines().collect();
    // The failure, three verdicts that are not held, a note, the summary.
    assert_eq!(lines.len(), 6, "{text}");
    for line in &lines {
        let rest = line.strip_prefix("::").expect(line);
        let (head, message) = rest.split_once("::").expect(line);
        let (level, properties) = head.split_once(' ').expect(line);
        assert!(["error", "warning", "notice"].contains(&level), "{line}");
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').expect(line);
            assert!(["file", "line", "title"].contains(&name), "{line}");
            assert!(!value.contains([':', '\r', '\n']), "{line}");
        }
        // A percent sign is only in front of what was written out.
        for part in message.split('%').skip(1) {
            let is_escape = ["25", "0A", "0D"].iter().any(|code| part.starts_with(code));
            assert!(is_escape, "{line}");
        }
    }
    assert!(lines[1].contains(",line=12,"), "{}", lines[1]);
}

#[test]
fn sarif_has_what_it_must() {
    let whole: Value = serde_json::from_str(&sarif(&hostile(), "1.2.3")).expect("JSON");
    assert_eq!(whole["version"], "2.1.0");
    let run = &whole["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "memlog");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3, "{results:#?}");
    for result in results {
        assert!(ids.contains(&&result["ruleId"]), "{result}");
        assert!(!result["message"]["text"].as_str().expect("text").is_empty());
        assert_eq!(
            result["locations"].as_array().map(Vec::len),
            Some(1),
            "{result}"
        );
        let lists = ["locations", "relatedLocations"].map(|key| result[key].as_array());
        for location in lists.into_iter().flatten().flatten() {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
            assert!(
                !uri.starts_with('/') && !uri.contains([':', ' ', '"']),
                "{uri}"
            );
            assert!(place["region"]["startLine"].as_u64().expect("a line") >= 1);
        }
    }
    let uri = &results[1]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%3Ab%20c.c");
}

/// Where no line is known it is that of the budgets, else a file named as the program.
#[test]
fn sarif_has_a_place_for_what_has_none() {
    let uris = |name: &str, budgets: Option<&str>| -> Vec<String> {
        let mut report = hostile();
        report.budgets = budgets.map(str::to_owned);
        let subject = &mut report.subjects[0];
        subject.name = name.to_owned();
        subject.verdicts.truncate(1);
        subject.verdicts[0].places.clear();
        let whole: Value = serde_json::from_str(&sarif(&report, "1")).expect("JSON");
        let results = whole["runs"][0]["results"].as_array().expect("results");
        let places = results
            .iter()
            .map(|one| &one["locations"][0]["physicalLocation"]);
        let places: Vec<_> = places.collect();
        assert!(places.iter().all(|one| one["region"]["startLine"] == 1));
        let uris = places.iter().map(|one| &one["artifactLocation"]["uri"]);
        uris.map(|uri| uri.as_str().expect("a URI").to_owned())
            .collect()
    };
    assert_eq!(uris("my server", None), ["my%20server"; 2]);
    assert_eq!(uris("", None), ["memlog"; 2]);
    assert_eq!(
        uris("server", Some("ci/memlog.toml")),
        ["ci/memlog.toml"; 2]
    );
}

#[test]
fn junit_tells_the_notes_of_all_once() {
    let mut report = hostile();
    report
        .notes
        .push("two processes are not checked".to_owned());
    report.subjects.push(report.subjects[0].clone());
    let text = junit(&report);
    assert_eq!(
        text.matches("two processes are not checked").count(),
        1,
        "{text}"
    );
    report.subjects.truncate(1);
    report.subjects[0].notes.clear();
    assert!(
        junit(&report).contains("<system-out>two processes"),
        "{text}"
    );
}

#[test]
fn xml_has_only_what_it_may() {
    let text = junit(&hostile());
    let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{ffff}';
    assert!(!text.contains(is_bad), "{text}");
    // Each < begins a tag of ours.
    let tags = [
        "?xml",
        "testsuite",
        "/testsuite",
        "testcase",
        "/testcase",
        "failure",
        "/failure",
        "skipped",
        "system-out",
        "/system-out",
    ];
    let mut parts = text.split('<').skip(1);
    assert!(
        parts.all(|part| tags.iter().any(|tag| part.starts_with(tag))),
        "{text}"
    );
    let mut parts = text.split('&').skip(1);
    let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#10;"];
    assert!(
        parts.all(|part| known.iter().any(|one| part.starts_with(one))),
        "{text}"
    );
    assert!(text.contains("tests=\"5\" failures=\"3\""), "{text}");
    assert_eq!(text.matches("<testcase ").count(), 5);
    assert_eq!(text.matches("<failure ").count(), 3);
    assert_eq!(text.matches("<skipped ").count(), 1);
}

#[test]
fn rows_of_markdown_have_their_cells() {
    let text = markdown(&hostile());
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 6, "{text}");
    assert!(
        rows.iter().all(|row| row.matches('|').count() == 6),
        "{text}"
    );
    for line in text.lines().filter(|line| line.starts_with("- 66.7 %")) {
        let (_, name) = line.split_once(": ").expect(line);
        // The name's longest run of backticks is two.
        assert!(name.starts_with("``` ") && name.ends_with(" ```"), "{line}");
    }
    let outside = text.lines().filter(|line| !line.contains(" %, "));
    assert!(
        outside.clone().all(|line| !line.contains(['`', '@', '<'])),
        "{text}"
    );
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text}"
    );
}

#[test]
fn json_and_text_tell_the_same() {
    let report = hostile();
    let whole: Value = serde_json::from_str(&json(&report)).expect("JSON");
    assert_eq!(whole["held"], false);
    let checks = whole["programs"][0]["checks"].as_array().expect("checks");
    let states: Vec<&str> = checks
        .iter()
        .filter_map(|one| one["state"].as_str())
        .collect();
    assert_eq!(states, ["broken", "held", "unproven", "undecided"]);
    assert_eq!(checks[0]["measured"], 3 << 20);
    assert_eq!(checks[0]["places"][0]["source"]["line"], 12);
    assert_eq!(checks[3]["baseline"]["percent"], 50.0);
    let text = text(&report);
    for word in ["FAILED", "BROKEN", "held", "UNPROVEN", "undecided"] {
        assert!(text.contains(word), "{text}");
    }
    let summary = "4 checks: 1 broken, 1 not proven, 1 not decided, the program failed";
    assert!(text.ends_with(&format!("{summary}\n")), "{text}");
}
