//! Logs of other machines, big-endian ones among them, read on this one.
//!
//! golden/cross/NAME.memlog was written by ppc64-cross/programs/scripted.c on
//! that machine; `ppc64-cross/same-events --bless` made it, and scripted.events:
//! `M SIZE DEPTH` and `F NUMBER`, what the program did on x86_64. The stacks
//! are counted from the shallowest, for how deep main lies is the C library's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const MEMLOG: &str = env!("CARGO_BIN_EXE_memlog");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/cross")
}

/// What `memlog` prints.
fn said(words: &[&str], log: &Path) -> String {
    let output = Command::new(MEMLOG).args(words).arg(log).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", log.display());
    String::from_utf8(output.stdout).unwrap()
}

/// The last `count` events of a dump, in the words of scripted.events.
fn events(dump: &str, count: usize) -> Vec<String> {
    let lines: Vec<_> = dump.lines().collect();
    let own = &lines[lines.len() - count..];
    let depth = |line: &str| line.split('\t').count();
    let allocations = own.iter().filter(|line| line.starts_with("M: "));
    let least = allocations.map(|line| depth(line)).min().unwrap();
    let (mut live, mut number) = (HashMap::new(), 0);
    let events = own.iter().map(|line| {
        let mut words = line.split(['\t', ' ']);
        if words.next() == Some("F:") {
            let released = live.remove(words.next().unwrap());
            return format!("F {}", released.expect("a release of what was live"));
        }
        let (size, block) = (words.next().unwrap(), words.next().unwrap());
        assert_eq!(live.insert(block, number), None, "{line}");
        number += 1;
        // The shallowest: the function that allocated, and main.
        format!("M {size} {}", depth(line) - least + 2)
    });
    events.collect()
}

/// The logs; there is at least one of each order of bytes.
fn logs() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let logs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "memlog"))
        .collect();
    for name in [
        "powerpc64",
        "powerpc64le",
        "s390x",
        "aarch64",
        "riscv64",
        "mips64el",
        "i686",
    ] {
        let wanted = folder().join(name).with_extension("memlog");
        assert!(logs.contains(&wanted), "{}", wanted.display());
    }
    logs
}

#[test]
fn logs_of_other_machines_say_what_the_program_did() {
    let wanted = std::fs::read_to_string(folder().join("scripted.events")).unwrap();
    let wanted: Vec<_> = wanted.lines().collect();
    assert!(wanted.len() > 3000);
    for log in logs() {
        let found = events(&said(&["dump", "--no-symbols"], &log), wanted.len());
        let differs = found.iter().zip(&wanted).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{}", log.display());
    }
}

#[test]
fn logs_of_other_machines_are_whole() {
    for log in logs() {
        let stats: serde_json::Value =
            serde_json::from_str(&said(&["stats", "--json"], &log)).unwrap();
        for zero in ["lost_events", "order_breaks", "findings_count"] {
            assert_eq!(stats[zero], 0, "{zero} of {}", log.display());
        }
        // The C libraries of these have no unwind tables for what they do before main.
        let has_half = ["riscv64.memlog", "mips64el.memlog", "armv7hf.memlog"]
            .iter()
            .any(|name| log.ends_with(name));
        let cut = if has_half { 4 } else { 0 };
        assert_eq!(stats["cut_stacks"], cut, "{}", log.display());
        assert_eq!(stats["ended"], true, "{}", log.display());
        assert!(stats["allocations"].as_u64().unwrap() > 1600);
        assert!(stats["rss_peak_bytes"].as_u64().unwrap() > 0);
    }
}
