//! C++'s operator new and delete of allocators that do not end in malloc: known
//! sites to the byte, as many events as the allocator itself counts, and
//! nothing but a jump where they do end in malloc.

mod common;
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
/// Those that it has as archives, and what they want to be linked with.
const ARCHIVES: &[(&str, &[&str])] = &[
    ("libjemalloc.a", &["-ljemalloc"]),
    ("libtcmalloc_minimal.a", &["-ltcmalloc_minimal"]),
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
    is_whole(folder, log);
    said
}

#[track_caller]
fn is_whole(folder: &Folder, log: &Path) {
    let stats = folder.stats(log);
    for name in [
        "lost_events",
        "stackless_allocations",
        "allocations_of_live_addresses",
        "findings_count",
    ] {
        assert_eq!(stats.number(name), 0, "{name}: {}", stats.value("findings"));
    }
    for kind in ["twice", "before_start"] {
        let unknown = &stats.value("unknown_releases")[kind];
        assert_eq!(*unknown, 0, "releases of unknown blocks: {kind}");
    }
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
    is_whole(&folder, &log);
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
    is_whole(&folder, &child.path);
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

/// Builds a C program that loads two C++ plugins, RTLD_LOCAL, and those.
fn plugins(folder: &Folder, program: &str, link: &[Vec<String>; 2]) -> PathBuf {
    for (name, size, link) in [("a", "1000", &link[0]), ("b", "3000", &link[1])] {
        let mut flags: Vec<String> = ["-fPIC", "-shared", "-fno-gnu-unique"]
            .map(Into::into)
            .into();
        flags.extend([format!("-DPLUGIN={name}"), format!("-DSIZE={size}")]);
        flags.extend(link.iter().cloned());
        GXX.build(folder, "plugin.cpp", &format!("plugin_{name}.so"), &flags);
    }
    GCC.build(folder, program, "program", &["-ldl"])
}

/// How many blocks functions have asked for, by name.
fn calls(folder: &Folder, log: &Path, function: &str) -> usize {
    let dump = folder.says(&["dump".as_ref(), log.as_os_str()]);
    let is_it = |line: &&str| line.starts_with("M: ") && line.contains(function);
    dump.lines().filter(is_it).count()
}

/// What two plugins are linked with, each way in which they can differ in their
/// allocators; and whether both have one of their own, and nothing else.
fn ways_to_link(folder: &Folder) -> Vec<([Vec<String>; 2], bool)> {
    let no_runtime = ["-DNO_RUNTIME", "-Wl,--as-needed", "-fno-exceptions"];
    let own = |name: &str, more: &[&str]| {
        let library = allocator(folder, name, &no_runtime);
        let rpath = format!("-Wl,-rpath,{}", folder.root().display());
        let mut link = vec![library.display().to_string(), rpath];
        link.extend(more.iter().map(|flag| flag.to_string()));
        link
    };
    let alone = ["-DONLY_NEW", "-Wl,--as-needed", "-fno-exceptions"];
    let first = || own("libfirst.so", &[]);
    let (first_alone, second_alone) = (own("libfirst.so", &alone), own("libsecond.so", &alone));
    vec![
        ([vec![], vec![]], false),
        ([first(), vec![]], false),
        ([vec![], first()], false),
        // Nothing there ends in malloc.
        ([first_alone.clone(), second_alone], true),
        // Nothing did when the first block was made.
        ([first_alone, vec![]], false),
    ]
}

/// Their operators are found although they are for nobody else, and looked for
/// anew when a plugin with its allocator is gone.
#[test]
fn plugins_of_a_c_program() {
    if !GXX.is_here("plugins with operators") {
        return;
    }
    let folder = Folder::new("operators-plugins");
    for (link, are_own) in ways_to_link(&folder) {
        let program = plugins(&folder, "dlopen_plugin.c", &link);
        let words = ["--cxx-operators", program.to_str().expect("text"), "30"];
        let log = record(&folder, Path::new(""), &words);
        is_whole(&folder, &log);
        for function in ["a_block", "b_block"] {
            assert_eq!(calls(&folder, &log, function), 300, "{function}, {link:?}");
        }
        if are_own {
            let said = agrees_with_the_allocator(&folder, &log);
            assert_eq!(said, (600, 600), "{link:?}");
        }
    }
}

/// A block is given back to who gave it, whatever was loaded and unloaded in
/// between, and while another thread allocates.
#[test]
fn plugins_that_come_and_go_beside_one_that_stays() {
    if !GXX.is_here("plugins with operators") {
        return;
    }
    let folder = Folder::new("operators-kept");
    for (link, are_own) in ways_to_link(&folder) {
        let program = plugins(&folder, "plugins_kept.c", &link);
        for thread in ["0", "1"] {
            let program = program.to_str().expect("text");
            let words = ["--cxx-operators", program, "50", thread];
            let log = record(&folder, Path::new(""), &words);
            is_whole(&folder, &log);
            assert_eq!(calls(&folder, &log, "b_block"), 500, "{link:?}");
            assert_eq!(calls(&folder, &log, "plugin_keep"), 50, "{link:?}");
            if are_own && thread == "0" {
                // One allocator serves, as long as its plugin stays.
                let said = agrees_with_the_allocator(&folder, &log);
                assert_eq!(said, (550, 550), "{link:?}");
            }
        }
    }
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
            is_whole(&folder, &log);
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

/// `operators.cpp` linked with the recorder's flags in front of it or behind, and
/// then with an allocator.
#[track_caller]
fn linked(folder: &Folder, flags: &str, in_front: bool, more: &[&str]) -> PathBuf {
    let program = folder.path("linked");
    let flags = format!("@{}/{flags}", folder.recorder().display());
    let source = sites::victim("operators.cpp");
    let source = source.to_str().expect("text");
    let both = match in_front {
        true => [flags.as_str(), source],
        false => [source, flags.as_str()],
    };
    let mut command = folder.command(GXX.name);
    command.args(GXX.options).args(both).arg("-o").arg(&program);
    let output = command.args(more).output().expect("a compiler");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        sites::said(&output)
    );
    program
}

/// Runs a program that records itself; its log.
#[track_caller]
fn run_linked(folder: &Folder, program: &Path, words: &[&str]) -> PathBuf {
    let log = folder.path("linked.memlog");
    for old in [&log, &folder.path("counted")] {
        let _ = fs::remove_file(old);
    }
    let mut command = folder.command(program);
    command.args(words).env("MEMLOG_OUTPUT", &log);
    command.env("OWN_OPERATORS_COUNT", folder.path("counted"));
    let status = command.status().expect("the program starts");
    assert!(status.success(), "{command:?}: {status}");
    log
}

const CXX_FLAGS: &str = "memlog_s_cxx_ld_cmds";

/// What `operators.cpp` asks of operator new and delete.
const ASKED: (u64, u64) = (2450, 1850);

/// An allocator's operators, linked into the program.
#[test]
fn every_operator_of_a_static_allocator() {
    if !GXX.is_here("static operators") {
        return;
    }
    let folder = Folder::new("operators-static");
    let object = GXX.build(&folder, "own_operators.cpp", "own.o", &["-c"]);
    let object = object.to_str().expect("text");
    for kind in ["-static", "-static-pie"] {
        for in_front in [true, false] {
            let program = linked(&folder, CXX_FLAGS, in_front, &[object, kind]);
            let log = run_linked(&folder, &program, &[]);
            agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
            assert_eq!(agrees_with_the_allocator(&folder, &log), ASKED, "{kind}");
        }
    }
    let program = linked(&folder, CXX_FLAGS, false, &[object, "-static"]);
    for _ in 0..3 {
        let log = run_linked(&folder, &program, &["5", "8"]);
        let (news, _) = agrees_with_the_allocator(&folder, &log);
        assert!(news > 16_000, "{news} in threads");
    }
}

/// What the static allocator lacks is the C++ library's, which ends in what it
/// has; and what ends in malloc is recorded once: as that, where --wrap sees it.
#[test]
fn static_operators_that_end_elsewhere() {
    if !GXX.is_here("static operators") {
        return;
    }
    let folder = Folder::new("operators-static-some");
    let build = |shape: &str| {
        let object = GXX.build(&folder, "own_operators.cpp", "own.o", &["-c", shape]);
        let more = [object.to_str().expect("text"), "-static"];
        run_linked(&folder, &linked(&folder, CXX_FLAGS, false, &more), &[])
    };
    let log = build("-DONLY_SCALAR");
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    is_whole(&folder, &log);
    let recorded = Recorded::read(&log).expect("a log");
    // Every operator delete is told as that once one operator new is own.
    let (news, _) = counted(&folder)[&recorded.pid];
    assert_eq!(operators(&recorded), (news, ASKED.1));

    let log = build("-DBY_MALLOC");
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    is_whole(&folder, &log);
    // A call within its own object is nothing that --wrap sees.
    assert_eq!(operators(&Recorded::read(&log).expect("a log")), ASKED);

    let program = linked(&folder, CXX_FLAGS, true, &["-static"]);
    let log = run_linked(&folder, &program, &[]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    is_whole(&folder, &log);
    assert_eq!(operators(&Recorded::read(&log).expect("a log")), (0, 0));
    let dump = folder.says(&["dump".as_ref(), log.as_os_str()]);
    assert!(!dump.contains("(memlog_new"), "a frame of the shim");
}

/// Those that people link. Without the operators' flags the log says what is
/// missing, if anything may be.
#[test]
fn the_static_allocators_of_debian() {
    if !GXX.is_here("the static allocators of Debian") {
        return;
    }
    let folder = Folder::new("operators-static-debian");
    let notes = |log: &Path| {
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        info.matches("--cxx-operators").count()
    };
    for (archive, link) in ARCHIVES {
        if !Path::new(LIBRARIES).join(archive).exists() {
            println!("SKIPPED {archive} is not installed");
            continue;
        }
        let link = [*link, &["-static"]].concat();
        let program = linked(&folder, CXX_FLAGS, false, &link);
        let log = run_linked(&folder, &program, &[]);
        agrees_at(
            "heap-peak",
            &folder,
            &log,
            &["operators.cpp"],
            Others::Runtime,
        );
        is_whole(&folder, &log);
        // jemalloc's with an alignment end in aligned_alloc.
        let recorded = Recorded::read(&log).expect("a log");
        let is_aligned = |api: u8| api == Api::AlignedAlloc as u8;
        let aligned = recorded.heap.iter().filter(|event| is_aligned(event.api));
        let (news, deletes) = operators(&recorded);
        assert!(news > 2_000, "{archive}: {news} by operator new");
        assert_eq!((news + aligned.count() as u64, deletes), ASKED, "{archive}");
        assert_eq!(notes(&log), 0, "{archive}");

        let program = linked(&folder, "memlog_s_ld_cmds", false, &link);
        assert_eq!(notes(&run_linked(&folder, &program, &[])), 1, "{archive}");
    }
    let program = linked(&folder, "memlog_s_ld_cmds", false, &["-static"]);
    assert_eq!(notes(&run_linked(&folder, &program, &[])), 0, "glibc");
    if Path::new(LIBRARIES).join(ARCHIVES[0].0).exists() {
        // A C program has no operators, and no C++ library.
        let flags = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
        let link = ["-static", &flags, "-ljemalloc", "-lm"];
        let program = GCC.build(&folder, "sites.c", "sites", &link);
        let log = run_linked(&folder, &program, &[]);
        agrees_at("heap-peak", &folder, &log, &["sites.c"], Others::Runtime);
        assert_eq!(notes(&log), 0, "a C program");
    }
}
