//! What a log that was switched must have: of each thread what the second recorder has, in
//! as many pieces as there were windows. Where a window began and ended only memlog knows;
//! an event that is missing amid one makes a piece more.

use std::collections::HashMap;

use super::Event;

/// Places that are followed at once. Programs do the same again and again, so a piece may
/// lie in many.
const PLACES: usize = 4000;

/// Where the events up to now may end, and in how many pieces they do so.
#[derive(Clone, Copy)]
struct Place {
    end: u32,
    pieces: usize,
}

/// In how many pieces `ours` lies in `gold`, in its order, if they are at most `most`; or
/// how many of its events do.
///
/// Event by event, all places are kept where the last one may lie. From each the next event
/// is the one behind it, or any later one, which begins another piece. A place with more
/// pieces than an earlier one has is of no use: from there it is reached as well.
pub fn pieces(ours: &[Event], gold: &[Event], most: usize) -> Result<usize, usize> {
    let mut everywhere: HashMap<Event, Vec<u32>> = HashMap::new();
    for (event, place) in gold.iter().zip(0..) {
        everywhere.entry(event.plain()).or_default().push(place);
    }
    // Before the first there is no piece to go on with.
    let mut ends = vec![Place { end: 0, pieces: 0 }];
    for (count, event) in ours.iter().enumerate() {
        let places = everywhere.get(&event.plain());
        let places = places.map_or(&[][..], Vec::as_slice);
        let next = step(&ends, places, count > 0);
        ends = next
            .into_iter()
            .filter(|place| place.pieces <= most)
            .collect();
        if ends.is_empty() {
            return Err(count);
        }
    }
    Ok(ends.iter().map(|place| place.pieces).min().unwrap_or(0))
}

/// What is wrong with events that do so up to this place only.
pub fn outside(ours: &[Event], gold: &[Event], most: usize, place: usize) -> String {
    format!(
        "{} events do not lie in {most} windows of {}: from {place} on, {}",
        ours.len(),
        gold.len(),
        ours[place].show()
    )
}

fn step(ends: &[Place], places: &[u32], may_go_on: bool) -> Vec<Place> {
    let mut next: Vec<Place> = Vec::new();
    let (mut ends, mut fewest_before) = (ends.iter().peekable(), usize::MAX);
    let mut at = 0;
    loop {
        let best = next.last().map_or(usize::MAX, |last| last.pieces);
        // Another piece from here on is of no use: only what goes on.
        if fewest_before >= best {
            let Some(end) = ends.peek() else { break };
            at += before(&places[at..], end.end);
        }
        let Some(&place) = places.get(at) else { break };
        let mut pieces = usize::MAX;
        while let Some(end) = ends.next_if(|end| end.end <= place) {
            if may_go_on && end.end == place {
                pieces = end.pieces;
            }
            fewest_before = fewest_before.min(end.pieces);
        }
        pieces = pieces.min(fewest_before.saturating_add(1));
        if pieces <= best && pieces != usize::MAX {
            let end = place + 1;
            next.push(Place { end, pieces });
            if next.len() == PLACES {
                break;
            }
        }
        at += 1;
    }
    next
}

/// How many of these are before there. Ends and places of a loop take turns, so it is
/// looked for nearby first.
fn before(places: &[u32], end: u32) -> usize {
    let mut far = 1;
    while places.get(far - 1).is_some_and(|&place| place < end) {
        far *= 2;
    }
    let (near, far) = (far / 2, far.min(places.len()));
    near + places[near..far].partition_point(|&place| place < end)
}
