//! A log that has scopes says so where its user looks first: above each page, among the
//! figures, and in what summary proposes; with the sums that the program itself counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::scopes::{Sums, sums};
use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{recorded, stripped, told, with_header};

/// What is live when the program is biggest, and what is not, by a count of its own. Each
/// block is touched, so that the peak is where the last came.
const CODE: &str = r#"
    #include "memlog.h"
    #include <stdlib.h>
    #include <string.h>
    void *volatile kept;
    __attribute__((noinline)) static void *take(size_t size) {
        void *block = malloc(size);
        kept = memset(block, 1, size);
        return block;
    }
    int main(int count, char **words) {
        void *gone;
        int i;
        memlog_mark("begun");
        memlog_scope_begin("gone");
        gone = take(2 << 20);
        memlog_scope_end();
        free(gone);
        if (count > 1) {
            take(8 << 20);
            return 0;
        }
        memlog_scope_begin("load");
        take(8 << 20);
        memlog_scope_begin("parse");
        for (i = 0; i < 256; i++)
            take(16 << 10);
        memlog_scope_end();
        memlog_scope_end();
        for (i = 0; i < 64; i++)
            take(16 << 10);
        memlog_scope_begin("a\x1b[31m<script>");
        take(300 << 10);
        memlog_scope_end();
        return 0;
    }"#;

/// What the figures say of the RSS peak.
pub fn at_peak(stats: &Value) -> Sums {
    let list = stats["rss_peak_live_by_scope"].as_array().expect("a list");
    let number = |value: &Value| value.as_u64().expect("a number");
    let each = list.iter().map(|row| {
        let name = row["scope"].as_str().expect("a name").to_owned();
        (name, (number(&row["bytes"]), number(&row["blocks"])))
    });
    each.collect()
}

/// The figures are those of the table at the same moment.
#[track_caller]
pub fn agrees_with_the_table(folder: &Folder, log: &Path) {
    let words = ["table", "--by", "scope", "--at", "rss-peak"];
    let rows = told(folder, &words, log);
    let number = |value: &Value| value.as_u64().expect("a number");
    let rows = rows["rows"].as_array().expect("rows").iter().map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, (number(&row["bytes"]), number(&row["blocks"])))
    });
    let stats = told(folder, &["stats"], log);
    let found = at_peak(&stats);
    assert_eq!(found, rows.collect::<Sums>());
    let bytes: u64 = found.values().map(|sum| sum.0).sum();
    assert_eq!(Some(bytes), stats["rss_peak_live_bytes"].as_u64());
}

fn page(folder: &Folder, words: &[&str], log: &Path) -> String {
    let words = words.iter().map(std::ffi::OsStr::new);
    folder.says(&words.chain([log.as_os_str()]).collect::<Vec<_>>())
}

fn held(folder: &Folder) -> (PathBuf, PathBuf) {
    let program = with_header(folder, CODE, &[]);
    let (log, _) = recorded(folder, "it.memlog", &Command::new(&program));
    let mut command = Command::new(&program);
    command.arg("plain");
    (log, recorded(folder, "plain.memlog", &command).0)
}

#[test]
fn who_opens_a_log_sees_its_scopes() {
    let folder = Folder::new("scopes-told");
    let (log, plain) = held(&folder);
    agrees_with_the_table(&folder, &log);
    let own = sums(&folder, &log, "function = take and leaked");
    assert_eq!(own["load"], (8 << 20, 1));
    assert_eq!(own["load/parse"], (4 << 20, 256));
    assert_eq!(own.len(), 4, "{own:?}");
    let found = at_peak(&told(&folder, &["stats"], &log));
    for (name, sum) in own.iter().filter(|(name, _)| *name != "(no scope)") {
        assert_eq!(found.get(name), Some(sum), "{found:?}");
    }
    // Besides there is what the C library asked for.
    assert!(found["(no scope)"] >= own["(no scope)"], "{found:?}");
    assert!(!found.contains_key("gone"), "{found:?}");

    let line = "by scope:";
    for words in [&["summary"][..], &["report"], &["tree"]] {
        let page = page(&folder, words, &log);
        let line = page.lines().skip_while(|text| !text.starts_with(line));
        let text: String = line.take(4).collect::<Vec<_>>().join(" ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let begin = "by scope: 60.2 % of what was live at the RSS peak allocated in load (8.0 MiB in 1 block), \
                     30.1 % in load/parse (4.0 MiB in 256 blocks), 7.5 % in no scope (1.0 MiB in 64 blocks), \
                     2.2 % in a";
        assert!(text.starts_with(begin), "{text}\n{page}");
        assert!(
            text.contains("(300.0 KiB in 1 block), 4 scopes in the log"),
            "{text}"
        );
        assert!(!page.contains('\x1b'), "{page}");
    }
    let text = page(&folder, &["summary"], &log);
    assert!(
        text.contains("memlog table --by scope --at rss-peak "),
        "{text}"
    );
    let summary = told(&folder, &["summary"], &log);
    assert_eq!(at_peak(&summary["stats"]), found);

    // What it has is told also where nothing of it is left.
    let text = page(&folder, &["summary"], &plain);
    assert!(
        text.contains("100.0 % of what was live at the RSS peak allocated in no scope"),
        "{text}"
    );
    assert!(text.contains("1 scope in the log"), "{text}");
    agrees_with_the_table(&folder, &plain);
}

/// Logs of before, and of programs that say nothing.
#[test]
fn a_log_without_scopes_has_no_word_of_them() {
    let folder = Folder::new("untold");
    let code = "#include <stdlib.h>\nvoid *volatile kept;\nint main(void) { kept = malloc(1 << 20); return 0; }";
    let program = with_header(&folder, code, &[]);
    let (log, _) = recorded(&folder, "it.memlog", &Command::new(program));
    for command in ["summary", "report"] {
        assert!(!page(&folder, &[command], &log).contains("scope"));
    }
    assert_eq!(at_peak(&told(&folder, &["stats"], &log)), Sums::new());
}

/// In each kind of log: written, of forked children, of threads that share places, one that
/// overwrites its oldest events, one of which events were left out.
#[test]
fn figures_are_those_of_the_table() {
    let folder = Folder::new("scopes-agree");
    let program = GCC.build(&folder, "scopes.c", "scopes", &["-pthread"]);
    let mut command = Command::new(&program);
    command.args(["rounds", "4"]);
    let (log, _) = recorded(&folder, "it.memlog", &command);
    agrees_with_the_table(&folder, &log);
    let stripped = stripped(&folder, &log);
    agrees_with_the_table(&folder, &stripped);
    command.env("MEMLOG_FLIGHT_RECORDER", "1M");
    let (flight, _) = recorded(&folder, "flight.memlog", &command);
    agrees_with_the_table(&folder, &flight);

    let mut command = Command::new(&program);
    command.arg("fork");
    recorded(&folder, "logs/", &command);
    let files = std::fs::read_dir(folder.path("logs")).expect("logs");
    let logs: Vec<_> = files.map(|file| file.expect("a log").path()).collect();
    assert_eq!(logs.len(), 2);
    logs.iter()
        .for_each(|log| agrees_with_the_table(&folder, log));
}

/// Of a profile's samples what each label has: allocated, and live at the peak.
fn labelled(
    folder: &Folder,
    options: &[&str],
    log: &Path,
) -> (BTreeMap<String, [u64; 4]>, [u64; 4]) {
    let profile = folder.path("it.pb.gz");
    let words = ["export", "pprof", "-o"].map(std::ffi::OsStr::new);
    let words = words.into_iter().chain([profile.as_os_str()]);
    let words = words.chain(options.iter().map(std::ffi::OsStr::new));
    folder.says(&words.chain([log.as_os_str()]).collect::<Vec<_>>());
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/exports/pprof.py");
    let output = Command::new("python3").args([&reader, &profile]).output();
    let output = output.expect("python3 runs");
    assert!(output.status.success(), "{}", said(&output));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut by_label: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    let mut all = [0; 4];
    for sample in json["stacks"].as_array().expect("samples") {
        let label = sample["labels"]["scope"].as_str().unwrap_or_default();
        let sums = by_label.entry(label.to_owned()).or_default();
        for (place, sum) in sums.iter_mut().enumerate() {
            let value = sample["values"][place].as_u64().expect("a number");
            *sum += value;
            all[place] += value;
        }
    }
    (by_label, all)
}

/// pprof's samples have labels, and a scope is one.
#[test]
fn a_profile_of_pprof_has_scopes_as_labels() {
    let folder = Folder::new("scopes-pprof");
    let (log, plain) = held(&folder);
    let stats = told(&folder, &["stats"], &log);
    let number = |name: &str| stats[name].as_u64().expect("a number");
    let whole = [
        "allocations",
        "total_bytes",
        "rss_peak_live_blocks",
        "rss_peak_live_bytes",
    ]
    .map(number);
    let (scopes, all) = labelled(&folder, &[], &log);
    assert_eq!(all, whole);
    assert_eq!(scopes["load"], [1, 8 << 20, 1, 8 << 20]);
    assert_eq!(scopes["load/parse"], [256, 4 << 20, 256, 4 << 20]);
    assert_eq!(scopes["gone"], [1, 2 << 20, 0, 0]);
    assert_eq!(scopes.len(), 5, "{scopes:?}");

    // Of chosen blocks and stacks, and of another moment.
    let (scopes, all) = labelled(&folder, &["--where", "scope = load"], &log);
    assert_eq!(all, [257, 12 << 20, 257, 12 << 20]);
    assert_eq!(scopes.keys().collect::<Vec<_>>(), ["load", "load/parse"]);
    let (scopes, _) = labelled(&folder, &["-x", "take"], &log);
    assert!(!scopes.contains_key("load"), "{scopes:?}");
    let (scopes, _) = labelled(&folder, &["--at", "mark begun"], &log);
    assert_eq!(scopes["load"], [1, 8 << 20, 0, 0]);
    let (scopes, _) = labelled(&folder, &["--by", "allocated"], &log);
    assert_eq!(scopes["gone"], [1, 2 << 20, 0, 0]);

    // Without scopes there are no labels.
    std::fs::remove_file(&plain).expect("a log");
    let code = "#include <stdlib.h>\nvoid *volatile kept;\nint main(void) { kept = malloc(1 << 20); return 0; }";
    let program = with_header(&folder, code, &[]);
    let (log, _) = recorded(&folder, "none.memlog", &Command::new(program));
    let (scopes, _) = labelled(&folder, &[], &log);
    assert_eq!(scopes.keys().collect::<Vec<_>>(), [""]);
}

/// A screen of few columns, and a log that was cut anywhere.
#[test]
fn narrow_screens_and_torn_logs() {
    let folder = Folder::new("scopes-torn");
    let (log, _) = held(&folder);
    let bytes = std::fs::read(&log).expect("a log");
    let torn = folder.path("torn.memlog");
    for part in 1..8 {
        std::fs::write(&torn, &bytes[..bytes.len() * part / 8]).expect("a file");
        let output = folder
            .memlog(&["summary".as_ref(), torn.as_os_str()])
            .env("COLUMNS", "20")
            .output()
            .expect("it runs");
        let text = said(&output);
        assert!(
            !text.contains("panicked") && !text.contains('\x1b'),
            "{text}"
        );
    }
}
