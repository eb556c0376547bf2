//! Functions, types and chains: the program itself says what is right.

use std::path::Path;

use serde_json::Value;

use crate::sites::Folder;
use crate::sites::build::{Compiler, GXX, optioned};
use crate::{ask, ask_words, built, number, pair, recorded, rows, sum, total};

/// Whether a row has the numbers that stand in `KEY=NUMBER` words.
#[track_caller]
pub fn has<'w>(row: &Value, words: impl Iterator<Item = &'w str>) {
    for word in words {
        let (key, expected) = word.split_once('=').expect("a fact");
        let expected: u64 = expected.parse().expect("a number");
        assert_eq!(number(row, key), expected, "{key} of {row}");
    }
}

#[track_caller]
pub fn row<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let row = rows(answer).iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no row of {name}: {answer:#}"))
}

/// Lines of what was printed that begin with this word: the name, and its facts.
#[track_caller]
pub fn facts<'s>(said: &'s str, kind: &str) -> Vec<(&'s str, &'s str)> {
    let lines = said
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    let found = lines.map(|line| {
        let at = line
            .find(" chains=")
            .or(line.find(" bytes="))
            .expect("facts");
        (&line[..at], line[at..].trim())
    });
    let found: Vec<_> = found.collect();
    assert!(!found.is_empty(), "no {kind}: {said}");
    found
}

#[test]
fn chains_are_what_the_program_grew() {
    for options in [&[][..], &["--free-stacks"], &["--flight-recorder=1M"]] {
        let folder = Folder::new("answers-chains");
        let (log, said) = recorded(&folder, options, "chains");
        let answer = ask(&folder, &log, "chains");
        let known = facts(&said, "chain");
        assert_eq!(known.len(), rows(&answer).len(), "{answer:#}");
        for (name, facts) in &known {
            has(row(&answer, name), facts.split(' '));
            let one = format!("function = {name}");
            let few = ask_words(&folder, &log, &["chains", "--where", &one]);
            has(row(&few, name), facts.split(' '));
        }
        filters_of_chains(&folder, &log, &answer);
    }
}

fn filters_of_chains(folder: &Folder, log: &Path, answer: &Value) {
    let of = |filter: &str| {
        total(&ask_words(
            folder,
            log,
            &["table", "--by", "size", "--where", filter],
        ))
    };
    let all = |key: &str| rows(answer).iter().map(|row| number(row, key)).sum::<u64>();
    assert_eq!(of("chain-length > 1").1, all("blocks"));
    assert_eq!(
        of("chain-length > 1 and chain-position = 0").1,
        all("chains")
    );
    assert_eq!(of("moved").1, all("blocks") - all("chains"));
    assert_eq!(of("moved").0, all("outgrown_bytes"));
    assert_eq!(of("chain-length > 1 and not moved").0, all("bytes"));
    assert_eq!(of("chain-length = 9 and function = doubles"), (8176, 9));
    assert_eq!(
        of("chain-length = 9 and first-size = 16 and last-size = 4096").1,
        9
    );
    assert_eq!(of("chain-leaked and chain-length > 1").1, 2);
    for length in ["timeline", "histogram lifetime"] {
        ask_words(
            folder,
            log,
            &[&length.split(' ').collect::<Vec<_>>()[..], &["-w", "moved"]].concat(),
        );
    }
}

#[test]
fn functions_have_what_they_asked_for() {
    let folder = Folder::new("answers-names");
    let (log, said) = recorded(&folder, &[], "names");
    let own = ask(&folder, &log, "table");
    let below = ask(&folder, &log, "table --sort below");
    for (name, facts) in facts(&said, "function") {
        has(row(&own, name), facts.split(' '));
        has(row(&below, name), facts.split(' '));
        let filter = format!("leaf = {name}");
        let chosen = ask_words(&folder, &log, &["table", "--where", &filter]);
        assert_eq!(pair(&chosen), pair(row(&own, name)), "{filter}");
        let filter = format!("function ~ \"^{name}$\"");
        let chosen = ask_words(
            &folder,
            &log,
            &["table", "--by", "size", "--where", &filter],
        );
        let expected = row(&below, name);
        let expected = (
            number(expected, "below_bytes"),
            number(expected, "below_blocks"),
        );
        assert_eq!(total(&chosen), expected, "{filter}");
    }
    let all = pair(&own);
    let below = row(&below, "_start");
    assert_eq!(
        (number(below, "below_bytes"), number(below, "below_blocks")),
        all
    );
    lines_files_and_modules(&folder, &log, all);
    callers_and_callees(&folder, &log);
    lines_of_the_source(&folder, &log);
}

/// What came by callers, and what was asked for and went to callees, is all of it.
fn callers_and_callees(folder: &Folder, log: &Path) {
    let below = ask(folder, log, "table --sort below");
    let list = |of: &Value, key: &str| {
        let all = of[key].as_array().expect(key).iter().map(pair);
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    for name in [
        "leaf",
        "recurses",
        "even_recursion",
        "odd_recursion",
        "names",
    ] {
        let answer = ask(folder, log, &format!("function {name}"));
        let row = row(&below, name);
        let all = (number(row, "below_bytes"), number(row, "below_blocks"));
        assert_eq!(pair(&answer), pair(row), "{name}");
        let told = (
            number(&answer, "below_bytes"),
            number(&answer, "below_blocks"),
        );
        assert_eq!((told, list(&answer, "callers")), (all, all), "{name}");
        let (own, callees) = (pair(&answer), list(&answer, "callees"));
        assert_eq!((own.0 + callees.0, own.1 + callees.1), all, "{name}");
    }
    let both = ask(folder, log, "function even|even_recursion|odd_recursion");
    assert_eq!(
        both["functions"],
        serde_json::json!(["even_recursion", "odd_recursion"])
    );
    assert_eq!(pair(&both), (80 + 35, 10));
}

/// Each line has what `table` says of it, with its function or without.
fn lines_of_the_source(folder: &Folder, log: &Path) {
    let table = ask(folder, log, "table --by line --sort below");
    let annotated = |source: &str| {
        let name = log.to_str().expect("a name");
        let text = folder.says(&["annotate", "--json", name, source]);
        let page: Value = serde_json::from_str(&text).expect("JSON");
        page["files"].as_array().expect("files").clone()
    };
    let [file] = annotated("known.c").try_into().expect("one file");
    assert!(rows(&file).len() >= 8, "{file:#}");
    for line in rows(&file) {
        let name = format!(
            "{}:{}",
            file["name"].as_str().expect("a path"),
            line["line"]
        );
        let told = row(&table, &name);
        for key in ["below_bytes", "below_blocks"] {
            assert_eq!(line[key], told[key], "{name}");
        }
        assert_eq!(pair(line), pair(told), "{name}");
    }
    let [few] = annotated("answers/known.c:leaf")
        .try_into()
        .expect("one file");
    assert_eq!(
        rows(&few).iter().map(pair).fold(0, |sum, one| sum + one.0),
        1500
    );
    assert!(annotated("nown.c").is_empty());
    assert!(annotated("known.c:leaf::no").is_empty());
}

#[test]
fn pages_are_held_by_what_is_in_them() {
    let folder = Folder::new("answers-pieces");
    let ask_pages = |log: &Path, more: &[&str]| {
        let question = [&["fragmentation", "--at", "end"], more].concat();
        let answer = ask_words(&folder, log, &question);
        let piece = row(&answer, "small_piece").clone();
        (answer, piece)
    };
    let (log, _) = recorded(&folder, &[], "pieces 0");
    let (all, piece) = ask_pages(&log, &[]);
    // Between the larger ones hardly a page is its own, whatever is asked about.
    let pages = number(&all, "pages");
    assert!(
        pages >= 1000 && number(&piece, "sole_pages") < 20,
        "{all:#}"
    );
    let (few, alone) = ask_pages(&log, &["--where", "function = small_piece"]);
    assert_eq!((number(&few, "pages"), &alone), (pages, &piece));
    assert_eq!(rows(&few).len(), 1);
    let (log, _) = recorded(&folder, &[], "pieces 1");
    let (all, piece) = ask_pages(&log, &[]);
    let sole = number(&piece, "sole_pages");
    assert!(
        sole > 900 && number(&piece, "held_bytes") > sole * 3900,
        "{all:#}"
    );
    let tenths = all["pages_by_tenths"].as_array().expect("tenths");
    let tenths: u64 = tenths.iter().filter_map(Value::as_u64).sum();
    assert_eq!(tenths, number(&all, "pages"));
}

fn lines_files_and_modules(folder: &Folder, log: &Path, all: (u64, u64)) {
    let source = include_str!("known.c");
    let line_of = |mark: &str| {
        1 + source
            .lines()
            .position(|line| line.contains(mark))
            .expect(mark)
    };
    let by_line = ask(folder, log, "table --by line");
    for (mark, expected) in [("@leaf", (1500, 2)), ("@recurses", (310, 31))] {
        let ending = format!("known.c:{}", line_of(mark));
        let is_it = |row: &&Value| {
            row["name"]
                .as_str()
                .is_some_and(|name| name.ends_with(&ending))
        };
        let found: Vec<_> = rows(&by_line).iter().filter(is_it).map(pair).collect();
        assert_eq!(found, [expected], "{ending}: {by_line:#}");
        let filter = format!("line = {} and leaf ~ .", line_of(mark));
        let chosen = ask_words(folder, log, &["table", "--where", &filter]);
        assert_eq!(pair(&chosen), expected, "{filter}");
    }
    let chosen = |by: &str, ending: &str| {
        let answer = ask(folder, log, &format!("table --by {by}"));
        assert_eq!(total(&answer), all, "by {by}");
        let is_it = |row: &&Value| {
            row["name"]
                .as_str()
                .is_some_and(|name| name.ends_with(ending))
        };
        rows(&answer)
            .iter()
            .filter(is_it)
            .map(pair)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let own = (1500 + 310 + 80 + 35 + 77, 2 + 31 + 5 + 5 + 1);
    assert_eq!(chosen("file", "known.c"), own);
    assert_eq!(chosen("module", "known"), own);
    let by_stack = ask(folder, log, "table --by stack");
    let frames = |row: &Value| row["stack"].as_array().map_or(0, Vec::len);
    assert!(
        rows(&by_stack).iter().all(|row| frames(row) > 0),
        "{by_stack:#}"
    );
    let of_leaf = rows(&by_stack)
        .iter()
        .filter(|row| row["stack"][0]["function"] == "leaf");
    assert_eq!(of_leaf.count(), 2);
    for row in rows(&by_stack) {
        chosen_by_number(folder, log, "stack", row);
    }
}

/// The blocks of a stack are those that its numbers choose.
pub fn chosen_by_number(folder: &Folder, log: &Path, field: &str, row: &Value) {
    let numbers = row["stack_numbers"].as_array().expect("numbers");
    let tests = numbers.iter().map(|number| format!("{field} = {number}"));
    let filter = tests.collect::<Vec<_>>().join(" or ");
    let words = ["table", "--by", "size", "--where", &filter];
    assert_eq!(pair(&ask_words(folder, log, &words)), pair(row), "{filter}");
}

#[test]
fn types_are_those_of_the_source() {
    let plain: Compiler = optioned("g++", &["-std=c++17", "-O0", "-g"]);
    if !GXX.is_here("types of C++") {
        return;
    }
    for (name, compiler) in [("quick", GXX), ("plain", plain)] {
        let folder = Folder::new("answers-types");
        let program = built(&folder, &compiler, "known.cpp", "types");
        let log = folder.path("types.memlog");
        let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
        let output = command.arg(program).output().expect("it runs");
        let said = String::from_utf8(output.stdout).expect("text");
        let types = ask(&folder, &log, "table --by type");
        for (of, facts) in facts(&said, "type") {
            has(row(&types, of), facts.split(' '));
        }
        let of_untold = ["table", "--by", "type", "--where", "function ~ ^untold"];
        let of_untold = ask_words(&folder, &log, &of_untold);
        for (of, facts) in facts(&said, "untold") {
            has(row(&of_untold, of), facts.split(' '));
        }
        let functions = ask(&folder, &log, "table --by function");
        for (of, facts) in facts(&said, "function") {
            has(row(&functions, of), facts.split(' '));
        }
        let is_operator = |row: &Value| {
            row["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("operator new"))
        };
        assert!(
            !rows(&functions).iter().any(is_operator),
            "{name}: {functions:#}"
        );
        assert_eq!(sum(&types), sum(&functions));
        assert!(
            rows(&types).iter().all(|row| row["name"] != "char"),
            "{types:#}"
        );
    }
}
