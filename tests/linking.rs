//! Every way to get the recorder into a program, with programs whose sites are
//! known: preloaded, linked with -lmemlog, and linked in by `__wrap`. Each log
//! must hold exactly those sites, by function and line, at the peak and the end.

mod sites;

use std::path::{Path, PathBuf};

use sites::Folder;
use sites::build::{CLANG, CLANGXX, Compiler, GCC, GFORTRAN, GXX, RUSTC, rust_target};
use sites::known::{Others, agrees};
use sites::tree::{Held, Tree};

/// A compiler, the source, and who else allocates in a dynamic program.
const PROGRAMS: &[(Compiler, &str, Others)] = &[
    (GCC, "sites.c", Others::Nobody),
    (GXX, "sites.cpp", Others::Runtime),
    (GXX, "only_new.cpp", Others::Runtime),
    (GFORTRAN, "sites.f90", Others::Runtime),
    (CLANG, "sites.c", Others::Nobody),
    (CLANGXX, "sites.cpp", Others::Runtime),
    (RUSTC, "sites.rs", Others::Runtime),
];

/// The original memlog's link line, to the letter.
const BY_HAND: &str = "-Wl,--wrap,malloc,--wrap,free,--wrap,realloc,--wrap,calloc,--wrap,memalign memlog_s.o -lpthread -ldl";

/// Builds each of the programs whose compiler is here and hands it on.
#[track_caller]
fn each(
    folder: &Folder,
    programs: &[(Compiler, &str, Others)],
    flags: impl Fn(&Compiler) -> Vec<String>,
    check: impl Fn(&Path, &str, Others),
) {
    let mut built = 0;
    for (compiler, source, others) in programs {
        if compiler.is_here(source) {
            let name = format!("{}-{source}.out", compiler.name);
            let program = compiler.build(folder, source, &name, &flags(compiler));
            check(&program, source, *others);
            built += 1;
        }
    }
    assert!(built > 0, "nothing was built");
}

/// Runs a program that records itself; its log.
#[track_caller]
fn run_itself(folder: &Folder, program: &Path, words: &[&str]) -> PathBuf {
    let log = program.with_extension("memlog");
    let mut command = folder.command(program);
    let output = command.args(words).env("MEMLOG_OUTPUT", &log).output();
    let output = output.expect("the program runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert!(log.is_file(), "{command:?} made no log");
    log
}

/// What the allocator says of a block that is freed twice it still says.
#[test]
fn blocks_freed_twice() {
    let folder = Folder::new("freed-twice");
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let library = folder.recorder().join("libmemlog.so");
    let said = |name: &str, flags: &[&str], preload: Option<&Path>| {
        let program = GCC.build(&folder, "freed_twice.c", name, &[flags, &["-w"]].concat());
        let mut command = folder.command(&program);
        command.env("MEMLOG_OUTPUT", "it.%p.memlog");
        command.envs(preload.map(|library| ("LD_PRELOAD", library)));
        let output = command.output().expect("the program runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let native = said("native", &[], None);
    assert_eq!(native.lines().count(), 36);
    assert!(native.contains(": 1006\n"), "nobody aborts: {native}");
    assert_eq!(said("native", &[], Some(&library)), native);
    let native = said("static", &["-static"], None);
    assert_eq!(said("with", &["-static", &file], None), native);
    assert!(folder.logs("").len() >= 2, "two of them are recorded");
}

fn words(flags: &str) -> Vec<String> {
    flags.split_whitespace().map(str::to_owned).collect()
}

fn in_static(others: Others) -> Others {
    match others {
        Others::Nobody => Others::StaticLibc,
        others => others,
    }
}

#[test]
fn preloaded() {
    let folder = Folder::new("preloaded");
    let none = |_: &Compiler| Vec::new();
    each(&folder, PROGRAMS, none, |program, source, others| {
        let log = program.with_extension("memlog");
        let record = ["record", "-o"].map(AsRef::as_ref);
        folder.says(&[record.as_slice(), &[log.as_os_str(), program.as_os_str()]].concat());
        agrees(&folder, &log, &[source], others);
    });
}

/// All but the Rust program.
fn without_rust() -> Vec<(Compiler, &'static str, Others)> {
    let programs = PROGRAMS.iter().copied();
    programs
        .filter(|(compiler, ..)| compiler.name != RUSTC.name)
        .collect()
}

/// rustc puts what it hands to the linker behind -lc, where it comes too late:
/// the C library is asked for malloc first.
#[test]
fn linked_with_ldflags_dynamic() {
    let folder = Folder::new("dynamic");
    let flags = words(&folder.says(&["ldflags", "--dynamic"]));
    let flags = |_: &Compiler| flags.clone();
    each(
        &folder,
        &without_rust(),
        flags,
        |program, source, others| {
            let log = run_itself(&folder, program, &[]);
            agrees(&folder, &log, &[source], others);
        },
    );
}

/// With `@memlog_s_ld_cmds`, which stands beside the archive.
#[track_caller]
fn linked_with_the_file_of_flags(name: &str, kind: &'static str) {
    let folder = Folder::new(name);
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let flags = |_: &Compiler| vec![kind.to_owned(), file.clone()];
    each(
        &folder,
        &without_rust(),
        flags,
        |program, source, others| {
            let log = run_itself(&folder, program, &[]);
            agrees(&folder, &log, &[source], in_static(others));
        },
    );
}

#[test]
fn linked_statically() {
    linked_with_the_file_of_flags("static", "-static");
}

#[test]
fn linked_as_static_pie() {
    linked_with_the_file_of_flags("static-pie", "-static-pie");
}

/// The flags for static programs in one with shared libraries: what those
/// allocate does not come to the recorder, and the log says so. Beside another
/// recorder it keeps still: one log, which has every block once.
#[test]
fn a_dynamic_program_with_the_static_flags() {
    let folder = Folder::new("static-in-dynamic");
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    let notes = |log: &Path| {
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        info.matches("uses shared libraries").count()
    };
    let program = GCC.build(&folder, "sites.c", "sites.out", &[&file]);
    let log = run_itself(&folder, &program, &[]);
    agrees(&folder, &log, &["sites.c"], Others::Nobody);
    assert_eq!(notes(&log), 1, "alone");
    std::fs::remove_file(log).expect("remove");

    let shared = words(&folder.says(&["ldflags", "--dynamic"]));
    let both = [std::slice::from_ref(&file), shared.as_slice()].concat();
    let linked = GCC.build(&folder, "sites.c", "both.out", &both);
    let preload = folder.recorder().join("libmemlog.so");
    for (program, preload) in [(&program, preload.as_path()), (&linked, Path::new(""))] {
        let mut command = folder.command(program);
        command.env("MEMLOG_OUTPUT", folder.path("it.%p.memlog"));
        command.env("LD_PRELOAD", preload);
        assert!(command.status().expect("starts").success());
        let logs = folder.logs("");
        let [log] = logs.as_slice() else {
            panic!("one log, not {logs:?}");
        };
        agrees(&folder, log, &["sites.c"], Others::Nobody);
        assert_eq!(notes(log), 0, "beside another");
        std::fs::remove_file(log).expect("remove");
    }
    let program = GCC.build(&folder, "sites.c", "static.out", &["-static", &file]);
    assert_eq!(notes(&run_itself(&folder, &program, &[])), 0, "static");
}

/// `ldflags --static` says the same as the file, in words.
#[test]
fn linked_with_ldflags_static() {
    let folder = Folder::new("ldflags-static");
    let mut flags = words(&folder.says(&["ldflags", "--static"]));
    flags.push("-static".into());
    let program = GCC.build(&folder, "sites.c", "sites.out", &flags);
    let log = run_itself(&folder, &program, &[]);
    agrees(&folder, &log, &["sites.c"], Others::StaticLibc);
}

#[test]
fn a_rust_program_linked_statically() {
    if !RUSTC.is_here("a static Rust program") {
        return;
    }
    let folder = Folder::new("rust");
    let file = folder.recorder().join("memlog_s_ld_cmds");
    let link = format!("link-arg=@{}", file.display());
    let target = rust_target();
    let options = [
        "--target",
        &target,
        "-C",
        "target-feature=+crt-static",
        "-C",
        &link,
    ];
    for (name, model) in [
        ("static.out", "relocation-model=static"),
        ("pie.out", "relocation-model=pie"),
    ] {
        let options = [options.as_slice(), &["-C", model]].concat();
        let program = RUSTC.build(&folder, "sites.rs", name, &options);
        let log = run_itself(&folder, &program, &[]);
        agrees(&folder, &log, &["sites.rs"], Others::Runtime);
    }
}

/// Builds the Rust half; `None` without rustc.
fn rust_half(folder: &Folder) -> Option<String> {
    let options = [
        "-C",
        "panic=abort",
        "--crate-type=staticlib",
        "--crate-name=rust_half",
    ];
    RUSTC.is_here("a C program with a Rust library").then(|| {
        let archive = RUSTC.build(folder, "rust_staticlib/lib.rs", "librust_half.a", &options);
        archive.display().to_string()
    })
}

const HALVES: &[&str] = &["rust_staticlib/main.c", "rust_staticlib/lib.rs"];

#[test]
fn a_c_program_with_a_rust_library() {
    let folder = Folder::new("half");
    let Some(archive) = rust_half(&folder) else {
        return;
    };
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    for kind in ["-static", "-static-pie"] {
        let flags = [archive.as_str(), kind, &file, "-lm"];
        let program = GCC.build(&folder, HALVES[0], &format!("half{kind}.out"), &flags);
        let log = run_itself(&folder, &program, &[]);
        agrees(&folder, &log, HALVES, Others::StaticLibc);
    }
}

/// Only five names are seen: all that these programs use, where operator new
/// is the program's own copy, or not used.
#[test]
fn linked_with_the_original_line() {
    let folder = Folder::new("by-hand");
    let recorder = folder.recorder().join("memlog_s.o");
    std::fs::copy(recorder, folder.path("memlog_s.o")).expect("copy");
    for kind in ["-static", "-static-pie", ""] {
        let programs = if kind.is_empty() {
            &PROGRAMS[..1]
        } else {
            &PROGRAMS[..5]
        };
        let programs = programs.iter().copied();
        let programs: Vec<_> = programs
            .filter(|(_, source, _)| *source != "sites.cpp")
            .collect();
        let flags = |_: &Compiler| words(&format!("{BY_HAND} {kind}"));
        each(&folder, &programs, flags, |program, source, others| {
            let others = if kind.is_empty() {
                others
            } else {
                in_static(others)
            };
            let log = run_itself(&folder, program, &[]);
            agrees(&folder, &log, &[source], others);
            std::fs::remove_file(log).expect("remove");
        });
    }
}

#[test]
fn a_rust_library_with_the_original_line() {
    let folder = Folder::new("by-hand-half");
    let Some(archive) = rust_half(&folder) else {
        return;
    };
    let recorder = folder.recorder().join("memlog_s.o");
    std::fs::copy(recorder, folder.path("memlog_s.o")).expect("copy");
    let line = words(&format!("{archive} {BY_HAND} -static -lm"));
    let program = GCC.build(&folder, HALVES[0], "half.out", &line);
    let log = run_itself(&folder, &program, &[]);
    agrees(&folder, &log, HALVES, Others::StaticLibc);
}

/// How often a function called the allocator, by the log's dump.
fn calls(folder: &Folder, log: &Path, function: &str) -> u64 {
    let dump = folder.says(&["dump".as_ref(), log.as_os_str()]);
    let symbol = format!("({function}+0x");
    let is_it = |line: &&str| {
        let innermost = line.split('\t').nth(2);
        line.starts_with("M: ") && innermost.is_some_and(|frame| frame.contains(&symbol))
    };
    dump.lines().filter(is_it).count() as u64
}

/// A static program with threads, a function of it, how often that allocates
/// and how many of its blocks are left.
#[track_caller]
fn threads(source: &str, argument: &str, function: &str, allocations: u64, left: u64) {
    let folder = Folder::new(source);
    let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
    for kind in ["-static", "-static-pie"] {
        let name = format!("{source}{kind}.out");
        let program = GCC.build(&folder, source, &name, &[kind, &file]);
        let log = run_itself(&folder, &program, &[argument]);
        let stats = folder.stats(&log);
        assert_eq!(stats.number("threads"), 9, "{source} {kind}");
        for name in [
            "lost_events",
            "allocations_of_live_addresses",
            "findings_count",
        ] {
            assert_eq!(stats.number(name), 0, "{source} {kind}: {name}");
        }
        assert_eq!(
            calls(&folder, &log, function),
            allocations,
            "{source} {kind}"
        );
        let report = ["report", "--no-fold", "-t", "0", "--at", "end"].map(AsRef::as_ref);
        let report = folder.says(&[report.as_slice(), &[log.as_os_str()]].concat());
        let held: Held = Tree::read(&report).of(function);
        assert_eq!(held.blocks, left, "{source} {kind}: {report}");
    }
}

#[test]
fn static_threads_with_blocks_of_their_own() {
    threads("threads8.c", "5000", "one_block", 8 * (5000 + 64), 8);
}

#[test]
fn static_threads_that_free_each_other_s_blocks() {
    threads("crossfree.c", "5000", "produce", 4 * 5000, 0);
}

#[test]
fn static_threads_that_race_in_realloc() {
    threads(
        "realloc_race.c",
        "1600",
        "resize",
        12 + 8 * (3 * 1600 + 100),
        0,
    );
}
