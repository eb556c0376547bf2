//! Where the logs are, what they are called, and what is said of that.

use super::*;

#[test]
fn says_where_the_log_is_and_what_is_next() {
    let folder = Folder::new("log");
    let output = folder.run(&["record", "true"]);
    let names = folder.names();
    let [name] = names.as_slice() else {
        panic!("one log, not {names:?}: {}", said(&output))
    };
    assert!(
        said(&output).contains(&format!("next: memlog summary {name}\n")),
        "{}",
        said(&output)
    );
    assert!(
        said(&output).contains("nothing was lost"),
        "{}",
        said(&output)
    );
    assert_eq!(
        fs::metadata(folder.path(name)).expect("log").mode() & 0o777,
        0o600
    );
}

#[test]
fn a_pattern_names_the_log_and_an_existing_one_is_kept() {
    let folder = Folder::new("pattern");
    for _ in 0..2 {
        let output = folder.run(&["record", "-o", "out.memlog", "true"]);
        assert!(
            said(&output).contains("next: memlog summary out."),
            "{}",
            said(&output)
        );
    }
    assert_eq!(folder.names(), ["out.2.memlog", "out.memlog"]);
    let output = folder.run(&["record", "-o", "%e-%p.memlog", "true"]);
    assert!(
        said(&output).contains("next: memlog summary true-"),
        "{}",
        said(&output)
    );
}

/// Who reads the name that was asked for is told that it is the old log.
#[test]
fn a_name_that_was_taken_is_told_and_replaced_by_force() {
    let folder = Folder::new("force");
    let run = |words: &[&str]| {
        let output = folder.run(&[&["record", "-o", "it.memlog"], words].concat());
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let told =
        "\nmemlog: it.memlog was there before: this log is it.2.memlog; --force replaces it\n";
    let first = run(&["true"]);
    assert!(!first.contains("was there before"), "{first}");
    let info = |name| folder.run(&["info", name]).stdout;
    let old = info("it.memlog");
    let second = run(&["true"]);
    assert!(format!("\n{second}").contains(told), "{second}");
    assert_eq!(info("it.memlog"), old);
    let third = run(&["--force", "true"]);
    assert!(!third.contains("was there before"), "{third}");
    let stays = "it.2.memlog stays, of an earlier run: --force replaces only the log of the name";
    assert!(third.contains(stays), "{third}");
    assert!(
        third.contains("next: memlog summary it.memlog\n"),
        "{third}"
    );
    assert_eq!(folder.names(), ["it.2.memlog", "it.memlog"]);
    assert_ne!(info("it.memlog"), old);
    // Codes name another log in each run.
    let output = folder.run(&["record", "--force", "-o", "%p.memlog", "true"]);
    assert!(output.status.success() && folder.names().len() == 3);
}

/// Not what is no log, nor one that is still written; and it stays where nothing
/// is recorded.
#[test]
fn force_takes_nothing_else_away() {
    let folder = Folder::new("force-not");
    fs::write(folder.path("notes"), "a program's own").expect("write");
    let force = |name| folder.run(&["record", "--force", "-o", name, "touch", "started"]);
    refused(
        &force("notes"),
        &["--force does not replace ", "notes: it is no log of memlog"],
    );
    let mut running = folder
        .memlog(&["record", "-o", "live", "sh", "-c", "read word"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("spawn");
    let mut time = OwnTime::start();
    let has_begun = || fs::metadata(folder.path("live")).is_ok_and(|found| found.len() > 0);
    while !has_begun() && time.spent() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    refused(
        &force("live"),
        &["live: process ", " may still write to it"],
    );
    drop(running.stdin.take());
    running.wait().expect("wait");
    assert!(!folder.path("started").exists());
    refused(
        &folder.run(&["record", "--force", "-o", "live", "./none"]),
        &["none"],
    );
    assert_eq!(folder.names(), ["live", "notes"]);
    assert!(force("live").status.success());
    assert_eq!(folder.names(), ["live", "notes", "started"]);
}

/// The / says that it is a folder, so it can be one.
#[test]
fn a_folder_for_logs_is_made() {
    let folder = Folder::new("made");
    let output = folder.run(&["record", "-o", "new/logs/", "true"]);
    let said_so = said(&output).contains("next: memlog summary new/logs/");
    assert!(output.status.success() && said_so, "{}", said(&output));
    let mut command = folder.memlog(&["record", "true"]);
    let output = command
        .env("MEMLOG_OUTPUT", "other/")
        .output()
        .expect("run");
    let said_so = said(&output).contains("next: memlog summary other/");
    assert!(output.status.success() && said_so, "{}", said(&output));
}

/// In time to stop it, and by the name of what was set.
#[test]
fn a_pattern_that_means_nothing_is_told() {
    let folder = Folder::new("codes");
    let output = folder.run(&["record", "-o", "x%z-%%.memlog", "true"]);
    let text = said(&output);
    let note = "memlog: note: %z in the log's name, given by -o, means nothing";
    assert!(
        text.starts_with(note) && !text.contains("MEMLOG_OUTPUT"),
        "{text}"
    );
    assert_eq!(folder.names(), ["x%z-%.memlog"]);
    let mut command = folder.memlog(&["record", "true"]);
    let output = command.env("MEMLOG_OUTPUT", "y%z").output().expect("run");
    let text = said(&output);
    assert!(text.contains("given by MEMLOG_OUTPUT, means"), "{text}");
    let page = folder.run(&["info", "y%z"]).stdout;
    let page = String::from_utf8_lossy(&page);
    let note = "not understood: %z in MEMLOG_OUTPUT\n";
    assert!(page.contains(note), "{page}");
}

/// What else the program leaves in the folder is not taken for a log, and a
/// pipe there is not waited for.
#[test]
fn other_new_files_are_left_alone() {
    let folder = Folder::new("others");
    let output = folder.run(&[
        "record",
        "sh",
        "-c",
        "mkfifo pipe; echo MLOG >short; mkdir new",
    ]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("next: memlog summary "),
        "{}",
        said(&output)
    );
    for name in ["pipe", "short", "new"] {
        assert!(!said(&output).contains(name), "{}", said(&output));
    }
}

#[test]
fn logs_lie_in_one_folder_though_the_program_goes_elsewhere() {
    let folder = Folder::new("chdir");
    fs::create_dir(folder.path("elsewhere")).expect("mkdir");
    let output = folder.run(&["record", "sh", "-c", "cd elsewhere; env true; exec true"]);
    assert!(said(&output).contains("true)"), "{}", said(&output));
    assert_eq!(
        fs::read_dir(folder.path("elsewhere"))
            .expect("list")
            .count(),
        0
    );
    assert!(folder.names().len() >= 3, "{:?}", folder.names());
}

#[test]
fn a_log_that_never_appeared_is_told() {
    let folder = Folder::new("nolog");
    fs::create_dir(folder.path("gone")).expect("mkdir");
    let wrapper = "unset LD_PRELOAD MEMLOG_DIR; rm -f gone/*; exit 6";
    let output = folder.run(&["record", "-o", "gone", "sh", "-c", wrapper]);
    assert_eq!(output.status.code(), Some(6));
    assert!(
        said(&output).contains("no log appeared in "),
        "{}",
        said(&output)
    );
}

/// What was killed has no last word on its peak, and is the one asked about.
#[test]
fn the_next_line_names_a_larger_program_that_was_killed() {
    let folder = Folder::new("killed");
    // Until it holds most of them, however long it takes.
    let holds = "yes | tail -c 60000000 & \
                 until [ \"${kb:-0}\" -gt 50000 ]; do \
                     while read -r name value rest; do \
                         [ $name != VmRSS: ] || kb=$value; \
                     done </proc/$!/status; \
                 done; kill -9 $!; wait";
    let output = folder.run(&["record", "-o", "%e.memlog", "--", "sh", "-c", holds]);
    let text = said(&output);
    assert!(
        text.contains("next: memlog summary tail.memlog  # "),
        "{text}"
    );
}
