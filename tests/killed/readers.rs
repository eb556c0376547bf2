//! The commands that read a log, over what killed processes left.

use std::path::Path;
use std::process::{Command, Stdio};

use memlog_format::chunk::HEADER_SIZE;

use crate::common::tools::read_log;

/// Every kind of look at a log.
const READERS: &[&[&str]] = &[
    &["stats", "--json"],
    &["info"],
    &["report", "--show-leaks", "--show-maximum"],
    &["dump", "--no-symbols"],
    &["check", "--max-peak", "1T"],
];

/// Whether a check says that there was nothing to check.
fn nothing(said: &[u8]) -> bool {
    String::from_utf8_lossy(said).contains("no allocation was recorded")
}

/// What the commands came to.
#[derive(Default)]
pub struct Readings {
    /// Logs that all of them read.
    pub logs: u64,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
    /// They are damaged, so nothing is proven of them.
    pub are_damaged: bool,
}

impl Readings {
    /// Lets all commands read the logs of a folder, at most so many of them.
    pub fn take(&mut self, folder: &Path, most: usize) {
        let files = std::fs::read_dir(folder).expect("the run's folder");
        let paths = files.flatten().map(|entry| entry.path());
        let mut logs: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "memlog"))
            .collect();
        logs.sort();
        for log in logs.iter().take(most) {
            for reader in READERS {
                self.read(reader, log);
            }
            self.logs += 1;
        }
    }

    /// A log that was begun is read; one that was only made may be refused,
    /// with a sentence.
    fn read(&mut self, reader: &[&str], log: &Path) {
        let bytes = read_log(log).unwrap_or_default();
        let is_begun = bytes.len() >= HEADER_SIZE && bytes.starts_with(b"MLOG");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        command.args(reader).arg(log).stdin(Stdio::null());
        command.env("MEMLOG_PAGER", "cat").stdout(Stdio::piped());
        let output = command.output().expect("memlog runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_fine = match output.status.code() {
            Some(0) => true,
            // Of what was killed before it allocated nothing is proven.
            Some(1) => {
                let is_unproven = self.are_damaged && output.stdout.starts_with(b"UNPROVEN");
                reader[0] == "check" && (is_unproven || nothing(&output.stdout))
            }
            Some(2) => !is_begun && said.contains("cannot read"),
            _ => false,
        };
        if !is_fine || said.contains("panicked") {
            let status = output.status;
            let problem = format!("memlog {reader:?} {}: {status}: {said}", log.display());
            self.problems.push(problem);
        }
    }
}
