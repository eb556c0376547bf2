//! The capture against the plain walk, in the program itself: under
//! MEMLOG_VERIFY each stack is taken both ways and the recorder counts what
//! differs. On programs made to spoil what a capture keeps: jumps, exceptions,
//! signals, other stacks, libraries that come and go, forks, threads.

mod common;

use common::tools::{Folder, is_long, skip, tools};
use memlog_format::counter::Counter;
use memlog_read::Log;
use std::process::{Command, Stdio};

/// A victim and its arguments, of which the first is how much it does.
const CASES: &[(&str, u64, &[&str])] = &[
    ("churn", 200_000, &[]),
    ("churn", 20_000, &["8"]),
    ("threads8", 20_000, &[]),
    ("crossfree", 20_000, &[]),
    ("realloc_race", 5_000, &[]),
    ("forker", 3, &[]),
    ("execer", 3, &[]),
    ("vforker", 20, &[]),
    ("dlopen_plugin", 60, &[]),
    ("signals", 1_000, &[]),
    ("siglongjmp", 3_000, &[]),
    ("throw", 2_000, &[]),
    ("coroutines", 40_000, &[]),
    ("qsort_cb", 3_000, &[]),
    ("deep", 900, &[]),
    ("api", 200, &[]),
];

/// What all logs of a run counted.
#[derive(Default)]
struct Counted {
    verified: u64,
    differs: u64,
    lost: u64,
}

impl Counted {
    fn take(&mut self, folder: &Folder) {
        for entry in std::fs::read_dir(folder.path())
            .expect("the folder")
            .flatten()
        {
            let bytes = std::fs::read(entry.path()).expect("a file");
            let Ok(log) = Log::open(&bytes) else {
                continue;
            };
            self.verified += log.counter(Counter::Verified);
            self.differs += log.counter(Counter::VerifyDiffers);
            let losses = memlog_format::counter::ALL.iter();
            let losses = losses.filter(|(counter, _)| counter.is_loss());
            self.lost += losses
                .map(|&(counter, _)| log.counter(counter))
                .sum::<u64>();
        }
    }
}

#[test]
fn captures_are_the_plain_walk_s() {
    let mut total = 0;
    // The stacks of releases are kept apart.
    let passes = ["0", "1"].into_iter().flat_map(|free_stacks| {
        CASES
            .iter()
            .map(move |&(victim, amount, more)| (free_stacks, victim, amount, more))
    });
    for (free_stacks, victim, amount, more) in passes {
        let Some(program) = tools().victim(victim) else {
            skip(&format!("{victim}: no compiler for it"));
            continue;
        };
        let folder = Folder::new(victim);
        // A depth or a number of processes is not to be ten times as much.
        let is_amount = amount >= 1_000 && victim != "deep";
        let factor = if is_long() && is_amount { 10 } else { 1 };
        let status = Command::new(&program)
            .arg((amount * factor).to_string())
            .args(more)
            .env("LD_PRELOAD", &tools().memlog)
            .env("MEMLOG_DIR", folder.path())
            .env("MEMLOG_VERIFY", "1")
            .env("MEMLOG_FREE_STACKS", free_stacks)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("it starts").success(), "{victim}");
        let mut counted = Counted::default();
        counted.take(&folder);
        println!("{victim:14} {:>8} captures", counted.verified);
        assert_eq!((counted.differs, counted.lost), (0, 0), "{victim}");
        assert!(counted.verified > 0, "{victim}: nothing was compared");
        total += counted.verified;
    }
    println!("SCORE stacks as the plain walk has them {total}/{total}");
    let wanted = if is_long() { 10_000_000 } else { 1_000_000 };
    assert!(total >= wanted, "{total} captures");
}
