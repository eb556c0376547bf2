//! SARIF 2.1.0, as code scanners read it. Only what is not as it should be is a result.

use serde_json::{Value, json};

use super::lines;
use crate::measure::Measure;
use crate::report::{Place, Report, Source, Subject, Verdict};

/// The report as SARIF. `version` is that of memlog.
pub fn sarif(report: &Report, version: &str) -> String {
    let subjects = report.subjects.iter();
    let results = subjects.flat_map(|subject| {
        let failures = subject.failures.iter();
        let failures = failures.map(|one| failed(report, subject, one));
        let broken = subject.verdicts.iter().filter(|one| !one.is_fine());
        let broken = broken.map(|one| result(report, subject, one));
        failures.chain(broken).collect::<Vec<_>>()
    });
    let rules = Measure::ALL.map(|measure| rule(measure.word(), measure.rule()));
    let rules = rules.into_iter();
    let rules = rules.chain([rule(PROGRAM, "The program ends without a failure")]);
    let notes = report.all_notes();
    let notes = notes.map(|note| json!({ "level": "note", "message": { "text": note } }));
    let whole = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "memlog",
                "semanticVersion": version,
                "rules": rules.collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes.collect::<Vec<_>>(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    });
    format!("{whole:#}\n")
}

const PROGRAM: &str = "program";

fn id(word: &str) -> String {
    format!("memlog/{word}")
}

fn rule(word: &str, text: &str) -> Value {
    json!({
        "id": id(word),
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": "error" },
    })
}

fn failed(report: &Report, subject: &Subject, failure: &str) -> Value {
    json!({
        "ruleId": id(PROGRAM),
        "level": "error",
        "message": { "text": format!("{}: the program {failure}", subject.name) },
        "locations": [nowhere(report, subject)],
    })
}

fn result(report: &Report, subject: &Subject, verdict: &Verdict) -> Value {
    let root = &report.root;
    let text = format!("{}: {}", subject.name, lines(verdict, root).join("\n"));
    let mut result = json!({
        "ruleId": id(verdict.measure.word()),
        "level": "error",
        "message": { "text": text },
        "locations": [nowhere(report, subject)],
    });
    // One place is where it is; the others are related to it.
    let places = verdict.places.iter();
    let places = places.filter_map(|place| Some((place, place.source(root)?)));
    let places: Vec<(&Place, Source)> = places.collect();
    if let Some((first, others)) = places.split_first() {
        result["locations"] = json!([location(first, root)]);
        let others: Vec<Value> = others.iter().map(|one| location(one, root)).collect();
        if !others.is_empty() {
            result["relatedLocations"] = others.into();
        }
    }
    result
}

/// Where no line is known: GitHub takes no result without a location.
fn nowhere(report: &Report, subject: &Subject) -> Value {
    let file = report.budgets.as_deref().unwrap_or(&subject.name);
    let file = if file.is_empty() { "memlog" } else { file };
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": 1 },
        },
    })
}

fn location((place, source): &(&Place, Source), root: &str) -> Value {
    json!({
        "message": { "text": super::place_line(place, root).trim_start() },
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&source.file) },
            "region": { "startLine": source.line },
        },
        "logicalLocations": [{ "name": place.frame.function, "kind": "function" }],
    })
}

/// A path as a relative URI: a colon in its first part would make a scheme of that.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match is_plain(byte) {
            true => uri.push(byte.into()),
            false => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
