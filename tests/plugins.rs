//! Plugins that the loader binds past what is preloaded: by RTLD_DEEPBIND to
//! their own libraries first, which is recorded; by dlmopen to a C library of
//! their own, which is told.

mod sites;

use std::path::{Path, PathBuf};

use sites::build::{GCC, GXX};
use sites::{Folder, Stats, said};

/// How a plugin's calls are bound.
const LINKS: [(&str, &[&str]); 3] = [
    ("lazy", &["-Wl,-z,lazy"]),
    ("now", &["-Wl,-z,norelro,-z,now"]),
    ("relro", &["-Wl,-z,relro,-z,now"]),
];
/// Where Debian has it.
const JEMALLOC: &str = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
/// What the host and the C++ library take for themselves, at most.
const OTHERS_BYTES: u64 = 2_000_000;

/// The program and a plugin for each way of binding.
fn built(folder: &Folder, more: &[&str]) -> (PathBuf, Vec<PathBuf>) {
    let host = GCC.build(folder, "deep_host.c", "deep_host", &["-ldl"]);
    let plugins = LINKS.iter().map(|(name, link)| {
        let flags = [&["-fPIC", "-shared"], *link, more].concat();
        GXX.build(folder, "deep_plugin.cpp", &format!("{name}.so"), &flags)
    });
    (host, plugins.collect())
}

/// What the program did, by its own count, and what its log says.
struct Ran {
    calls: u64,
    bytes: u64,
    stats: Stats,
    page: String,
}

#[track_caller]
fn record(folder: &Folder, host: &Path, mode: &str, plugin: &Path, preload: Option<&str>) -> Ran {
    let log = folder.path("one.memlog");
    let _ = std::fs::remove_file(&log);
    let mut command = folder.memlog(&["record", "-o"]);
    command.arg(&log).arg(host).arg(mode).arg(plugin);
    if let Some(preload) = preload {
        command.env("LD_PRELOAD", preload);
    }
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{mode}: {}", said(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text
        .split_whitespace()
        .map(|word| word.parse().expect(word));
    let mut next = || numbers.next().expect("two numbers");
    let page = folder.says(&["summary".as_ref(), log.as_os_str()]);
    Ran {
        calls: next(),
        bytes: next(),
        stats: folder.stats(&log),
        page,
    }
}

impl Ran {
    /// The log has what the plugin knows that it did, and no block came or went
    /// on one side only.
    #[track_caller]
    fn is_whole(&self, what: &str) {
        let (calls, bytes) = ("allocations", "total_bytes");
        let (calls, bytes) = (self.stats.number(calls), self.stats.number(bytes));
        assert!(calls >= self.calls, "{what}: {calls} of {}", self.calls);
        assert!(bytes >= self.bytes, "{what}: {bytes} of {}", self.bytes);
        assert_eq!(self.stats.number("lost_events"), 0, "{what}");
        let unknown = self.stats.value("unknown_releases");
        assert_eq!(
            (&unknown["twice"], &unknown["before_start"]),
            (&0.into(), &0.into()),
            "{what}"
        );
        let left = self.stats.number("end_live_bytes");
        assert!(left < OTHERS_BYTES, "{what}: {left} bytes left");
        assert_eq!(self.stats.number("allocations_of_live_addresses"), 0);
    }
}

impl Ran {
    /// The log has nothing of the plugin but its name, and the page says so.
    #[track_caller]
    fn names(&self, plugin: &Path, reason: &str, word: &str) {
        assert!(self.bytes > 70_000_000, "{} bytes taken", self.bytes);
        let named = self.stats.value("unrecorded_libraries");
        let plugin = plugin.to_str().expect("text");
        let expected = serde_json::json!([{ "name": plugin, "reason": reason }]);
        assert_eq!(named, &expected);
        let flat = self.page.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["are not recorded", plugin, word, "NOT SEEN"] {
            assert!(flat.contains(words), "{words}: {}", self.page);
        }
        let coverage = self.stats.value("coverage");
        assert_eq!(coverage["is_low"], true, "{coverage}");
    }
}

#[test]
fn deeply_bound_plugins_are_recorded() {
    if !GXX.is_here("plugins bound deeply") {
        return;
    }
    let folder = Folder::new("deep");
    let (host, plugins) = built(&folder, &[]);
    for plugin in &plugins {
        for mode in ["deep", "apart"] {
            let ran = record(&folder, &host, mode, plugin, None);
            assert!(ran.bytes > 70_000_000, "{} bytes taken", ran.bytes);
            let what = format!("{mode} {}", plugin.display());
            ran.is_whole(&what);
            let most = ran.bytes + OTHERS_BYTES;
            assert!(ran.stats.number("total_bytes") < most, "{what}");
        }
    }
}

#[test]
fn deeply_bound_plugins_are_recorded_in_a_storm_of_loads() {
    if !GXX.is_here("plugins bound deeply, in a storm") {
        return;
    }
    let folder = Folder::new("deep_storm");
    let (host, plugins) = built(&folder, &[]);
    for plugin in &plugins {
        let ran = record(&folder, &host, "threads", plugin, None);
        ran.is_whole(&format!("threads {}", plugin.display()));
    }
}

/// A heap that only the namespace's own libc knows cannot be recorded: it is
/// left alone, and told.
#[test]
fn plugins_in_namespaces_are_named() {
    if !GXX.is_here("plugins in namespaces") {
        return;
    }
    let folder = Folder::new("namespaces");
    let (host, plugins) = built(&folder, &[]);
    for plugin in &plugins {
        let ran = record(&folder, &host, "namespace", plugin, None);
        let allocated = ran.stats.number("total_bytes");
        assert!(allocated < OTHERS_BYTES, "{allocated}");
        ran.names(plugin, "namespace", "dlmopen");
    }
}

/// Beside jemalloc such a plugin uses libc's allocator, as natively.
#[test]
fn plugins_of_another_allocator_are_named() {
    if !GXX.is_here("plugins of another allocator") {
        return;
    }
    if !Path::new(JEMALLOC).exists() {
        println!("SKIPPED plugins of another allocator: there is no {JEMALLOC}");
        return;
    }
    let folder = Folder::new("deep_jemalloc");
    let (host, plugins) = built(&folder, &["-DOWN_ONLY"]);
    for plugin in &plugins {
        let ran = record(&folder, &host, "apart", plugin, Some(JEMALLOC));
        let allocated = ran.stats.number("total_bytes");
        assert!(allocated < ran.bytes / 2, "{allocated} of {}", ran.bytes);
        ran.names(plugin, "other-allocator", "RTLD_DEEPBIND");
    }
}

/// Memory in megabytes, by malloc and by bare system calls, and the share that
/// is explained, in percent.
const SHARES: [(u32, u32, std::ops::RangeInclusive<u64>); 4] = [
    (60, 0, 93..=100),
    (45, 15, 66..=82),
    (10, 50, 10..=25),
    (1, 59, 0..=5),
];

/// A program that knows its own truth, linked in either way.
#[test]
fn the_page_says_how_much_is_covered() {
    let folder = Folder::new("coverage");
    let lib = folder.recorder();
    let dynamic = GCC.build::<&str>(&folder, "raw_maps.c", "raw_maps", &[]);
    let commands = format!("@{}", lib.join("memlog_s_ld_cmds").display());
    let link = ["-static", commands.as_str()];
    let fixed = GCC.build(&folder, "raw_maps.c", "raw_maps_static", &link);
    for (heap, raw, shares) in SHARES {
        for program in [&dynamic, &fixed] {
            let log = folder.path("coverage.memlog");
            let _ = std::fs::remove_file(&log);
            let sizes = [heap.to_string(), raw.to_string()];
            let mut command = match program == &dynamic {
                true => {
                    let mut command = folder.memlog(&["record", "-o"]);
                    command.arg(&log).arg(program);
                    command
                }
                false => {
                    let mut command = folder.command(program);
                    command.env("MEMLOG_OUTPUT", &log);
                    command
                }
            };
            let output = command.args(&sizes).output().expect("it runs");
            assert!(output.status.success(), "{}", said(&output));
            let coverage = folder.stats(&log).value("coverage").clone();
            let percent = coverage["percent"].as_f64().expect("a share");
            assert!(
                shares.contains(&(percent as u64)),
                "{heap} of heap, {raw} by system calls: {coverage}"
            );
            let page = folder.says(&["summary".as_ref(), log.as_os_str()]);
            let is_low = *shares.end() < 50;
            assert!(page.contains("coverage: "), "{page}");
            assert_eq!(coverage["is_low"], is_low, "{coverage}");
            assert_eq!(page.contains("NOT SEEN"), is_low, "{page}");
            assert_eq!(page.contains("who holds them"), is_low, "{page}");
            // Who asks about blocks is warned, and told no more of what is no block.
            let blocks = ["histogram", "size"].map(AsRef::as_ref);
            let page = folder.says(&[blocks[0], blocks[1], log.as_os_str()]);
            assert_eq!(page.contains("NOT SEEN"), is_low, "{page}");
            assert!(!page.contains("who holds them"), "{page}");
        }
    }
}
