//! Folding chunk by chunk, so that a death at any store leaves what a reader
//! can go on from.
//!
//! ```text
//! place := chunk, end          which chunk; the fold is not under way yet
//! under way := n
//! apply the records            each entry is told the record applied last
//! sums[n & 1] := sums
//! done := n                    from here on the sums count, and the chunk not
//! the chunk's committed := 0   or, of a part, its folded := end
//! under way := 0
//! ```
//!
//! A reader that finds n under way and not done counts the chunk's records, and
//! applies those that their entries were not told of.

use super::apply::Apply;
use super::ring::{Round, Slot};
use super::table::{LiveTable, Pages};
use memlog_format::live::{FIRST_WORD, SUM_WORDS, Sums, folds, version};

/// What is folded, and how far.
pub struct Folder<P> {
    /// What is live.
    pub table: LiveTable<P>,
    /// The page that says how far it has come.
    pub page: Option<usize>,
    sums: Sums,
    /// The last fold.
    fold: u64,
    /// Dead entries of before this version wait for nothing.
    safe: u64,
    round: Round,
}

impl<P: Pages> Folder<P> {
    /// Nothing yet.
    pub const fn new(pages: P) -> Self {
        Self {
            table: LiveTable::new(pages),
            page: None,
            sums: Sums::from_words([0; SUM_WORDS]),
            fold: 0,
            safe: 0,
            round: Round::new(),
        }
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.table.forget();
        self.page = None;
        self.sums = Sums::default();
        (self.fold, self.safe) = (0, 0);
        self.round = Round::new();
    }

    /// Says a word about the folds.
    pub fn say(&mut self, word: usize, value: u64) {
        if let Some(page) = self.page {
            self.table.pages.store(page, FIRST_WORD + word, value);
        }
    }

    /// Folds a chunk from where it was left; `end` takes a whole one out of the
    /// log. Returns how many allocations found no room.
    pub fn fold(
        &mut self,
        slot: &mut Slot,
        until: usize,
        whole: bool,
        end: impl FnOnce(&Slot),
    ) -> u64 {
        let fold = self.fold + 1;
        let index = u64::from(slot.chunk.index) << 32;
        self.say(folds::PLACE, index | until as u64);
        self.say(folds::UNDER_WAY, fold);
        slot.resume();
        let bytes = slot.bytes();
        let mut apply = Apply {
            table: &mut self.table,
            sums: &mut self.sums,
            fold,
            safe: self.safe,
            lost: 0,
        };
        apply.run(bytes, &mut slot.folded, until, whole);
        let lost = apply.lost;
        self.sums.chunks += u64::from(whole);
        if !whole {
            self.say(folds::PLACE, index | slot.folded.offset as u64);
        }
        for (index, word) in self.sums.to_words().into_iter().enumerate() {
            self.say(folds::sums(fold) + index, word);
        }
        self.say(folds::DONE, fold);
        self.table.pages.before_chunk();
        if !whole {
            slot.mark_folded();
        }
        end(slot);
        self.say(folds::UNDER_WAY, 0);
        self.fold = fold;
        lost
    }

    /// Does the next step of the round, after a fold; `is_fixed` are chunks
    /// that cannot be folded in part.
    pub fn go_on(
        &mut self,
        slots: &mut [Slot],
        last_seal: u64,
        is_fixed: impl Fn(&Slot) -> bool,
    ) -> u64 {
        match self.round.next_part(slots) {
            Ok(None) => 0,
            Ok(Some(index)) => match slots.get_mut(index) {
                Some(slot) if !is_fixed(slot) => {
                    self.fold(slot, slot.noted as usize, false, |_| ())
                }
                _ => {
                    self.round.give_up();
                    0
                }
            },
            Err(since) => {
                if let Some(since) = since {
                    self.safe = version(since, 0);
                }
                self.round.begin(slots, last_seal, self.fold + 1);
                0
            }
        }
    }

    /// The round cannot vouch for all chunks: one changed its place.
    pub fn give_up_round(&mut self) {
        self.round.give_up();
    }
}
