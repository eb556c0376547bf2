//! Each side is killed at random moments. At the end the bytes are the same.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::ends::{Gather, Process, grows, record, record_with, same, until};
use crate::sites::{Folder, said};

/// A number that nobody foresees, which is told.
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        let given = std::env::var("MEMLOG_SEED").ok();
        let given = given.and_then(|seed| seed.parse().ok());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock");
        let seed = given.unwrap_or(now.as_nanos() as u64);
        println!("MEMLOG_SEED={seed}");
        Self(seed | 1)
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

/// How often each side is killed.
fn kills() -> u64 {
    let given = std::env::var("MEMLOG_KILLS").ok();
    let is_long = std::env::var_os("MEMLOG_LONG").is_some_and(|value| value == "1");
    let usual = if is_long { 100 } else { 8 };
    given.and_then(|count| count.parse().ok()).unwrap_or(usual)
}

fn kill(name: &str, options: &[&str], kills_sender: bool, kills_receiver: bool) {
    let folder = Folder::new(name);
    let program = grows(&folder);
    let log = folder.path("kept.memlog");
    let mut random = Random::new();
    let mut gather = Gather::start(&folder, &[]);
    // No more than some MB a second: each restart compares all of it.
    let mut recorded = record_with(&folder, options, &log, &program, &["6", "200000", "3000"]);
    let mut stream = gather.stream(&folder, &[&log]);
    let gathered = folder.path("gathered/kept.memlog");
    let (mut at_work, kills) = (0, kills());
    for number in 0..kills {
        // Every other time it is surely at work, else it may be just beginning.
        let is_sending = |stream: &Process| stream.said().contains(" goes there as ");
        let is_taking = |gather: &Gather| {
            let said = gather.process.said();
            said.contains(" begins: ") || said.contains(" goes on at ")
        };
        if number % 2 == 0 {
            until("both work", || is_sending(&stream) && is_taking(&gather));
        }
        std::thread::sleep(Duration::from_millis(random.below(400)));
        if kills_sender {
            at_work += u64::from(is_sending(&stream));
            stream.kill();
            stream = gather.stream(&folder, &[&log]);
        }
        if kills_sender && kills_receiver {
            std::thread::sleep(Duration::from_millis(random.below(100)));
        }
        if kills_receiver {
            at_work += u64::from(is_taking(&gather));
            gather.again(&folder);
        }
        // It is a log whoever died when.
        if gathered.exists() && number % 4 == 0 {
            let words = ["report".as_ref(), gathered.as_os_str()];
            let output = folder.run(&words);
            assert!(output.status.success(), "{}", said(&output));
        }
    }
    let all = kills * (u64::from(kills_sender) + u64::from(kills_receiver));
    println!("{name}: {all} kills, {at_work} of them while the log was sent");
    assert!(at_work >= kills / 2);
    recorded.signal("TERM");
    recorded.ends();
    let code = stream.ends();
    assert_eq!(code, Some(0), "{} {}", stream.said(), gather.process.said());
    same(&log, &gathered);
    folder.holds_whole(&gathered);
    let logs = folder.logs("gathered");
    assert_eq!(logs.len(), 1, "{logs:?}");
    // Nothing else is left there either.
    let left = std::fs::read_dir(folder.path("gathered"))
        .expect("list")
        .count();
    assert_eq!(left, 1);
}

#[test]
fn a_sender_that_is_killed_goes_on() {
    kill("remote-kill-sender", &[], true, false);
}

#[test]
fn a_receiver_that_is_killed_goes_on() {
    kill("remote-kill-receiver", &[], false, true);
}

#[test]
fn both_may_be_killed() {
    kill("remote-kill-both", &[], true, true);
}

#[test]
fn both_may_be_killed_while_chunks_move() {
    kill("remote-kill-culled", &["--cull=10ms"], true, true);
}

/// The program and its sender die at once, as a pod does: what was sent is there.
#[test]
fn what_was_sent_outlives_the_machine() {
    let folder = Folder::new("remote-pod");
    let program = grows(&folder);
    let log = folder.path("pod.memlog");
    let gather = Gather::start(&folder, &[]);
    let mut recorded = record(&folder, &log, &program, &["4", "3000", "500"]);
    let mut stream = gather.stream(&folder, &[&log]);
    gather.process.says("pod.memlog begins");
    std::thread::sleep(Duration::from_secs(1));
    // All at once, and the log is gone.
    stream.kill();
    recorded.kill();
    std::fs::remove_file(&log).expect("the log");
    gather.process.says("pod.memlog has ");
    let stats = folder.stats(&folder.path("gathered/pod.memlog"));
    assert!(stats.number("allocations") > 1000);
    assert_eq!(stats.number("lost_events"), 0);
}
