//! Whatever a program is amid, it goes on as if nobody had come.

use super::{Folder, Living, built, does, memlog, status};

/// Each way of living, attached to and left again and again. The victim ends itself where
/// a system call says EINTR, a block or a register is not what it was, or a clock goes
/// back.
#[test]
fn programs_go_on_whatever_they_are_amid() {
    const ROUNDS: u32 = 5;
    let folder = Folder::new("attach-alive");
    built(&folder);
    for way in [
        "idle", "churn", "threads", "breed", "signals", "loads", "naps", "polls", "epolls",
        "reads", "waits", "clocks", "computes", "forks", "eats", "all",
    ] {
        let living = Living::way(&folder, way);
        let pid = living.pid();
        let output = format!("{way}.memlog");
        let masks = status(&pid, "SigBlk");
        // Who allocates is soon recorded; the others are not waited for.
        let wait = match way {
            "loads" | "all" => "3s",
            _ => "400ms",
        };
        for round in 0..ROUNDS {
            let words = ["attach", &pid, "-o", &output, "--wait", wait];
            does(&folder, &words, "it stood still for");
            assert_eq!(status(&pid, "TracerPid"), "TracerPid:\t0", "{way} {round}");
            does(&folder, &["detach", &pid], "recording has ended");
        }
        assert!(!status(&pid, "State").contains('T'), "{way}");
        assert_eq!(status(&pid, "SigBlk"), masks, "{way}");
        living.ends_well(way);
        if folder.path(&output).exists() {
            folder.whole(&folder.path(&output));
        }
    }
}

/// A thread that gets the memory of one that ended is known as another one.
#[test]
fn threads_that_come_later_are_told_apart() {
    let folder = Folder::new("attach-breed");
    built(&folder);
    let living = Living::way(&folder, "breed");
    let pid = living.pid();
    does(
        &folder,
        &["attach", &pid, "-o", "it.memlog"],
        "recording into",
    );
    std::thread::sleep(std::time::Duration::from_millis(300));
    does(&folder, &["detach", &pid], "recording has ended");
    living.ends_well("breed");
    let stats = folder.whole(&folder.path("it.memlog"));
    let threads = stats["threads"].as_u64().expect("a number");
    assert!(threads > 50, "{stats:#}");
}

/// Who is left already does not answer, and goes on in the same log when it is attached to.
#[test]
fn a_second_detach_does_nothing() {
    let folder = Folder::new("attach-twice");
    built(&folder);
    let living = Living::way(&folder, "churn");
    let pid = living.pid();
    let first = ["attach", &pid, "-o", "it.memlog"];
    does(&folder, &first, "recording into");
    does(&folder, &["detach", &pid], "recording has ended");
    does(&folder, &["detach", &pid], "it is not being recorded");
    does(&folder, &["attach", &pid], "it.memlog");
    does(&folder, &["detach", &pid], "recording has ended");
    living.ends_well("churn");
    folder.whole(&folder.path("it.memlog"));
    assert_eq!(folder.logs("").len(), 1);
}

/// Whoever began to record ends it: `--for` of somebody else does not.
#[test]
fn a_recording_is_ended_by_nobody_else() {
    let folder = Folder::new("attach-else");
    built(&folder);
    let living = Living::way(&folder, "churn");
    let pid = living.pid();
    let first = ["attach", &pid, "-o", "it.memlog"];
    does(&folder, &first, "recording into");
    let (said, is_fine) = memlog(&folder, &["attach", &pid, "--for", "100ms"]);
    assert!(
        !is_fine && said.contains("it is recorded already"),
        "{said}"
    );
    // The log that goes on is the one that is asked for.
    let said = does(&folder, &first, "recording into");
    assert!(!said.contains("change nothing"), "{said}");
    let other = ["attach", &pid, "-o", "other.memlog"];
    does(
        &folder,
        &other,
        "-o, --max-log and --free-stacks change nothing",
    );
    let status = does(&folder, &["ctl", &pid, "status"], "recording is on");
    assert!(status.contains("it.memlog"), "{status}");
    does(&folder, &["detach", &pid], "recording has ended");
    living.ends_well("churn");
    let page = does(
        &folder,
        &["summary", "it.memlog"],
        "its end was not recorded",
    );
    assert!(!page.contains("killed"), "{page}");
}

/// `--for` is the time from attaching, also where nothing is ever allocated.
#[test]
fn a_program_that_does_nothing_is_left_in_time() {
    let folder = Folder::new("attach-idle");
    built(&folder);
    let living = Living::way(&folder, "idle");
    let pid = living.pid();
    let begun = std::time::Instant::now();
    let words = ["attach", &pid, "--for", "200ms", "--wait", "60s"];
    does(&folder, &words, "recording has ended");
    let took = begun.elapsed().as_secs_f64();
    assert!((0.2..30.0).contains(&took), "{took}");
    living.ends_well("idle");
}

/// A recording may last for as long as the program, which ends by exit.
#[test]
fn a_program_may_end_while_it_is_recorded() {
    let folder = Folder::new("attach-end");
    built(&folder);
    let mut living = Living::way(&folder, "threads");
    let pid = living.pid();
    does(
        &folder,
        &["attach", &pid, "-o", "it.memlog"],
        "recording into",
    );
    assert_eq!(living.asked("count"), "counted");
    living.ends_well("threads");
    let stats = folder.whole(&folder.path("it.memlog"));
    assert_eq!(stats["ended"], true, "{stats:#}");
}

/// `--for` waits, and leaves by itself.
#[test]
fn recording_for_a_time_ends_by_itself() {
    let folder = Folder::new("attach-for");
    built(&folder);
    let living = Living::way(&folder, "churn");
    let pid = living.pid();
    let words = ["attach", &pid, "-o", "it.memlog", "--for", "200ms"];
    does(&folder, &words, "recording has ended");
    let before = std::fs::metadata(folder.path("it.memlog")).expect("a log");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let after = std::fs::metadata(folder.path("it.memlog")).expect("a log");
    assert_eq!(before.len(), after.len());
    living.ends_well("churn");
    let stats = folder.whole(&folder.path("it.memlog"));
    let seconds = stats["duration_seconds"].as_f64().expect("a number");
    assert!((0.1..5.0).contains(&seconds), "{stats:#}");
}
