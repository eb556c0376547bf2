//! A look at a log summed up: places and threads, and what changed since the look before.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

use memlog_analysis::{Held, List, Moment, Tally, Totals, Wrappers, asking_places};

use super::{Live, seconds_since};
use crate::calls::{Filter, keeps_stack};
use crate::open::Life;
use crate::words::clean;

/// A place that asked for memory.
#[derive(Clone, Debug, Default)]
pub struct SiteRow {
    /// Its name, by number.
    pub label: u32,
    /// What it holds.
    pub live: Held,
    /// By how many bytes that grew since the last look.
    pub grown: i64,
    /// The same since the first look.
    pub grown_since_first: i64,
    /// All that it ever allocated in the log.
    pub allocated: Held,
    /// What of that came since the last look.
    pub came: Held,
    /// What of all was freed before its thread asked for another.
    pub temporary: Held,
    /// Its stacks, those that hold most first.
    pub stacks: Vec<(u32, Held)>,
}

/// A thread that asked for memory.
#[derive(Clone, Debug, Default)]
pub struct ThreadRow {
    /// The kernel's number.
    pub tid: u32,
    /// Its last name.
    pub name: String,
    /// What is live of what it asked for.
    pub live: Held,
    /// By how many bytes that grew since the last look.
    pub grown: i64,
}

/// What one look found.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Seconds since the look before; of the first since the program began.
    pub seconds: f64,
    /// Seconds of the program up to the last event or, while it runs, to now.
    pub program_seconds: f64,
    /// What is live.
    pub live: Held,
    /// What came and went in all.
    pub totals: Totals,
    /// Bytes that went in all.
    pub freed_bytes: u64,
    /// Allocations and their bytes since the look before.
    pub came: Held,
    /// Releases since the look before.
    pub releases: u64,
    /// The largest heap so far, in bytes, and its second.
    pub heap_peak: (u64, f64),
    /// Places; in no order.
    pub sites: Vec<SiteRow>,
    /// Threads; in no order.
    pub threads: Vec<ThreadRow>,
}

/// What a tally knows when it is looked at.
pub(super) struct Figures {
    at: Instant,
    totals: Totals,
    /// By stack.
    live: Vec<Held>,
    allocated: Vec<Held>,
    temporary: Vec<Held>,
    /// By thread.
    threads: HashMap<u32, Held>,
}

impl Figures {
    fn of(tally: &Tally) -> Self {
        Self {
            at: Instant::now(),
            totals: *tally.totals(),
            live: by_stack(tally.held(Moment::End)),
            allocated: by_stack(tally.allocated()),
            temporary: by_stack(tally.temporaries()),
            threads: tally.held_by_thread(Moment::End).collect(),
        }
    }
}

impl Live<'_> {
    /// Sums up what is known by now; the next look is since this one.
    pub fn sum_up(&mut self, filter: &Filter) -> anyhow::Result<Look> {
        self.find_places(filter)?;
        let (seen, tally) = (self.following.seen(), self.following.tally());
        let now = Figures::of(tally);
        let first = self.first.get_or_insert_with(|| now.live.clone());
        let before = self.before.as_ref();
        let seconds_of = |tick: u64| tick as f64 * seen.tick_ns as f64 / 1e9;
        let program_seconds = match self.following.life() {
            Life::Running => seconds_since(seen.start_unix_ns).max(seconds_of(tally.tick())),
            _ => seconds_of(tally.tick()),
        };
        let since = before.map_or(Totals::default(), |before| before.totals);
        let peak = tally.heap_peak();
        let look = Look {
            seconds: before.map_or(program_seconds, |before| {
                now.at.duration_since(before.at).as_secs_f64()
            }),
            program_seconds,
            live: tally.live(),
            totals: now.totals,
            freed_bytes: freed(&now.totals, tally.live().plus(tally.forgotten()).bytes),
            came: Held {
                bytes: now.totals.bytes.saturating_sub(since.bytes),
                blocks: now.totals.allocations.saturating_sub(since.allocations),
            },
            releases: now.totals.releases.saturating_sub(since.releases),
            heap_peak: (peak.bytes, seconds_of(peak.tick)),
            sites: sites(&self.places, &now, before, first),
            threads: threads(tally, &now, before),
        };
        self.before = Some(now);
        Ok(look)
    }

    /// Finds the place that asked of stacks that are new, the way other pages do: who passes
    /// on for others depends on all stacks, so all are asked again.
    fn find_places(&mut self, filter: &Filter) -> anyhow::Result<()> {
        let tally = self.following.tally();
        let allocated: Vec<_> = tally.allocated().collect();
        let held: Vec<_> = tally.held(Moment::End).collect();
        let is_new = |stack: u32| self.places.get(stack as usize).is_none_or(Option::is_none);
        let all = allocated.iter().chain(&held);
        if !all.clone().any(|&(stack, _)| is_new(stack)) {
            return Ok(());
        }
        let mut stacks: Vec<u32> = all.map(|&(stack, _)| stack).collect();
        stacks.sort_unstable();
        stacks.dedup();
        let program = self.following.seen().program.clone();
        let places = self.with_labels(|labels| {
            labels.expect(stacks.iter().copied());
            let lists = [
                List {
                    stacks: held,
                    weight: |held| held.bytes,
                },
                List {
                    stacks: allocated,
                    weight: |held| held.blocks,
                },
            ];
            let wrappers = Wrappers::Of(&lists);
            let (mut places, _) =
                asking_places(&wrappers, stacks.iter().copied(), Some(&program), labels);
            if !filter.is_none() {
                for (place, &stack) in places.iter_mut().zip(&stacks) {
                    if !keeps_stack(stack, filter, labels) {
                        *place = None;
                    }
                }
            }
            places
        })?;
        for (&stack, place) in stacks.iter().zip(places) {
            put(&mut self.places, stack, Some(place));
        }
        Ok(())
    }
}

/// The places that asked for what there is, or was. Nothing has grown at the first look.
fn sites(
    places: &[Option<Option<u32>>],
    now: &Figures,
    before: Option<&Figures>,
    first: &[Held],
) -> Vec<SiteRow> {
    let was_live = before.map_or(&now.live, |before| &before.live);
    let was_allocated = before.map_or(&[][..], |before| &before.allocated);
    let mut rows: Vec<SiteRow> = Vec::new();
    let mut row_of = HashMap::new();
    for (stack, place) in (0..).zip(places) {
        let Some(label) = place.flatten() else {
            continue;
        };
        let index = *row_of.entry(label).or_insert(rows.len());
        if index == rows.len() {
            rows.push(SiteRow {
                label,
                ..SiteRow::default()
            });
        }
        let row = &mut rows[index];
        let (live, allocated) = (at(&now.live, stack), at(&now.allocated, stack));
        row.live = row.live.plus(live);
        row.allocated = row.allocated.plus(allocated);
        row.temporary = row.temporary.plus(at(&now.temporary, stack));
        row.came = row.came.plus(allocated.minus(at(was_allocated, stack)));
        row.grown += difference(at(was_live, stack).bytes, live.bytes);
        row.grown_since_first += difference(at(first, stack).bytes, live.bytes);
        if live.blocks > 0 {
            row.stacks.push((stack, live));
        }
    }
    // What was inherited and went is nobody's any more.
    rows.retain(|row| row.live.blocks > 0 || row.allocated.blocks > 0);
    for row in &mut rows {
        row.stacks
            .sort_unstable_by_key(|&(stack, held)| (Reverse(held.bytes), stack));
    }
    rows
}

fn threads(tally: &Tally, now: &Figures, before: Option<&Figures>) -> Vec<ThreadRow> {
    let was_live = &before.unwrap_or(now).threads;
    let row = |(&tid, &live): (&u32, &Held)| {
        let thread = tally.threads().get(tid);
        let was = was_live.get(&tid).copied().unwrap_or_default();
        ThreadRow {
            tid,
            name: thread.map_or_else(String::new, |thread| clean(&thread.name)),
            live,
            grown: difference(was.bytes, live.bytes),
        }
    };
    now.threads.iter().map(row).collect()
}

fn by_stack(list: impl Iterator<Item = (u32, Held)>) -> Vec<Held> {
    let mut held = Vec::new();
    list.for_each(|(stack, one)| put(&mut held, stack, one));
    held
}

fn put<T: Clone + Default>(list: &mut Vec<T>, stack: u32, value: T) {
    let index = stack as usize;
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    list[index] = value;
}

fn at(list: &[Held], stack: u32) -> Held {
    list.get(stack as usize).copied().unwrap_or_default()
}

fn difference(from: u64, to: u64) -> i64 {
    (to as i64).wrapping_sub(from as i64)
}

/// What went is what came and was there, less what is left and what is not followed any more.
fn freed(totals: &Totals, left_bytes: u64) -> u64 {
    let all = totals.bytes.saturating_add(totals.inherited_bytes);
    all.saturating_sub(left_bytes)
}
