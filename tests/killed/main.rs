//! SIGKILL at random moments: what a program had finished is in the log.
//!
//! The second recorder in the same process says what that is. Of each thread,
//! memlog must have every event up to the call that the thread was inside, and
//! nothing that the second recorder has not, but for that one call. The log
//! must be readable by every command, and say no more than that a realloc was
//! unfinished. The same of what the program mapped.
//!
//! * `victims`: who is killed
//! * `moments`: when, and how that is met
//! * `judge`: what was left, against what was seen
//! * `readers`: the commands that read logs
//!
//! 24 kills, or 1,000 with `MEMLOG_LONG=1`; `MEMLOG_KILLS=N` says another
//! number. `MEMLOG_SEED=N` repeats a run.

#[path = "../common/mod.rs"]
mod common;
mod judge;
mod moments;
mod readers;
mod victims;

use std::collections::{BTreeMap, HashMap};

use common::tools::{Folder, Random, is_long, number_from, seed, skip};
use judge::Totals;
use moments::{Life, When};
use readers::Readings;
use victims::VICTIMS;

/// The logs of one kill that the commands read: a fork has many.
const READ_OF_A_KILL: usize = 4;

#[test]
fn what_was_finished_is_in_the_log() {
    // SAFETY: no memory is involved.
    let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    assert_eq!(adopts, 0, "orphans become children of the test");
    let kills = number_from("MEMLOG_KILLS").unwrap_or(if is_long() { 1000 } else { 24 });
    let seed = seed();
    let mut random = Random::new(seed);
    let mut lives: HashMap<usize, Life> = HashMap::new();
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut totals, mut readings) = (Totals::default(), Readings::default());
    let (mut done, mut survived, mut came_late) = (0, 0, 0);
    // In turn, from a place of the seed's: few kills meet others each time.
    let mut turn = random.below(VICTIMS.len() as u64) as usize;
    while done < kills {
        turn = (turn + 1) % VICTIMS.len();
        let victim = &VICTIMS[turn];
        let Some(program) = victim.program() else {
            skip(&format!("killed, {}: no compiler for it", victim.name));
            continue;
        };
        let life = match victim.is_endless {
            true => Life::default(),
            false => *lives
                .entry(turn)
                .or_insert_with(|| moments::live(victim, &program)),
        };
        let when = When::choose(victim, &life, &mut random);
        let folder = Folder::new("killed");
        let is_killed = moments::run_and_kill(victim, &program, &when, &folder);
        let before = (totals.problems.len(), readings.problems.len());
        totals.take(&folder);
        readings.take(folder.path(), READ_OF_A_KILL);
        totals.problems.extend(readings.problems.drain(before.1..));
        for problem in &mut totals.problems[before.0..] {
            problem.insert_str(0, &format!("kill {done}, {} {when:?}: ", victim.show()));
        }
        // Who had ended is judged all the same, but is no kill.
        match is_killed {
            true => {
                done += 1;
                survived += u64::from(totals.problems.len() == before.0);
                *kinds.entry(when.kind()).or_default() += 1;
            }
            false => came_late += 1,
        }
    }
    println!("{kinds:?}; {came_late} more had ended before");
    totals.tell();
    println!(
        "SCORE kills {survived}/{kills}: {} processes, {} events finished and found, {} missing, \
         {} extra; {} logs read by each of 4 commands",
        totals.images, totals.finished, totals.missing, totals.extra, readings.logs
    );
    let shown = &totals.problems[..totals.problems.len().min(40)];
    let count = totals.problems.len();
    // The moments depend on it as on the seed.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    assert!(
        count == 0,
        "{count} problems, MEMLOG_SEED={seed}, load {}:\n{}",
        load.trim(),
        shown.join("\n")
    );
}
