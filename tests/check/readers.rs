//! Reports as their readers see them: an XML parser, the musts of SARIF's schema, the runner of
//! GitHub's workflows, Markdown. Names of a program mean harm.

use std::process::Command;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::{check, check_words, exits, planted, source};

/// What would be something in each of the forms.
const HOSTILE: &str = "a|b`c</failure>\"&'\n::error::x%0A,\u{1b}[31m@me";

/// The program with a function of that name, and no debug information.
fn hostile(folder: &Folder) -> Option<String> {
    let run = |command: &mut Command| {
        let output = command.output();
        output.is_ok_and(|output| output.status.success())
    };
    let object = folder.path("hostile.o");
    let compiled = run(folder
        .command("gcc")
        .args(["-O2", "-D_GNU_SOURCE", "-c"])
        .arg(source("planted.c"))
        .arg("-o")
        .arg(&object));
    assert!(compiled, "gcc");
    let renamed = run(folder
        .command("objcopy")
        .arg(format!("--redefine-sym=planted_leak={HOSTILE}"))
        .arg(&object));
    if !renamed {
        println!("SKIPPED names that mean harm: objcopy does not rename a symbol here");
        return None;
    }
    assert!(
        run(folder.command("gcc").arg(&object).args(["-o", "hostile"])),
        "gcc"
    );
    Some(folder.path("hostile").to_str().expect("a path").to_owned())
}

/// In each form a program with a leak, with and without lines, and one whose names mean harm.
fn reports(folder: &Folder, format: &str) -> Vec<String> {
    let program = planted(folder);
    let program = program.to_str().expect("a path").to_owned();
    let programs = [Some(program), hostile(folder)];
    let reports = programs.iter().flatten().map(|program| {
        let root = env!("CARGO_MANIFEST_DIR");
        let words = [
            "--max-leaked",
            "0",
            "--max-peak",
            "1GiB",
            "--format",
            format,
            "-o",
            "report",
            "--source-root",
            root,
            "--",
            program,
            "leak",
            "5000",
            "exit",
            "3",
        ];
        exits(&check_words(folder, &words), 1);
        std::fs::read_to_string(folder.path("report")).expect("a report")
    });
    reports.collect()
}

/// Runs a script of Python on a report; nothing where there is no Python.
fn python(folder: &Folder, script: &str, report: &str) -> Option<String> {
    std::fs::write(folder.path("report.in"), report).expect("write");
    let output = folder
        .command("python3")
        .args(["-c", script, "report.in"])
        .output();
    let Ok(output) = output else {
        println!("SKIPPED a reader of XML: there is no python3");
        return None;
    };
    assert!(output.status.success(), "{}{report}", said(&output));
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// The schema that Jenkins has for it, as far as these reports go.
const JUNIT: &str = r#"
import sys, xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot()
assert suites.tag == "testsuites", suites.tag
assert set(suites.attrib) <= {"name", "time", "tests", "failures", "errors", "disabled"}
for suite in suites:
    assert suite.tag == "testsuite" and suite.get("name")
    cases = [one for one in suite if one.tag == "testcase"]
    order = [one.tag for one in suite]
    assert order == sorted(order, key=["properties", "testcase", "system-out", "system-err"].index), order
    assert int(suite.get("tests")) == len(cases)
    assert int(suite.get("failures")) == sum(one.find("failure") is not None for one in cases)
    assert int(suite.get("skipped")) == sum(one.find("skipped") is not None for one in cases)
    for case in cases:
        assert case.get("classname") and case.get("name") and float(case.get("time")) >= 0
        assert {one.tag for one in case} <= {"failure", "skipped"}
        for failure in case:
            print(case.get("name"), "|", failure.get("message"), "|", failure.text)
assert int(suites.get("tests")) == sum(int(suite.get("tests")) for suite in suites)
assert int(suites.get("failures")) == sum(int(suite.get("failures")) for suite in suites)
try:
    import junitparser
except ImportError:
    sys.exit()
assert len(list(junitparser.JUnitXml.fromfile(sys.argv[1]))) == len(suites)
"#;

#[test]
fn junit_is_read_by_a_parser() {
    let folder = Folder::new("check-junit");
    for report in reports(&folder, "junit") {
        let Some(told) = python(&folder, JUNIT, &report) else {
            return;
        };
        assert!(
            told.contains("all leaked (limit) | never freed: 4.9 KiB, limit 0 bytes"),
            "{told}"
        );
        assert!(
            told.contains("program | the program exited with 3"),
            "{told}"
        );
        assert!(told.contains("100.0%    4.9 KiB           1x  "), "{told}");
    }
}

#[test]
fn sarif_has_what_its_schema_demands() {
    let folder = Folder::new("check-sarif");
    for (place, report) in reports(&folder, "sarif").iter().enumerate() {
        let whole: Value = serde_json::from_str(report).expect("JSON");
        assert_eq!(whole["version"], "2.1.0");
        assert!(
            whole["$schema"]
                .as_str()
                .expect("a schema")
                .contains("sarif-2.1.0")
        );
        let run = &whole["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "memlog");
        let rules = driver["rules"].as_array().expect("rules");
        let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
        let results = run["results"].as_array().expect("results");
        assert_eq!(results.len(), 2, "{report}");
        for result in results {
            assert!(ids.contains(&&result["ruleId"]), "{result}");
            assert_eq!(result["level"], "error");
            assert!(result["message"]["text"].is_string(), "{result}");
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].is_string(), "{result}");
        }
        let location = &results[1]["locations"][0]["physicalLocation"];
        match place {
            0 => {
                assert_eq!(location["artifactLocation"]["uri"], "tests/check/planted.c");
                assert!(location["region"]["startLine"].as_u64() >= Some(1));
            }
            // Without lines a file stands for the program.
            _ => assert_eq!(location["artifactLocation"]["uri"], "hostile"),
        }
    }
}

#[test]
fn annotations_have_places_and_no_command_of_a_name() {
    let folder = Folder::new("check-github");
    for (place, report) in reports(&folder, "github").iter().enumerate() {
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines.len(), 3, "{report}");
        let level = |line: &str| line.starts_with("::error ");
        assert!(lines.iter().all(|line| level(line)), "{report}");
        let is_placed = lines[1].starts_with("::error file=tests/check/planted.c,line=");
        assert_eq!(is_placed, place == 0, "{report}");
        assert!(
            lines[1].contains("limit 0 bytes, 4.9 KiB over%0A"),
            "{report}"
        );
        assert!(
            !report.contains(|c: char| c.is_control() && c != '\n'),
            "{report}"
        );
    }
}

#[test]
fn markdown_has_its_rows() {
    let folder = Folder::new("check-markdown");
    for report in reports(&folder, "markdown") {
        let rows: Vec<&str> = report
            .lines()
            .filter(|line| line.starts_with('|'))
            .collect();
        assert_eq!(rows.len(), 4, "{report}");
        assert!(
            rows.iter().all(|row| row.matches('|').count() == 6),
            "{report}"
        );
        let place = report
            .lines()
            .find(|line| line.starts_with("- 100.0 %"))
            .expect("a place");
        let (_, name) = place.split_once(": ").expect(place);
        let fence = name.split(' ').next().expect("a fence");
        assert!(
            fence.chars().all(|c| c == '`') && name.ends_with(fence),
            "{place}"
        );
        let inside = name.trim_matches('`');
        assert!(!inside.contains(fence), "{place}");
    }
}

#[test]
fn a_report_is_a_file_or_standard_output() {
    let folder = Folder::new("check-output");
    let name = planted(&folder);
    let name = name.to_str().expect("a path");
    let program = format!("-- {name} leak 5");
    // Where a file is written the text is for who waits.
    let words = format!("--max-leaked 0 --format json -o report.json {program}");
    let text = exits(&check(&folder, &words), 1);
    assert!(text.contains("BROKEN     never freed"), "{text}");
    let text = exits(
        &check(&folder, &format!("--max-leaked 0 --format json {program}")),
        1,
    );
    let whole: Value = serde_json::from_str(&text).expect("JSON and nothing else");
    assert_eq!(whole["schema"], "memlog-check-1");
    // A folder has a file named after the log.
    folder.folder("reports");
    exits(
        &check(
            &folder,
            &format!("--max-leaked 0 --format junit -o reports {program}"),
        ),
        1,
    );
    let mut files = std::fs::read_dir(folder.path("reports"))
        .expect("list")
        .flatten();
    let file = files.next().expect("a report").file_name();
    assert!(
        file.to_string_lossy().ends_with(".memlog.check.xml"),
        "{file:?}"
    );
}
