//! The flight recorder against the second recorder in the same process.
//!
//! Victims run with room for so few events that nearly all are overwritten.
//! What the log says is live at the end must be what the second recorder says,
//! block by block; the totals must be the same; and what is left of each
//! thread's events must be the last of that thread's, one after the other. So
//! too in what SIGKILL leaves at random moments, but for the one call that a
//! thread was inside.
//!
//! 48 kills, or 300 with `MEMLOG_LONG=1`. `MEMLOG_SEED=N` repeats a run.

mod common;
mod own_time;
mod runs;

use std::collections::{BTreeMap, HashMap, HashSet};

use common::Event;
use common::compare::{START_UP, by_thread};
use common::gold::Gold;
use common::logs::{Recorded, heap_event};
use common::pairs::{self, Pair};
use common::tools::{Folder, is_long};
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind as ChunkKind};
use memlog_format::counter::Counter;
use memlog_format::event::{Deltas, Event as RawEvent};
use memlog_format::table::StackId;
use memlog_format::varint::Reader;
use memlog_read::{Item, Kind, Log};
use runs::Setting;

/// The least that there is: eight chunks.
const BOUND: Setting = ("MEMLOG_FLIGHT_RECORDER", "512K");
const SIZE_CHUNKS: usize = 8;

/// A block as both know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    size: u64,
    usable: u64,
    tid: u32,
    api: u8,
}

/// What a log says, folded and in events.
#[derive(Default)]
struct Told {
    live: HashMap<u64, (Block, StackId)>,
    /// What is left of each event, by thread, those of before the live set too.
    left: Vec<Event>,
    folded: u64,
    folded_chunks: u64,
    allocations: u64,
    bytes: u64,
    releases: u64,
    event_chunks: usize,
    /// The last call of each chunk that is folded as far as it was written: it
    /// may have been in flight.
    folded_last: Vec<u64>,
    streams: usize,
}

fn block_of(event: &Event) -> Block {
    Block {
        size: event.size,
        usable: event.usable,
        tid: event.tid,
        api: event.api,
    }
}

impl Told {
    fn of(recorded: &Recorded) -> Self {
        let log = recorded.log();
        let mut told = Self {
            streams: log.counter(Counter::Streams) as usize,
            ..Self::default()
        };
        told.count_chunks(&recorded.bytes);
        told.seed(&log);
        for item in log.events() {
            told.take(&item);
        }
        told
    }

    fn seed(&mut self, log: &Log) {
        let Some(flight) = log.flight() else {
            return;
        };
        for entry in flight.live() {
            let block = Block {
                size: entry.size,
                usable: entry.usable,
                tid: entry.tid,
                api: entry.api as u8,
            };
            self.live.insert(entry.address, (block, entry.stack));
        }
        let sums = &flight.sums;
        self.folded = sums.allocations + sums.releases;
        self.folded_chunks = sums.chunks;
        (self.allocations, self.bytes, self.releases) =
            (sums.allocations, sums.bytes, sums.releases);
    }

    fn take(&mut self, item: &Item) {
        let (kind, is_prior) = match item.kind {
            Kind::PriorAlloc(alloc) => (Kind::Alloc(alloc), true),
            Kind::PriorRelease(release) => (Kind::Release(release), true),
            other => (other, false),
        };
        let Some(event) = heap_event(&Item { kind, ..*item }) else {
            return;
        };
        match event.is_release {
            true => self.releases += 1,
            false => {
                self.allocations += 1;
                self.bytes += event.size;
            }
        }
        self.left.push(event);
        match (is_prior, event.is_release) {
            (true, _) => {}
            (false, true) => {
                self.live.remove(&event.address);
            }
            (false, false) => {
                let stack = StackId(event.mark as u32);
                self.live.insert(event.address, (block_of(&event), stack));
            }
        }
    }

    fn count_chunks(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(CHUNK_SIZE) {
            match Header::decode(chunk) {
                Ok(Some(header)) if header.kind == ChunkKind::Events => {
                    self.event_chunks += 1;
                    if header.folded == header.committed {
                        self.folded_last.extend(last_call(chunk, &header));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The addresses of the last two events of a chunk, which may be one realloc.
fn last_call(chunk: &[u8], header: &Header) -> Vec<u64> {
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let mut records = Reader::new(&chunk[HEADER_SIZE..header.committed as usize]);
    let mut addresses = Vec::new();
    while let Ok(Some(event)) = deltas.next(&mut records) {
        match event {
            RawEvent::Alloc(alloc) => addresses.push(alloc.address),
            RawEvent::Release(release) => addresses.push(release.address),
            _ => {}
        }
    }
    addresses.split_off(addresses.len().saturating_sub(2))
}

/// What is wrong, and how much was compared.
#[derive(Default)]
struct Totals {
    images: u64,
    folded_images: u64,
    folded_chunks: u64,
    live: u64,
    events: u64,
    torn: u64,
    in_flight: u64,
    problems: Vec<String>,
}

impl Totals {
    /// Compares all images of a run; `killed`: events may be in flight.
    fn take(&mut self, folder: &Folder, killed: bool) {
        let family = pairs::collect(folder);
        self.problems.extend(family.problems);
        for pair in &family.pairs {
            let before = self.problems.len();
            self.take_pair(pair, killed);
            let name = pair.ours.name();
            for problem in &mut self.problems[before..] {
                problem.insert_str(0, &format!("{name}: "));
            }
        }
    }

    fn take_pair(&mut self, pair: &Pair, killed: bool) {
        let told = Told::of(&pair.ours);
        self.images += 1;
        self.folded_images += u64::from(told.folded > 0);
        self.folded_chunks += told.folded_chunks;
        self.live += told.live.len() as u64;
        self.events += pair.gold.heap.len() as u64;
        let mut in_flight = self.compare_threads(&told, &pair.gold, killed);
        if killed {
            in_flight.extend(&told.folded_last);
        }
        self.in_flight += in_flight.len() as u64;
        self.compare_live(&told, &pair.gold, &in_flight);
        if !killed {
            self.compare_totals(&told, &pair.gold);
        }
        self.check_log(&pair.ours, &told, killed);
    }

    /// What is left of each thread must be the last of it. Returns addresses
    /// whose last event only one of the two came to write.
    fn compare_threads(&mut self, told: &Told, gold: &Gold, killed: bool) -> HashSet<u64> {
        let mut in_flight = HashSet::new();
        let mut folded = 0;
        let (mut ours, golds) = (by_thread(&told.left), by_thread(&gold.heap));
        let start_up: u64 = if gold.heap.is_empty() {
            0
        } else {
            START_UP as u64
        };
        for (tid, gold) in golds {
            let ours = ours.remove(&tid).unwrap_or_default();
            match alignment(&ours, &gold, killed) {
                Some(first) => {
                    folded += first;
                    let common = ours.len().min(gold.len() - first);
                    let odd = ours[common..].iter().chain(&gold[first + common..]);
                    in_flight.extend(odd.map(|event| event.address));
                }
                None => self.problems.push(format!(
                    "thread {tid}: the {} events that are left are not the last of {}",
                    ours.len(),
                    gold.len()
                )),
            }
        }
        for (tid, ours) in ours {
            if ours.len() > 2 {
                let count = ours.len();
                self.problems
                    .push(format!("thread {tid}: {count} events, and none by gold"));
            }
            in_flight.extend(ours.iter().map(|event| event.address));
        }
        let folded = folded as u64;
        if folded.abs_diff(told.folded) > start_up {
            self.problems.push(format!(
                "{} events were folded, by gold {folded} are missing",
                told.folded
            ));
        }
        in_flight
    }

    fn compare_live(&mut self, told: &Told, gold: &Gold, in_flight: &HashSet<u64>) {
        let mut live: BTreeMap<u64, (Block, usize)> = BTreeMap::new();
        for (place, event) in gold.heap.iter().enumerate() {
            match event.is_release {
                true => {
                    live.remove(&event.address);
                }
                false => {
                    live.insert(event.address, (block_of(event), place));
                }
            }
        }
        let mut said = Vec::new();
        for (&address, (block, stack)) in &told.live {
            let is_same = live
                .remove(&address)
                .is_some_and(|(other, _)| is_same(&other, block));
            if !is_same && !in_flight.contains(&address) {
                said.push(format!("{address:#x} is live, by gold not so: {block:?}"));
            }
            if stack.is_root() && *stack != StackId::COMPLETE {
                said.push(format!("{address:#x} has no stack"));
            }
        }
        for (address, (block, place)) in live {
            if !in_flight.contains(&address) && place >= START_UP {
                said.push(format!(
                    "{address:#x} is not live, by gold it is: {block:?}"
                ));
            }
        }
        let count = said.len();
        if count > 0 {
            let shown = said[..count.min(5)].join("\n  ");
            self.problems
                .push(format!("{count} blocks differ:\n  {shown}"));
        }
    }

    fn compare_totals(&mut self, told: &Told, gold: &Gold) {
        let releases = gold.heap.iter().filter(|event| event.is_release).count() as u64;
        let allocations = gold.heap.len() as u64 - releases;
        let bytes: u64 = gold.heap.iter().map(|event| event.size).sum();
        for (ours, gold, what, slack) in [
            (
                told.allocations,
                allocations,
                "allocations",
                START_UP as u64,
            ),
            (told.releases, releases, "releases", START_UP as u64),
            (told.bytes, bytes, "bytes", 1 << 17),
        ] {
            if ours.abs_diff(gold) > slack {
                self.problems.push(format!("{ours} {what}, by gold {gold}"));
            }
        }
    }

    fn check_log(&mut self, ours: &Recorded, told: &Told, killed: bool) {
        // Every stream may hold a chunk, whatever the bound.
        let most = SIZE_CHUNKS.max(told.streams) + told.streams;
        if told.event_chunks > most {
            self.problems.push(format!(
                "{} chunks of events, {SIZE_CHUNKS} were allowed to {} streams",
                told.event_chunks, told.streams
            ));
        }
        self.problems.extend(ours.losses_and_findings(killed));
        if ours.findings.order_breaks > 0 {
            let breaks = ours.findings.order_breaks;
            self.problems
                .push(format!("{breaks} contradictions in order"));
        }
        self.torn += u64::from(ours.log().flight().is_some_and(|flight| flight.is_torn()));
    }

    fn tell(&self, what: &str) {
        println!(
            "{what}: {} images, {} of which overwrote events, {} chunks in all; {} events by gold; \
             {} live blocks compared; {} logs end in the middle of a fold; {} addresses in flight",
            self.images,
            self.folded_images,
            self.folded_chunks,
            self.events,
            self.live,
            self.torn,
            self.in_flight,
        );
    }
}

fn is_same(gold: &Block, ours: &Block) -> bool {
    gold.size == ours.size && gold.usable == ours.usable && gold.tid == ours.tid
}

/// How many of a thread's events come before those that are left. Of a thread
/// that was killed the last call may be in one of the two only.
fn alignment(ours: &[Event], gold: &[Event], killed: bool) -> Option<usize> {
    let slack: isize = if killed { 2 } else { 0 };
    let behind = gold.len() as isize - ours.len() as isize;
    let mut places = (-slack..=slack).map(|more| behind + more);
    let fits = |first: &isize| {
        let Ok(first) = usize::try_from(*first) else {
            return false;
        };
        let mut both = ours.iter().zip(gold.iter().skip(first));
        first <= gold.len() && both.all(|(ours, gold)| ours.is_same(gold))
    };
    // Nothing left and nothing missing, or start-up's few.
    let first = places.find(fits);
    first.and_then(|first| usize::try_from(first).ok())
}

#[test]
fn what_is_live_is_known_whatever_was_overwritten() {
    let mut totals = Totals::default();
    let problems = runs::whole(&runs::WHOLE, BOUND, |folder| {
        totals.take(folder, false);
        std::mem::take(&mut totals.problems)
    });
    totals.tell("whole runs");
    runs::assert_none(&problems);
    assert!(totals.folded_images >= 6, "so few overwrote anything");
    assert!(totals.folded_chunks >= 200, "so little was overwritten");
}

#[test]
fn a_kill_at_any_moment_leaves_what_is_live() {
    let kills = if is_long() { 300 } else { 48 };
    let mut totals = Totals::default();
    let problems = runs::killed(kills, 100_000, BOUND, |folder| {
        totals.take(folder, true);
        std::mem::take(&mut totals.problems)
    });
    totals.tell(&format!("{kills} kills"));
    runs::assert_none(&problems);
    assert!(totals.folded_images * 2 >= kills as u64, "so few folded");
}
