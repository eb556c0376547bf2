//! Blocks of an allocator of the program's own: each is in the log as the program
//! counted it, and none twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{recorded, stripped, told, with_header};

/// What the program said behind a word.
fn truth(output: &Output, word: &str) -> (u64, u64) {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    let mut words = line.expect("a line").split_whitespace();
    let mut number = || words.next().expect("a word").parse().expect("a number");
    (number(), number())
}

#[track_caller]
fn of(folder: &Folder, log: &Path, filter: &str) -> (u64, u64) {
    let page = told(folder, &["table", "--where", filter], log);
    let number = |name: &str| page[name].as_u64().unwrap_or_else(|| panic!("{page:#}"));
    (number("bytes"), number("blocks"))
}

/// Of each function of the allocator what came by it.
#[track_caller]
fn kinds(folder: &Folder, log: &Path, filter: &str) -> BTreeMap<String, (u64, u64)> {
    let mut words = vec!["table", "--by", "kind"];
    if !filter.is_empty() {
        words.extend(["--where", filter]);
    }
    let page = told(folder, &words, log);
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let rows = page["rows"].as_array().expect("rows").iter().map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, (number(&row["bytes"]), number(&row["blocks"])))
    });
    rows.collect()
}

#[track_caller]
fn agrees(folder: &Folder, log: &Path, output: &Output) {
    let live = |word: &str, function: &str| {
        let filter = format!("function = {function} and leaked");
        assert_eq!(of(folder, log, &filter), truth(output, word), "{word}");
    };
    assert_eq!(
        of(folder, log, "function = small and size < 65536"),
        truth(output, "asked")
    );
    live("small", "small");
    live("moved", "resize");
    live("first", "first");
    live("plain", "plain");
    // Pools came, and none is in use.
    assert!(of(folder, log, "size = 65536").1 > 100);
    assert_eq!(of(folder, log, "size = 65536 and leaked"), (0, 0));
    // What was resized is one chain.
    let moved = of(folder, log, "function = small and moved").1;
    assert_eq!(moved, truth(output, "moved").1);
    // They have names of their own, and so have the pools.
    let kinds = kinds(folder, log, "");
    assert_eq!(kinds["custom realloc"], truth(output, "moved"));
    assert_eq!(kinds["pool"], of(folder, log, "size = 65536"));
    let small = truth(output, "asked");
    // One of `first` went with its pool.
    let all = (small.0 + 2 * 77, small.1 + 2);
    assert_eq!(kinds["custom"], all, "{kinds:?}");
    assert_eq!(of(folder, log, "kind = malloc and size = 65536"), (0, 0));
    assert_eq!(
        of(folder, log, "kind = malloc and function = plain"),
        truth(output, "plain")
    );
    // It is the arena's function that asked, and none of the header's.
    assert_eq!(of(folder, log, "function ~ \"^memlog_\""), (0, 0));
    let stats = folder.stats(log);
    for name in ["lost_events", "allocations_of_live_addresses"] {
        assert_eq!(stats.number(name), 0, "{name}");
    }
    for kind in ["before_start", "of_parent", "twice"] {
        assert_eq!(stats.value("unknown_releases")[kind], 0, "{kind}");
    }
}

fn has_doors() -> bool {
    let has = std::env::consts::ARCH == "x86_64";
    if !has {
        println!("SKIPPED blocks that the program tells of: not recorded on this processor");
    }
    has
}

#[test]
fn an_arena_is_in_the_log_as_it_counts_itself() {
    let folder = Folder::new("custom");
    let program = GCC.build(&folder, "arena.c", "arena", &["-pthread"]);
    if !has_doors() {
        return;
    }
    let (log, output) = recorded(&folder, "it.memlog", &Command::new(&program));
    agrees(&folder, &log, &output);

    // A block that is listed, an address that is asked for, and a log without the events of
    // short lives know it too.
    let page = told(
        &folder,
        &["table", "--list", "--where", "function = resize and leaked"],
        &log,
    );
    let one = &page["list"][0];
    assert_eq!(one["kind"], "custom realloc");
    let address = one["address"].as_str().expect("an address");
    let words = [
        "where".as_ref(),
        "--json".as_ref(),
        log.as_os_str(),
        address.as_ref(),
    ];
    let page: serde_json::Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let found = page["rows"].as_array().expect("rows").iter();
    assert!(
        found.clone().any(|row| row["kind"] == "custom realloc"),
        "{page:#}"
    );
    let stripped = stripped(&folder, &log);
    assert_eq!(kinds(&folder, &stripped, ""), kinds(&folder, &log, ""));

    // One that overwrites its oldest events knows it of those that it has.
    let mut command = Command::new(&program);
    command.env("MEMLOG_FLIGHT_RECORDER", "256K");
    let (flight, _) = recorded(&folder, "flight.memlog", &command);
    let (known, all) = (kinds(&folder, &flight, ""), kinds(&folder, &log, ""));
    assert!(
        known["custom"].1 > 0 && known["custom"].1 <= all["custom"].1,
        "{known:?}"
    );

    // Without a word of it there are pools alone.
    let mut command = Command::new(&program);
    command.arg("silent");
    let whole = log;
    let (log, output) = recorded(&folder, "silent.memlog", &command);
    assert!(of(&folder, &log, "kind = malloc and size = 65536 and leaked").1 > 0);
    // Pools cost what is known of each, and not a table for all that there might be: it would
    // move the moment of the highest RSS.
    let more = own_memory(&folder, &whole).saturating_sub(own_memory(&folder, &log));
    assert!(more < 1 << 20, "{more} bytes for 129 pools");
    assert_eq!(of(&folder, &log, "kind ~ custom or kind = pool"), (0, 0));
    assert_eq!(
        of(&folder, &log, "function = small and size < 65536"),
        (0, 0)
    );
    assert_eq!(
        of(&folder, &log, "function = plain"),
        truth(&output, "plain")
    );
}

#[test]
fn an_arena_that_is_linked_with_memlog() {
    let folder = Folder::new("custom-linked");
    if !has_doors() {
        return;
    }
    let lib = folder.recorder();
    for way in ["--static", "--dynamic"] {
        let words = [
            "ldflags".as_ref(),
            way.as_ref(),
            "--lib".as_ref(),
            lib.as_os_str(),
        ];
        let flags = folder.says(&words);
        let mut link: Vec<&str> = flags.split_whitespace().collect();
        link.push("-pthread");
        if way == "--static" {
            link.insert(0, "-static");
        }
        let program = GCC.build(&folder, "arena.c", &format!("arena{way}"), &link);
        let log = folder.path(&format!("it{way}.memlog"));
        let output = folder
            .command(&program)
            .env("MEMLOG_OUTPUT", &log)
            .output()
            .expect("it runs");
        agrees(&folder, &log, &output);
    }
}

/// Where memlog is absent, the program goes on as ever.
#[test]
fn an_arena_without_memlog() {
    let folder = Folder::new("custom-absent");
    for (name, link) in [
        ("dynamic", &["-pthread"][..]),
        ("static", &["-static", "-pthread"]),
    ] {
        let program = GCC.build(&folder, "arena.c", name, link);
        let output = folder.command(&program).output().expect("it runs");
        assert_eq!(truth(&output, "first"), (77, 1));
    }
}

/// What is printed is a command that says who allocated the address.
#[test]
fn an_address_is_traced() {
    let folder = Folder::new("custom-trace");
    let code = r#"
        #include "memlog.h"
        #include <stdlib.h>
        void *volatile kept;
        __attribute__((noinline)) static void take(size_t size) { kept = malloc(size); }
        int main(void) {
            take(4711);
            memlog_print_trace(kept);
            return 0;
        }"#;
    let program = with_header(&folder, code, &[]);
    let native = folder.command(&program).output().expect("it runs");
    assert!(native.status.success() && native.stderr.is_empty());

    let log = folder.path("it.memlog");
    let mut command = folder.command(&program);
    command.env("LD_PRELOAD", folder.recorder().join("libmemlog.so"));
    let output = command
        .env("MEMLOG_OUTPUT", &log)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines();
    let pid = lines.next().expect("a line").strip_prefix("PID: ");
    assert!(pid.expect("a number").parse::<u32>().is_ok(), "{text}");
    let words = lines.next().expect("a command").split(' ');
    let words: Vec<_> = words.skip(1).map(std::ffi::OsStr::new).collect();
    let page = folder.says(&words);
    assert!(page.contains("take") && page.contains("4,711"), "{page}");

    command.env("MEMLOG_OFF", "1");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text, "memlog has no log of this process\n");
}

/// Private memory of the recorder.
fn own_memory(folder: &Folder, log: &Path) -> u64 {
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    let mut lines = page.lines().map(str::trim_start);
    let value = lines.find_map(|line| line.strip_prefix("own_private_bytes"));
    let value = value.expect("a counter").trim().replace(',', "");
    value.parse().expect("a number")
}
