//! The table: exact ids without a lock, and no id before its record.

use super::with_preemptions;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::table::{IdTable, Inside, Memory, Tag};
use loom::thread;
use std::sync::{Arc, Mutex};

/// Records of one and of two words, as nodes and codes have; four in a chunk,
/// of which the header covers one.
type Narrow = IdTable<1, 4, 1, 3>;
type Wide = IdTable<2, 4, 1, 3>;
const PER_CHUNK: usize = 4;
/// With so many keys, two more do not make the index grow ...
const ROOMY: u64 = 5;
/// ... and with so many the next one does.
const CROWDED: u64 = 2;

/// Memory that lives as long as the model, and is zeroed when it is retired.
#[derive(Default)]
struct Arena {
    /// Not loom's mutex: it is never held across an operation that loom sees.
    given: Mutex<Vec<Box<[AtomicU64]>>>,
    given_back: Mutex<u32>,
    races: Mutex<u32>,
    /// So many chunks are refused before the next is given.
    refusals: Mutex<u32>,
}

impl Arena {
    #[allow(unsafe_code)]
    fn words(&self, count: usize) -> &'static [AtomicU64] {
        let words: Box<[AtomicU64]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let address: *const [AtomicU64] = &*words;
        self.given.lock().unwrap().push(words);
        // SAFETY: the arena keeps the box for as long as the table is used.
        unsafe { &*address }
    }
}

/// The arena for records of `W` words.
struct Words<'a, const W: usize>(&'a Arena);

impl<const W: usize> Memory for Words<'_, W> {
    fn index(&self, words: usize) -> Option<&'static [AtomicU64]> {
        Some(self.0.words(words))
    }
    fn retire(&self, index: &'static [AtomicU64]) {
        for word in index {
            word.store(0, Ordering::Relaxed);
        }
    }
    fn chunk(&self, _: u32) -> Option<&'static [AtomicU64]> {
        {
            let mut refusals = self.0.refusals.lock().unwrap();
            if *refusals > 0 {
                *refusals -= 1;
                return None;
            }
        }
        Some(self.0.words(PER_CHUNK * W))
    }
    fn give_back(&self, _: u32, _: &'static [AtomicU64]) {
        *self.0.given_back.lock().unwrap() += 1;
    }
    fn raced(&self) {
        *self.0.races.lock().unwrap() += 1;
    }
}

struct Shared<T> {
    table: T,
    arena: Arena,
}

impl<const W: usize, const C: usize> Shared<IdTable<W, 4, 1, C>> {
    /// With so many keys in it: 1000, 1001 ...
    fn new(filled: u64) -> Arc<Self> {
        let shared = Arc::new(Self {
            table: IdTable::new(),
            arena: Arena::default(),
        });
        for key in 0..filled {
            assert_ne!(shared.intern([1000 + key; W]), 0);
        }
        shared
    }

    fn intern(&self, key: [u64; W]) -> u32 {
        self.table.intern(&key, &Words::<W>(&self.arena))
    }

    /// A word of a record, as a reader of the log finds it.
    #[allow(unsafe_code)]
    fn word(&self, id: u32, word: usize) -> u64 {
        let chunk = self.table.chunk_address(id / PER_CHUNK as u32);
        assert_ne!(chunk, 0, "the chunk of id {id}");
        let at = id as usize % PER_CHUNK * W + word;
        // SAFETY: the arena's words of that chunk.
        let place = unsafe { &*(chunk as *const AtomicU64).add(at) };
        u64::from_le(place.load(Ordering::Acquire))
    }

    fn record(&self, id: u32) -> [u64; W] {
        std::array::from_fn(|word| self.word(id, word))
    }

    /// Interns in another thread.
    fn spawn(self: &Arc<Self>, key: [u64; W]) -> thread::JoinHandle<u32>
    where
        Self: 'static,
    {
        let shared = self.clone();
        thread::spawn(move || {
            let id = shared.intern(key);
            assert_ne!(id, 0);
            assert_eq!(shared.record(id), key);
            id
        })
    }
}

#[test]
fn two_threads_with_one_key_get_one_id() {
    loom::model(|| {
        let shared = Shared::<Narrow>::new(ROOMY);
        let other = shared.spawn([7]);
        let mine = shared.intern([7]);
        assert_eq!(mine, other.join().unwrap());
        assert_eq!(shared.record(mine), [7]);
        assert_eq!(shared.intern([7]), mine, "it is found again");
    });
}

#[test]
fn three_threads_with_one_key_get_one_id() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(ROOMY);
        let others = [shared.spawn([7]), shared.spawn([7])];
        let mine = shared.intern([7]);
        for other in others {
            assert_eq!(mine, other.join().unwrap());
        }
    });
}

#[test]
fn two_keys_get_two_ids_that_last() {
    loom::model(|| {
        let shared = Shared::<Wide>::new(ROOMY);
        let first = shared.intern([1000, 1000]);
        let other = shared.spawn([7, 8]);
        let mine = shared.intern([8, 7]);
        let other = other.join().unwrap();
        assert!(mine != other && mine != first && other != first);
        assert_eq!(shared.record(mine), [8, 7]);
        assert_eq!(shared.intern([7, 8]), other);
        assert_eq!(shared.intern([8, 7]), mine);
        assert_eq!(shared.intern([1000, 1000]), first);
    });
}

/// Nobody has interned anything: one of the two makes the first index, and
/// the other does not go without an id meanwhile.
#[test]
fn two_threads_begin_a_table() {
    loom::model(|| {
        let shared = Shared::<Narrow>::new(0);
        let other = shared.spawn([7]);
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert!(mine != 0 && mine != other);
        assert_eq!((shared.record(mine), shared.record(other)), ([8], [7]));
    });
}

/// The index is half full: one of the two threads makes a larger one while the
/// other may be writing into the old one.
#[test]
fn growth_races_an_insertion() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(CROWDED);
        let other = shared.spawn([7]);
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert_ne!(mine, other);
        for (id, key) in [(mine, [8]), (other, [7])] {
            assert_eq!(shared.record(id), key);
            // Perhaps a second id, but of an equal record, and the last one.
            let again = shared.intern(key);
            assert_eq!(shared.record(again), key);
            assert_eq!(shared.intern(key), again);
        }
        assert_eq!(shared.intern([1000]), 1, "what was there before is kept");
        assert_eq!(shared.intern([1001]), 2);
    });
}

#[test]
fn growth_races_an_insertion_of_the_same_key() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(CROWDED);
        let other = shared.spawn([7]);
        let mine = shared.intern([7]);
        let other = other.join().unwrap();
        assert_eq!((shared.record(mine), shared.record(other)), ([7], [7]));
    });
}

#[test]
fn growth_races_a_search() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(CROWDED);
        let other = shared.spawn([7]);
        let found = shared.intern([1001]);
        assert_eq!(shared.record(found), [1001]);
        other.join().unwrap();
    });
}

/// Both threads find the chunk full and carve the next one: one of the two
/// chunks is given back, and no record is lost with it.
#[test]
fn two_threads_open_a_chunk() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(3);
        let other = shared.spawn([7]);
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert_eq!((shared.record(mine), shared.record(other)), ([8], [7]));
        assert!(mine >= 5 && other >= 5 && mine != other);
        assert!(*shared.arena.given_back.lock().unwrap() <= 1);
    });
}

/// Who learns of an id through the log's own order finds the record complete.
#[test]
fn the_record_is_there_before_the_id() {
    loom::model(|| {
        let shared = Shared::<Wide>::new(0);
        let published = Arc::new(AtomicU32::new(0));
        let writer = {
            let (shared, published) = (shared.clone(), published.clone());
            thread::spawn(move || {
                published.store(shared.intern([7, 8]), Ordering::Release);
            })
        };
        let id = published.load(Ordering::Acquire);
        if id != 0 {
            assert_eq!(shared.record(id), [7, 8]);
        }
        writer.join().unwrap();
    });
}

/// Whoever finds a record's first word not zero, at any moment, finds all of
/// it: a reader after a kill takes zero for 'never written'.
#[test]
fn a_record_is_whole_or_not_there() {
    loom::model(|| {
        let shared = Shared::<Wide>::new(1);
        let writer = shared.spawn([7, 8]);
        if shared.word(2, 0) != 0 {
            assert_eq!(shared.record(2), [7, 8]);
        }
        writer.join().unwrap();
    });
}

/// A full table says so, and goes on finding what it has.
#[test]
fn a_full_table_gives_no_id() {
    loom::model(|| {
        let shared = Shared::<IdTable<1, 4, 1, 1>>::new(2);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.intern([7]))
        };
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert!((mine == 0) != (other == 0), "there was room for one");
        assert_eq!(shared.intern([9]), 0);
        assert_eq!(shared.intern([1000]), 1);
    });
}

/// The log has no room for one of two threads: his places go back or stay
/// empty for ever, and no other's record is touched by that.
#[test]
fn a_chunk_is_refused_to_one_of_two() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(3);
        *shared.arena.refusals.lock().unwrap() = 1;
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.intern([7]))
        };
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert!(mine == 0 || other == 0 || mine != other);
        let (again, later) = (shared.intern([8]), shared.intern([9]));
        assert!(again != 0 && later != 0 && again != later);
        for (id, key) in [(mine, 8), (other, 7), (again, 8), (later, 9)] {
            assert!(id == 0 || shared.record(id) == [key], "{id} is {key}");
        }
    });
}

/// A child's log gets its file while another thread of it makes a record: what
/// is made from then on lies in new chunks, and nothing is lost between.
#[test]
fn a_new_chunk_is_begun_amid_an_insertion() {
    with_preemptions(3, || {
        let shared = Shared::<Narrow>::new(1);
        let other = shared.spawn([7]);
        shared.table.begin_new_chunk();
        let mine = shared.intern([8]);
        let other = other.join().unwrap();
        assert!(mine as usize >= PER_CHUNK, "in another chunk: {mine}");
        assert_ne!(mine, other);
        assert_eq!((shared.record(mine), shared.record(other)), ([8], [7]));
        assert_eq!(shared.intern([1000]), 1, "what was there before is kept");
    });
}

/// A key names the record before it.
fn key_behind(before: u32, code: u64) -> [u64; 1] {
    [u64::from(before) << 32 | code]
}

struct Codes<'a>(&'a [u64]);

impl Inside<1> for Codes<'_> {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }
    fn next(&mut self, before: u32) -> Option<[u64; 1]> {
        let (&code, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(key_behind(before, code))
    }
}

impl<const C: usize> Shared<IdTable<1, 4, 1, C>> {
    /// The ids of a path, as a stack gets them.
    fn path(&self, codes: &[u64]) -> Vec<u32> {
        let (mut id, mut tag) = (0, Tag(0));
        let mut name = |at: usize| {
            let key = key_behind(id, codes[at]);
            tag = tag.mixed(codes[at]);
            let (inside, memory) = (Codes(&codes[at + 1..]), Words::<1>(&self.arena));
            id = self
                .table
                .follows(id, &key)
                .unwrap_or_else(|| self.table.intern_path(id, tag, &key, inside, &memory));
            assert_eq!(self.record(id), key);
            id
        };
        (0..codes.len()).map(&mut name).collect()
    }

    fn spawn_path(self: &Arc<Self>, codes: &'static [u64]) -> thread::JoinHandle<Vec<u32>>
    where
        Self: 'static,
    {
        let shared = self.clone();
        thread::spawn(move || shared.path(codes))
    }
}

/// Two threads make one path, over the end of a chunk. Each has ids of its
/// very frames, perhaps not those of the other, and the next one's stay.
#[test]
fn two_threads_make_one_path() {
    with_preemptions(3, || {
        let shared = Shared::<IdTable<1, 4, 1, 5>>::new(ROOMY);
        let other = shared.spawn_path(&[7, 8, 9]);
        shared.path(&[7, 8, 9]);
        other.join().unwrap();
        assert_eq!(shared.path(&[7, 8, 9]), shared.path(&[7, 8, 9]));
    });
}

/// The same where they part after the first.
#[test]
fn two_threads_make_paths_that_part() {
    with_preemptions(3, || {
        let shared = Shared::<IdTable<1, 4, 1, 5>>::new(ROOMY);
        let other = shared.spawn_path(&[7, 8]);
        let mine = shared.path(&[7, 9]);
        let other = other.join().unwrap();
        assert_ne!(mine[1], other[1]);
        assert_eq!(shared.path(&[7, 8]), shared.path(&[7, 8]));
        assert_eq!(shared.path(&[7, 9]), shared.path(&[7, 9]));
    });
}

/// A path that is being written is followed as far as it is there.
#[test]
fn a_path_is_made_longer_while_it_is_written() {
    with_preemptions(3, || {
        let shared = Shared::<IdTable<1, 4, 1, 5>>::new(0);
        let other = shared.spawn_path(&[7, 8]);
        shared.path(&[7, 8, 9]);
        other.join().unwrap();
        assert_eq!(shared.path(&[7, 8, 9]), shared.path(&[7, 8, 9]));
    });
}
