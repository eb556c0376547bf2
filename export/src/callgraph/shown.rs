//! Which places are on the page, and which arrows join them.
//!
//! ```text
//! places := those that hold enough, if there are not too many
//! for each place: arrows from those that call it;
//!     if none of them is on the page, from the nearest in its stacks that is
//! keep the arrows that carry enough, and each place's heaviest
//! until every place can be reached from where stacks begin:
//!     add the heaviest arrow into what cannot
//! for each place of which less than half is seen to go on, or its own:
//!     add arrows to the nearest in its stacks that are on the page
//! ```

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::steps::{Counted, Steps};
use super::{CallGraph, Entry};
use crate::numbers::{counted, percentage, sized};

/// More places than this nobody can lay out in time; the largest are shown.
pub(super) const MOST_PLACES: usize = 300;

/// What carries less than this part of what its place holds does not say where
/// that goes.
const LEAST_WORTH: u64 = 5;

/// As many arrows may join so many places.
const fn most_arrows(places: usize) -> usize {
    places + places / 2 + 50
}

/// From a caller down to what it calls, as they are numbered on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
    /// How many places that are not on the page it leads through, at least and
    /// at most.
    pub through: (u32, u32),
}

impl Arrow {
    pub(super) fn is_call(&self) -> bool {
        self.through.1 == 0
    }
}

/// What is on the page.
pub(super) struct Shown {
    /// Indexes of the places.
    pub places: Vec<usize>,
    pub arrows: Vec<Arrow>,
    /// By place: how far in half of its bytes have it.
    pub depths: Vec<usize>,
    /// Calls between places of the page that are not on it.
    calls_left_out: u64,
    /// Whether more places would have held enough.
    pub is_crowded: bool,
}

impl Shown {
    /// Of those that hold so much no more than so many.
    pub(super) fn of(graph: &CallGraph, least_percent: f64, most_places: usize) -> Self {
        let least = graph.total.bytes as f64 * least_percent / 100.0;
        let is_enough = |bytes: u64| bytes as f64 >= least;
        let (places, is_crowded) = places(graph, is_enough, most_places);
        let numbers: HashMap<usize, usize> = places.iter().copied().zip(0..).collect();
        let calls = calls_between(graph, &numbers);
        let (steps, left_out) = graph.steps.only(&numbers);
        let mut depths = vec![Vec::new(); places.len()];
        let counted = steps.count(places.len(), |place, depth, bytes| {
            depths[place].push((depth, bytes));
        });
        let ways = ways(&steps, &counted, &left_out);
        let mut is_called = vec![false; places.len()];
        for call in calls.iter().filter(|call| call.from != call.to) {
            is_called[call.to] = true;
        }
        let mut arrows = calls.clone();
        arrows.extend(ways.iter().filter(|way| !is_called[way.to]));
        let most = most_arrows(places.len());
        let mut shown = Self {
            arrows: heavy(arrows, is_enough, most),
            depths: depths.into_iter().map(median).collect(),
            places,
            calls_left_out: 0,
            is_crowded,
        };
        shown.join(&ways, &calls, &counted.begun);
        shown.lead_on(graph, &ways, &calls);
        let drawn = shown.arrows.iter().filter(|arrow| arrow.is_call()).count();
        shown.calls_left_out = (calls.len() - drawn) as u64;
        shown
    }

    /// Adds arrows until everything can be reached from where stacks begin.
    fn join(&mut self, ways: &[Arrow], calls: &[Arrow], begun: &[u64]) {
        let mut is_led_to = vec![false; self.places.len()];
        ways.iter().for_each(|way| is_led_to[way.to] = true);
        let mut is_reached = vec![false; self.places.len()];
        let mut starts: Vec<usize> = (0..is_led_to.len()).filter(|&at| !is_led_to[at]).collect();
        loop {
            self.reach(&mut is_reached, starts);
            let leads_on = |way: &&Arrow| is_reached[way.from] && !is_reached[way.to];
            let heaviest = ways.iter().filter(leads_on);
            let heaviest = heaviest.max_by_key(|way| (way.bytes, Reverse((way.to, way.from))));
            if let Some(way) = heaviest {
                let is_it = |call: &&Arrow| (call.from, call.to) == (way.from, way.to);
                self.arrows.push(*calls.iter().find(is_it).unwrap_or(way));
                starts = vec![way.to];
                continue;
            }
            // All its stacks begin within a circle.
            let outside = (0..is_reached.len()).filter(|&at| !is_reached[at]);
            let Some(first) = outside.max_by_key(|&at| (begun[at], Reverse(at))) else {
                break;
            };
            starts = vec![first];
        }
        self.arrows
            .sort_unstable_by_key(|arrow| (arrow.from, arrow.to));
    }

    /// Adds the heaviest ways out of places that would seem to end in nothing.
    fn lead_on(&mut self, graph: &CallGraph, ways: &[Arrow], calls: &[Arrow]) {
        let mut seen: Vec<u64> = self
            .places
            .iter()
            .map(|&place| graph.entries[place].own.bytes)
            .collect();
        let mut ends = HashSet::new();
        for arrow in &self.arrows {
            ends.insert((arrow.from, arrow.to));
            if arrow.from != arrow.to {
                seen[arrow.from] = seen[arrow.from].saturating_add(arrow.bytes);
            }
        }
        let mut ways: Vec<&Arrow> = ways.iter().collect();
        ways.sort_by_key(|way| (Reverse(way.bytes), way.from, way.to));
        for way in ways {
            let held = graph.entries[self.places[way.from]].held.bytes;
            let is_worth = way.bytes >= held / LEAST_WORTH && seen[way.from] < held / 2;
            if is_worth && ends.insert((way.from, way.to)) {
                seen[way.from] = seen[way.from].saturating_add(way.bytes);
                let is_it = |call: &&Arrow| (call.from, call.to) == (way.from, way.to);
                self.arrows.push(*calls.iter().find(is_it).unwrap_or(way));
            }
        }
        self.arrows
            .sort_unstable_by_key(|arrow| (arrow.from, arrow.to));
    }

    fn reach(&self, is_reached: &mut [bool], mut waiting: Vec<usize>) {
        let mut leaving = vec![Vec::new(); is_reached.len()];
        for arrow in &self.arrows {
            leaving[arrow.from].push(arrow.to);
        }
        while let Some(place) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[place], true) {
                waiting.extend(&leaving[place]);
            }
        }
    }

    /// How much is not on the page, and how to see more. What such places hold
    /// together is not known, for they call each other; what they allocated
    /// themselves is. `thing` is what a place is called.
    pub(super) fn left_out(
        &self,
        graph: &CallGraph,
        least: f64,
        (thing, most_boxes): (&str, usize),
    ) -> Option<String> {
        let own = |entry: &Entry| entry.own.bytes;
        let all = graph.entries.iter().map(own).fold(0, u64::saturating_add);
        let shown = self.places.iter().map(|&index| own(&graph.entries[index]));
        let bytes = all.saturating_sub(shown.fold(0, u64::saturating_add));
        let mut parts = Vec::new();
        let more = match (self.is_crowded, most_boxes) {
            (false, _) => "-t 0",
            (true, 1..MOST_PLACES) => "--max-boxes 0",
            (true, _) => "the .txt",
        };
        let mut advice = None;
        match (graph.entries.len() - self.places.len()) as u64 {
            0 => {}
            count => {
                parts.push(format!(
                    "{} {}, where {} ({:.2}%) was allocated",
                    counted(count, thing),
                    match self.is_crowded {
                        true => format!("besides the {} largest", self.places.len()),
                        false => format!("below {least}%"),
                    },
                    sized(bytes),
                    percentage(bytes, graph.total.bytes)
                ));
                advice = Some(format!("{more} shows more"));
            }
        }
        match self.calls_left_out {
            0 => {}
            count => parts.push(format!(
                "{} between {thing}s",
                counted(count, "lesser call")
            )),
        }
        parts.extend(advice);
        (!parts.is_empty()).then(|| format!("not in the picture: {}", parts.join("; ")))
    }
}

/// Those that hold enough, and whether there were too many.
fn places(graph: &CallGraph, is_enough: impl Fn(u64) -> bool, most: usize) -> (Vec<usize>, bool) {
    let held = |index: usize| graph.entries[index].held.bytes;
    let mut places: Vec<usize> = (0..graph.entries.len())
        .filter(|&index| is_enough(held(index)))
        .collect();
    let is_crowded = places.len() > most;
    // The entries are in the order of what they hold.
    places.truncate(most);
    (places, is_crowded)
}

fn calls_between(graph: &CallGraph, numbers: &HashMap<usize, usize>) -> Vec<Arrow> {
    let between = graph.calls.iter().filter_map(|call| {
        let (&from, &to) = numbers.get(&call.caller).zip(numbers.get(&call.callee))?;
        Some(Arrow {
            from,
            to,
            bytes: call.held.bytes,
            through: (0, 0),
        })
    });
    between.collect()
}

/// From each place to the next one of the page in its stacks.
fn ways(steps: &Steps, counted: &Counted, left_out: &[u32]) -> Vec<Arrow> {
    let mut through = vec![(u32::MAX, 0); counted.calls.len()];
    for ((call, node), &count) in counted.call_of.iter().zip(&steps.nodes).zip(left_out) {
        if let Some(call) = call.filter(|_| node.held.blocks > 0) {
            let (least, most) = &mut through[call];
            (*least, *most) = ((*least).min(count), (*most).max(count));
        }
    }
    let ways = counted.calls.iter().zip(through);
    let ways = ways.filter(|(call, _)| call.caller != call.callee && call.held.blocks > 0);
    ways.map(|(call, through)| Arrow {
        from: call.caller,
        to: call.callee,
        bytes: call.held.bytes,
        through,
    })
    .collect()
}

/// Those that carry enough, and for each place its heaviest; not too many.
fn heavy(mut arrows: Vec<Arrow>, is_enough: impl Fn(u64) -> bool, most: usize) -> Vec<Arrow> {
    arrows.sort_by_key(|arrow| (Reverse(arrow.bytes), arrow.from, arrow.to));
    let mut heaviest = HashMap::new();
    for arrow in arrows.iter().filter(|arrow| arrow.from != arrow.to) {
        heaviest.entry(arrow.to).or_insert(arrow.from);
    }
    let is_needed = |arrow: &Arrow| heaviest.get(&arrow.to) == Some(&arrow.from);
    arrows.retain(|arrow| is_enough(arrow.bytes) || is_needed(arrow));
    arrows.sort_by_key(|arrow| !is_needed(arrow));
    arrows.truncate(most);
    arrows
}

/// The depth that half of the bytes do not exceed. Not the mean: a few that are
/// very far in, as in recursion, would tell where the place is.
fn median(mut depths: Vec<(usize, u64)>) -> usize {
    depths.sort_unstable();
    let bytes = depths.iter().map(|&(_, bytes)| u128::from(bytes));
    let half = bytes.sum::<u128>() / 2;
    let mut before = 0;
    let median = depths.iter().find(|&&(_, bytes)| {
        before += u128::from(bytes);
        before >= half
    });
    median.map_or(0, |&(depth, _)| depth)
}
