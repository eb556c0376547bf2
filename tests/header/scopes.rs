//! Scopes: what a program asked for in each is in the log to the byte, whoever else was
//! at work, and whatever became of the log since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::sites::build::{GCC, GXX};
use crate::sites::{Folder, said};
use crate::{included, recorded, stripped, told, with_header};

const NONE: &str = "(no scope)";
const UNKNOWN: &str = "(scope not known)";
/// What all that is counted was asked for by.
const OWN: &str = "function = take";

pub type Sums = BTreeMap<String, (u64, u64)>;

/// What the program said: by scope its bytes and blocks. A child's lines begin with a word.
fn truth(output: &Output, before: &str) -> Sums {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8_lossy(&output.stdout);
    let of_line = |line: &str| {
        let mut words = line.strip_prefix(before)?.split('\t');
        let name = words.next()?.to_owned();
        let is_other = before.is_empty() && name.starts_with("child ");
        let mut number = || words.next()?.parse().ok();
        (!is_other).then_some((name, (number()?, number()?)))
    };
    text.lines().filter_map(of_line).collect()
}

/// What the log says.
#[track_caller]
pub fn sums(folder: &Folder, log: &Path, filter: &str) -> Sums {
    let page = told(folder, &["table", "--by", "scope", "--where", filter], log);
    let rows = page["rows"].as_array().expect("rows").iter();
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    rows.map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, (number(&row["bytes"]), number(&row["blocks"])))
    })
    .collect()
}

fn victim(folder: &Folder) -> PathBuf {
    GCC.build(folder, "scopes.c", "scopes", &["-pthread"])
}

#[track_caller]
fn agrees(folder: &Folder, log: &Path, truth: &Sums) {
    assert!(truth.len() > 2, "{truth:?}");
    assert_eq!(sums(folder, log, OWN), *truth);
    assert_eq!(folder.stats(log).number("lost_events"), 0);
}

#[test]
fn each_scope_has_what_was_asked_for_in_it() {
    let folder = Folder::new("scopes");
    let program = victim(&folder);
    let (log, output) = recorded(&folder, "it.memlog", &Command::new(&program));
    let truth = truth(&output, "");
    agrees(&folder, &log, &truth);

    let mut command = Command::new(&program);
    command.env("MEMLOG_SINK", "written");
    let (written, _) = recorded(&folder, "written.memlog", &command);
    agrees(&folder, &written, &truth);

    // A filter takes a scope with all that are in it, wherever it is.
    let of = |filter: &str| {
        let page = told(&folder, &["table", "--where", filter], &log);
        (page["bytes"].as_u64(), page["blocks"].as_u64())
    };
    let of_own = |filter: &str| of(&format!("{OWN} and {filter}"));
    let sum = |names: &[&str]| {
        let all = names.iter().map(|name| truth[*name]);
        let (bytes, blocks) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (Some(bytes), Some(blocks))
    };
    assert_eq!(of_own("scope = load"), sum(&["load", "load/parse"]));
    assert_eq!(of_own("scope = parse"), sum(&["load/parse"]));
    assert_eq!(of_own("scope = \"load/parse\""), sum(&["load/parse"]));
    assert_eq!(
        of_own("scope ~ \"^work/.*d\""),
        sum(&["work/odd"]),
        "by the whole text"
    );
    assert_eq!(of_own("scope = \"(no scope)\""), sum(&[NONE]));
    let all: Vec<&str> = truth.keys().map(String::as_str).collect();
    let others: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| !name.starts_with("load"))
        .collect();
    assert_eq!(of_own("scope != load"), sum(&others));
    assert_eq!(of_own("scope = oad"), (Some(0), Some(0)));
    assert_eq!(
        of("scope = load and not function = take"),
        (Some(0), Some(0))
    );
}

#[test]
fn scopes_of_linked_programs() {
    let folder = Folder::new("scopes-linked");
    let lib = folder.recorder();
    let words = ["ldflags", "--static", "--lib"].map(std::ffi::OsStr::new);
    let words: Vec<_> = words.into_iter().chain([lib.as_os_str()]).collect();
    let flags = folder.says(&words);
    let link: Vec<&str> = ["-static", "-pthread"]
        .into_iter()
        .chain(flags.split_whitespace())
        .collect();
    let program = GCC.build(&folder, "scopes.c", "scopes", &link);
    let log = folder.path("it.memlog");
    let output = folder
        .command(&program)
        .env("MEMLOG_OUTPUT", &log)
        .output()
        .expect("it runs");
    agrees(&folder, &log, &truth(&output, ""));
}

/// What begins or ends while recording is off counts when it is on.
#[test]
fn scopes_go_on_while_recording_is_off() {
    let folder = Folder::new("scopes-off");
    let mut command = Command::new(victim(&folder));
    command.arg("off");
    let (log, output) = recorded(&folder, "it.memlog", &command);
    agrees(&folder, &log, &truth(&output, ""));
}

/// A child is in the scope in which it was forked, in its own log.
#[test]
fn a_child_is_in_its_parents_scope() {
    let folder = Folder::new("scopes-fork");
    let mut command = Command::new(victim(&folder));
    command.arg("fork");
    let (_, output) = recorded(&folder, "logs/", &command);
    let (parent, mut child) = (truth(&output, ""), truth(&output, "child "));
    let files = std::fs::read_dir(folder.path("logs")).expect("logs");
    let logs = files.map(|file| file.expect("a log").path());
    let mut found: Vec<Sums> = logs.map(|log| sums(&folder, &log, OWN)).collect();
    found.sort_by_key(|sums| sums.contains_key("server/request"));
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], parent);
    // What it had from its parent it counted itself, before the fork.
    assert_eq!(child.get("server"), Some(&(30, 2)));
    assert_eq!(found[1], child);
    child.remove("server/request");
    assert_eq!(child.len(), 2, "{child:?}");
}

/// A handler has scopes of its own above those that it comes amid, at any moment.
#[test]
fn handlers_may_have_scopes() {
    let folder = Folder::new("scopes-signals");
    let mut command = Command::new(victim(&folder));
    command.args(["signals", "500"]);
    let (log, output) = recorded(&folder, "it.memlog", &command);
    let truth = truth(&output, "");
    assert_eq!(truth.len(), 2, "{truth:?}");
    assert_eq!(sums(&folder, &log, OWN), truth);
    assert_eq!(folder.stats(&log).number("lost_events"), 0);
}

/// memlog may find that a thread has another name amid a realloc: the block that comes
/// of it is still in its scope.
#[test]
fn a_thread_gets_a_name_amid_a_realloc() {
    let folder = Folder::new("scopes-names-amid");
    let mut command = Command::new(victim(&folder));
    command.arg("names");
    let (log, output) = recorded(&folder, "it.memlog", &command);
    let truth = truth(&output, "");
    assert!(truth["outer/loop"].1 > 10_000, "{truth:?}");
    assert_eq!(sums(&folder, &log, OWN), truth);
}

/// A log that overwrites its oldest events knows scopes of those that it has, and says
/// so of the others; a stripped one too.
#[test]
fn what_is_not_known_is_told() {
    let folder = Folder::new("scopes-flight");
    let mut command = Command::new(victim(&folder));
    command.args(["rounds", "10"]);
    let (whole, output) = recorded(&folder, "it.memlog", &command);
    let truth = truth(&output, "");
    command.env("MEMLOG_FLIGHT_RECORDER", "1M");
    let (flight, _) = recorded(&folder, "flight.memlog", &command);
    let stripped = stripped(&folder, &whole);
    let left = sums(&folder, &whole, &format!("{OWN} and leaked"));
    assert!(left.contains_key("left open") && left.len() > 4, "{left:?}");
    for log in [&flight, &stripped] {
        let mut known = sums(&folder, log, OWN);
        let unknown = known.remove(UNKNOWN).expect("some are not known");
        assert!(unknown.1 > 0);
        for (name, (bytes, blocks)) in &known {
            let all = truth.get(name).unwrap_or_else(|| panic!("{name}"));
            assert!(bytes <= &all.0 && blocks <= &all.1, "{name}: {known:?}");
        }
    }
    assert_eq!(sums(&folder, &stripped, &format!("{OWN} and leaked")), left);
    // Each that was asked for last is known.
    let late = sums(
        &folder,
        &flight,
        &format!("{OWN} and scope = \"left open\""),
    );
    assert!(late["left open"].1 >= 6, "{late:?}");
}

/// Names that are none of a terminal's business, and what C++ leaves by an exception.
#[test]
fn names_are_shown_as_they_are_harmless() {
    let folder = Folder::new("scopes-names");
    let code = r#"
        #include "memlog.h"
        #include <stdlib.h>
        void *volatile kept;
        __attribute__((noinline)) static void take(size_t size) { kept = malloc(size); }
        int main(void) {
            memlog_scope_begin("a\x1b[31m<script>\n\xff/b");
            take(10);
            return 0;
        }"#;
    let program = with_header(&folder, code, &[]);
    let (log, _) = recorded(&folder, "it.memlog", &Command::new(program));
    let found = sums(&folder, &log, OWN);
    let (name, sum) = found.first_key_value().expect("one");
    assert_eq!((found.len(), *sum), (1, (10, 1)), "{found:?}");
    assert!(!name.contains(['\x1b', '\n']), "{name:?}");
    let words = ["table", "--by", "scope"].map(std::ffi::OsStr::new);
    let words: Vec<_> = words.into_iter().chain([log.as_os_str()]).collect();
    assert!(!folder.says(&words).contains('\x1b'));

    let code = r#"
        #include "memlog.h"
        #include <cstdlib>
        void *volatile kept;
        __attribute__((noinline)) static void take(size_t size) { kept = std::malloc(size); }
        static void load() {
            memlog::scope outer("outer");
            take(10);
            memlog::scope inner("inner");
            take(20);
            throw 1;
        }
        int main() {
            try { load(); } catch (int) { take(30); }
            return 0;
        }"#;
    let source = folder.path("scope.cpp");
    std::fs::write(&source, code).expect("a file");
    let include = format!("-I{}", included("").display());
    let program = GXX.build_file(&folder, &source, "cxx", &[&include]);
    let (log, _) = recorded(&folder, "cxx.memlog", &Command::new(program));
    let expected = [
        (NONE, (30, 1)),
        ("outer", (10, 1)),
        ("outer/inner", (20, 1)),
    ];
    let expected = expected.map(|(name, sum)| (name.to_owned(), sum));
    assert_eq!(sums(&folder, &log, OWN), Sums::from(expected));
}
