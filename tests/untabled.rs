//! Code without unwind tables and without frame pointers: a stack is a part of
//! what it is with tables, and says that it is cut, or all of it.

mod common;

use std::path::Path;
use std::process::Command;

use common::callers::{FIRST_SIZE, RecordedRun, memlog, recorded, run};
use common::tools::{Folder, skip};

const WITHOUT: [&str; 3] = [
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-fno-exceptions",
];

fn seen(folder: &Path, compiler: &str, flags: &[&str]) -> RecordedRun {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/untabled.c");
    let program = folder.join("program");
    run(Command::new(compiler)
        .args(flags)
        .args(["-w", "-o"])
        .args([&program, &source]));
    whole_names(folder, &program)
}

/// The same where it is a library, whose header names its first function as the
/// place where a program begins.
fn seen_in_library(folder: &Path, compiler: &str, flags: &[&str]) -> RecordedRun {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/untabled.c");
    let (program, library) = (folder.join("program"), folder.join("library.so"));
    let caller = folder.join("caller.c");
    std::fs::write(
        &caller,
        "int rounds(void); int main(void) { return rounds(); }",
    )
    .unwrap();
    run(Command::new(compiler)
        .args(flags)
        .args(["-w", "-shared", "-fPIC", "-DLIBRARY", "-Wl,-e,first", "-o"])
        .args([&library, &source]));
    run(Command::new(compiler)
        .args(["-O1", "-Wl,-rpath,$ORIGIN", "-o"])
        .args([&program, &caller, &library]));
    whole_names(folder, &program)
}

/// The compiler's parts of a function are that function.
fn whole_names(folder: &Path, program: &Path) -> RecordedRun {
    let mut seen = recorded(folder, &[], program);
    for name in seen.stacks.values_mut().flatten() {
        name.truncate(name.find('.').unwrap_or(name.len()));
    }
    seen
}

/// Holds the stacks of code without tables against those of the same with them.
fn compare(name: &str, twin: &RecordedRun, ours: &RecordedRun) {
    assert_eq!(twin.cut, 0, "{name}");
    assert!(twin.stacks.len() > 60, "{name}");
    let mut short = 0;
    for (size, wanted) in &twin.stacks {
        let got = ours.stacks.get(size).expect("the same blocks");
        assert!(
            wanted.starts_with(got) && !got.is_empty(),
            "{name}, {size} bytes: {got:?}, with tables {wanted:?}"
        );
        short += u64::from(got.len() < wanted.len());
    }
    assert!(
        short <= ours.cut,
        "{name}: {short} stacks are short, {} are said to be",
        ours.cut
    );
    println!("{name}: {short} of {} stacks are cut", twin.stacks.len());
}

fn has(compiler: &str, flags: &[&str]) -> bool {
    let asked = Command::new(compiler)
        .args(flags)
        .arg("-Wl,--version")
        .output();
    asked.is_ok_and(|asked| asked.status.success())
}

#[test]
fn nobody_is_named_who_is_not_there() {
    if std::env::consts::ARCH != "x86_64" {
        return skip("untabled: elsewhere no code is read");
    }
    let (all, one): (&[_], &[_]) = (&["-O1", "-O2", "-O3", "-Os"], &["-O2"]);
    // By lld, rarely run parts lie behind their functions.
    let tried: [(&str, &[&str], &[&str]); 5] = [
        ("gcc", &[], all),
        ("gcc", &["-fno-plt"], one),
        ("gcc", &["-fno-omit-frame-pointer"], one),
        ("gcc", &["-fuse-ld=lld"], one),
        ("clang", &[], all),
    ];
    for (compiler, flags, levels) in tried {
        if !has(compiler, flags) {
            skip(&format!("untabled: there is no {compiler} {flags:?}"));
            continue;
        }
        for level in levels {
            let folder = Folder::new("untabled");
            let tabled = [flags, &[level]].concat();
            let bare = [&tabled[..], &WITHOUT[..]].concat();
            for (see, what) in [
                (seen as fn(&Path, &str, &[&str]) -> RecordedRun, "program"),
                (seen_in_library, "library"),
            ] {
                let name = format!("{compiler} {} {what}", tabled.join(" "));
                let twin = see(folder.path(), compiler, &tabled);
                let ours = see(folder.path(), compiler, &bare);
                compare(&name, &twin, &ours);
            }
        }
    }
}

#[test]
fn code_made_at_run_time_is_cut_where_it_keeps_no_frame_pointer() {
    if std::env::consts::ARCH != "x86_64" || !has("gcc", &[]) {
        return skip("untabled: elsewhere no code is read, or there is no gcc");
    }
    let folder = Folder::new("untabled-made");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/untabled_made.c");
    let program = folder.path().join("program");
    run(Command::new("gcc")
        .args(["-O2", "-w", "-o"])
        .args([&program, &source]));
    let seen = whole_names(folder.path(), &program);
    assert_eq!((seen.stacks.len(), seen.cut), (2, 2));
    for (size, frames) in &seen.stacks {
        assert_eq!(frames.len(), 1, "{size} bytes: {frames:?}");
    }
}

#[test]
fn frame_pointers_lead_out_of_callbacks_and_handlers() {
    if std::env::consts::ARCH != "x86_64" || !has("gcc", &[]) {
        return skip("untabled: elsewhere no code is read, or there is no gcc");
    }
    let folder = Folder::new("untabled-framed");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/untabled_framed.c");
    let program = folder.path().join("program");
    for level in ["-O0", "-O2", "-Os"] {
        run(Command::new("gcc")
            .args([level, "-w", "-fno-omit-frame-pointer"])
            .args(WITHOUT)
            .arg("-o")
            .args([&program, &source]));
        let seen = whole_names(folder.path(), &program);
        assert_eq!((seen.stacks.len(), seen.cut), (80, 0), "{level}");
        for (size, frames) in &seen.stacks {
            let first = ["little", "much", "most", "handler"][(size - FIRST_SIZE) as usize % 4];
            assert_eq!(frames[0], first, "{level}, {size} bytes: {frames:?}");
            let names: Vec<_> = frames.iter().map(String::as_str).collect();
            assert!(
                names.ends_with(&["_start"])
                    && names.contains(&"round_of")
                    && names.contains(&"main"),
                "{level}, {size} bytes: {frames:?}"
            );
        }
    }
}

/// Calls through pointers, which no instruction proves.
const THROUGH_POINTERS: &str = "
    #include <stdlib.h>
    __attribute__((noinline)) static void *inner(long size) { void *block = malloc(size); return block ? block : &inner; }
    static void *(*volatile call)(long) = inner;
    __attribute__((noinline)) static void *middle(long size) { void *block = call(size); return block ? block : &middle; }
    static void *(*volatile call_middle)(long) = middle;
    int main(void) {
        for (long round = 0; round < 1000; round++)
            free(call_middle(100000 + round % 7));
        return 0;
    }";

#[test]
fn what_cuts_stacks_and_what_mends_it_is_told() {
    if std::env::consts::ARCH != "x86_64" || !has("gcc", &[]) {
        return skip("untabled: elsewhere no code is read, or there is no gcc");
    }
    let folder = Folder::new("untabled-told");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("pointers.c"), THROUGH_POINTERS).unwrap();
    let pages = |flags: &[&str]| {
        run(Command::new("gcc")
            .args(["-O2", "-w"])
            .args(flags)
            .arg("-o")
            .args([at("program"), at("pointers.c")]));
        let log = at("log.memlog");
        let _ = std::fs::remove_file(&log);
        run(memlog().args(["record", "-o"]).args([&log, &at("program")]));
        let page = |words: &[&str]| run(memlog().args(words).arg(&log));
        let pages = ["summary", "report", "info"].map(|command| page(&[command]));
        let figures: serde_json::Value = serde_json::from_str(&page(&["stats", "--json"])).unwrap();
        (pages, figures["cut_stacks_by_module"].clone())
    };
    let (told, figures) = pages(&WITHOUT);
    let sentence = format!(
        "of their bytes) have stacks cut in {}: most of its code has no unwind tables; \
         build it with -fasynchronous-unwind-tables",
        at("program").display()
    );
    for page in told {
        assert!(page.contains(&sentence), "{page}");
    }
    let first = &figures[0];
    assert_eq!(first["module"], at("program").to_str().unwrap());
    assert_eq!(first["reason"], "no unwind tables");
    assert_eq!(first["allocations"], 1000, "{figures}");
    let bytes: u64 = (0..1000).map(|round| FIRST_SIZE + round % 7).sum();
    assert_eq!(first["bytes"], bytes, "{figures}");
    let (told, figures) = pages(&["-fasynchronous-unwind-tables"]);
    assert_eq!(figures.as_array().map(Vec::len), Some(0), "{figures}");
    for page in told {
        assert!(!page.contains("stacks cut"), "{page}");
    }
}
