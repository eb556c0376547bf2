//! Small peaks whose parts are known.

use super::*;
use crate::rss::{FirstReading, Level, Unread};

fn peak(bytes: u64) -> Summary {
    let mut summary = Summary {
        rss_peak_bytes: bytes,
        own_rss_bytes: 100,
        ..Summary::default()
    };
    summary.rss_peak.live_bytes = 300;
    summary.rss_peak.live_usable_bytes = 300;
    summary
}

fn parts(summary: &Summary) -> Parts {
    summary.resident().expect("it is known").parts
}

#[test]
fn what_was_mapped_is_at_most_all_that_is_left() {
    let mut summary = peak(1000);
    let of = |summary: &Summary| {
        let parts = parts(summary);
        (parts.heap, parts.mapped, parts.unseen, parts.is_crowded)
    };
    assert_eq!(of(&summary), (300, 0, 600, false));
    summary.rss_peak_mapped_bytes = 500;
    assert_eq!(of(&summary), (300, 500, 100, false));
    assert!(parts(&summary).is_least());
    // The heap may not have been touched, and then all is the mapping's.
    summary.rss_peak_mapped_bytes = 5000;
    assert_eq!(of(&summary), (300, 900, 0, true));
    summary.rss_peak.live_bytes = 1900;
    assert_eq!(of(&summary), (900, 900, 0, true));
    assert_eq!(parts(&summary).absent, 1000);
}

/// 1 MB that was never touched does not push out what was there before.
#[test]
fn what_was_there_before_comes_first() {
    let mut summary = peak(10_240);
    summary.first_reading = Some(FirstReading {
        kb: 7,
        is_start: true,
        ..FirstReading::default()
    });
    summary.rss_peak.live_bytes = 1_000_000;
    summary.rss_peak.live_usable_bytes = 2_000_000;
    let room = 10_240 - 100 - 7 * 1024;
    let expected = Parts {
        heap: room,
        absent: 1_000_000 - room,
        rounded: room,
        before: 7 * 1024,
        own: 100,
        is_crowded: true,
        ..Parts::default()
    };
    assert_eq!(parts(&summary), expected);
}

#[test]
fn lost_events_are_in_the_rest() {
    let mut summary = peak(1000);
    summary.lost_events = 7;
    summary.rss_peak_mapped_bytes = 500;
    let expected = Parts {
        heap: 300,
        own: 100,
        unseen: 600,
        is_lossy: true,
        ..Parts::default()
    };
    assert_eq!(parts(&summary), expected);
    let later = summary.resident().and_then(|resident| resident.later);
    assert_eq!(later, Some(Later::Lost));
}

/// A range of less than a hundredth of the whole is none.
#[test]
fn the_rest_is_the_least_where_the_heap_is_the_most() {
    let mut summary = peak(1000);
    summary.rss_peak.bracket.events = 9;
    summary.rss_peak.bracket.low_heap_bytes = 200;
    assert_eq!(parts(&summary).low_heap, Some(200));
    assert!(parts(&summary).is_least());
    summary.rss_peak.bracket.low_heap_bytes = 291;
    assert!(!parts(&summary).is_least());
}

/// What malloc rounded up, what was there before, what it may have kept.
#[test]
fn what_was_not_seen_is_split() {
    let mut summary = peak(10_240);
    summary.rss_peak.live_usable_bytes = 420;
    summary.first_reading = Some(FirstReading {
        kb: 3,
        own_kb: 1,
        live_usable_bytes: 48,
        ..FirstReading::default()
    });
    summary.heap_peak.tick = 4;
    summary.heap_peak.usable_bytes = 2000;
    summary.rss_peak.tick = 9;
    let expected = Parts {
        heap: 300,
        rounded: 120,
        before: 2000,
        own: 100,
        unseen: 7720,
        freed: 1580,
        ..Parts::default()
    };
    assert_eq!(parts(&summary), expected);
    summary.rss_peak.tick = 4;
    assert_eq!(parts(&summary).freed, 0);
    // What is not much stays in the rest.
    summary.rss_peak.live_usable_bytes = 310;
    assert_eq!(parts(&summary).unseen, 7840);
}

#[test]
fn a_peak_is_exact_only_where_no_other_was_higher() {
    const MIB: u64 = 1 << 20;
    let mut summary = peak(100 * MIB);
    summary.own_rss_bytes = 10 * MIB;
    let precision = |summary: &Summary| summary.resident().expect("it is known").precision;
    let level = |mib: u64| Level {
        kb: mib * 1024,
        own_kb: 10 * 1024,
    };
    summary.rss_peak.level = level(100);
    assert_eq!(precision(&summary), Precision::Exact);
    summary.rss_peak.level = level(99);
    assert_eq!(precision(&summary), Precision::Near { below_bytes: MIB });
    summary.rss_peak.level = level(100);
    summary.rss_peak.bracket.events = 3;
    summary.rss_peak.bracket.to_tick = 7;
    let within = Precision::Within {
        events: 3,
        ticks: 7,
    };
    assert_eq!(precision(&summary), within);
}

#[test]
fn without_an_end_there_may_be_a_later_one() {
    let mut summary = peak(1000);
    let mut unread = Unread {
        why: Why::NoEnd,
        since_tick: 3,
        events: 0,
        is_higher: false,
    };
    summary.unread = Some(unread);
    let later = summary.resident().and_then(|resident| resident.later);
    assert_eq!(later, Some(Later::NoEnd));
    unread.is_higher = true;
    summary.unread = Some(unread);
    assert_eq!(summary.resident(), None);
}

/// glibc has a word before each block: of a million blocks of 24 bytes a quarter
/// of what is resident.
#[test]
fn the_words_before_blocks_are_mallocs() {
    let mut summary = Summary {
        rss_peak_bytes: 34 << 20,
        ..Summary::default()
    };
    summary.rss_peak.live_bytes = 24_000_000;
    summary.rss_peak.live_usable_bytes = 24_000_000;
    summary.rss_peak.live_blocks = 1_000_000;
    summary.totals.allocations = 1_000_100;
    let parts = |summary: &Summary| summary.resident().expect("a peak").parts;
    assert_eq!(parts(&summary).rounded, 0, "nobody knows of such words");
    summary.totals.with_header = 1_000_000;
    assert_eq!(parts(&summary).rounded, 8_000_000);
    summary.totals.with_header = 900_000;
    assert_eq!(parts(&summary).rounded, 0, "another allocator's");
}
