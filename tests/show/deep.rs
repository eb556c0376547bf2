//! Deep recursion: pages grow with its depth, not with the square of it.

use crate::sites::build::GCC;
use crate::sites::{Folder, said};

/// What may be mapped by memlog.
const ROOM_KB: u32 = 250_000;

fn recorded(folder: &Folder, depth: &str, each: &str) {
    let program = GCC.build::<&str>(folder, "deep.c", "deep", &[]);
    let words = ["record", "-o", "deep.memlog", "--"].map(AsRef::as_ref);
    let program = [program.as_os_str(), depth.as_ref(), each.as_ref()];
    folder.says(&[&words[..], &program].concat());
}

/// In little memory, and few bytes and lines.
#[track_caller]
fn says_within(folder: &Folder, words: &str, most_bytes: usize) -> String {
    says_in(folder, "60", words, most_bytes)
}

/// In so many seconds of computing, too: how long that takes is the load's.
#[track_caller]
fn says_in(folder: &Folder, seconds: &str, words: &str, most_bytes: usize) -> String {
    let mut command = folder.command("timeout");
    let tool = env!("CARGO_BIN_EXE_memlog");
    let limits = format!("ulimit -v {ROOM_KB}; ulimit -t {seconds}");
    let line = format!("{limits}; exec '{tool}' {words} deep.memlog");
    let output = command
        .args(["-k", "5", "1000", "sh", "-c", &line])
        .output();
    let output = output.expect("memlog runs");
    assert!(output.status.success(), "{words}: {}", said(&output));
    let long = output.stdout.len();
    assert!(long <= most_bytes, "{words}: {long} bytes");
    String::from_utf8(output.stdout).expect("text")
}

/// Below the heading, without figures and places.
fn tree(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| !line.starts_with("->"));
    let words = lines.map(|line| {
        let (arrow, words) = line.split_once("x): ").expect("a branch");
        let arrow = arrow.split('%').next().expect("a share");
        format!("{arrow}% {}", words.split(" [").next().expect("a name"))
    });
    words.collect()
}

#[test]
fn one_stack_that_is_deep() {
    let folder = Folder::new("show-deep");
    recorded(&folder, "15000", "0");
    let page = says_within(&folder, "report", 5_000);
    let callers = page.lines().filter_map(|line| line.strip_prefix("  <- "));
    let callers = callers.flat_map(|line| line.split(" <- "));
    let callers: Vec<_> = callers
        .filter_map(|place| place.split(" [").next())
        .collect();
    let levels = ["descend", "descend", "descend", "14,997 more of descend"];
    assert_eq!(callers[..4], levels, "{page}");
    assert_eq!(callers[4..], ["main"], "{page}");
    let page = says_within(&folder, "report --no-fold", 5_000);
    let lines = tree(&page);
    let expected = [
        "->100.00% bottom",
        "  ->100.00% descend",
        "    ->100.00% descend",
        "      ->100.00% descend",
        "        ->100.00% 14,997 more of descend",
        "          ->100.00% main",
    ];
    assert_eq!(lines[..6], expected, "{page}");
    let run = page.lines().find(|line| line.contains(" more of "));
    assert!(
        run.is_some_and(|line| line.ends_with(", levels 5 to 15,001")),
        "{run:?}"
    );
    let from_main = says_within(&folder, "tree --top-down", 5_000);
    assert!(from_main.contains(" more of descend ["), "{from_main}");
    assert!(from_main.trim_end().ends_with(']') && from_main.contains("-> bottom ["));
}

/// Guides alone would make pages of 50 and 125 MB here.
#[test]
fn as_many_stacks_as_levels() {
    let folder = Folder::new("show-deep-each");
    recorded(&folder, "5000", "1");
    for words in [
        "report",
        "tree --top-down",
        "report -i descend",
        "report -x no",
    ] {
        let page = says_within(&folder, words, 5_000);
        assert!(page.contains(" more of descend ["), "{page}");
        // What the levels between hold is not lost.
        assert!(page.contains(", all below the 1.00% threshold"), "{page}");
    }
    // All of it: main and what called it stand below each level.
    let whole = says_within(
        &folder,
        "report --no-fold --show-below-main -t 0",
        3_000_000,
    );
    assert!(whole.lines().count() > 20_000);
    assert!(whole.contains("\n[102]->") && whole.contains("\n[5,000]->"));
    let nodes = says_within(&folder, "report --json", 6_000_000);
    let nodes: serde_json::Value = serde_json::from_str(&nodes).expect("JSON");
    let nodes = nodes["trees"][0]["nodes"].as_array().expect("a list");
    assert!(nodes.len() > 4_900);
}

/// The square of this depth would take minutes.
#[test]
fn all_pages_of_as_many_stacks_as_levels() {
    let folder = Folder::new("show-deep-pages");
    recorded(&folder, "15000", "2");
    let page = says_in(&folder, "20", "summary", 5_000);
    assert!(page.contains("1.4 MiB      15,000x  descend ["), "{page}");
    says_in(&folder, "20", "dot -q --draw built-in", 500);
    let text = std::fs::read_to_string(folder.path("deep.memlog.txt")).expect("a text");
    assert!(text.contains("descend"), "{text}");
}

/// Another function half-way makes a path of its own of each level below it.
#[test]
fn a_tree_of_all_would_be_too_large() {
    let folder = Folder::new("show-deep-middle");
    let source = "#include <stdlib.h>\n\
        #define DEEP __attribute__((noipa)) int\n\
        void *volatile block;\n\
        DEEP walk(int, int);\n\
        DEEP middle(int depth) { return walk(depth, -1) + 1; }\n\
        DEEP walk(int depth, int at) {\n\
            block = malloc(100);\n\
            if (depth == at) return middle(depth - 1) + 1;\n\
            return depth > 1 ? walk(depth - 1, at) + 1 : 0;\n\
        }\n\
        int main(void) { return walk(3000, 1500) == 0; }\n";
    std::fs::write(folder.path("middle.c"), source).expect("write");
    let mut gcc = folder.command("gcc");
    gcc.args([
        "-g",
        "-O1",
        "-fno-optimize-sibling-calls",
        "-o",
        "middle",
        "middle.c",
    ]);
    assert!(gcc.status().expect("gcc").success());
    folder.says(&["record", "-o", "deep.memlog", "./middle"]);
    let page = says_within(&folder, "report -t 0", 100_000_000);
    let last = page.lines().last().expect("a line");
    assert!(
        last.starts_with("note: there are more than 500,000 places: those below 0."),
        "{last}"
    );
    let json = says_within(&folder, "tree --json -t 0", 200_000_000);
    let tree: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(tree["threshold_percent"].as_f64() > Some(0.0));
    assert_eq!(tree["bytes"], 300_000);
}
