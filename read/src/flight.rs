//! The live set of a log that overwrote its oldest events, and what is prior
//! to it.
//!
//! A record that is prior changed nothing any more when it was folded, or was
//! folded before the log ended in the middle of a fold. What the pages hold is
//! then the state after it, and it counts in the totals alone.

use std::collections::HashMap;

use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::live::{
    FIRST_WORD, LiveEntry, SUM_WORDS, Sums, entries, folds, is_prior, order_word, version, word,
};

/// What a flight recorder folded.
#[derive(Debug, Default)]
pub struct Flight {
    /// Bytes of events before the oldest are overwritten.
    pub bound_bytes: u64,
    /// What was folded, in figures.
    pub sums: Sums,
    entries: HashMap<u64, LiveEntry>,
    fold: Fold,
}

/// The fold that the log ended in.
#[derive(Clone, Copy, Debug, Default)]
struct Fold {
    /// The chunk's place in the file, and the offset that the fold ends at.
    offset: usize,
    end: usize,
    /// Its number, 0 for none.
    number: u64,
    /// Whether its sums are those of the log.
    is_done: bool,
}

/// How far a chunk was folded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Folded {
    /// Records before this offset are in the sums and the table.
    pub before: usize,
    /// The others may be in the table, if this is the fold under way.
    pub under_way: Option<u64>,
}

impl Flight {
    /// Reads the pages and the chunk of the folds.
    pub(crate) fn read(pages: &[&[u8]], chunk: Option<&[u8]>) -> Self {
        let mut flight = Self::default();
        if let Some(chunk) = chunk {
            flight.read_folds(chunk);
        }
        for page in pages {
            for entry in entries(page) {
                flight.take(entry);
            }
        }
        flight
    }

    fn read_folds(&mut self, chunk: &[u8]) {
        let at = |index: usize| word(chunk, FIRST_WORD + index);
        self.bound_bytes = at(folds::BOUND);
        let done = at(folds::DONE);
        let mut sums = [0; SUM_WORDS];
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum = at(folds::sums(done) + index);
        }
        self.sums = Sums::from_words(sums);
        let place = at(folds::PLACE);
        self.fold = Fold {
            offset: ((place >> 32) as usize).saturating_mul(CHUNK_SIZE),
            end: place as u32 as usize,
            number: at(folds::UNDER_WAY),
            is_done: at(folds::UNDER_WAY) == done,
        };
    }

    /// An entry that was being moved is there twice.
    fn take(&mut self, entry: LiveEntry) {
        let known = self.entries.entry(entry.address).or_insert(entry);
        if entry.version > known.version {
            *known = entry;
        }
    }

    /// The blocks that are live as far as events were folded.
    pub fn live(&self) -> impl Iterator<Item = &LiveEntry> {
        self.entries.values().filter(|entry| entry.live)
    }

    /// Whether the program was killed in the middle of a fold.
    pub fn is_torn(&self) -> bool {
        self.fold.number != 0
    }

    /// How far the chunk at this place was folded.
    pub(crate) fn folded(&self, offset: usize, before: u32) -> Folded {
        let before = before as usize;
        if self.fold.number == 0 || self.fold.offset != offset {
            return Folded {
                before,
                under_way: None,
            };
        }
        match self.fold.is_done {
            true => Folded {
                before: before.max(self.fold.end),
                under_way: None,
            },
            false => Folded {
                before,
                under_way: Some(self.fold.number),
            },
        }
    }

    /// What the table says of an address.
    pub(crate) fn entry(&self, address: u64) -> Option<&LiveEntry> {
        self.entries.get(&address)
    }

    /// Whether a record is prior to what the table says; `place` is the fold
    /// under way, if it is in that chunk, and its offset there.
    pub(crate) fn is_prior(
        &self,
        address: u64,
        order: Option<u64>,
        place: Option<(u64, usize)>,
    ) -> bool {
        let Some(entry) = self.entries.get(&address) else {
            return false;
        };
        let is_applied = place.is_some_and(|(fold, at)| version(fold, at) <= entry.version);
        is_applied || is_prior(order_word(order), entry.order)
    }
}
