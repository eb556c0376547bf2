//! `memlog server`, asked over its socket: who is let in, whether its answers are those
//! of the command line, and whether anybody can hold it up.
//!
//! * [`client`]: a server, and requests as bytes
//! * [`door`]: tokens, names, other pages, hostile requests
//! * [`bytehound`]: the routes of bytehound's server
//! * [`answers`]: each question, against the command that is the same
//! * [`examples`]: what doc/API.md and the description say
//! * [`hostile`]: logs whose names are markup
//! * [`live`]: logs that grow, that come, that go
//! * [`report`]: the page as a file
//! * [`scripts`]: what is sent to be run

mod answers;
mod bytehound;
mod client;
mod door;
mod examples;
mod hostile;
mod live;
mod report;
mod scripts;
#[path = "../sites/mod.rs"]
mod sites;

use std::path::{Path, PathBuf};

use sites::build::GCC;
use sites::{Folder, said, victim};

/// A server of victims/, recorded.
fn recorded(folder: &Folder) -> PathBuf {
    log_of(folder, &victim("server.c"), &[])
}

fn log_of(folder: &Folder, source: &Path, words: &[&str]) -> PathBuf {
    let name = source
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let program = GCC.build_file(folder, source, &name, &["-D_GNU_SOURCE", "-pthread"]);
    let log = folder.path(&format!("{name}.memlog"));
    let mut command = folder.memlog(&["record", "-o"]);
    command.arg(&log).arg("--rss-detail=always");
    let output = command.arg(program).args(words).output();
    let output = output.expect("it runs");
    assert!(log.exists(), "{}", said(&output));
    log
}
