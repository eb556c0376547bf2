//! What of a call graph goes onto a page, and how large.
//!
//! Sizes follow the share of the whole, so that who holds most is seen first.
//! An eighth root is three square roots, which are exact: the same log gives
//! the same bytes on every machine.

use std::collections::HashMap;

use super::{CallGraph, Entry, Place};
use crate::graph::{Edge, Graph, Node};
use crate::size::{counted, percentage, share, size};

/// What holds nothing at all has text nevertheless, in points.
const SMALLEST_TEXT: f64 = 5.0;

/// More places than this nobody can follow, and nobody can lay out in time;
/// the largest are shown.
const MOST_PLACES: usize = 300;

/// As many calls may join so many places.
const fn most_calls(places: usize) -> usize {
    places + places / 2 + 50
}

/// What is wanted of a picture.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The heading.
    pub legend: Vec<String>,
    /// What holds less of the whole is left out and counted, in percent.
    pub least_percent: f64,
    /// Whether the boxes show the linker's symbols.
    pub with_symbols: bool,
}

/// The picture of a call graph.
pub fn picture(calls: &CallGraph, wanted: Picture) -> Graph {
    let whole = calls.total.bytes;
    let shown = Shown::of(calls, wanted.least_percent);
    let mut legend = wanted.legend;
    legend.extend(shown.left_out(calls, wanted.least_percent));
    let node = |&index: &usize| node(&calls.entries[index], whole, wanted.with_symbols);
    let edge = |&(from, to, call): &(usize, usize, usize)| {
        let bytes = calls.calls[call].held.bytes;
        edge(from, to, bytes, whole)
    };
    Graph {
        legend,
        nodes: shown.places.iter().map(node).collect(),
        edges: shown.calls.iter().map(edge).collect(),
    }
}

/// What is on the page.
struct Shown {
    /// Indexes of the places.
    places: Vec<usize>,
    /// Caller and callee as they are numbered on the page, and the call.
    calls: Vec<(usize, usize, usize)>,
    /// Calls between places of the page that are not on it.
    calls_left_out: u64,
    /// Whether more places would have held enough.
    is_crowded: bool,
}

impl Shown {
    /// Places that hold enough, if there are not too many; between them the
    /// calls that carry enough, and for each place its heaviest, so that none
    /// stands without a caller.
    fn of(calls: &CallGraph, least_percent: f64) -> Self {
        let least = calls.total.bytes as f64 * least_percent / 100.0;
        let is_enough = |bytes: u64| bytes as f64 >= least;
        let places = calls.entries.iter().enumerate();
        let places = places.filter(|(_, entry)| is_enough(entry.held.bytes));
        let mut places: Vec<usize> = places.map(|(index, _)| index).collect();
        let held = |index: &usize| calls.entries[*index].held.bytes;
        let is_crowded = places.len() > MOST_PLACES;
        if is_crowded {
            places.sort_by_key(|index| std::cmp::Reverse(held(index)));
            places.truncate(MOST_PLACES);
            places.sort_unstable();
        }
        let numbers: HashMap<usize, usize> = places.iter().copied().zip(0..).collect();
        let between = calls.calls.iter().enumerate().filter_map(|(index, call)| {
            let (&from, &to) = numbers.get(&call.caller).zip(numbers.get(&call.callee))?;
            Some((from, to, index))
        });
        let between: Vec<_> = between.collect();
        let bytes = |call: usize| calls.calls[call].held.bytes;
        let mut heaviest: HashMap<usize, usize> = HashMap::new();
        for &(_, to, call) in between.iter().filter(|(from, to, _)| from != to) {
            let best = heaviest.entry(to).or_insert(call);
            if bytes(call) > bytes(*best) {
                *best = call;
            }
        }
        let count = between.len();
        let mut shown = between;
        shown.retain(|(_, to, call)| is_enough(bytes(*call)) || heaviest.get(to) == Some(call));
        let most = most_calls(places.len());
        if shown.len() > most {
            let is_needed = |(_, to, call): &(usize, usize, usize)| heaviest.get(to) == Some(call);
            shown.sort_by_key(|call| (!is_needed(call), std::cmp::Reverse(bytes(call.2)), call.2));
            shown.truncate(most);
            shown.sort_unstable_by_key(|call| call.2);
        }
        Self {
            is_crowded,
            places,
            calls_left_out: (count - shown.len()) as u64,
            calls: shown,
        }
    }

    /// How much is not on the page. What such places hold together is not
    /// known, for they call each other; what they allocated themselves is.
    fn left_out(&self, calls: &CallGraph, least: f64) -> Option<String> {
        let own = |entry: &Entry| entry.own.bytes;
        let all: u64 = calls.entries.iter().map(own).sum();
        let shown: u64 = self
            .places
            .iter()
            .map(|&index| own(&calls.entries[index]))
            .sum();
        let bytes = all - shown;
        let mut parts = Vec::new();
        match (calls.entries.len() - self.places.len()) as u64 {
            0 => {}
            count => parts.push(format!(
                "{} {}, where {} ({}%) was allocated",
                counted(count, "place"),
                match self.is_crowded {
                    true => format!("besides the {MOST_PLACES} largest"),
                    false => format!("below {least}%"),
                },
                size(bytes),
                percentage(bytes, calls.total.bytes)
            )),
        }
        match self.calls_left_out {
            0 => {}
            count => parts.push(format!("{} between places", counted(count, "lesser call"))),
        }
        (!parts.is_empty()).then(|| format!("not in the picture: {}", parts.join("; ")))
    }
}

fn eighth_root(share: f64) -> f64 {
    share.sqrt().sqrt().sqrt()
}

fn node(entry: &Entry, whole: u64, with_symbols: bool) -> Node {
    let (held, own) = (entry.held.bytes, entry.own.bytes);
    let mut lines = vec![entry.place.function.clone()];
    lines.extend(entry.place.location.as_deref().map(short));
    lines.extend(entry.place.module.as_deref().map(short));
    if with_symbols {
        lines.extend(symbols(entry));
    }
    lines.push(format!("{} ({}%)", size(held), percentage(held, whole)));
    if own > 0 && own < held {
        lines.push(format!("own {} ({}%)", size(own), percentage(own, whole)));
    }
    let part = share(held, whole);
    Node {
        lines,
        share: part,
        own_share: share(own, whole),
        font_size: (50.0 * eighth_root(part)).max(SMALLEST_TEXT),
    }
}

/// The first symbol, and how many there are besides.
fn symbols(entry: &Entry) -> Option<String> {
    let (first, others) = entry.symbols.split_first()?;
    Some(match others.len() {
        0 => first.clone(),
        more => format!("{first} and {more} more"),
    })
}

fn edge(from: usize, to: usize, bytes: u64, whole: u64) -> Edge {
    let part = share(bytes, whole);
    Edge {
        from,
        to,
        label: size(bytes),
        share: part,
        width: 8.0 * part.sqrt(),
        font_size: (40.0 * eighth_root(part)).max(SMALLEST_TEXT),
    }
}

/// A path without its folders.
pub(super) fn short(path: &str) -> String {
    let name = path.rsplit('/').find(|part| !part.is_empty());
    name.unwrap_or(path).to_owned()
}

impl Place {
    /// In a line: the function, and where it is.
    pub fn line(&self) -> String {
        let module = self.module.as_deref().map(short);
        match self.location.clone().or(module) {
            Some(place) => format!("{} [{place}]", self.function),
            None => self.function.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_folders() {
        assert_eq!(short("/usr/lib/libc.so.6"), "libc.so.6");
        assert_eq!(short("sites.c:23"), "sites.c:23");
        assert_eq!(short("/"), "/");
    }
}
