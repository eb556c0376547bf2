//! What one thread found out, for all: a table of words that everybody reads and
//! adds to without a lock, and that is emptied when what it says holds no longer.
//!
//! ```text
//! get(key):  the stamp is the asker's generation; the word beside the key; the
//!            stamp is still that
//! put(key):  one writer more; the stamp is still the generation in which this was
//!            found out; take a place for the key, and its word; one writer less
//! close():   no stamp; are there writers? Then nobody may empty this table
//! ```
//!
//! Nothing is held: a writer that never comes back costs its table at the next
//! change of generation. One that is late finds the stamp gone, and one that is in
//! time keeps the table from being emptied under it; so a word of an earlier
//! generation never stands under a later stamp. The count of writers is never
//! written over: it has a page of its own, apart from what is emptied.

use crate::sync::{AtomicU64, Ordering, fence};

const STAMP: usize = 0;
const WRITERS: usize = 1;
const USED: usize = 2;
/// Words before the pairs: a page, so that the pairs can be emptied by the page.
pub const HEAD: usize = if cfg!(loom) { 8 } else { 512 };
/// Places that are looked at for a key.
const MAX_PROBES: usize = 16;

/// A table over words that somebody else owns; zeros are one that is closed.
#[derive(Clone, Copy)]
pub struct Memo {
    words: &'static [AtomicU64],
}

impl Memo {
    /// The words that a table of so many pairs takes.
    pub const fn words(pairs: usize) -> usize {
        HEAD + 2 * pairs
    }

    /// Over [`words`](Self::words) of a power of two.
    pub const fn new(words: &'static [AtomicU64]) -> Self {
        Self { words }
    }

    fn pairs(&self) -> usize {
        self.words.len().saturating_sub(HEAD) / 2
    }

    /// The place of a key, and of its word.
    #[inline]
    fn pair(&self, key: u64, probe: usize) -> Option<(&AtomicU64, &AtomicU64)> {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let at = (hash as usize).wrapping_add(probe) & self.pairs().wrapping_sub(1);
        let at = HEAD + 2 * at;
        Some((self.words.get(at)?, self.words.get(at + 1)?))
    }

    /// Whether what stands here holds in a generation.
    #[inline]
    pub fn is_of(&self, generation: u64) -> bool {
        let stamp = self.words.get(STAMP);
        stamp.is_some_and(|stamp| stamp.load(Ordering::Acquire) == generation)
    }

    /// What was found out about a key in this generation.
    #[inline]
    pub fn get(&self, key: u64, generation: u64) -> Option<u64> {
        if !self.is_of(generation) {
            return None;
        }
        for probe in 0..MAX_PROBES {
            let (name, word) = self.pair(key, probe)?;
            match name.load(Ordering::Acquire) {
                0 => return None,
                found if found == key => {
                    // Zero: named and not told so far; the asker finds out himself.
                    let word = word.load(Ordering::Acquire);
                    // The place may have been emptied and another's since.
                    fence(Ordering::Acquire);
                    return (word != 0 && self.is_of(generation)).then_some(word);
                }
                _ => {}
            }
        }
        None
    }

    /// Tells what was found out in a generation; quietly not, if that is over, or
    /// where it is crowded. Neither key nor word is zero.
    pub fn put(&self, key: u64, word: u64, generation: u64) {
        let Some(writers) = self.words.get(WRITERS) else {
            return;
        };
        writers.fetch_add(1, Ordering::Relaxed);
        // Either `close` sees this writer, or this writer that it is closed.
        fence(Ordering::SeqCst);
        if self.is_of(generation) {
            self.insert(key, word);
        }
        writers.fetch_sub(1, Ordering::Release);
    }

    fn insert(&self, key: u64, word: u64) {
        for probe in 0..MAX_PROBES {
            let Some((name, place)) = self.pair(key, probe) else {
                return;
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match name.compare_exchange(0, key, order.0, order.1) {
                Ok(_) => {
                    if let Some(used) = self.words.get(USED) {
                        used.fetch_add(1, Ordering::Relaxed);
                    }
                    return place.store(word, Ordering::Release);
                }
                Err(found) if found == key => return place.store(word, Ordering::Release),
                Err(_) => {}
            }
        }
    }

    /// Whether half of it is used.
    pub fn is_half_full(&self) -> bool {
        let used = self.words.get(USED);
        used.is_some_and(|used| used.load(Ordering::Relaxed) as usize > self.pairs() / 2)
    }

    /// From here on it says nothing. Whether nobody writes to it, so that it may be
    /// emptied and opened again.
    pub fn close(&self) -> bool {
        let Some(stamp) = self.words.get(STAMP) else {
            return false;
        };
        stamp.store(0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.is_at_rest()
    }

    /// Whether no writer is counted.
    pub fn is_at_rest(&self) -> bool {
        let writers = self.words.get(WRITERS);
        writers.is_some_and(|writers| writers.load(Ordering::Acquire) == 0)
    }

    /// Empties one that was closed, where nobody can be asked for zeros.
    pub fn clear(&self) {
        for word in self.words.iter().skip(HEAD) {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Opens an empty one for a generation, which is not zero.
    pub fn open(&self, generation: u64) {
        if let (Some(stamp), Some(used)) = (self.words.get(STAMP), self.words.get(USED)) {
            used.store(0, Ordering::Relaxed);
            stamp.store(generation, Ordering::Release);
        }
    }
}
