//! The table with real threads and real growth: what loom's models are too
//! small for.

use super::random::Random;
use crate::table::{IdTable, Inside, Memory, Tag};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PER_CHUNK: u32 = 64;
type Pairs = IdTable<2, PER_CHUNK, 4, 4096>;

/// Memory that is never given back, as the recorder's.
#[derive(Default)]
struct Leaked {
    races: AtomicU32,
}

fn leak(words: usize) -> &'static [AtomicU64] {
    (0..words)
        .map(|_| AtomicU64::new(0))
        .collect::<Vec<_>>()
        .leak()
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
        let threads: Vec<_> = (1..5)
            .map(|seed| scope.spawn(move || intern_many(seed)))
            .collect();
        let seen = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        seen.collect::<Vec<_>>()
    });
    let mut keys = HashMap::new();
    for (id, key) in seen {
        assert!(id % PER_CHUNK >= 4, "no id lies under a header");
        assert_eq!(*keys.entry(id).or_insert(key), key, "id {id} means one key");
    }
    let distinct = keys
        .values()
        .collect::<std::collections::HashSet<_>>()
        .len();
    let spare = keys.len() - distinct;
    // The price of never waiting: what is put into an index while it is being
    // copied may get a second id later. How many depends on how long whoever copies
    // is kept from it by others, on a busy machine and under a sanitizer.
    assert!(spare <= distinct, "{spare} second ids of {distinct} keys");
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

/// One word a record: the parent below, the code above, as a node has it.
type Tree = IdTable<1, PER_CHUNK, 4, 4096>;

struct Codes<'a>(&'a [u64]);

impl Inside<1> for Codes<'_> {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }
    fn next(&mut self, before: u32) -> Option<[u64; 1]> {
        let (&code, rest) = self.0.split_first()?;
        self.0 = rest;
        Some([code << 32 | u64::from(before)])
    }
}

/// The id of a path, as a stack gets it; how often a record was no follower.
fn intern_path(table: &Tree, memory: &Leaked, codes: &[u64]) -> (u32, u32) {
    let (mut id, mut tag, mut asked) = (1, Tag(1), 0);
    for (at, &code) in codes.iter().enumerate() {
        let key = [code << 32 | u64::from(id)];
        tag = tag.mixed(code);
        id = table.follows(id, &key).unwrap_or_else(|| {
            asked += 1;
            table.intern_path(id, tag, &key, Codes(&codes[at + 1..]), memory)
        });
    }
    (id, asked)
}

fn path_of(table: &Tree, mut id: u32) -> Vec<u64> {
    let mut codes = Vec::new();
    while let Some([word]) = table.get(id) {
        codes.push(word >> 32);
        id = word as u32;
    }
    assert_eq!(id, 1, "the root");
    codes.reverse();
    codes
}

/// Chunks are small here, so that many paths lie across the end of one.
#[test]
fn an_id_names_one_path_for_every_thread() {
    let (table, memory) = (&Tree::new(), &Leaked::default());
    let draw = |random: &mut Random| {
        let length = 1 + random.below(90);
        let width = 1 + random.below(3);
        (0..length)
            .map(|_| 1 + random.below(width))
            .collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for seed in 1..5 {
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..1_000 {
                    let codes = draw(&mut random);
                    let (id, _) = intern_path(table, memory, &codes);
                    assert_eq!(path_of(table, id), codes);
                    assert!(id % PER_CHUNK >= 4, "no id lies under a header");
                }
            });
        }
    });
    // Now that all is quiet each path has an id that stays.
    let (mut random, mut seen) = (Random::new(1), HashMap::new());
    for _ in 0..1_000 {
        let codes = draw(&mut random);
        let (id, _) = intern_path(table, memory, &codes);
        assert_eq!(*seen.entry(codes).or_insert(id), id);
    }
    let distinct: std::collections::HashSet<_> = seen.values().collect();
    assert_eq!(distinct.len(), seen.len());
}

/// What a path of many frames costs is one entry, and one more a chunk.
#[test]
fn a_path_takes_one_entry_of_the_index() {
    let (table, memory) = (Tree::new(), Leaked::default());
    let codes: Vec<u64> = (1..301).collect();
    let (id, asked) = intern_path(&table, &memory, &codes);
    assert_eq!((table.len(), path_of(&table, id)), (300, codes.clone()));
    // One for each chunk of 60.
    assert_eq!(asked, 5);
    assert_eq!(intern_path(&table, &memory, &codes), (id, 5));
    // A longer one goes on behind it without an entry.
    let longer: Vec<u64> = (1..311).collect();
    let (longer_id, _) = intern_path(&table, &memory, &longer);
    assert_eq!(path_of(&table, longer_id), longer);
    assert_eq!((table.len(), table.indexed()), (310, 6));
    // Another call of its middle needs one, and shares what lies outside.
    let other: Vec<u64> = (1..151).chain(900..950).collect();
    let (other_id, _) = intern_path(&table, &memory, &other);
    assert_eq!(path_of(&table, other_id), other);
    assert!((table.len(), table.indexed()) <= (360, 8));
}

/// From any record of a path on, whatever goes on there or elsewhere.
#[test]
fn a_run_is_what_follows_one_by_one() {
    let (table, memory) = (Tree::new(), Leaked::default());
    let mut random = Random::new(7);
    let mut lengths = [0; 100];
    for _ in 0..3_000 {
        let length = 1 + random.below(90);
        let codes: Vec<u64> = (0..length).map(|_| 1 + random.below(2)).collect();
        intern_path(&table, &memory, &codes);
        let (mut id, mut at, mut tag) = (1, 0, Tag(1));
        while at < codes.len() {
            let run = table.follow_far(id, Codes(&codes[at..])) as usize;
            lengths[run] += 1;
            for &code in &codes[at..at + run] {
                let key = [code << 32 | u64::from(id)];
                id = table.follows(id, &key).expect("it was followed");
                tag = tag.mixed(code);
            }
            at += run;
            let Some(&code) = codes.get(at) else {
                break;
            };
            let key = [code << 32 | u64::from(id)];
            assert_eq!(table.follows(id, &key), None);
            (tag, at) = (tag.mixed(code), at + 1);
            id = table.intern_path(id, tag, &key, Codes(&[]), &memory);
        }
        assert_eq!(path_of(&table, id), codes);
    }
    assert!(lengths[0] > 0 && lengths[1] > 0 && lengths[30..].iter().any(|&count| count > 0));
}

/// Memory whose chunks are seen by another as well, as a file's by a child.
#[derive(Default)]
struct Shared {
    chunk: std::sync::OnceLock<&'static [AtomicU64]>,
}

impl Memory for Shared {
    fn index(&self, words: usize) -> Option<&'static [AtomicU64]> {
        Some(leak(words))
    }
    fn retire(&self, _: &'static [AtomicU64]) {}
    fn chunk(&self, _: u32) -> Option<&'static [AtomicU64]> {
        Some(self.chunk.get_or_init(|| leak(PER_CHUNK as usize * 2)))
    }
    fn give_back(&self, _: u32, _: &'static [AtomicU64]) {}
    fn raced(&self) {}
}

/// One key.
struct One([u64; 2]);

impl Inside<2> for One {
    fn count(&self) -> u32 {
        1
    }
    fn next(&mut self, _: u32) -> Option<[u64; 2]> {
        Some(self.0)
    }
}

#[test]
fn what_another_wrote_behind_the_last_record_is_not_believed() {
    let (table, memory) = (Pairs::new(), Shared::default());
    let first = table.intern(&[11, 1], &memory);
    let [foreign, own] = [22, 33].map(|code: u64| [code, first.into()]);
    let place = (first as usize + 1) % PER_CHUNK as usize * 2;
    let chunk = memory.chunk.get().unwrap();
    for (word, part) in chunk[place..].iter().zip(foreign) {
        word.store(part.to_le(), Ordering::Relaxed);
    }
    assert_eq!(table.follows(first, &foreign), None);
    assert_eq!(table.follow_far(first, One(foreign)), 0);
    let second = table.intern(&own, &memory);
    assert_eq!(second, first + 1);
    assert_eq!(table.follows(first, &own), Some(second));
    assert_eq!(table.follow_far(first, One(own)), 1);
    assert_eq!(table.follows(first, &foreign), None);
}

/// Memory whose first chunk is ready in part, and stays so: a filter came.
struct Unready {
    leaves: bool,
}

impl Memory for Unready {
    fn index(&self, words: usize) -> Option<&'static [AtomicU64]> {
        Some(leak(words))
    }
    fn retire(&self, _: &'static [AtomicU64]) {}
    fn chunk(&self, _: u32) -> Option<&'static [AtomicU64]> {
        Some(leak(PER_CHUNK as usize * 2))
    }
    fn reach(&self, ordinal: u32, _: usize, bytes: usize) -> bool {
        ordinal > 0 || bytes <= PER_CHUNK as usize * 8
    }
    fn leaves_unready(&self) -> bool {
        self.leaves
    }
    fn give_back(&self, _: u32, _: &'static [AtomicU64]) {}
    fn raced(&self) {}
}

#[test]
fn what_is_not_ready_is_left_for_the_next_chunk() {
    let known = |leaves| {
        let (table, memory) = (Pairs::new(), Unready { leaves });
        let keys = (1..=200).map(|key| [key, 1]);
        let ids: Vec<u32> = keys.map(|key| table.intern(&key, &memory)).collect();
        for (key, &id) in (1..).zip(&ids).filter(|&(_, &id)| id != 0) {
            assert_eq!(table.get(id), Some([key, 1]));
        }
        ids.into_iter().filter(|&id| id != 0).count()
    };
    // Half of a chunk, without its header's records.
    assert_eq!(known(false), PER_CHUNK as usize / 2 - 4);
    assert_eq!(known(true), 200);
}
