//! What is left in the program: nothing that it could find.

use crate::{Facts, MANY, same};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Descriptors, threads, caught signals and the umask are those of a native
/// run: before the first block, after it, and after the log has grown.
#[test]
fn descriptors_threads_and_settings_are_as_they_were() {
    let facts = Facts::new("left");
    for sink in ["mapped", "written"] {
        let log = facts.folder.path(&format!("{sink}.memlog"));
        let output = same(|recorded| {
            let mut command = facts.command(":", &[MANY], recorded);
            command.env("MEMLOG_OUTPUT", &log).env("MEMLOG_SINK", sink);
            command
        });
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let count = |what: &str| told.lines().filter(|line| line.starts_with(what)).count();
        // The three times alike, and a list of them there was.
        let parts: Vec<_> = told
            .split("-- ")
            .skip(1)
            .map(|part| part.split_once('\n'))
            .collect();
        let lists: Vec<_> = parts
            .iter()
            .flatten()
            .map(|(_, list)| list.replace("300000 blocks\n", ""))
            .collect();
        assert_eq!(lists.len(), 3, "{told}");
        assert!(lists[0] == lists[1] && lists[1] == lists[2], "{told}");
        assert!(lists[0].contains("fd 1 pipe:"), "{told}");
        assert_eq!(count("task: 1"), 3, "{told}");
        assert_eq!(count("SigCgt:\t0000000000000000"), 3, "{told}");
        assert!(!told.contains("socket"), "{told}");
        assert!(
            std::fs::metadata(&log).expect("a log").blocks() * 512 > 1 << 20,
            "it grew"
        );
    }
}

/// The libraries ask for no function that listens, connects or starts a
/// program, so none of them can.
#[test]
fn the_recorder_can_neither_listen_nor_start_anything() {
    let facts = Facts::new("symbols");
    let folder = facts.library.parent().expect("a folder");
    for (name, word) in [
        ("libmemlog.so", "-D"),
        ("libmemlog_new.so", "-D"),
        ("memlog_s.o", "-g"),
    ] {
        let mut command = facts.folder.command("nm");
        command
            .args([word, "--undefined-only"])
            .arg(folder.join(name));
        let output = command.output().expect("nm");
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("text");
        let asked: Vec<_> = text
            .split_whitespace()
            .filter(|word| word.len() > 1)
            .collect();
        assert!(!asked.is_empty(), "{name}: nm shows nothing");
        let allowed = |symbol: &&str| {
            let symbol = symbol.split('@').next().unwrap_or(symbol);
            let own = symbol.starts_with("__real_") || symbol.starts_with("memlog_");
            let linker = [
                "_GLOBAL_OFFSET_TABLE_",
                "__ehdr_start",
                "_DYNAMIC",
                "_dl_find_object",
                "__libc_stack_end",
            ];
            let blocks = ["malloc", "memalign", "free", "malloc_usable_size"];
            // Where they lie is looked at (arch/x86_64_marks.rs), where there are any.
            let marks = [
                "exit",
                "pthread_exit",
                "__libc_start_main",
                "pthread_create",
                "__environ",
                "_r_debug",
                "_dl_debug_addr",
            ];
            // And whose operators and allocator are in the program (linked.rs); weak.
            let looks = ["_Znwm", "__wrap__Znwm", "mallocx", "mi_new", "tc_new"];
            // For who has chosen a signal to switch recording; weak.
            let chosen = ["sigaction"];
            let known = [&linker[..], &blocks, &marks, &looks, &chosen];
            own || known.iter().any(|names| names.contains(&symbol))
        };
        let others: Vec<_> = asked.iter().filter(|symbol| !allowed(symbol)).collect();
        assert!(others.is_empty(), "{name} asks for {others:?}");
    }
    raw_calls();
}

/// All other ways lead through the recorder's one room for system calls.
fn raw_calls() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("wrap/src");
    let mut numbers = Vec::new();
    let mut folders = vec![source];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("list").flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "tests") {
                    folders.push(path);
                }
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            for part in text.split("SYS_").skip(1) {
                let end =
                    part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                numbers.push(part[..end.unwrap_or(part.len())].to_owned());
            }
        }
    }
    assert!(
        numbers.contains(&"openat".to_owned()),
        "this test has gone blind"
    );
    // The guard's, which is to end its own process where that was asked for: one a
    // platform.
    let kills = numbers.iter().filter(|number| *number == "kill");
    assert_eq!(kills.count(), 2, "a signal is sent in one place a platform");
    let forbidden = [
        "socket",
        "bind",
        "listen",
        "connect",
        "accept",
        "accept4",
        "sendto",
        "sendmsg",
        "execve",
        "execveat",
        "fork",
        "vfork",
        "clone",
        "clone3",
        "umask",
        "ptrace",
        "chmod",
        "chown",
        "setuid",
        "dup",
        "dup2",
        "dup3",
        "memfd_create",
        "process_vm_writev",
    ];
    for name in &numbers {
        assert!(
            !forbidden.contains(&name.as_str()),
            "the recorder calls {name}"
        );
    }
}
