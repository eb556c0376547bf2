//! Modes: 0600, whatever the umask, which stays as it was.

use crate::sites::said;
use crate::{Facts, MANY, NOBODY, is_root, mode, same};
use std::os::unix::process::CommandExt;

const UMASKS: &[&str] = &["0", "022", "077", "0277", "0477", "0777"];

/// Nobody but the owner reads a log, and the owner does: also where the umask
/// leaves not even him his rights, for the log must grow.
#[test]
fn a_log_is_its_owners_under_every_umask() {
    let facts = Facts::new("umask");
    for (turn, umask) in UMASKS.iter().enumerate() {
        let place = facts.open_folder(&format!("{turn}"));
        let run = |recorded| {
            let mut command = facts.command(&format!("umask {umask}"), &[MANY], recorded);
            command.env("MEMLOG_DIR", &place);
            // Whom modes bind.
            if facts.folder.is_root() {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let output = same(run);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let masks: Vec<_> = told
            .lines()
            .filter(|line| line.starts_with("Umask:"))
            .collect();
        assert_eq!(masks.len(), 3, "{told}");
        let value =
            |line: &str| u32::from_str_radix(line.trim_start_matches("Umask:").trim(), 8).ok();
        let wanted = u32::from_str_radix(umask, 8).ok();
        assert!(masks.iter().all(|line| value(line) == wanted), "{masks:?}");
        let logs = facts.folder.logs(&format!("{turn}"));
        assert_eq!(logs.len(), 1, "umask {umask}");
        assert_eq!(mode(&logs[0]), 0o600, "umask {umask}");
        let stats = facts.folder.stats(&logs[0]);
        assert!(
            stats.number("allocations") > 300_000,
            "umask {umask}: it grew"
        );
        assert_eq!(stats.number("lost_events"), 0, "umask {umask}");
    }
    let _ = is_root(
        &facts.folder,
        "umasks that take the owner's rights, as a user whom they bind",
    );
}

/// What is drawn from a log is as readable as it and no more.
#[test]
fn what_is_drawn_is_as_readable_as_the_log() {
    let facts = Facts::new("drawn");
    let log = facts.folder.path("it.memlog");
    let mut command = facts.command("umask 0", &["1000"], true);
    assert_eq!(
        command
            .env("MEMLOG_OUTPUT", &log)
            .output()
            .expect("run")
            .status
            .code(),
        Some(3)
    );
    for umask in ["0", "022", "0777"] {
        let script = format!("umask {umask}; exec \"$@\"");
        let mut command = facts.folder.command("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_memlog")]);
        let output = command
            .args(["dot", "--draw", "built-in"])
            .arg(&log)
            .output();
        let output = output.expect("memlog runs");
        assert!(output.status.success(), "{}", said(&output));
        for ending in ["dot", "txt", "svg", "ps", "pdf"] {
            let path = facts.folder.path(&format!("it.memlog.{ending}"));
            let group_and_others = mode(&path) & 0o077;
            assert_eq!(group_and_others, 0, "{ending} under umask {umask}");
        }
    }
}
