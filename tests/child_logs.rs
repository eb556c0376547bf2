//! Forked children whose log meets an obstacle: the child goes on as without
//! memlog, and what is not recorded is said.

mod sites;

use memlog_format::meta::Key;
use memlog_read::Log;
use sites::build::GCC;
use sites::{Folder, said};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What was said, and the allocations of each log.
fn recorded(folder: &Folder, settings: &[(&str, &str)], way: &str) -> (String, Vec<u64>) {
    let program = GCC.build::<&str>(folder, "child_logs.c", "child_logs", &[]);
    let place = format!("{way}/");
    let mut command = folder.memlog(&["record", "-o", &place]);
    command.arg(program).arg(way).envs(settings.iter().copied());
    let output = command.output().expect("memlog runs");
    let told = said(&output);
    assert_eq!(output.status.code(), Some(7), "{way}: {told}");
    let logs = folder.logs(way);
    let allocations = logs
        .iter()
        .map(|log| folder.stats(log).number("allocations"));
    (told, allocations.collect())
}

/// The kernel ends by SIGXFSZ who writes beyond the limit.
#[test]
fn a_limit_on_files_that_comes_late_ends_nobody() {
    for (name, settings) in [
        ("mapped", &[][..]),
        ("written", &[("MEMLOG_SINK", "written")][..]),
    ] {
        let folder = Folder::new(&format!("child-limit-{name}"));
        let (told, allocations) = recorded(&folder, settings, "limit");
        // What is written may not even say that it is not whole.
        let is_whole = allocations.contains(&20_100) || name == "written";
        assert!(is_whole || told.contains("limit on files"), "{told}");
    }
}

/// Their counters lie where the file is mapped, which fails there.
#[test]
fn a_kernel_that_cannot_populate_pages_records_children() {
    let folder = Folder::new("child-old");
    let (told, allocations) = recorded(&folder, &[], "old");
    assert!(told.contains("nothing was lost"), "{told}");
    assert!(allocations.contains(&20_100), "{allocations:?}");
}

#[test]
fn a_child_under_a_filter_is_told() {
    let folder = Folder::new("child-filter");
    let (told, _) = recorded(&folder, &[], "filter");
    let filtered = "has no log, for none could be made, the last for this reason: \
                    a seccomp filter was there";
    assert!(told.contains(filtered), "{told}");
}

/// Another thread is amid any call of the system then, also one of memlog's.
#[test]
fn a_fork_amid_any_call_has_a_whole_log() {
    for (name, options) in [
        ("stream", &[][..]),
        ("flight", &["--flight-recorder=512K"][..]),
    ] {
        let folder = Folder::new(&format!("child-amid-{name}"));
        let source = "torture/fork/fork_amid_calls.c";
        let program = GCC.build::<&str>(&folder, source, "fork_amid_calls", &[]);
        let mut command = folder.memlog(&["record", "-o", "logs/"]);
        let output = command.args(options).arg(program).output().expect("memlog");
        let told = said(&output);
        if output.status.code() == Some(77) {
            println!("SKIPPED {name}: no thread can be traced here");
            continue;
        }
        assert!(output.status.success(), "{name}: {told}");
        assert!(told.contains("nothing was lost"), "{name}: {told}");
        let logs = folder.logs("logs");
        // Of the children, of who forked them, and of who watched it.
        assert_eq!(logs.len(), 302, "{name}: {told}");
        let mut named = 0;
        for path in &logs {
            let bytes = fs::read(path).expect("a log");
            let log = Log::open(&bytes).expect("a log");
            let mut events = log.events();
            events.by_ref().for_each(drop);
            for findings in [log.findings(), events.findings()] {
                assert_eq!(findings.list(), [], "{name}: {path:?}");
            }
            for text in log.texts(Key::ParentLog) {
                let parent = PathBuf::from(OsStr::from_bytes(text));
                assert!(logs.contains(&parent), "{name}: {parent:?}");
                named += 1;
            }
        }
        assert!(
            named > logs.len() / 2,
            "{name}: {named} know their parent's log"
        );
    }
}
