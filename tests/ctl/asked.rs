//! Requests to a program that runs, and programs that cannot answer.

use std::os::unix::fs::FileExt;

use memlog_format::control::{Answer, Asked, TEXT_BYTES, Verb, Word};

use crate::*;

#[test]
fn a_running_program_is_asked() {
    let folder = Folder::new("ctl-asked");
    built(&folder);
    let server = Server::start(record(&folder, &[], &["serve", "0"]), &folder);
    let pid = &server.pid.to_string();
    does(&folder, pid, &["status"], "recording is on; ");
    does(&folder, "it.memlog", &["status"], "recording is on; ");
    does(&folder, ".", &["status"], "recording is on; ");
    // `memlog record` itself, which is the process that a shell knows.
    let child = format!("process {pid}, which it has started, has one");
    let parent = server.child.id().to_string();
    refuses(&folder, &parent, &["status"], &child);
    does(&folder, pid, &["start"], "recording was on already");
    pause();
    does(&folder, pid, &["mark", "phase <3> \u{e4}\u{f6}"], "marked");
    does(&folder, pid, &["snapshot"], "snapshot taken");
    does(&folder, pid, &["stop"], "recording is off");
    does(&folder, pid, &["stop"], "recording was off already");
    refuses(
        &folder,
        pid,
        &["mark", "late"],
        "recording is off, and there is nothing to mark",
    );
    does(&folder, pid, &["status"], "recording is off; ");
    does(&folder, pid, &["flush"], "the log has all of it");
    pause();
    does(&folder, pid, &["start"], "recording is on");
    does(&folder, pid, &["limit", "300K"], "the log has a new limit");
    pause();
    let json: Value =
        serde_json::from_str(&folder.says(&["ctl", "--json", pid, "status"])).unwrap();
    assert_eq!(
        (&json[0]["recording"], &json[0]["answer"]),
        (&true.into(), &"on".into())
    );
    assert_eq!(json[0]["pid"], server.pid);
    let long = "x".repeat(97);
    refuses(
        &folder,
        pid,
        &["mark", &long],
        "give one of at most 96 bytes",
    );
    does(&folder, pid, &["mark", &long[1..]], "marked");
    let pid = pid.clone();
    server.end();
    refuses(&folder, &pid, &["stop"], "there is no process");
    refuses(
        &folder,
        "it.memlog",
        &["stop"],
        "no program on this machine writes to",
    );
    let stats = is_whole(&folder, "it.memlog");
    assert_eq!(switches(&stats), by("ctl", &[false, true]));
    let page = self::json(&folder, &["timeline"], "it.memlog");
    let marks = page["marks"].as_array().expect("marks").iter();
    let names: Vec<_> = marks
        .map(|mark| mark["name"].as_str().expect("text"))
        .collect();
    let expected = [
        "phase <3> \u{e4}\u{f6}",
        "snapshot 1",
        "recording off",
        "recording on",
        &long[1..],
    ];
    assert_eq!(names, expected);
}

/// Many who ask at once get answers to their own requests, each request once.
#[test]
fn who_asks_at_the_same_time_waits() {
    let folder = Folder::new("ctl-many");
    built(&folder);
    let server = Server::start(record(&folder, &[], &["serve", "0"]), &folder);
    let pid = server.pid.to_string();
    std::thread::scope(|scope| {
        for asker in 0..4 {
            let (folder, pid) = (&folder, &pid);
            scope.spawn(move || {
                for number in 0..5 {
                    does(
                        folder,
                        pid,
                        &["mark", &format!("{asker}-{number}")],
                        "marked",
                    );
                }
            });
        }
    });
    server.end();
    let page = json(&folder, &["timeline"], "it.memlog");
    let marks = page["marks"].as_array().expect("marks").iter();
    let mut names: Vec<_> = marks
        .map(|mark| mark["name"].as_str().expect("text"))
        .collect();
    names.sort_unstable();
    let mut expected: Vec<_> = (0..4)
        .flat_map(|asker| (0..5).map(move |number| format!("{asker}-{number}")))
        .collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

/// A program that stands still answers when it goes on.
#[test]
fn a_program_that_stands_still_answers_later() {
    let folder = Folder::new("ctl-still");
    built(&folder);
    let server = Server::start(record(&folder, &[], &["serve", "0"]), &folder);
    let pid = server.pid.to_string();
    let signal = |name: &str| {
        let status = Command::new("kill").args([name, &pid]).status();
        assert!(status.expect("kill").success());
    };
    signal("-STOP");
    let wait = ["--wait", "100ms"];
    refuses(
        &folder,
        &pid,
        &[&wait[..], &["stop"]].concat(),
        "no answer within 0.1 s",
    );
    // What is asked last is what is done: a name of a mark is never two names.
    for text in ["a first name that is long", "a second one"] {
        refuses(
            &folder,
            &pid,
            &[&["mark", text], &wait[..]].concat(),
            "no answer within 0.1 s: it will when it allocates or frees next; the request \
             before had no answer, and is dropped",
        );
    }
    signal("-CONT");
    pause();
    does(&folder, &pid, &["status"], "recording is on; ");
    signal("-STOP");
    let stop = [&wait[..], &["stop"]].concat();
    refuses(&folder, &pid, &stop, "no answer within 0.1 s");
    signal("-CONT");
    // Who waits long enough drops nothing.
    does(&folder, &pid, &["start"], "recording is on");
    server.end();
    assert_eq!(
        switches(&is_whole(&folder, "it.memlog")),
        by("ctl", &[false, true])
    );
    let page = json(&folder, &["timeline"], "it.memlog");
    let marks = page["marks"].as_array().expect("marks").iter();
    let names: Vec<_> = marks.map(|mark| mark["name"].as_str()).collect();
    let expected = ["a second one", "recording off", "recording on"];
    assert_eq!(names, expected.map(Some));
}

/// A child that was forked while recording was off begins so, and can be asked.
#[test]
fn a_child_of_a_program_that_is_off() {
    let folder = Folder::new("ctl-child");
    built(&folder);
    let options = ["--start-disabled"];
    let server = Server::start(record(&folder, &options, &["serve", "0", "fork"]), &folder);
    let child = pid_of(&folder, "it.2.memlog").to_string();
    does(&folder, &child, &["status"], "recording is off; ");
    does(&folder, &child, &["start"], "recording is on");
    pause();
    does(&folder, &child, &["stop"], "recording is off");
    // All of the tree; the parent waits, and allocates nothing.
    let (text, _) = ctl(&folder, &server.pid.to_string(), &["-r", "status"]);
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("recording is off; "))
            .count(),
        2,
        "{text}"
    );
    server.end();
    let stats = is_whole(&folder, "it.2.memlog");
    assert_eq!(switches(&stats), by("ctl", &[true, false]));
    assert!(
        stats["allocations"]
            .as_u64()
            .is_some_and(|count| count > 20),
        "{stats:#}"
    );
}

/// Who waits and allocates nothing, as a launcher does, keeps nobody else waiting.
#[test]
fn all_are_asked_at_once() {
    let folder = Folder::new("ctl-at-once");
    built(&folder);
    let server = Server::start(record(&folder, &[], &["serve", "0", "fork"]), &folder);
    let (parent, child) = (server.pid.to_string(), pid_of(&folder, "it.2.memlog"));
    let words = ["ctl", "-r", "--wait", "60s", &parent, "stop"];
    let mut asks = folder.memlog(&words).spawn().expect("memlog starts");
    let end = Instant::now() + Duration::from_secs(30);
    while !ctl(&folder, &child.to_string(), &["status"])
        .0
        .contains("recording is off; ")
    {
        assert!(Instant::now() < end, "the child is not asked");
        pause();
    }
    let waits = asks.try_wait().expect("a child").is_none();
    assert!(waits, "the parent has answered, and should have waited");
    asks.kill().expect("a child");
    asks.wait().expect("it ends");
    server.end();
    let stats = is_whole(&folder, "it.2.memlog");
    assert_eq!(switches(&stats), by("ctl", &[false]));
}

/// Killed while it was off, or a moment after: the log is whole.
#[test]
fn killed_while_off() {
    let folder = Folder::new("ctl-killed");
    built(&folder);
    for (number, words) in [&[][..], &["stop"], &["stop", "start"]].iter().enumerate() {
        let server = Server::start(record(&folder, &["--force"], &["serve", "0"]), &folder);
        let pid = server.pid.to_string();
        for word in *words {
            does(&folder, &pid, &[word], "recording is o");
        }
        pause();
        let status = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(status.expect("kill").success());
        server.child.wait_with_output().expect("it ends");
        let stats = is_whole(&folder, "it.memlog");
        assert_eq!(switches(&stats).len(), number, "{stats:#}");
        refuses(
            &folder,
            "it.memlog",
            &["stop"],
            "no program on this machine",
        );
    }
}

/// A log that nobody shares says so.
#[test]
fn a_written_log_takes_no_requests() {
    let folder = Folder::new("ctl-written");
    built(&folder);
    let mut command = record(&folder, &[], &["serve", "0"]);
    command.env("MEMLOG_SINK", "written");
    let server = Server::start(command, &folder);
    let (text, is_fine) = ctl(&folder, &server.pid.to_string(), &["stop"]);
    assert!(!is_fine && text.contains("MEMLOG_SINK=written"), "{text}");
    server.end();
    // The program itself can.
    let mut command = record(&folder, &["--force"], &["windows", "5"]);
    command.env("MEMLOG_SINK", "written");
    let output = run(command);
    windows_agree(&folder, "it.memlog", &output);
}

/// A flight recorder folds what is live: it is switched on once.
#[test]
fn a_flight_recorder_is_switched_on_once() {
    let folder = Folder::new("ctl-flight");
    built(&folder);
    let options = ["--flight-recorder=1M", "--start-disabled"];
    let server = Server::start(record(&folder, &options, &["serve", "0"]), &folder);
    let pid = server.pid.to_string();
    does(&folder, &pid, &["start"], "recording is on");
    does(&folder, &pid, &["stop"], "recording is off");
    refuses(&folder, &pid, &["start"], "can be switched on only once");
    server.end();
    is_whole(&folder, "it.memlog");
}

/// Whoever may write the log may write nonsense into the words that both map.
#[test]
fn words_that_lie_are_bounded() {
    let folder = Folder::new("ctl-words");
    built(&folder);
    let server = Server::start(record(&folder, &[], &["serve", "0"]), &folder);
    let mut options = fs::OpenOptions::new();
    let log = options
        .read(true)
        .write(true)
        .open(folder.path("it.memlog"));
    let log = log.expect("the log");
    let put = |word: Word, to: u64| {
        let written = log.write_all_at(&to.to_le_bytes(), word.at() as u64);
        written.expect("a word");
    };
    let answered = |asked: Asked| {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let mut word = [0; 8];
            log.read_exact_at(&mut word, Word::Answered.at() as u64)
                .expect("a word");
            if let Some(answer) = Answer::of(u64::from_le_bytes(word), asked) {
                return answer;
            }
            assert!(Instant::now() < end, "no answer to {asked:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let written = log.write_all_at(&[b'y'; TEXT_BYTES], Word::Text.at() as u64);
    written.expect("a text");
    put(Word::Argument, u64::MAX / 3);
    let mark = Asked(0).next(Verb::Mark);
    put(Word::Asked, mark.0);
    assert_eq!(answered(mark), Answer::Done);
    let nothing = Asked(mark.next(Verb::Stop).0 | 0xff);
    put(Word::Asked, nothing.0);
    assert_eq!(answered(nothing), Answer::Unknown);
    // Of one that is under way nothing is taken, nor does it hold up the next.
    put(Word::Asked, nothing.next(Verb::Stop).begun().0);
    pause();
    assert_eq!(answered(nothing), Answer::Unknown);
    let pid = server.pid.to_string();
    does(&folder, &pid, &["status"], "recording is on; ");
    does(&folder, &pid, &["snapshot"], "snapshot taken");
    server.end();
    is_whole(&folder, "it.memlog");
    let page = self::json(&folder, &["timeline"], "it.memlog");
    let marks = page["marks"].as_array().expect("marks").iter();
    let names: Vec<_> = marks
        .map(|mark| mark["name"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["y".repeat(TEXT_BYTES).as_str(), "snapshot 1"]);
}
