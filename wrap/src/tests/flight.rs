//! The flight recorder on a model of memory, against a naive twin.
//!
//! Threads allocate, release, pass blocks on and resize them at random. What
//! they write goes through a few small chunks that are folded and given out
//! again; one thread sleeps long. At the end, and after a death at any store, a
//! naive reader puts table and chunks together: what it finds live must be what
//! is.
#![allow(unsafe_code)]
//! # Safety
//! The machine's chunks are boxes of its own, and it writes to them alone.

use super::flight_table::{Killed, Model, entries_of};
use super::random::Random;
use crate::log::flight::folder::Folder;
use crate::log::flight::ring::{self, Slot};
use crate::log::flight::table::Pages;
use crate::log::sink::{self, Chunk};
use memlog_format::api::Api;
use memlog_format::chunk::{HEADER_SIZE, Header, Kind};
use memlog_format::event::{Alloc, Deltas, Event, Release, predicted_usable};
use memlog_format::ext::Ext;
use memlog_format::live::{
    FIRST_WORD, LiveEntry, SUM_WORDS, Sums, folds, is_prior, order_word, version,
};
use memlog_format::table::StackId;
use memlog_format::varint::{Reader, Writer};
use memlog_lockfree::order::Cells;
use memlog_lockfree::sync::AtomicU64;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const WORDS: usize = 8192;
/// Bytes of a chunk that are used, so that there are many.
const FULL: usize = HEADER_SIZE + 160;

/// A block's size and stack in one.
fn told(size: u64, stack: u32) -> u64 {
    size << 8 | u64::from(stack)
}

/// A thread and the chunk it writes.
#[derive(Default)]
struct Writing {
    slot: Option<usize>,
    committed: usize,
    sequence: u32,
    deltas: Deltas,
}

struct Machine {
    folder: Folder<Model>,
    slots: Vec<Slot>,
    memory: Vec<Box<[u64; WORDS]>>,
    streams: Vec<Writing>,
    seals: u64,
    bound: usize,
    cells: Cells,
    /// What is live in truth: by address what [`told`] makes of a block.
    live: BTreeMap<u64, u64>,
    allocations: u64,
    releases: u64,
    tick: u64,
}

const STREAMS: usize = 4;
const ADDRESSES: u64 = 40;

impl Machine {
    fn new(dies_at: u64) -> Self {
        let words: Vec<AtomicU64> = (0..16).map(|_| AtomicU64::new(0)).collect();
        let mut folder = Folder::new(Model::new(u64::MAX));
        folder.page = folder.table.pages.page();
        assert!(folder.table.begin());
        folder.table.pages.dies_at = dies_at;
        folder.table.pages.stores = 0;
        Self {
            folder,
            slots: Vec::new(),
            memory: Vec::new(),
            streams: (0..STREAMS).map(|_| Writing::default()).collect(),
            seals: 0,
            bound: 6,
            cells: Cells::new(Vec::leak(words)),
            live: BTreeMap::new(),
            allocations: 0,
            releases: 0,
            tick: 0,
        }
    }

    /// As the recorder's: a new chunk, or the oldest once it was folded.
    fn carve(&mut self) -> usize {
        if self.slots.len() >= self.bound
            && let Some(index) = ring::oldest(&mut self.slots)
        {
            let until = self.slots[index].committed();
            let slot = &mut self.slots[index];
            self.folder.fold(slot, until, true, Slot::clear);
            self.slots[index].recycle();
            self.folder.go_on(&mut self.slots, self.seals, |_| false);
            return index;
        }
        self.memory.push(Box::new([0; WORDS]));
        let at = self.memory.last_mut().map(|chunk| chunk.as_mut_ptr());
        let chunk = Chunk {
            at: at.expect("just pushed").cast(),
            index: self.memory.len() as u32,
            ready: WORDS as u32 * 8,
        };
        self.slots.push(Slot::new(chunk));
        self.slots.len() - 1
    }

    fn write(&mut self, stream: usize, group: &[Event]) {
        let room = 64 * group.len();
        let writing = &mut self.streams[stream];
        if writing.slot.is_none() || writing.committed + room > FULL {
            if let Some(slot) = writing.slot.take() {
                self.seals += 1;
                // SAFETY: the stream held it.
                unsafe { ring::mark_sealed(self.slots[slot].chunk, self.seals) };
            }
            let slot = self.carve();
            let tick = self.tick;
            let writing = &mut self.streams[stream];
            let header = Header {
                base_tick: tick,
                thread: stream as u32 + 1,
                ..Header::new(Kind::Events, stream as u32, writing.sequence)
            };
            // SAFETY: carved for this stream.
            unsafe { sink::begin(self.slots[slot].chunk, &header) };
            writing.slot = Some(slot);
            writing.sequence += 1;
            writing.committed = HEADER_SIZE;
            writing.deltas = Deltas::at_start(tick, 0);
        }
        for event in group {
            self.put(stream, event);
        }
    }

    fn put(&mut self, stream: usize, event: &Event) {
        let writing = &mut self.streams[stream];
        let chunk = self.slots[writing.slot.expect("a chunk")].chunk;
        // SAFETY: the stream holds the chunk, of WORDS words.
        let bytes = unsafe { std::slice::from_raw_parts_mut(chunk.at, 8 * WORDS) };
        let mut out = Writer::new(&mut bytes[writing.committed..]);
        match event {
            Event::Alloc(alloc) => writing.deltas.put_alloc(&mut out, alloc),
            Event::Release(release) => writing.deltas.put_release(&mut out, release),
            Event::Revoke => writing.deltas.put_revoke(&mut out),
            Event::Tick(tick) => writing.deltas.put_tick(&mut out, *tick),
            _ => unreachable!("not written here"),
        }
        writing.committed += out.finish().expect("room");
        // SAFETY: as above.
        unsafe { sink::commit(chunk.at, writing.committed as u32) };
    }

    fn alloc(&mut self, api: Api, stream: usize, address: u64, size: u64) -> Event<'static> {
        Event::Alloc(Alloc {
            api,
            address,
            size,
            usable: predicted_usable(size),
            alignment_log2: 0,
            stack: StackId(8 + stream as u32),
            order: self.cells.number(address, stream as u32),
        })
    }

    fn release(&mut self, stream: usize, address: u64, announced: bool) -> Event<'static> {
        Event::Release(Release {
            api: if announced { Api::Realloc } else { Api::Free },
            address,
            announced,
            stack: None,
            order: self.cells.number(address, stream as u32),
        })
    }

    /// One call of a random thread. The last thread seldom does anything.
    fn step(&mut self, random: &mut Random) {
        self.tick += random.below(2);
        let stream = match random.below(60) {
            0 => STREAMS - 1,
            other => other as usize % (STREAMS - 1),
        };
        // Pages of four threads' own and of all.
        let address = 0x10_0000 + 0x1000 * random.below(6) + 0x40 * random.below(ADDRESSES / 6);
        let size = 1 + random.below(1000);
        match self.live.get(&address).copied() {
            None => {
                let event = self.alloc(Api::Malloc, stream, address, size);
                self.write(stream, &[Event::Tick(self.tick), event]);
                self.live.insert(address, told(size, stream as u32 + 8));
                self.allocations += 1;
            }
            Some(_) if random.below(3) > 0 => {
                let event = self.release(stream, address, false);
                self.write(stream, &[event]);
                self.live.remove(&address);
                self.releases += 1;
            }
            Some(_) => self.resize(random, stream, address, size),
        }
    }

    /// A realloc that fails, or moves the block, or leaves it where it is.
    fn resize(&mut self, random: &mut Random, stream: usize, address: u64, size: u64) {
        let release = self.release(stream, address, true);
        if random.below(3) == 0 {
            self.write(stream, &[release, Event::Revoke]);
            return;
        }
        let to = address + 0x40 * random.below(2);
        let to = if self.live.contains_key(&to) {
            address
        } else {
            to
        };
        let alloc = self.alloc(Api::Realloc, stream, to, size);
        self.write(stream, &[release, alloc]);
        self.live.remove(&address);
        self.live.insert(to, told(size, stream as u32 + 8));
        self.releases += 1;
        self.allocations += 1;
    }

    /// What a reader makes of the memory.
    fn read(&self) -> (BTreeMap<u64, u64>, Sums) {
        let model = &self.folder.table.pages;
        let page = self.folder.page.expect("there is one");
        let said = |word: usize| model.pages[page][FIRST_WORD + word];
        let done = said(folds::DONE);
        let mut words = [0; SUM_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = said(folds::sums(done) + index);
        }
        let mut sums = Sums::from_words(words);
        let mut table: HashMap<u64, LiveEntry> = HashMap::new();
        for (index, page_words) in model.pages.iter().enumerate() {
            if index == page {
                continue;
            }
            for entry in entries_of(page_words) {
                let known = table.entry(entry.address).or_insert(entry);
                if entry.version > known.version {
                    *known = entry;
                }
            }
        }
        let mut live: BTreeMap<u64, u64> = table
            .values()
            .filter(|entry| entry.live)
            .map(|entry| (entry.address, told(entry.size, entry.stack.0)))
            .collect();
        let place = said(folds::PLACE);
        let under_way = said(folds::UNDER_WAY);
        let mut left: BTreeMap<u64, Vec<(u64, usize, Option<u64>)>> = BTreeMap::new();
        let mut slots: Vec<&Slot> = self.slots.iter().collect();
        slots.retain(|slot| slot.committed() > 0);
        slots.sort_by_key(|slot| {
            let header = Header::decode(slot.bytes()).expect("whole").expect("used");
            (header.stream, header.sequence)
        });
        let mut count = 0;
        for slot in slots {
            let header = Header::decode(slot.bytes()).expect("whole").expect("used");
            let mut from = header.folded as usize;
            let is_placed = under_way != 0 && place >> 32 == u64::from(slot.chunk.index);
            if is_placed && under_way == done {
                from = from.max(place as u32 as usize);
            }
            let is_torn = is_placed && under_way != done;
            for (offset, event) in resolved(slot.bytes()) {
                if offset < from {
                    continue;
                }
                let (address, order, size) = match event {
                    Event::Alloc(alloc) => {
                        sums.allocations += 1;
                        (
                            alloc.address,
                            alloc.order,
                            Some(told(alloc.size, alloc.stack.0)),
                        )
                    }
                    Event::Release(release) => {
                        sums.releases += 1;
                        (release.address, release.order, None)
                    }
                    _ => continue,
                };
                count += 1;
                if let Some(entry) = table.get(&address) {
                    let is_applied = is_torn && version(under_way, offset) <= entry.version;
                    if is_applied || is_prior(order_word(order), entry.order) {
                        continue;
                    }
                }
                let events = left.entry(address).or_default();
                events.push((order_word(order), count, size));
            }
        }
        for (address, mut events) in left {
            events.sort_unstable();
            match events.last() {
                Some((_, _, Some(size))) => live.insert(address, *size),
                _ => live.remove(&address),
            };
        }
        (live, sums)
    }
}

/// The records of a chunk that happened, with their offsets.
fn resolved(bytes: &[u8]) -> Vec<(usize, Event<'_>)> {
    let header = Header::decode(bytes).expect("whole").expect("used");
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let mut records = Reader::new(&bytes[HEADER_SIZE..]);
    let mut all: Vec<(usize, Event)> = Vec::new();
    loop {
        let offset = HEADER_SIZE + records.at();
        let Some(event) = deltas.next(&mut records).expect("well formed") else {
            break;
        };
        if event == Event::Revoke {
            all.pop();
        } else if !matches!(event, Event::Tick(_) | Event::Ext(Ext::Unknown { .. })) {
            all.push((offset, event));
        }
    }
    // Announced last of all: undecided, so it did not happen.
    if let Some((_, Event::Release(release))) = all.last()
        && release.announced
    {
        all.pop();
    }
    all
}

/// Runs so many steps, or until the death; whether it came.
fn run(machine: &mut Machine, seed: u64, steps: u64) -> bool {
    let mut random = Random::new(seed);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..steps {
            machine.step(&mut random);
        }
    }));
    match ended {
        Ok(()) => false,
        Err(why) if why.is::<Killed>() => true,
        Err(why) => resume_unwind(why),
    }
}

fn check(machine: &Machine, what: &str) {
    let (live, sums) = machine.read();
    assert_eq!(live, machine.live, "{what}");
    assert_eq!(sums.allocations, machine.allocations, "{what}");
    assert_eq!(sums.releases, machine.releases, "{what}");
}

#[test]
fn table_and_chunks_are_what_is_live() {
    let mut folded = 0;
    for seed in 1..150 {
        let mut machine = Machine::new(u64::MAX);
        for part in 0..20 {
            assert!(!run(&mut machine, seed * 100 + part, 100));
            check(&machine, &format!("seed {seed}, part {part}"));
        }
        folded += machine.read().1.chunks;
    }
    assert!(folded > 10_000, "only {folded} chunks were folded");
}

/// Every store of some folds is the last.
#[test]
fn a_death_at_any_store_leaves_what_is_live() {
    let mut deaths = 0;
    for seed in 1..3 {
        for dies_at in 0.. {
            let mut machine = Machine::new(dies_at);
            if !run(&mut machine, seed, 500) {
                assert!(dies_at > 1000, "so few stores");
                break;
            }
            check(&machine, &format!("seed {seed}, store {dies_at}"));
            deaths += 1;
        }
    }
    println!("{deaths} deaths");
}
