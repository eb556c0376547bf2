//! Threads that are named after they have allocated, as most are: the log has
//! the last names, by a program that knows.

mod sites;

use std::collections::BTreeMap;

use sites::build::GCC;
use sites::{Folder, said};

#[test]
fn the_last_name_of_each_thread_is_told() {
    let folder = Folder::new("thread-names");
    let program = GCC.build::<&str>(&folder, "thread_names.c", "named", &[]);
    let mut command = folder.memlog(&["record", "-o", "it.memlog"]);
    let output = command.arg(&program).output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let expected: BTreeMap<String, String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(tid, name)| (tid.into(), name.into()))
        .collect();
    assert_eq!(expected.len(), 4);
    let log = folder.path("it.memlog");
    let stats = folder.stats(&log);
    let named = stats.value("thread_names").as_array().expect("a list");
    let told: BTreeMap<String, String> = named
        .iter()
        .map(|thread| {
            let name = thread["name"].as_str().expect("a name");
            (thread["tid"].to_string(), name.to_owned())
        })
        .collect();
    assert_eq!(told, expected);
    // Two of them are gone before the last comes, who takes over a stream.
    assert_eq!(stats.number("threads"), 4);
    assert!(stats.number("threads_at_once") <= 4);
    let dump = folder.says(&[
        "dump".as_ref(),
        "--no-symbols".as_ref(),
        "--threads".as_ref(),
        log.as_os_str(),
    ]);
    let before = "THREAD: for a while\t";
    let after = "THREAD: by itself\t";
    let place = |text: &str| dump.find(text).unwrap_or_else(|| panic!("{dump}"));
    assert!(place(before) < place(after));
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    assert!(page.contains(" the first, "), "{page}");
}

/// Who allocated holds it, whoever frees it.
#[test]
fn each_thread_holds_what_it_allocated() {
    let folder = Folder::new("by-thread");
    let program = GCC.build::<&str>(&folder, "by_thread.c", "by_thread", &[]);
    let mut command = folder.memlog(&["record", "-o", "it.memlog"]);
    let output = command.arg(&program).output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let log = folder.path("it.memlog");
    let stats = folder.stats(&log);
    let list = stats.value("rss_peak_live_by_thread").as_array();
    let list = list.expect("a list");
    let mut sum = 0;
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    for thread in list {
        let name = thread["name"].as_str().expect("a name");
        let bytes = thread["bytes"].as_u64().expect("bytes");
        let told = format!("{name} {bytes} {}", thread["blocks"]);
        held.insert(thread["tid"].to_string(), told);
        sum += bytes;
    }
    assert_eq!(sum, stats.number("rss_peak_live_bytes"));
    let text = String::from_utf8_lossy(&output.stdout);
    let truth = text.lines().filter_map(|line| line.split_once(' '));
    let truth: Vec<_> = truth.collect();
    assert_eq!(truth.len(), 5, "{text}");
    for (tid, told) in truth {
        // Besides it holds what its C library does for the others.
        if !told.starts_with("main") {
            assert_eq!(held[tid], told, "{held:?}");
        }
    }
    let page = folder.says(&["summary".as_ref(), log.as_os_str()]);
    let line = "by thread: 54.5 % of what was live at the RSS peak allocated by taker, 27.3 % by worker (3 threads),";
    assert!(page.contains(line), "{page}");
    assert!(page.contains(" 18.2 % by the main thread\n"), "{page}");
    assert!(!page.contains(" by giver"), "{page}");
}
