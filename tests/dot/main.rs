//! `memlog2dot`: its pages, its choice of a log, and how it refuses.

mod errors;
mod golden;
mod leftovers;
mod live;
mod logs;
mod opened;
mod pictures;
mod recipe;
#[path = "../runnable/mod.rs"]
mod runnable;
mod same;
mod scripts;
#[path = "../sites/mod.rs"]
mod sites;

use std::path::{Path, PathBuf};
use std::process::Command;

use sites::{Folder, said};

/// The command under its old name: a link in the folder.
pub fn old_name(folder: &Folder) -> PathBuf {
    let link = folder.path("memlog2dot");
    let tool = env!("CARGO_BIN_EXE_memlog");
    match std::os::unix::fs::symlink(tool, &link) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{error}"),
        _ => link,
    }
}

/// `memlog2dot`, with a limit of time.
pub fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = folder.command("timeout");
    command
        .args(["-k", "5", "1000"])
        .arg(old_name(folder))
        .args(words);
    command
}

/// Runs it where nothing is wrong; what it says on stdout.
#[track_caller]
pub fn memlog2dot(folder: &Folder, words: &[&str]) -> String {
    let output = command(folder, words).output().expect("memlog2dot runs");
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// The three pictures of a log are there and are what their names say.
#[track_caller]
pub fn drawn(folder: &Path, log: &str) {
    for (ending, magic, end) in [
        ("ps", "%!PS", "%%EOF"),
        ("pdf", "%PDF-", "%%EOF"),
        ("svg", "<?xml", "</svg>"),
    ] {
        let path = folder.join(format!("{log}.{ending}"));
        let bytes = std::fs::read(&path).expect(ending);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with(magic), "{}", path.display());
        assert!(text.trim_end().ends_with(end), "{}", path.display());
    }
}
