//! What `memlog record` says at the end of a run that did not go as it should,
//! and of the ranks of a job.

mod sites;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sites::build::GCC;
use sites::{Folder, said};

/// A program that makes many events.
fn many(folder: &Folder) -> PathBuf {
    let source = folder.path("many.c");
    let text = "#include <stdlib.h>\n\
                int main(void) { for (int i = 0; i < 400000; i++) free(malloc(i % 64 + 1)); }\n";
    fs::write(&source, text).expect("write");
    GCC.build_file(folder, &source, "many", &["-O0"])
}

/// In words, and the same ones by who reads the log.
#[test]
fn what_was_lost_is_said_with_its_cause() {
    let folder = Folder::new("says-lost");
    let program = many(&folder);
    let words = ["record", "-o", "it", "--max-log", "256K"].map(Path::new);
    let output = folder.run(&[&words[..], &[&program]].concat());
    let cause = "found no room in the log, which had reached MEMLOG_MAX_LOG or filled the disk";
    let told = said(&output);
    let line = told.lines().find(|line| line.starts_with("memlog: lost: "));
    let line = line.unwrap_or_else(|| panic!("{told}"));
    assert!(line.ends_with(&format!(" events of it {cause}")), "{line}");
    for reader in ["summary", "info"] {
        let page = folder.says(&[reader, "it"]);
        assert!(page.contains(cause), "{reader}: {page}");
    }
}

/// What was in the way is said as it is, with a remedy that fits who had named
/// the place.
#[test]
fn why_there_is_no_log_is_said() {
    let folder = Folder::new("says-none");
    let told = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.memlog(&[&["record"], words].concat());
        let output = command.envs(variables.iter().copied()).output();
        let output = output.expect("memlog runs");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };
    folder.folder("gone");
    let wrapper = ["sh", "-c", "unset LD_PRELOAD; rm -r gone; :"];
    // The log of the shell goes with its folder.
    let none = told(&[&["-o", "gone/it"], &wrapper[..]].concat(), &[]);
    let error = format!(
        "memlog: error: no log appeared: the folder {} is not there any more\n",
        folder.path("gone").display()
    );
    assert!(none.contains(&error), "{none}");
    assert!(none.contains("hint: mkdir -p gone, or choose another place with -o PATTERN\n"));

    let disk = folder.folder("disk");
    let mount = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&disk).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=64k", "memlog-test"]) {
        println!("SKIPPED a disk that is full: nothing may be mounted here");
        return;
    }
    let by_option = told(&["-o", "disk/it", "true"], &[]);
    let by_variable = told(&["true"], &[("MEMLOG_OUTPUT", "disk/it")]);
    assert!(mount(&["umount"]));
    let error = format!(
        "no log appeared: the disk of {} is full: 64.0 KiB are free\n",
        disk.display()
    );
    for told in [&by_option, &by_variable] {
        assert!(told.contains(&error), "{told}");
        let hint = told.lines().last().unwrap_or_default();
        let remedy = "memlog: hint: make room there, or choose another place with -o PATTERN";
        assert!(
            hint.starts_with(remedy) && !hint.contains("MEMLOG_DIR"),
            "{told}"
        );
    }
    assert!(by_variable.ends_with("from the environment, MEMLOG_OUTPUT\n"));
}
