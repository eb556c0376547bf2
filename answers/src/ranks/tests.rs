//! Random jobs, put together in random orders and groupings, against a list of all that
//! each rank holds at each place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memlog_analysis::{Held, Name};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::{End, LeftOut, Process, Ranks, SiteKey};

/// What a rank holds, by place.
type Job = Vec<(Process, BTreeMap<u8, Held>)>;

fn key(place: u8) -> SiteKey {
    (i64::from(place % 3), format!("place {place}"))
}

fn frames(key: &SiteKey) -> Vec<Name> {
    let name = |function: &str| Name {
        function: function.to_owned(),
        location: None,
        module: Some("solver".to_owned()),
    };
    vec![name(&key.1), name("main")]
}

fn one((process, places): &(Process, BTreeMap<u8, Held>)) -> Ranks {
    let mut ranks = Ranks::default();
    let places = places.iter().map(|(place, held)| (key(*place), *held));
    ranks.add(process.clone(), places, frames);
    // What is left out is counted once for each.
    let file = format!("{}.log", process.pid);
    ranks.leave_out(
        "a reason",
        LeftOut::one(file, format!("of {}", process.rank)),
    );
    ranks
        .notes
        .insert(format!("a note of {}", process.rank % 3));
    ranks
}

/// Few values, so that ties are many; and such as no sum has room for.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..5_u64, 4 => 0..1_u64 << 40, 1 => (u64::MAX - 3)..=u64::MAX]
}

fn held() -> impl Strategy<Value = Held> {
    (bytes(), 1..9_u64).prop_map(|(bytes, blocks)| Held { bytes, blocks })
}

fn process(rank: u64) -> impl Strategy<Value = (Process, BTreeMap<u8, Held>)> {
    let peaks = (proptest::option::of(bytes()), bytes());
    let places = btree_map(0..12_u8, held(), 0..8);
    (peaks, 0..3_u32, places).prop_map(move |((rss, heap), node, places)| {
        let process = Process {
            rank,
            node: format!("n{node}"),
            pid: rank as u32 + 100,
            start_unix_ns: 7,
            log: format!("{rank}.memlog"),
            rss_peak_bytes: rss,
            heap_peak_bytes: Some(heap),
            bytes: places
                .values()
                .fold(0, |sum: u64, held: &Held| sum.saturating_add(held.bytes)),
            blocks: (rank % 7 != 3).then(|| places.values().map(|held| held.blocks).sum()),
            end: if rank.is_multiple_of(5) {
                End::None
            } else {
                End::InOrder
            },
            lost_events: 0,
            finding: None,
        };
        (process, places)
    })
}

fn job() -> impl Strategy<Value = Job> {
    btree_set(0..40_u64, 1..14)
        .prop_flat_map(|ranks: BTreeSet<u64>| ranks.into_iter().map(process).collect::<Vec<_>>())
}

/// Merges two neighbours at a time, whichever are chosen, in whichever order.
fn merged(mut parts: Vec<Ranks>, choices: &[(usize, bool)]) -> Ranks {
    let mut choices = choices.iter().cycle();
    while parts.len() > 1 {
        let (place, is_turned) = *choices.next().expect("a choice");
        let first = parts.remove(place % parts.len());
        let second = parts.remove(place / 7 % parts.len());
        parts.push(match is_turned {
            true => second.merge(first),
            false => first.merge(second),
        });
    }
    parts.pop().unwrap_or_default().sorted()
}

proptest! {
    #[test]
    fn the_order_does_not_matter(
        job in job(),
        one_way in vec((0..1000_usize, any::<bool>()), 1..20),
        other_way in vec((0..1000_usize, any::<bool>()), 1..20),
    ) {
        let parts = || job.iter().map(one).collect::<Vec<_>>();
        let (found, other) = (merged(parts(), &one_way), merged(parts(), &other_way));
        prop_assert_eq!(&found, &other);
        prop_assert_eq!(&found, &found.clone().merge(Ranks::default()).sorted());
        check_sites(&job, &found);
        check_ranks(&job, &found);
    }
}

fn check_sites(job: &Job, found: &Ranks) {
    let all: BTreeSet<u8> = job
        .iter()
        .flat_map(|(_, places)| places.keys().copied())
        .collect();
    assert_eq!(found.sites().count(), all.len());
    for place in all {
        let of_rank = |(process, places): &(Process, BTreeMap<u8, Held>)| {
            places.get(&place).map(|held| (process.rank, *held))
        };
        let there: Vec<(u64, Held)> = job.iter().filter_map(of_rank).collect();
        let site = found.site(&key(place)).expect("a place");
        let sum = |of: fn(&Held) -> u64| {
            let mut sum = 0_u64;
            there
                .iter()
                .for_each(|(_, held)| sum = sum.saturating_add(of(held)));
            sum
        };
        assert_eq!(site.ranks, there.len() as u64);
        assert_eq!(site.bytes, sum(|held| held.bytes));
        let mut with_it = job.iter().filter(|(_, places)| places.contains_key(&place));
        let is_told = with_it.all(|(process, _)| process.blocks.is_some());
        assert_eq!(site.blocks, is_told.then(|| sum(|held| held.blocks)));
        let most = there.iter().map(|(_, held)| held.bytes).max();
        assert_eq!(Some(site.most), most);
        let has_most = there.iter().filter(|(_, held)| Some(held.bytes) == most);
        assert_eq!(Some(site.most_rank), has_most.map(|(rank, _)| *rank).min());
        let least = match there.len() < job.len() {
            true => Some(0),
            false => there.iter().map(|(_, held)| held.bytes).min(),
        };
        assert_eq!(Some(found.least(site)), least);
        assert_eq!(found.mean(site), site.bytes / job.len() as u64);
        let expected: Vec<_> = frames(&key(place)).into_iter().map(Arc::new).collect();
        assert_eq!(site.frames, expected);
    }
}

fn check_ranks(job: &Job, found: &Ranks) {
    let mut peaks: Vec<(u64, u64)> = Vec::new();
    for (process, _) in job {
        peaks.extend(process.rss_peak_bytes.map(|bytes| (bytes, process.rank)));
    }
    peaks.sort_unstable();
    let spread = found.spread(|process| process.rss_peak_bytes);
    assert_eq!(spread.is_some(), !peaks.is_empty());
    if let Some(spread) = spread {
        let below = peaks.iter().filter(|peak| **peak < spread.median).count();
        assert_eq!((spread.least, below), (peaks[0], (peaks.len() - 1) / 2));
        let most = peaks
            .iter()
            .filter(|peak| peak.0 == peaks[peaks.len() - 1].0);
        assert_eq!(Some(&spread.most), most.min_by_key(|peak| peak.1));
        let mean = spread.sum as f64 / peaks.len() as f64;
        let far = peaks.iter().filter(|peak| peak.0 as f64 > 1.2 * mean);
        let mut told: Vec<_> = found
            .outliers()
            .iter()
            .map(|one| (one.rss_peak_bytes, one.process.rank))
            .collect();
        told.sort_unstable();
        assert_eq!(told, far.copied().collect::<Vec<_>>());
    }
    let there: BTreeSet<u64> = job.iter().map(|(process, _)| process.rank).collect();
    let last = *there.last().expect("a rank");
    let missing: BTreeSet<u64> = found.missing().into_iter().flatten().collect();
    assert!((0..=last).all(|rank| there.contains(&rank) != missing.contains(&rank)));
    assert!(missing.last() < Some(&last));
    let on_nodes: u64 = found.nodes().values().map(|node| node.ranks).sum();
    assert_eq!(on_nodes, job.len() as u64);
    assert_eq!(found.twice(), None);
    let left_out = &found.left_out()["a reason"];
    assert_eq!(left_out.count, job.len() as u64);
    let first = job
        .iter()
        .map(|(process, _)| format!("{}.log", process.pid))
        .min();
    assert_eq!(Some(&left_out.first), first.as_ref());
}

#[test]
fn a_rank_that_is_there_twice_is_found() {
    let of = |rank, pid| Process {
        rank,
        pid,
        ..Process::default()
    };
    let mut ranks = Ranks::default();
    for process in [of(3, 9), of(1, 5), of(3, 7)] {
        ranks.add_process(process);
    }
    assert_eq!(ranks.twice(), Some([&of(3, 7), &of(3, 9)]));
    assert_eq!(ranks.missing(), [0..=0, 2..=2]);
    assert_eq!(Ranks::default().missing(), []);
    assert_eq!(
        Ranks::default().spread(|process| process.rss_peak_bytes),
        None
    );
}
