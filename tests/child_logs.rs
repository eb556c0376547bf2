//! Forked children whose log meets an obstacle: the child goes on as without
//! memlog, and what is not recorded is said.

mod sites;

use sites::build::GCC;
use sites::{Folder, said};

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
