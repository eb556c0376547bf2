//! Other tools' files: what memlog says of one is what it says of the log that the file was
//! made of, or what the tool itself says of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::sites::build::{GCC, GXX};
use crate::sites::{Folder, said, victim};
use crate::{ask, number, recorded, rows};

/// What every source knows.
const FIGURES: [&str; 8] = [
    "allocations",
    "releases",
    "total_bytes",
    "end_live_bytes",
    "end_live_blocks",
    "heap_peak_bytes",
    "heap_peak_blocks",
    "findings_count",
];

/// Two programs: one whose stacks have functions that are inlined, one with reallocs.
fn cases(test: &str) -> Vec<(Folder, PathBuf)> {
    let mut cases = Vec::new();
    if GXX.is_here("imports of a program in C++") {
        let folder = Folder::new(&format!("answers-imports-{test}-cpp"));
        let program = GXX.build_file(&folder, &victim("sites.cpp"), "it", &["-O2"]);
        let log = folder.path("it.memlog");
        let mut command = folder.memlog(&["record", "-o"]);
        let output = command.arg(&log).arg(program).output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        cases.push((folder, log));
    }
    if GCC.is_here("imports of a program in C") {
        let folder = Folder::new(&format!("answers-imports-{test}-c"));
        let (log, _) = recorded(&folder, &[], "mix 7 900 1");
        cases.push((folder, log));
    }
    cases
}

fn written(folder: &Folder, words: &[&str], log: &Path, name: &str) -> PathBuf {
    let path = folder.path(name);
    let mut command = folder.memlog(words);
    let command = command.arg("-o").arg(&path).arg(log);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    path
}

/// By names, with those of inlined functions and with lines: what each stack allocated, had
/// at the heap's peak and left.
fn stacks(folder: &Folder, log: &Path) -> Value {
    let of = |question: &str| {
        let answer = ask(folder, log, question);
        let rows = rows(&answer).iter().map(|row| {
            let keys = ["stack", "name", "bytes", "blocks"];
            json!(keys.map(|key| &row[key]))
        });
        let mut rows: Vec<Value> = rows.collect();
        rows.sort_by_key(Value::to_string);
        assert!(!rows.is_empty(), "{question}");
        rows
    };
    json!([
        of("table --by stack --top 100000"),
        of("table --by stack --top 100000 --at heap-peak"),
        of("leaks --by stack --top 100000"),
    ])
}

fn figures(folder: &Folder, log: &Path) -> Vec<Value> {
    let stats = ask(folder, log, "stats");
    FIGURES.map(|name| stats[name].clone()).into()
}

/// Where a form does not tell which of blocks alike went, more of them seem to be.
fn temporary(folder: &Folder, log: &Path) -> u64 {
    number(&ask(folder, log, "stats"), "temporary_allocations")
}

#[test]
fn heaptrack_s_form_says_what_its_log_says() {
    for (folder, log) in cases("form") {
        let form = written(&folder, &["export", "heaptrack"], &log, "it.heaptrack");
        let made = written(&folder, &["import"], &form, "made.memlog");
        let (expected, all) = (figures(&folder, &log), stacks(&folder, &log));
        for file in [&form, &made] {
            assert_eq!(figures(&folder, file), expected, "{}", file.display());
            assert!(temporary(&folder, file) >= temporary(&folder, &log));
            assert_eq!(stacks(&folder, file), all, "{}", file.display());
        }
        // Nothing lies beside the file that was read.
        let table = folder.path("it.heaptrack.table");
        assert!(!table.exists());
    }
}

#[test]
fn a_dump_says_what_its_log_says() {
    for (folder, log) in cases("dump") {
        let dump = |log: &Path| folder.says(&["dump".as_ref(), log.as_os_str()]);
        let text = dump(&log);
        let form = folder.path("it.txt");
        fs::write(&form, &text).expect("a file");
        let made = written(&folder, &["import"], &form, "made.memlog");
        assert_eq!(dump(&made), text);
        let (expected, all) = (figures(&folder, &log), stacks(&folder, &log));
        assert_eq!(figures(&folder, &form), expected);
        assert_eq!(temporary(&folder, &form), temporary(&folder, &log));
        // The program is the same: its file tells lines and what is inlined.
        assert_eq!(stacks(&folder, &form), all);
        // Without it there are the symbols that the text has.
        let functions = |log: &Path| {
            let answer = ask(&folder, log, "table --by function --top 100000");
            let bytes = rows(&answer).iter().map(|row| number(row, "bytes"));
            (rows(&answer).to_vec(), bytes.sum::<u64>())
        };
        let (_, bytes) = functions(&form);
        let moved = text.replace(folder.root().to_str().expect("a name"), "/no/such/folder");
        fs::write(&form, moved).expect("a file");
        let (rows, moved_bytes) = functions(&form);
        assert_eq!(moved_bytes, bytes);
        let is_named = |row: &Value| {
            row["name"]
                .as_str()
                .is_some_and(|name| !name.contains("+0x"))
        };
        assert!(
            rows.iter().filter(|row| is_named(row)).count() * 2 > rows.len(),
            "{rows:?}"
        );
    }
}

/// A real file: what heaptrack_print says of it, in whole numbers.
#[test]
fn heaptrack_says_the_same_of_its_own_file() {
    let is_here = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !is_here("heaptrack") || !is_here("heaptrack_print") {
        println!("SKIPPED imports: there is no heaptrack");
        return;
    }
    if !GXX.is_here("imports of heaptrack's files") {
        return;
    }
    let folder = Folder::new("answers-imports-heaptrack");
    let program = GXX.build_file(&folder, &victim("sites.cpp"), "it", &["-O2"]);
    let mut command = folder.command("heaptrack");
    let output = command.args(["-o", "own"]).arg(program).output();
    assert!(output.expect("it runs").status.success());
    let file = folder.path("own.zst");
    if !file.exists() {
        println!("SKIPPED imports: this heaptrack writes no .zst");
        return;
    }
    let stats = ask(&folder, &file, "stats");
    let told = |kind: &str| {
        let out = folder.path(kind);
        let mut command = folder.command("heaptrack_print");
        let command = command.args(["--flamegraph-cost-type", kind, "-F"]);
        let output = command.arg(&out).arg(&file).output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        let text = fs::read_to_string(out).expect("text");
        let costs = text.lines().filter_map(|line| line.rsplit(' ').next());
        costs
            .map(|cost| cost.parse::<u64>().expect("a number"))
            .sum::<u64>()
    };
    assert_eq!(told("allocations"), number(&stats, "allocations"));
    assert_eq!(told("leaked"), number(&stats, "end_live_bytes"));
    assert_eq!(told("peak"), number(&stats, "heap_peak_bytes"));
    // To heaptrack blocks of its first size and stack are temporary after any release.
    assert!(told("temporary") >= number(&stats, "temporary_allocations"));
    assert_eq!(number(&stats, "findings_count"), 0);
    let expected = json!(["threads", "functions", "reallocs", "lifetimes", "addresses"]);
    assert_eq!(stats["imported"]["unknown"], expected);
    for name in [
        "threads",
        "usable_total_bytes",
        "lost_events",
        "pid",
        "coverage",
    ] {
        assert_eq!(stats[name], Value::Null, "{name}");
    }
}

#[test]
fn pages_say_what_a_file_is_and_lacks() {
    let folder = Folder::new("answers-imports-pages");
    let file = folder.path("old.txt");
    let frame = "/opt/app (fill+0x12) [0x401205 (0x1205)]";
    let text = format!(
        "M: 4000 0x5500\t0.000010 0 42 0 0\t{frame}\nnonsense\nF: 0x77\t0.000011 0 42 0 0\n"
    );
    fs::write(&file, text).expect("a file");
    let says = |words: &[&str]| folder.says(&[words, &["old.txt"]].concat());
    for page in [
        says(&["summary"]),
        says(&["report"]),
        says(&["leaks"]),
        says(&[]),
    ] {
        assert!(page.contains("from a memlog text file, old.txt"), "{page}");
        assert!(page.contains("it does not know "), "{page}");
        assert!(page.contains("fill"), "{page}");
    }
    let summary = says(&["summary"]);
    assert!(
        summary.contains("not known; the largest heap is taken for it"),
        "{summary}"
    );
    for wrong in [
        "process 0",
        "none lost",
        "memlog's own",
        "unknown program as",
    ] {
        assert!(!summary.contains(wrong), "{wrong}: {summary}");
    }
    let info = says(&["info"]);
    assert!(
        info.contains("imported           from a memlog text file, old.txt"),
        "{info}"
    );
    assert!(
        info.contains("left out: line 2: expected a line as memlog prints it"),
        "{info}"
    );
    let made = says(&["import"]);
    for line in [
        "Creating old.txt.memlog\n",
        "It was a memlog text file: 1 allocation and 0 releases, 1 block of 3.9 KiB never released\n",
        "1 line or record was not understood and is left out\n",
        "1 release was of a block that it does not have and is left out\n",
    ] {
        assert!(made.contains(line), "{line}: {made}");
    }
    assert_eq!(
        says(&["report"]),
        folder.says(&["report", "old.txt.memlog"])
    );
    // A folder is asked for its logs alone.
    let output = folder.run(&["info", "--list", "."]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !told.contains("old.txt\n") && told.contains("old.txt.memlog"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_imported_is_told() {
    let folder = Folder::new("answers-imports-errors");
    fs::write(folder.path("other"), "hello\nworld\n").expect("a file");
    fs::write(folder.path("newer"), "v 10400 9\nX app\n").expect("a file");
    fs::write(folder.path("torn"), "v 10400 2\nX app\nt 5 0\n").expect("a file");
    for (file, expected) in [
        (
            "other",
            "neither a log nor a file of a form that memlog imports",
        ),
        ("newer", "its form is version 9 of heaptrack's"),
        (
            "torn",
            "line 3: expected a line as heaptrack writes it, found 't 5 0'",
        ),
        ("absent", "No such file"),
    ] {
        let output = folder.run(&["import", file]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(expected) && told.contains("memlog: hint: "),
            "{told}"
        );
        assert!(!folder.path(&format!("{file}.memlog")).exists());
    }
    let told = said(&folder.run(&["report", "newer"]));
    assert!(
        told.contains("its form is version 9 of heaptrack's"),
        "{told}"
    );
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1/tiny.memlog");
    let output = folder.run(&["import".as_ref(), golden.as_os_str()]);
    assert!(
        said(&output).contains("is a log already"),
        "{}",
        said(&output)
    );
}
