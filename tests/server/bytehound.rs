//! The routes of bytehound's server, judged by the commands that answer the same.
//!
//! * [`blocks`]: single blocks, groups of them, and their stacks
//! * [`course`]: the list of logs, and figures over time
//! * [`heap`]: mappings, regions, mallopt, static initialisers
//! * [`exports`]: forms of other programs
//! * [`long`]: long answers, and those who read them slowly or not at all
//! * [`odd`]: logs of other machines, formats and tools
//! * [`refused`]: what is asked wrongly, or with bad intent
//! * [`examples`]: those of the document

mod blocks;
mod course;
mod examples;
mod exports;
mod heap;
mod long;
mod odd;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::Server;
use crate::sites::Folder;
use crate::sites::build::GXX;

/// What the victim's function is called, and what the name is written over by.
const NAME: &[u8] = b"hostile_name_that_is_to_be_written_over";
const HOSTILE: &[u8] = b"</script><script>alert(1)</script>&\"'\x01\xff";

/// A log of `served`, and a server of it.
struct Served {
    folder: Folder,
    log: PathBuf,
    server: Server,
}

impl Served {
    fn new(name: &str, blocks: u32) -> Self {
        let folder = Folder::new(&format!("server-{name}"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/served.cpp");
        let program = GXX.build_file(&folder, &source, "served", &["-O1"]);
        write_over(&program);
        let log = folder.path("served.memlog");
        let mut command = folder.memlog(&["record", "--free-stacks", "-o"]);
        let output = command
            .arg(&log)
            .arg(&program)
            .arg(blocks.to_string())
            .output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let server = Server::of(&folder, &[&log]);
        Self {
            folder,
            log,
            server,
        }
    }

    /// What a command says, as JSON.
    #[track_caller]
    fn says(&self, words: &[&str]) -> Value {
        let log = self.log.to_str().expect("a name");
        let text = self.folder.says(&[words, &["--json", log]].concat());
        serde_json::from_str(&text).expect("JSON")
    }

    /// What a route answers.
    #[track_caller]
    fn asks(&self, route: &str) -> Value {
        self.server.json(&format!("/data/last/{route}"))
    }
}

fn write_over(program: &Path) {
    let mut bytes = fs::read(program).expect("a program");
    let mut name = HOSTILE.to_vec();
    name.resize(NAME.len(), b'x');
    let places: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at..].starts_with(NAME))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + NAME.len()].copy_from_slice(&name);
    }
    fs::write(program, bytes).expect("it is written");
}

#[track_caller]
fn list<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    let list = of[key].as_array();
    list.unwrap_or_else(|| panic!("{key} is no list: {of:.300}"))
}

#[track_caller]
fn number(of: &Value, key: &str) -> u64 {
    let number = of[key].as_u64();
    number.unwrap_or_else(|| panic!("{key} is no number: {of:#}"))
}

/// Nanoseconds of a time.
#[track_caller]
fn ns(time: &Value) -> u64 {
    number(time, "secs") * 1_000_000_000 + number(time, "fract_nsecs")
}

/// The same of seconds that a command told.
#[track_caller]
fn ns_of(seconds: &Value) -> u64 {
    (seconds.as_f64().expect("seconds") * 1e9).round() as u64
}
