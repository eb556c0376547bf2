//! Static programs: an allocator's operators, linked in by the recorder's flags.

use super::*;

/// Those that it has as archives, and what they want to be linked with.
const ARCHIVES: &[(&str, &[&str])] = &[
    ("libjemalloc.a", &["-ljemalloc"]),
    ("libtcmalloc_minimal.a", &["-ltcmalloc_minimal"]),
];

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
    folder.holds_whole(&log);
    let recorded = Recorded::read(&log).expect("a log");
    // Every operator delete is told as that once one operator new is own.
    let (news, _) = counted(&folder)[&recorded.pid];
    assert_eq!(operators(&recorded), (news, ASKED.1));

    let log = build("-DBY_MALLOC");
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    folder.holds_whole(&log);
    // A call within its own object is nothing that --wrap sees.
    assert_eq!(operators(&Recorded::read(&log).expect("a log")), ASKED);

    let program = linked(&folder, CXX_FLAGS, true, &["-static"]);
    let log = run_linked(&folder, &program, &[]);
    agrees(&folder, &log, &["operators.cpp"], Others::Runtime);
    folder.holds_whole(&log);
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
        folder.holds_whole(&log);
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
