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
//! * `switched`: the same where recording went on and off meanwhile
//! * `readers`: the commands that read logs
//!
//! 24 kills, or 1,000 with `MEMLOG_LONG=1`, and a third as many of switched
//! programs; `MEMLOG_KILLS=N` says another number. `MEMLOG_SEED=N` repeats a run,
//! `MEMLOG_VICTIM=NAME` kills that one alone.

#[path = "../common/mod.rs"]
mod common;
mod judge;
mod moments;
mod readers;
mod switched;
mod victims;

use std::collections::{BTreeMap, HashMap};

use common::tools::{Folder, Random, is_long, number_from, seed, skip};
use judge::Totals;
use moments::{Life, Switched, When};
use readers::Readings;
use switched::Windows;
use victims::VICTIMS;

/// The logs of one kill that the commands read: a fork has many.
const READ_OF_A_KILL: usize = 4;

/// What so many kills came to, whatever they were asked for.
#[derive(Default)]
struct Kills {
    wanted: u64,
    done: u64,
    survived: u64,
    came_late: u64,
    kinds: BTreeMap<&'static str, u64>,
    readings: Readings,
    problems: Vec<String>,
}

impl Kills {
    /// Kills so many, and has what each left judged.
    fn some(wanted: u64, is_switched: bool, mut judge: impl FnMut(&Folder) -> Vec<String>) -> Self {
        // SAFETY: no memory is involved.
        let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        assert_eq!(adopts, 0, "orphans become children of the test");
        let mut random = Random::new(seed());
        let mut lives: HashMap<usize, Life> = HashMap::new();
        let mut kills = Self {
            wanted,
            ..Self::default()
        };
        // In turn, from a place of the seed's: few kills meet others each time.
        let mut turn = random.below(VICTIMS.len() as u64) as usize;
        let only = std::env::var("MEMLOG_VICTIM").ok();
        while kills.done < wanted {
            turn = (turn + 1) % VICTIMS.len();
            let victim = &VICTIMS[turn];
            if only.as_ref().is_some_and(|only| *only != victim.name) {
                continue;
            }
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
            let switched = match is_switched {
                true => Switched::By(random.below(u64::MAX)),
                false => Switched::No,
            };
            let folder = Folder::new("killed");
            let is_killed = moments::run_and_kill(victim, &program, &when, switched, &folder);
            let mut said = judge(&folder);
            kills.readings.take(folder.path(), READ_OF_A_KILL);
            said.append(&mut kills.readings.problems);
            // Who had ended is judged all the same, but is no kill.
            match is_killed {
                true => {
                    kills.survived += u64::from(said.is_empty());
                    *kills.kinds.entry(when.kind()).or_default() += 1;
                }
                false => kills.came_late += 1,
            }
            let (done, victim) = (kills.done, victim.show());
            let said = said.into_iter();
            let said =
                said.map(|line| format!("kill {done}, {victim} {when:?} {switched:?}: {line}"));
            kills.problems.extend(said);
            kills.done += u64::from(is_killed);
        }
        println!(
            "{:?}; {} more had ended before",
            kills.kinds, kills.came_late
        );
        kills
    }

    #[track_caller]
    fn assert_fine(&self) {
        let shown = &self.problems[..self.problems.len().min(40)];
        let count = self.problems.len();
        // The moments depend on it as on the seed.
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        assert!(
            count == 0,
            "{count} problems, load {}:\n{}",
            load.trim(),
            shown.join("\n")
        );
    }
}

/// How many, in ordinary runs and in long ones.
fn wanted(usual: u64, long: u64) -> u64 {
    number_from("MEMLOG_KILLS").unwrap_or(if is_long() { long } else { usual })
}

#[test]
fn what_was_finished_is_in_the_log() {
    let mut totals = Totals::default();
    let kills = Kills::some(wanted(24, 1000), false, |folder| {
        totals.take(folder);
        std::mem::take(&mut totals.problems)
    });
    totals.tell();
    println!(
        "SCORE kills {}/{}: {} processes, {} events finished and found, {} missing, \
         {} extra; {} logs read by each of 5 commands",
        kills.survived,
        kills.wanted,
        totals.images,
        totals.finished,
        totals.missing,
        totals.extra,
        kills.readings.logs
    );
    kills.assert_fine();
}

#[test]
fn what_was_recorded_in_windows_is_in_the_log() {
    let mut windows = Windows::default();
    let kills = Kills::some(wanted(8, 333), true, |folder| windows.take(folder));
    windows.tell();
    println!(
        "SCORE kills of switched programs {}/{}: {} processes, switched {} times, {} of {} \
         events; {} logs read by each of 5 commands",
        kills.survived,
        kills.wanted,
        windows.images,
        windows.switches,
        windows.events,
        windows.seen,
        kills.readings.logs
    );
    kills.assert_fine();
    assert!(windows.switches > 0 && windows.events > 0);
}
