//! A reading of a log that grows is of one moment: no block is there twice because what one
//! thread wrote was looked at before what another did.

use std::path::Path;
use std::time::Duration;

use memlog_format::counter::Counter;
use memlog_pages::Files;

use super::cli::{begin_with, wait_for};
use super::common::tools::{Folder, Random, is_long, seed};
use super::{CULL, THREADS, is_wanted, whole};

const CASES: [(&str, &[&str]); 4] = [
    ("crossfree", &["100000000"]),
    ("threads8", &["100000000"]),
    ("realloc_race", &["100000000"]),
    ("churn", &["100000000", "3"]),
];

#[test]
fn a_reading_of_a_program_that_runs_is_of_one_moment() {
    readings_are_of_one_moment(&[]);
}

/// Its chunks move meanwhile, and numbers are missing anyway.
#[test]
fn so_is_one_of_a_log_that_is_culled() {
    readings_are_of_one_moment(&[CULL]);
}

fn readings_are_of_one_moment(settings: &[(&str, &str)]) {
    let mut random = Random::new(seed());
    let (cases, logs) = if is_long() { (4, 20) } else { (2, 1) };
    // Each reading takes as long as all before it, in which the log grows on.
    let settings = [settings, &[("MEMLOG_MAX_LOG", "32M")]].concat();
    let wanted = CASES[..cases].iter().filter(|case| is_wanted(case.0));
    'cases: for (name, args) in wanted {
        let mut compared = 0;
        // A log is read as a whole each time, so several short ones.
        for _ in 0..logs {
            let folder = Folder::new("moment");
            let Some((victim, log)) = begin_with(name, args, &folder, &settings) else {
                continue 'cases;
            };
            wait_for(&log);
            let mut before = 0;
            for reading in 0..3 {
                std::thread::sleep(Duration::from_micros(random.below(50_000)));
                let analysis = whole(&log);
                // Behind the log's limit each thread loses what it did from another moment on.
                if is_full(&log) {
                    break;
                }
                compared += 1;
                let what = format!("{name}, reading {reading}");
                let anomalies = analysis.tally.anomalies();
                assert_eq!(anomalies.alive_twice, 0, "{what}");
                // Of a thread that was stopped between its number and its event.
                let gaps = analysis.findings.order_gaps;
                assert!(gaps <= THREADS as u64, "{what}: {gaps} gaps");
                assert_eq!(analysis.findings.order_breaks, 0, "{what}");
                let allocations = analysis.tally.totals().allocations;
                assert!(
                    allocations >= before,
                    "{what}: {allocations} after {before}"
                );
                before = allocations;
            }
            victim.end();
            let allocations = whole(&log).tally.totals().allocations;
            assert!(allocations >= before, "{name}: {allocations}");
        }
        assert!(compared > 0, "{name} had written all before it was read");
    }
}

fn is_full(log: &Path) -> bool {
    let files = Files::outline(log).expect("a log");
    let family = files.family().expect("a log");
    family.logs[0].counter(Counter::LostNoRoom) > 0
}
