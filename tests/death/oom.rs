//! Programs that take more memory than there is: killed by the kernel for it,
//! in a memory cgroup, or refused it.
//!
//! That is the run that matters: what was allocated up to the last instant is
//! in the log, as after SIGKILL, and the summary names who took it. And memlog
//! itself, whose log lies in pages that are charged to the group, is not what
//! makes a program die that fits.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::common::cgroup::Cgroup;
use crate::common::pairs;
use crate::common::tools::{Folder, is_long, skip, tools};
use crate::common::verdict;
use crate::judge::Totals;
use crate::material::{logs_in, recorded};

const MIB: u64 = 1 << 20;

fn victim() -> std::path::PathBuf {
    tools().victim("oom").expect("a C compiler made it")
}

/// The file system that logs lie on must be one whose pages can be written
/// back: those of a tmpfs are the group's for ever.
fn is_on_disk(folder: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    let path = std::ffi::CString::new(folder.to_str().expect("a name")).expect("no zeros");
    // SAFETY: a structure of numbers, which zeros are.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends in a zero, and the answer is written where it may be.
    let asked = unsafe { libc::statfs(path.as_ptr(), &mut about) };
    asked == 0 && about.f_type != TMPFS
}

/// The function that held most at the RSS peak.
fn top_site(log: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    let output = command.args(["summary", "--json"]).arg(log).output();
    let output = output.expect("memlog runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    page["held"][0]["function"]
        .as_str()
        .unwrap_or("")
        .to_owned()
}

/// One program that grows, in a group that is too small for it.
struct Hog {
    kind: &'static str,
    site: &'static str,
}

const HOGS: [Hog; 3] = [
    Hog {
        kind: "threads",
        site: "hog_block",
    },
    Hog {
        kind: "callocs",
        site: "hog_zeros",
    },
    Hog {
        kind: "child",
        site: "hog_block",
    },
];

impl Hog {
    /// Runs it until it is killed; what is wrong with that.
    fn killed_within(&self, limit: u64, totals: &mut Totals) -> Vec<String> {
        let group = Cgroup::new(limit).expect("one was made before");
        let folder = Folder::new("oom");
        let mut command = pairs::command(&victim(), &folder, &tools().gold);
        command.args([self.kind, "2048"]).stdout(Stdio::null());
        command.env("MEMLOG_OUTPUT", folder.path().join("%p.memlog"));
        group.hold(&mut command);
        let status = command.status().expect("the program starts");
        let mut wrong = Vec::new();
        // The parent of the one that was killed says what killed it.
        let is_killed = match self.kind {
            "child" => status.code() == Some(libc::SIGKILL),
            _ => status.signal() == Some(libc::SIGKILL),
        };
        if !is_killed || group.oom_kills() != 1 {
            wrong.push(format!(
                "{status}, {} killed for want of memory",
                group.oom_kills()
            ));
        }
        let before = totals.problems.len();
        totals.take(&folder);
        wrong.extend(totals.problems.drain(before..));
        let logs = logs_in(folder.path());
        match logs.first().map(|log| top_site(log)) {
            Some(site) if site == self.site => {}
            site => wrong.push(format!("the summary names {site:?}, not {}", self.site)),
        }
        wrong
    }
}

/// Whether a group can be had; if not, says why.
fn may_limit() -> bool {
    match Cgroup::new(64 * MIB) {
        Ok(_) => true,
        Err(reason) => {
            skip(&format!("oom: {reason}; RLIMIT_AS instead"));
            false
        }
    }
}

#[test]
fn killed_for_want_of_memory() {
    if !may_limit() {
        return;
    }
    let rounds = if is_long() { 12 } else { 1 };
    let (mut totals, mut tried, mut wrong) = (Totals::default(), 0, Vec::new());
    for round in 0..rounds {
        for hog in &HOGS {
            // Not a round number of anything.
            let limit = 40 * MIB + round * 7 * MIB + round * 12_288;
            tried += 1;
            let said = hog.killed_within(limit, &mut totals);
            if !said.is_empty() {
                wrong.push(format!("{} within {limit}: {}", hog.kind, said.join("; ")));
            }
        }
    }
    totals.tell();
    println!(
        "SCORE oom kills {}/{tried}: {} processes, {} events finished and found, {} missing, {} \
         extra, the summary names who took it",
        tried - wrong.len(),
        totals.images,
        totals.finished,
        totals.missing,
        totals.extra
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run of the program that fits, within a limit.
fn fits(limit: u64, args: &[&str], folder: Option<&Folder>) -> (ExitStatus, u64) {
    let group = Cgroup::new(limit).expect("one was made before");
    let program = victim();
    let mut command = match folder {
        Some(folder) => recorded(&program, folder),
        None => Command::new(&program),
    };
    command.arg("fits").args(args);
    group.hold(&mut command);
    let status = command.status().expect("the program starts");
    (status, group.peak_bytes().expect("the group's peak"))
}

/// The smallest limit, by half a MiB, within which it lives.
fn least(mut low: u64, mut high: u64, lives: impl Fn(u64) -> bool) -> u64 {
    const STEP: u64 = MIB / 2;
    while high - low > STEP {
        let middle = low + (high - low) / 2;
        match lives(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// What a long log takes of a limit: its window of 8 MiB, which is made present
/// at once and is dirty, and the recorder's own memory. Measured: 24 MiB that
/// lived natively within 24.3 needed 33.0 with four million events.
const ROOM: u64 = 12 * MIB;

/// A program that leaves a fifth of its limit free, and no less than that,
/// lives under memlog, however much it logs; its log is whole.
#[test]
fn what_fits_with_a_fifth_to_spare_lives() {
    let folder = Folder::new("place");
    if !may_limit() {
        return;
    }
    if !is_on_disk(folder.path()) {
        return skip("oom: temporary files are in memory here, and so are logs");
    }
    let events = if is_long() { "4000000" } else { "300000" };
    let (mut tried, mut wrong) = (0, Vec::new());
    for mib in ["24", "48", "96", "192"] {
        let args = [mib, events];
        let (status, taken) = fits(1024 * MIB, &args, None);
        assert!(status.success(), "{status}");
        let limit = taken + (taken / 4).max(ROOM);
        let folder = Folder::new("fits");
        let (status, _) = fits(limit, &args, Some(&folder));
        tried += 1;
        let log = &logs_in(folder.path())[0];
        let bytes = std::fs::metadata(log).map_or(0, |about| about.blocks() * 512);
        println!("{mib} MiB natively {taken}, within {limit}: {status}, log {bytes}");
        if !status.success() || top_site(log) != "hog_block" {
            wrong.push(format!("{mib} MiB within {limit}: {status}"));
        }
        if is_long() {
            let native = least(taken / 2, limit, |limit| {
                fits(limit, &args, None).0.success()
            });
            let memlog = least(native, 2 * limit + 64 * MIB, |limit| {
                let folder = Folder::new("fits");
                fits(limit, &args, Some(&folder)).0.success()
            });
            println!("    it lives within {native}, under memlog within {memlog}");
        }
    }
    println!(
        "SCORE within a fifth of the limit {}/{tried}",
        tried - wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where memory is refused and nobody is killed: as natively, and all of it is
/// in the log.
#[test]
fn refused_memory() {
    let (mut tried, mut wrong) = (0, Vec::new());
    // The second recorder's file takes a GiB of addresses.
    for (kind, limit) in [
        ("null", 1200),
        ("null", 1900),
        ("aborts", 1200),
        ("aborts", 1900),
    ] {
        let limited = |command: &mut Command| {
            let limit = libc::rlimit {
                rlim_cur: limit * MIB,
                rlim_max: limit * MIB,
            };
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            command.args([kind, "8192"]).stdout(Stdio::null());
            // SAFETY: between fork and exec, two system calls.
            unsafe {
                command.pre_exec(move || {
                    libc::setrlimit(libc::RLIMIT_CORE, &none);
                    match libc::setrlimit(libc::RLIMIT_AS, &limit) {
                        0 => Ok(()),
                        _ => Err(std::io::Error::last_os_error()),
                    }
                });
            }
            command.status().expect("the program starts")
        };
        let native = limited(&mut Command::new(victim()));
        let folder = Folder::new("refused");
        let status = limited(&mut pairs::command(&victim(), &folder, &tools().gold));
        let mut totals = verdict::Totals::default();
        totals.take(&pairs::collect(&folder), |_| false);
        tried += 1;
        if status != native || !totals.problems.is_empty() || totals.events < 100 {
            let said = totals.problems.join("; ");
            wrong.push(format!(
                "{kind} within {limit} MiB: {status}, native {native}; {} events; {said}",
                totals.events
            ));
        }
    }
    println!(
        "SCORE refused memory {}/{tried}: as native, logs whole",
        tried - wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
