//! The table of live blocks on a model of memory, against a map.

use super::random::Random;
use crate::log::flight::table::{LiveTable, Pages};
use memlog_format::api::Api;
use memlog_format::live::{ENTRY_WORDS, FIRST_WORD, LiveEntry};
use memlog_format::table::StackId;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const WORDS: usize = 8192;

/// Memory that dies at a store.
pub struct Model {
    pub pages: Vec<Vec<u64>>,
    directory: HashMap<usize, usize>,
    pub stores: u64,
    pub dies_at: u64,
}

pub struct Killed;

impl Model {
    pub fn new(dies_at: u64) -> Self {
        Self {
            pages: Vec::new(),
            directory: HashMap::new(),
            stores: 0,
            dies_at,
        }
    }

    fn step(&mut self) {
        if self.stores == self.dies_at {
            resume_unwind(Box::new(Killed));
        }
        self.stores += 1;
    }
}

impl Pages for Model {
    // So that pages fill, are swept and split all the time.
    const LIMIT: u64 = 12;

    fn load(&self, page: usize, word: usize) -> u64 {
        self.pages[page][word]
    }
    fn store(&mut self, page: usize, word: usize, value: u64) {
        self.step();
        self.pages[page][word] = value;
    }
    fn page(&mut self) -> Option<usize> {
        self.step();
        self.pages.push(vec![0; WORDS]);
        Some(self.pages.len() - 1)
    }
    fn before_chunk(&mut self) {
        self.step();
    }
    fn directory(&self, place: usize) -> usize {
        self.directory[&place]
    }
    fn set_directory(&mut self, place: usize, page: usize) {
        self.directory.insert(place, page);
    }
}

/// The entries of a page.
pub fn entries_of(page: &[u64]) -> impl Iterator<Item = LiveEntry> {
    let (slots, _) = page[FIRST_WORD..].as_chunks::<ENTRY_WORDS>();
    let used = slots.iter().filter(|words| words[0] != 0);
    used.filter_map(|words| LiveEntry::from_words(*words))
}

fn entry(address: u64, version: u64, live: bool) -> LiveEntry {
    LiveEntry {
        address,
        size: address / 16,
        usable: address / 16,
        order: u64::from(!live),
        version,
        stack: StackId(9),
        tick: 3,
        tid: 4,
        api: Api::Malloc,
        live,
    }
}

/// Pages that split and are swept, against a map.
#[test]
fn the_table_is_a_map() {
    let mut random = Random::new(7);
    let mut table = LiveTable::new(Model::new(u64::MAX));
    assert!(table.begin());
    let mut twin: HashMap<u64, LiveEntry> = HashMap::new();
    for round in 1..30_000u64 {
        let address = 16 + 16 * random.below(3_000);
        let version = round << 16;
        match random.below(4) {
            0 => {
                if let Some((spot, _)) = table.get(address) {
                    table.delete(spot);
                }
                twin.remove(&address);
            }
            1 => {
                if let Some((spot, _)) = table.get(address)
                    && let Some(entry) = twin.get_mut(&address)
                {
                    table.set_version(spot, version);
                    entry.version = version;
                }
            }
            kind => {
                let entry = entry(address, version, kind == 2);
                // The dead of long ago may go.
                let safe = (round / 2) << 16;
                assert!(table.set(&entry, safe));
                twin.insert(address, entry);
            }
        }
        if round % 5_000 == 0 {
            twin.retain(|&address, entry| {
                let found = table.get(address).map(|(_, entry)| entry);
                let may_go = !entry.live && entry.version < (round / 2) << 16;
                assert!(found == Some(*entry) || found.is_none() && may_go);
                found.is_some()
            });
        }
    }
    let pages = table.pages.pages.len();
    assert!(pages > twin.len() / 12, "{pages} pages");
    let mut seen = 0;
    table.each_page_last(|_| seen += 1);
    assert_eq!(seen, pages);
    for address in (0..3_001u64).map(|index| 16 + 16 * index) {
        if let Some((_, entry)) = table.get(address) {
            assert_eq!(twin.get(&address), Some(&entry));
        }
    }
}

/// A death while pages split loses no entry but the one being set.
#[test]
fn a_death_amid_a_split_loses_nothing() {
    let fill = |dies_at: u64| {
        let mut table = LiveTable::new(Model::new(u64::MAX));
        assert!(table.begin());
        let first = table.pages.stores;
        table.pages.dies_at = dies_at.saturating_add(first);
        let mut set = Vec::new();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            for index in 1..40u64 {
                let entry = entry(index * 16, index << 16, true);
                assert!(table.set(&entry, 0));
                set.push(entry);
            }
        }));
        let mut found: HashMap<u64, LiveEntry> = HashMap::new();
        for page in &table.pages.pages {
            found.extend(entries_of(page).map(|entry| (entry.address, entry)));
        }
        for entry in &set {
            assert_eq!(found.get(&entry.address), Some(entry), "store {dies_at}");
        }
        (ended.is_ok(), table.pages.stores - first)
    };
    let (whole, stores) = fill(u64::MAX);
    assert!(whole);
    for dies_at in 0..stores {
        fill(dies_at);
    }
}
