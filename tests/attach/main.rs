//! `memlog attach` and `detach`: programs that run already, in all ways of living, and
//! those that are left alone with a reason.

mod alive;
mod counted;
mod odd;
mod refused;
#[path = "../sites/mod.rs"]
mod sites;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use sites::build::GCC;
use sites::{Folder, said};

/// The victim and its library, built once a test.
fn built(folder: &Folder) -> PathBuf {
    GCC.build(
        folder,
        "attached_plugin.c",
        "plugin.so",
        &["-shared", "-fPIC"],
    );
    GCC.build::<&str>(folder, "attached.c", "attached", &["-pthread", "-ldl"])
}

/// A program that waits for lines, and answers.
struct Living {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Living {
    /// Starts it; it says that it is ready.
    #[track_caller]
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("its output"));
        let mut living = Self { child, to, from };
        assert_eq!(living.line(), "ready");
        living
    }

    /// The victim in one of its ways.
    #[track_caller]
    fn way(folder: &Folder, name: &str) -> Self {
        let mut command = folder.command(folder.path("attached"));
        command.args([name, "./plugin.so"]);
        Self::start(command)
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("text");
        line.trim_end().to_owned()
    }

    /// What it answers.
    #[track_caller]
    fn asked(&mut self, word: &str) -> String {
        let to = self.to.as_mut().expect("it is there");
        writeln!(to, "{word}").expect("it reads");
        self.line()
    }

    /// Lets it end: how it did, its last line, and what it complained of.
    fn end(mut self) -> (ExitStatus, String, String) {
        drop(self.to.take());
        let line = self.line();
        let output = self.child.wait_with_output().expect("it ends");
        let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status, line, wrong)
    }

    #[track_caller]
    fn ends_well(self, what: &str) {
        let (status, line, wrong) = self.end();
        assert!(
            status.success() && line.starts_with("over") && wrong.is_empty(),
            "{what}: {status}: {line} {wrong}"
        );
    }
}

/// What memlog says, and whether it is fine with it.
fn memlog(folder: &Folder, words: &[&str]) -> (String, bool) {
    let output = folder.run(words);
    let text = String::from_utf8_lossy(&output.stdout);
    (format!("{text}{}", said(&output)), output.status.success())
}

#[track_caller]
fn does(folder: &Folder, words: &[&str], expected: &str) -> String {
    let (text, is_fine) = memlog(folder, words);
    assert!(is_fine && text.contains(expected), "{words:?}: {text}");
    text
}

/// What stands in a line of /proc/PID/status.
fn status(pid: &str, key: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find(|line| line.starts_with(key));
    line.unwrap_or_default().to_owned()
}
