//! C++'s operator new and delete of allocators that do not end in malloc: known
//! sites to the byte, as many events as the allocator itself counts, and
//! nothing but a jump where they do end in malloc.
//!
//! * here: allocators that are preloaded, and what the tests share
//! * [`plugins`]: those of plugins that come and go
//! * [`linked`]: static programs

#[path = "../common/mod.rs"]
mod common;
mod linked;
mod plugins;
#[path = "../sites/mod.rs"]
mod sites;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::logs::Recorded;
use common::pairs;
use common::tools::{self, tools};
use common::verdict::Totals;
use memlog_format::api::Api;
use sites::Folder;
use sites::build::{GCC, GXX};
use sites::known::{Others, agrees, agrees_at};

/// The allocators of Debian 12 that this is about.
const DEBIAN: &[&str] = &[
    "libtcmalloc_minimal.so.4",
    "libjemalloc.so.2",
    "libmimalloc.so.2",
];
/// Where Debian has them.
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// The allocator of our own.
fn allocator(folder: &Folder, name: &str, more: &[&str]) -> PathBuf {
    let soname = format!("-Wl,-soname,{name}");
    let flags = [&["-fPIC", "-shared", &soname], more].concat();
    GXX.build(folder, "own_operators.cpp", name, &flags)
}

/// Runs `memlog record` with these words; the only log in `folder/logs`.
#[track_caller]
fn record(folder: &Folder, preload: &Path, words: &[&str]) -> PathBuf {
    let logs = folder.folder("logs");
    for log in folder.logs("logs") {
        fs::remove_file(log).expect("remove");
    }
    let _ = fs::remove_file(folder.path("counted"));
    let mut command = folder.memlog(&["record"]);
    command.arg("-o").arg(&logs).args(words);
    command.env("OWN_OPERATORS_COUNT", folder.path("counted"));
    // timeout and memlog themselves run with it: they may as well.
    command.env("LD_PRELOAD", preload);
    let output = command.output().expect("memlog runs");
    assert!(
        output.status.success(),
        "{words:?}: {}",
        sites::said(&output)
    );
    let logs = folder.logs("logs");
    let [log] = logs.as_slice() else {
        panic!("one log, not {logs:?}: {}", sites::said(&output));
    };
    log.clone()
}

/// Calls of operator new and delete in a log.
fn operators(log: &Recorded) -> (u64, u64) {
    let count = |apis: [Api; 2]| {
        let is_one = |api: u8| apis.iter().any(|one| *one as u8 == api);
        log.heap.iter().filter(|event| is_one(event.api)).count() as u64
    };
    (
        count([Api::New, Api::NewArray]),
        count([Api::Delete, Api::DeleteArray]),
    )
}

/// What the allocator has counted in each process.
fn counted(folder: &Folder) -> BTreeMap<u32, (u64, u64)> {
    let text = fs::read_to_string(folder.path("counted")).expect("the allocator's counts");
    let mut all = BTreeMap::<u32, (u64, u64)>::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().skip(1);
        let mut number = || {
            words
                .next()
                .expect("a number")
                .parse::<u64>()
                .expect("digits")
        };
        let (pid, news, deletes) = (number() as u32, number(), number());
        let sum = all.entry(pid).or_default();
        *sum = (sum.0 + news, sum.1 + deletes);
    }
    all
}

/// The log is whole and has as many operator events as the allocator counted.
#[track_caller]
fn agrees_with_the_allocator(folder: &Folder, log: &Path) -> (u64, u64) {
    let recorded = Recorded::read(log).expect("a log");
    let said = counted(folder)[&recorded.pid];
    assert_eq!(operators(&recorded), said, "operator events, and counted");
    folder.holds_whole(log);
    said
}

/// A program that allocates by operators, preloaded and linked.
#[test]
fn every_operator_at_its_site() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators");
    let own = allocator(&folder, "libown.so", &[]);
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let program = program.to_str().expect("text");
    let log = record(&folder, &own, &[program]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    let (news, deletes) = agrees_with_the_allocator(&folder, &log);
    assert_eq!((news, deletes), (2450, 1850), "the program's own count");
    // Its own mappings, and not those of the allocator.
    assert_eq!(folder.stats(&log).number("mapped_calls"), 160);

    let rpath = format!("-Wl,-rpath,{}", folder.root().display());
    let linked = [own.to_str().expect("text"), &rpath];
    let program = GXX.build(&folder, "operators.cpp", "linked", &linked);
    let log = record(&folder, Path::new(""), &[program.to_str().expect("text")]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    agrees_with_the_allocator(&folder, &log);
}

/// Only what is there is taken from the allocator; the C++ library's forms of
/// the others end in those.
#[test]
fn an_allocator_with_some_of_the_operators() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-some");
    let own = allocator(&folder, "libown.so", &["-DONLY_SCALAR"]);
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let log = record(&folder, &own, &[program.to_str().expect("text")]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    agrees_with_the_allocator(&folder, &log);
}

/// Operators that end in malloc after all, in the object that defines it: each
/// block is an event once.
#[test]
fn an_allocator_whose_operators_end_in_malloc() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-malloc");
    let own = allocator(&folder, "libown.so", &["-DBY_MALLOC"]);
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let log = record(&folder, &own, &[program.to_str().expect("text"), "20", "4"]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    folder.holds_whole(&log);
    let recorded = Recorded::read(&log).expect("a log");
    assert_eq!(operators(&recorded).0, 0, "recorded where they end");
}

#[test]
fn threads_and_children() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-threads");
    let own = allocator(&folder, "libown.so", &[]);
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let program = program.to_str().expect("text");
    for _ in 0..3 {
        let log = record(&folder, &own, &[program, "5", "8"]);
        let (news, _) = agrees_with_the_allocator(&folder, &log);
        assert!(news > 16_000, "{news} in threads");
        let stats = folder.stats(&log);
        assert_eq!(stats.number("order_breaks") + stats.number("order_gaps"), 0);
    }
    let logs = folder.folder("logs");
    let mut command = folder.memlog(&["record", "-o"]);
    command
        .arg(&logs)
        .args(["sh", "-c", "\"$0\" 5 4 1", program]);
    let output = command.env("LD_PRELOAD", &own).output().expect("runs");
    assert!(output.status.success(), "{}", sites::said(&output));
    let logs = folder.logs("logs");
    let children: Vec<_> = logs
        .iter()
        .map(|log| Recorded::read(log).expect("a log"))
        .filter(|log| log.exe.ends_with(b"/operators") && log.parent_pid.is_some())
        .filter(|log| !log.heap.is_empty() && operators(log).1 == 250)
        .collect();
    let [child] = children.as_slice() else {
        panic!(
            "one child with 250 releases, not {}: {logs:?}",
            children.len()
        );
    };
    assert_eq!(operators(child), (100, 250));
    let stats = folder.stats(&child.path);
    assert_eq!(stats.number("inherited_released_blocks"), 250);
    folder.holds_whole(&child.path);
}

/// Where they end in malloc the operators' library leaves no trace: the second
/// recorder, which lies below, tells the same, and the sites are the same.
#[test]
fn plain_operators_are_only_passed() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-plain");
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let words = ["--cxx-operators", program.to_str().expect("text")];
    let log = record(&folder, Path::new(""), &words);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    assert_eq!(operators(&Recorded::read(&log).expect("a log")), (0, 0));
    let dump = folder.says(&["dump".as_ref(), log.as_os_str()]);
    assert!(!dump.contains("libmemlog_new"), "a frame of the shim");

    let run = tools::Folder::new("operators-plain");
    let mut command = pairs::command(&program, &run, &tools().gold);
    let folder_of_ours = tools().memlog.with_file_name("");
    let list = ["libmemlog.so", "libmemlog_new.so", "libgold.so"];
    let list = list.map(|name| folder_of_ours.join(name).display().to_string());
    command.env("LD_PRELOAD", list.join(":")).args(["20", "4"]);
    assert!(command.status().expect("starts").success());
    let mut totals = Totals::default();
    totals.take(&pairs::collect(&run), |_| false);
    totals.assert_fine();
    assert!(totals.events > 20_000, "only {} events", totals.events);
}

/// Those that people use. What ends in malloc there is recorded as that.
#[test]
fn the_allocators_of_debian() {
    if !GXX.is_here("the allocators of Debian") {
        return;
    }
    let folder = Folder::new("operators-debian");
    for source in ["sites.cpp", "only_new.cpp", "operators.cpp"] {
        let program = GXX.build(&folder, source, "program", &[] as &[&str]);
        for name in DEBIAN {
            let library = Path::new(LIBRARIES).join(name);
            if !library.exists() {
                println!("SKIPPED {name} is not installed");
                continue;
            }
            // Its operator new ends the program where it has no memory.
            if source == "operators.cpp" && name.contains("mimalloc") {
                continue;
            }
            let log = record(&folder, &library, &[program.to_str().expect("text")]);
            agrees_at("heap-peak", &folder, &log, &[source], Others::Runtime);
            folder.holds_whole(&log);
            let (news, deletes) = operators(&Recorded::read(&log).expect("a log"));
            println!("{name} {source}: {news} by operator new, {deletes} by delete");
            assert!(news > 2_000, "{name} {source}: {news} by operator new");
        }
    }
}

/// The library is loaded where it is needed or asked for, and not elsewhere.
#[test]
fn the_list_of_what_is_preloaded() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-list");
    let own = allocator(&folder, "libown.so", &[]);
    let list = |preload: &Path, words: &[&str]| {
        let mut command = folder.memlog(&["record"]);
        command.args(words).args(["sh", "-c", "echo $LD_PRELOAD"]);
        let output = command.env("LD_PRELOAD", preload).output().expect("runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let names = text.trim().split(':');
        let names = names.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
        names.collect::<Vec<_>>()
    };
    let none = Path::new("");
    assert_eq!(list(none, &[]), ["libmemlog.so"]);
    let both = ["libmemlog.so", "libmemlog_new.so"];
    assert_eq!(list(none, &["--cxx-operators"]), both);
    assert_eq!(list(&own, &[]), [&both[..], &["libown.so"]].concat());
    // What is not to be recorded is rid of both.
    let words = ["--cxx-operators", "--follow-exec", "no"];
    let left: Vec<_> = list(none, &words)
        .concat()
        .chars()
        .filter(|c| *c != ':')
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// By hand, without the operators' library: the log says what is missing, and
/// the remedy.
#[test]
fn the_log_says_that_operators_are_not_recorded() {
    if !GXX.is_here("operators") {
        return;
    }
    let folder = Folder::new("operators-note");
    let own = allocator(&folder, "libown.so", &[]);
    let program = GXX.build(&folder, "operators.cpp", "operators", &[] as &[&str]);
    let lib = folder.recorder();
    for (libraries, notes) in [
        (&["libmemlog.so"][..], 1),
        (&["libmemlog.so", "libmemlog_new.so"][..], 0),
    ] {
        let log = folder.path("note.memlog");
        let ours = libraries.iter().map(|name| lib.join(name));
        let list: Vec<_> = ours.chain([own.clone()]).collect();
        let list: Vec<_> = list.iter().map(|path| path.display().to_string()).collect();
        let mut command = folder.command(&program);
        command
            .env("LD_PRELOAD", list.join(":"))
            .env("MEMLOG_OUTPUT", &log);
        assert!(command.status().expect("starts").success());
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        assert_eq!(info.matches("--cxx-operators").count(), notes, "{info}");
        fs::remove_file(log).expect("remove");
    }
}
