//! The merge gives the events on one address in their true order, whatever
//! the threads did, and also when the streams' ends are missing.

mod support;

use std::collections::BTreeMap;

use memlog_format::chunk::CHUNK_SIZE;
use memlog_read::{Item, Kind, Log};
use proptest::prelude::*;
use support::history::{Action, Fact, History, action};

/// What the log says happened, in the merged order.
fn facts_of(items: &[Item]) -> Vec<Fact> {
    let fact = |item: &Item| {
        let (address, came) = match item.kind {
            Kind::Alloc(alloc) => (alloc.address, Some(alloc.size)),
            Kind::Release(release) => (release.address, None),
            _ => return None,
        };
        let stream = item.stream;
        Some(Fact {
            address,
            came,
            stream,
        })
    };
    items.iter().filter_map(fact).collect()
}

fn by_address(facts: &[Fact]) -> BTreeMap<u64, Vec<Fact>> {
    let mut map: BTreeMap<u64, Vec<Fact>> = BTreeMap::new();
    for fact in facts {
        map.entry(fact.address).or_default().push(*fact);
    }
    map
}

/// The log with this stream only.
fn only(log: &[u8], stream: u32) -> Vec<u8> {
    let chunks = log.chunks(CHUNK_SIZE).enumerate();
    let wanted =
        chunks.filter(|(index, chunk)| *index == 0 || chunk[8..12] == stream.to_le_bytes());
    wanted.flat_map(|(_, chunk)| chunk.to_vec()).collect()
}

fn check_stream_order(items: &[Item], log: &[u8], threads: usize) {
    for stream in 0..threads as u32 {
        let alone = only(log, stream);
        let alone: Vec<_> = Log::open(&alone).unwrap().events().map(show).collect();
        let merged = items.iter().filter(|item| item.stream == stream);
        let merged: Vec<_> = merged.copied().map(show).collect();
        assert_eq!(alone, merged, "stream {stream} keeps its own order");
    }
}

fn show(item: Item) -> String {
    format!("{item:?}")
}

/// After stamp s of one stream comes nothing that stands before a lower stamp
/// of another.
fn check_stamps(items: &[Item]) {
    let stamps = items.iter().filter_map(|item| match item.kind {
        Kind::Stamp(stamp) => Some(stamp),
        _ => None,
    });
    assert!(stamps.is_sorted(), "stamps rise");
}

/// By reading of resident memory: what each thread had done by then.
fn done_by_readings(items: &[Item], threads: usize) -> Vec<Vec<usize>> {
    let mut done = vec![0; threads];
    let mut readings = Vec::new();
    for item in items {
        match item.kind {
            Kind::Alloc(_) | Kind::Release(_) => done[item.stream as usize] += 1,
            Kind::Rss(_) => readings.push(done.clone()),
            _ => {}
        }
    }
    readings
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    prop::collection::vec(action(), 0..400)
}

proptest! {
    /// Whoever acts after a reading stamps first: however late threads look at
    /// the clock, nobody is told to have acted on the other side of one.
    #[test]
    fn readings_stand_where_they_were_made(
        threads in 1..6usize,
        actions in actions(),
    ) {
        let history = History::run(threads, 3000, &actions);
        // Announced and never finished: not in the log.
        let unfinished = history.unfinished();
        let is_there = |(at, fact): (usize, &Option<Fact>)| fact.filter(|_| !unfinished.contains(&at));
        let by_then = |&facts: &usize| {
            let mut done = vec![0; threads];
            let facts = history.facts.iter().enumerate().take(facts).filter_map(is_there);
            facts.for_each(|fact| done[fact.stream as usize] += 1);
            done
        };
        let truth: Vec<_> = history.readings.iter().map(by_then).collect();
        let (log, _) = history.finish_log(&[]);
        let items: Vec<_> = Log::open(&log).unwrap().events().collect();
        prop_assert_eq!(done_by_readings(&items, threads), truth);
    }

    #[test]
    fn whole_logs_give_the_truth(
        threads in 1..6usize,
        room in 600..3000usize,
        actions in actions(),
    ) {
        let (log, truth) = History::run(threads, room, &actions).finish_log(&[]);
        let log_bytes = &log;
        let log = Log::open(log_bytes).unwrap();
        let mut events = log.events();
        let items: Vec<_> = events.by_ref().collect();
        prop_assert_eq!(by_address(&facts_of(&items)), by_address(&truth));
        check_stream_order(&items, log_bytes, threads);
        check_stamps(&items);
        prop_assert_eq!(events.findings().order_gaps, 0);
        prop_assert_eq!(events.findings().order_breaks, 0);
    }

    /// Streams are looked at one after the other while all are written: of each address
    /// there is all up to some moment, and what was done when the marks were taken.
    #[test]
    fn a_log_that_grows_is_read_up_to_a_moment(
        threads in 2..6usize,
        actions in actions(),
        marked in 0..400usize,
        later in prop::collection::vec(0..80usize, 6),
    ) {
        let until = |moment: usize| {
            let moment = moment.min(actions.len());
            History::run(threads, 60_000, &actions[..moment])
        };
        let records = |moment: usize| {
            let streams = until(moment).recorder.streams;
            streams.iter().map(|stream| stream.ends.len() - 1).collect::<Vec<_>>()
        };
        let at_least = by_address(&until(marked).finish_log(&[]).1);
        let marks = {
            let keep: Vec<_> = records(marked).into_iter().map(Some).collect();
            let (log, _) = until(usize::MAX).finish_log(&keep);
            Log::open(&log).unwrap().marks(log.len() as u64)
        };
        let keep = |(thread, more): (usize, &usize)| records(marked + more).get(thread).copied();
        let keep: Vec<_> = later.iter().enumerate().map(keep).collect();
        let (log, truth) = until(usize::MAX).finish_log(&keep);
        let truth = by_address(&truth);
        let log = Log::open_behind(&log, &marks, None).unwrap();
        let mut events = log.events();
        let items: Vec<_> = events.by_ref().collect();
        let found = by_address(&facts_of(&items));
        for (address, found) in &found {
            let all = truth.get(address).map_or(&[][..], Vec::as_slice);
            prop_assert!(all.starts_with(found), "{found:?} of {all:?}");
        }
        for (address, least) in &at_least {
            let found = found.get(address).map_or(&[][..], Vec::as_slice);
            prop_assert!(found.starts_with(least), "{found:?} and {least:?} at least");
        }
        prop_assert_eq!(events.findings().order_gaps, 0);
        prop_assert_eq!(events.findings().order_breaks, 0);
    }

    #[test]
    fn what_is_left_of_torn_logs_stays_in_order(
        threads in 2..6usize,
        actions in actions(),
        keep in prop::collection::vec(prop::option::of(0..60usize), 6),
    ) {
        let (log, truth) = History::run(threads, 3000, &actions).finish_log(&keep);
        let log = Log::open(&log).unwrap();
        let mut events = log.events();
        let items: Vec<_> = events.by_ref().collect();
        let truth = by_address(&truth);
        for (address, found) in by_address(&facts_of(&items)) {
            // Each fact that is left is in the truth, after the one before it.
            let mut rest = truth.get(&address).map_or(&[][..], Vec::as_slice).iter();
            for fact in &found {
                prop_assert!(rest.any(|true_fact| true_fact == fact), "{fact:?} of {found:?}");
            }
        }
        prop_assert_eq!(events.findings().order_breaks, 0);
    }

    #[test]
    fn fast_and_naive_merge_agree(
        threads in 2..6usize,
        actions in actions(),
        keep in prop::collection::vec(prop::option::of(0..60usize), 6),
    ) {
        // A number without an event is no step in the naive merge.
        let actions: Vec<_> = actions
            .into_iter()
            .filter(|action| !matches!(action, Action::Announce { .. }))
            .collect();
        let (log, _) = History::run(threads, 1200, &actions).finish_log(&keep);
        let parts: Vec<_> = (0..threads as u32).map(|stream| only(&log, stream)).collect();
        let streams = parts.iter().map(|part| Log::open(part).unwrap().events().collect());
        let naive = support::naive::merge(streams.collect());
        let fast: Vec<_> = Log::open(&log).unwrap().events().collect();
        prop_assert_eq!(fast, naive);
    }
}

/// The pass that puts the streams in order tells how far it is, and ends when
/// it is told to.
#[test]
fn the_first_pass_is_watched() {
    for events in [60_000, LARGE] {
        is_watched(events);
    }
}

/// Events of a log whose first pass two threads share.
const LARGE: u64 = 1_500_000;

fn is_watched(events: u64) {
    let bytes = support::bulk::churn(3, events, 100, 10).finish(&[]);
    let log = Log::open(&bytes).unwrap();
    let mut told = Vec::new();
    let events = log.events_while(&mut |bytes| {
        told.push(bytes);
        true
    });
    assert_eq!(events.count(), log.events().count());
    assert!(told.len() > 3 && told.is_sorted(), "{told:?}");
    assert!(
        told.last()
            .is_some_and(|&bytes| bytes <= log.size().event_bytes)
    );
    let mut asked = 0;
    let events = log.events_while(&mut |_| {
        asked += 1;
        asked < 2
    });
    assert_eq!((events.count(), asked), (0, 2));
}

/// What either of two threads counted is in the order: nothing is there twice.
#[test]
fn a_large_log_is_in_order() {
    let bytes = support::bulk::churn(3, LARGE, 1000, 3).finish(&[]);
    let log = Log::open(&bytes).unwrap();
    assert!(log.size().event_bytes > 6 << 20);
    let mut live = std::collections::HashSet::new();
    let mut events = log.events();
    for item in events.by_ref() {
        match item.kind {
            Kind::Alloc(alloc) => assert!(live.insert(alloc.address), "{alloc:?}"),
            Kind::Release(release) => assert!(live.remove(&release.address), "{release:?}"),
            _ => {}
        }
    }
    let findings = events.findings();
    assert_eq!((findings.order_gaps, findings.order_breaks), (0, 0));
}
