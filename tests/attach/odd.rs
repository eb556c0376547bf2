//! What memlog may meet: others like it, signals, full disks, lists without end, and
//! processes that the C library does not know of.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Folder, GCC, Living, built, does, status};

/// The logs in a folder.
fn logs(folder: &Folder, name: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.path(name)).expect("a folder");
    entries.map(|entry| entry.expect("a log").path()).collect()
}

/// One waits for the other, and there is one recorder.
#[test]
fn two_at_once() {
    let folder = Folder::new("attach-two");
    built(&folder);
    folder.folder("logs");
    let living = Living::way(&folder, "threads");
    let pid = living.pid();
    for _ in 0..10 {
        let attach = || {
            let mut command = folder.memlog(&["attach", &pid, "-o", "logs/"]);
            command.stdout(Stdio::null()).spawn().expect("memlog")
        };
        let both = [attach(), attach()];
        for mut one in both {
            assert!(one.wait().expect("it ends").success());
        }
        does(&folder, &["detach", &pid], "recording has ended");
    }
    living.ends_well("two at once");
    let logs = logs(&folder, "logs");
    assert_eq!(logs.len(), 1, "{logs:?}");
    folder.whole(&logs[0]);
}

/// Ctrl-C at any moment ends memlog, and not the program.
#[test]
fn ctrl_c_at_any_moment() {
    let folder = Folder::new("attach-interrupted");
    built(&folder);
    folder.folder("logs");
    let living = Living::way(&folder, "threads");
    let pid = living.pid();
    let masks = status(&pid, "SigBlk");
    for round in 0..40 {
        let mut command = folder.memlog(&["attach", &pid, "-o", "logs/"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut memlog = command.spawn().expect("memlog");
        sleep(Duration::from_micros(round * 500));
        let number = memlog.id().to_string();
        let _ = Command::new("kill")
            .args(["-INT", &number])
            .stderr(Stdio::null())
            .status();
        memlog.wait().expect("it ends");
        // The kernel lets go of it as the last thread of memlog ends.
        let end = Instant::now() + Duration::from_secs(1);
        while status(&pid, "TracerPid") != "TracerPid:\t0" {
            assert!(Instant::now() < end, "{round}: it is still traced");
        }
        assert_eq!(status(&pid, "SigBlk"), masks, "{round}");
        let _ = folder.run(&["detach", &pid]);
    }
    living.ends_well("interrupted");
}

/// A recorder that has not begun has the settings of who attaches last.
#[test]
fn who_attaches_last_says_where_the_log_goes() {
    let folder = Folder::new("attach-settings");
    built(&folder);
    let mut living = Living::way(&folder, "idle");
    let pid = living.pid();
    let attach = |log: &str| {
        let words = ["attach", &pid, "--wait", "200ms", "-o", log];
        does(&folder, &words, "it stood still for");
    };
    attach("first.memlog");
    does(&folder, &["detach", &pid], "nothing was recorded");
    attach("second.memlog");
    attach("third.memlog");
    assert_eq!(living.asked("count"), "counted");
    living.ends_well("idle");
    for (name, is_there) in [("first", false), ("second", false), ("third", true)] {
        let path = folder.path(&format!("{name}.memlog"));
        assert_eq!(path.exists(), is_there, "{name}");
    }
}

/// Who cannot say that it records leaves again.
#[test]
fn an_output_that_is_full() {
    let folder = Folder::new("attach-full");
    built(&folder);
    let living = Living::way(&folder, "churn");
    let pid = living.pid();
    let mut command = folder.memlog(&["attach", &pid, "-o", "it.memlog"]);
    let full = fs::File::options().write(true).open("/dev/full");
    command
        .stdout(full.expect("a full device"))
        .stderr(Stdio::null());
    assert!(!command.status().expect("memlog").success());
    does(&folder, &["ctl", &pid, "status"], "recording is off");
    living.ends_well("full");
}

/// A child by clone(2) has the number of its parent in what the C library knows.
#[test]
fn children_that_the_c_library_does_not_know() {
    let folder = Folder::new("attach-clones");
    built(&folder);
    folder.folder("logs");
    let living = Living::way(&folder, "clones");
    let pid = living.pid();
    does(
        &folder,
        &["attach", &pid, "-o", "logs/", "--for", "500ms"],
        "recording has ended",
    );
    living.ends_well("clones");
    let logs = logs(&folder, "logs");
    assert!(logs.len() > 3, "{logs:?}");
    for log in logs {
        let stats = folder.whole(&log);
        assert!(stats["threads"].as_u64().expect("threads") < 3, "{stats:#}");
    }
}

/// A thread that has the stack of one that ended is not taken for that one as it forks.
#[test]
fn heirs_fork() {
    let folder = Folder::new("attach-heirs");
    built(&folder);
    folder.folder("logs");
    let mut living = Living::way(&folder, "idle");
    let pid = living.pid();
    does(
        &folder,
        &["attach", &pid, "--wait", "200ms", "-o", "logs/"],
        "it stood still for",
    );
    for _ in 0..5 {
        assert_eq!(living.asked("heirs"), "forked");
    }
    living.ends_well("heirs");
    let logs = logs(&folder, "logs");
    assert_eq!(logs.len(), 6, "{logs:?}");
}

/// Where the program lies, and what its list of libraries is like.
#[test]
fn programs_at_other_places() {
    let folder = Folder::new("attach-places");
    built(&folder);
    let low = [
        "-no-pie",
        "-Wl,-Ttext-segment=0x10000000",
        "-pthread",
        "-ldl",
    ];
    GCC.build(&folder, "attached.c", "low", &low);
    for (program, way) in [("attached", "asks"), ("low", "asks"), ("attached", "ring")] {
        let log = format!("{program}-{way}.memlog");
        let mut command = folder.command(folder.path(program));
        command.arg(way);
        let mut living = Living::start(command);
        let pid = living.pid();
        let words = ["attach", &pid, "--wait", "300ms", "-o", &log];
        does(&folder, &words, "it stood still for");
        assert_eq!(living.asked("count"), "counted");
        sleep(Duration::from_millis(100));
        does(&folder, &["detach", &pid], "recording has ended");
        living.ends_well(&log);
        let stats = folder.whole(&folder.path(&log));
        let more = if way == "asks" { 10 } else { 0 };
        let allocations = stats["allocations"].as_u64().expect("it");
        assert!(allocations >= 1000 + more, "{log}: {stats:#}");
    }
}
