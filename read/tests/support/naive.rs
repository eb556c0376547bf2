//! The merge, obviously right: all events in memory, all heads looked at for
//! each event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use memlog_format::order::cell;
use memlog_read::{Item, Kind};

/// What an item waits for: its place and its number there.
fn place_of(kind: &Kind) -> Option<(usize, Option<u64>)> {
    let address = |address, order| Some((cell(address), order));
    match kind {
        Kind::Alloc(alloc) => address(alloc.address, alloc.order),
        Kind::Release(release) => address(release.address, release.order),
        Kind::Stamp(stamp) => Some((usize::MAX, Some(*stamp))),
        Kind::Rss(rss) => Some((usize::MAX, Some(rss.stamp))),
        Kind::Ledger(entry) => Some((usize::MAX - 1, Some(entry.order))),
        _ => None,
    }
}

/// Merges streams given one by one. A revoked release is not among them, but
/// its number is missing then, and missing numbers are passed over.
pub fn merge<'a>(streams: Vec<Vec<Item<'a>>>) -> Vec<Item<'a>> {
    let mut unnumbered: BTreeMap<usize, u64> = BTreeMap::new();
    let mut numbers: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for item in streams.iter().flatten() {
        match place_of(&item.kind) {
            Some((place, None)) => *unnumbered.entry(place).or_default() += 1,
            Some((place, Some(number))) => {
                numbers.entry(place).or_default().insert(number);
            }
            None => {}
        }
    }
    let mut streams: Vec<VecDeque<_>> = streams.into_iter().map(VecDeque::from).collect();
    let mut merged = Vec::new();
    loop {
        let open = |item: &Item| match place_of(&item.kind) {
            Some((place, Some(number))) => {
                unnumbered.get(&place).is_none_or(|&left| left == 0)
                    && numbers[&place].first() == Some(&number)
            }
            _ => true,
        };
        let heads = streams.iter().enumerate();
        let open = heads.filter_map(|(index, stream)| {
            let head = stream.front()?;
            let is_reading = matches!(head.kind, Kind::Rss(_));
            open(head).then_some((head.tick, is_reading, index))
        });
        let Some((.., index)) = open.min() else {
            assert!(streams.iter().all(VecDeque::is_empty), "nobody may go on");
            return merged;
        };
        let item = streams[index].pop_front().unwrap();
        match place_of(&item.kind) {
            Some((place, None)) => *unnumbered.get_mut(&place).unwrap() -= 1,
            Some((place, Some(_))) => {
                numbers.get_mut(&place).unwrap().pop_first();
            }
            None => {}
        }
        merged.push(item);
    }
}
