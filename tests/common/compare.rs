//! Two lists of events, compared.
//!
//! On each address the two sequences must be equal, element by element, and
//! for each thread as well. Together that is: nothing missing, nothing extra,
//! nothing in another order. Between addresses there is no order to compare,
//! for two recorders in one process do not act at the same instant.

use std::collections::{BTreeMap, HashMap};

use super::Event;

/// An event that only one of the two has, or has elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The event.
    pub event: Event,
    /// Its place in that recorder's list.
    pub place: usize,
    /// Whether memlog has it, and not the second recorder.
    pub is_ours: bool,
}

impl Odd {
    /// For messages.
    pub fn show(&self) -> String {
        let whose = if self.is_ours { "extra" } else { "missing" };
        format!("{whose} event {}: {}", self.place, self.event.show())
    }
}

/// What came out.
#[derive(Default)]
pub struct Comparison {
    /// For each event of the second recorder memlog's event, if there is one.
    pub partner: Vec<Option<usize>>,
    /// Events without a partner.
    pub odd: Vec<Odd>,
    /// Threads whose own sequences differ, with the first difference.
    pub threads: Vec<String>,
}

/// At most that many events at the very beginning may be odd.
pub const START_UP: usize = 64;

impl Comparison {
    /// The odd ones that start-up does not explain, and the number it does.
    pub fn beyond_start_up(&self) -> (Vec<Odd>, usize) {
        let is_late = |odd: &&Odd| odd.place >= START_UP;
        let late: Vec<Odd> = self.odd.iter().filter(is_late).copied().collect();
        let early = self.odd.len() - late.len();
        (late, early)
    }
}

/// Compares memlog's events with the second recorder's.
pub fn compare(ours: &[Event], gold: &[Event]) -> Comparison {
    let mut result = Comparison {
        partner: vec![None; gold.len()],
        ..Comparison::default()
    };
    let (our_places, gold_places) = (by_address(ours), by_address(gold));
    let (mut o, mut g) = (0, 0);
    while o < our_places.len() || g < gold_places.len() {
        let address_of = |events: &[Event], places: &[u32], at: usize| {
            places.get(at).map(|&place| events[place as usize].address)
        };
        let our_address = address_of(ours, &our_places, o);
        let gold_address = address_of(gold, &gold_places, g);
        let address = match (our_address, gold_address) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b).unwrap_or(0),
        };
        let run = |events: &[Event], places: &[u32], from: usize| {
            let mut end = from;
            while end < places.len() && events[places[end] as usize].address == address {
                end += 1;
            }
            end
        };
        let (o_end, g_end) = (run(ours, &our_places, o), run(gold, &gold_places, g));
        let sides = Sides { ours, gold };
        sides.address(&our_places[o..o_end], &gold_places[g..g_end], &mut result);
        (o, g) = (o_end, g_end);
    }
    result.odd.sort_by_key(|odd| odd.place);
    result.threads = compare_threads(ours, gold);
    result
}

struct Sides<'e> {
    ours: &'e [Event],
    gold: &'e [Event],
}

impl Sides<'_> {
    /// One address: what is equal from the front and from the back are
    /// partners, what is left in between is odd.
    fn address(&self, ours: &[u32], gold: &[u32], result: &mut Comparison) {
        let same = |o: u32, g: u32| self.ours[o as usize].is_same(&self.gold[g as usize]);
        let shorter = ours.len().min(gold.len());
        let front = (0..shorter).take_while(|&i| same(ours[i], gold[i])).count();
        let back = (0..shorter - front)
            .take_while(|&i| same(ours[ours.len() - 1 - i], gold[gold.len() - 1 - i]))
            .count();
        let mut pair = |o: u32, g: u32| result.partner[g as usize] = Some(o as usize);
        for i in 0..front {
            pair(ours[i], gold[i]);
        }
        for i in 0..back {
            pair(ours[ours.len() - 1 - i], gold[gold.len() - 1 - i]);
        }
        for (events, places, is_ours) in [(self.ours, ours, true), (self.gold, gold, false)] {
            for &place in &places[front..places.len() - back] {
                let place = place as usize;
                result.odd.push(Odd {
                    event: events[place],
                    place,
                    is_ours,
                });
            }
        }
    }
}

/// The places of the events, by address and then by order.
fn by_address(events: &[Event]) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = events.iter().map(|event| event.address).zip(0..).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, place)| place).collect()
}

/// The events of each thread, in its order.
pub fn by_thread(events: &[Event]) -> BTreeMap<u32, Vec<Event>> {
    let mut threads: HashMap<u32, Vec<Event>> = HashMap::new();
    for event in events {
        threads.entry(event.tid).or_default().push(*event);
    }
    threads.into_iter().collect()
}

fn compare_threads(ours: &[Event], gold: &[Event]) -> Vec<String> {
    let (ours, mut gold) = (by_thread(ours), by_thread(gold));
    let mut said = Vec::new();
    for (tid, ours) in ours {
        let gold = gold.remove(&tid).unwrap_or_default();
        let differs = |(o, g): (&Event, &Event)| !o.is_same(g);
        let first = ours.iter().zip(&gold).position(differs);
        if let Some(first) = first {
            let (o, g) = (ours[first].show(), gold[first].show());
            said.push(format!("thread {tid}, event {first}: memlog {o}, gold {g}"));
        }
        if ours.len() != gold.len() {
            let (o, g) = (ours.len(), gold.len());
            said.push(format!("thread {tid}: memlog has {o} events, gold {g}"));
        }
    }
    for (tid, gold) in gold {
        said.push(format!(
            "thread {tid}: memlog has no events, gold {}",
            gold.len()
        ));
    }
    said
}
