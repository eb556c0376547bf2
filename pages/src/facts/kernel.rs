//! What the kernel of this machine tells of a process: whether it runs still,
//! and whether it was killed for want of memory.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use memlog_format::meta::{Key, Start};
use memlog_read::Log;

use crate::words::clean;

/// A clock may be set, and a log is made a moment after its process began.
const SLACK_SECONDS: f64 = 5.0;

/// What runs under a process's number now.
pub enum Running {
    /// The program itself.
    Same,
    /// What it has started in its own place.
    Other(String),
}

/// Whether the process of a log runs still: nothing if it does not, or if the
/// log is of another machine.
pub fn running(log: &Log) -> Option<Running> {
    let start = log.start().filter(|_| is_here(log))?;
    let folder = format!("/proc/{}", start.pid);
    let began = began_seconds(&fs::read_to_string(format!("{folder}/stat")).ok()?)?;
    if boot_seconds()? + began > seconds(start) + SLACK_SECONDS {
        // The number was given out again.
        return None;
    }
    let exe = fs::read_link(format!("{folder}/exe")).ok()?;
    let exe = exe.as_os_str().as_bytes();
    // The file may have been built anew meanwhile.
    let exe = exe.strip_suffix(b" (deleted)").unwrap_or(exe);
    // A log of which nothing else is there yet does not say.
    Some(
        match log.text(Key::Executable).is_none_or(|own| own == exe) {
            true => Running::Same,
            false => Running::Other(clean(exe)),
        },
    )
}

/// Whether there is more to come in a log: its program runs.
pub fn is_running(log: &Log) -> bool {
    log.end().is_none() && log.death().is_none() && matches!(running(log), Some(Running::Same))
}

/// What the kernel's log says of a process's death for want of memory.
pub enum Word {
    /// It can be read, and says so in this line.
    Killed(String),
    /// It can be read, and does not.
    Silent,
    /// It cannot be read, or is of another machine.
    Unknown,
}

/// Asks it of the process of a log, which had died by a moment if that is known.
pub fn oom_word(log: &Log, died_ns: Option<u64>) -> Word {
    match oom_line(log, died_ns) {
        Some(Some(line)) => Word::Killed(line),
        Some(None) => Word::Silent,
        None => Word::Unknown,
    }
}

fn oom_line(log: &Log, died_ns: Option<u64>) -> Option<Option<String>> {
    let start = log.start().filter(|_| is_here(log))?;
    let boot = boot_seconds()?;
    let last = died_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9 + SLACK_SECONDS);
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK);
    let mut file = options.open("/dev/kmsg").ok()?;
    let mut found = None;
    let mut record = [0; 8192];
    loop {
        match file.read(&mut record) {
            Ok(count @ 1..) => {
                let text = String::from_utf8_lossy(&record[..count]);
                if let Some((at, line)) = killed(&text, start.pid)
                    && boot + at + SLACK_SECONDS > seconds(start)
                    && boot + at < last
                {
                    found = Some(clean(line.as_bytes()));
                }
            }
            // Records that were overwritten while this reads.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Ok(_) | Err(_) => return Some(found),
        }
    }
}

/// A record `priority,sequence,microseconds,flags;text`, if it says that this
/// process was killed for want of memory: the second since boot, and the text.
fn killed(record: &str, pid: u32) -> Option<(f64, &str)> {
    let (head, text) = record.split_once(';')?;
    let text = text.lines().next()?;
    // The low three bits are how bad it is, the others who says it: 0 the kernel.
    let said_by: u32 = head.split(',').next()?.parse().ok()?;
    if said_by >> 3 != 0 {
        return None;
    }
    let (before, rest) = text.split_once("Killed process ")?;
    let number = rest.split([' ', ',']).next()?;
    if number.parse() != Ok(pid) || !before.to_lowercase().contains("out of memory") {
        return None;
    }
    let micros: f64 = head.split(',').nth(2)?.parse().ok()?;
    Some((micros / 1e6, text))
}

/// Whether a log is of this machine.
pub fn is_here(log: &Log) -> bool {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.is_ok_and(|name| log.text(Key::Host) == Some(name.trim_end().as_bytes()))
}

fn seconds(start: &Start) -> f64 {
    start.wall_ns as f64 / 1e9
}

/// Field 22 of /proc/PID/stat, counted behind the program's name.
fn began_seconds(stat: &str) -> Option<f64> {
    /// Of the kernel's interface, on every machine.
    const TICKS_A_SECOND: f64 = 100.0;
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks: f64 = fields.split(' ').nth(19)?.parse().ok()?;
    Some(ticks / TICKS_A_SECOND)
}

fn boot_seconds() -> Option<f64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(now.as_secs_f64() - uptime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_found_in_the_kernels_words() {
        let group = "3,877,58123456,-;Memory cgroup out of memory: Killed process 4711 (grow) \
                     total-vm:104kB, anon-rss:99kB\n SUBSYSTEM=x\n";
        let (at, text) = killed(group, 4711).expect("it is one");
        assert!((at - 58.123_456).abs() < 1e-9);
        assert!(text.ends_with("anon-rss:99kB"));
        assert!(killed(group, 471).is_none());
        let old = "6,1,2,-;Out of memory: Killed process 12, UID 0, (x)";
        assert!(killed(old, 12).is_some());
        assert!(killed("6,1,2,-;init: Killed process 12 (x)", 12).is_none());
        assert!(killed("", 12).is_none());
        let forged = "12,1,2,-;out of memory: Killed process 12 (x)";
        assert!(killed(forged, 12).is_none());
    }

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 450 99";
        assert_eq!(began_seconds(stat), Some(4.5));
    }
}
