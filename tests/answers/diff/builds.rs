//! Two builds of one program, by other compilers, with other flags and in another order.

use std::path::Path;

use super::{GROWN, PLANTED, agree, agree_both_ways, grown, log_of, signed};
use crate::rows;
use crate::sites::build::{CLANG, Compiler, GCC, GXX, RUSTC, optioned};
use crate::sites::{Folder, said};

/// What was planted is first, with its bytes to the last one, and little else is there.
#[track_caller]
fn planted_is_first(folder: &Folder, logs: [&Path; 2], name: &str, by: &str) {
    let found = agree(folder, logs, by);
    let first = rows(&found).first().expect("a row");
    let told = first["name"].as_str().expect("a name");
    assert!(told.contains(name), "{by}: {found:#}");
    assert_eq!(signed(first, "bytes"), PLANTED, "{by}: {first:#}");
    assert_eq!(signed(first, "blocks"), 0, "{by}: {first:#}");
    // stdio's buffer and the like: no pair of rows that cancel each other.
    let others = rows(&found).iter().skip(1);
    let others: i64 = others.map(|row| signed(row, "bytes").abs()).sum();
    assert!(others < 4096, "{by}: {found:#}");
}

#[test]
fn what_was_planted_is_first_in_builds_of_c() {
    let folder = Folder::new("answers-diff-c");
    let debug = grown(
        &folder,
        &optioned("gcc", &["-O0", "-g", "-pthread"]),
        "debug",
        &[],
    );
    let mut variants: Vec<(&str, &Compiler, &[&str])> = vec![
        ("same", &GCC, &[]),
        ("order", &GCC, &["-DOTHER_ORDER"]),
        ("fast", &GCC, &["-O3", "-g0"]),
        ("no-pie", &GCC, &["-O1", "-g0", "-no-pie", "-DOTHER_ORDER"]),
    ];
    if CLANG.is_here("diff with clang") {
        variants.push(("clang", &CLANG, &["-g0", "-DOTHER_ORDER"]));
    }
    for (name, compiler, options) in variants {
        let options = [options, &[GROWN]].concat();
        let log = grown(&folder, compiler, name, &options);
        for by in ["function", "stack"] {
            planted_is_first(&folder, [&debug, &log], "plants", by);
        }
        if name == "same" || name == "order" {
            planted_is_first(&folder, [&debug, &log], "grown.c", "line");
        }
        if name == "order" || name == "no-pie" {
            agree_both_ways(&folder, &debug, &log);
        }
    }
}

#[test]
fn what_was_planted_is_first_in_builds_of_cpp() {
    if !GXX.is_here("diff of C++") {
        return;
    }
    let folder = Folder::new("answers-diff-cpp");
    let before = grown(
        &folder,
        &optioned("g++", &["-std=c++17", "-O0", "-g"]),
        "before",
        &[],
    );
    for (name, options) in [
        ("after", &[GROWN, "-DOTHER_ORDER"][..]),
        ("bare", &[GROWN, "-DOTHER_ORDER", "-g0", "-O2"]),
    ] {
        let after = grown(&folder, &GXX, name, options);
        let found = agree(&folder, [&before, &after], "function");
        let first = &rows(&found)[0];
        let told = first["name"].as_str().expect("a name");
        assert!(
            told.contains("Store<std::") && told.contains("plants"),
            "{told}"
        );
        assert_eq!(signed(first, "bytes"), PLANTED, "{found:#}");
        // Of the lambda and of what is in no named namespace nothing changed.
        for row in rows(&found) {
            let told = row["name"].as_str().expect("a name");
            assert!(
                !told.contains("hides") && !told.contains("lambda"),
                "{found:#}"
            );
        }
        agree_both_ways(&folder, &before, &after);
    }
}

#[test]
fn what_was_planted_is_first_in_builds_of_rust() {
    if !RUSTC.is_here("diff of Rust") {
        return;
    }
    let folder = Folder::new("answers-diff-rust");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/grown.rs");
    let build = |name: &str, bytes: &str, options: &[&str]| {
        let program = folder.path(name);
        let mut command = folder.command("rustc");
        command
            .env("GROWN", bytes)
            .args(options)
            .args(["-C", "symbol-mangling-version=v0"]);
        let output = command.arg(&here).arg("-o").arg(&program).output();
        let output = output.expect("rustc");
        assert!(output.status.success(), "{}", said(&output));
        log_of(&folder, &program, &[])
    };
    let before = build("before", "0", &["-g"]);
    let after = build(
        "after",
        "2048",
        &["-C", "opt-level=2", "-C", "metadata=other"],
    );
    let found = agree(&folder, [&before, &after], "function");
    let first = &rows(&found)[0];
    let told = first["name"].as_str().expect("a name");
    assert!(told.contains("plants"), "{found:#}");
    assert_eq!(signed(first, "bytes"), PLANTED, "{found:#}");
    agree_both_ways(&folder, &before, &after);
}
