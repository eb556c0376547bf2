//! The program within its limits. `MEMLOG` names the command, if it is not in PATH.
//!
//! The other way runs whole test binaries under it, in .cargo/config.toml:
//!
//! ```toml
//! [target.'cfg(target_os = "linux")']
//! runner = ["memlog", "check", "--max-peak", "64MiB", "--"]
//! ```

use std::process::Command;

/// Runs `memlog check` with these limits on the program.
#[track_caller]
fn holds(limits: &[&str], words: &[&str]) {
    let memlog = std::env::var_os("MEMLOG").unwrap_or_else(|| "memlog".into());
    let mut command = Command::new(memlog);
    command.arg("check").args(limits).arg("--");
    command.arg(env!("CARGO_BIN_EXE_words")).args(words);
    let output = command
        .output()
        .expect("memlog is in PATH, or MEMLOG names it");
    let report = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}{said}");
}

#[test]
fn words_are_freed() {
    let own = "function ~ \"words::\"";
    holds(
        &["--max-leaked", "0", "--max-peak", "1KiB", "--where", own],
        &["1000"],
    );
}

#[test]
fn it_stays_small() {
    holds(
        &["--max-peak", "64KiB", "--max-allocations", "2000"],
        &["1000"],
    );
}
