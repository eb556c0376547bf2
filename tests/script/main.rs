//! Scripts: every figure of theirs is that of another command, and none of them does what
//! it may not.
//!
//! * here: a log of a program that leaks, and scripts that are run
//! * [`words`]: each word against the language of filters
//! * [`names`]: all of bytehound's words are there
//! * [`study`]: the case study of bytehound's book
//! * [`hostile`]: scripts without an end, without measure, and out of their folder
//! * [`pictures`]: what is drawn
//! * [`served`]: scripts of a page, which write nothing
//! * [`as_code`]: filters as scripts
//! * [`document`]: what doc/SCRIPTS.md shows

mod as_code;
mod document;
mod hostile;
mod names;
mod pictures;
mod served;
#[path = "../sites/mod.rs"]
mod sites;
mod study;
mod words;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, Weak};

use serde_json::Value;
use sites::build::GCC;
use sites::{Folder, said};

/// The log of `leaky`, and what it printed of itself.
struct Leaky {
    folder: Folder,
    log: PathBuf,
    told: String,
}

impl Leaky {
    /// Recorded once for all tests that run at once, with the stacks of frees. The last removes its folder, as
    /// nobody would a static one.
    fn get() -> Arc<Self> {
        static LEAKY: Mutex<Weak<Leaky>> = Mutex::new(Weak::new());
        let mut leaky = LEAKY.lock().expect("no test fails in here");
        if let Some(recorded) = leaky.upgrade() {
            return recorded;
        }
        let recorded = Arc::new(Self::record());
        *leaky = Arc::downgrade(&recorded);
        recorded
    }

    fn record() -> Self {
        let folder = Folder::new("script");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/script/leaky.c");
        let program = GCC.build_file(&folder, &source, "leaky", &["-D_GNU_SOURCE"]);
        let log = folder.path("leaky.memlog");
        let mut command = folder.memlog(&["record", "--free-stacks"]);
        let output = command.arg("-o").arg(&log).arg(program).output();
        let output = output.expect("it runs");
        assert!(log.exists(), "{}", said(&output));
        Self {
            folder,
            log,
            told: String::from_utf8(output.stdout).expect("text"),
        }
    }

    /// What a function leaked, as blocks and bytes.
    fn leaked(&self, function: &str) -> (u64, u64) {
        let line = self.told.lines().find(|line| line.starts_with(function));
        let words: Vec<&str> = line.expect("a line").split(' ').collect();
        (
            words[1].parse().expect("blocks"),
            words[2].parse().expect("bytes"),
        )
    }

    /// Runs a script, whose pictures go into a folder.
    fn runs(&self, code: &str, pictures: &Path, more: &[&str]) -> Output {
        let mut command = self.folder.memlog(&["script", "--output"]);
        command
            .arg(pictures)
            .args(more)
            .arg("--data")
            .arg(&self.log);
        let child = command
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::piped()).spawn().expect("it runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(code.as_bytes()).expect("it is read");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    }

    /// What a script prints, which comes to its end.
    #[track_caller]
    fn says(&self, code: &str) -> String {
        let output = self.runs(code, self.folder.root(), &["--quiet"]);
        assert!(output.status.success(), "{code}\n{}", said(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// What is wrong with one.
    #[track_caller]
    fn refuses(&self, code: &str) -> String {
        let output = self.runs(code, self.folder.root(), &["--timeout", "2"]);
        assert_eq!(output.status.code(), Some(2), "{code}\n{}", said(&output));
        String::from_utf8(output.stderr).expect("text")
    }

    /// The same as another command has it: blocks and bytes of the table where that holds.
    #[track_caller]
    fn table(&self, filter: &str) -> (u64, u64) {
        let page = self.asked(&["table", "--by", "size", "--where", filter]);
        let number = |key: &str| page[key].as_u64().expect("a number");
        (number("blocks"), number("bytes"))
    }

    #[track_caller]
    fn asked(&self, words: &[&str]) -> Value {
        let log = self.log.to_str().expect("a name");
        let text = self.folder.says(&[words, &["--json", log]].concat());
        serde_json::from_str(&text).expect("JSON")
    }
}
