//! What a log that grows says now, and since the last look: for who looks at it again and again.
//!
//! * `find`: what a word of the command line stands for
//! * `source`: lines of a source file around a place
//! * `told`: the figures of a look as lines of text: mem-trace's top ten, Prometheus

mod find;
mod source;
mod told;

use std::path::Path;
use std::time::{Duration, Instant};

pub use memlog_analysis::{Every, Held, Snapshots, Totals};
use memlog_analysis::{List, Moment, Tally, Wrappers, asking_places};

use crate::calls::{Filter, keeps_stack};
use crate::names::SymbolFiles;
use crate::names::{Labels, Name, NameStore, Names, Rested, symbol_options};
use crate::open::{Following, Life, Seen, outline};
pub use find::{Target, target};
pub use source::around;
pub use told::{prometheus, top_ten};

/// A log that is looked at again and again, with names.
pub struct Live<'n> {
    store: &'n NameStore,
    symbol_files: SymbolFiles,
    following: Following,
    names: Option<Rested<'n>>,
    /// By stack the place that asked, once it is known: none where a filter keeps it out.
    places: Vec<Option<Option<u32>>>,
    before: Before,
    first: Vec<Held>,
    last: Option<(Instant, u64)>,
}

/// What stood when it was looked at last.
#[derive(Default)]
struct Before {
    /// By stack.
    live: Vec<Held>,
    allocated: Vec<Held>,
    totals: Totals,
    threads: Vec<(u32, Held)>,
}

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

impl<'n> Live<'n> {
    /// Opens a log.
    pub fn open(
        path: &Path,
        symbol_files: &SymbolFiles,
        store: &'n NameStore,
    ) -> anyhow::Result<Self> {
        symbol_options(symbol_files)?;
        Ok(Self {
            store,
            symbol_files: symbol_files.clone(),
            following: Following::open(path)?,
            names: None,
            places: Vec::new(),
            before: Before::default(),
            first: Vec::new(),
            last: None,
        })
    }

    /// The log.
    pub fn path(&self) -> &Path {
        self.following.path()
    }

    /// What the log says besides figures.
    pub fn seen(&self) -> &Seen {
        self.following.seen()
    }

    /// Whether the process lives.
    pub fn life(&self) -> &Life {
        self.following.life()
    }

    /// Whether nothing more comes.
    pub fn is_over(&self) -> bool {
        self.following.is_over()
    }

    /// What is live and what came and went by now, without names.
    pub fn figures(&self) -> (Held, Totals) {
        let tally = self.following.tally();
        (tally.live(), *tally.totals())
    }

    /// Reads what came, without summing it up; whether the log says yet what it is of. `each`
    /// is handed the snapshots that were taken, and drains them.
    pub fn read(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        each: &mut Each,
    ) -> anyhow::Result<bool> {
        let (names, store, files) = (&mut self.names, self.store, &self.symbol_files);
        let path = self.following.path().to_owned();
        let mut told = Ok(());
        let is_begun = self.following.look(snapshots, &mut |tally, snapshots| {
            if let Some(snapshots) = snapshots
                && told.is_ok()
                && !snapshots.taken().is_empty()
            {
                told = lent(names, &path, (store, files), tally, |labels| {
                    each(snapshots, labels)
                });
            }
        })?;
        told?;
        Ok(is_begun)
    }

    /// Time has passed without events: takes the snapshots that are due by now, and the last
    /// one at the end.
    pub fn pass_time(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        is_last: bool,
        each: &mut Each,
    ) -> anyhow::Result<()> {
        let Some(snapshots) = snapshots else {
            return Ok(());
        };
        let (seen, tally) = (self.following.seen(), self.following.tally());
        if is_last {
            snapshots.end(tally.tick(), true, tally);
        } else if *self.following.life() == Life::Running && seen.tick_ns > 0 {
            // What a thread did just now may be written down with a time that is a little late.
            let now = (seconds_since(seen.start_unix_ns) - LATE_SECONDS).max(0.0);
            snapshots.before((now * 1e9) as u64 / seen.tick_ns, tally);
        }
        if snapshots.taken().is_empty() {
            return Ok(());
        }
        let path = self.following.path().to_owned();
        let store = (self.store, &self.symbol_files);
        lent(&mut self.names, &path, store, tally, |labels| {
            each(snapshots, labels)
        })
    }

    /// Lends the stacks with their names.
    pub fn with_labels<R>(
        &mut self,
        ask: impl FnOnce(&Following, &mut Labels<'n, '_>) -> R,
    ) -> anyhow::Result<R> {
        let path = self.following.path().to_owned();
        let (store, following) = ((self.store, &self.symbol_files), &self.following);
        lent(&mut self.names, &path, store, following.tally(), |labels| {
            Ok(ask(following, labels))
        })
    }

    /// The name of a place.
    pub fn name(&self, label: u32) -> Option<&Name> {
        self.names.as_ref()?.names().get(label as usize)
    }

    /// The functions of a stack, the innermost first.
    pub fn frames(&mut self, stack: u32) -> anyhow::Result<Vec<Name>> {
        self.with_labels(|_, labels| {
            let mut cursor = labels.start(stack);
            let mut frames = Vec::new();
            while let Some((label, next)) = labels.step(cursor) {
                frames.push(labels.names()[label as usize].clone());
                cursor = next;
            }
            frames
        })
    }

    /// Sums up what is known by now; the next look is since this one.
    pub fn sum_up(&mut self, filter: &Filter) -> anyhow::Result<Look> {
        self.find_places(filter)?;
        let now = Instant::now();
        let seen = self.following.seen();
        let tally = self.following.tally();
        let seconds_of = |tick: u64| tick as f64 * seen.tick_ns as f64 / 1e9;
        let program_seconds = match self.following.life() {
            Life::Running => seconds_since(seen.start_unix_ns).max(seconds_of(tally.tick())),
            _ => seconds_of(tally.tick()),
        };
        let seconds = match self.last {
            Some((at, _)) => now.duration_since(at).as_secs_f64(),
            None => program_seconds,
        };
        let mut rows: Vec<SiteRow> = Vec::new();
        let mut row_of = std::collections::HashMap::new();
        let places = &self.places;
        let mut row = |stack: u32| -> Option<usize> {
            let label = (*places.get(stack as usize)?)??;
            Some(*row_of.entry(label).or_insert_with(|| {
                rows.push(SiteRow {
                    label,
                    ..SiteRow::default()
                });
                rows.len() - 1
            }))
        };
        let mut sums: Vec<(usize, u32, Held, Kind)> = Vec::new();
        for (kind, list) in [
            (Kind::Live, by_stack(tally.held(Moment::End))),
            (Kind::Allocated, by_stack(tally.allocated())),
            (Kind::Temporary, by_stack(tally.temporaries())),
        ] {
            for (stack, held) in list {
                if let Some(row) = row(stack) {
                    sums.push((row, stack, held, kind));
                }
            }
        }
        let mut next = Before {
            totals: *tally.totals(),
            ..Before::default()
        };
        for (row, stack, held, kind) in sums {
            let row = &mut rows[row];
            match kind {
                Kind::Live => {
                    put(&mut next.live, stack, held);
                    row.live = row.live.plus(held);
                    row.stacks.push((stack, held));
                }
                Kind::Allocated => {
                    put(&mut next.allocated, stack, held);
                    let came = held.minus(at(&self.before.allocated, stack));
                    row.came = row.came.plus(came);
                    row.allocated = row.allocated.plus(held);
                }
                Kind::Temporary => row.temporary = row.temporary.plus(held),
            }
        }
        let is_first = self.last.is_none();
        if is_first {
            self.first.clone_from(&next.live);
        }
        // What went away altogether is in the old figures alone.
        let stacks = next
            .live
            .len()
            .max(self.before.live.len())
            .max(self.first.len());
        for stack in 0..stacks as u32 {
            let Some(label) = self.places.get(stack as usize).copied().flatten().flatten() else {
                continue;
            };
            let Some(&index) = row_of.get(&label) else {
                continue;
            };
            let live = at(&next.live, stack).bytes;
            let before = match is_first {
                true => live,
                false => at(&self.before.live, stack).bytes,
            };
            rows[index].grown += difference(before, live);
            rows[index].grown_since_first += difference(at(&self.first, stack).bytes, live);
        }
        for row in &mut rows {
            row.stacks
                .sort_unstable_by_key(|&(stack, held)| (std::cmp::Reverse(held.bytes), stack));
        }
        let (mut threads, mut thread_figures) = (Vec::new(), Vec::new());
        for (tid, live) in tally.held_by_thread(Moment::End) {
            let known = self.before.threads.iter().find(|(known, _)| *known == tid);
            let before = match (known, is_first) {
                (_, true) => live.bytes,
                (known, false) => known.map_or(0, |(_, held)| held.bytes),
            };
            let name = tally
                .threads()
                .get(tid)
                .map(|thread| crate::words::clean(&thread.name));
            threads.push(ThreadRow {
                tid,
                name: name.unwrap_or_default(),
                live,
                grown: difference(before, live.bytes),
            });
            thread_figures.push((tid, live));
        }
        next.threads = thread_figures;
        let totals = *tally.totals();
        let peak = tally.heap_peak();
        let look = Look {
            seconds,
            program_seconds,
            live: tally.live(),
            freed_bytes: freed(&totals, tally.live().bytes),
            came: Held {
                bytes: totals.bytes.saturating_sub(self.before.totals.bytes),
                blocks: totals
                    .allocations
                    .saturating_sub(self.before.totals.allocations),
            },
            releases: totals.releases.saturating_sub(self.before.totals.releases),
            totals,
            heap_peak: (peak.bytes, seconds_of(peak.tick)),
            sites: rows,
            threads,
        };
        self.before = next;
        self.last = Some((now, tally.events()));
        Ok(look)
    }

    /// Finds the place that asked of stacks that are new, the way other pages do: who passes
    /// on for others depends on all stacks, so all are asked again.
    fn find_places(&mut self, filter: &Filter) -> anyhow::Result<()> {
        let tally = self.following.tally();
        let allocated: Vec<(u32, Held)> = by_stack(tally.allocated());
        let held: Vec<(u32, Held)> = by_stack(tally.held(Moment::End));
        let is_new = |stack: u32| self.places.get(stack as usize).is_none_or(Option::is_none);
        let all = allocated.iter().chain(&held);
        if !all.clone().any(|&(stack, _)| is_new(stack)) {
            return Ok(());
        }
        let mut stacks: Vec<u32> = all.map(|&(stack, _)| stack).collect();
        stacks.sort_unstable();
        stacks.dedup();
        let program = self.following.seen().program.clone();
        let places = self.with_labels(|_, labels| {
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

/// Is handed snapshots, and the names of their stacks.
pub type Each<'e> = dyn FnMut(&mut Snapshots, &mut Labels) -> anyhow::Result<()> + 'e;

/// So late a time may be written down.
const LATE_SECONDS: f64 = 1.0;

/// Lends the stacks of a tally with their names, which are looked for the first time.
fn lent<'n, R>(
    names: &mut Option<Rested<'n>>,
    path: &Path,
    (store, symbol_files): (&'n NameStore, &SymbolFiles),
    tally: &Tally,
    ask: impl FnOnce(&mut Labels<'n, '_>) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    let known = match names.take() {
        Some(known) => known,
        None => {
            let options = symbol_options(symbol_files)?;
            let files = outline(path)?;
            let family = files.family()?;
            Rested::new(Names::new(store, &options, family.own(), path))
        }
    };
    let mut labels = known.on(tally.stacks());
    let made = ask(&mut labels);
    *names = Some(labels.rest());
    made
}

#[derive(Clone, Copy)]
enum Kind {
    Live,
    Allocated,
    Temporary,
}

fn by_stack(list: impl Iterator<Item = (u32, Held)>) -> Vec<(u32, Held)> {
    list.collect()
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

/// What went is what came and was there, less what is left.
fn freed(totals: &Totals, live_bytes: u64) -> u64 {
    let all = totals.bytes.saturating_add(totals.inherited_bytes);
    all.saturating_sub(live_bytes)
}

fn seconds_since(unix_ns: u64) -> f64 {
    let began = std::time::UNIX_EPOCH + Duration::from_nanos(unix_ns);
    began.elapsed().map_or(0.0, |since| since.as_secs_f64())
}
