//! Victims under both recorders with one setting of memlog's: to their end, and killed at
//! random moments.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::tools::{Folder, Random, is_long, seed, tools};
use crate::common::{gold, pairs};
use crate::own_time::OwnTime;

/// A setting in the environment.
pub type Setting = (&'static str, &'static str);
/// A victim and how much it does.
pub type Case = (&'static str, &'static [u64]);

/// Victims with threads that pass blocks on, reallocs and forks.
pub const WHOLE: [Case; 7] = [
    ("churn", &[400_000]),
    ("churn", &[60_000, 8]),
    ("threads8", &[40_000]),
    ("crossfree", &[60_000]),
    ("realloc_race", &[10_000]),
    ("forker", &[6]),
    ("family", &[60_000]),
];

/// Each would go on for much longer than the moment it is killed at.
const ENDLESS: [(&str, &[&str]); 6] = [
    ("churn", &["0"]),
    ("churn", &["0", "4"]),
    ("threads8", &["100000000"]),
    ("crossfree", &["100000000"]),
    ("realloc_race", &["100000000"]),
    ("forker", &["1000000"]),
];

/// Runs victims to their end; `take` says what is wrong with what one left.
pub fn whole(
    cases: &[Case],
    setting: Setting,
    mut take: impl FnMut(&Folder) -> Vec<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (victim, args) in cases {
        let factor = if is_long() { 5 } else { 1 };
        let folder = Folder::new(victim);
        let mut command = command(victim, &folder, setting);
        for (index, arg) in args.iter().enumerate() {
            let factor = if index == 0 { factor } else { 1 };
            command.arg((arg * factor).to_string());
        }
        let status = command.status().expect("it starts");
        assert!(status.success(), "{victim}: {status}");
        let said = take(&folder).into_iter();
        problems.extend(said.map(|line| format!("{victim} {args:?}: {line}")));
    }
    problems
}

/// Kills so many, each once it has made `least` events or up to 300,000 more.
pub fn killed(
    kills: usize,
    least: u64,
    setting: Setting,
    mut take: impl FnMut(&Folder) -> Vec<String>,
) -> Vec<String> {
    // SAFETY: no memory is involved.
    let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    assert_eq!(adopts, 0, "orphans become children of the test");
    let mut random = Random::new(seed());
    let mut problems = Vec::new();
    for kill in 0..kills {
        let (victim, args) = ENDLESS[kill % ENDLESS.len()];
        let folder = Folder::new(victim);
        let moment = least + random.below(300_000);
        let mut command = command(victim, &folder, setting);
        kill_at(moment, command.args(args), folder.path());
        let said = take(&folder).into_iter();
        problems.extend(said.map(|line| format!("kill {kill}, {victim} {args:?}: {line}")));
    }
    problems
}

#[track_caller]
pub fn assert_none(problems: &[String]) {
    let shown = &problems[..problems.len().min(30)];
    let count = problems.len();
    assert!(count == 0, "{count} problems:\n{}", shown.join("\n"));
}

fn command(victim: &str, folder: &Folder, (name, value): Setting) -> Command {
    let program = tools().victim(victim).expect("a C compiler made it");
    let mut command = pairs::command(&program, folder, &tools().gold);
    command.env(name, value).stdout(Stdio::null());
    command
}

/// Runs a victim and kills it, and its children, once it has made `moment` events.
fn kill_at(moment: u64, command: &mut Command, folder: &Path) {
    let mut child = command.process_group(0).spawn().expect("it starts");
    let gold = folder.join(format!("gold.{}", child.id()));
    let mut time = OwnTime::start();
    while gold::reserved(&gold).unwrap_or(0) < moment && time.spent() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_micros(50));
    }
    // SAFETY: no memory is involved; the group is the child's own, which has
    // not been waited for.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    child.wait().expect("the victim ends");
    // Its children have become ours; on a busy machine they are long in dying.
    let mut status = 0;
    // SAFETY: the status is written where it may be.
    while unsafe { libc::waitpid(-(child.id() as i32), &mut status, 0) } > 0 {}
}
