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
