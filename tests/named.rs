//! Allocators of other names than malloc: those of a library, of the program
//! itself, and those of jemalloc, mimalloc and tcmalloc. The programs say how
//! many blocks they got and gave back.

mod common;
mod sites;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::logs::Recorded;
use memlog_format::api::Api;
use sites::build::{GCC, GXX};
use sites::{Folder, said};

/// What pools.c has.
const FUNCTIONS: &[&str] = &[
    "pool_get(size)=pool_put(ptr)",
    "wrap_get(size)=wrap_put(ptr),free(ptr)",
    "wrap_move(ptr,size)",
    "wrap_aligned(out,align,size)",
    "fails(size)",
    "text_of(string)",
    "arena_create()",
    "arena_get(_,count,size)",
];

fn options() -> Vec<&'static str> {
    FUNCTIONS
        .iter()
        .flat_map(|function| ["--alloc-func", function])
        .collect()
}

fn build(folder: &Folder) -> PathBuf {
    GCC.build(folder, "pools.c", "libpools.so", &["-fPIC", "-shared"]);
    let rpath = format!("-Wl,-rpath,{}", folder.root().display());
    let library = folder.path("libpools.so");
    let link = [library.to_str().expect("text"), &rpath];
    GCC.build(folder, "pool_user.c", "pool_user", &link)
}

/// Runs a program so that its log is the only one in `logs`; what it printed,
/// the log, and what memlog said.
#[track_caller]
fn run(folder: &Folder, mut command: Command) -> (Vec<u64>, PathBuf, String) {
    for log in folder.logs("logs") {
        std::fs::remove_file(log).expect("remove");
    }
    let output = command.output().expect("it runs");
    let words = said(&output);
    assert!(output.status.success(), "{}: {words}", output.status);
    let text = String::from_utf8(output.stdout).expect("text");
    let numbers = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"));
    let logs = folder.logs("logs");
    let [log] = logs.as_slice() else {
        panic!("one log, not {logs:?}: {words}");
    };
    (numbers.collect(), log.clone(), words)
}

#[track_caller]
fn record(folder: &Folder, options: &[&str], program: &Path) -> (Vec<u64>, PathBuf, String) {
    let logs = folder.folder("logs");
    let mut command = folder.memlog(&["record", "-o"]);
    command.arg(logs).args(options).arg(program);
    run(folder, command)
}

/// Allocations, bytes, releases, and bytes at the end, as the program counted
/// them: calloc is the C library's, for its threads.
#[track_caller]
fn agrees(folder: &Folder, log: &Path, truth: &[u64]) {
    let recorded = Recorded::read(log).expect("a log");
    let of_libc = |event: &&common::Event| event.api == Api::Calloc as u8 && event.size != 30;
    let came = || recorded.heap.iter().filter(|event| !event.is_release);
    let allocations = came().filter(|event| !of_libc(event)).count() as u64;
    let bytes: u64 = came()
        .filter(|event| !of_libc(event))
        .map(|event| event.size)
        .sum();
    let of_threads: u64 = came().filter(of_libc).map(|event| event.size).sum();
    let stats = folder.stats(log);
    let releases = recorded
        .heap
        .iter()
        .filter(|event| event.is_release)
        .count() as u64;
    let live = stats.number("end_live_bytes") - of_threads;
    assert_eq!(
        [allocations, bytes, releases, live],
        truth,
        "{}",
        stats.value("findings")
    );
    folder.holds_whole(log);
}

/// Slabs are nobody's blocks, also where the first block has their address; what
/// a wrapper hands on is one.
#[test]
fn blocks_of_pools_and_not_their_slabs() {
    if !GCC.is_here("pools") {
        return;
    }
    let folder = Folder::new("named-pools");
    let program = build(&folder);
    let (truth, log, words) = record(&folder, &options(), &program);
    agrees(&folder, &log, &truth);
    assert!(!words.contains("was not recorded"), "{words}");
    // Who asked for the memory is told, and not the pool.
    let report = folder.says(&[
        "report".as_ref(),
        "--at".as_ref(),
        "end".as_ref(),
        log.as_os_str(),
    ]);
    assert!(report.contains("pool_user.c"), "{report}");
    assert!(!report.contains("pools.c"), "{report}");
}

/// Without the option nothing is other than it was.
#[test]
fn only_what_is_named_is_hooked() {
    if !GCC.is_here("pools") {
        return;
    }
    let folder = Folder::new("named-not");
    let program = build(&folder);
    let (truth, log, _) = record(&folder, &[], &program);
    let recorded = Recorded::read(&log).expect("a log");
    let slab = 256 * 64;
    assert!(
        recorded.heap.iter().any(|event| event.size == slab),
        "slabs are malloc's"
    );
    assert_ne!(recorded.heap.len() as u64, truth[0] + truth[2]);
}

/// Whatever is not recorded is told, with the way out.
#[test]
fn what_nobody_called_is_told() {
    if !GCC.is_here("pools") {
        return;
    }
    let folder = Folder::new("named-missed");
    let program = build(&folder);
    let named = |spec| ["--alloc-func", spec];
    let specs = [
        "nowhere(size)",
        "main(size)",
        "wrap_put(ptr)",
        "qsort_r(size)",
    ];
    let options: Vec<&str> = specs.into_iter().flat_map(named).collect();
    let (_, _, words) = record(&folder, &options, &program);
    for (name, why) in [
        ("nowhere", "no object"),
        (
            "main",
            "`memlog ldflags --dynamic` and the same --alloc-func",
        ),
        ("qsort_r", "calls within a library"),
    ] {
        let line = words
            .lines()
            .find(|line| line.contains(&format!("{name} was not recorded")));
        assert!(line.is_some_and(|line| line.contains(why)), "{words}");
    }
    assert!(!words.contains("wrap_put was not"), "{words}");

    let wrong = folder.run(&["record", "--alloc-func", "pool_get(bytes)", "true"]);
    assert!(
        said(&wrong).contains("column 10: expected size"),
        "{}",
        said(&wrong)
    );
    assert!(!wrong.status.success());
}

/// An exception, and a jump, that leave a function leave nothing behind.
#[test]
fn a_function_may_be_left() {
    if !GXX.is_here("pools") {
        return;
    }
    let folder = Folder::new("named-left");
    GXX.build(
        &folder,
        "named_leaves.cpp",
        "libleaves.so",
        &["-fPIC", "-shared"],
    );
    let rpath = format!("-Wl,-rpath,{}", folder.root().display());
    let library = folder.path("libleaves.so");
    let link = ["-rdynamic", library.to_str().expect("text"), &rpath];
    let program = GXX.build(&folder, "named_throws.cpp", "throws", &link);
    let options = ["--alloc-func", "named_get(size)=named_put(ptr)"];
    let (truth, log, _) = record(&folder, &options, &program);
    let recorded = Recorded::read(&log).expect("a log");
    let given = |event: &&common::Event| !event.is_release && (100..400).contains(&event.size);
    let sizes = || recorded.heap.iter().filter(given).map(|event| event.size);
    assert_eq!([sizes().count() as u64, sizes().sum()], truth[..]);
    // What malloc gives in between.
    let plain = recorded.heap.iter().filter(|event| event.size == 7).count();
    assert_eq!(plain, 200);
    let stats = folder.stats(&log);
    for name in ["lost_events", "counters.lost_abandoned", "findings_count"] {
        let value = name
            .split('.')
            .fold(None, |above: Option<&serde_json::Value>, part| {
                Some(above.map_or_else(|| stats.value(part), |above| &above[part]))
            });
        assert_eq!(value.and_then(serde_json::Value::as_u64), Some(0), "{name}");
    }
}

/// In the program's own file, however it is linked.
#[test]
fn functions_of_the_program_itself() {
    if !GCC.is_here("pools") {
        return;
    }
    let folder = Folder::new("named-linked");
    let object = folder.path("pools.o");
    GCC.build(&folder, "pools.c", "pools.o", &["-c"]);
    let archive = folder.path("libpools.a");
    let made = Command::new("ar")
        .arg("rcs")
        .arg(&archive)
        .arg(&object)
        .status();
    assert!(made.expect("ar").success());
    let archive = archive.to_str().expect("text");
    for (kind, how) in [
        ("--static", "-static"),
        ("--static", "-static-pie"),
        ("--dynamic", "-pie"),
        ("--dynamic", "-no-pie"),
    ] {
        let asked = [&["ldflags", kind], options().as_slice()].concat();
        let flags = folder.says(&asked);
        // The archive stands before the flags, as build systems have it.
        let mut link = vec![how, archive];
        link.extend(flags.split_whitespace());
        let program = GCC.build(&folder, "pool_user.c", "linked", &link);
        let mut command = folder.command(program);
        command.env("MEMLOG_DIR", folder.folder("logs"));
        // The C library of a static program has a block for each folder in it.
        command.env_remove("LD_LIBRARY_PATH");
        let (truth, log, _) = run(&folder, command);
        // In a static program the C library's own malloc calls come by too.
        let recorded = Recorded::read(&log).expect("a log");
        let came = recorded.heap.iter().filter(|event| !event.is_release);
        if kind == "--dynamic" {
            agrees(&folder, &log, &truth);
        } else {
            assert!((came.count() as u64).abs_diff(truth[0]) < 20, "{how}");
            folder.holds_whole(&log);
        }
    }
    let refused = folder.run(&["ldflags", "--static", "--wrap", "pool_get"]);
    assert!(
        said(&refused).contains("--alloc-func 'pool_get(size)"),
        "{}",
        said(&refused)
    );
}

/// Under which name an allocator is in Debian.
const DEBIAN: &[(&str, &str)] = &[
    ("-DJEMALLOC", "libjemalloc.so.2"),
    ("-DMIMALLOC", "libmimalloc.so.2"),
    ("-DTCMALLOC", "libtcmalloc_minimal.so.4"),
];
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// Known names need not be given. What the library does at its start is in both
/// runs.
#[test]
fn names_of_known_allocators() {
    if !GCC.is_here("known allocators") {
        return;
    }
    let folder = Folder::new("named-known");
    for (which, file) in DEBIAN {
        let library = Path::new(LIBRARIES).join(file);
        if !library.exists() {
            println!("SKIPPED known names: there is no {}", library.display());
            continue;
        }
        let link = [which, library.to_str().expect("text"), "-w"];
        let program = GCC.build(&folder, "named_known.c", "known", &link);
        let logs = folder.folder("logs");
        let ran = |rounds: &str| {
            let mut command = folder.memlog(&["record", "-o"]);
            command.arg(&logs).arg(&program).arg(rounds);
            let (truth, log, _) = run(&folder, command);
            folder.holds_whole(&log);
            let recorded = Recorded::read(&log).expect("a log");
            let came = recorded.heap.iter().filter(|event| !event.is_release);
            let bytes: u64 = came.map(|event| event.size).sum();
            let releases = recorded
                .heap
                .iter()
                .filter(|event| event.is_release)
                .count() as u64;
            let allocations = recorded.heap.len() as u64 - releases;
            let live = folder.stats(&log).number("end_live_bytes");
            (truth, [allocations, bytes, releases, live])
        };
        let (_, before) = ran("0");
        let (truth, after) = ran("1000");
        let more: Vec<u64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        assert_eq!(more, truth, "{file}");
    }
}
