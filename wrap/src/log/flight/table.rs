//! The table of live blocks whose events were overwritten, in pages of the log.
//!
//! ```text
//! directory[hash & (2^depth - 1)]    a page; pages of a lower depth stand there
//!                                    more than once
//! page      open addressing with linear probing, at most LIMIT entries;
//!           a full one is rid of its dead, and split if that was not enough:
//!           entries with the next bit of the hash go to a new page
//! ```
//!
//! The process may be killed at any store, and a reader finds the pages as they
//! are. So a key is stored last and zeroed first, and what moves is copied
//! before it is deleted: a reader sees each entry once or twice, but for the
//! one being changed, whose record it applies again (see `format::live`).

use memlog_format::live::{ENTRIES, ENTRY_WORDS, FIRST_WORD, LiveEntry, hash};

/// The directory's greatest depth.
pub const MAX_DEPTH: u32 = 20;
/// Pages that are split for one entry, at most.
const MAX_SPLITS: u32 = MAX_DEPTH;

/// Words of a page's header that are the table's own.
const DEPTH: usize = 3;
const COUNT: usize = 4;
/// The word of an entry's version.
const VERSION: usize = 3;

/// The memory of the table.
pub trait Pages {
    /// Entries that a page holds at most: a search is short while a fifth of
    /// the slots is free.
    const LIMIT: u64 = ENTRIES as u64 * 4 / 5;

    /// A word of a page.
    fn load(&self, page: usize, word: usize) -> u64;
    /// Stores a word; no store may be seen before those ahead of it.
    fn store(&mut self, page: usize, word: usize, value: u64);
    /// A new page, empty; nothing if there is no room.
    fn page(&mut self) -> Option<usize>;
    /// The next store is to a chunk of events.
    fn before_chunk(&mut self) {}
    /// The page in a place of the directory, in private memory.
    fn directory(&self, place: usize) -> usize;
    /// Sets it; places up to 2^[`MAX_DEPTH`] are asked for.
    fn set_directory(&mut self, place: usize, page: usize);
}

/// The table.
pub struct LiveTable<P> {
    /// Its memory.
    pub pages: P,
    depth: u32,
    is_begun: bool,
}

/// Where an entry is, until the table changes.
#[derive(Clone, Copy)]
pub struct Spot {
    page: usize,
    slot: usize,
}

const fn first_word(slot: usize) -> usize {
    FIRST_WORD + slot * ENTRY_WORDS
}

/// Where the search for an address begins.
const fn home(hash: u64) -> usize {
    (((hash >> 32) * ENTRIES as u64) >> 32) as usize
}

/// How far a slot is behind another, around the page's end.
const fn distance(from: usize, to: usize) -> usize {
    let behind = to + ENTRIES - from;
    if behind >= ENTRIES {
        behind - ENTRIES
    } else {
        behind
    }
}

const fn next(slot: usize) -> usize {
    if slot + 1 == ENTRIES { 0 } else { slot + 1 }
}

impl<P: Pages> LiveTable<P> {
    /// Empty.
    pub const fn new(pages: P) -> Self {
        Self {
            pages,
            depth: 0,
            is_begun: false,
        }
    }

    /// Makes sure of a first page.
    pub fn begin(&mut self) -> bool {
        if !self.is_begun
            && let Some(page) = self.pages.page()
        {
            self.pages.set_directory(0, page);
            self.is_begun = true;
        }
        self.is_begun
    }

    /// Forgets all pages.
    pub fn forget(&mut self) {
        (self.depth, self.is_begun) = (0, false);
    }

    /// All pages, each after it was looked at for the last time.
    pub fn each_page_last(&self, mut see: impl FnMut(usize)) {
        if !self.is_begun {
            return;
        }
        for place in (0..1usize << self.depth).rev() {
            let page = self.pages.directory(place);
            // The lowest place that leads to it.
            if place >> self.pages.load(page, DEPTH) == 0 {
                see(page);
            }
        }
    }

    fn page_of(&self, hash: u64) -> usize {
        let place = hash & ((1u64 << self.depth) - 1);
        self.pages.directory(place as usize)
    }

    fn key(&self, page: usize, slot: usize) -> u64 {
        self.pages.load(page, first_word(slot))
    }

    fn set_key(&mut self, page: usize, slot: usize, key: u64) {
        self.pages.store(page, first_word(slot), key);
    }

    /// The slot of an address in its page; an error is the first free one.
    fn search(&self, page: usize, address: u64) -> Result<usize, usize> {
        let mut slot = home(hash(address));
        for _ in 0..ENTRIES {
            match self.key(page, slot) {
                0 => return Err(slot),
                key if key == address => return Ok(slot),
                _ => slot = next(slot),
            }
        }
        Err(slot)
    }

    fn find(&self, address: u64) -> Option<Spot> {
        if !self.is_begun || address == 0 {
            return None;
        }
        let page = self.page_of(hash(address));
        let slot = self.search(page, address).ok()?;
        Some(Spot { page, slot })
    }

    fn read(&self, spot: Spot) -> Option<LiveEntry> {
        let mut words = [0; ENTRY_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.pages.load(spot.page, first_word(spot.slot) + index);
        }
        LiveEntry::from_words(words)
    }

    /// What is known of an address, and where.
    pub fn get(&self, address: u64) -> Option<(Spot, LiveEntry)> {
        let spot = self.find(address)?;
        Some((spot, self.read(spot)?))
    }

    /// Notes the record that was applied last.
    pub fn set_version(&mut self, spot: Spot, version: u64) {
        let word = first_word(spot.slot) + VERSION;
        self.pages.store(spot.page, word, version);
    }

    /// Sets what is known of the same address.
    pub fn change(&mut self, spot: Spot, entry: &LiveEntry) {
        self.set_key(spot.page, spot.slot, 0);
        self.write(spot.page, spot.slot, &entry.to_words());
    }

    /// Sets what is known of any address; false if there is no room. Dead
    /// entries of before `safe`, a version, may go.
    pub fn set(&mut self, entry: &LiveEntry, safe: u64) -> bool {
        if !self.is_begun || entry.address == 0 {
            return false;
        }
        let hash = hash(entry.address);
        for _ in 0..MAX_SPLITS {
            let page = self.page_of(hash);
            match self.search(page, entry.address) {
                Ok(slot) => {
                    self.change(Spot { page, slot }, entry);
                    return true;
                }
                Err(slot) if self.count(page) < P::LIMIT => {
                    self.set_count(page, 1);
                    self.write(page, slot, &entry.to_words());
                    return true;
                }
                Err(_) if self.make_room(page, safe) => {}
                Err(_) => return false,
            }
        }
        false
    }

    fn write(&mut self, page: usize, slot: usize, words: &[u64; ENTRY_WORDS]) {
        let first = first_word(slot);
        for (index, &word) in words.iter().enumerate().skip(1) {
            self.pages.store(page, first + index, word);
        }
        self.pages.store(page, first, words[0]);
    }

    fn count(&self, page: usize) -> u64 {
        self.pages.load(page, COUNT)
    }

    fn set_count(&mut self, page: usize, more: i64) {
        let count = self.count(page).wrapping_add(more as u64);
        self.pages.store(page, COUNT, count);
    }

    /// Deletes an entry and moves those up that were behind it on their way.
    pub fn delete(&mut self, spot: Spot) {
        let page = spot.page;
        self.set_key(page, spot.slot, 0);
        self.set_count(page, -1);
        let (mut hole, mut slot) = (spot.slot, spot.slot);
        for _ in 0..ENTRIES {
            slot = next(slot);
            let key = self.key(page, slot);
            if key == 0 {
                return;
            }
            if distance(home(hash(key)), slot) >= distance(hole, slot) {
                self.copy(page, slot, page, hole);
                self.set_key(page, slot, 0);
                hole = slot;
            }
        }
    }

    fn copy(&mut self, from: usize, slot: usize, to: usize, free: usize) {
        let mut words = [0; ENTRY_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.pages.load(from, first_word(slot) + index);
        }
        self.write(to, free, &words);
    }

    #[cold]
    fn make_room(&mut self, page: usize, safe: u64) -> bool {
        self.delete_where(page, |table, spot| {
            let entry = table.read(spot);
            entry.is_some_and(|entry| !entry.live && entry.version < safe)
        });
        self.count(page) <= P::LIMIT * 3 / 4 || self.split(page)
    }

    /// Deletes until none is left: what moves up around the page's end may
    /// have been passed over.
    fn delete_where(&mut self, page: usize, is_one: impl Fn(&Self, Spot) -> bool) {
        let mut again = true;
        while core::mem::take(&mut again) {
            for slot in 0..ENTRIES {
                let spot = Spot { page, slot };
                while self.key(page, slot) != 0 && is_one(self, spot) {
                    self.delete(spot);
                    again = true;
                }
            }
        }
    }

    #[cold]
    fn split(&mut self, page: usize) -> bool {
        let depth = self.pages.load(page, DEPTH) as u32;
        if depth >= MAX_DEPTH {
            return false;
        }
        let Some(other) = self.pages.page() else {
            return false;
        };
        self.pages.store(page, DEPTH, u64::from(depth) + 1);
        self.pages.store(other, DEPTH, u64::from(depth) + 1);
        let goes = |key: u64| hash(key) >> depth & 1 == 1;
        for slot in 0..ENTRIES {
            let key = self.key(page, slot);
            if key != 0
                && goes(key)
                && let Err(free) = self.search(other, key)
            {
                self.copy(page, slot, other, free);
                self.set_count(other, 1);
            }
        }
        self.enter(page, other, depth);
        self.delete_where(page, |table, spot| goes(table.key(spot.page, spot.slot)));
        true
    }

    /// Puts the new page into the directory where the bit behind `depth` is 1.
    fn enter(&mut self, page: usize, other: usize, depth: u32) {
        if depth == self.depth {
            for place in 0..1usize << depth {
                let same = self.pages.directory(place);
                self.pages.set_directory(place | 1 << depth, same);
            }
            self.depth += 1;
        }
        for place in 0..1usize << self.depth {
            if place >> depth & 1 == 1 && self.pages.directory(place) == page {
                self.pages.set_directory(place, other);
            }
        }
    }
}
