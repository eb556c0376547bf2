//! Logs whose recorder left blocks out that lived shortly, against the second recorder in
//! the same process.
//!
//! What each thread's log tells must be a part of what the thread did, in its order, and
//! with the sums it must be all of it: by size, function and thread. What is live at the
//! end is compared block by block, and so is what forked children inherited. So too in
//! what SIGKILL leaves at random moments, but for the calls that threads were inside.
//!
//! 24 kills, or 300 with `MEMLOG_LONG=1`. `MEMLOG_SEED=N` repeats a run.

mod common;
mod own_time;
mod runs;

use common::culled::Totals;
use common::pairs;
use common::tools::is_long;
use runs::Setting;

const CULL: Setting = ("MEMLOG_CULL", "10ms");

#[test]
fn events_and_sums_are_all_that_was_done() {
    let mut totals = Totals::default();
    let own: [runs::Case; 2] = [("prepared_forks", &[8]), ("handback", &[2_000])];
    let cases = [&runs::WHOLE[..], &own].concat();
    let problems = runs::whole(&cases, CULL, |folder| {
        totals.take(&pairs::collect(folder), false)
    });
    totals.tell("whole runs");
    runs::assert_none(&problems);
    assert!(totals.culled_images >= 6, "so few left anything out");
    assert!(totals.gone > 100_000, "so little was left out");
}

#[test]
fn a_kill_at_any_moment_leaves_what_is_live() {
    let kills = if is_long() { 300 } else { 24 };
    let mut totals = Totals::default();
    let problems = runs::killed(kills, 50_000, CULL, |folder| {
        totals.take(&pairs::collect(folder), true)
    });
    totals.tell(&format!("{kills} kills"));
    runs::assert_none(&problems);
    assert!(
        totals.culled_images * 2 >= kills as u64,
        "so few were culled"
    );
}
