//! A program whose sites are known, recorded now: the page names them.

use std::fs;
use std::path::Path;

use crate::sites::build::GCC;
use crate::sites::{Folder, victim};
use crate::{drawn, memlog2dot};

/// The box of a function and a line of `sites.c`: its number.
#[track_caller]
fn node(dot: &str, function: &str, line: u32, sizes: &str) -> String {
    let label = format!("[label=\"{function}\\nsites.c:{line}\\nsites.out\\n{sizes}\"");
    let found = dot.lines().find(|text| text.contains(&label));
    let found = found.unwrap_or_else(|| panic!("{label} is not in {dot}"));
    found.split(' ').next().expect("a name").to_owned()
}

fn recorded(folder: &Folder) {
    let program = GCC.build::<&str>(folder, "sites.c", "sites.out", &[]);
    let words = ["record", "-o", "sites.memlog"].map(AsRef::as_ref);
    folder.says(&[words.as_slice(), &[program.as_os_str()]].concat());
}

#[test]
fn the_known_sites_stand_on_the_page() {
    let folder = Folder::new("live");
    recorded(&folder);
    let said = memlog2dot(&folder, &["--lines", "sites.memlog", "out/deep"]);
    for ending in ["dot", "txt", "ps", "pdf", "svg"] {
        assert!(
            said.contains(&format!("Creating out/deep/sites.memlog.{ending}\n")),
            "{said}"
        );
    }
    let out = folder.path("out/deep");
    drawn(&out, "sites.memlog");
    let dot = fs::read_to_string(out.join("sites.memlog.dot")).expect("dot");
    assert!(
        dot.contains("memlog: Total: 88.5 MiB live at the RSS peak = "),
        "{dot}"
    );
    let main = node(&dot, "main", 87, "88.5 MiB (100.00%)");
    let grow = node(&dot, "grow", 71, "64.0 MiB (72.33%)");
    let alpha = node(&dot, "alpha", 23, "64.0 MiB (72.33%)");
    let gamma = node(&dot, "gamma_", 35, "1.9 MiB (2.16%)");
    for (caller, callee) in [(&main, &grow), (&grow, &alpha)] {
        let edge = format!("{caller} -> {callee} [label=\" 64.0 MiB\", weight=85, penwidth=6.804");
        assert!(dot.contains(&edge), "{edge} is not in {dot}");
    }
    assert!(!dot.contains(&format!("{alpha} -> {gamma}")));
    let text = fs::read_to_string(out.join("sites.memlog.txt")).expect("text");
    assert!(
        text.contains("64.0 MiB - 72.33% (67,108,864B in 64 blocks)\nalpha\n    "),
        "{text}"
    );
    assert!(!text.contains("note: "), "{text}");
}

/// What recording cost cannot be told from inside the process: of the figures
/// and the pages none speaks of it.
#[test]
fn nothing_tells_what_recording_cost() {
    let folder = Folder::new("live-cost");
    let program = GCC.build::<&str>(&folder, "churn.c", "churn", &[]);
    let program = program.to_str().expect("a path of letters");
    let recorded = ["record", "-o", "churn.memlog", program, "200000"];
    folder.says(&recorded);
    let stats: serde_json::Value =
        serde_json::from_str(&folder.says(&["stats", "--json", "churn.memlog"])).expect("JSON");
    assert!(
        stats["cpu_seconds"].as_f64() > Some(0.0),
        "the kernel's figure: {}",
        stats["cpu_seconds"]
    );
    let said = folder.says(&["stats", "churn.memlog"]);
    let names = said.lines().filter_map(|line| line.split(' ').next());
    let of_time = ["cpu", "timed", "cost", "overhead"];
    let told: Vec<_> = names
        .filter(|name| of_time.iter().any(|word| name.contains(word)))
        .collect();
    assert_eq!(told, ["counters.cpu_us", "cpu_seconds"]);
    for page in ["summary", "report", "tree", "info"] {
        let said = folder.says(&[page, "churn.memlog"]);
        assert!(
            !said.contains("overhead") && !said.contains("processor time"),
            "{said}"
        );
    }
    memlog2dot(&folder, &["-q", "churn.memlog"]);
    let text = fs::read_to_string(folder.path("churn.memlog.txt")).expect("text");
    assert!(!text.contains("overhead"), "{text}");
}

/// Of a log that was cut nothing is said of what its rest may have told.
#[test]
fn a_cut_log_has_no_known_peak() {
    let folder = Folder::new("live-cut");
    let program = GCC.build::<&str>(&folder, "churn.c", "churn", &[]);
    let program = program.to_str().expect("a path of letters");
    folder.says(&["record", "-o", "whole.memlog", program, "200000"]);
    let bytes = fs::read(folder.path("whole.memlog")).expect("a log");
    fs::write(folder.path("cut.memlog"), &bytes[..bytes.len() / 2]).expect("write");
    for (log, is_cut) in [("whole", false), ("cut", true)] {
        let log = format!("{log}.memlog");
        let stats: serde_json::Value =
            serde_json::from_str(&folder.says(&["stats", "--json", &log])).expect("JSON");
        assert_eq!(stats["rss_peak_unseen_bytes"].is_null(), is_cut, "{log}");
        let summary = folder.says(&["summary", &log]);
        let is_told = summary.contains("or later, among the lost events");
        assert_eq!(is_told, is_cut, "{summary}");
        let report = folder.says(&["report", &log]);
        let is_told = report.contains(" of what was recorded");
        assert_eq!(is_told, is_cut, "{report}");
        memlog2dot(&folder, &["-q", &log]);
        let text = fs::read_to_string(folder.path(&format!("{log}.txt"))).expect("text");
        let is_told = text.contains("heap that was recorded");
        assert_eq!(is_told, is_cut, "{text}");
    }
}

/// Who holds the memory cannot be said of stripped code; what helps can.
#[test]
fn stripped_code_is_told() {
    let folder = Folder::new("live-stripped");
    let source = "#include <stdlib.h>\n\
        __attribute__((noipa)) static void *hold(void) { return __builtin_memset(malloc(9 << 20), 1, 9 << 20); }\n\
        int main(void) { return hold() == 0; }\n";
    fs::write(folder.path("hold.c"), source).expect("write");
    for (option, is_stripped) in [("-s", true), ("-g", false)] {
        let mut gcc = folder.command("gcc");
        gcc.args(["-O1", option, "-o", "holder", "hold.c"]);
        assert!(gcc.status().expect("gcc").success());
        folder.says(&["record", "-o", "hold.memlog", "./holder"]);
        let summary = folder.says(&["summary", "hold.memlog"]);
        let note = "% of the 9.0 MiB live heap is held by code without names, most in holder: install its debug symbols";
        assert_eq!(summary.contains(note), is_stripped, "{summary}");
        for by in ["function", "line", "size"] {
            let table = folder.says(&["table", "--by", by, "hold.memlog"]);
            let note = "asked for by code without names, most in holder: install its debug symbols";
            let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(table.contains(note), is_stripped && by != "size", "{table}");
        }
        fs::remove_file(folder.path("hold.memlog")).expect("rm");
    }
}

/// With the symbols, of the end, and by the other two names of the command.
#[test]
fn leaks_and_symbols() {
    let folder = Folder::new("live-leaks");
    recorded(&folder);
    let words = [
        "dot",
        "--leaks",
        "--print-symbol-names",
        "-q",
        "sites.memlog",
    ];
    assert_eq!(folder.says(&words), "");
    let first = fs::read_to_string(folder.path("sites.memlog.dot")).expect("dot");
    assert!(
        first.contains("memlog: Total: 2.1 MiB live (leaks) after "),
        "{first}"
    );
    assert!(
        first.contains("[label=\"leak\\nsites.c:57\\nsites.out\\nleak+0x"),
        "{first}"
    );
    // A copy serves as well as a link.
    let copy = folder.path("memlog_analyze");
    crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), &copy);
    let mut command = folder.command(copy);
    command.args([
        "--at",
        "end",
        "--print-symbol-names",
        "sites.memlog",
        "-o",
        "again",
    ]);
    assert!(command.status().expect("run").success());
    let again = fs::read_to_string(folder.path("again/sites.memlog.dot")).expect("dot");
    assert_eq!(first, again, "the same log gives the same bytes");
}

/// What runs before `main` only passes on: one box, unless that is not wanted.
/// The text has each of its places.
#[test]
fn runs_are_folded_unless_that_is_refused() {
    let folder = Folder::new("live-fold");
    let source = "#include <stdlib.h>\n\
        #define NEXT(f, g) __attribute__((noipa)) void *f(int n) { void *p = g(n); return p ? p : f; }\n\
        NEXT(d, malloc) NEXT(c, d) NEXT(b, c) NEXT(a, b)\n\
        int main(void) { return __builtin_memset(a(9 << 20), 1, 9 << 20) == 0; }\n";
    fs::write(folder.path("run.c"), source).expect("write");
    let mut gcc = folder.command("gcc");
    gcc.args(["-g", "-O1", "-o", "run", "run.c"]);
    assert!(gcc.status().expect("gcc").success());
    folder.says(&["record", "-o", "run.memlog", "./run"]);
    let page = |words: &[&str], ending: &str| {
        memlog2dot(
            &folder,
            &[&["-q", "--draw", "built-in", "run.memlog"], words].concat(),
        );
        fs::read_to_string(folder.path(&format!("run.memlog.{ending}"))).expect(ending)
    };
    let folded = page(&[], "dot");
    assert!(folded.contains("main\\na\\nb\\nc\\nrun"), "{folded}");
    assert!(
        folded.contains("\nn1 [label=\"d\\nrun.c:3\\nrun\\n"),
        "{folded}"
    );
    assert!(folded.contains("\\lfolded: "), "{folded}");
    let text = page(&[], "txt");
    for function in ["main", "a", "b", "c", "d"] {
        assert!(text.contains(&format!("\n{function}\n    ")), "{text}");
    }
    let plain = page(&["--no-fold"], "dot");
    assert!(plain.contains("[label=\"b\\nrun.c:3\\nrun\\n"), "{plain}");
    assert!(!plain.contains("folded: "), "{plain}");
}

/// Pages tell files in full; on the screen they are told from where one is.
#[test]
fn pages_do_not_depend_on_the_folder() {
    let folder = Folder::new("live-folder");
    recorded(&folder);
    let log = folder.path("sites.memlog");
    let sources = victim("sites.c");
    let sources = sources.parent().expect("a folder");
    let text = |at: &Path| {
        let out = folder.path("out");
        let mut command = folder.memlog(&["dot".as_ref(), log.as_os_str(), out.as_os_str()]);
        assert!(command.current_dir(at).status().expect("run").success());
        fs::read_to_string(out.join("sites.memlog.txt")).expect("text")
    };
    let here = text(sources);
    assert_eq!(here, text(folder.root()));
    let full = format!("    {}:", sources.join("sites.c").display());
    assert!(here.contains(&full), "{full} is not in {here}");
    let mut command = folder.memlog(&["report".as_ref(), log.as_os_str()]);
    let output = command.current_dir(sources).output().expect("run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(": alpha [sites.c:23]\n"), "{said}");
}

/// Of many logs the biggest process's; what is no log is named.
#[test]
fn a_pattern_picks_the_highest_peak() {
    let folder = Folder::new("live-glob");
    recorded(&folder);
    folder.says(&["record", "-o", "a-small.memlog", "true"]);
    fs::copy(folder.path("sites.memlog"), folder.path("tie.memlog")).expect("copy");
    fs::write(
        folder.path("text.memlog"),
        "no log at all, but longer than a header is",
    )
    .expect("write");
    let output = crate::command(&folder, &["*.memlog", "out"])
        .output()
        .expect("run");
    let (said, noted) = (
        String::from_utf8_lossy(&output.stdout),
        crate::said(&output),
    );
    assert!(output.status.success(), "{noted}");
    assert!(
        said.starts_with("Searching all files matching '*.memlog'\nUsing sites.memlog, "),
        "{said}"
    );
    assert!(said.contains(" is the highest of 3 logs\n"), "{said}");
    assert!(
        noted.starts_with("memlog: note: skipped: cannot read text.memlog"),
        "{noted}"
    );
    assert!(folder.path("out/sites.memlog.pdf").is_file());
    // A name is a name, whatever its signs.
    fs::copy(folder.path("tie.memlog"), folder.path("[x]*.memlog")).expect("copy");
    memlog2dot(&folder, &["[x]*.memlog", "out"]);
    assert!(folder.path("out/[x]*.memlog.svg").is_file());
}

/// Graphviz or not, a picture is there; a `dot` that fails is told.
#[test]
fn who_draws() {
    let folder = Folder::new("live-draw");
    recorded(&folder);
    let bin = folder.folder("bin");
    let run = |draw: &str, out: &str| {
        let mut command = crate::command(&folder, &["--draw", draw, "sites.memlog", out]);
        let path = format!("{}:/usr/bin:/bin", bin.display());
        command.env("PATH", path).output().expect("run")
    };
    let script = |text: &str| {
        let path = bin.join("dot");
        crate::runnable::write(&path, text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, mode).expect("chmod");
    };
    script("#!/bin/sh\nexit 3\n");
    let output = run("auto", "failing");
    assert!(output.status.success());
    assert!(
        crate::said(&output).contains("note: dot failed with exit status: 3"),
        "{}",
        crate::said(&output)
    );
    drawn(&folder.path("failing"), "sites.memlog");
    let output = run("graphviz", "refused");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        crate::said(&output).contains("hint: leave --draw out"),
        "{}",
        crate::said(&output)
    );
    // What needs no drawing is there, and nothing that looks like a drawing.
    let refused = folder.path("refused");
    for (ending, is_there) in [("dot", true), ("txt", true), ("svg", false), ("pdf", false)] {
        let path = refused.join(format!("sites.memlog.{ending}"));
        assert_eq!(path.exists(), is_there, "{ending}");
    }
    assert!(run("built-in", "own").status.success());
    drawn(&folder.path("own"), "sites.memlog");
    fs::remove_file(bin.join("dot")).expect("remove");
    if !std::path::Path::new("/usr/bin/dot").exists() {
        println!("SKIPPED Graphviz's pictures: there is no dot");
        return;
    }
    assert!(run("graphviz", "theirs").status.success());
    drawn(&folder.path("theirs"), "sites.memlog");
    let svg = fs::read_to_string(folder.path("theirs/sites.memlog.svg")).expect("svg");
    assert!(svg.contains("Helvetica,Arial,sans-serif"), "{svg}");
    assert!(svg.contains("max-width:100%"), "{svg}");
    let pdf = fs::read(folder.path("theirs/sites.memlog.pdf")).expect("pdf");
    let pdf = String::from_utf8_lossy(&pdf);
    let page = pdf
        .split("/MediaBox [")
        .nth(1)
        .and_then(|rest| rest.split(']').next());
    let page = page.expect("a page").split_whitespace();
    let page: Vec<f64> = page.map(|part| part.parse().expect("a number")).collect();
    assert!(page[2] <= 596.0 && page[3] <= 842.0, "{page:?}");
}
