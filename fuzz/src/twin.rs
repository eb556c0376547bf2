//! The order of events, found the obvious way: every head is looked at for each
//! event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use memlog_format::limit::Limit;
use memlog_format::order::cell;
use memlog_read::{Item, Kind};

/// An item without the texts that it lends from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Where it was recorded.
    pub stream: u32,
    /// When.
    pub tick: u64,
    tid: u32,
    kind: Kind<'static>,
}

impl Told {
    /// The same item.
    pub fn of(item: &Item) -> Self {
        let kind = match item.kind {
            Kind::Alloc(alloc) => Kind::Alloc(alloc),
            Kind::Release(release) => Kind::Release(release),
            Kind::PriorAlloc(alloc) => Kind::PriorAlloc(alloc),
            Kind::PriorRelease(release) => Kind::PriorRelease(release),
            Kind::Unfinished(release) => Kind::Unfinished(release),
            Kind::Rss(rss) => Kind::Rss(rss),
            Kind::Ledger(entry) => Kind::Ledger(entry),
            Kind::Thread { tid, .. } => Kind::Thread { tid, name: &[] },
            Kind::Fork { child } => Kind::Fork { child },
            Kind::Loss { events, reason } => Kind::Loss { events, reason },
            Kind::Mark(_) => Kind::Mark(&[]),
            Kind::Scope(_) => Kind::Scope(&[]),
            Kind::Limit(limit) => Kind::Limit(Limit { name: &[], ..limit }),
            Kind::Failed(failure) => Kind::Failed(failure),
            Kind::Passed(passed) => Kind::Passed(passed),
            Kind::Switch(switch) => Kind::Switch(switch),
            Kind::Stamp(stamp) => Kind::Stamp(stamp),
        };
        Self {
            stream: item.stream,
            tick: item.tick,
            tid: item.tid,
            kind,
        }
    }
}

/// What an item waits for: a place, and its number there.
fn place_of(kind: &Kind, cell_mask: usize) -> Option<(usize, Option<u64>)> {
    let address = |address, order| Some((cell(address) & cell_mask, order));
    match kind {
        Kind::Alloc(alloc) | Kind::PriorAlloc(alloc) => address(alloc.address, alloc.order),
        Kind::Release(release) | Kind::PriorRelease(release) | Kind::Unfinished(release) => {
            address(release.address, release.order)
        }
        Kind::Stamp(stamp) => Some((usize::MAX, Some(*stamp))),
        Kind::Rss(rss) => Some((usize::MAX, Some(rss.stamp))),
        Kind::Switch(switch) => Some((usize::MAX, Some(switch.stamp))),
        Kind::Ledger(entry) => Some((usize::MAX - 1, Some(entry.order))),
        _ => None,
    }
}

/// Whether in each place the unnumbered come before the numbered, and these by
/// their numbers.
pub fn in_order(items: &[Told], cell_mask: usize) -> bool {
    let mut last: BTreeMap<usize, u64> = BTreeMap::new();
    items
        .iter()
        .all(|item| match place_of(&item.kind, cell_mask) {
            None => true,
            Some((place, None)) => !last.contains_key(&place),
            Some((place, Some(number))) => {
                let before = last.insert(place, number);
                before.is_none_or(|before| before <= number)
            }
        })
}

/// Whether each stream is in order by itself, and no number stands twice.
pub fn is_sound(streams: &[Vec<Told>], cell_mask: usize) -> bool {
    let mut numbers = BTreeSet::new();
    let numbered = |item: &Told| match place_of(&item.kind, cell_mask) {
        Some((place, Some(number))) => Some((place, number)),
        _ => None,
    };
    let all = streams.iter().flatten().filter_map(numbered);
    let mut all = all.map(|numbered| numbers.insert(numbered));
    all.all(|is_new| is_new) && streams.iter().all(|stream| in_order(stream, cell_mask))
}

/// Merges streams given one by one; nothing where their numbers contradict each
/// other, or one number stands twice.
pub fn merge(streams: &[Vec<Told>], cell_mask: usize) -> Option<Vec<Told>> {
    let mut unnumbered: BTreeMap<usize, u64> = BTreeMap::new();
    let mut numbers: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for item in streams.iter().flatten() {
        match place_of(&item.kind, cell_mask) {
            Some((place, None)) => *unnumbered.entry(place).or_default() += 1,
            Some((place, Some(number))) => {
                let is_new = numbers.entry(place).or_default().insert(number);
                if !is_new {
                    return None;
                }
            }
            None => {}
        }
    }
    let mut left: Vec<VecDeque<Told>> = streams
        .iter()
        .map(|stream| stream.iter().copied().collect())
        .collect();
    let mut merged = Vec::new();
    loop {
        let open = |item: &Told| match place_of(&item.kind, cell_mask) {
            Some((place, Some(number))) => {
                unnumbered.get(&place).is_none_or(|&left| left == 0)
                    && numbers[&place].first() == Some(&number)
            }
            _ => true,
        };
        let heads = left.iter().enumerate();
        let open = heads.filter_map(|(index, stream)| {
            let head = stream.front()?;
            // A reading comes behind all else of its tick.
            let is_reading = matches!(head.kind, Kind::Rss(_));
            open(head).then_some((head.tick, is_reading, index))
        });
        let Some((.., index)) = open.min() else {
            return left.iter().all(VecDeque::is_empty).then_some(merged);
        };
        let item = left[index].pop_front()?;
        match place_of(&item.kind, cell_mask) {
            Some((place, None)) => *unnumbered.get_mut(&place)? -= 1,
            Some((place, Some(_))) => {
                numbers.get_mut(&place)?.pop_first();
            }
            None => {}
        }
        merged.push(item);
    }
}
