//! Programs that are left alone, each with its reason, and unharmed.

use std::process::{Command, Stdio};

use super::{Folder, GCC, Living, built, does, memlog, status};

#[track_caller]
fn refuses(folder: &Folder, pid: &str, reason: &str) {
    let (text, is_fine) = memlog(folder, &["attach", pid, "-o", "refused.memlog"]);
    assert!(!is_fine && text.contains(reason), "{reason}: {text}");
    assert!(!folder.path("refused.memlog").exists(), "{reason}");
}

#[test]
fn programs_that_cannot_be_attached_to_safely_are_not() {
    let folder = Folder::new("attach-refused");
    built(&folder);
    GCC.build(&folder, "attached.c", "static", &["-static"]);
    let mut command = folder.command(folder.path("static"));
    command.arg("churn");
    let living = Living::start(command);
    refuses(&folder, &living.pid(), "linked statically");
    living.ends_well("static");

    let living = Living::way(&folder, "churn");
    let pid = living.pid();
    let kill = |signal: &str| {
        let killed = Command::new("kill").args([signal, &pid]).status();
        assert!(killed.expect("kill").success());
    };
    kill("-STOP");
    while !status(&pid, "State").contains('T') {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    refuses(&folder, &pid, "stopped by a signal");
    assert!(status(&pid, "State").contains('T'));
    kill("-CONT");
    // A folder in which it may not make a log, for whoever it is.
    let (text, is_fine) = memlog(
        &folder,
        &["attach", &pid, "-o", "/proc/self/nowhere/x.memlog"],
    );
    assert!(!is_fine && text.contains("cannot make its log"), "{text}");
    let (text, is_fine) = memlog(&folder, &["attach", &pid, "-o", "none/"]);
    assert!(!is_fine && text.contains("make that folder"), "{text}");
    does(
        &folder,
        &["attach", &pid, "-o", "it.memlog"],
        "recording into",
    );
    does(&folder, &["detach", &pid], "recording has ended");
    let (text, is_fine) = memlog(&folder, &["detach", &std::process::id().to_string()]);
    assert!(!is_fine && text.contains("nobody has attached"), "{text}");
    living.ends_well("churn");

    refuses(&folder, "4194300", "no such process");
    if folder.is_root() {
        refuses(&folder, "2", "thread of the kernel");
    }
}

#[test]
fn filters_tracers_and_recorders_are_respected() {
    let folder = Folder::new("attach-respected");
    built(&folder);
    let mut command = folder.memlog(&["record", "-o", "it.memlog", "./attached", "churn"]);
    command.stderr(Stdio::null());
    let living = Living::start(command);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let pid = loop {
        let info = folder.run(&["info", "--json", "it.memlog"]);
        let info: Option<serde_json::Value> = serde_json::from_slice(&info.stdout).ok();
        if let Some(pid) = info.and_then(|info| info["pid"].as_u64()) {
            break pid.to_string();
        }
        assert!(std::time::Instant::now() < end, "no log");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    refuses(&folder, &pid, "recorded already");
    let _ = living.end();

    if Command::new("strace").arg("-V").output().is_ok() {
        let living = Living::way(&folder, "churn");
        let pid = living.pid();
        let mut tracer = folder.command("strace");
        tracer.args(["-f", "-o", "/dev/null", "-p", &pid]);
        let mut tracer = tracer.stderr(Stdio::null()).spawn().expect("strace");
        while status(&pid, "TracerPid").ends_with("\t0") {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        refuses(&folder, &pid, "traces it already");
        tracer.kill().expect("it ends");
        tracer.wait().expect("it ended");
        living.ends_well("traced");
    } else {
        println!("SKIPPED a program that is traced: there is no strace");
    }

    let filtered = Command::new("setpriv")
        .args(["--no-new-privs", "true"])
        .status();
    if !filtered.is_ok_and(|status| status.success()) {
        println!("SKIPPED other rights: there is no setpriv");
        return;
    }
    if folder.is_root() {
        let living = Living::way(&folder, "churn");
        let mut other = folder.command("setpriv");
        other
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .args([env!("CARGO_BIN_EXE_memlog"), "attach", &living.pid()]);
        let output = other.output().expect("setpriv");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && text.contains("another user"),
            "{text}"
        );
        living.ends_well("another user");
        // Root may; the log is its user's.
        let logs = folder.folder("logs");
        std::os::unix::fs::chown(&logs, Some(65534), Some(65534)).expect("chown");
        let mut command = folder.command("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .args(["./attached", "churn"]);
        let living = Living::start(command);
        refuses(&folder, &living.pid(), "cannot make its log");
        does(
            &folder,
            &["attach", &living.pid(), "-o", "logs/"],
            "recording into",
        );
        does(&folder, &["detach", &living.pid()], "recording has ended");
        living.ends_well("a user's");
    }
}

/// A filter that would end it for a system call that it never makes.
#[test]
fn filtered_programs_are_left_alone() {
    let folder = Folder::new("attach-filtered");
    built(&folder);
    GCC.build::<&str>(&folder, "filter_on.c", "filter_on", &[]);
    let mut command = folder.command(folder.path("filter_on"));
    command.args(["./attached", "churn"]);
    let living = Living::start(command);
    refuses(&folder, &living.pid(), "seccomp");
    living.ends_well("filtered");
    // Of one thread alone.
    let living = Living::way(&folder, "filtered");
    refuses(&folder, &living.pid(), "seccomp");
    living.ends_well("a filtered thread");
}

/// A write that waits would say how much was written so far.
#[test]
fn transfers_are_not_cut_short() {
    let folder = Folder::new("attach-stuck");
    built(&folder);
    let living = Living::way(&folder, "stuck");
    let pid = living.pid();
    // It is amid the write by then.
    std::thread::sleep(std::time::Duration::from_millis(100));
    for command in ["attach", "attach", "attach"] {
        let (text, is_fine) = memlog(&folder, &[command, &pid, "--wait", "200ms"]);
        assert!(!is_fine && text.contains("cut short"), "{text}");
    }
    living.ends_well("stuck");
}
