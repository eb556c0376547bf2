//! Logs of other machines and formats, cut ones, and files of other tools: each route has
//! an answer of each, or a sentence that says why not.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{list, number};
use crate::client::Server;
use crate::sites::Folder;

const ROUTES: [&str; 16] = [
    "timeline",
    "timeline_leaked",
    "timeline_maps",
    "allocations",
    "raw_allocations",
    "allocation_groups?generate_graphs=1",
    "maps?with_regions=1&with_usage_history=1",
    "backtraces",
    "tree",
    "regions",
    "mallopts",
    "dynamic_constants",
    "dynamic_statics",
    "allocations?where=size+%3E+10&lifetime=only_leaked",
    "allocations?backtrace_depth_min=2&sort_by=size",
    "allocation_groups?function_regex=a",
];
const TEXTS: [&str; 6] = [
    "allocation_ascii_tree",
    "dynamic_statics_ascii_tree",
    "export/flamegraph",
    "export/flamegraph.pl",
    "export/heaptrack",
    "export/replay",
];

/// Copies of the goldens, one of them cut, and what was imported.
fn logs(folder: &Folder) -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut logs = Vec::new();
    for kind in ["cross", "v1", "v2"] {
        for entry in fs::read_dir(golden.join(kind)).expect("a list").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "memlog") {
                let name = path.file_name().and_then(|name| name.to_str());
                let copy = folder.path(&format!("{kind}-{}", name.expect("a name")));
                fs::copy(&path, &copy).expect("a copy");
                logs.push(copy);
            }
        }
    }
    let whole = fs::read(golden.join("cross/x86_64-musl.memlog")).expect("a log");
    let cut = folder.path("cut.memlog");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).expect("it is written");
    logs.push(cut);
    for name in ["bytehound.dat", "massif.out", "dhat.json", "jemalloc.heap"] {
        let (from, to) = (golden.join("imports").join(name), folder.path(name));
        let to = to.with_extension("memlog");
        let from = from.to_str().expect("a name");
        folder.says(&["import", from, "-o", to.to_str().expect("a name")]);
        logs.push(to);
    }
    logs
}

#[test]
fn every_log_has_an_answer_or_a_sentence() {
    let folder = Folder::new("server-odd");
    let logs = logs(&folder);
    let files: Vec<&Path> = logs.iter().map(PathBuf::as_path).collect();
    let server = Server::of(&folder, &files);
    let listed = server.json("/list");
    let listed = listed.as_array().expect("a list");
    assert_eq!(listed.len(), logs.len());
    for one in listed {
        let id = one["id"].as_str().expect("a number");
        for route in ROUTES.iter().chain(&TEXTS) {
            let answer = server.get(&format!("/data/{id}/{route}"));
            let text = answer.text();
            match answer.status {
                200 if ROUTES.contains(route) => drop(answer.json()),
                200 => assert!(!text.is_empty() || *route == "export/flamegraph.pl"),
                422 => assert!(answer.json()["error"].is_string(), "{text}"),
                other => panic!("{route} of {one:#}: {other}: {text}"),
            }
        }
    }
}

/// The same events on each machine.
#[test]
fn logs_of_other_machines_say_the_same() {
    let folder = Folder::new("server-cross");
    let mut logs = logs(&folder);
    logs.retain(|path| path.to_string_lossy().contains("cross-"));
    let files: Vec<&Path> = logs.iter().map(PathBuf::as_path).collect();
    let server = Server::of(&folder, &files);
    for (id, log) in (1..).zip(&logs) {
        let words = ["table", "--by", "size", "--json"];
        let log = log.to_str().expect("a name");
        let table: Value =
            serde_json::from_str(&folder.says(&[&words[..], &[log]].concat())).expect("JSON");
        let answer = server.get(&format!("/data/{id}/allocations"));
        assert_eq!(answer.status, 200, "{log}: {}", answer.text());
        let answer = answer.json();
        let blocks = list(&answer, "allocations");
        assert_eq!(answer["total_count"], table["blocks"]);
        let bytes: u64 = blocks.iter().map(|block| number(block, "size")).sum();
        assert_eq!(bytes, number(&table, "bytes"));
    }
}
