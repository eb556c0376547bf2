//! Runs a program under both recorders and finds which log belongs to which
//! file: by process, and among the images of one process by their order.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Event;
use super::compare::START_UP;
use super::gold::{self, Gold};
use super::logs::{self, Recorded};
use super::tools::{Folder, tools};

/// Both recorders' view of one image of a process.
pub struct Pair {
    /// memlog's.
    pub ours: Recorded,
    /// The second recorder's.
    pub gold: Gold,
}

/// What a run left behind.
pub struct Family {
    /// Images that both have.
    pub pairs: Vec<Pair>,
    /// Images that only the second recorder has.
    pub only_gold: Vec<Gold>,
    /// Images that only memlog has.
    pub only_ours: Vec<Recorded>,
    /// Logs that were made and not written.
    pub unwritten: Vec<PathBuf>,
    /// Events of children of vfork.
    pub vforked: u64,
    /// Logs that cannot be read, gold files that are full.
    pub problems: Vec<String>,
}

/// A command under both recorders, whose files go into `folder`. The second
/// recorder lies below memlog, so that it sees the calls that memlog passes on.
pub fn command(program: &Path, folder: &Folder, gold: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        use std::os::unix::ffi::OsStrExt;
        let is_ours = name.as_bytes().starts_with(b"MEMLOG_");
        if is_ours || name.as_bytes().starts_with(b"MEMORY_PROFILER_") {
            command.env_remove(name);
        }
    }
    let mut preload = tools().memlog.clone().into_os_string();
    preload.push(" ");
    preload.push(gold);
    command
        .env("LD_PRELOAD", preload)
        .env("MEMLOG_DIR", folder.path())
        .env("GOLD_OUT", folder.path().join("gold"))
        .stdin(Stdio::null());
    command
}

/// Runs a program to its end.
pub fn run(program: &Path, args: &[&str], folder: &Folder) -> Family {
    let mut command = command(program, folder, &tools().gold);
    command.args(args).stdout(Stdio::null());
    let status = command.status().expect("the program starts");
    let mut family = collect(folder);
    if !status.success() {
        family
            .problems
            .push(format!("the program ended with {status}"));
    }
    family
}

/// Reads what a run left behind.
pub fn collect(folder: &Folder) -> Family {
    let mut family = Family {
        pairs: Vec::new(),
        only_gold: Vec::new(),
        only_ours: Vec::new(),
        unwritten: Vec::new(),
        vforked: 0,
        problems: Vec::new(),
    };
    let mut ours = logs::read_all(folder.path(), &mut family.unwritten, &mut family.problems);
    for (pid, images) in gold::read_all(folder.path()) {
        let mut ours: VecDeque<Recorded> = ours.remove(&pid).unwrap_or_default().into();
        for mut gold in images {
            if gold.lost != 0 {
                let name = gold.name();
                family
                    .problems
                    .push(format!("{name}: gold lost {} events", gold.lost));
            }
            let mut logs = ours.iter().enumerate();
            match logs.position(|(place, log)| is_image(log, &gold, place)) {
                Some(place) => {
                    family.only_ours.extend(ours.drain(..place));
                    let ours = ours.pop_front().expect("it was found");
                    family.vforked += gold.adopt_vforked(&ours.heap);
                    family.pairs.push(Pair { ours, gold });
                }
                None => family.only_gold.push(gold),
            }
        }
        family.only_ours.extend(ours);
    }
    family.only_ours.extend(ours.into_values().flatten());
    family
}

/// Images may follow each other in the same file, and one whose recording was off may have
/// left no log: the next log has other addresses. One without events is the first's.
fn is_image(log: &Recorded, gold: &Gold, place: usize) -> bool {
    let is_alike = log.parent_pid.is_some() == gold.parent.is_some() && log.exe == gold.exe;
    let mut first = log.heap.iter().take(START_UP);
    let is_its = |event: &Event| gold.heap.iter().any(|other| event.is_same(other));
    is_alike && (log.heap.is_empty() && place == 0 || first.any(is_its))
}
