//! What static initialisers ask for, in programs and in libraries.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sites::build::{CLANGXX, Compiler, GXX, optioned};
use crate::sites::{Folder, said};
use crate::{ask_words, pair, rows, total};

const SOURCE: &str = include_str!("statics.cpp");

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/statics.cpp")
}

/// By name the line of a mark, and its bytes.
fn marks() -> Vec<(&'static str, usize, u64)> {
    let lines = (1..).zip(SOURCE.lines());
    let marks = lines.filter_map(|(line, text)| {
        let (_, mark) = text.split_once("// @")?;
        let (name, bytes) = mark.split_once(" bytes=").expect("bytes");
        Some((name, line, bytes.parse().expect("a number")))
    });
    marks.collect()
}

/// The groups by static initialiser, by line of the source.
#[track_caller]
fn by_line(answer: &Value) -> Vec<(usize, u64)> {
    let rows = rows(answer).iter().filter_map(|row| {
        let name = row["name"].as_str().expect("a name");
        let (file, line) = name.rsplit_once(':')?;
        file.ends_with("statics.cpp")
            .then(|| (line.parse().expect("a line"), pair(row).0))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

#[track_caller]
fn check(folder: &Folder, log: &Path, has_library: bool) {
    let ask = |words: &[&str]| ask_words(folder, log, words);
    let mut expected = marks();
    assert_eq!(expected.len(), 5);
    expected.retain(|(name, ..)| has_library || *name != "in_library");
    let lines: Vec<_> = expected
        .iter()
        .map(|(_, line, bytes)| (*line, *bytes))
        .collect();
    let own = "static-init and file ~ 'statics.cpp'";
    let by = ask(&["table", "--by", "static-init", "--where", own]);
    assert_eq!(by_line(&by), lines, "{by:#}");
    let bytes: u64 = lines.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(total(&by), (bytes, lines.len() as u64 + 1), "{by:#}");
    // What still lives: the vector is destroyed.
    let list = expected
        .iter()
        .find(|(name, ..)| *name == "list")
        .expect("list");
    let live = ask(&["leaks", "--by", "static-init", "--where", own]);
    assert_eq!(total(&live).0, bytes - list.2, "{live:#}");
    // Neither main's nor a function's own static object.
    for size in [5005, 707] {
        let main = format!("size = {size}");
        let words = ["table", "--by", "static-init", "--where", &main];
        let answer = ask(&words);
        assert_eq!(
            rows(&answer)[0]["name"],
            "(no static initialiser)",
            "{answer:#}"
        );
        let is_one = format!("size = {size} and static-init");
        assert_eq!(
            total(&ask(&["table", "--by", "size", "--where", &is_one])).1,
            0
        );
    }
    let neither = ask(&[
        "table",
        "--by",
        "size",
        "--where",
        "static-init and not static-init",
    ]);
    assert_eq!(total(&neither).1, 0);
}

#[test]
fn static_initialisers_have_what_their_lines_ask_for() {
    let plain = optioned("g++", &["-std=c++17", "-O0", "-g"]);
    for (name, compiler) in [("plain", plain), ("quick", GXX), ("clang", CLANGXX)] {
        if !compiler.is_here("static initialisers") {
            continue;
        }
        let folder = Folder::new(&format!("answers-statics-{name}"));
        let shared: Compiler = compiler;
        let library = ["-DLIBRARY", "-shared", "-fPIC"];
        let library = shared.build_file(&folder, &source(), "plugin.so", &library);
        let program = compiler.build_file(&folder, &source(), "statics", &["-ldl"]);
        for has_library in [false, true] {
            let log = folder.path(&format!("{has_library}.memlog"));
            let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
            command.arg(&program);
            if has_library {
                command.arg(&library);
            }
            let output = command.output().expect("it runs");
            assert!(output.status.success(), "{}", said(&output));
            check(&folder, &log, has_library);
        }
    }
}

/// Static programs have the initialisers and the C library in one file.
#[test]
fn static_programs_have_static_initialisers_too() {
    let folder = Folder::new("answers-statics-static");
    let flags = folder.says(&["ldflags", "--static"]);
    let link: Vec<&str> = ["-static"]
        .into_iter()
        .chain(flags.split_whitespace())
        .collect();
    let program = GXX.build_file(&folder, &source(), "statics", &link);
    let log = folder.path("static.memlog");
    let output = folder.command(&program).env("MEMLOG_OUTPUT", &log).output();
    let output = output.expect("it runs");
    assert!(output.status.success() && log.exists(), "{}", said(&output));
    check(&folder, &log, false);
    let of_main = [
        "table",
        "--by",
        "size",
        "--where",
        "static-init and function = main",
    ];
    assert_eq!(total(&ask_words(&folder, &log, &of_main)).1, 0);
    // What the C library asks for by itself is no initialiser's.
    let of_start = "static-init and function ~ '^__libc_init_first'";
    let of_start = ["table", "--by", "size", "--where", of_start];
    assert_eq!(total(&ask_words(&folder, &log, &of_start)).1, 0);
}
