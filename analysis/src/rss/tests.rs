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
    (tracker.peak().tick, tracker.peak().level.kb)
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
            why: Why::Filter,
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

/// Readings of all and of the recorder's part, in MiB, with a heap; gives the
/// tick of the peak and its figure.
fn with_own(steps: &[(u64, u64, u64)], vm_hwm_mib: u64) -> (u64, Level) {
    let mut tracker = RssTracker::new(0);
    let mut now = heap(0, 0);
    for (&(mib, all_mib, own_mib), tick) in steps.iter().zip(1..) {
        now = heap(mib * MIB, tick);
        tracker.changed(&now);
        let rss = Rss {
            own_kb: own_mib * 1024,
            ..reading(RssSource::MaxRss, all_mib * 1024, 0)
        };
        tracker.read(&rss, &now);
    }
    let figures = Figures {
        vm_hwm_kb: vm_hwm_mib * 1024,
        ..Figures::default()
    };
    tracker.finish(&figures, &now);
    (tracker.peak().tick, tracker.level(figures.vm_hwm_kb))
}

fn level(mib: u64, own_mib: u64) -> Level {
    Level {
        kb: mib * 1024,
        own_kb: own_mib * 1024,
    }
}

/// The program's peak has passed when the log's pages make the maximum.
#[test]
fn own_pages_after_the_peak_move_neither_moment_nor_figure() {
    let steps = [(30, 33, 1), (1, 33, 20), (2, 38, 36), (1, 42, 40)];
    assert_eq!(with_own(&steps, 42), (1, level(33, 1)));
}

#[test]
fn own_pages_before_the_peak_are_no_part_of_the_programs() {
    let steps = [(1, 20, 17), (30, 50, 17), (1, 52, 30)];
    assert_eq!(with_own(&steps, 52), (2, level(50, 17)));
}

/// The mark stays when the recorder gives pages back; what is left is not the
/// program's.
#[test]
fn a_mark_that_did_not_rise_is_no_peak() {
    let steps = [(2, 40, 36), (3, 40, 4), (9, 40, 4)];
    assert_eq!(with_own(&steps, 40), (1, level(40, 36)));
}

#[test]
fn the_figure_can_be_had_without_the_heap() {
    let all = [(33, 1), (38, 36), (42, 40)].map(|(mib, own_mib)| Rss {
        own_kb: own_mib * 1024,
        ..reading(RssSource::MaxRss, mib * 1024, 0)
    });
    let figures = Figures {
        vm_hwm_kb: 42 * 1024,
        ..Figures::default()
    };
    let found = |before| highest_level(all.into_iter(), before, 0, &figures);
    assert_eq!(found(Level::default()), level(33, 1));
    assert_eq!(found(level(50, 2)), level(50, 2));
}

/// Killed: after its last reading a block came, or only a few bytes did.
fn killed(grown_mib: u64, counted_mib: u64) -> (u64, Option<bool>) {
    let mut tracker = RssTracker::new(2048);
    let mut now = heap(57 * MIB, 1);
    tracker.changed(&now);
    tracker.read(&mark(59).expect("a reading"), &now);
    now = heap((57 + grown_mib) * MIB + 9, 2);
    tracker.changed(&now);
    let figures = Figures {
        counted_kb: counted_mib * 1024,
        ..Figures::default()
    };
    tracker.finish(&figures, &now);
    let higher = tracker.unread().map(|unread| unread.is_higher);
    (tracker.peak().tick, higher)
}

/// A gigabyte that was there at two readings and in no figure is untouched.
#[test]
fn untouched_memory_is_not_taken_for_an_unread_peak() {
    for (readings, is_higher) in [(1, true), (2, false), (3, false)] {
        let mut tracker = RssTracker::new(0);
        let mut now = heap(50 * MIB, 1);
        tracker.changed(&now);
        tracker.read(&mark(59).expect("a reading"), &now);
        for tick in 0..readings {
            now = heap(1024 * MIB, 2 + tick);
            tracker.changed(&now);
            tracker.read(&mark(59).expect("a reading"), &now);
        }
        tracker.finish(&Figures::default(), &now);
        let unread = tracker.unread().expect("no end");
        assert_eq!(unread.is_higher, is_higher, "{readings}");
    }
}

#[test]
fn who_was_killed_at_its_peak_was_not_read_there() {
    assert_eq!(killed(40, 0), (2, Some(true)));
    assert_eq!(killed(40, 99), (2, Some(true)));
    assert_eq!(killed(0, 0), (1, Some(false)));
    // The kernel counted no more than was read: untouched.
    assert_eq!(killed(40, 59), (1, None));
    // That is what it inherited.
    assert_eq!(killed(40, 2), (2, Some(true)));
}
