//! What `memlog record` says at the end of a run that did not go as it should,
//! and of the ranks of a job.

mod sites;

use std::fs;
use std::path::{Path, PathBuf};

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
