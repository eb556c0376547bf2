//! Processes that do little and are many: what each leaves on the disk, and how
//! to record only some of them.

mod sites;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sites::{Folder, said};

/// What a log of few events may take of the disk, where pages are of 4 KiB: a
/// page each for what the process is, events, stacks and code.
const LARGEST_BYTES: u64 = 16 * 1024;

/// Bytes that a file takes of its disk, whatever its length.
fn taken(path: &Path) -> u64 {
    512 * std::fs::metadata(path).expect("stat").blocks()
}

fn has_small_pages() -> bool {
    // SAFETY: a question without side effects.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) == 4096 }
}

fn recorded(folder: &Folder, options: &[&str], script: &str) -> (String, Vec<PathBuf>) {
    let logs = folder.folder("logs");
    let mut words = vec!["record", "-o", logs.to_str().expect("text")];
    words.extend(options);
    words.extend(["--", "sh", "-c", script]);
    let output = folder.run(&words);
    (said(&output), folder.logs("logs"))
}

#[test]
fn a_small_process_leaves_little() {
    if !has_small_pages() {
        println!("SKIPPED small processes: pages are larger than 4 KiB here");
        return;
    }
    let folder = Folder::new("small-processes");
    let script =
        "for i in 1 2 3; do /bin/true; done; (read x </dev/null); sh -c 'kill -9 $$'; true";
    let (said, logs) = recorded(&folder, &[], script);
    assert!(said.contains("nothing was lost"), "{said}");
    assert!(logs.len() >= 5, "{logs:?}");
    for log in &logs {
        let events = folder.stats(log).number("allocations");
        println!(
            "{}: {events} allocations, {} bytes",
            log.display(),
            taken(log)
        );
        assert!(events <= 100, "{events}: no small process");
        assert!(taken(log) <= LARGEST_BYTES, "{} bytes", taken(log));
    }
}

#[test]
fn only_programs_that_are_named_are_recorded() {
    let folder = Folder::new("only");
    let script = "/bin/true; sh -c '/bin/ls / >/dev/null; true'; /bin/true";
    let (said, logs) = recorded(&folder, &["--only", "true"], script);
    let programs: Vec<_> = logs.iter().map(|log| folder.stats(log)).collect();
    assert_eq!(programs.len(), 2, "{said}");
    for stats in programs {
        let program = stats.value("executable").as_str().expect("text");
        assert!(program.ends_with("/true"), "{program}");
    }
}

#[test]
fn only_takes_paths_and_several() {
    let folder = Folder::new("only-paths");
    let path = std::fs::canonicalize("/bin/ls").expect("ls");
    let options = ["--only", path.to_str().expect("text"), "--only", "nothing"];
    let (said, logs) = recorded(&folder, &options, "/bin/true; /bin/ls / >/dev/null; true");
    assert_eq!(logs.len(), 1, "{said}");
    let folder = Folder::new("only-no-path");
    let (said, logs) = recorded(
        &folder,
        &["--only", "/nowhere/ls"],
        "/bin/ls / >/dev/null; true",
    );
    assert_eq!(logs.len(), 0, "{said}");
    let wanted = "nothing was recorded: --only /nowhere/ls names other programs than were started";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn only_refuses_what_cannot_be_a_program() {
    let folder = Folder::new("only-refused");
    for wrong in ["", "a:b"] {
        let output = folder.run(&["record", "--only", wrong, "true"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    }
}
