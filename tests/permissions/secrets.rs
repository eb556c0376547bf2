//! What a log holds: the arguments, and nothing of the environment, the heap
//! or the stack.

use crate::Facts;
use std::fs;

fn holds(log: &[u8], secret: &[u8]) -> bool {
    log.windows(secret.len()).any(|part| part == secret)
}

#[test]
fn a_log_holds_arguments_and_no_environment_or_memory() {
    let facts = Facts::new("secrets");
    let key = "Kq7-environment-Zx";
    // As facts.c makes it: in its heap, and in no file.
    let heap: Vec<u8> = key
        .bytes()
        .map(|byte| b"0123456789abcdef"[usize::from((byte ^ 5) & 15)])
        .collect();
    for sink in ["mapped", "written"] {
        for stacks in ["0", "1"] {
            let log = facts.folder.path(&format!("{sink}{stacks}.memlog"));
            let mut command = facts.command(":", &["100000", "argument-Wq9"], true);
            command
                .env("KEY", key)
                .env("MEMLOG_SINK", sink)
                .env("MEMLOG_FREE_STACKS", stacks)
                .env(
                    "MEMLOG_RSS_DETAIL",
                    ["always", "off"][usize::from(stacks == "1")],
                )
                .env("MEMLOG_OUTPUT", &log);
            assert_eq!(command.output().expect("run").status.code(), Some(3));
            let bytes = fs::read(&log).expect("a log");
            assert!(bytes.len() > 100_000, "{} bytes", bytes.len());
            // What doc/SECURITY.md says is there.
            let host = facts
                .folder
                .command("uname")
                .arg("-n")
                .output()
                .expect("uname");
            let host = String::from_utf8(host.stdout).expect("text");
            for known in ["argument-Wq9", host.trim(), "/facts", "libc.so.6"] {
                assert!(holds(&bytes, known.as_bytes()), "{known} is in the log");
            }
            assert!(holds(
                &bytes,
                facts.folder.root().to_str().expect("text").as_bytes()
            ));
            // Only a mapping is called that.
            assert_eq!(holds(&bytes, b"[stack]"), stacks == "0", "mappings");
            // What it says is not.
            assert!(!holds(&bytes, key.as_bytes()), "a value of the environment");
            assert!(!holds(&bytes, b"KEY="), "a name of the environment");
            assert!(!holds(&bytes, &heap), "what stands in the heap");
            assert!(!holds(&bytes, &heap[..8]), "a part of it");
        }
    }
    setting_is_told(&facts);
}

/// A setting that is not understood stands in the log with its value, so a
/// secret has no place in a variable of memlog's.
fn setting_is_told(facts: &Facts) {
    let log = facts.folder.path("told.memlog");
    let mut command = facts.command(":", &["10"], true);
    command
        .env("MEMLOG_ODD", "odd-Vb3")
        .env("MEMLOG_OUTPUT", &log);
    assert_eq!(command.output().expect("run").status.code(), Some(3));
    assert!(holds(&fs::read(&log).expect("a log"), b"odd-Vb3"));
}
