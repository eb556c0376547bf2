//! What is drawn, and on what: so many boxes, one a function, mapped memory,
//! sheets of paper, and only the files that are asked for.

use std::fs;

use memlog_format::ext::Mapping;
use memlog_format::table::StackId;

use crate::errors::refuses;
use crate::memlog2dot;
use crate::recipe::{PROGRAM, Recipe};
use crate::sites::Folder;

fn read(folder: &Folder, name: &str) -> String {
    let bytes = fs::read(folder.path(name)).expect(name);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Draws a log and gives the page in Graphviz's language.
fn page(folder: &Folder, words: &[&str]) -> String {
    memlog2dot(folder, &[&["-q", "a.memlog"], words].concat());
    read(folder, "a.memlog.dot")
}

fn boxes(dot: &str) -> usize {
    let is_box = |line: &&str| line.starts_with('n') && line.contains(" [label=\"");
    dot.lines()
        .filter(|line| is_box(line) && !line.starts_with("node ") && !line.contains(" -> "))
        .count()
}

/// One that calls a hundred others, each of which holds a little more.
fn broad() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    for number in 1..=100 {
        let site = PROGRAM + 0x1000 + 0x10 * number;
        let stack = log.stack(StackId::COMPLETE, &[PROGRAM + 0x100, site]);
        log.allocate(stack, 1, 1000 * number);
    }
    log.read_rss(9_000);
    log
}

#[test]
fn so_many_boxes_and_the_rest_is_told() {
    let folder = Folder::new("picture-boxes");
    fs::write(folder.path("a.memlog"), broad().log()).expect("write");
    let dot = page(&folder, &["-t", "0"]);
    assert_eq!(boxes(&dot), 60, "{dot}");
    // The heaviest, and the one that calls them all; the 41 smallest go.
    assert!(dot.contains("program+0x1640") && dot.contains("program+0x100\\n"));
    assert!(dot.contains("program+0x12a0") && !dot.contains("program+0x1290"));
    let told = "not in the picture: 41 functions besides the 60 largest, where 840.8 KiB \
                (17.05%) was allocated; --max-boxes 0 shows more";
    assert!(dot.contains(told), "{dot}");
    assert!(read(&folder, "a.memlog.txt").contains(told));
    assert_eq!(dot.matches(" -> ").count(), 59, "all hang together: {dot}");
    let all = page(&folder, &["-t", "0", "--max-boxes", "0"]);
    assert_eq!(boxes(&all), 101, "{all}");
    assert!(!all.contains("not in the picture"), "{all}");
    // The threshold holds besides.
    let few = page(&folder, &["-t", "1.5"]);
    assert_eq!(boxes(&few), 26, "{few}");
    assert!(few.contains("75 functions below 1.5%, where ") && few.contains("; -t 0 shows more"));
}

#[test]
fn what_the_program_mapped_is_drawn_apart_from_the_heap() {
    let folder = Folder::new("picture-mapped");
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    let main = PROGRAM + 0x100;
    let heap = log.stack(StackId::COMPLETE, &[main, PROGRAM + 0x200]);
    let mapper = log.stack(StackId::COMPLETE, &[main, PROGRAM + 0x300]);
    let map = |address, length, prot| Mapping::Map {
        address,
        length,
        prot,
        flags: 0x22,
    };
    log.allocate(heap, 1, 1 << 20);
    log.map_by(mapper, 0, false, map(0x7000_0000_0000, 3 << 20, 3));
    // What malloc maps for the heap is in that already; what nobody can touch
    // is in nothing.
    log.map_by(heap, 1, true, map(0x7100_0000_0000, 5 << 20, 3));
    log.map_by(mapper, 2, false, map(0x7200_0000_0000, 7 << 20, 0));
    log.time(5);
    log.read_rss(9_000);
    fs::write(folder.path("a.memlog"), log.log()).expect("write");
    let dot = page(&folder, &[]);
    assert!(
        dot.contains("memlog: Total: 1.0 MiB heap and 3.0 MiB mapped, live at the"),
        "{dot}"
    );
    assert!(dot.contains("\\lheap: 1.0 MiB "), "{dot}");
    let told = "mapped: 3.0 MiB (3,145,728B) in 1 mapping of the program's own, not heap, \
                resident where touched; 7.0 MiB without access not counted";
    assert!(dot.contains(told), "{dot}");
    assert!(
        dot.contains("blue: what the program mapped itself"),
        "{dot}"
    );
    let label = "[label=\"mapped by the program itself\\nin 1 mapping\\n3.0 MiB (75.00%)\"";
    let mapped = dot.lines().find(|line| line.contains(label)).expect(label);
    assert!(mapped.contains("fillcolor=\"0.580 "), "{mapped}");
    let number = mapped.split(' ').next().expect("a name");
    let caller = dot.lines().find(|line| line.contains("program+0x300"));
    let caller = caller.and_then(|line| line.split(' ').next()).expect("it");
    assert!(dot.contains(&format!("{caller} -> {number} [")), "{dot}");
    let svg = read(&folder, "a.memlog.svg");
    assert!(svg.contains(">mapped by the program itself<"), "{svg}");
    let text = read(&folder, "a.memlog.txt");
    let mapped =
        "MEMORY MAPPED HERE:\n    3.0 MiB - 100.00%, 75.00% of all (3,145,728B in 1 block)";
    assert!(text.contains(mapped), "{text}");
    assert!(
        text.contains("    3.0 MiB - 100.00% mapped by the program itself\n"),
        "{text}"
    );
    let heap = page(&folder, &["--no-mapped"]);
    assert!(
        heap.contains("memlog: Total: 1.0 MiB live at the"),
        "{heap}"
    );
    assert!(!heap.contains("mapped by the program itself\\n"), "{heap}");
}

/// A mapping that was gone by the peak is not drawn, and one that came after a
/// fork of the way is its caller's.
#[test]
fn the_moment_counts_for_mappings_too() {
    let folder = Folder::new("picture-moment");
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    let early = log.stack(StackId::COMPLETE, &[PROGRAM + 0x100]);
    let late = log.stack(StackId::COMPLETE, &[PROGRAM + 0x200]);
    let (address, length) = (0x7000_0000_0000, 2 << 20);
    let map = |address, length| Mapping::Map {
        address,
        length,
        prot: 3,
        flags: 0x22,
    };
    log.map_by(early, 0, false, map(address, length));
    log.time(3);
    log.read_rss(5_000);
    log.time(9);
    log.map_by(early, 1, false, Mapping::Unmap { address, length });
    log.map_by(late, 2, false, map(address, 1 << 20));
    fs::write(folder.path("a.memlog"), log.log()).expect("write");
    let at = |moment| page(&folder, &["--at", moment]);
    let peak = at("rss-peak");
    assert!(
        peak.contains("program+0x100") && !peak.contains("program+0x200"),
        "{peak}"
    );
    let end = at("end");
    assert!(
        end.contains("program+0x200") && !end.contains("program+0x100"),
        "{end}"
    );
    assert!(
        end.contains("Total: 0 bytes heap and 1.0 MiB mapped, live"),
        "{end}"
    );
    let then = at("4ms");
    assert!(
        then.contains("Total: 0 bytes heap and 2.0 MiB mapped, live"),
        "{then}"
    );
}

/// Two lines of a function are one box, unless lines are asked for.
#[test]
fn a_function_is_one_box() {
    let folder = Folder::new("picture-functions");
    let source = "#include <stdlib.h>\n\
        void *kept[2];\n\
        __attribute__((noipa)) void both(void) {\n\
        kept[0] = malloc(2 << 20);\n\
        kept[1] = malloc(1 << 20);\n\
        }\n\
        int main(void) { both(); return 0; }\n";
    fs::write(folder.path("two.c"), source).expect("write");
    let mut gcc = folder.command("gcc");
    gcc.args(["-g", "-O1", "-o", "two", "two.c"]);
    assert!(gcc.status().expect("gcc").success());
    folder.says(&["record", "-o", "a.memlog", "./two"]);
    let dot = page(&folder, &["--at", "end"]);
    let label = "[label=\"both\\ntwo.c:4, 5\\ntwo\\n3.0 MiB (";
    assert!(dot.contains(label), "{label} is not in {dot}");
    assert_eq!(dot.matches("[label=\"both\\n").count(), 1, "{dot}");
    let text = read(&folder, "a.memlog.txt");
    assert!(
        text.contains("two.c:4\n") && text.contains("two.c:5\n"),
        "{text}"
    );
    for words in [
        ["--at", "end", "--lines"],
        ["--at", "end", "--print-symbol-names"],
    ] {
        let dot = page(&folder, &words);
        assert!(dot.contains("[label=\"both\\ntwo.c:4\\ntwo\\n"), "{dot}");
        assert!(dot.contains("[label=\"both\\ntwo.c:5\\ntwo\\n"), "{dot}");
    }
}

/// PDF and PS are sheets of paper, and an SVG is as wide as its window.
#[test]
fn pictures_fit_what_they_are_looked_at_on() {
    let folder = Folder::new("picture-paper");
    fs::write(folder.path("a.memlog"), broad().log()).expect("write");
    let sheets = |words: &[&str], locale: Option<(&str, &str)>| {
        let all = [&["-q", "-t", "0", "a.memlog"], words].concat();
        let mut command = crate::command(&folder, &all);
        for name in ["LC_ALL", "LC_PAPER", "LANG"] {
            command.env_remove(name);
        }
        command.envs(locale);
        assert!(command.status().expect("run").success());
        let (pdf, ps) = (read(&folder, "a.memlog.pdf"), read(&folder, "a.memlog.ps"));
        let pdf = pdf.split("/MediaBox [").nth(1).expect("a page");
        let ps = ps.split("%%DocumentMedia: Page ").nth(1).expect("a page");
        let until = |text: &str, end| text.split(end).next().expect("it").to_owned();
        (until(pdf, "]"), until(ps, " 0 ("))
    };
    // A hundred side by side lie.
    let a4 = ("0 0 842 595".to_owned(), "595 842".to_owned());
    let letter = ("0 0 792 612".to_owned(), "612 792".to_owned());
    assert_eq!(sheets(&[], None), a4);
    assert_eq!(sheets(&["--paper", "letter"], None), letter);
    assert_eq!(sheets(&[], Some(("LANG", "en_US.UTF-8"))), letter);
    assert_eq!(sheets(&["--paper", "a4"], Some(("LC_ALL", "en_CA"))), a4);
    refuses(
        &folder,
        &["--paper", "b5", "a.memlog"],
        &["give a4 or letter"],
    );
    refuses(
        &folder,
        &["--paper", "a4", "--format", "svg,txt", "a.memlog"],
        &[
            "--paper is for pdf and ps, and --format names neither",
            "hint: ",
        ],
    );
    let svg = read(&folder, "a.memlog.svg");
    let svg = svg.lines().nth(1).expect("an element");
    assert!(
        svg.contains(" viewBox=\"0 0 ") && svg.contains("max-width:100%"),
        "{svg}"
    );
}

/// Names that no eye can read on paper are told.
#[test]
fn small_print_is_told() {
    let folder = Folder::new("picture-print");
    fs::write(folder.path("a.memlog"), broad().log()).expect("write");
    let noted = |words: &[&str]| {
        let output = crate::command(&folder, &[&["a.memlog"], words].concat());
        let output = { output }.output().expect("run");
        assert!(output.status.success());
        crate::said(&output).contains("on paper the smallest names are ")
    };
    assert!(noted(&["-t", "0"]));
    assert!(!noted(&["-t", "0", "--max-boxes", "5"]));
    // An SVG can be enlarged.
    assert!(!noted(&["-t", "0", "--format", "svg"]));
}

/// Only what is asked for is written, and nothing else is touched.
#[test]
fn formats_can_be_chosen() {
    let folder = Folder::new("picture-formats");
    fs::write(folder.path("a.memlog"), broad().log()).expect("write");
    fs::write(folder.path("a.memlog.ps"), "mine").expect("write");
    let said = memlog2dot(&folder, &["a.memlog", "--format", "svg"]);
    assert_eq!(said, "Creating a.memlog.svg\n");
    let is_there = |ending: &str| folder.path(&format!("a.memlog.{ending}")).exists();
    assert!(!is_there("dot") && !is_there("txt") && !is_there("pdf"));
    let said = memlog2dot(&folder, &["a.memlog", "--format", "pdf,txt"]);
    assert_eq!(said, "Creating a.memlog.txt\nCreating a.memlog.pdf\n");
    assert!(is_there("svg") && !is_there("dot"));
    assert_eq!(read(&folder, "a.memlog.ps"), "mine");
    refuses(
        &folder,
        &["--format", "png", "a.memlog"],
        &["dot, txt, ps, pdf, svg"],
    );
}

/// Graphviz is not asked unless that is wanted.
#[test]
fn memlog_draws_by_itself() {
    let folder = Folder::new("picture-built-in");
    fs::write(folder.path("a.memlog"), broad().log()).expect("write");
    let bin = folder.folder("bin");
    let script = bin.join("dot");
    crate::runnable::write(&script, "#!/bin/sh\n: > asked\nexit 3\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, mode).expect("chmod");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    for (words, is_asked) in [
        (&["a.memlog"][..], false),
        (&["a.memlog", "--draw", "auto"], true),
    ] {
        let mut command = crate::command(&folder, words);
        let output = command.env("PATH", &path).output().expect("run");
        assert!(output.status.success());
        crate::drawn(folder.root(), "a.memlog");
        assert_eq!(folder.path("asked").exists(), is_asked, "{words:?}");
    }
}
