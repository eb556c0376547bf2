//! Readings made by hand, and the moment that each order of them shows.

use super::*;

fn heap(bytes: u64, tick: u64) -> Heap {
    Heap {
        bytes,
        tick,
        ..Heap::default()
    }
}

fn reading(source: RssSource, peak_kb: u64, now_kb: u64) -> Rss {
    Rss {
        source,
        peak_kb,
        now_kb,
        own_kb: 0,
        stamp: 0,
    }
}

const MIB: u64 = 1 << 20;

/// Feeds (heap in MiB, reading) pairs; gives tick and reading of the peak.
fn peak(floor_kb: u64, steps: &[(u64, Option<Rss>)], end_kb: u64) -> (u64, u64) {
    let mut tracker = RssTracker::new(floor_kb);
    let mut now = heap(0, 0);
    for (&(mib, rss), tick) in steps.iter().zip(1..) {
        now = heap(mib * MIB, tick);
        tracker.changed(&now);
        if let Some(rss) = rss {
            tracker.read(&rss, &now);
        }
    }
    let figures = Figures {
        vm_hwm_kb: end_kb,
        ..Figures::default()
    };
    tracker.finish(&figures, &now);
    (tracker.peak().tick, tracker.peak().reading_kb)
}

/// The same where readings stopped at tick 2.
fn unread(steps: &[(u64, Option<Rss>)]) -> (u64, Option<Unread>) {
    let mut tracker = RssTracker::new(0);
    let mut now = heap(0, 0);
    for (&(mib, rss), tick) in steps.iter().zip(1..) {
        now = heap(mib * MIB, tick);
        tracker.changed(&now);
        if let Some(rss) = rss {
            tracker.read(&rss, &now);
        }
    }
    let figures = Figures {
        unread_since: Some(2),
        ..Figures::default()
    };
    tracker.finish(&figures, &now);
    (tracker.peak().tick, tracker.unread())
}

#[test]
fn a_heap_that_grew_unread_stands_for_the_peak() {
    let of = |events, is_higher| {
        Some(Unread {
            since_tick: 2,
            events,
            is_higher,
        })
    };
    let read = [(10, mark(15)), (20, mark(25))];
    assert_eq!(unread(&read), (2, None));
    let grown = [read.as_slice(), &[(90, None), (30, None)]].concat();
    assert_eq!(unread(&grown), (3, of(2, true)));
    let shrunk = [read.as_slice(), &[(15, None)]].concat();
    assert_eq!(unread(&shrunk), (2, of(1, false)));
}

fn mark(mib: u64) -> Option<Rss> {
    Some(reading(RssSource::MaxRss, mib * 1024, 0))
}

fn moment(mib: u64) -> Option<Rss> {
    Some(reading(RssSource::Statm, 0, mib * 1024))
}

#[test]
fn the_first_reading_of_the_final_peak_names_the_bracket() {
    let steps = [
        (10, mark(15)),
        (90, None),
        (100, None),
        (20, mark(105)),
        (60, None),
        (10, mark(105)),
    ];
    assert_eq!(peak(0, &steps, 105 * 1024), (3, 105 * 1024));
}

#[test]
fn pages_touched_at_exit_do_not_move_the_peak() {
    let steps = [(100, mark(105)), (1, mark(105))];
    assert_eq!(peak(0, &steps, 105 * 1024 + 12).0, 1);
}

#[test]
fn untouched_memory_does_not_move_the_peak() {
    let creep = Some(reading(RssSource::MaxRss, 105 * 1024 + 4, 0));
    let steps = [(100, mark(105)), (2148, creep), (100, mark(105))];
    assert_eq!(peak(0, &steps, 105 * 1024 + 4).0, 1);
}

#[test]
fn slow_growth_is_followed() {
    let steps: Vec<_> = (0..500)
        .map(|step| {
            let kb = 105 * 1024 + step * 100;
            (100 + step / 10, Some(reading(RssSource::MaxRss, kb, 0)))
        })
        .collect();
    let last = 105 * 1024 + 499 * 100;
    assert!(peak(0, &steps, last).0 > 480);
}

#[test]
fn an_inherited_high_water_mark_does_not_count() {
    let floor = 600 * 1024;
    let steps = [
        (10, mark(600)),
        (200, moment(210)),
        (50, moment(60)),
        (300, None),
        (20, moment(30)),
    ];
    assert_eq!(peak(floor, &steps, 212 * 1024).0, 2);
}

#[test]
fn growth_after_the_last_reading_is_seen_at_the_end() {
    let steps = [(10, mark(15)), (300, None), (5, None)];
    assert_eq!(peak(0, &steps, 310 * 1024), (2, 310 * 1024));
}

#[test]
fn without_readings_it_is_the_heap_peak() {
    let steps = [(10, None), (300, None), (5, None)];
    assert_eq!(peak(0, &steps, 0), (2, 0));
}
