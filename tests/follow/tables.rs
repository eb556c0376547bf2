//! Stacks of a log that grows: each is written before an event names it, and is there whenever
//! the event is.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use memlog_analysis::Tally;
use memlog_pages::Following;

use super::cli::{begin_with, wait_for};
use super::common::tools::{Folder, Random, is_long, seed};
use super::{CULL, whole};

/// A table's chunk is full in a tenth of that.
const LONG_ENOUGH: Duration = Duration::from_millis(1_500);

/// More than are made while it is looked at.
const ENDLESS: &[&str] = &["100000000"];

fn while_it_grows(settings: &[(&str, &str)], mut look: impl FnMut(&Path, &mut Random)) {
    let mut random = Random::new(seed());
    let settings = [settings, &[("MEMLOG_MAX_LOG", "256M")]].concat();
    // Each run begins its tables anew.
    for _ in 0..if is_long() { 20 } else { 3 } {
        let folder = Folder::new("tables");
        let Some((victim, log)) = begin_with("paths", ENDLESS, &folder, &settings) else {
            return;
        };
        wait_for(&log);
        look(&log, &mut random);
        victim.end();
    }
}

/// No stack lacks a part, and no frame its address.
#[track_caller]
fn are_whole(tally: &Tally) {
    let stacks = tally.stacks();
    let all: BTreeSet<_> = tally.allocated().map(|(stack, _)| stack).collect();
    let torn = all.iter().filter(|&&stack| {
        let mut frames = stacks.frames(stack);
        stacks.root_of(stack).is_none() || frames.any(|frame| frame.site.address == 0)
    });
    assert_eq!(torn.count(), 0, "of {} stacks", all.len());
    let is_known = |frame: memlog_analysis::Frame| frame.site.module.is_some();
    let strange = all
        .iter()
        .filter(|&&stack| !stacks.frames(stack).all(is_known));
    assert_eq!(strange.count(), 0, "of {} stacks", all.len());
}

#[test]
fn a_follower_has_all_of_each_stack() {
    while_it_grows(&[], |log, random| {
        let mut following = Following::open(log).expect("a log");
        let end = Instant::now() + LONG_ENOUGH;
        while Instant::now() < end {
            let looked = following.look(&mut None, &mut |_, _| {});
            looked.expect("a log");
            std::thread::sleep(Duration::from_micros(random.below(20_000)));
        }
        are_whole(following.tally());
        assert!(following.tally().totals().allocations > 0);
    });
}

#[test]
fn a_reading_has_all_of_each_stack() {
    readings_have_all(&[]);
}

#[test]
fn a_reading_of_a_culled_log_has_all_of_each_stack() {
    readings_have_all(&[CULL]);
}

fn readings_have_all(settings: &[(&str, &str)]) {
    while_it_grows(settings, |log, random| {
        let end = Instant::now() + LONG_ENOUGH;
        while Instant::now() < end {
            std::thread::sleep(Duration::from_micros(random.below(20_000)));
            are_whole(&whole(log).tally);
        }
    });
}
