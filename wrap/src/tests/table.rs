//! The table with real threads and real growth: what loom's models are too
//! small for.

use super::random::Random;
use crate::table::{Memory, Table};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PER_CHUNK: u32 = 64;
type Pairs = Table<2, PER_CHUNK, 4, 4096>;

/// Memory that is never given back, as the recorder's.
#[derive(Default)]
struct Leaked {
    races: AtomicU32,
}

fn leak(words: usize) -> &'static [AtomicU64] {
    (0..words).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().leak()
}

impl Memory for Leaked {
    fn index(&self, words: usize) -> Option<&'static [AtomicU64]> {
        Some(leak(words))
    }
    fn retire(&self, index: &'static [AtomicU64]) {
        for word in index {
            word.store(0, Ordering::Relaxed);
        }
    }
    fn chunk(&self, _: u32) -> Option<&'static [AtomicU64]> {
        Some(leak(PER_CHUNK as usize * 2))
    }
    fn give_back(&self, _: u32, _: &'static [AtomicU64]) {}
    fn raced(&self) {
        self.races.fetch_add(1, Ordering::Relaxed);
    }
}

/// Has no memory at all.
struct Nothing;

impl Memory for Nothing {
    fn index(&self, _: usize) -> Option<&'static [AtomicU64]> {
        None
    }
    fn retire(&self, _: &'static [AtomicU64]) {}
    fn chunk(&self, _: u32) -> Option<&'static [AtomicU64]> {
        None
    }
    fn give_back(&self, _: u32, _: &'static [AtomicU64]) {}
    fn raced(&self) {}
}

#[test]
fn an_id_names_one_key_for_every_thread() {
    const KEYS: u64 = 30_000;
    let (table, memory) = (Pairs::new(), Leaked::default());
    let intern_many = |seed| {
        let mut random = Random::new(seed);
        let draw = |_| {
            let key = [random.below(KEYS) + 1, 7];
            (table.intern(&key, &memory), key)
        };
        (0..50_000).map(draw).collect::<Vec<_>>()
    };
    let seen = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|seed| scope.spawn(move || intern_many(seed))).collect();
        let seen = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        seen.collect::<Vec<_>>()
    });
    let mut keys = HashMap::new();
    for (id, key) in seen {
        assert!(id % PER_CHUNK >= 4, "no id lies under a header");
        assert_eq!(*keys.entry(id).or_insert(key), key, "id {id} means one key");
    }
    let distinct = keys.values().collect::<std::collections::HashSet<_>>().len();
    let spare = keys.len() - distinct;
    // The price of never waiting: what is put into an index while it is being
    // copied may get a second id later.
    assert!(spare < distinct / 2, "{spare} second ids of {distinct} keys");
    // Now that all is quiet each key has an id that stays.
    for key in 1..=KEYS {
        let id = table.intern(&[key, 7], &memory);
        assert_eq!(table.intern(&[key, 7], &memory), id);
    }
}

#[test]
fn keys_that_differ_in_one_bit_differ_in_their_id() {
    let (table, memory) = (Pairs::new(), Leaked::default());
    let mut ids = HashMap::new();
    for bit in 0..64 {
        for key in [[1 << bit, 0], [0, 1 << bit], [u64::MAX ^ 1 << bit, 1]] {
            assert_eq!(ids.insert(table.intern(&key, &memory), key), None);
        }
    }
    for (id, key) in ids {
        assert_eq!(table.intern(&key, &memory), id);
    }
}

/// Two keys that the whole hash cannot tell apart: the records decide.
#[test]
fn keys_of_one_hash_have_ids_of_their_own() {
    let (table, memory) = (Pairs::new(), Leaked::default());
    let first_word = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let keys: Vec<_> = (1..20).map(|word| [word, first_word(word) ^ 77]).collect();
    let ids: Vec<_> = keys.iter().map(|key| table.intern(key, &memory)).collect();
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    for (key, id) in keys.iter().zip(&ids) {
        assert_eq!(table.intern(key, &memory), *id);
    }
}

#[test]
fn without_memory_there_is_no_id() {
    let table = Pairs::new();
    assert_eq!(table.intern(&[1, 2], &Nothing), 0);
    assert_eq!(table.intern(&[1, 2], &Nothing), 0);
}

#[test]
fn a_reset_table_begins_again() {
    let (table, memory) = (Pairs::new(), Leaked::default());
    let first = table.intern(&[1, 2], &memory);
    assert_ne!(table.intern(&[3, 4], &memory), first);
    table.reset();
    assert!(table.is_empty());
    assert_eq!(table.chunk_address(0), 0);
    assert_eq!(table.intern(&[3, 4], &memory), first);
}
