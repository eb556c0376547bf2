//! Resident memory beside seccomp filters: what only announces a filter, or
//! asks for one in vain, changes nothing; where one came, the page says since
//! when nobody knows.
//!
//! How events go on under filters is the business of `victims/torture`.

mod common;

use std::process::Command;

use common::tools::{Folder, skip, tools};
use serde_json::Value;

const MIB: u64 = 1 << 20;
/// What the victim has live at its peak.
const HEAP: u64 = 48 * MIB;

/// A run of the victim under `memlog record`.
struct Run {
    folder: Folder,
    stdout: String,
}

impl Run {
    /// Nothing where there are no filters.
    #[track_caller]
    fn new(args: &[&str]) -> Option<Self> {
        let folder = Folder::new("filters");
        let victim = tools().victim("filtered").expect("a C compiler made it");
        let mut command = memlog(&folder);
        command.args(["record", "-o", "x.memlog", "--"]).arg(victim);
        let output = command.args(args).output().expect("memlog runs");
        if output.status.code() == Some(77) {
            skip("filters: the kernel or a container has none");
            return None;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        assert!(stderr.contains("nothing was lost"), "{args:?}: {stderr}");
        let stdout = String::from_utf8(output.stdout).expect("text");
        Some(Self { folder, stdout })
    }

    #[track_caller]
    fn says(&self, words: &[&str]) -> String {
        let mut command = memlog(&self.folder);
        let output = command.args(words).arg("x.memlog").output();
        let output = output.expect("memlog runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Without the breaks of lines.
    #[track_caller]
    fn page(&self, command: &str) -> String {
        let page = self.says(&[command]);
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn stats(&self) -> Value {
        serde_json::from_str(&self.says(&["stats", "--json"])).expect("JSON")
    }
}

fn memlog(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder.path());
    command
}

#[test]
fn no_filter_came() {
    for how in ["plain", "privs", "probe"] {
        let run = Run::new(&[how]).expect("it needs no filter");
        let kernel: u64 = run.stdout.trim().parse().expect("kilobytes");
        let (kernel, stats) = (kernel * 1024, run.stats());
        let peak = stats["rss_peak_bytes"].as_u64().expect("bytes");
        // A sanitizer or an allocator may touch a little more until the end.
        let is_near = peak.abs_diff(kernel) <= kernel / 50;
        assert!(is_near, "{how}: RSS peak {peak}, the kernel's {kernel}");
        assert!(stats["rss_peak_live_bytes"].as_u64() >= Some(HEAP), "{how}");
        assert_eq!(stats["rss_unread_since_seconds"], Value::Null, "{how}");
        assert_eq!(stats["counters"]["quiet_since"], 0, "{how}");
        assert_eq!(stats["ended"], true, "{how}");
        for command in ["summary", "info"] {
            let page = run.page(command);
            assert!(!page.contains("filter came"), "{how}: {page}");
        }
    }
}

#[test]
fn a_filter_came_before_the_heap() {
    for how in ["filter", "bare"] {
        let Some(run) = Run::new(&[how]) else { return };
        let stats = run.stats();
        let since = stats["rss_unread_since_seconds"].as_f64();
        assert!(since.is_some_and(|since| since < 60.0), "{how}: {since:?}");
        assert!(stats["rss_peak_live_bytes"].as_u64() >= Some(HEAP), "{how}");
        assert_eq!(stats["rss_peak_unseen_bytes"], Value::Null, "{how}");
        for command in ["summary", "report"] {
            let page = run.page(command);
            let stopped = "readings of resident memory stopped at ";
            assert!(page.contains(stopped), "{how}: {page}");
            let why = "a seccomp filter came, and the peak may lie later";
            assert!(page.contains(why), "{how}: {page}");
            assert!(page.contains("the largest heap is taken for it"), "{page}");
            assert!(!page.contains("exact:"), "{how}: {page}");
            assert!(!page.contains("between two readings"), "{how}: {page}");
            assert!(!page.contains("at the RSS peak"), "{how}: {page}");
        }
        let info = run.page("info");
        assert!(info.contains("seccomp filter came at "), "{how}: {info}");
        run.says(&["dot"]);
        let text = run.folder.path().join("x.memlog.txt");
        let text = std::fs::read_to_string(text).expect("the text beside the graph");
        for told in [
            "readings stopped after",
            "RSS peak = (unknown)",
            "largest heap",
        ] {
            assert!(text.contains(told), "{how}: {text}");
        }
    }
}

#[test]
fn a_filter_came_after_the_peak() {
    let Some(run) = Run::new(&["filter", "48"]) else {
        return;
    };
    let stats = run.stats();
    let peak = stats["rss_peak_bytes"].as_u64().expect("bytes");
    assert!(peak >= HEAP, "RSS peak {peak}");
    assert!(stats["rss_peak_live_bytes"].as_u64() >= Some(HEAP));
    let page = run.page("summary");
    assert!(page.contains("the peak may lie later"), "{page}");
    assert!(!page.contains("known"), "{page}");
    assert!(page.contains("live at the RSS peak"), "{page}");
}
