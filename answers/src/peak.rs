//! When chosen blocks held most: exact to the event, in bounded memory.
//!
//! ```text
//! divide the events into spans; for each: what came in it, what went
//! live after a span  = live before + came - went        a peak is at least that
//! most within a span <= live before + came              and in no span more than that
//! go through the events of the spans with the highest bounds, one by one
//! of the others those whose bound is above what is known by then, from the first to the last
//! ```
//!
//! Where a program is nowhere else as high as near its peak the second step has little to do.
//! Where it is as high all the time, each group of spans there is a short part of the run, and
//! only the chunks of the table with blocks that were born or died in it are read again.

use memlog_table::{Column, Columns, NEVER, Rows};

use crate::choice::{Choice, Test};
use crate::pass;
use crate::world::{Damaged, World};

/// The most that some blocks held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Bytes asked for.
    pub bytes: u64,
    /// The event after which they first held that.
    pub event: u64,
}

/// How many spans, and how many events are gone through at a time.
#[derive(Clone, Copy)]
struct Pace {
    spans: u64,
    events: u64,
}

const PACE: Pace = Pace {
    spans: 1 << 16,
    events: 1 << 20,
};

/// The most that chosen blocks held at once.
pub fn peak(world: &World, choice: &Choice) -> Result<Peak, Damaged> {
    peak_at(world, choice, PACE)
}

fn peak_at(world: &World, choice: &Choice, pace: Pace) -> Result<Peak, Damaged> {
    let events = world.end() + 1;
    let width = events.div_ceil(pace.spans).max(1);
    let count = events.div_ceil(width) as usize;
    let sums = sums(world, choice, count, |event| (event / width) as usize)?;
    let mut best = Peak::default();
    let (mut before, mut spans) = (0i128, Vec::new());
    for (place, sum) in (0..).zip(&sums) {
        spans.push(Span {
            first: place * width,
            before,
            bound: before + i128::from(sum.came),
        });
        before += i128::from(sum.came) - i128::from(sum.went);
        // It may have been there sooner in the span, which is seen below.
        best.take(before, place * width + width - 1);
    }
    if width == 1 {
        return Ok(best);
    }
    let at_once = (pace.events / width).max(1) as usize;
    let (mut group, others) = in_order(spans, at_once);
    let mut others = others.into_iter();
    loop {
        let least = i128::from(best.bytes.max(1));
        group.retain(|span| span.bound >= least);
        if group.is_empty() {
            return Ok(best);
        }
        go_through(world, choice, &group, width, &mut best)?;
        let least = i128::from(best.bytes.max(1));
        let higher = others.by_ref().filter(|span| span.bound >= least);
        group = higher.take(at_once).collect();
    }
}

/// So many spans with the highest bounds, and the others, both as they follow each other.
fn in_order(mut spans: Vec<Span>, count: usize) -> (Vec<Span>, Vec<Span>) {
    spans.sort_by_key(|span| (std::cmp::Reverse(span.bound), span.first));
    let mut others = spans.split_off(count.min(spans.len()));
    spans.sort_by_key(|span| span.first);
    others.sort_by_key(|span| span.first);
    (spans, others)
}

/// Some events that follow each other.
struct Span {
    first: u64,
    /// What was live before them, and the most that may have been within.
    before: i128,
    bound: i128,
}

impl Peak {
    fn take(&mut self, live: i128, event: u64) {
        let live = u64::try_from(live.max(0)).unwrap_or(u64::MAX);
        if live > self.bytes || live == self.bytes && event < self.event {
            (self.bytes, self.event) = (live, event);
        }
    }
}

/// What came and what went.
#[derive(Clone, Copy, Default)]
struct Sum {
    came: u64,
    went: u64,
}

/// So many sums; `step` says to which an event belongs, if to any.
fn sums(
    world: &World,
    choice: &Choice,
    count: usize,
    step: impl Fn(u64) -> usize + Sync,
) -> Result<Vec<Sum>, Damaged> {
    let each = |sums: &mut Vec<Sum>, rows: &Rows, chosen: &[usize]| {
        sums.resize(count, Sum::default());
        for &row in chosen {
            let get = |column| rows.get(column, row);
            let size = get(Column::Size);
            if let Some(sum) = sums.get_mut(step(get(Column::Born))) {
                sum.came = sum.came.saturating_add(size);
            }
            let died = get(Column::Died);
            let went = sums.get_mut(step(died)).filter(|_| died != NEVER);
            if let Some(sum) = went {
                sum.went = sum.went.saturating_add(size);
            }
        }
    };
    let columns = Columns::of(&[Column::Born, Column::Died, Column::Size]);
    let mut sums = pass::over(world, choice, columns, each, |mut all, other| {
        all.resize(count, Sum::default());
        for (one, other) in all.iter_mut().zip(other) {
            one.came = one.came.saturating_add(other.came);
            one.went = one.went.saturating_add(other.went);
        }
        all
    })?;
    sums.resize(count, Sum::default());
    Ok(sums)
}

/// The events of these spans, one by one.
fn go_through(
    world: &World,
    choice: &Choice,
    spans: &[Span],
    width: u64,
    best: &mut Peak,
) -> Result<(), Damaged> {
    let first = spans.iter().map(|span| span.first).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.first).max().unwrap_or(0) + width - 1;
    let met = choice.clone().and(Test::Any(vec![
        Test::Between(Column::Born, first, last),
        Test::Died(first, last),
    ]));
    // Where the events of each span have their sums.
    let mut places = vec![usize::MAX; ((last - first) / width + 1) as usize];
    for (place, span) in spans.iter().enumerate() {
        places[((span.first - first) / width) as usize] = place * width as usize;
    }
    let step = |event: u64| {
        let span = event.checked_sub(first).map(|into| (into / width) as usize);
        let place = span.and_then(|span| places.get(span).copied());
        let place = place.filter(|place| *place != usize::MAX);
        place.map_or(usize::MAX, |place| place + (event % width) as usize)
    };
    let changes = sums(world, &met, spans.len() * width as usize, step)?;
    for (span, changes) in spans.iter().zip(changes.chunks(width as usize)) {
        let mut live = span.before;
        for (event, sum) in (span.first..).zip(changes) {
            live += i128::from(sum.came) - i128::from(sum.went);
            best.take(live, event);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making, random};
    use crate::world::{Moments, Of};

    /// Blocks of random sizes come and go: the table's bytes, and by event what is live of
    /// those that are of an odd size, seen in the plainest way.
    fn made(seed: u64, events: u64) -> (Vec<u8>, Vec<u64>) {
        let mut below = random(seed);
        let mut making = Making::begin();
        let (mut live, mut odd, mut history) = (Vec::new(), 0u64, vec![0]);
        for event in 1..=events {
            // It grows at first, and shrinks at the end.
            let comes = live.is_empty() || below(events) > event.max(events / 3);
            if comes {
                let (address, size) = (event * 64, below(50));
                making.alloc(Api::Malloc, address, size, 1);
                live.push((address, size));
                odd += if size % 2 == 1 { size } else { 0 };
            } else {
                let (address, size) = live.swap_remove(below(live.len() as u64) as usize);
                making.release(Api::Free, address);
                odd -= if size % 2 == 1 { size } else { 0 };
            }
            history.push(odd);
        }
        (making.end(), history)
    }

    /// However their bounds lie, groups of the others are of parts of the run that do not meet:
    /// the rows of no part are read for each of them.
    #[test]
    fn what_may_be_higher_is_gone_through_in_order() {
        let spans = (0..100u64).map(|first| Span {
            first,
            before: 0,
            bound: i128::from(1000 + first * 7919 % 10),
        });
        let (highest, others) = in_order(spans.collect(), 10);
        assert!(highest.iter().all(|span| span.bound == 1009));
        assert!(highest.is_sorted_by_key(|span| span.first));
        assert_eq!((highest.len(), others.len()), (10, 90));
        assert!(others.is_sorted_by_key(|span| span.first));
        let (all, none) = in_order(others, 1000);
        assert_eq!((all.len(), none.len()), (90, 0));
    }

    #[test]
    fn it_is_the_highest_of_all_events() {
        for seed in 1..60 {
            let events = 1 + seed * 37;
            let (bytes, history) = made(seed, events);
            let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
            let world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
            let sizes = (0..25).map(|half| Test::Between(Column::Size, 2 * half + 1, 2 * half + 1));
            let odd = Choice::of(Test::Any(sizes.collect()));
            let most = history.iter().copied().max().unwrap_or(0);
            let first = history.iter().position(|live| *live == most);
            let expected = Peak {
                bytes: most,
                event: first.unwrap_or(0) as u64,
            };
            for (spans, events) in [(1 << 16, 1 << 20), (7, 1), (64, 100), (1, 1), (200, 3)] {
                let found = peak_at(&world, &odd, Pace { spans, events });
                assert_eq!(
                    found,
                    Ok(expected),
                    "seed {seed}, {spans} spans of {events}"
                );
            }
        }
    }
}
