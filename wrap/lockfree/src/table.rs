//! Interning without a lock: a record of `W` words gets an exact id, the same
//! for every thread, and stands in the log before anybody can know the id.
//!
//! ```text
//! intern(key):
//!   probe the index from the key's hash:
//!     an entry with the key's tag whose record equals the key: that is the id
//!     an empty entry: take the next id, write the record, then try to put
//!       (tag, id) there; if somebody was faster and it is the same key, his
//!       id serves and our record stays unused
//! ```
//!
//! A path of keys of which each names the record before it is written in one
//! go, and only its first is in the index: the others are found by a look at
//! the record behind that of the key they name (`follows`). Stacks are long
//! and share their beginnings, so hardly one node in ten needs an entry.
//!
//! The index grows by being copied into one of twice the size. Who still uses
//! the old one meanwhile may give a key a second id; both name the same record
//! content and readers merge them, so nobody ever waits.

mod growth;
mod tag;

pub use tag::Tag;

use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use memlog_format::table::id_of;

/// Where a table's memory comes from.
pub trait Memory {
    /// Zeroed words for an index, or nothing.
    fn index(&self, words: usize) -> Option<&'static [AtomicU64]>;
    /// An index that no newcomer will use.
    fn retire(&self, index: &'static [AtomicU64]);
    /// The words of a fresh chunk of the table in the log, header included.
    fn chunk(&self, ordinal: u32) -> Option<&'static [AtomicU64]>;
    /// Whether the first bytes of a chunk can be written to.
    fn reach(&self, _ordinal: u32, _chunk: usize, _bytes: usize) -> bool {
        true
    }
    /// Whether to go on in the next chunk where they cannot.
    fn leaves_unready(&self) -> bool {
        false
    }
    /// A chunk that was not needed after all.
    fn give_back(&self, ordinal: u32, chunk: &'static [AtomicU64]);
    /// Two threads made a record for one key.
    fn raced(&self);
}

/// The keys of a new path, but for its first.
pub trait Inside<const W: usize> {
    /// How many there are.
    fn count(&self) -> u32;
    /// The next, which names the record before it.
    fn next(&mut self, before: u32) -> Option<[u64; W]>;
}

/// A path of one key.
struct Alone;

impl<const W: usize> Inside<W> for Alone {
    fn count(&self) -> u32 {
        0
    }
    fn next(&mut self, _: u32) -> Option<[u64; W]> {
        None
    }
}

/// No index is larger.
const LOG2_SIZES: usize = 30;
/// Entries looked at before the index counts as full.
const MAX_PROBES: usize = 128;

/// A table of `W`-word records in chunks of `P` records, `C` chunks at most,
/// of which the first `F` records of each chunk lie under its header.
pub struct IdTable<const W: usize, const P: u32, const F: u32, const C: usize> {
    count: AtomicU32,
    indexed: AtomicU32,
    log2: AtomicU32,
    growing: AtomicU32,
    indexes: [AtomicUsize; LOG2_SIZES],
    chunks: [AtomicUsize; C],
}

/// Why no record can be written.
enum Lacking {
    /// There is no chunk.
    Room,
    /// The chunk that comes after so many records is not ready so far.
    Pages { count: u32 },
}

/// Whether a record is of this key.
#[inline]
fn is_key<const W: usize>(record: &[AtomicU64], key: &[u64; W]) -> bool {
    let mut pairs = record.iter().zip(key);
    // Relaxed: published by the entry that named the id.
    pairs.all(|(word, part)| u64::from_le(word.load(Ordering::Relaxed)) == *part)
}

/// A word's slice behind a pointer and a known length.
fn words(pointer: usize, length: usize) -> Option<&'static [AtomicU64]> {
    if pointer == 0 {
        return None;
    }
    // SAFETY: only addresses of slices of this length, handed out by `Memory`
    // for as long as the process lives, are ever stored.
    Some(unsafe { core::slice::from_raw_parts(pointer as *const AtomicU64, length) })
}

impl<const W: usize, const P: u32, const F: u32, const C: usize> IdTable<W, P, F, C> {
    /// An empty table.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            count: AtomicU32::new(0),
            indexed: AtomicU32::new(0),
            log2: AtomicU32::new(0),
            growing: AtomicU32::new(0),
            indexes: [const { AtomicUsize::new(0) }; LOG2_SIZES],
            chunks: [const { AtomicUsize::new(0) }; C],
        }
    }

    /// An empty table; loom's atomics are not const.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            count: AtomicU32::new(0),
            indexed: AtomicU32::new(0),
            log2: AtomicU32::new(0),
            growing: AtomicU32::new(0),
            indexes: core::array::from_fn(|_| AtomicUsize::new(0)),
            chunks: core::array::from_fn(|_| AtomicUsize::new(0)),
        }
    }

    /// Forgets everything. Only where no other thread can be in the table.
    pub fn reset(&self) {
        self.count.store(0, Ordering::Relaxed);
        self.indexed.store(0, Ordering::Relaxed);
        self.log2.store(0, Ordering::Relaxed);
        self.growing.store(0, Ordering::Relaxed);
        for place in self.indexes.iter().chain(&self.chunks) {
            place.store(0, Ordering::Relaxed);
        }
    }

    /// Records given out so far.
    pub fn len(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Entries of the index.
    #[cfg(test)]
    pub fn indexed(&self) -> u32 {
        self.indexed.load(Ordering::Relaxed)
    }

    /// Whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets what is interned from now on begin a new chunk: the one so far may
    /// be written out and forgotten.
    pub fn begin_new_chunk(&self) {
        let usable = P - F;
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let mut count = self.count.load(Ordering::Relaxed);
        loop {
            let next = count.div_ceil(usable).saturating_mul(usable);
            match self.count.compare_exchange(count, next, order.0, order.1) {
                Ok(_) => return,
                Err(now) => count = now,
            }
        }
    }

    /// Where a chunk lies, for who proves that its records are there.
    #[cfg(test)]
    pub fn chunk_address(&self, ordinal: u32) -> usize {
        let place = self.chunks.get(ordinal as usize);
        place.map_or(0, |place| place.load(Ordering::Acquire))
    }

    /// The id of a key, or 0 when there is no room.
    #[inline]
    pub fn intern(&self, key: &[u64; W], memory: &impl Memory) -> u32 {
        let tag = Tag::of(key);
        match self.find(key, tag) {
            Some(id) => id,
            None => self.insert(0, tag, key, Alone, memory),
        }
    }

    /// The id of a key that names the record `after`, and which does not
    /// follow it; all users know the same tag for it. If the key is new, so is
    /// what is `inside`: each key from the id of the one before.
    #[inline]
    pub fn intern_path(
        &self,
        after: u32,
        tag: Tag,
        key: &[u64; W],
        inside: impl Inside<W>,
        memory: &impl Memory,
    ) -> u32 {
        match self.find(key, tag) {
            Some(id) => id,
            None => self.insert(after, tag, key, inside, memory),
        }
    }

    /// The record that was made right after another, if it is of this key. One
    /// that was not given out yet is none: a child that was forked while this
    /// table was written to may have gone on in the same memory.
    #[inline]
    pub fn follows(&self, id: u32, key: &[u64; W]) -> Option<u32> {
        let next = id.wrapping_add(1);
        let place = (next % P).checked_sub(F)?;
        let is_given = next / P * (P - F) + place < self.count.load(Ordering::Relaxed);
        (is_given && self.holds(next, key)).then_some(next)
    }

    /// How many of the keys `inside` follow each other from a record on, each in the
    /// record behind that which it names: as by `follows` one by one.
    #[inline]
    pub fn follow_far(&self, id: u32, mut inside: impl Inside<W>) -> u32 {
        let first = id.wrapping_add(1);
        let Some(place) = (first % P).checked_sub(F) else {
            return 0;
        };
        let before = first / P * (P - F) + place;
        let given = self.count.load(Ordering::Relaxed).saturating_sub(before);
        let room = given.min(P - first % P) as usize;
        let Some(chunk) = self.chunks.get((first / P) as usize) else {
            return 0;
        };
        let chunk = words(chunk.load(Ordering::Acquire), P as usize * W);
        let behind = chunk.and_then(|chunk| chunk.get((first % P) as usize * W..));
        let mut count = 0;
        for record in behind.unwrap_or(&[]).chunks_exact(W).take(room) {
            let Some(key) = inside.next(id + count) else {
                break;
            };
            if !is_key(record, &key) {
                break;
            }
            count += 1;
        }
        count
    }

    /// Where a key of this tag is looked for, to be fetched ahead.
    #[inline]
    pub fn place(&self, tag: Tag) -> Option<&AtomicU64> {
        let index = self.index(self.log2.load(Ordering::Acquire))?;
        index.get(tag.0 as usize & index.len().wrapping_sub(1))
    }

    #[inline]
    fn find(&self, key: &[u64; W], tag: Tag) -> Option<u32> {
        let index = self.index(self.log2.load(Ordering::Acquire))?;
        let mask = index.len().wrapping_sub(1);
        for probe in 0..MAX_PROBES {
            let place = index.get((tag.0 as usize).wrapping_add(probe) & mask)?;
            // Acquire pairs with the exchange in `insert`: the record is there.
            let entry = place.load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            let id = entry as u32;
            if entry == tag.entry(id) && self.holds(id, key) {
                return Some(id);
            }
        }
        None
    }

    fn index(&self, log2: u32) -> Option<&'static [AtomicU64]> {
        let place = self.indexes.get(log2 as usize)?;
        words(place.load(Ordering::Acquire), 1 << log2)
    }

    #[inline]
    fn record(&self, id: u32) -> Option<&'static [AtomicU64]> {
        let place = self.chunks.get((id / P) as usize)?;
        let chunk = words(place.load(Ordering::Acquire), P as usize * W)?;
        let at = (id % P) as usize * W;
        chunk.get(at..at + W)
    }

    /// The record of an id that was given out.
    pub fn get(&self, id: u32) -> Option<[u64; W]> {
        let record = self.record(id).filter(|_| id % P >= F)?;
        let mut words = [0; W];
        for (word, part) in words.iter_mut().zip(record) {
            *word = u64::from_le(part.load(Ordering::Relaxed));
        }
        Some(words)
    }

    #[inline]
    fn holds(&self, id: u32, key: &[u64; W]) -> bool {
        self.record(id).is_some_and(|record| is_key(record, key))
    }

    #[cold]
    fn insert(
        &self,
        after: u32,
        tag: Tag,
        key: &[u64; W],
        inside: impl Inside<W>,
        memory: &impl Memory,
    ) -> u32 {
        self.make_room(memory);
        // Looked at before the index: once it is over the index is there.
        let growing = self.growing.load(Ordering::Acquire) == 1;
        let index = match self.index(self.log2.load(Ordering::Acquire)) {
            Some(index) => index,
            // Another is making the very first one: exact without it.
            None if growing => &[],
            None => return 0,
        };
        let id = self.append(key, inside, memory);
        if id == 0 || id == after.wrapping_add(1) && after != 0 {
            return id;
        }
        self.indexed.fetch_add(1, Ordering::Relaxed);
        let entry = tag.entry(id);
        let mask = index.len().wrapping_sub(1);
        for probe in 0..MAX_PROBES {
            let Some(place) = index.get((tag.0 as usize).wrapping_add(probe) & mask) else {
                break;
            };
            // Release publishes the record; Acquire sees another's record.
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match place.compare_exchange(0, entry, order.0, order.1) {
                Ok(_) => return id,
                Err(other) if other == tag.entry(other as u32) => {
                    if self.holds(other as u32, key) {
                        memory.raced();
                        return other as u32;
                    }
                }
                Err(_) => {}
            }
        }
        // A crowded index: the id is exact, only not to be found again.
        id
    }

    /// Takes so many ids that follow each other, or those that the chunk still
    /// has; their place in the order of all, and how many.
    fn take(&self, wanted: u32) -> Option<(u32, u32)> {
        let usable = P - F;
        let limit = usable.saturating_mul(C as u32);
        let mut count = self.count.load(Ordering::Relaxed);
        while count < limit {
            let taken = wanted.min(usable - count % usable);
            let order = (Ordering::AcqRel, Ordering::Relaxed);
            let next = count + taken;
            match self.count.compare_exchange(count, next, order.0, order.1) {
                Ok(_) => return Some((count, taken)),
                Err(now) => count = now,
            }
        }
        None
    }

    /// Writes a new record and those inside of it that the chunk has room for;
    /// gives the first one's id, or 0.
    fn append(&self, key: &[u64; W], mut inside: impl Inside<W>, memory: &impl Memory) -> u32 {
        let wanted = 1 + inside.count();
        let places = match self.take_ready(wanted, memory) {
            Err(Lacking::Pages { count }) if memory.leaves_unready() => {
                let next = (count / (P - F) + 1) * (P - F);
                self.count.fetch_max(next, Ordering::AcqRel);
                self.take_ready(wanted, memory)
            }
            places => places,
        };
        let Ok((id, taken)) = places else {
            return 0;
        };
        if !self.write(id, key) {
            return 0;
        }
        for last in id..id + taken - 1 {
            if let Some(key) = inside.next(last) {
                self.write(last + 1, &key);
            }
        }
        id
    }

    /// Takes ids, as `take` does, whose records can be written; the first and
    /// how many.
    fn take_ready(&self, wanted: u32, memory: &impl Memory) -> Result<(u32, u32), Lacking> {
        let (count, taken) = self.take(wanted).ok_or(Lacking::Room)?;
        let id = id_of(count, P, F).ok_or(Lacking::Room)?;
        let ordinal = id / P;
        let place = self.chunks.get(ordinal as usize).ok_or(Lacking::Room)?;
        if place.load(Ordering::Acquire) == 0 {
            let Some(chunk) = memory.chunk(ordinal) else {
                self.put_back(count, taken);
                return Err(Lacking::Room);
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            let address = chunk.as_ptr() as usize;
            if place
                .compare_exchange(0, address, order.0, order.1)
                .is_err()
            {
                memory.give_back(ordinal, chunk);
            }
        }
        let end = (id % P + taken) as usize * W * size_of::<u64>();
        if memory.reach(ordinal, place.load(Ordering::Acquire), end) {
            return Ok((id, taken));
        }
        self.put_back(count, taken);
        Err(Lacking::Pages { count })
    }

    /// There is no room: the places go back, unless others have taken the next.
    #[cold]
    fn put_back(&self, count: u32, taken: u32) {
        let order = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self
            .count
            .compare_exchange(count + taken, count, order.0, order.1);
    }

    fn write(&self, id: u32, key: &[u64; W]) -> bool {
        let Some(record) = self.record(id) else {
            return false;
        };
        // The first word last: a record of which it is zero was never written.
        for (word, part) in record.iter().zip(key).rev() {
            word.store(part.to_le(), Ordering::Release);
        }
        true
    }
}

impl<const W: usize, const P: u32, const F: u32, const C: usize> Default for IdTable<W, P, F, C> {
    fn default() -> Self {
        Self::new()
    }
}
